build-asan/sandbox/sys/buf.o: sandbox/sys/buf.c sandbox/sys/buf.h \
 sandbox/sys/utf8.h
sandbox/sys/buf.h:
sandbox/sys/utf8.h:
