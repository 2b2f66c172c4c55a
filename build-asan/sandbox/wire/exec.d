build-asan/sandbox/wire/exec.o: sandbox/wire/exec.c sandbox/wire/exec.h \
 sandbox/wire/frame.h
sandbox/wire/exec.h:
sandbox/wire/frame.h:
