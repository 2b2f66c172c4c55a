build-asan/sandbox/wire/init.o: sandbox/wire/init.c sandbox/wire/init.h \
 sandbox/wire/frame.h
sandbox/wire/init.h:
sandbox/wire/frame.h:
