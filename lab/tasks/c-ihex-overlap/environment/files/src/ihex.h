#ifndef IHEX_H
#define IHEX_H

#include "image.h"

enum ihex_status {
    IHEX_OK,
    IHEX_ESYNTAX,   /* not a record, or not one of this type */
    IHEX_ECHECKSUM,
    IHEX_ERANGE,    /* data that leaves the 64 KiB */
    IHEX_EOVERLAP,  /* two data records for one address */
    IHEX_ENOMEM,
    IHEX_ENOEOF     /* no end record */
};

/*
 * Adds a file to the image. What comes after the end record is ignored.
 * *line is set to the line, from 1, that was read last.
 */
enum ihex_status ihex_load(struct image *img, const char *text, int *line);

#endif
