build-asan/app/core/item.o: app/core/item.c app/core/item.h \
 app/base/arena.h
app/core/item.h:
app/base/arena.h:
