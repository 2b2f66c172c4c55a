build-asan/app/store/workspace.o: app/store/workspace.c app/store/db.h \
 app/store/store.h app/base/arena.h app/base/err.h
app/store/db.h:
app/store/store.h:
app/base/arena.h:
app/base/err.h:
