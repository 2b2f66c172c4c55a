build-asan/app/store/db.o: app/store/db.c app/store/db.h \
 app/store/store.h app/base/arena.h app/base/err.h sandbox/sys/log.h
app/store/db.h:
app/store/store.h:
app/base/arena.h:
app/base/err.h:
sandbox/sys/log.h:
