build-asan/sandbox/wire/frame.o: sandbox/wire/frame.c \
 sandbox/wire/frame.h
sandbox/wire/frame.h:
