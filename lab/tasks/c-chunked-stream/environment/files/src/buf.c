#include "buf.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int buf_append(struct buf *buf, const char *data, size_t len)
{
    if (len == 0)
        return 0;
    if (len > buf->cap - buf->len) {
        size_t cap = buf->cap ? buf->cap : 64;
        char *grown;

        while (cap - buf->len < len) {
            if (cap > SIZE_MAX / 2)
                return -1;
            cap *= 2;
        }
        grown = realloc(buf->data, cap);
        if (!grown)
            return -1;
        buf->data = grown;
        buf->cap = cap;
    }
    memcpy(buf->data + buf->len, data, len);
    buf->len += len;
    return 0;
}

void buf_free(struct buf *buf)
{
    free(buf->data);
    *buf = (struct buf){NULL, 0, 0};
}
