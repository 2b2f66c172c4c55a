build-asan/app/base/json.o: app/base/json.c app/base/json.h \
 app/base/arena.h app/base/err.h sandbox/sys/buf.h app/base/json_scan.h \
 sandbox/sys/log.h sandbox/sys/utf8.h
app/base/json.h:
app/base/arena.h:
app/base/err.h:
sandbox/sys/buf.h:
app/base/json_scan.h:
sandbox/sys/log.h:
sandbox/sys/utf8.h:
