build-asan/sandbox/sys/io.o: sandbox/sys/io.c sandbox/sys/io.h
sandbox/sys/io.h:
