/* objects: the new objects of one commit on their way into the repository. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_HOME_OBJECTS_H
#define SANDBOX_HOME_OBJECTS_H

#include "sandbox/home/repo.h"

/*
 * put and begin … end collect; write and publish bring all of it into the repository: a few
 * objects as loose files, many as one pack. What the repository has is not written again.
 * Calls return HOME_OK or a failure; after a failure only objects_free makes sense.
 */
struct objects;
int objects_new(struct objects **out, struct home *h);
/* A whole object; copied. */
int objects_put(git_oid *id, struct objects *o, git_object_t type, const void *p, size_t n);
/* A blob of size bytes that comes in pieces, whose sum must be size. */
int objects_begin(struct objects *o, uint64_t size);
int objects_feed(struct objects *o, const void *p, size_t n);
int objects_end(git_oid *id, struct objects *o);
/* Instead of end. */
int objects_undo(struct objects *o);
/* Everything under temporary names; durable: on disk. Nothing may be put after it. */
int objects_write(struct objects *o, bool durable);
/* Under the real names. durable: they are on disk when a folder that is changed later is. */
int objects_publish(struct objects *o, bool durable);
void objects_free(struct objects *o);

#endif
