#include "chunked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(cond) \
    do { \
        if (!(cond)) { \
            printf("%s:%d: %s\n", __func__, __LINE__, #cond); \
            exit(1); \
        } \
    } while (0)

#define OK_BODY "3;a=b\r\nabc\r\n0000A\t \r\n0123456789\r\n1 ;\r\n\r\r\n00;x\r\nA: b\r\nC:\r\n\r\n"

struct result {
    enum chunked_status status;
    size_t used;
    struct buf out;
};

/* Feeds the input in pieces that end at the given places. */
static struct result feed(const char *in, size_t len, const size_t *cuts, size_t count)
{
    struct result r = {CHUNKED_MORE, 0, {0}};
    struct chunked d;
    size_t at = 0, i;

    chunked_init(&d);
    for (i = 0; i <= count; i++) {
        size_t end = i < count ? cuts[i] : len;
        size_t used = 12345, before = r.out.len;
        /* A copy of its own, as the decoder must not keep pointers into it. */
        char *piece = malloc(end - at + 1);
        enum chunked_status status;

        memcpy(piece, in + at, end - at);
        status = chunked_feed(&d, piece, end - at, &used, &r.out);
        memset(piece, '#', end - at + 1);
        free(piece);
        if (r.status != CHUNKED_MORE) {
            CHECK(status == r.status && used == 0 && r.out.len == before);
        } else if (status == CHUNKED_MORE) {
            CHECK(used == end - at);
            r.used += used;
        } else {
            CHECK(used <= end - at);
            r.used += used;
        }
        r.status = status;
        at = end;
    }
    return r;
}

static void check_result(struct result r, enum chunked_status status, size_t used,
                         const char *data, size_t len, const char *in)
{
    if (r.status != status || r.used != used || r.out.len != len ||
        (len && memcmp(r.out.data, data, len) != 0)) {
        printf("status %d instead of %d, used %zu instead of %zu, %zu bytes instead of %zu in:\n%s\n",
               (int)r.status, (int)status, r.used, used, r.out.len, len, in);
        exit(1);
    }
    buf_free(&r.out);
}

/* Checks the input whole, cut at every place, at every two places, and in bytes. */
static void check_n(const char *in, size_t in_len, enum chunked_status status, size_t used,
                    const char *data, size_t len)
{
    size_t cuts[2048];
    size_t i, j;

    CHECK(in_len <= 2048);
    check_result(feed(in, in_len, NULL, 0), status, used, data, len, in);
    for (i = 0; i < in_len; i++)
        cuts[i] = i;
    check_result(feed(in, in_len, cuts, in_len), status, used, data, len, in);
    for (i = 0; i <= in_len; i++) {
        size_t two[2] = {i, i};

        check_result(feed(in, in_len, two, 2), status, used, data, len, in);
        for (j = i; in_len < 120 && j <= in_len; j++) {
            two[1] = j;
            check_result(feed(in, in_len, two, 2), status, used, data, len, in);
        }
    }

    /* The one-shot decoder agrees. */
    {
        struct buf out = {0};
        size_t n = 99;

        CHECK(buf_append(&out, "before", 6) == 0);
        CHECK(chunked_decode(in, in_len, &n, &out) == status);
        CHECK(n == (status == CHUNKED_DONE ? used : 0));
        CHECK(out.len == 6 + (status == CHUNKED_DONE ? len : 0));
        CHECK(memcmp(out.data, "before", 6) == 0);
        if (status == CHUNKED_DONE)
            CHECK(memcmp(out.data + 6, data, len) == 0);
        buf_free(&out);
    }
}

static void check(const char *in, enum chunked_status status, size_t used, const char *data)
{
    check_n(in, strlen(in), status, used, data, strlen(data));
}

static void test_complete(void)
{
    static const char zeros[] = "4\r\n\0\r\n\0\r\n0\r\n\r\n\0";

    check("0\r\n\r\n", CHUNKED_DONE, 5, "");
    check("5\r\nhello\r\n0\r\n\r\n", CHUNKED_DONE, 15, "hello");
    check(OK_BODY, CHUNKED_DONE, strlen(OK_BODY), "abc0123456789\r");
    check(OK_BODY "0\r\n\r\n", CHUNKED_DONE, strlen(OK_BODY), "abc0123456789\r");
    check("0\r\n\r\n\n", CHUNKED_DONE, 5, "");
    check("00000000000000000000000000000002\r\nhi\r\n0\r\n\r\n", CHUNKED_DONE, 43, "hi");
    check("9\r\n0\r\n\r\n0\r\n\r\r\n000\r\n\r\n", CHUNKED_DONE, 21, "0\r\n\r\n0\r\n\r");
    check("1;\";\"=\r\nx\r\n0 ; \r\n::\r\n\r\n", CHUNKED_EFORMAT, 17, "x");
    check("1;\";\"=\r\nx\r\n0 ; \r\na::\r\n\r\n", CHUNKED_DONE, 24, "x");
    check_n(zeros, sizeof zeros - 1, CHUNKED_DONE, 14, "\0\r\n\0", 4);
}

static void test_incomplete(void)
{
    size_t i;

    for (i = 0; i < strlen(OK_BODY); i++) {
        struct result r = feed(OK_BODY, i, NULL, 0);

        CHECK(r.status == CHUNKED_MORE && r.used == i);
        buf_free(&r.out);
    }
    check("", CHUNKED_MORE, 0, "");
    check("5\r\nhel", CHUNKED_MORE, 6, "hel");
    check("5\r\nhello", CHUNKED_MORE, 8, "hello");
    check("5\r\nhello\r", CHUNKED_MORE, 9, "hello");
    check("0\r\na", CHUNKED_MORE, 4, "");
    check("0\r\na: b\r\n\r", CHUNKED_MORE, 10, "");
    check("7fffffffffffffff\r\nabc", CHUNKED_MORE, 21, "abc");
    check("ffffffff\r\nabc", CHUNKED_MORE, 13, "abc");
}

static void test_format(void)
{
    check("\r\n", CHUNKED_EFORMAT, 0, "");
    check("\n", CHUNKED_EFORMAT, 0, "");
    check(";a\r\n", CHUNKED_EFORMAT, 0, "");
    check(" 5\r\n", CHUNKED_EFORMAT, 0, "");
    check("+5\r\n", CHUNKED_EFORMAT, 0, "");
    check("-5\r\n", CHUNKED_EFORMAT, 0, "");
    check("0x5\r\n", CHUNKED_EFORMAT, 1, "");
    check("5g\r\n", CHUNKED_EFORMAT, 1, "");
    check("5 5\r\n", CHUNKED_EFORMAT, 2, "");
    check("5 \t5\r\n", CHUNKED_EFORMAT, 3, "");
    check("5\nhello", CHUNKED_EFORMAT, 1, "");
    check("5 \nhello", CHUNKED_EFORMAT, 2, "");
    check("5;\nhello", CHUNKED_EFORMAT, 2, "");
    check("5;a\nb\r\nhello", CHUNKED_EFORMAT, 3, "");
    check("5;a\rb\r\nhello", CHUNKED_EFORMAT, 4, "");
    check("5\r\r\nhello", CHUNKED_EFORMAT, 2, "");
    check("5\rhello", CHUNKED_EFORMAT, 2, "");
    check("5\r\nhello5", CHUNKED_EFORMAT, 8, "hello");
    check("5\r\nhello\n0", CHUNKED_EFORMAT, 8, "hello");
    check("5\r\nhello\r0", CHUNKED_EFORMAT, 9, "hello");
    check("5\r\nhello\r\r\n", CHUNKED_EFORMAT, 9, "hello");
    check("5\r\nhello\r\n\r\n", CHUNKED_EFORMAT, 10, "hello");
    check("2\r\nab\r\nz", CHUNKED_EFORMAT, 7, "ab");
    check_n("5\0\r\n", 4, CHUNKED_EFORMAT, 1, "", 0);
    check("\xb2\r\n", CHUNKED_EFORMAT, 0, "");
}

static void test_trailer(void)
{
    check("0\r\n\n", CHUNKED_EFORMAT, 3, "");
    check("0\r\n\rx", CHUNKED_EFORMAT, 4, "");
    check("0\r\n:a\r\n\r\n", CHUNKED_EFORMAT, 3, "");
    check("0\r\nabc\r\n\r\n", CHUNKED_EFORMAT, 6, "");
    check("0\r\na:b\nc:d\r\n\r\n", CHUNKED_EFORMAT, 6, "");
    check("0\r\na:b\rc\r\n\r\n", CHUNKED_EFORMAT, 7, "");
    check("0\r\na:b\r\nc\r\n\r\n", CHUNKED_EFORMAT, 9, "");
    check("0\r\na:b\r\n:\r\n\r\n", CHUNKED_EFORMAT, 8, "");
    check("0\r\nab\n", CHUNKED_EFORMAT, 5, "");
}

static void test_size(void)
{
    check("7fffffffffffffff", CHUNKED_MORE, 16, "");
    check("8000000000000000", CHUNKED_ESIZE, 15, "");
    check("FFFFFFFFFFFFFFFF\r\n", CHUNKED_ESIZE, 15, "");
    check("10000000000000000\r\n", CHUNKED_ESIZE, 16, "");
    check("100000000000000000000000000000001\r\n", CHUNKED_ESIZE, 16, "");
    check("0007fffffffffffffff0\r\n", CHUNKED_ESIZE, 19, "");
    check("1\r\nx\r\n8000000000000000\r\n", CHUNKED_ESIZE, 21, "x");
    check("0000000000000000000000007fffffffffffffff\r\nab", CHUNKED_MORE, 44, "ab");
}

/* A text with one byte repeated in its middle. */
static const char *with(const char *before, char c, size_t count, const char *after)
{
    static char text[2048];
    size_t len = strlen(before);

    memcpy(text, before, len);
    memset(text + len, c, count);
    strcpy(text + len + count, after);
    return text;
}

static void test_line(void)
{
    check(with("", '0', 255, "1\r\nx\r\n0\r\n\r\n"), CHUNKED_DONE, 266, "x");
    check(with("", '0', 256, "1\r\nx\r\n0\r\n\r\n"), CHUNKED_ELINE, 256, "");
    check(with("", '0', 256, "\r\n\r\n"), CHUNKED_DONE, 260, "");
    check(with("", '0', 256, "\n"), CHUNKED_EFORMAT, 256, "");
    check(with("", '0', 256, "x"), CHUNKED_ELINE, 256, "");
    check(with("", '0', 256, ";"), CHUNKED_ELINE, 256, "");
    check(with("", '0', 256, "\r0"), CHUNKED_EFORMAT, 257, "");
    check(with("1", ' ', 255, "\r\nx"), CHUNKED_MORE, 259, "x");
    check(with("1", ' ', 255, " \r\nx"), CHUNKED_ELINE, 256, "");
    check(with("1 ;", 'e', 253, "\r\nx"), CHUNKED_MORE, 259, "x");
    check(with("1 ;", 'e', 254, "\r\nx"), CHUNKED_ELINE, 256, "");
    check(with("1\r\nx\r\n1;", 'e', 255, "\r\nx"), CHUNKED_ELINE, 262, "x");
    check(with("0\r\na:", 't', 254, "\r\n\r\n"), CHUNKED_DONE, 263, "");
    check(with("0\r\na:", 't', 255, "\r\n\r\n"), CHUNKED_ELINE, 259, "");
    check(with("0\r\n", 't', 256, "\r\n\r\n"), CHUNKED_EFORMAT, 259, "");
    check(with("0\r\n", 't', 256, ":\r\n\r\n"), CHUNKED_ELINE, 259, "");
    /* Each line counts on its own. */
    check(with("0\r\na:b\r\nc:", 't', 254, "\r\nd:e\r\n\r\n"), CHUNKED_DONE, 273, "");
    /* Data is no line. */
    {
        const char *in = with("3e8\r\n", 'd', 1000, "\r\n0\r\n\r\n");
        static char data[1001];

        memset(data, 'd', 1000);
        check(in, CHUNKED_DONE, 1012, data);
    }
}

static void test_stays_at_the_end(void)
{
    struct buf out = {0};
    struct chunked d;
    size_t used;

    chunked_init(&d);
    CHECK(chunked_feed(&d, "1\r\nx\r\n0\r\n\r\nmore", 15, &used, &out) == CHUNKED_DONE);
    CHECK(used == 11);
    CHECK(chunked_feed(&d, "1\r\ny\r\n", 6, &used, &out) == CHUNKED_DONE && used == 0);
    CHECK(chunked_feed(&d, "", 0, &used, &out) == CHUNKED_DONE && used == 0);
    CHECK(out.len == 1);

    chunked_init(&d);
    CHECK(chunked_feed(&d, "", 0, &used, &out) == CHUNKED_MORE && used == 0);
    CHECK(chunked_feed(&d, "2\r\ny", 4, &used, &out) == CHUNKED_MORE && used == 4);
    CHECK(out.len == 2);
    CHECK(chunked_feed(&d, "z!", 2, &used, &out) == CHUNKED_EFORMAT && used == 1);
    CHECK(chunked_feed(&d, "\r\n", 2, &used, &out) == CHUNKED_EFORMAT && used == 0);
    CHECK(out.len == 3 && memcmp(out.data, "xyz", 3) == 0);

    chunked_init(&d);
    CHECK(chunked_feed(&d, "0\r\n\r\n", 5, &used, &out) == CHUNKED_DONE && used == 5);
    buf_free(&out);
}

static void test_two_at_a_time(void)
{
    static const char in[] = "4\r\nabcd\r\n3\r\nefg\r\n0\r\n\r\n";
    struct buf out[2] = {{0}, {0}};
    struct chunked d[2];
    size_t i, used;

    chunked_init(&d[0]);
    chunked_init(&d[1]);
    for (i = 0; i < strlen(in); i++) {
        CHECK(chunked_feed(&d[0], in + i, 1, &used, &out[0]) != CHUNKED_EFORMAT);
        if (i >= 4)
            CHECK(chunked_feed(&d[1], in + i - 4, 1, &used, &out[1]) == CHUNKED_MORE);
    }
    CHECK(chunked_feed(&d[1], in + i - 4, 4, &used, &out[1]) == CHUNKED_DONE);
    for (i = 0; i < 2; i++) {
        CHECK(out[i].len == 7 && memcmp(out[i].data, "abcdefg", 7) == 0);
        buf_free(&out[i]);
    }
}

int main(void)
{
    test_complete();
    test_incomplete();
    test_format();
    test_trailer();
    test_size();
    test_line();
    test_stays_at_the_end();
    test_two_at_a_time();
    puts("all passed");
    return 0;
}
