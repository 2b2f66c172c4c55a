build-asan/app/dialect/sse.o: app/dialect/sse.c app/dialect/sse.h \
 sandbox/sys/buf.h
app/dialect/sse.h:
sandbox/sys/buf.h:
