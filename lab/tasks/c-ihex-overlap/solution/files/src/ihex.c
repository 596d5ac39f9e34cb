#include "ihex.h"

#include <string.h>

enum { DATA, END, SEGMENT, START_SEGMENT, LINEAR, START_LINEAR };

struct record {
    uint8_t size;
    uint16_t offset;
    uint8_t type;
    uint8_t data[255];
};

struct loader {
    struct image *img;
    uint32_t base;
    int ended;
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

static enum ihex_status parse_record(const char *line, size_t len, struct record *rec)
{
    uint8_t bytes[4 + 255 + 1];
    uint8_t sum = 0;
    size_t n, i;

    if (len < 11 || len % 2 == 0 || line[0] != ':' || len > 1 + 2 * sizeof bytes)
        return IHEX_ESYNTAX;
    n = (len - 1) / 2;
    for (i = 0; i < n; i++) {
        int high = hex_digit(line[1 + 2 * i]);
        int low = hex_digit(line[2 + 2 * i]);

        if (high < 0 || low < 0)
            return IHEX_ESYNTAX;
        bytes[i] = (uint8_t)(high << 4 | low);
        sum = (uint8_t)(sum + bytes[i]);
    }
    if (bytes[0] != n - 5)
        return IHEX_ESYNTAX;
    if (sum != 0)
        return IHEX_ECHECKSUM;

    rec->size = bytes[0];
    rec->offset = (uint16_t)(bytes[1] << 8 | bytes[2]);
    rec->type = bytes[3];
    memcpy(rec->data, bytes + 4, rec->size);
    return IHEX_OK;
}

static enum ihex_status load_data(struct loader *ld, const struct record *rec)
{
    if ((uint32_t)rec->offset + rec->size > 0x10000)
        return IHEX_ERANGE;
    switch (image_write(ld->img, ld->base + rec->offset, rec->data, rec->size)) {
    case IMAGE_EOVERLAP:
        return IHEX_EOVERLAP;
    case IMAGE_ENOMEM:
        return IHEX_ENOMEM;
    default:
        return IHEX_OK;
    }
}

static enum ihex_status load_record(struct loader *ld, const struct record *rec)
{
    uint32_t value = (uint32_t)rec->data[0] << 8 | rec->data[1];

    switch (rec->type) {
    case DATA:
        return load_data(ld, rec);
    case END:
        ld->ended = 1;
        return rec->size == 0 ? IHEX_OK : IHEX_ESYNTAX;
    case SEGMENT:
        ld->base = value << 4;
        return rec->size == 2 ? IHEX_OK : IHEX_ESYNTAX;
    case LINEAR:
        ld->base = value << 16;
        return rec->size == 2 ? IHEX_OK : IHEX_ESYNTAX;
    case START_SEGMENT:
    case START_LINEAR:
        return rec->size == 4 ? IHEX_OK : IHEX_ESYNTAX;
    default:
        return IHEX_ESYNTAX;
    }
}

enum ihex_status ihex_load(struct image *img, const char *text, int *line)
{
    struct loader ld = {img, 0, 0};
    struct record rec = {0};

    for (*line = 0; *text && !ld.ended; ) {
        size_t len = strcspn(text, "\r\n");
        enum ihex_status status = IHEX_OK;

        ++*line;
        if (len > 0)
            status = parse_record(text, len, &rec);
        if (len > 0 && status == IHEX_OK)
            status = load_record(&ld, &rec);
        if (status != IHEX_OK)
            return status;

        text += len;
        text += *text == '\r';
        text += *text == '\n';
    }
    return ld.ended ? IHEX_OK : IHEX_ENOEOF;
}
