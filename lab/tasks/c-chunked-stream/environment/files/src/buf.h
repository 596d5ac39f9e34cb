#ifndef BUF_H
#define BUF_H

#include <stddef.h>

/* Bytes that grow. Starts out zeroed. */
struct buf {
    char *data;
    size_t len;
    size_t cap;
};

/* Returns 0, or -1 if there is no memory; then nothing has changed. */
int buf_append(struct buf *buf, const char *data, size_t len);

void buf_free(struct buf *buf);

#endif
