build-asan/sandbox/box/capture.o: sandbox/box/capture.c \
 sandbox/box/capture.h sandbox/sys/buf.h sandbox/sys/utf8.h
sandbox/box/capture.h:
sandbox/sys/buf.h:
sandbox/sys/utf8.h:
