build-asan/app/api/stream.o: app/api/stream.c app/api/stream.h \
 app/core/event.h app/base/err.h app/core/item.h app/core/turn.h \
 app/dialect/sse.h sandbox/sys/buf.h app/http/http.h app/base/arena.h \
 app/agent/agent.h app/base/conf.h app/tool/tool.h app/api/api.h \
 app/http/route.h app/store/store.h app/base/id.h sandbox/sys/log.h
app/api/stream.h:
app/core/event.h:
app/base/err.h:
app/core/item.h:
app/core/turn.h:
app/dialect/sse.h:
sandbox/sys/buf.h:
app/http/http.h:
app/base/arena.h:
app/agent/agent.h:
app/base/conf.h:
app/tool/tool.h:
app/api/api.h:
app/http/route.h:
app/store/store.h:
app/base/id.h:
sandbox/sys/log.h:
