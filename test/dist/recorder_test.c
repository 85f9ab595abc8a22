/* SPDX-License-Identifier: Apache-2.0 */
/* What the flight recorder keeps, and that its lines are the JSON they are said to be. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "recorder.h"

enum { RANKS = 2, KEPT = 1024, CALLS = 1030 };

struct lines {
    int count;
    json_int_t rank, last; /* newest seen */
};

static void check_moments(const json_t *o, bool whole)
{
    const json_t *start = json_object_get(o, "start"), *end = json_object_get(o, "end");
    const double arrival = json_real_value(json_object_get(o, "arrival"));
    cr_assert(arrival >= 0);
    cr_assert_neq(json_is_null(start), whole);
    cr_assert_neq(json_is_null(end), whole);
    if (whole)
        cr_assert(json_real_value(start) >= arrival &&
                  json_real_value(end) >= json_real_value(start));
}

/* Collective n of rank r has step n - 1, and the last one of rank 0 never started. */
static void read_line(void *user, const char *text)
{
    struct lines *l = user;
    json_t *o = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    cr_assert_not_null(o, "%s", text);
    cr_assert_eq(json_object_size(o), 9);
    const json_int_t rank = json_integer_value(json_object_get(o, "rank"));
    const json_int_t sequence = json_integer_value(json_object_get(o, "sequence"));
    cr_assert(rank == l->rank ? sequence == l->last + 1 : rank == l->rank + 1, "%s", text);
    l->rank = rank;
    l->last = sequence;
    l->count++;
    cr_assert_str_eq(json_string_value(json_object_get(o, "kind")), "all_to_all");
    cr_assert_str_eq(json_string_value(json_object_get(o, "label")), "a \"label\"\\\n");
    cr_assert_eq(json_integer_value(json_object_get(o, "count")), 5 + rank);
    cr_assert_eq(json_integer_value(json_object_get(o, "step")), sequence - 1);
    check_moments(o, rank == 1 || sequence < CALLS);
    json_decref(o);
}

static void check_written(struct recorder *r, int most, int count)
{
    struct lines l = { .rank = -1 };
    recorder_write(r, 0, most, read_line, &l);
    cr_assert_eq(l.count, count);
    cr_assert(count == 0 || l.last == CALLS);
}

Test(recorder, keeps_the_last_collectives)
{
    struct recorder *r;
    cr_assert_eq(recorder_new(RANKS, &r), TARN_OK);
    check_written(r, 10, 0);
    for (int rank = 0; rank < RANKS; rank++)
        for (uint64_t n = 1; n <= CALLS; n++) {
            recorder_begin(r, rank, n,
                           &(struct collective){ .kind = COLLECTIVE_ALL_TO_ALL,
                                                 .count = 5 + (size_t)rank,
                                                 .step = n - 1,
                                                 .label = "a \"label\"\\\n" });
            if (rank == 0 && n == CALLS)
                continue;
            recorder_mark(r, rank, MOMENT_START);
            recorder_mark(r, rank, MOMENT_END);
        }
    check_written(r, 4, RANKS * 4);
    check_written(r, 5000, RANKS * KEPT);
    check_written(r, 0, 0);
    check_written(r, -1, 0);
    recorder_free(r);
}

static void copy_line(void *user, const char *text)
{
    snprintf(user, 600, "%s", text);
}

Test(recorder, survives_a_missing_or_endless_label)
{
    static char endless[4000];
    char line[600];
    struct recorder *r;
    cr_assert_eq(recorder_new(1, &r), TARN_OK);
    recorder_begin(r, 0, 1, &(struct collective){ .kind = COLLECTIVE_BARRIER });
    recorder_write(r, 0, 1, copy_line, line);
    json_t *o = json_loads(line, 0, NULL);
    cr_assert_str_eq(json_string_value(json_object_get(o, "label")), "");
    json_decref(o);
    memset(endless, '\1', sizeof endless - 1);
    recorder_begin(r, 0, 2, &(struct collective){ .label = endless });
    recorder_write(r, 0, 1, copy_line, line);
    o = json_loads(line, 0, NULL);
    cr_assert_not_null(o, "%s", line);
    json_decref(o);
    recorder_free(r);
}
