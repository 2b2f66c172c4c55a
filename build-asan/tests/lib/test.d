build-asan/tests/lib/test.o: tests/lib/test.c tests/lib/test.h \
 sandbox/sys/io.h
tests/lib/test.h:
sandbox/sys/io.h:
