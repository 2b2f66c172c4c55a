build-asan/app/store/store.o: app/store/store.c app/store/db.h \
 app/store/store.h app/base/arena.h app/base/err.h sandbox/sys/io.h \
 sandbox/sys/log.h
app/store/db.h:
app/store/store.h:
app/base/arena.h:
app/base/err.h:
sandbox/sys/io.h:
sandbox/sys/log.h:
