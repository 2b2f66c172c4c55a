build-asan/app/api/messages.o: app/api/messages.c app/dialect/messages.h \
 app/core/event.h app/base/err.h app/core/item.h app/core/turn.h \
 app/dialect/sse.h sandbox/sys/buf.h app/api/api.h app/base/conf.h \
 app/http/http.h app/base/arena.h app/http/route.h app/store/store.h \
 app/api/stream.h app/base/json.h
app/dialect/messages.h:
app/core/event.h:
app/base/err.h:
app/core/item.h:
app/core/turn.h:
app/dialect/sse.h:
sandbox/sys/buf.h:
app/api/api.h:
app/base/conf.h:
app/http/http.h:
app/base/arena.h:
app/http/route.h:
app/store/store.h:
app/api/stream.h:
app/base/json.h:
