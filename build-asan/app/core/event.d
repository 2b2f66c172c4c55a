build-asan/app/core/event.o: app/core/event.c app/core/event.h \
 app/base/err.h app/core/item.h
app/core/event.h:
app/base/err.h:
app/core/item.h:
