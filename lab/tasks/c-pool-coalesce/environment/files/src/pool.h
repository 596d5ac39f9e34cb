#ifndef POOL_H
#define POOL_H

#include <stddef.h>

#include "block.h"

struct pool {
    struct arena arena;
};

struct pool_stats {
    size_t used_blocks;
    size_t free_blocks;
    size_t largest_free; /* how many bytes can be allocated at once */
};

/* memory must be aligned to 16 bytes. Returns 0, or -1 if it is too small. */
int pool_init(struct pool *pool, void *memory, size_t size);

/* Returns NULL if there is no room. The data is aligned to 16 bytes. */
void *pool_alloc(struct pool *pool, size_t bytes);

/*
 * Like realloc: keeps the data, may move it, and leaves it as it was if there
 * is no room. Data is never moved to make it smaller.
 */
void *pool_resize(struct pool *pool, void *data, size_t bytes);

/* data may be NULL. */
void pool_free(struct pool *pool, void *data);

struct pool_stats pool_stats(const struct pool *pool);

#endif
