build-asan/app/base/json_scan.o: app/base/json_scan.c \
 app/base/json_scan.h sandbox/sys/utf8.h
app/base/json_scan.h:
sandbox/sys/utf8.h:
