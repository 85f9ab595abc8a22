/* SPDX-License-Identifier: Apache-2.0 */
#include "lockstep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shard/state.h"

/* ---- collectives ---------------------------------------------------------------------------- */

#define CALL(id) static const struct op op_##id = { .name = #id, .arity = 1, .kind = OP_HOST };
CALL(test_gather)
CALL(test_reduce)
CALL(test_scatter)
CALL(test_exchange)

static void fill(const struct shard_group *group, tarn_shape shape, tarn_dtype dtype,
                 union op_arg *arg)
{
    (void)shape;
    (void)dtype;
    arg->call.reduction = group->reduction;
    arg->call.root = group->axes;
}

const struct shard_calls lockstep_calls = {
    { &op_test_gather, &op_test_reduce, &op_test_scatter, &op_test_exchange }, fill
};

int mesh_ranks(const struct mesh *m)
{
    return mesh_blocks(m, (UINT32_C(1) << m->axes) - 1);
}

/* The ranks of a rank's group, in order; its own number among them in *self. */
static int group_of(const struct mesh *m, int rank, uint32_t axes, int *group, int *self)
{
    int count = 0;
    for (int other = 0; other < mesh_ranks(m); other++) {
        bool in = true;
        for (int a = 0; a < m->axes; a++)
            in &= (axes >> a & 1) || mesh_coordinate(m, other, a) == mesh_coordinate(m, rank, a);
        if (!in)
            continue;
        if (other == rank)
            *self = count;
        group[count++] = other;
    }
    return count;
}

static double combined(uint32_t reduction, tarn_dtype dtype, double x, double y)
{
    if (reduction == SHARD_MAX)
        return x > y ? x : y;
    if (reduction == SHARD_MIN)
        return x < y ? x : y;
    return dtype == TARN_I32 ? (double)(int32_t)((uint32_t)(int32_t)x + (uint32_t)(int32_t)y)
                             : x + y;
}

static void run_call(const struct lockstep *l, uint32_t node, int rank)
{
    const struct node *n = &l->program->nodes[node];
    const uint32_t x = l->program->operands[n->first_in];
    const int64_t count = lockstep_count(l->program->nodes[x].shape);
    const int64_t made = lockstep_count(n->shape);
    double *out = l->value[(size_t)node * (size_t)l->ranks + (size_t)rank];
    int group[64], self = 0;
    const int size = group_of(l->mesh, rank, n->arg.call.root, group, &self);
    const int64_t part = count / size;
    const bool reduces = n->op == &op_test_reduce || n->op == &op_test_scatter;
    for (int i = 0; i < size; i++) {
        const double *theirs = lockstep_value(l, x, group[i]);
        if (n->op == &op_test_gather)
            memcpy(out + i * count, theirs, (size_t)count * sizeof *out);
        if (n->op == &op_test_exchange)
            memcpy(out + i * part, theirs + self * part, (size_t)part * sizeof *out);
        const int64_t from = n->op == &op_test_scatter ? self * part : 0;
        for (int64_t k = 0; reduces && k < made; k++)
            out[k] = i == 0 ? theirs[from + k]
                            : combined(n->arg.call.reduction, n->dtype, out[k], theirs[from + k]);
    }
}

/* ---- the program ---------------------------------------------------------------------------- */

int64_t lockstep_count(tarn_shape s)
{
    int64_t count = 1;
    for (int d = 0; d < s.rank; d++)
        count *= s.dim[d];
    return count;
}

void lockstep_index(tarn_shape s, int64_t number, int32_t *index)
{
    for (int d = s.rank - 1; d >= 0; d--) {
        index[d] = (int32_t)(number % s.dim[d]);
        number /= s.dim[d];
    }
}

const double *lockstep_value(const struct lockstep *l, uint32_t node, int rank)
{
    return l->value[(size_t)node * (size_t)l->ranks + (size_t)rank];
}

static void run_node(struct lockstep *l, uint32_t node, int rank, lockstep_leaf leaf, void *user)
{
    const struct node *n = &l->program->nodes[node];
    const struct node *in_node[OPERANDS_MOST];
    const double *in[OPERANDS_MOST];
    for (uint32_t k = 0; k < n->in_count; k++) {
        const uint32_t x = l->program->operands[n->first_in + k];
        in_node[k] = &l->program->nodes[x];
        in[k] = lockstep_value(l, x, rank);
    }
    for (int a = 0; a < l->mesh->axes; a++)
        l->coordinate[a] = mesh_coordinate(l->mesh, rank, a);
    double *out = l->value[(size_t)node * (size_t)l->ranks + (size_t)rank];
    if (n->op->in_memory || n->op == &op_number)
        leaf(user, rank, n, out);
    else
        lockstep_node(l, n, in_node, in, out);
}

void lockstep_run(struct lockstep *l, const struct mesh *m, const struct program *p,
                  lockstep_leaf leaf, void *user)
{
    *l = (struct lockstep){ .mesh = m, .program = p, .ranks = mesh_ranks(m) };
    l->value = calloc((size_t)p->count * (size_t)l->ranks, sizeof *l->value);
    for (uint32_t i = 1; i < p->count; i++) {
        const size_t bytes = (size_t)(lockstep_count(p->nodes[i].shape) + 1) * sizeof(double);
        for (int rank = 0; rank < l->ranks; rank++) {
            l->value[i * (size_t)l->ranks + (size_t)rank] = malloc(bytes);
            if (l->value[i * (size_t)l->ranks + (size_t)rank] == NULL)
                exit(2);
        }
        for (int rank = 0; rank < l->ranks; rank++) {
            if (p->nodes[i].op->kind == OP_HOST)
                run_call(l, i, rank);
            else
                run_node(l, i, rank, leaf, user);
        }
    }
}

void lockstep_free(struct lockstep *l)
{
    for (size_t i = 0; l->value != NULL && i < (size_t)l->program->count * (size_t)l->ranks; i++)
        free(l->value[i]);
    free(l->value);
    l->value = NULL;
}
