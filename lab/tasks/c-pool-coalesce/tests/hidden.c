#include "pool.h"

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

#define SIZE 1024

static _Alignas(16) unsigned char memory[8192];

static struct pool fresh(size_t size)
{
    struct pool pool;

    memset(memory, 0xa5, sizeof memory);
    CHECK(pool_init(&pool, memory, size) == 0);
    return pool;
}

/* Walks over the headers without the help of the functions that are tested. */
static void check_blocks(const struct pool *pool)
{
    unsigned char *at = pool->arena.begin;
    const struct block *prev = NULL;

    while (at < pool->arena.end) {
        const struct block *b = (const struct block *)at;

        CHECK(b->size >= sizeof *b + BLOCK_ALIGN);
        CHECK(b->size % BLOCK_ALIGN == 0);
        CHECK(b->size <= (size_t)(pool->arena.end - at));
        CHECK(b->prev_size == (prev ? prev->size : 0));
        CHECK(!(prev && !prev->used && !b->used));
        prev = b;
        at += b->size;
    }
    CHECK(at == pool->arena.end);
}

static void check_empty(const struct pool *pool)
{
    size_t size = (size_t)(pool->arena.end - pool->arena.begin);

    check_blocks(pool);
    CHECK(pool_stats(pool).used_blocks == 0);
    CHECK(pool_stats(pool).free_blocks == 1);
    CHECK(pool_stats(pool).largest_free == size - sizeof(struct block));
}

static void test_issue(void)
{
    struct pool pool = fresh(SIZE);
    void *a = pool_alloc(&pool, 400);
    void *b = pool_alloc(&pool, 100);
    void *c;

    pool_free(&pool, a);
    c = pool_alloc(&pool, 16);
    CHECK(c == a);
    check_blocks(&pool);
    pool_free(&pool, b);
    CHECK(pool_stats(&pool).free_blocks == 1);
    pool_free(&pool, c);
    check_empty(&pool);
    CHECK(pool_alloc(&pool, 1000) != NULL);
}

static void test_shrink(void)
{
    struct pool pool = fresh(SIZE);
    char *a = pool_alloc(&pool, 400);
    char *b = pool_alloc(&pool, 100);
    char *d = pool_alloc(&pool, 100);

    memset(a, 'a', 400);
    CHECK(pool_resize(&pool, a, 32) == a);
    check_blocks(&pool);
    CHECK(pool_stats(&pool).free_blocks == 2);
    pool_free(&pool, b);
    check_blocks(&pool);
    CHECK(pool_stats(&pool).free_blocks == 2);
    CHECK(pool_stats(&pool).largest_free >= 400 - 32 + 100);
    CHECK(a[0] == 'a' && a[31] == 'a');
    pool_free(&pool, d);
    pool_free(&pool, a);
    check_empty(&pool);
}

static void test_shrink_before_free(void)
{
    struct pool pool = fresh(SIZE);
    char *a = pool_alloc(&pool, 400);
    char *b = pool_alloc(&pool, 100);
    char *c = pool_alloc(&pool, 100);

    pool_free(&pool, b);
    CHECK(pool_resize(&pool, a, 200) == a);
    check_blocks(&pool);
    CHECK(pool_stats(&pool).free_blocks == 2);
    pool_free(&pool, c);
    CHECK(pool_stats(&pool).free_blocks == 1);
    pool_free(&pool, a);
    check_empty(&pool);
}

static void test_grow(void)
{
    struct pool pool = fresh(SIZE);
    char *a = pool_alloc(&pool, 64);
    char *b = pool_alloc(&pool, 256);
    char *c = pool_alloc(&pool, 64);
    char *d;

    memset(a, 'a', 64);
    memset(c, 'c', 64);
    pool_free(&pool, b);
    CHECK(pool_resize(&pool, a, 128) == a);
    check_blocks(&pool);
    CHECK(a[0] == 'a' && a[63] == 'a');
    pool_free(&pool, c);
    check_blocks(&pool);
    CHECK(pool_stats(&pool).free_blocks == 1);

    /* There is a neighbour in the way now. */
    d = pool_alloc(&pool, 16);
    b = pool_resize(&pool, a, 256);
    CHECK(b && b != a && b[0] == 'a' && b[63] == 'a');
    check_blocks(&pool);
    CHECK(pool_resize(&pool, b, 2000) == NULL);
    CHECK(b[0] == 'a');
    check_blocks(&pool);
    pool_free(&pool, d);
    pool_free(&pool, b);
    check_empty(&pool);
}

static void test_split(void)
{
    struct pool pool = fresh(SIZE);
    struct block *b = block_of(pool_alloc(&pool, 400));
    struct block *after = block_of(pool_alloc(&pool, 16));
    struct block *rest;

    /* What is left over would be no more than a header. */
    CHECK(block_split(&pool.arena, b, b->size - 16) == NULL);
    CHECK(block_split(&pool.arena, b, b->size) == NULL);
    CHECK(block_prev(&pool.arena, after) == b);

    rest = block_split(&pool.arena, b, 112);
    CHECK(rest && !rest->used && b->size == 112);
    CHECK(block_next(&pool.arena, b) == rest);
    CHECK(block_prev(&pool.arena, rest) == b);
    CHECK(block_next(&pool.arena, rest) == after);
    CHECK(block_prev(&pool.arena, after) == rest);
    check_blocks(&pool);
    block_join(&pool.arena, b);
    CHECK(block_prev(&pool.arena, after) == b);
    check_blocks(&pool);
}

static void test_limits(void)
{
    struct pool pool;

    CHECK(pool_init(&pool, memory, 31) == -1);
    pool = fresh(47);
    check_empty(&pool);
    CHECK(pool_alloc(&pool, 17) == NULL);
    CHECK(pool_alloc(&pool, (size_t)-1) == NULL);
    pool_free(&pool, NULL);
    pool_free(&pool, pool_alloc(&pool, 0));
    check_empty(&pool);
    CHECK(pool_resize(&pool, NULL, 16) != NULL);
    CHECK(pool_stats(&pool).free_blocks == 0);
}

static void test_first_fit(void)
{
    struct pool pool = fresh(SIZE);
    void *a = pool_alloc(&pool, 200);
    void *b = pool_alloc(&pool, 16);
    void *c = pool_alloc(&pool, 64);
    void *d = pool_alloc(&pool, 16);

    CHECK(b && d);
    pool_free(&pool, a);
    pool_free(&pool, c);
    CHECK(pool_alloc(&pool, 64) == a);
    CHECK(pool_alloc(&pool, 300) > d);
    check_blocks(&pool);
}

static unsigned random_state = 1;

static unsigned random_below(unsigned n)
{
    random_state = random_state * 1103515245u + 12345u;
    return (random_state >> 16) % n;
}

static void check_data(const unsigned char *data, size_t size, unsigned char value)
{
    size_t i;

    for (i = 0; i < size; i++)
        CHECK(data[i] == value);
}

static void test_at_random(void)
{
    enum { SLOTS = 24 };
    struct pool pool = fresh(8192);
    unsigned char *data[SLOTS] = {NULL};
    size_t size[SLOTS] = {0};
    int round;
    unsigned i;

    for (round = 0; round < 20000; round++) {
        size_t wanted = 1 + random_below(random_below(8) ? 300 : 1500);
        unsigned char *p;

        i = random_below(SLOTS);
        if (!data[i]) {
            p = pool_alloc(&pool, wanted);
            if (p) {
                data[i] = p;
                size[i] = wanted;
                memset(p, (int)i + 1, wanted);
            }
        } else if (random_below(2)) {
            p = pool_resize(&pool, data[i], wanted);
            if (p) {
                check_data(p, size[i] < wanted ? size[i] : wanted, (unsigned char)(i + 1));
                if (wanted <= size[i])
                    CHECK(p == data[i]);
                data[i] = p;
                size[i] = wanted;
                memset(p, (int)i + 1, wanted);
            }
        } else {
            check_data(data[i], size[i], (unsigned char)(i + 1));
            pool_free(&pool, data[i]);
            data[i] = NULL;
        }
        check_blocks(&pool);
    }
    for (i = 0; i < SLOTS; i++) {
        if (data[i])
            check_data(data[i], size[i], (unsigned char)(i + 1));
        pool_free(&pool, data[i]);
        check_blocks(&pool);
    }
    check_empty(&pool);
}

int main(void)
{
    test_issue();
    test_shrink();
    test_shrink_before_free();
    test_grow();
    test_split();
    test_limits();
    test_first_fit();
    test_at_random();
    puts("all passed");
    return 0;
}
