/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes of what a rank of a mesh has of the weights. In: a replica's owned tensors. Out: commands under way that leave
 * a word for each set of mesh axes by which tensors are cut. They are a program of their own, of this rank: in that of
 * all ranks a tensor that several of them have is one value, and nobody could ask whether they agree. */
#include "run/part_words.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "clock.h"
#include "deep.h"
#include "run/device_target.h"
#include "run/execute.h"
#include "run/parts.h"
#include "run/snapshot.h"
#include "tensor/part.h"

struct word_plan {
    tarn_replica *r;
    struct plan *plan;
    struct buffer *arena;
    struct shared *words;
    uint32_t *slots;  /* of owned tensors: each has its own number */
    uint64_t tensors; /* hash of their shapes and places */
};

static tarn_status out_of_memory(void)
{
    return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
}

/* ---- the program ---------------------------------------------------------------------------- */

struct maker {
    const tarn_replica *r;
    struct node *nodes;
    uint32_t *operands;
    uint32_t count, operand_count;
};

static uint32_t add(struct maker *m, const struct op *op, tarn_shape shape, tarn_dtype dtype,
                    const union op_arg *arg, const uint32_t *in, uint32_t count)
{
    struct node n = node_of(op, shape, dtype, arg, count);
    n.first_in = m->operand_count;
    for (uint32_t k = 0; k < count; k++)
        m->operands[m->operand_count++] = in[k];
    m->nodes[m->count] = n;
    return m->count++;
}

/* Each byte once: slices lie in flat storage. */
static bool is_weight(const struct owned *o)
{
    const bool named =
        o->kind == OWNED_PARAMETER || o->kind == OWNED_BUFFER || o->kind == OWNED_STATE;
    return (o->kind == OWNED_FLAT || (named && o->flat == 0)) && tarn_shape_count(o->shape) > 0;
}

/* What this rank has of a tensor. */
static uint32_t add_part(struct maker *m, uint32_t slot)
{
    const struct owned *o = &m->r->owned[slot];
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.leaf.slot = slot;
    return add(m, &op_owned, part_shape(replica_mesh(m->r), &o->spec, o->shape), o->dtype, &arg,
               NULL, 0);
}

/* The word of all tensors that are cut by just these axes; 0: there are none. */
static uint32_t add_word(struct maker *m, uint32_t axes)
{
    const struct mesh *mesh = replica_mesh(m->r);
    uint32_t parts[OPERANDS_MOST], n = 0, total = 0, first = 0, position = 0;
    for (uint32_t i = 0, owned = m->r->owned_count; i < owned; i++) {
        const struct owned *o = &m->r->owned[i];
        if (is_weight(o) && part_axes(mesh, &o->spec) == axes) {
            parts[n] = add_part(m, i);
            position += (uint32_t)tarn_shape_count(m->nodes[parts[n++]].shape);
        }
        if (n == 0 || (n < OPERANDS_MOST && i + 1 < owned))
            continue;
        union op_arg arg;
        memset(&arg, 0, sizeof arg);
        arg.fingerprint.first = first;
        const uint32_t some = add(m, &op_fingerprint, TARN_SHAPE(1), TARN_I32, &arg, parts, n);
        const uint32_t both[2] = { total, some };
        total = total ? add(m, &op_add, TARN_SHAPE(1), TARN_I32, NULL, both, 2) : some;
        first = position;
        n = 0;
    }
    return total;
}

/* Tensors of which every rank has another part are compared with nobody. The node of all words; 0: there are none. */
static uint32_t add_words(struct maker *m, struct part_words *w)
{
    const struct mesh *mesh = replica_mesh(m->r);
    uint32_t words[PART_WORDS];
    w->count = 0;
    for (uint32_t axes = 0; axes < PART_WORDS; axes++) {
        if (axes >> mesh->axes != 0 || mesh_blocks(mesh, axes) == m->r->peers->world)
            continue;
        const uint32_t word = add_word(m, axes);
        if (word == 0)
            continue;
        words[w->count] = word;
        w->axes[w->count++] = (uint8_t)axes;
    }
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    return w->count == 0   ? 0
           : w->count == 1 ? words[0]
                           : add(m, &op_concat, TARN_SHAPE(w->count), TARN_I32, &arg, words,
                                 (uint32_t)w->count);
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* Of all that the plan was made of. */
static uint64_t hash_tensors(const tarn_replica *r)
{
    uint64_t h = 1; /* no tensors have another hash than no plan */
    for (uint32_t i = 0; i < r->owned_count; i++) {
        const struct owned *o = &r->owned[i];
        if (!is_weight(o))
            continue;
        const uint64_t lies[4] = { i, (uint64_t)o->dtype, o->flat, o->offset };
        h = XXH3_64bits_withSeed(lies, sizeof lies, h);
        h = XXH3_64bits_withSeed(o->shape.dim, (size_t)o->shape.rank * sizeof *o->shape.dim, h);
        h = XXH3_64bits_withSeed(&o->spec, sizeof o->spec, h);
    }
    return h;
}

struct build {
    struct word_plan *to;
    const struct program *program;
};

static tarn_status build(void *arg)
{
    const struct build *b = arg;
    struct context *c = b->to->r->context;
    struct kernel_plan compiled = { 0 };
    struct target target;
    bool wide;
    TRY(program_has_wide(b->program, &wide));
    TRY(device_target(context_device(c), b->to->r->winograd, wide, &target));
    tarn_status s = compile_program(b->program, &target, &compiled);
    if (s == TARN_OK)
        s = plan_make(c, b->program, &compiled, b->to->plan);
    kernel_plan_free(&compiled);
    return s;
}

static tarn_status compile(struct word_plan *w, const struct maker *m, uint32_t output)
{
    tarn_replica *r = w->r;
    struct snapshot s;
    struct build b = { .to = w, .program = &s.program };
    w->plan = calloc(1, sizeof *w->plan);
    w->slots = calloc((size_t)r->owned_count + 1, sizeof *w->slots);
    if (w->plan == NULL || w->slots == NULL)
        return out_of_memory();
    for (uint32_t i = 0; i < r->owned_count; i++)
        w->slots[i] = i;
    w->plan->key[0] = hash_tensors(r);
    tarn_status status = snapshot_take(r, &output, 1, false, &s);
    s.program.nodes = m->nodes;
    s.program.count = m->count;
    s.program.operands = m->operands;
    s.program.operand_count = m->operand_count;
    if (status == TARN_OK)
        status = run_deep(build, &b);
    snapshot_free(&s);
    if (status == TARN_OK && w->plan->arena_bytes > 0)
        status = buffer_new(r->context, w->plan->arena_bytes, &w->arena);
    return status == TARN_OK ? shared_new(r->context, w->plan->output_bytes[0], &w->words) : status;
}

static void clear(struct word_plan *w)
{
    plan_free(w->plan);
    buffer_free(w->arena);
    shared_free(w->words);
    free(w->slots);
    *w = (struct word_plan){ .r = w->r };
}

static tarn_status make(struct word_plan *w)
{
    const size_t most = 3 * (size_t)w->r->owned_count + 2 * PART_WORDS + 2;
    struct maker m = { .r = w->r, .count = 1 };
    m.nodes = calloc(most, sizeof *m.nodes);
    m.operands = calloc(most, sizeof *m.operands);
    tarn_status s = out_of_memory();
    if (m.nodes != NULL && m.operands != NULL) {
        const uint32_t output = add_words(&m, &w->r->peers->words);
        s = output != 0 ? compile(w, &m, output) : TARN_OK;
    }
    free(m.nodes);
    free(m.operands);
    return s;
}

/* ---- running -------------------------------------------------------------------------------- */

static tarn_status run(void *arg)
{
    struct word_plan *w = arg;
    tarn_replica *r = w->r;
    struct part_words *words = &r->peers->words;
    struct buffer *out = shared_buffer(w->words);
    const struct binding b = { .context = r->context,
                               .arena = w->arena,
                               .owned = r->owned,
                               .owned_slots = w->slots,
                               .outputs = &out };
    TRY(execute_plan(r, w->plan, &b, 0));
    words->shared = w->words;
    return context_mark(r->context, &words->ready);
}

/* Drivers finish kernels at their first launch: that takes a large stack, and is compilation. */
static tarn_status run_new(void *arg)
{
    const struct word_plan *w = arg;
    TRY(run(arg));
    return context_finish(w->r->context);
}

static tarn_status make_and_run(struct word_plan *w)
{
    tarn_replica *r = w->r;
    const double before = seconds_now(), improved = context_counters(r->context).improve_seconds;
    if (r->peers->builds != NULL)
        r->peers->builds(r, true);
    tarn_status s = make(w);
    if (s == TARN_OK && w->plan != NULL) {
        s = run_deep(run_new, w);
        r->metrics.plans_compiled++;
        r->metrics.compile_seconds +=
            seconds_now() - before - (context_counters(r->context).improve_seconds - improved);
    }
    if (r->peers->builds != NULL)
        r->peers->builds(r, false);
    return s;
}

static void destroy(void *self)
{
    struct word_plan *w = self;
    w->r->peers->words = (struct part_words){ 0 };
    clear(w);
    free(w);
}

static tarn_status open_plan(tarn_replica *r, struct word_plan **out)
{
    struct word_plan *w = calloc(1, sizeof *w);
    if (w == NULL)
        return out_of_memory();
    w->r = r;
    const tarn_status s = replica_register(r, destroy, w);
    if (s != TARN_OK)
        free(w);
    else
        *out = w;
    return s;
}

tarn_status part_words_enqueue(tarn_replica *r)
{
    struct part_words *words = &r->peers->words;
    const uint64_t tensors = hash_tensors(r);
    if (words->plan == NULL)
        TRY(open_plan(r, &words->plan));
    struct word_plan *w = words->plan;
    tarn_status s = TARN_OK;
    if (w->tensors != tensors) {
        clear(w);
        s = make_and_run(w);
        w->tensors = s == TARN_OK ? tensors : 0;
    } else if (w->plan != NULL) {
        s = run(w);
    }
    if (s != TARN_OK)
        clear(w);
    words->pending = s == TARN_OK;
    return s;
}
