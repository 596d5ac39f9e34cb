#include "image.h"

#include <stdlib.h>
#include <string.h>

static uint64_t end_of(const struct extent *e)
{
    return (uint64_t)e->addr + e->size;
}

/* Appends data to an extent. */
static int extend(struct extent *e, const uint8_t *data, size_t size)
{
    uint8_t *grown = realloc(e->data, e->size + size);

    if (!grown)
        return 0;
    memcpy(grown + e->size, data, size);
    e->data = grown;
    e->size += size;
    return 1;
}

static int insert_at(struct image *img, size_t i, uint32_t addr)
{
    struct extent *grown = realloc(img->extents, (img->count + 1) * sizeof *grown);

    if (!grown)
        return 0;
    memmove(grown + i + 1, grown + i, (img->count - i) * sizeof *grown);
    grown[i] = (struct extent){addr, 0, NULL};
    img->extents = grown;
    img->count++;
    return 1;
}

static void remove_at(struct image *img, size_t i)
{
    free(img->extents[i].data);
    img->count--;
    memmove(img->extents + i, img->extents + i + 1, (img->count - i) * sizeof *img->extents);
}

enum image_status image_write(struct image *img, uint32_t addr, const uint8_t *data, size_t size)
{
    uint64_t end = (uint64_t)addr + size;
    size_t i = 0;

    if (size == 0)
        return IMAGE_OK;
    while (i < img->count && img->extents[i].addr < end)
        i++;

    /* Extent i is the first behind the data; only the one before can overlap. */
    if (i > 0 && end_of(&img->extents[i - 1]) > addr)
        return IMAGE_EOVERLAP;
    if (i > 0 && end_of(&img->extents[i - 1]) == addr)
        i--;
    else if (!insert_at(img, i, addr))
        return IMAGE_ENOMEM;
    if (!extend(&img->extents[i], data, size)) {
        if (img->extents[i].size == 0)
            remove_at(img, i);
        return IMAGE_ENOMEM;
    }

    if (i + 1 < img->count && img->extents[i + 1].addr == end) {
        if (!extend(&img->extents[i], img->extents[i + 1].data, img->extents[i + 1].size))
            return IMAGE_ENOMEM;
        remove_at(img, i + 1);
    }
    return IMAGE_OK;
}

void image_read(const struct image *img, uint32_t addr, uint8_t *data, size_t size)
{
    uint64_t end = (uint64_t)addr + size;
    size_t i;

    memset(data, 0xff, size);
    for (i = 0; i < img->count; i++) {
        const struct extent *e = &img->extents[i];
        uint64_t from = e->addr > addr ? e->addr : addr;
        uint64_t to = end_of(e) < end ? end_of(e) : end;

        if (from < to)
            memcpy(data + (from - addr), e->data + (from - e->addr), to - from);
    }
}

void image_free(struct image *img)
{
    size_t i;

    for (i = 0; i < img->count; i++)
        free(img->extents[i].data);
    free(img->extents);
    *img = (struct image){NULL, 0};
}
