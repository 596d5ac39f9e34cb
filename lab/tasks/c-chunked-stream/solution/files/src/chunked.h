#ifndef CHUNKED_H
#define CHUNKED_H

#include <stddef.h>
#include <stdint.h>

#include "buf.h"

#define CHUNKED_MAX_LINE 256
#define CHUNKED_MAX_SIZE UINT64_C(0x7fffffffffffffff)

enum chunked_status {
    CHUNKED_DONE,
    CHUNKED_MORE,    /* the body goes on */
    CHUNKED_EFORMAT,
    CHUNKED_ESIZE,   /* a chunk is larger than CHUNKED_MAX_SIZE */
    CHUNKED_ELINE,   /* a line is longer than CHUNKED_MAX_LINE */
    CHUNKED_ENOMEM
};

/* A decoder; see chunked_feed. There is nothing to free. */
struct chunked {
    int state;
    enum chunked_status status;
    uint64_t size;   /* of the chunk, or what is left of it */
    size_t line_len; /* how much of a line has come in */
    int has_colon;   /* in the trailer field */
};

void chunked_init(struct chunked *d);

/*
 * Takes the next piece of a body and appends the data in it to out. *used is
 * set to len on CHUNKED_MORE, to what was part of the body on CHUNKED_DONE, and
 * to what came before the offending byte on an error. CHUNKED_DONE and errors
 * are final: they are returned again, with *used 0, until chunked_init.
 */
enum chunked_status chunked_feed(struct chunked *d, const char *in, size_t len,
                                 size_t *used, struct buf *out);

/*
 * Decodes a whole body and appends it to out. *used is set to the length of
 * the coded body, which may be less than len. On any status but CHUNKED_DONE
 * out is as it was before, and *used is 0.
 */
enum chunked_status chunked_decode(const char *in, size_t len, size_t *used, struct buf *out);

#endif
