build-asan/app/tool/tool.o: app/tool/tool.c app/tool/tool.h \
 app/base/conf.h app/base/err.h app/core/event.h app/core/item.h \
 app/core/turn.h app/base/json.h app/base/arena.h sandbox/sys/buf.h \
 app/box/box.h app/core/result.h app/tool/args.h app/tool/container.h \
 sandbox/sys/io.h
app/tool/tool.h:
app/base/conf.h:
app/base/err.h:
app/core/event.h:
app/core/item.h:
app/core/turn.h:
app/base/json.h:
app/base/arena.h:
sandbox/sys/buf.h:
app/box/box.h:
app/core/result.h:
app/tool/args.h:
app/tool/container.h:
sandbox/sys/io.h:
