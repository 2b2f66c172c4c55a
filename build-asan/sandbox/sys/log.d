build-asan/sandbox/sys/log.o: sandbox/sys/log.c sandbox/sys/log.h \
 sandbox/sys/utf8.h
sandbox/sys/log.h:
sandbox/sys/utf8.h:
