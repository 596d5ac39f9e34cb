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

/*
 * Decodes a whole body and appends it to out. *used is set to the length of
 * the coded body, which may be less than len. On any status but CHUNKED_DONE
 * out is as it was before, and *used is 0.
 */
enum chunked_status chunked_decode(const char *in, size_t len, size_t *used, struct buf *out);

#endif
