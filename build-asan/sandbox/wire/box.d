build-asan/sandbox/wire/box.o: sandbox/wire/box.c sandbox/wire/box.h \
 sandbox/wire/frame.h sandbox/wire/lease.h
sandbox/wire/box.h:
sandbox/wire/frame.h:
sandbox/wire/lease.h:
