#include "chunked.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char body[] =
    "5\r\nhello\r\n"
    "00B ;note=\"x\"\r\n, big world\r\n"
    "0\r\n"
    "Checksum: 17\r\n"
    "\r\n"
    "GET";

int main(void)
{
    struct buf out = {0};
    size_t used;

    assert(chunked_decode(body, strlen(body), &used, &out) == CHUNKED_DONE);
    assert(out.len == 16 && memcmp(out.data, "hello, big world", 16) == 0);
    assert(strcmp(body + used, "GET") == 0);

    assert(chunked_decode(body, used - 1, &used, &out) == CHUNKED_MORE);
    assert(out.len == 16 && used == 0);

    assert(chunked_decode("5\nhello", 7, &used, &out) == CHUNKED_EFORMAT);

    buf_free(&out);
    puts("ok");
    return 0;
}
