#include "pool.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static _Alignas(16) unsigned char memory[1024];

int main(void)
{
    struct pool pool;
    void *a, *b, *c;

    assert(pool_init(&pool, memory, sizeof memory) == 0);
    assert(pool_stats(&pool).largest_free == 1008);

    a = pool_alloc(&pool, 100);
    b = pool_alloc(&pool, 100);
    c = pool_alloc(&pool, 100);
    assert(a && b && c);
    memset(b, 'b', 100);
    assert(pool_alloc(&pool, 1000) == NULL);

    /* Freed in any order, neighbours become one block. */
    pool_free(&pool, a);
    pool_free(&pool, c);
    assert(pool_stats(&pool).free_blocks == 2);
    pool_free(&pool, b);
    assert(pool_stats(&pool).free_blocks == 1);
    assert(pool_stats(&pool).largest_free == 1008);

    puts("ok");
    return 0;
}
