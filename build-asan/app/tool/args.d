build-asan/app/tool/args.o: app/tool/args.c app/tool/args.h \
 app/base/arena.h app/base/conf.h app/base/err.h app/core/item.h \
 app/base/json.h sandbox/sys/buf.h app/tool/tool.h app/core/event.h \
 app/core/turn.h
app/tool/args.h:
app/base/arena.h:
app/base/conf.h:
app/base/err.h:
app/core/item.h:
app/base/json.h:
sandbox/sys/buf.h:
app/tool/tool.h:
app/core/event.h:
app/core/turn.h:
