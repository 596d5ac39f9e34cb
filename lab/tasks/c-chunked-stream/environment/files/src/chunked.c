#include "chunked.h"

#include <string.h>

struct input {
    const char *at;
    const char *end;
};

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

/* Takes a line off the input. It does not include the CR LF. */
static enum chunked_status read_line(struct input *in, const char **line, size_t *len)
{
    const char *p = in->at;

    while (p < in->end && *p != '\r' && *p != '\n') {
        if (p - in->at == CHUNKED_MAX_LINE)
            return CHUNKED_ELINE;
        p++;
    }
    if (p < in->end && *p == '\n')
        return CHUNKED_EFORMAT;
    if (in->end - p < 2)
        return CHUNKED_MORE;
    if (p[1] != '\n')
        return CHUNKED_EFORMAT;
    *line = in->at;
    *len = (size_t)(p - in->at);
    in->at = p + 2;
    return CHUNKED_DONE;
}

static enum chunked_status read_size(struct input *in, uint64_t *size)
{
    const char *line;
    size_t len, i;
    enum chunked_status status = read_line(in, &line, &len);

    if (status != CHUNKED_DONE)
        return status;
    *size = 0;
    for (i = 0; i < len && hex_digit(line[i]) >= 0; i++) {
        if (*size > CHUNKED_MAX_SIZE >> 4)
            return CHUNKED_ESIZE;
        *size = *size << 4 | (uint64_t)hex_digit(line[i]);
    }
    if (i == 0)
        return CHUNKED_EFORMAT;
    while (i < len && (line[i] == ' ' || line[i] == '\t'))
        i++;
    return i == len || line[i] == ';' ? CHUNKED_DONE : CHUNKED_EFORMAT;
}

static enum chunked_status read_data(struct input *in, uint64_t size, struct buf *out)
{
    size_t left = (size_t)(in->end - in->at);

    if (left < size)
        return CHUNKED_MORE;
    if (buf_append(out, in->at, (size_t)size) != 0)
        return CHUNKED_ENOMEM;
    in->at += size;
    if (left - size < 2)
        return left - size == 0 || *in->at == '\r' ? CHUNKED_MORE : CHUNKED_EFORMAT;
    if (memcmp(in->at, "\r\n", 2) != 0)
        return CHUNKED_EFORMAT;
    in->at += 2;
    return CHUNKED_DONE;
}

static enum chunked_status read_trailer(struct input *in)
{
    for (;;) {
        const char *line, *colon;
        size_t len;
        enum chunked_status status = read_line(in, &line, &len);

        if (status != CHUNKED_DONE || len == 0)
            return status;
        colon = memchr(line, ':', len);
        if (!colon || colon == line)
            return CHUNKED_EFORMAT;
    }
}

static enum chunked_status read_body(struct input *in, struct buf *out)
{
    for (;;) {
        uint64_t size;
        enum chunked_status status = read_size(in, &size);

        if (status != CHUNKED_DONE)
            return status;
        if (size == 0)
            return read_trailer(in);
        status = read_data(in, size, out);
        if (status != CHUNKED_DONE)
            return status;
    }
}

enum chunked_status chunked_decode(const char *in, size_t len, size_t *used, struct buf *out)
{
    struct input input = {in, in + len};
    size_t before = out->len;
    enum chunked_status status = read_body(&input, out);

    *used = 0;
    if (status == CHUNKED_DONE)
        *used = (size_t)(input.at - in);
    else
        out->len = before;
    return status;
}
