#include "chunked.h"

/* What the next byte belongs to. */
enum state {
    SIZE,        /* the digits of the size */
    SIZE_BLANK,  /* blanks after the size */
    EXTENSION,
    SIZE_LF,     /* the LF after the CR */
    DATA,
    DATA_CR,
    DATA_LF,
    FIELD,       /* a trailer field */
    FIELD_LF,
    END_LF       /* of the empty line at the end */
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

void chunked_init(struct chunked *d)
{
    *d = (struct chunked){.state = SIZE, .status = CHUNKED_MORE};
}

static void begin_line(struct chunked *d, enum state state)
{
    d->state = state;
    d->size = 0;
    d->line_len = 0;
    d->has_colon = 0;
}

static enum chunked_status take_digit(struct chunked *d, int digit)
{
    if (d->size > CHUNKED_MAX_SIZE >> 4)
        return CHUNKED_ESIZE;
    d->size = d->size << 4 | (uint64_t)digit;
    return CHUNKED_MORE;
}

/* Takes a byte of the line with the size, but no CR or LF. */
static enum chunked_status take_size(struct chunked *d, char c)
{
    if (d->state == EXTENSION)
        return CHUNKED_MORE;
    if (d->state == SIZE && hex_digit(c) >= 0)
        return take_digit(d, hex_digit(c));
    if (d->line_len == 0)
        return CHUNKED_EFORMAT;
    if (c == ';')
        d->state = EXTENSION;
    else if (c == ' ' || c == '\t')
        d->state = SIZE_BLANK;
    else
        return CHUNKED_EFORMAT;
    return CHUNKED_MORE;
}

/* Takes a byte of a trailer field, but no CR or LF. */
static enum chunked_status take_field(struct chunked *d, char c)
{
    if (c == ':' && d->line_len == 0)
        return CHUNKED_EFORMAT;
    if (c == ':')
        d->has_colon = 1;
    return CHUNKED_MORE;
}

static enum chunked_status end_line(struct chunked *d)
{
    if (d->state != FIELD) {
        d->state = SIZE_LF;
        return d->line_len > 0 ? CHUNKED_MORE : CHUNKED_EFORMAT;
    }
    d->state = d->line_len > 0 ? FIELD_LF : END_LF;
    return d->line_len == 0 || d->has_colon ? CHUNKED_MORE : CHUNKED_EFORMAT;
}

static enum chunked_status take_in_line(struct chunked *d, char c)
{
    enum chunked_status status;

    if (c == '\r')
        return end_line(d);
    if (c == '\n')
        return CHUNKED_EFORMAT;
    if (d->line_len == CHUNKED_MAX_LINE)
        return CHUNKED_ELINE;
    status = d->state == FIELD ? take_field(d, c) : take_size(d, c);
    d->line_len++;
    return status;
}

/* Takes any byte that is not data. */
static enum chunked_status take_byte(struct chunked *d, char c)
{
    char expected = d->state == DATA_CR ? '\r' : '\n';

    if (d->state <= EXTENSION || d->state == FIELD)
        return take_in_line(d, c);
    if (c != expected)
        return CHUNKED_EFORMAT;

    switch (d->state) {
    case SIZE_LF:
        if (d->size > 0)
            d->state = DATA;
        else
            begin_line(d, FIELD);
        return CHUNKED_MORE;
    case DATA_CR:
        d->state = DATA_LF;
        return CHUNKED_MORE;
    case DATA_LF:
        begin_line(d, SIZE);
        return CHUNKED_MORE;
    case FIELD_LF:
        begin_line(d, FIELD);
        return CHUNKED_MORE;
    default:
        return CHUNKED_DONE;
    }
}

/* Takes what there is of the data. */
static enum chunked_status take_data(struct chunked *d, const char *in, size_t len,
                                     size_t *used, struct buf *out)
{
    size_t n = len < d->size ? len : (size_t)d->size;

    if (buf_append(out, in, n) != 0)
        return CHUNKED_ENOMEM;
    *used += n;
    d->size -= n;
    if (d->size == 0)
        d->state = DATA_CR;
    return CHUNKED_MORE;
}

enum chunked_status chunked_feed(struct chunked *d, const char *in, size_t len,
                                 size_t *used, struct buf *out)
{
    *used = 0;
    while (d->status == CHUNKED_MORE && *used < len) {
        if (d->state == DATA) {
            d->status = take_data(d, in + *used, len - *used, used, out);
            continue;
        }
        d->status = take_byte(d, in[*used]);
        if (d->status == CHUNKED_MORE || d->status == CHUNKED_DONE)
            ++*used;
    }
    return d->status;
}

enum chunked_status chunked_decode(const char *in, size_t len, size_t *used, struct buf *out)
{
    struct chunked d;
    size_t before = out->len;
    enum chunked_status status;

    chunked_init(&d);
    status = chunked_feed(&d, in, len, used, out);
    if (status != CHUNKED_DONE) {
        *used = 0;
        out->len = before;
    }
    return status;
}
