/* frame: typed messages with descriptors over SOCK_SEQPACKET. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_WIRE_FRAME_H
#define SANDBOX_WIRE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One packet is one message: a 32-bit type, then the body that wire/NAME.h packs. All integers are
 * little-endian. 128 KiB holds the longest command (16,384 characters of 4 bytes) beside its
 * environment and stays below the kernel's default socket buffer (net.core.wmem_default, 208 KiB).
 * What may be larger (output, stdin) travels as a memfd.
 */
#define WIRE_MAX_FRAME (128 * 1024)
#define WIRE_MAX_FDS   16
#define WIRE_TEXT_MAX  512 /* bytes of a text for people */

/* What a command may bring, in WIRE_EXEC and in WIRE_RUN. */
#define WIRE_COMMAND_MAX 65536 /* bytes: 16,384 characters of at most 4 bytes */
#define WIRE_ENV_MAX     64    /* extra environment variables */

/* Grouped by who sends to whom; a receiver refuses every type that is not of its own groups. */
enum wire_type {
	WIRE_NONE,
	/* app -> boxd */
	WIRE_LEASE,
	WIRE_DROP,
	/* boxd -> app */
	WIRE_LEASED,
	WIRE_REFUSED,
	WIRE_DROPPED,
	/* boxd -> box */
	WIRE_START,  /* first message: who you are, where the repository is; fd: shell's init */
	WIRE_ATTACH, /* a new app connection; fd */
	WIRE_ENV,    /* the second environment you asked for; fd: its init */
	WIRE_STOP,   /* last snapshot, then exit 0 */
	/* box -> boxd */
	WIRE_WANT_ENV,
	WIRE_IDLE, /* asks to be put to sleep */
	/* app -> box */
	WIRE_EXEC,
	/* box -> app */
	WIRE_STARTED,
	WIRE_OUTPUT,
	WIRE_DONE,
	/* box -> init */
	WIRE_LOAD,
	WIRE_RUN,
	WIRE_KILL,
	WIRE_FREEZE,
	WIRE_THAW,
	WIRE_SCAN,
	/* init -> box */
	WIRE_READY,
	WIRE_LOADED,
	WIRE_RUNNING,
	WIRE_EXITED,
	WIRE_KILLED,
	WIRE_FROZEN,
	WIRE_THAWED,
	WIRE_CHANGES,
	WIRE_SCANNED,
	WIRE__MAX
};

/* Packing into a caller's memory. Overflow is sticky in bad; send refuses a bad frame. */
struct wire_out {
	uint8_t data[WIRE_MAX_FRAME];
	size_t len;
	bool bad;
};
void wire_begin(struct wire_out *o, enum wire_type type);
void wire_put_u32(struct wire_out *o, uint32_t v);
void wire_put_u64(struct wire_out *o, uint64_t v);
/* Length-prefixed bytes; NULs allowed. */
void wire_put_bytes(struct wire_out *o, const void *p, size_t n);
void wire_put_str(struct wire_out *o, const char *s); /* NULL is put as "" */
/* A text for people, cut at WIRE_TEXT_MAX bytes (between UTF-8 sequences). */
void wire_put_text(struct wire_out *o, const char *s);

/* Unpacking. Every getter checks; the first failure is sticky in bad and all later getters give 0 or "". */
struct wire_in {
	uint8_t data[WIRE_MAX_FRAME + 1];
	size_t len, off;
	bool bad;
	int fds[WIRE_MAX_FDS]; /* received descriptors, close-on-exec; taken ones are -1 */
	size_t nfds;
};
enum wire_type wire_type(const struct wire_in *i);
uint32_t wire_get_u32(struct wire_in *i);
uint64_t wire_get_u64(struct wire_in *i);
/* A u32 that is refused outside of least … most: for enums, flags, counts. Gives 0 when refused. */
uint32_t wire_get_within(struct wire_in *i, uint32_t least, uint32_t most);
/* Bytes inside i->data, valid until the next receive. */
const void *wire_get_bytes(struct wire_in *i, size_t *n);
/* Like get_bytes, but refuses embedded NULs and texts longer than max bytes; NUL-terminated. */
const char *wire_get_str(struct wire_in *i, size_t max);
/* Takes descriptor k out of the message (the caller owns it); -1 if there is none. */
int wire_take_fd(struct wire_in *i, size_t k);
/* Whether the message is of this type; bad is set if not. The first line of every unpacker. */
bool wire_expect(struct wire_in *i, enum wire_type type);
/*
 * True when nothing failed and nothing is left over: ask it once, after the last getter. It is all
 * that a message without a body needs. Descriptors are not looked at: see wire_take_fd.
 */
bool wire_done(const struct wire_in *i);

/* Sends one packet with descriptors (which stay the caller's). 0, or -1 with errno (EMSGSIZE if bad). */
int wire_send(int sock, const struct wire_out *o, const int *fds, size_t nfds);
/*
 * Receives one packet; descriptors of the previous one that nobody took are closed first.
 * 1 a message, 0 the peer closed, -1 errno (EAGAIN on a non-blocking socket; EBADMSG if truncated,
 * shorter than a type, of an unknown type). *i is zeroed before the first use.
 */
int wire_recv(int sock, struct wire_in *i);
/* Closes the descriptors that nobody took. */
void wire_close(struct wire_in *i);

#endif
