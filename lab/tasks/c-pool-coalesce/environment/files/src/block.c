#include "block.h"

#include <assert.h>

#define MIN_BLOCK (sizeof(struct block) + BLOCK_ALIGN)

_Static_assert(sizeof(struct block) % BLOCK_ALIGN == 0, "data must be aligned");

struct block *block_first(const struct arena *arena)
{
    return (struct block *)arena->begin;
}

struct block *block_next(const struct arena *arena, struct block *b)
{
    unsigned char *next = (unsigned char *)b + b->size;

    return next < arena->end ? (struct block *)next : NULL;
}

struct block *block_prev(const struct arena *arena, struct block *b)
{
    if ((unsigned char *)b == arena->begin)
        return NULL;
    return (struct block *)((unsigned char *)b - b->prev_size);
}

void *block_data(struct block *b)
{
    return b + 1;
}

struct block *block_of(void *data)
{
    return (struct block *)data - 1;
}

uint32_t block_size_for(size_t bytes)
{
    if (bytes > UINT32_MAX - 2 * MIN_BLOCK)
        return 0;
    if (bytes == 0)
        bytes = 1;
    bytes = (bytes + BLOCK_ALIGN - 1) / BLOCK_ALIGN * BLOCK_ALIGN;
    return (uint32_t)(bytes + sizeof(struct block));
}

struct block *block_split(const struct arena *arena, struct block *b, uint32_t size)
{
    struct block *rest;

    assert(size <= b->size && b->size <= arena->end - (unsigned char *)b);
    if (b->size - size < MIN_BLOCK)
        return NULL;
    rest = (struct block *)((unsigned char *)b + size);
    rest->size = b->size - size;
    rest->prev_size = size;
    rest->used = 0;
    b->size = size;
    return rest;
}

void block_join(const struct arena *arena, struct block *b)
{
    struct block *next = block_next(arena, b);
    struct block *after = block_next(arena, next);

    b->size += next->size;
    if (after)
        after->prev_size = b->size;
}
