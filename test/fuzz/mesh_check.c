/* SPDX-License-Identifier: Apache-2.0 */
/* Programs in a launch with a mesh, whose tensors are marked at random: all ranks read the same bits, these lie within the
 * bounds as those of one device do, and are one device's where no sum is split over ranks. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "mesh_marks.h"

struct launch {
    const struct check *c;
    struct readings out[MESH_MOST];
    char error[MESH_MOST][sizeof((struct outcome *)0)->what];
};

static tarn_status run_rank(tarn_replica *r, void *arg)
{
    struct launch *l = arg;
    const int rank = tarn_rank(r);
    if (device_run(r, l->c->p, l->c->m, l->c->want, &l->out[rank], l->error[rank],
                   sizeof l->error[rank]))
        return TARN_OK;
    const tarn_status s = tarn_error_status(r);
    return s != TARN_OK ? s : TARN_ERR_STATE;
}

/* What TARN_DEBUG=shard says of the plans of a launch. */
static atomic_int plans, sums;

static void listen(tarn_log_level level, const char *text, void *user)
{
    (void)user;
    if (level != TARN_LOG_DEBUG)
        fprintf(stderr, "%s\n", text);
    plans += strstr(text, "received a rank in a step") != NULL;
    sums += strstr(text, "all-reduce") != NULL || strstr(text, "reduce-scatter") != NULL;
}

static bool run(struct launch *l)
{
    const struct check *c = l->c;
    const int ranks = marks_ranks(c->p);
    const tarn_launch_options options = {
        .devices = "0,0,0,0,0,0,0,0", .count = ranks, .mesh = marks_mesh(c->p), .timeout = 120
    };
    plans = sums = 0;
    tarn_set_log(listen, NULL);
    const char *debug = getenv("TARN_DEBUG");
    bool good = tarn_set_option("TARN_DEBUG", debug != NULL ? debug : "shard") == TARN_OK &&
                tarn_launch(run_rank, l, options) == TARN_OK;
    (void)!tarn_set_option("TARN_DEBUG", NULL);
    tarn_set_log(NULL, NULL);
    int at = 0;
    while (at + 1 < ranks && l->error[at][0] == '\0')
        at++;
    if (!good)
        snprintf(c->o->what, sizeof c->o->what, "%.250s; %.140s", tarn_error(NULL), l->error[at]);
    if (tarn_launch_left() > 0)
        abort(); /* it goes on using all of this */
    return good;
}

static bool always(const struct check *c, int rank, int result)
{
    (void)c, (void)rank, (void)result;
    return true;
}

/* What programs with a mesh cannot do yet says so. */
static bool is_refusal(const char *line)
{
    return strstr(line, "over a mesh yet") != NULL || strstr(line, "with a mesh yet") != NULL;
}

static void compare(const struct launch *l, const struct readings *one)
{
    const struct check *c = l->c;
    char name[32];
    for (int rank = 1; rank < marks_ranks(c->p); rank++) {
        snprintf(name, sizeof name, "on rank %d", rank);
        check_bits(c, 0, &l->out[0], &l->out[rank], name, RUN_MESH, always);
    }
    check_values(c, 0, &l->out[0], RUN_MESH);
    if (sums > 0 || plans == 0)
        return;
    c->o->whole = true;
    check_bits(c, 0, &l->out[0], one, "on one device", RUN_MESH, check_without_driver);
}

void mesh_check(const struct check *c)
{
    struct readings one;
    struct launch *l = calloc(1, sizeof *l);
    if (l == NULL)
        abort();
    l->c = c;
    if (check_run(c, RUN_DEFAULT, &one)) {
        check_values(c, 0, &one, RUN_DEFAULT);
        if (run(l)) {
            compare(l, &one);
        } else {
            c->o->refused = is_refusal(c->o->what);
            c->o->failed = c->o->error = !c->o->refused;
            c->o->in = RUN_MESH;
        }
        readings_free(&one);
    }
    for (int rank = 0; rank < MESH_MOST; rank++)
        readings_free(&l->out[rank]);
    free(l);
}
