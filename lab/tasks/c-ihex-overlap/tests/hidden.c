#include "ihex.h"

#include <stdarg.h>
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

static char text[4096];

static void add(int type, unsigned offset, int size, ...)
{
    unsigned sum = (unsigned)size + (offset >> 8) + (offset & 0xff) + (unsigned)type;
    char *at = text + strlen(text);
    va_list bytes;

    at += sprintf(at, ":%02X%04X%02X", (unsigned)size, offset, (unsigned)type);
    va_start(bytes, size);
    while (size-- > 0) {
        unsigned byte = va_arg(bytes, unsigned);

        at += sprintf(at, "%02X", byte);
        sum += byte;
    }
    va_end(bytes);
    sprintf(at, "%02X\n", -sum & 0xff);
}

static void segment(unsigned value)
{
    add(2, 0, 2, value >> 8, value & 0xff);
}

static void linear(unsigned value)
{
    add(4, 0, 2, value >> 8, value & 0xff);
}

static void byte(unsigned offset, unsigned value)
{
    add(0, offset, 1, value);
}

/* Loads what has been added, with an end record, and begins anew. */
static enum ihex_status load(struct image *img)
{
    enum ihex_status status;
    int line;

    add(1, 0, 0);
    status = ihex_load(img, text, &line);
    text[0] = '\0';
    return status;
}

static int byte_at(const struct image *img, uint32_t addr)
{
    uint8_t value;

    image_read(img, addr, &value, 1);
    return value;
}

static void test_issue(void)
{
    struct image img = {0};
    int line;

    CHECK(ihex_load(&img,
                    ":020000021000EC\n"
                    ":04F000000102030402\n"
                    ":020000040000FA\n"
                    ":04F0000005060708F2\n"
                    ":00000001FF\n", &line) == IHEX_OK);
    CHECK(line == 5);
    CHECK(img.count == 2);
    CHECK(img.extents[0].addr == 0xf000 && img.extents[0].size == 4);
    CHECK(img.extents[1].addr == 0x1f000 && img.extents[1].size == 4);
    CHECK(byte_at(&img, 0xf000) == 5 && byte_at(&img, 0x1f003) == 4);
    image_free(&img);
}

static void test_segment_after_linear(void)
{
    struct image img = {0};

    linear(0x0800);
    byte(0x0000, 1);
    segment(0x1000);
    byte(0x0000, 2);
    byte(0x0010, 3);
    CHECK(load(&img) == IHEX_OK);
    CHECK(img.count == 3);
    CHECK(img.extents[0].addr == 0x10000);
    CHECK(img.extents[1].addr == 0x10010);
    CHECK(img.extents[2].addr == 0x08000000);
    image_free(&img);
}

static void test_back_and_forth(void)
{
    struct image img = {0};

    segment(0x1234);
    byte(5, 1);                     /* 0x12345 */
    linear(0x0002);
    byte(5, 2);                     /* 0x20005 */
    segment(0x0001);
    byte(5, 3);                     /* 0x00015 */
    linear(0xffff);
    byte(0xffff, 4);                /* 0xffffffff */
    segment(0xffff);
    byte(0xffff, 5);                /* 0x10ffef */
    linear(0x0000);
    byte(0, 6);                     /* 0 */
    linear(0x0003);
    segment(0x0000);
    byte(1, 7);                     /* 1 */
    CHECK(load(&img) == IHEX_OK);
    CHECK(byte_at(&img, 0x12345) == 1);
    CHECK(byte_at(&img, 0x20005) == 2);
    CHECK(byte_at(&img, 0x00015) == 3);
    CHECK(byte_at(&img, 0xffffffff) == 4);
    CHECK(byte_at(&img, 0x10ffef) == 5);
    CHECK(byte_at(&img, 0) == 6);
    CHECK(byte_at(&img, 1) == 7);
    CHECK(img.count == 6);
    CHECK(img.extents[0].addr == 0 && img.extents[0].size == 2);
    image_free(&img);
}

