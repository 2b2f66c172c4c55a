build-asan/app/agent/collect.o: app/agent/collect.c app/agent/collect.h \
 app/base/arena.h app/core/event.h app/base/err.h app/core/item.h \
 app/core/turn.h app/base/id.h sandbox/sys/buf.h
app/agent/collect.h:
app/base/arena.h:
app/core/event.h:
app/base/err.h:
app/core/item.h:
app/core/turn.h:
app/base/id.h:
sandbox/sys/buf.h:
