build-asan/app/store/container.o: app/store/container.c app/store/db.h \
 app/store/store.h app/base/arena.h app/base/err.h
app/store/db.h:
app/store/store.h:
app/base/arena.h:
app/base/err.h:
