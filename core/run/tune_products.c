/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses a provider for each large product of a program. In: a program. Out: choices in the
 * target. What is not known it may measure, a nest by a program of its own that has nothing but
 * the product. */
#include "run/tune_products.h"

#include <stdlib.h>
#include <string.h>

#include "env.h"
#include "run/execute.h"

static tarn_status out_of_memory(void)
{
    return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
}

/* ---- a product as a nest -------------------------------------------------------------------- */

/* A program of two inputs and their product: node 0 is poison, as in every graph. */
struct product_program {
    struct node nodes[4];
    uint32_t operands[2], output;
    struct program program;
};

static void set_input(struct node *n, uint32_t slot, tarn_shape shape)
{
    *n = (struct node){ .op = &op_input, .shape = shape, .dtype = TARN_F32 };
    n->arg.leaf.slot = slot;
}

static void make_product(const struct gemm *g, struct product_program *p)
{
    const int32_t b = (int32_t)g->batch, m = (int32_t)g->m, n = (int32_t)g->n, k = (int32_t)g->k;
    memset(p, 0, sizeof *p);
    set_input(&p->nodes[1], 0, g->transpose_a ? TARN_SHAPE(b, k, m) : TARN_SHAPE(b, m, k));
    set_input(&p->nodes[2], 1, g->transpose_b ? TARN_SHAPE(b, n, k) : TARN_SHAPE(b, k, n));
    struct node *y = &p->nodes[3];
    y->op = &op_matmul;
    y->shape = TARN_SHAPE(b, m, n);
    y->dtype = TARN_F32;
    y->in_count = 2;
    y->arg.matmul.transpose[0] = g->transpose_a;
    y->arg.matmul.transpose[1] = g->transpose_b;
    p->operands[0] = 1;
    p->operands[1] = 2;
    p->output = 3;
    p->program = (struct program){ .nodes = p->nodes,
                                   .count = 4,
                                   .operands = p->operands,
                                   .operand_count = 2,
                                   .outputs = &p->output,
                                   .output_count = 1,
                                   .partition = { .world = 1 } };
}

struct nest_product {
    const struct target *target; /* without choices */
    struct plan *plan;           /* NULL before the first run */
    struct buffer *arena;
};

static tarn_status prepare(struct context *c, const struct gemm *g, struct nest_product *n)
{
    struct product_program p;
    struct kernel_plan compiled = { 0 };
    n->plan = calloc(1, sizeof *n->plan);
    if (n->plan == NULL)
        return out_of_memory();
    make_product(g, &p);
    tarn_status status = compile_program(&p.program, n->target, &compiled);
    if (status == TARN_OK)
        status = plan_make(c, &p.program, &compiled, n->plan);
    kernel_plan_free(&compiled);
    return status == TARN_OK && n->plan->arena_bytes > 0
               ? buffer_new(c, n->plan->arena_bytes, &n->arena)
               : status;
}

static tarn_status run_nest(struct context *c, const struct gemm *g, void *user)
{
    struct nest_product *n = user;
    if (n->plan == NULL)
        TRY(prepare(c, g, n));
    const struct graph_input inputs[2] = { { .buffer = g->a }, { .buffer = g->b } };
    struct buffer *out = g->c;
    const struct binding b = { .context = c, .arena = n->arena, .inputs = inputs, .outputs = &out };
    for (int i = 0; i < n->plan->kernel_count; i++)
        TRY(execute_kernel(n->plan, &n->plan->kernels[i], &b));
    return TARN_OK;
}

/* ---- choosing ------------------------------------------------------------------------------- */

static struct gemm gemm_of(const struct product_shape *s)
{
    return (struct gemm){ .m = s->m,
                          .n = s->n,
                          .k = s->k,
                          .batch = s->batch,
                          .transpose_a = s->transpose_a,
                          .transpose_b = s->transpose_b,
                          .a_stride = s->m * s->k,
                          .b_stride = s->k * s->n,
                          .c_stride = s->m * s->n };
}

/* Whether the kernel of blocks computes a product that sums over the batch, in place of a nest
 * whose vectors are samples: by shape, device and TARN_GEMM alone. */
static bool sums_in_blocks(const struct context *c, const struct product_limits *l,
                           const struct product_shape *s)
{
    const char *name = env_text(ENV_GEMM);
    const bool asked = strcmp(name, "auto") == 0 || strcmp(name, "tarn") == 0;
    return asked && gemm_tarn_possible(c) && s->m >= (size_t)l->sums_rows &&
           s->n >= (size_t)l->sums_columns && product_work(s) >= l->sums_work;
}

static bool nest_asked(void)
{
    const char *name = env_text(ENV_GEMM);
    return strcmp(name, "auto") == 0 || strcmp(name, "nest") == 0;
}

static struct gemm_provider blocks_provider(const struct context *c, const struct product_limits *l,
                                            const struct product_shape *s)
{
    struct gemm_provider p = gemm_tarn;
    const size_t side = (size_t)l->blocks_side;
    p.refused = !gemm_tarn_possible(c) || s->m < side || s->n < side || s->k < side ||
                product_work(s) < l->blocks_work;
    p.unlikely =
        p.refused || s->k < (size_t)l->likely_depth ||
        (s->transpose_b ? s->n < (size_t)l->likely_transposed
                        : s->n < (size_t)l->likely_columns || product_work(s) < l->likely_work);
    return p;
}

/* The same kernel in other blocks: only measuring can tell that they are better. */
static struct gemm_provider other_blocks(const struct gemm_provider *of,
                                         const struct gemm_provider *usual)
{
    struct gemm_provider p = *of;
    p.refused = usual->refused;
    p.unlikely = true;
    return p;
}

/* CLBlast's tuning knows no CPU: there it is a tenth as fast as a nest, and takes seconds to
 * build. On GPUs a nest is given up only for what is measured to be faster. */
static struct gemm_provider library_provider(const struct product_limits *l)
{
    struct gemm_provider p = gemm_clblast;
    p.refused = !l->library;
    p.unlikely = true;
    return p;
}

static tarn_status choose(struct context *c, const struct target *target, bool serial,
                          struct product_choice *choice)
{
    const struct gemm g = gemm_of(&choice->shape);
    if (choice->shape.sums_batch) {
        /* Not measured: alone, this nest is not what it is between others. */
        choice->provider = sums_in_blocks(c, &target->product, &choice->shape) ? 1 : 0;
        return TARN_OK;
    }
    if (product_joins_chain(target, &choice->shape) && nest_asked()) {
        choice->provider = 0; /* not measured, likewise */
        return TARN_OK;
    }
    struct target alone = *target;
    alone.choice_count = 0;
    struct nest_product nest = { .target = &alone };
    const struct gemm_provider blocks = blocks_provider(c, &target->product, &choice->shape);
    const struct gemm_provider list[PROVIDERS] = {
        { .name = "nest", .run = run_nest, .user = &nest, .serial = true },
        blocks,
        library_provider(&target->product),
        other_blocks(&gemm_tarn_deep, &blocks),
        other_blocks(&gemm_tarn_coarse, &blocks),
    };
    const tarn_status status = gemm_choose(c, &g, list, PROVIDERS, serial, &choice->provider);
    plan_free(nest.plan);
    buffer_free(nest.arena);
    return status;
}

tarn_status tune_products(struct context *c, const struct program *program, bool serial,
                          struct target *target)
{
    struct product_shape *shapes = NULL;
    struct target known = { 0 };
    int count = 0;
    tarn_status status = compile_list_products(program, target, &shapes, &count);
    if (status == TARN_OK) {
        known.choices = calloc((size_t)count + 1, sizeof *known.choices);
        status = known.choices != NULL ? TARN_OK : out_of_memory();
    }
    for (int i = 0; i < count && status == TARN_OK; i++) {
        if (target_choice(&known, &shapes[i]) != NULL)
            continue;
        known.choices[known.choice_count].shape = shapes[i];
        status = choose(c, target, serial, &known.choices[known.choice_count++]);
    }
    free(shapes);
    target->choices = known.choices;
    target->choice_count = known.choice_count;
    return status;
}

void tune_free(struct target *target)
{
    free(target->choices);
    target->choices = NULL;
    target->choice_count = 0;
    free(target->tiles);
    target->tiles = NULL;
    target->tile_count = 0;
}
