/* SPDX-License-Identifier: Apache-2.0 */
/* Programs with virtual shards: on any number of devices the same bits as on one, or refused on
 * all. */
#include <string.h>

#include "check.h"

/* What a program that cannot have the same bits is told. */
static bool is_refusal(const char *line)
{
    return strstr(line, "virtual shards") != NULL;
}

/* Outputs are of one replica's samples; what is owned is of all. */
static bool is_owned(const struct check *c, int rank, int result)
{
    (void)rank;
    return c->want->r[result].slot >= 0;
}

static void fail(const struct check *c, const char *what, int count)
{
    char first[sizeof c->o->what];
    snprintf(first, sizeof first, "%s", c->o->what);
    snprintf(c->o->what, sizeof c->o->what, "%s on %d devices: %.250s", what, count, first);
    c->o->failed = true;
    c->o->in = RUN_SHARDS;
}

static void compare(const struct check *c, const struct readings *one, int count)
{
    struct readings several[MAX_WORLD];
    if (!team_run(c, count, several)) {
        c->o->error = true;
        fail(c, "not as on one device", count);
        return;
    }
    for (int k = 0; k < count; k++)
        check_bits(c, 0, &several[k], one, "on one device", RUN_SHARDS, is_owned);
    for (int k = 0; k < count; k++)
        readings_free(&several[k]);
}

static void expect_refused(const struct check *c, int count)
{
    struct readings several[MAX_WORLD];
    if (!team_run(c, count, several)) {
        if (!is_refusal(c->o->what))
            fail(c, "refused without its reason", count);
        return;
    }
    for (int k = 0; k < count; k++)
        readings_free(&several[k]);
    fail(c, "refused on one device, but not", count);
}

void shards_check(const struct check *c)
{
    struct readings one;
    const bool good = team_run(c, 1, &one);
    c->o->refused = !good && is_refusal(c->o->what);
    if (!good && !c->o->refused) {
        c->o->error = true;
        fail(c, "an error", 1);
        return;
    }
    if (good)
        check_values(c, 0, &one, RUN_SHARDS);
    for (int count = 2; count <= c->p->shards && !c->o->failed; count *= 2) {
        if (good)
            compare(c, &one, count);
        else
            expect_refused(c, count);
    }
    if (good)
        readings_free(&one);
}
