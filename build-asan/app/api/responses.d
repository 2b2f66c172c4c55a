build-asan/app/api/responses.o: app/api/responses.c \
 app/dialect/responses.h app/core/event.h app/base/err.h app/core/item.h \
 app/core/turn.h app/dialect/sse.h sandbox/sys/buf.h app/api/api.h \
 app/base/conf.h app/http/http.h app/base/arena.h app/http/route.h \
 app/store/store.h app/api/stream.h app/base/json.h
app/dialect/responses.h:
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
