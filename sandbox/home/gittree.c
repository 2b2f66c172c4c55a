/* gittree: the raw form of git's tree objects. SPDX-License-Identifier: ISC */
#include "sandbox/home/gittree.h"

#include <string.h>

/*
 * An entry is the mode in octal, a space, the name, NUL and the 20 bytes of the id. Written here
 * and not by libgit2's tree builder, which makes an allocation and a hash entry of each of a
 * folder's 10,000 names in order to change one.
 */
int gittree_next(struct gittree_entry *e, const void *tree, size_t size, size_t offset)
{
	const char *start = (const char *)tree + offset, *p = start,
		   *end = (const char *)tree + size;
	const char *nul;

	if (offset == size)
		return 0;
	if (offset > size)
		return -1;
	e->mode = 0;
	while (p < end && *p >= '0' && *p <= '7' && p - start < 7)
		e->mode = e->mode * 8 + (unsigned)(*p++ - '0');
	if (p == start || p == end || *p++ != ' ')
		return -1;
	nul = memchr(p, '\0', (size_t)(end - p));
	if (!nul || nul == p || end - nul <= GIT_OID_RAWSZ)
		return -1;
	e->name = p;
	e->len = (size_t)(nul - p);
	e->id = (const unsigned char *)nul + 1;
	e->offset = offset;
	e->end = (size_t)(nul + 1 + GIT_OID_RAWSZ - (const char *)tree);
	return 1;
}

void gittree_put(struct buf *out, unsigned mode, const char *name, size_t n, const git_oid *id)
{
	buf_printf(out, "%o ", mode);
	buf_put(out, name, n);
	buf_putc(out, '\0');
	buf_put(out, id->id, GIT_OID_RAWSZ);
}

int gittree_order(const char *a, size_t na, bool dir_a, const char *b, size_t nb, bool dir_b)
{
	size_t n = na < nb ? na : nb;
	int c = memcmp(a, b, n);
	unsigned char ea, eb;

	if (c != 0)
		return c;
	ea = na > n ? (unsigned char)a[n] : dir_a ? '/' : 0;
	eb = nb > n ? (unsigned char)b[n] : dir_b ? '/' : 0;
	if (ea != eb)
		return ea < eb ? -1 : 1;
	return na == nb ? 0 : na < nb ? -1 : 1;
}
