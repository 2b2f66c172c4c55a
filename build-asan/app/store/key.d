build-asan/app/store/key.o: app/store/key.c app/base/id.h \
 app/base/arena.h app/store/db.h app/store/store.h app/base/err.h
app/base/id.h:
app/base/arena.h:
app/store/db.h:
app/store/store.h:
app/base/err.h:
