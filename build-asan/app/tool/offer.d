build-asan/app/tool/offer.o: app/tool/offer.c app/tool/tool.h \
 app/base/conf.h app/base/err.h app/core/event.h app/core/item.h \
 app/core/turn.h
app/tool/tool.h:
app/base/conf.h:
app/base/err.h:
app/core/event.h:
app/core/item.h:
app/core/turn.h:
