#ifndef BLOCK_H
#define BLOCK_H

#include <stddef.h>
#include <stdint.h>

#define BLOCK_ALIGN 16u

/* Sizes include the header and are multiples of BLOCK_ALIGN. */
struct block {
    uint32_t size;
    uint32_t prev_size; /* 0 in the first block */
    uint32_t used;
    uint32_t reserved;
};

/* The blocks of a buffer. */
struct arena {
    unsigned char *begin;
    unsigned char *end;
};

struct block *block_first(const struct arena *arena);

/* Neighbours, or NULL at either end. */
struct block *block_next(const struct arena *arena, struct block *b);
struct block *block_prev(const struct arena *arena, struct block *b);

void *block_data(struct block *b);
struct block *block_of(void *data);

/* The size of a block for this many bytes of data, or 0 if it is too large. */
uint32_t block_size_for(size_t bytes);

/*
 * Cuts b down to size if what is left over is large enough for a block of its
 * own, which is then free. Returns it, or NULL.
 */
struct block *block_split(const struct arena *arena, struct block *b, uint32_t size);

/* Joins b with the block after it. */
void block_join(const struct arena *arena, struct block *b);

#endif
