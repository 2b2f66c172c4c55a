build-asan/app/base/arena.o: app/base/arena.c app/base/arena.h \
 sandbox/sys/log.h
app/base/arena.h:
sandbox/sys/log.h:
