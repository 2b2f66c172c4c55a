build-asan/app/tool/container.o: app/tool/container.c \
 app/tool/container.h app/base/arena.h app/base/id.h app/tool/tool.h \
 app/base/conf.h app/base/err.h app/core/event.h app/core/item.h \
 app/core/turn.h
app/tool/container.h:
app/base/arena.h:
app/base/id.h:
app/tool/tool.h:
app/base/conf.h:
app/base/err.h:
app/core/event.h:
app/core/item.h:
app/core/turn.h:
