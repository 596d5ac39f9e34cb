#include "pool.h"

#include <string.h>

int pool_init(struct pool *pool, void *memory, size_t size)
{
    struct block *first = memory;

    size -= size % BLOCK_ALIGN;
    if (size < sizeof *first + BLOCK_ALIGN || size > UINT32_MAX)
        return -1;
    pool->arena.begin = memory;
    pool->arena.end = pool->arena.begin + size;
    first->size = (uint32_t)size;
    first->prev_size = 0;
    first->used = 0;
    return 0;
}

/* Joins a free block with the one after it, if that is free too. */
static void join_next(struct pool *pool, struct block *b)
{
    struct block *next = block_next(&pool->arena, b);

    if (next && !next->used)
        block_join(&pool->arena, b);
}

void *pool_alloc(struct pool *pool, size_t bytes)
{
    uint32_t size = block_size_for(bytes);
    struct block *b = block_first(&pool->arena);

    if (size == 0)
        return NULL;
    while (b && (b->used || b->size < size))
        b = block_next(&pool->arena, b);
    if (!b)
        return NULL;
    block_split(&pool->arena, b, size);
    b->used = 1;
    return block_data(b);
}

void pool_free(struct pool *pool, void *data)
{
    struct block *b, *prev;

    if (!data)
        return;
    b = block_of(data);
    b->used = 0;
    join_next(pool, b);
    prev = block_prev(&pool->arena, b);
    if (prev && !prev->used)
        block_join(&pool->arena, prev);
}

void *pool_resize(struct pool *pool, void *data, size_t bytes)
{
    uint32_t size = block_size_for(bytes);
    struct block *b, *next, *rest;
    void *moved;

    if (!data)
        return pool_alloc(pool, bytes);
    if (size == 0)
        return NULL;

    b = block_of(data);
    next = block_next(&pool->arena, b);
    if (b->size < size && next && !next->used && b->size + next->size >= size)
        block_join(&pool->arena, b);
    if (b->size >= size) {
        rest = block_split(&pool->arena, b, size);
        if (rest)
            join_next(pool, rest);
        return data;
    }

    moved = pool_alloc(pool, bytes);
    if (moved) {
        memcpy(moved, data, b->size - sizeof *b);
        pool_free(pool, data);
    }
    return moved;
}

struct pool_stats pool_stats(const struct pool *pool)
{
    struct pool_stats stats = {0, 0, 0};
    struct block *b;

    for (b = block_first(&pool->arena); b; b = block_next(&pool->arena, b)) {
        if (b->used) {
            stats.used_blocks++;
            continue;
        }
        stats.free_blocks++;
        if (b->size - sizeof *b > stats.largest_free)
            stats.largest_free = b->size - sizeof *b;
    }
    return stats;
}
