build-asan/tests/unit/test_wire.o: tests/unit/test_wire.c \
 sandbox/wire/box.h sandbox/wire/frame.h sandbox/wire/exec.h \
 sandbox/wire/init.h sandbox/wire/lease.h
sandbox/wire/box.h:
sandbox/wire/frame.h:
sandbox/wire/exec.h:
sandbox/wire/init.h:
sandbox/wire/lease.h:
