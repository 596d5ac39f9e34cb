#ifndef IMAGE_H
#define IMAGE_H

#include <stddef.h>
#include <stdint.h>

struct extent {
    uint32_t addr;
    size_t size;
    uint8_t *data;
};

/* Starts out zeroed. Extents are sorted and have gaps between them. */
struct image {
    struct extent *extents;
    size_t count;
};

enum image_status { IMAGE_OK, IMAGE_EOVERLAP, IMAGE_ENOMEM };

/* Adds data to the image, where there must be none yet. */
enum image_status image_write(struct image *img, uint32_t addr, const uint8_t *data, size_t size);

/* Copies a range of the image; what is not there is filled with 0xff. */
void image_read(const struct image *img, uint32_t addr, uint8_t *data, size_t size);

void image_free(struct image *img);

#endif
