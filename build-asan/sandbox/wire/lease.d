build-asan/sandbox/wire/lease.o: sandbox/wire/lease.c \
 sandbox/wire/lease.h sandbox/wire/frame.h
sandbox/wire/lease.h:
sandbox/wire/frame.h:
