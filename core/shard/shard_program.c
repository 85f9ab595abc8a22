/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of sharding. In: a global program, a mesh and specs. Out: the program of a rank. Nodes are lowered in
 * their order, each once its operands are there, so that all ranks have the same sequence of collectives. */
#include "shard/shard_program.h"

#include <stdlib.h>
#include <string.h>

#include "compile/1_graph/graph_passes.h"
#include "shard/planner.h"
#include "tensor/shape.h"

static tarn_status out_of_memory(void)
{
    return error_set(TARN_ERR_MEMORY, "shard: out of host memory");
}

static tarn_status check_spec(const struct shard_input *in, const char *what, tarn_shape shape,
                              const struct spec *spec)
{
    tarn_shape unused;
    if (spec == NULL || state_local(in->mesh, state_of_spec(in->mesh, spec), shape, &unused))
        return TARN_OK;
    return error_set(TARN_ERR_SHAPE, "shard: %s %s does not divide by the axes of its spec", what,
                     shape_text(shape));
}

static tarn_status check_specs(const struct shard_input *in)
{
    const struct program *g = in->program;
    for (uint32_t i = 1; i < g->count; i++) {
        const struct node *n = &g->nodes[i];
        TRY(check_spec(in, n->op->name, n->shape,
                       has_spec(n->op)       ? &n->arg.leaf.spec
                       : n->op == &op_shard  ? &n->arg.shard.spec
                       : n->op == &op_assign ? &n->arg.assign.spec
                                             : NULL));
    }
    for (int i = 0; in->outputs != NULL && i < g->output_count; i++)
        TRY(check_spec(in, "an output", g->nodes[g->outputs[i]].shape, &in->outputs[i]));
    return TARN_OK;
}

/* ---- roots ---------------------------------------------------------------------------------- */

static bool find_assigned(struct planner *p)
{
    const struct program *g = p->in->program;
    p->owned = arena_take(&p->arena, ((size_t)p->m.owned_end + 1) * sizeof *p->owned);
    for (uint32_t i = 1; p->owned != NULL && g->effects && i < g->count; i++)
        if (g->nodes[i].op == &op_assign)
            p->owned[g->nodes[i].arg.assign.owned] = &g->nodes[i];
    return p->owned != NULL;
}

struct state root_state(const struct planner *p, const struct root *r)
{
    if (r->owned < 0 && p->in->lie != NULL)
        return p->values[r->node].wish;
    if (r->owned >= 0) {
        const struct node *n = p->owned[r->owned];
        return state_with_sums(p->mesh, state_of_spec(p->mesh, &n->arg.assign.spec),
                               n->arg.assign.pending);
    }
    return p->in->outputs != NULL ? state_of_spec(p->mesh, &p->in->outputs[r->output])
                                  : state_whole();
}

static void lower_root(struct planner *p, const struct root *r, uint32_t *outputs)
{
    p->reader = UINT32_MAX;
    const uint32_t made = reach(p, r->node, root_state(p, r), false);
    if (r->owned < 0) {
        outputs[r->output] = made;
        if (p->in->lie != NULL)
            p->in->lie[r->output] = state_spec(p->mesh, root_state(p, r));
        return;
    }
    if (p->e.failed || made == 0)
        return;
    struct node n;
    memset(&n, 0, sizeof n);
    n.op = &op_assign;
    n.shape = p->e.nodes[made].shape;
    n.dtype = p->e.nodes[made].dtype;
    n.in_count = 1;
    n.arg.assign.owned = (uint32_t)r->owned;
    n.arg.assign.spec = p->owned[r->owned]->arg.assign.spec;
    emit_raw(&p->e, &n, &made);
}

/* A value that could not be brought into a state that was asked for. */
static bool complete(const struct emitter *e)
{
    for (uint32_t i = 0; i < e->operand_count; i++)
        if (e->operands[i] == 0)
            return false;
    return e->count > 0;
}

static tarn_status wish_all(struct planner *p)
{
    const struct target plain = { .winograd = WINOGRAD_NEVER };
    TRY(simplify(p->in->program, &plain, &p->arena, CONVOLVE_BLOCKS, &p->m));
    p->values = arena_take(&p->arena, ((size_t)p->m.count + 1) * sizeof *p->values);
    if (p->values == NULL || !find_assigned(p))
        return out_of_memory();
    find_wishes(p);
    find_copies_to_drop(p);
    return TARN_OK;
}

static tarn_status lower_all(struct planner *p, uint32_t *outputs)
{
    TRY(wish_all(p));
    for (uint32_t i = 0; i < p->m.count && !p->e.failed && !p->arena.failed; i++)
        if (p->m.uses[i] > 0)
            lower_node(p, i);
    for (int i = 0; i < p->m.root_count && !p->e.failed && !p->arena.failed; i++)
        lower_root(p, &p->m.roots[i], outputs);
    if (p->e.failed || p->arena.failed)
        return out_of_memory();
    if (p->in->bucket > 0 && complete(&p->e))
        join_calls(&p->e, p->in->bucket, outputs, p->in->program->output_count);
    if (p->e.failed)
        return out_of_memory();
    return complete(&p->e) || p->m.root_count == 0
               ? TARN_OK
               : error_set(TARN_ERR_INTERNAL, "shard: a value has no way to where it is needed");
}

tarn_status shard_program(const struct shard_input *in, struct shard_program *out)
{
    memset(out, 0, sizeof *out);
    TRY(check_specs(in));
    struct planner p = { .in = in, .mesh = in->mesh };
    p.e.mesh = in->mesh;
    p.e.calls = &in->calls;
    out->outputs = calloc((size_t)in->program->output_count + 1, sizeof *out->outputs);
    const tarn_status status = out->outputs == NULL ? out_of_memory() : lower_all(&p, out->outputs);
    arena_free(&p.arena);
    out->nodes = p.e.nodes;
    out->operands = p.e.operands;
    out->collectives = (int)p.e.made_count;
    out->bytes = p.e.bytes;
    free(p.e.made);
    out->program = *in->program;
    out->program.nodes = p.e.nodes;
    out->program.count = p.e.count;
    out->program.operands = p.e.operands;
    out->program.operand_count = p.e.operand_count;
    out->program.outputs = out->outputs;
    if (in->log != NULL)
        text_add(in->log, "tarn: %d collectives, %lld B received a rank in a step\n",
                 out->collectives, (long long)out->bytes);
    if (status != TARN_OK)
        shard_free(out);
    return status;
}

tarn_status shard_wishes(const struct shard_input *in, struct spec *owned, struct spec *assigned)
{
    struct planner p = { .in = in, .mesh = in->mesh };
    const tarn_status status = wish_all(&p);
    for (uint32_t i = 0; status == TARN_OK && i < p.m.count; i++)
        if (p.m.nodes[i].op == &op_owned)
            owned[p.m.nodes[i].arg.leaf.slot] = state_spec(p.mesh, p.values[i].wish);
    for (int i = 0; status == TARN_OK && i < p.m.root_count; i++)
        if (p.m.roots[i].owned >= 0)
            assigned[p.m.roots[i].owned] = state_spec(p.mesh, p.values[p.m.roots[i].node].wish);
    arena_free(&p.arena);
    return status;
}

void shard_free(struct shard_program *s)
{
    free(s->nodes);
    free(s->operands);
    free(s->outputs);
    memset(s, 0, sizeof *s);
}
