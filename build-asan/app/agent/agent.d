build-asan/app/agent/agent.o: app/agent/agent.c app/agent/agent.h \
 app/base/conf.h app/core/event.h app/base/err.h app/core/item.h \
 app/core/turn.h app/tool/tool.h app/agent/collect.h app/base/arena.h \
 app/upstream/upstream.h sandbox/sys/log.h
app/agent/agent.h:
app/base/conf.h:
app/core/event.h:
app/base/err.h:
app/core/item.h:
app/core/turn.h:
app/tool/tool.h:
app/agent/collect.h:
app/base/arena.h:
app/upstream/upstream.h:
sandbox/sys/log.h:
