build-asan/tests/unit/test_capture.o: tests/unit/test_capture.c \
 tests/lib/test.h sandbox/box/capture.h sandbox/sys/buf.h \
 sandbox/sys/io.h sandbox/sys/utf8.h
tests/lib/test.h:
sandbox/box/capture.h:
sandbox/sys/buf.h:
sandbox/sys/io.h:
sandbox/sys/utf8.h:
