build-asan/app/base/id.o: app/base/id.c app/base/id.h app/base/arena.h \
 sandbox/sys/log.h
app/base/id.h:
app/base/arena.h:
sandbox/sys/log.h:
