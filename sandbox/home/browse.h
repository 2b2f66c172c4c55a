/* browse: reading files of a home at a commit. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_HOME_BROWSE_H
#define SANDBOX_HOME_BROWSE_H

#include "sandbox/home/home.h"

struct home_entry {
	const char *path;
	size_t path_len;
	unsigned mode; /* 0100644, 0100755 or 0120000 */
	uint64_t bytes;
	int64_t time;   /* of the commit that last changed the path */
	home_id commit; /* that commit */
	home_id blob;
};

/*
 * The files at head in bytewise order of their paths, from a cache beside the repository
 * (cache_path, replaced by rename) that is brought up to date from git when head moved: the cost
 * follows the commits since. The listing is a snapshot; entries are owned by it.
 */
struct home_listing;
int home_listing_open(struct home_listing **out, struct home *h, const char *cache_path);
void home_listing_free(struct home_listing *l);
size_t home_listing_count(const struct home_listing *l);
const struct home_entry *home_listing_at(const struct home_listing *l, size_t i);
/* Index of the first entry whose path is strictly after path (n bytes). */
size_t home_listing_after(const struct home_listing *l, const char *path, size_t n);
/* The entry, or NULL. */
const struct home_entry *home_listing_find(
	const struct home_listing *l, const char *path, size_t n);

/* Content of a blob. Data is valid until home_blob_free. */
struct home_blob;
int home_blob_open(struct home_blob **out, struct home *h, const char *blob_id);
const void *home_blob_data(const struct home_blob *b, uint64_t *len);
void home_blob_free(struct home_blob *b);

#endif