static void test_one_kind(void)
{
    struct image img = {0};

    byte(0x10, 1);
    segment(0x1000);
    byte(0x10, 2);
    segment(0x2000);
    byte(0x10, 3);
    CHECK(load(&img) == IHEX_OK);
    linear(0x1000);
    byte(0x10, 4);
    linear(0x2000);
    byte(0x10, 5);
    CHECK(load(&img) == IHEX_OK);
    CHECK(byte_at(&img, 0x10) == 1);
    CHECK(byte_at(&img, 0x10010) == 2);
    CHECK(byte_at(&img, 0x20010) == 3);
    CHECK(byte_at(&img, 0x10000010) == 4);
    CHECK(byte_at(&img, 0x20000010) == 5);
    CHECK(img.count == 5);

    /* The base of one file is nothing to the next. */
    byte(0x11, 6);
    CHECK(load(&img) == IHEX_OK);
    CHECK(byte_at(&img, 0x11) == 6);
    image_free(&img);
}

static void test_real_overlap(void)
{
    struct image img = {0};

    byte(0x10, 1);
    byte(0x10, 2);
    CHECK(load(&img) == IHEX_EOVERLAP);
    image_free(&img);

    segment(0x1000);
    add(0, 0x0010, 3, 1u, 2u, 3u);
    linear(0x0001);
    byte(0x0012, 4);
    CHECK(load(&img) == IHEX_EOVERLAP);
    image_free(&img);

    linear(0x0001);
    byte(0x0012, 4);
    segment(0x1001);
    add(0, 0x0000, 3, 1u, 2u, 3u);
    CHECK(load(&img) == IHEX_EOVERLAP);
    CHECK(byte_at(&img, 0x10012) == 4);
    image_free(&img);
}

static void test_extents_join(void)
{
    struct image img = {0};

    linear(0x0001);
    byte(0x0000, 3);
    segment(0x0fff);
    byte(0x000e, 1);                /* 0xfffe */
    byte(0x000f, 2);                /* 0xffff */
    segment(0x1000);
    byte(0x0001, 4);
    CHECK(load(&img) == IHEX_OK);
    CHECK(img.count == 1 && img.extents[0].addr == 0xfffe && img.extents[0].size == 4);
    CHECK(memcmp(img.extents[0].data, "\1\2\3\4", 4) == 0);
    image_free(&img);
}

static void test_start_records(void)
{
    struct image img = {0};

    linear(0x0001);
    add(5, 0, 4, 0x12u, 0x34u, 0x56u, 0x78u);
    byte(0, 1);
    segment(0x0100);
    add(3, 0, 4, 0x12u, 0x34u, 0x56u, 0x78u);
    byte(0, 2);
    CHECK(load(&img) == IHEX_OK);
    CHECK(byte_at(&img, 0x10000) == 1);
    CHECK(byte_at(&img, 0x01000) == 2);
    image_free(&img);
}

static void test_errors(void)
{
    struct image img = {0};
    int line;

    add(0, 0xffff, 2, 1u, 2u);
    CHECK(load(&img) == IHEX_ERANGE);
    linear(1);
    add(0, 0xffff, 2, 1u, 2u);
    CHECK(load(&img) == IHEX_ERANGE);
    add(6, 0, 0);
    CHECK(load(&img) == IHEX_ESYNTAX);
    add(2, 0, 1, 1u);
    CHECK(load(&img) == IHEX_ESYNTAX);
    add(4, 0, 3, 1u, 2u, 3u);
    CHECK(load(&img) == IHEX_ESYNTAX);
    CHECK(img.count == 0);
    CHECK(ihex_load(&img, ":00000001FE\n", &line) == IHEX_ECHECKSUM && line == 1);
    CHECK(ihex_load(&img, "\n:0100000001FE\r\n", &line) == IHEX_ENOEOF && line == 2);
    CHECK(ihex_load(&img, "00000001FF\n", &line) == IHEX_ESYNTAX);
    CHECK(byte_at(&img, 0) == 1);
    image_free(&img);
    CHECK(ihex_load(&img, ":00000001FF\n:nonsense\n", &line) == IHEX_OK && line == 1);
}

int main(void)
{
    test_issue();
    test_segment_after_linear();
    test_back_and_forth();
    test_one_kind();
    test_real_overlap();
    test_extents_join();
    test_start_records();
    test_errors();
    puts("all passed");
    return 0;
}
