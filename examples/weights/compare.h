/* SPDX-License-Identifier: Apache-2.0 */
/* The result of comparing two files, and the two ways to show it. */
#ifndef COMPARE_H
#define COMPARE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include <tarn.h>

enum row_state {
    ROW_EQUAL,
    ROW_WITHIN, /* bits differ, but the tolerance excuses all of it */
    ROW_DIFFERENT,
    ROW_ONLY_FIRST,
    ROW_ONLY_SECOND,
    ROW_OTHER_TYPE,
    ROW_OTHER_SHAPE
};

struct row {
    enum row_state state;
    tarn_weight a, b;         /* the name is NULL where it is missing */
    tarn_weight_difference d; /* of the first three states */
};

struct comparison {
    const char *first, *second; /* paths */
    struct row *rows;
    size_t count;
    size_t bad;    /* rows that make the files different */
    size_t within; /* rows that only the tolerance makes equal */
};

static inline bool row_compared(const struct row *r)
{
    return r->state <= ROW_DIFFERENT;
}

static inline const char *row_name(const struct row *r)
{
    return r->a.name ? r->a.name : r->b.name;
}

/* Columns for people, on the standard output. */
void table_print(const struct comparison *c);
/* One file's part of the JSON object; NULL when memory is out. */
json_t *comparison_json(const struct comparison *c);
/* A text of the command line, which may be no UTF-8. */
json_t *argument_json(const char *text);

#endif
