/* header.h - one HTTP header: used by clients, upstreams, rows of the policy. */
#ifndef ACOG_HEADER_H
#define ACOG_HEADER_H

#include "acog/view.h"

#include <stddef.h>

struct acog_header_row {
    struct acog_view name; /* lower case */
    struct acog_view value;
};

/* The value of the first header of that (lower case) name, or an empty view with ptr NULL. */
static inline struct acog_view acog_header_find(const struct acog_header_row *rows, size_t count,
                                                struct acog_view name)
{
    for (size_t i = 0; i < count; i++) {
        if (acog_view_equal(rows[i].name, name)) {
            return rows[i].value;
        }
    }
    return (struct acog_view){0};
}

#endif
