build-asan/app/store/migrate.o: app/store/migrate.c app/store/db.h \
 app/store/store.h app/base/arena.h app/base/err.h sandbox/sys/log.h
app/store/db.h:
app/store/store.h:
app/base/arena.h:
app/base/err.h:
sandbox/sys/log.h:
