build-asan/app/core/result.o: app/core/result.c app/core/result.h \
 app/core/item.h app/base/json.h app/base/arena.h app/base/err.h \
 sandbox/sys/buf.h
app/core/result.h:
app/core/item.h:
app/base/json.h:
app/base/arena.h:
app/base/err.h:
sandbox/sys/buf.h:
