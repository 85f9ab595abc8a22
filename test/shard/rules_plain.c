/* SPDX-License-Identifier: Apache-2.0 */
/* Every op in every way in which a mesh may compute it: operands are cut, or random shares of sums with mixed signs,
 * all ranks compute their part, and together they must have what one computes. A planner takes the best
 * ways only, so that programs alone would not find the wrong ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lockstep.h"
#include "rule_cases.h"
#include "shard/emit.h"
#include "spread_values.h"

struct run {
    const struct mesh *mesh;
    const struct rule_case *c;
    double *in[3], *want;
    struct form local;
    struct state at[OPERANDS_MOST], out;
    int tried, wrong;
};

static const char *const words[] = { "F32", "I32", "U8" };

static double *elements(tarn_shape s)
{
    double *out = calloc((size_t)lockstep_count(s) + 1, sizeof *out);
    if (out == NULL)
        exit(2);
    return out;
}

static void fill_operands(struct run *r, uint64_t seed)
{
    const struct rule_case *c = r->c;
    for (uint32_t k = 0; k < c->form.node.in_count; k++) {
        r->in[k] = elements(c->form.in[k]);
        for (int64_t i = 0; i < lockstep_count(c->form.in[k]); i++) {
            const uint32_t rows = (uint32_t)c->rows;
            r->in[k][i] = c->in_data[k] == INDICES
                              ? (c->clamped ? draw(&seed, rows) : (double)draw(&seed, rows + 2) - 1)
                          : c->in_dtype[k] == TARN_F32 ? 2 * draw_signed(&seed)
                          : c->in_dtype[k] == TARN_U8  ? draw(&seed, 2)
                                                       : (double)draw(&seed, 2000) - 1000;
        }
    }
}

static void leaf(void *user, int rank, const struct node *n, double *out)
{
    const struct run *r = user;
    const uint32_t k = n->arg.leaf.slot;
    spread_part(r->mesh, r->at[k], r->c->form.in[k], r->in[k], n->dtype != TARN_F32, rank, out);
}

/* The node as a program of its own. */
static uint32_t make(struct emitter *e, const struct run *r, const struct form *local)
{
    uint32_t in[OPERANDS_MOST];
    for (uint32_t k = 0; k < local->node.in_count; k++) {
        struct node n;
        memset(&n, 0, sizeof n);
        n.op = &op_input;
        n.shape = local->in[k];
        n.dtype = r->c->in_dtype[k];
        n.arg.leaf.slot = k;
        in[k] = emit_raw(e, &n, NULL);
    }
    return emit_node(e, &r->c->form, local, r->at, r->out, in);
}

static void run_way(struct run *r)
{
    struct emitter e = { .mesh = r->mesh, .calls = &lockstep_calls };
    const uint32_t node = make(&e, r, &r->local);
    const struct program p = { .nodes = e.nodes, .count = e.count, .operands = e.operands };
    struct lockstep l;
    char what[256], state[96];
    lockstep_run(&l, r->mesh, &p, leaf, r);
    state_text(r->mesh, r->out, state);
    int used = snprintf(what, sizeof what, "%s %s -> %s of", r->c->form.node.op->name,
                        words[r->c->form.node.dtype], state);
    for (uint32_t k = 0; k < r->local.node.in_count && k < 3 && used < 200; k++) {
        state_text(r->mesh, r->at[k], state);
        used += snprintf(what + used, sizeof what - (size_t)used, " (%s)", state);
    }
    r->tried++;
    r->wrong += !spread_agrees(&l, node, r->out, r->c->form.node.shape, r->want,
                               r->c->form.node.dtype != TARN_F32, what);
    lockstep_free(&l);
    free(e.nodes);
    free(e.operands);
}

static void all_ways(struct run *r, int axis)
{
    if (axis == MESH_AXES || axis == r->mesh->axes) {
        run_way(r);
        return;
    }
    const struct run before = *r;
    const int ways = rule_ways(&r->local);
    for (int way = 0; way < ways; way++) {
        struct placing at;
        r->local = before.local;
        if (!rule_take(&r->local, r->mesh->extent[axis], way, &at))
            continue;
        memcpy(r->at, before.at, sizeof r->at);
        r->out = before.out;
        for (uint32_t k = 0; k < r->local.node.in_count; k++)
            r->at[k].at[axis] = at.in[k];
        r->out.at[axis] = at.out;
        all_ways(r, axis + 1);
    }
}

/* What one rank computes of all. */
static void run_case(struct run *r, const struct rule_case *c, const struct mesh *m, uint64_t seed)
{
    static const struct mesh alone = { .axes = 1, .extent = { 1 }, .name = { "one" } };
    struct emitter e = { .mesh = &alone, .calls = &lockstep_calls };
    struct lockstep l;
    r->c = c;
    r->local = c->form;
    memset(r->at, STATE_WHOLE, sizeof r->at);
    r->out = state_whole();
    fill_operands(r, seed);
    r->mesh = &alone;
    const uint32_t node = make(&e, r, &c->form);
    const struct program p = { .nodes = e.nodes, .count = e.count, .operands = e.operands };
    lockstep_run(&l, &alone, &p, leaf, r);
    r->want = elements(c->form.node.shape);
    memcpy(r->want, lockstep_value(&l, node, 0),
           (size_t)lockstep_count(c->form.node.shape) * sizeof *r->want);
    lockstep_free(&l);
    free(e.nodes);
    free(e.operands);
    r->mesh = m;
    all_ways(r, 0);
    for (uint32_t k = 0; k < c->form.node.in_count; k++)
        free(r->in[k]);
    free(r->want);
}

int main(void)
{
    static const struct mesh meshes[] = {
        { .axes = 2, .extent = { 1, 2 }, .name = { "a", "b" } },
        { .axes = 2, .extent = { 2, 2 }, .name = { "a", "b" } },
        { .axes = 2, .extent = { 1, 4 }, .name = { "a", "b" } },
    };
    static struct rule_case cases[RULE_CASES_MOST];
    const int count = rule_cases(cases);
    struct run r = { .tried = 0 };
    int missing = 0;
    for (int i = 0; i < all_ops_count; i++) {
        bool has = !rule_is_asked(all_ops[i]);
        for (int k = 0; k < count; k++)
            has |= cases[k].form.node.op == all_ops[i];
        if (!has)
            fprintf(stderr, "%s has no case in rule_cases.c\n", all_ops[i]->name);
        missing += !has;
    }
    for (size_t m = 0; m < sizeof meshes / sizeof meshes[0]; m++)
        for (int k = 0; k < count; k++)
            run_case(&r, &cases[k], &meshes[m], 77 + (uint64_t)k);
    printf("rules: %d cases, %d ways, %d wrong\n", count, r.tried, r.wrong);
    return r.wrong > 0 || missing > 0 || r.tried < 1000;
}
