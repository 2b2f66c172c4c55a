build-asan/sandbox/sys/utf8.o: sandbox/sys/utf8.c sandbox/sys/utf8.h
sandbox/sys/utf8.h:
