#include "ihex.h"

#include <assert.h>
#include <stdio.h>

int main(void)
{
    struct image img = {0};
    uint8_t data[8];
    int line;

    assert(ihex_load(&img,
                     ":020000040800F2\n"
                     ":0400100001020304E2\n"
                     ":04001400050607 08\n"
                     ":00000001FF\n", &line) == IHEX_ESYNTAX);
    assert(line == 3);
    image_free(&img);

    assert(ihex_load(&img,
                     ":020000040800F2\n"
                     ":0400100001020304E2\n"
                     ":0400140005060708CE\n"
                     ":00000001FF\n", &line) == IHEX_OK);
    assert(img.count == 1 && img.extents[0].addr == 0x08000010);
    image_read(&img, 0x08000012, data, sizeof data);
    assert(data[0] == 3 && data[5] == 8 && data[6] == 0xff);
    image_free(&img);

    puts("ok");
    return 0;
}
