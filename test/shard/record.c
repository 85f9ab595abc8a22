/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op/op.h"
#include "spread_values.h"

/* ---- recording ------------------------------------------------------------------------------ */

void record_begin(struct record *t, const struct mesh *m)
{
    memset(t, 0, sizeof *t);
    t->mesh = *m;
    t->r = calloc(1, sizeof *t->r);
    if (t->r == NULL || (t->r->owned = calloc(RECORD_MOST, sizeof *t->r->owned)) == NULL)
        exit(2);
    t->r->step = 1;
    t->r->training = true;
    t->r->owned_count = RECORD_MOST;
}

void record_end(struct record *t)
{
    graph_release(&t->r->graph);
    free(t->r->owned);
    free(t->r);
}

struct spec record_spec(const char *text)
{
    struct spec s = { { 0 } };
    int d = 0;
    for (; *text != '\0'; text++) {
        if (*text >= '0' && *text < '0' + TARN_MAX_RANK)
            d = *text - '0';
        if (*text >= 'a' && *text < 'a' + MESH_AXES)
            s.cut[d] = (uint8_t)(s.cut[d] | 1U << (*text - 'a'));
    }
    return s;
}

static tarn_tensor leaf(struct record *t, const struct op *op, uint32_t slot, tarn_shape shape,
                        tarn_dtype dtype)
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.leaf.slot = slot;
    arg.leaf.spec = op == &op_owned ? t->owned[slot] : t->inputs[slot];
    if (slot == RECORD_MOST)
        exit(2);
    return graph_record(t->r, op, NULL, 0, shape, dtype, &arg);
}

tarn_tensor record_input(struct record *t, tarn_shape shape, struct spec spec)
{
    const uint32_t slot = t->input_count++;
    t->inputs[slot] = spec;
    t->input_shape[slot] = shape;
    return leaf(t, &op_input, slot, shape, TARN_F32);
}

tarn_tensor record_index(struct record *t, tarn_shape shape, int32_t rows, struct spec spec)
{
    const uint32_t slot = t->input_count++;
    t->inputs[slot] = spec;
    t->input_shape[slot] = shape;
    t->rows[slot] = rows;
    return leaf(t, &op_input, slot, shape, TARN_I32);
}

tarn_tensor record_owned(struct record *t, tarn_shape shape, struct spec spec)
{
    const uint32_t slot = t->owned_count++;
    t->owned[slot] = spec;
    t->owned_shape[slot] = shape;
    return leaf(t, &op_owned, slot, shape, TARN_F32);
}

tarn_tensor record_state(struct record *t, tarn_shape shape, struct spec spec)
{
    t->zero[t->owned_count] = true;
    return record_owned(t, shape, spec);
}

tarn_tensor record_mark(tarn_tensor x, struct spec spec)
{
    return op_shard_as(x, &spec);
}

void record_assign(tarn_tensor owned, tarn_tensor value)
{
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.assign.owned = graph_node(owned)->arg.leaf.slot;
    arg.assign.spec = graph_node(owned)->arg.leaf.spec;
    graph_record(value.replica, &op_assign, &value, 1, tarn_shape_get(value), TARN_F32, &arg);
}

void record_output(struct record *t, tarn_tensor x, struct spec spec)
{
    if (t->output_count == RECORD_MOST)
        exit(2);
    t->outputs[t->output_count] = spec;
    t->output[t->output_count++] = graph_resolve(x);
}

struct shard_input record_done(struct record *t)
{
    const struct graph *g = &t->r->graph;
    if (t->r->status != TARN_OK) {
        fprintf(stderr, "record: %s\n", t->r->error);
        exit(2);
    }
    t->program = (struct program){ .nodes = g->nodes,
                                   .count = g->count,
                                   .operands = g->operands,
                                   .operand_count = g->operand_count,
                                   .outputs = t->output,
                                   .output_count = t->output_count,
                                   .effects = true,
                                   .partition = { .world = 1 } };
    return (struct shard_input){
        .program = &t->program, .mesh = &t->mesh, .outputs = t->outputs, .calls = lockstep_calls
    };
}

/* ---- comparing ------------------------------------------------------------------------------ */

enum { RANKS = 8 };

/* What was assigned to owned tensors, by rank; NULL: nothing yet. */
struct memory {
    double *at[RECORD_MOST][RANKS];
};

struct run {
    const struct record *t;
    const struct mesh *mesh;
    bool cut;
    int step;
    struct memory memory;
};

static void remember(struct run *u, const struct lockstep *l)
{
    const struct program *p = l->program;
    for (uint32_t i = 1; i < p->count; i++) {
        const struct node *n = &p->nodes[i];
        const size_t bytes = (size_t)lockstep_count(n->shape) * sizeof(double);
        for (int rank = 0; n->op == &op_assign && rank < l->ranks; rank++) {
            double **to = &u->memory.at[n->arg.assign.owned][rank];
            if (*to == NULL && (*to = malloc(bytes + 1)) == NULL)
                exit(2);
            memcpy(*to, lockstep_value(l, i, rank), bytes);
        }
    }
}

static void forget(struct run *u)
{
    for (int i = 0; i < RECORD_MOST; i++)
        for (int rank = 0; rank < RANKS; rank++)
            free(u->memory.at[i][rank]);
}

/* Element i of a leaf as all ranks together have it. */
static double element(const struct run *u, const struct node *n, int64_t i)
{
    const uint32_t slot = n->arg.leaf.slot;
    const bool owned = n->op == &op_owned;
    uint64_t seed = slot * 7919 + (owned ? 31 : (uint64_t)u->step * 1299709) + (uint64_t)i * 104729;
    draw(&seed, 2);
    draw(&seed, 2);
    if (n->op == &op_number)
        return 0.5 + slot;
    if (owned && u->t->zero[slot])
        return 0;
    return n->dtype == TARN_F32 ? draw_signed(&seed)
                                : (double)draw(&seed, (uint32_t)u->t->rows[slot] + 2) - 1;
}

static void run_leaf(void *user, int rank, const struct node *n, double *out)
{
    const struct run *u = user;
    const uint32_t slot = n->arg.leaf.slot;
    struct state s = state_whole();
    tarn_shape whole = n->shape;
    const double *had = n->op == &op_owned ? u->memory.at[slot][rank] : NULL;
    if (had != NULL) {
        memcpy(out, had, (size_t)lockstep_count(n->shape) * sizeof *out);
        return;
    }
    if (n->op != &op_number) {
        const bool owned = n->op == &op_owned;
        whole = owned ? u->t->owned_shape[slot] : u->t->input_shape[slot];
        if (u->cut)
            s = state_of_spec(u->mesh, owned ? &u->t->owned[slot] : &u->t->inputs[slot]);
    }
    for (int64_t i = 0; i < lockstep_count(n->shape); i++)
        out[i] = element(u, n, spread_element(u->mesh, s, whole, rank, i));
}

static bool agrees(const struct run *u, const struct lockstep *one, uint32_t node,
                   const struct lockstep *all, uint32_t local, const struct spec *spec,
                   const char *what)
{
    const struct node *n = &one->program->nodes[node];
    return spread_agrees(all, local, state_of_spec(u->mesh, spec), n->shape,
                         lockstep_value(one, node, 0), n->dtype != TARN_F32, what);
}

/* All outputs and assignments. */
static bool all_agree(const struct run *u, const struct lockstep *one, const struct lockstep *all,
                      const struct shard_program *s, const char *what)
{
    const struct record *t = u->t;
    const struct program *p = one->program;
    bool fits = true;
    for (int i = 0; i < t->output_count; i++)
        fits &= agrees(u, one, t->output[i], all, s->program.outputs[i], &t->outputs[i], what);
    for (uint32_t i = 1; i < p->count; i++) {
        const struct node *n = &p->nodes[i];
        uint32_t local = 0;
        for (uint32_t k = 1; k < s->program.count; k++)
            if (n->op == &op_assign && s->program.nodes[k].op == &op_assign &&
                s->program.nodes[k].arg.assign.owned == n->arg.assign.owned)
                local = k;
        if (n->op == &op_assign)
            fits &=
                local != 0 && agrees(u, one, i, all, local, &t->owned[n->arg.assign.owned], what);
    }
    return fits;
}

bool record_agrees(struct record *t, const struct shard_input *in, const struct shard_program *s,
                   int steps, const char *what)
{
    static const struct mesh alone = { .axes = 1, .extent = { 1 }, .name = { "one" } };
    struct run one = { .t = t, .mesh = &alone }, all = { .t = t, .mesh = in->mesh, .cut = true };
    bool fits = true;
    for (int step = 0; step < steps && fits; step++) {
        struct lockstep whole, parts;
        char where[96];
        snprintf(where, sizeof where, "%s, step %d", what, step);
        one.step = all.step = step;
        lockstep_run(&whole, &alone, in->program, run_leaf, &one);
        lockstep_run(&parts, in->mesh, &s->program, run_leaf, &all);
        fits = all_agree(&all, &whole, &parts, s, where);
        remember(&one, &whole);
        remember(&all, &parts);
        lockstep_free(&whole);
        lockstep_free(&parts);
    }
    forget(&one);
    forget(&all);
    return fits;
}
