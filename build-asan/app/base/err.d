build-asan/app/base/err.o: app/base/err.c app/base/err.h \
 sandbox/sys/utf8.h
app/base/err.h:
sandbox/sys/utf8.h:
