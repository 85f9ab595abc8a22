/* SPDX-License-Identifier: Apache-2.0 */
/* Every public function with operands that are missing, poison, stale, dropped or of another
 * replica, and with NULL for every pointer: an error that sticks to the right replica and names
 * op and operand, and no crash. */
#define TARN_MUST_USE /* what is wrong here answers in tarn_error() */

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tarn.h"
#include "tarn_dist.h"
#include "tarn_profile.h"

TestSuite(misuse, .timeout = 600);

/* ---- operations: every operand in turn is wrong --------------------------------------------- */

/* x float32 [2,3,4,4], w as its operand needs it. */
enum operand { X, MATRIX, VECTOR, INDEX, TARGET, BYTES, SCALAR, OWNED };

struct call {
    const char *name;       /* as in the error line */
    int operands, optional; /* the last `optional` may be TARN_NONE */
    enum operand in[3];
    tarn_tensor (*run)(const tarn_tensor *in);
};

#define UNARY(id, kind, ...) \
    static tarn_tensor run_##id(const tarn_tensor *in) \
    { \
        return tarn_##id(in[0] __VA_OPT__(, ) __VA_ARGS__); \
    }
#define BINARY(id) \
    static tarn_tensor run_##id(const tarn_tensor *in) \
    { \
        return tarn_##id(in[0], in[1]); \
    }
#define MAPS(F) \
    F(neg) F(abs) F(exp) F(log) F(sqrt) F(rsqrt) F(tanh) F(sigmoid) F(relu) F(gelu) F(erf) F(atan)
#define COMPARISONS(F) F(eq) F(ne) F(lt) F(le) F(gt) F(ge)
#define PAIRS(F) \
    F(add) F(sub) F(mul) F(div) F(pow) F(atan2) F(maximum) F(minimum) F(mse_loss) F(l1_loss)
#define DEFINE_UNARY(id) UNARY(id, X)
MAPS(DEFINE_UNARY)
PAIRS(BINARY)
COMPARISONS(BINARY)
UNARY(detach, X)
UNARY(add_scalar, X, 2)
UNARY(mul_scalar, X, 2)
UNARY(pow_scalar, X, 2)
UNARY(clamp, X, -1, 1)
UNARY(cast, X, TARN_I32)
UNARY(reshape, X, TARN_SHAPE(-1))
UNARY(flatten, X, 1)
UNARY(permute, X, TARN_SHAPE(1, 0, 2, 3))
UNARY(transpose, X, 0, 1)
UNARY(broadcast_to, X, TARN_SHAPE(2, 2, 3, 4, 4))
UNARY(slice, X, 0, 0, 1, 1)
UNARY(flip, X, TARN_AXES(1))
UNARY(roll, X, 0, 1)
UNARY(pad, X, TARN_SHAPE(1, 0, 0, 0), TARN_SHAPE(0, 0, 0, 0), 0)
UNARY(pad_reflect, X, TARN_SHAPE(1, 0, 0, 0), TARN_SHAPE(0, 0, 0, 0))
UNARY(elu, X, 1)
UNARY(logsumexp, X, TARN_ALL, false)
UNARY(sum, X, TARN_ALL, false)
UNARY(mean, X, TARN_ALL, false)
UNARY(max, X, TARN_ALL, false)
UNARY(min, X, TARN_ALL, false)
UNARY(argmax, X, 1, false)
UNARY(var, X, TARN_ALL, 1, false)
UNARY(max_pool2d, X, 2)
UNARY(avg_pool2d, X, 2)
UNARY(max_pool2d_with, X, (tarn_pool_options){ .window = { 2 } })
UNARY(avg_pool2d_with, X, (tarn_pool_options){ .window = { 2 } })
UNARY(one_hot, INDEX, 5)
UNARY(sort, X, 1, false, NULL)
UNARY(argsort, X, 1, false)
UNARY(top_k, X, 2, 1, true, NULL)
UNARY(cumsum, X, 1)
UNARY(softmax, X, 1)
UNARY(log_softmax, X, 1)
UNARY(dropout, X, 0.5f)
UNARY(keep, X)
UNARY(all_reduce, X, TARN_SUM)
UNARY(reduce_scatter, X, TARN_SUM)
UNARY(all_gather, X)
UNARY(broadcast, X, 0)
UNARY(all_to_all, X)
BINARY(matmul)
BINARY(embedding)
BINARY(nll_loss)
BINARY(cross_entropy)
#define ALONG(id, axis, ...) \
    static tarn_tensor run_##id(const tarn_tensor *in) \
    { \
        return tarn_##id(in[0], axis, __VA_ARGS__); \
    }
ALONG(gather, 0, in[1])
ALONG(index_select, 1, in[1])
ALONG(index_add, 0, in[1], in[2])
ALONG(scatter_add, 0, in[1], in[2])

static tarn_tensor run_where(const tarn_tensor *in)
{
    return tarn_where(in[0], in[1], in[2]);
}

static tarn_tensor run_concat(const tarn_tensor *in)
{
    return tarn_concat(in, 3, 0);
}

static tarn_tensor run_conv2d(const tarn_tensor *in)
{
    return tarn_conv2d_op(in[0], in[1], in[2], (tarn_conv2d_options){ .groups = 1 });
}

static tarn_tensor run_layer_norm(const tarn_tensor *in)
{
    return tarn_layer_norm_op(in[0], in[1], in[2], 1e-5f);
}

static tarn_tensor run_linear_layer(const tarn_tensor *in)
{
    const tarn_linear layer = { in[1], in[2] };
    return tarn_linear_forward(&layer, in[0]);
}

static tarn_tensor run_conv2d_layer(const tarn_tensor *in)
{
    const tarn_conv2d layer = { .weight = in[1], .bias = in[2] };
    return tarn_conv2d_forward(&layer, in[0]);
}

static tarn_tensor run_layer_norm_layer(const tarn_tensor *in)
{
    const tarn_layer_norm layer = { in[1], in[2], 1e-5f };
    return tarn_layer_norm_forward(&layer, in[0]);
}

static tarn_tensor run_batch_norm_layer(const tarn_tensor *in)
{
    const tarn_batch_norm layer = { .weight = in[1],
                                    .bias = in[2],
                                    .running_mean = in[1],
                                    .running_var = in[1],
                                    .num_batches_tracked = in[1] };
    return tarn_batch_norm_forward(&layer, in[0]);
}

static tarn_tensor run_read(const tarn_tensor *in)
{
    float out[96];
    return tarn_read(in[0], out, sizeof out) == TARN_OK ? in[0] : TARN_NONE;
}

static tarn_tensor run_eval(const tarn_tensor *in)
{
    return tarn_eval(in, 3) == TARN_OK ? in[0] : TARN_NONE;
}

static tarn_tensor run_item(const tarn_tensor *in)
{
    return isnan(tarn_item(in[0])) ? TARN_NONE : in[0];
}

static tarn_tensor run_assign(const tarn_tensor *in)
{
    tarn_assign(in[0], in[1]);
    return TARN_NONE;
}

static tarn_tensor run_backward(const tarn_tensor *in)
{
    tarn_backward(in[0]);
    return TARN_NONE;
}

static tarn_tensor run_backward_weighted(const tarn_tensor *in)
{
    tarn_backward_weighted(in[0], 0.5f);
    return TARN_NONE;
}

static tarn_tensor run_gradients(const tarn_tensor *in)
{
    tarn_tensor g[2];
    tarn_gradients(in[0], in + 1, 2, g);
    return tarn_failed(g[0]) && tarn_failed(g[1]) ? TARN_NONE : g[0];
}

/* clang-format off */
#define MAP_ROW(id) { #id, 1, 0, { X }, run_##id },
#define PAIR_ROW(id) { #id, 2, 0, { X, X }, run_##id },
static const struct call calls[] = {
    MAPS(MAP_ROW) PAIRS(PAIR_ROW) COMPARISONS(PAIR_ROW) MAP_ROW(detach)
    { "add_scalar", 1, 0, { X }, run_add_scalar }, { "mul_scalar", 1, 0, { X }, run_mul_scalar },
    { "pow_scalar", 1, 0, { X }, run_pow_scalar }, { "clamp", 1, 0, { X }, run_clamp },
    { "where", 3, 0, { BYTES, X, X }, run_where }, { "where", 3, 0, { X, X, X }, run_where },
    { "cast", 1, 0, { X }, run_cast },
    { "reshape", 1, 0, { X }, run_reshape }, { "flatten", 1, 0, { X }, run_flatten },
    { "permute", 1, 0, { X }, run_permute }, { "transpose", 1, 0, { X }, run_transpose },
    { "broadcast", 1, 0, { X }, run_broadcast_to }, { "slice", 1, 0, { X }, run_slice },
    { "flip", 1, 0, { X }, run_flip }, { "roll", 1, 0, { X }, run_roll },
    { "pad_reflect", 1, 0, { X }, run_pad_reflect }, { "elu", 1, 0, { X }, run_elu }, { "logsumexp", 1, 0, { X }, run_logsumexp },
    { "pad", 1, 0, { X }, run_pad }, { "concat", 3, 0, { X, X, X }, run_concat },
    { "sum", 1, 0, { X }, run_sum }, { "mean", 1, 0, { X }, run_mean }, { "max", 1, 0, { X }, run_max },
    { "min", 1, 0, { X }, run_min }, { "argmax", 1, 0, { X }, run_argmax }, { "var", 1, 0, { X }, run_var },
    { "matmul", 2, 0, { X, X }, run_matmul },
    { "conv2d", 3, 1, { X, X, VECTOR }, run_conv2d },
    { "max_pool2d", 1, 0, { X }, run_max_pool2d }, { "avg_pool2d", 1, 0, { X }, run_avg_pool2d },
    { "max_pool2d", 1, 0, { X }, run_max_pool2d_with }, { "avg_pool2d", 1, 0, { X }, run_avg_pool2d_with },
    { "embedding", 2, 0, { MATRIX, INDEX }, run_embedding }, { "one_hot", 1, 0, { INDEX }, run_one_hot },
    { "gather", 2, 0, { VECTOR, INDEX }, run_gather }, { "index_select", 2, 0, { MATRIX, INDEX }, run_index_select },
    { "scatter_add", 3, 0, { VECTOR, INDEX, VECTOR }, run_scatter_add }, { "sort", 1, 0, { X }, run_sort },
    { "index_add", 3, 0, { VECTOR, INDEX, VECTOR }, run_index_add }, { "argsort", 1, 0, { X }, run_argsort },
    { "top_k", 1, 0, { X }, run_top_k }, { "cumsum", 1, 0, { X }, run_cumsum },
    { "softmax", 1, 0, { X }, run_softmax }, { "log_softmax", 1, 0, { X }, run_log_softmax },
    { "nll_loss", 2, 0, { MATRIX, TARGET }, run_nll_loss },
    { "cross_entropy", 2, 0, { MATRIX, TARGET }, run_cross_entropy },
    { "layer_norm", 3, 1, { X, VECTOR, VECTOR }, run_layer_norm },
    { "dropout", 1, 0, { X }, run_dropout },
    { "linear", 3, 1, { X, MATRIX, VECTOR }, run_linear_layer },
    { "conv2d", 3, 1, { X, X, VECTOR }, run_conv2d_layer },
    { "layer_norm", 3, 1, { X, VECTOR, VECTOR }, run_layer_norm_layer },
    { "batch_norm", 3, 0, { X, VECTOR, VECTOR }, run_batch_norm_layer },
    { "read", 1, 0, { X }, run_read }, { "eval", 3, 0, { X, X, SCALAR }, run_eval },
    { "item", 1, 0, { SCALAR }, run_item }, { "keep", 1, 0, { X }, run_keep },
    { "assign", 2, 0, { OWNED, X }, run_assign }, { "backward", 1, 0, { SCALAR }, run_backward },
    { "backward_weighted", 1, 0, { SCALAR }, run_backward_weighted },
    { "gradients", 3, 0, { SCALAR, X, X }, run_gradients },
    { "all_reduce", 1, 0, { X }, run_all_reduce }, { "reduce_scatter", 1, 0, { X }, run_reduce_scatter },
    { "all_gather", 1, 0, { X }, run_all_gather }, { "broadcast", 1, 0, { X }, run_broadcast },
    { "all_to_all", 1, 0, { X }, run_all_to_all },
};
/* clang-format on */
enum { CALLS = sizeof calls / sizeof *calls };

static tarn_replica *here, *other;
static tarn_tensor weight[2], stale[2], dropped[2], lost[2];

static tarn_tensor make(tarn_replica *r, enum operand kind)
{
    switch (kind) {
    case MATRIX:
        return tarn_ones(r, TARN_SHAPE(5, 4));
    case VECTOR:
        return tarn_ones(r, TARN_SHAPE(4));
    case INDEX:
        return tarn_arange(r, 3);
    case TARGET:
        return tarn_arange(r, 5);
    case BYTES:
        return tarn_cast(tarn_ones(r, TARN_SHAPE(2, 3, 4, 4)), TARN_U8);
    case SCALAR:
        return tarn_sum(weight[r == other], TARN_ALL, false);
    case OWNED:
        return weight[r == other];
    case X:
        break;
    }
    return tarn_ones(r, TARN_SHAPE(2, 3, 4, 4));
}

static void prepare(tarn_replica *r, int i)
{
    weight[i] = tarn_parameter(r, "weight", TARN_SHAPE(2, 3, 4, 4), NULL);
    stale[i] = tarn_ones(r, TARN_SHAPE(4));
    dropped[i] = tarn_keep(stale[i]);
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    tarn_drop(dropped[i]);
    tarn_keep(tarn_ones(r, TARN_SHAPE(2))); /* takes the slot */
    lost[i] = tarn_keep(tarn_ones(r, TARN_SHAPE(4)));
    tarn_error_clear(r);
}

static void open_both(void)
{
    here = tarn_open(NULL);
    other = tarn_open(NULL);
    cr_assert(here && other, "%s", tarn_error(NULL));
    prepare(here, 0);
    prepare(other, 1);
}

static void close_both(void)
{
    tarn_close(here);
    tarn_close(other);
}

enum flaw { MISSING, POISON, STALE, DROPPED, LOST, FORGED, FOREIGN, FLAWS };
static const char *const words[FLAWS] = { "no tensor",
                                          "poison",
                                          "results live until tarn_step()",
                                          "tarn_drop",
                                          "was kept in a step that failed",
                                          "poison",
                                          "another replica" };

static tarn_tensor flawed(enum flaw f)
{
    switch (f) {
    case MISSING:
        return TARN_NONE;
    case POISON:
        return (tarn_tensor){ here, 0, stale[0].step + 1 };
    case STALE:
        return stale[0];
    case DROPPED:
        return dropped[0];
    case LOST:
        return lost[0];
    case FORGED:
        return (tarn_tensor){ here, 12345678, tarn_ones(here, TARN_SHAPE(1)).step };
    default:
        return tarn_ones(other, TARN_SHAPE(2, 3, 4, 4));
    }
}

static void expect_line(const struct call *c, enum flaw f, int at, const char *line)
{
    cr_expect_neq(*line, 0, "%s, operand %d, flaw %d: no error", c->name, at, (int)f);
    /* The target of an assignment has words of its own. */
    if (strcmp(c->name, "assign") == 0 && at == 0)
        return;
    cr_expect_not_null(strstr(line, c->name), "%s, operand %d: %s", c->name, at, line);
    cr_expect_not_null(strstr(line, words[f]), "%s, operand %d, flaw %d: %s", c->name, at, (int)f,
                       line);
    char number[40];
    const bool listed = strcmp(c->name, "gradients") == 0 && at > 0;
    snprintf(number, sizeof number, "operand %d", listed ? at - 1 : at);
    cr_expect_not_null(strstr(line, number), "%s, operand %d: %s", c->name, at, line);
}

static void try(const struct call *c, enum flaw f, int at)
{
    tarn_tensor in[3];
    for (int i = 0; i < c->operands; i++)
        in[i] = make(here, c->in[i]);
    for (int i = c->operands; i < 3; i++)
        in[i] = TARN_NONE;
    in[at] = flawed(f);
    const tarn_tensor y = c->run(in);
    const bool alone = c->operands == 1;
    cr_expect(tarn_failed(y), "%s, operand %d, flaw %d: no poison", c->name, at, (int)f);
    if (f == MISSING && alone) {
        cr_expect_eq(tarn_error_status(here), TARN_OK, "%s: %s", c->name, tarn_error(here));
        expect_line(c, f, at, tarn_error(NULL));
        return;
    }
    cr_expect_neq(tarn_error_status(here), TARN_OK, "%s, operand %d, flaw %d: does not stick",
                  c->name, at, (int)f);
    expect_line(c, f, at, tarn_error(here));
    char line[1200];
    snprintf(line, sizeof line, "%s", tarn_error(here));
    cr_expect_neq(tarn_step(here), TARN_OK);
    cr_expect_str_eq(tarn_error(here), line);
    cr_expect_eq(tarn_error_status(other), TARN_OK, "%s: %s", c->name, tarn_error(other));
    tarn_error_clear(here);
}

/* Foreign first operands make the others foreign: the error is theirs. */
static void try_foreign_first(const struct call *c)
{
    tarn_tensor in[3] = { flawed(FOREIGN), TARN_NONE, TARN_NONE };
    for (int i = 1; i < c->operands; i++)
        in[i] = make(here, c->in[i]);
    cr_expect(tarn_failed(c->run(in)), "%s: no poison", c->name);
    const bool either = tarn_error_status(here) != TARN_OK || tarn_error_status(other) != TARN_OK;
    cr_expect(either, "%s: no error", c->name);
    tarn_error_clear(here);
    tarn_error_clear(other);
}

Test(misuse, operands_that_are_none)
{
    open_both();
    for (int i = 0; i < CALLS; i++) {
        const struct call *c = &calls[i];
        for (int at = 0; at < c->operands; at++)
            for (int f = 0; f < FLAWS; f++) {
                const bool legal = f == MISSING && at >= c->operands - c->optional;
                if (f == FOREIGN && at == 0 && c->operands > 1)
                    try_foreign_first(c);
                else if (!legal && !(f == FOREIGN && at == 0))
                    try(c, (enum flaw)f, at);
            }
        tarn_error_clear(here);
    }
    close_both();
}

/* All operands missing: nobody but the thread has the error. */
Test(misuse, no_operand_at_all)
{
    open_both();
    for (int i = 0; i < CALLS; i++) {
        const tarn_tensor none[3] = { TARN_NONE, TARN_NONE, TARN_NONE };
        cr_expect(tarn_failed(tarn_ones(NULL, TARN_SHAPE(1)))); /* another line */
        cr_expect(tarn_failed(calls[i].run(none)), "%s", calls[i].name);
        cr_expect_not_null(strstr(tarn_error(NULL), calls[i].name), "%s: %s", calls[i].name,
                           tarn_error(NULL));
        cr_expect_eq(tarn_error_status(here), TARN_OK);
    }
    close_both();
}

/* ---- pointers ------------------------------------------------------------------------------- */

#define THREAD_ERROR(call) \
    do { \
        (void)!tarn_open("no such device"); \
        char before[1200]; \
        snprintf(before, sizeof before, "%s", tarn_error(NULL)); \
        call; \
        cr_expect_str_neq(tarn_error(NULL), before, "%s: no error", #call); \
    } while (0)
#define STICKS(call) \
    do { \
        call; \
        cr_expect_neq(tarn_error_status(here), TARN_OK, "%s: no error", #call); \
        tarn_error_clear(here); \
    } while (0)

Test(misuse, no_replica)
{
    char text[200];
    float value[4] = { 0 };
    const tarn_shape s = TARN_SHAPE(4);
    tarn_close(NULL);
    tarn_seed(NULL, 1);
    tarn_train(NULL, true);
    tarn_error_clear(NULL);
    tarn_drop(TARN_NONE);
    cr_expect_str_eq(tarn_device_name(NULL), "");
    cr_expect_eq(tarn_step_count(NULL), 0);
    cr_expect_eq(tarn_owned_count(NULL), 0);
    cr_expect_null(tarn_owned_name(NULL, 0));
    cr_expect_not(tarn_training(NULL));
    cr_expect_eq(tarn_metrics_get(NULL).steps, 0);
    cr_expect_eq(tarn_rank(NULL), 0);
    cr_expect_eq(tarn_world_size(NULL), 1);
    cr_expect_eq(tarn_virtual_shards(NULL), 0);
    cr_expect_eq(tarn_shape_get(TARN_NONE).rank, 0);
    cr_expect_eq(tarn_dtype_get(TARN_NONE), TARN_F32);
    cr_expect_eq(tarn_shape_of(3, NULL).dim[2], 0);
    cr_expect_eq(tarn_dtype_bytes((tarn_dtype)77), 0);
    cr_expect_not_null(tarn_dtype_name((tarn_dtype)-1));
    cr_expect_not_null(tarn_status_name((tarn_status)77));
    THREAD_ERROR(tarn_list_devices(NULL, 100));
    THREAD_ERROR(tarn_list_devices(text, 0));
    THREAD_ERROR(tarn_step(NULL));
    THREAD_ERROR(tarn_wait(NULL));
    THREAD_ERROR(tarn_from(NULL, s, TARN_F32, value));
    THREAD_ERROR(tarn_full(NULL, s, 1));
    THREAD_ERROR(tarn_zeros(NULL, s));
    THREAD_ERROR(tarn_ones(NULL, s));
    THREAD_ERROR(tarn_number(NULL, 1));
    THREAD_ERROR(tarn_arange(NULL, 4));
    THREAD_ERROR(tarn_rand(NULL, s));
    THREAD_ERROR(tarn_randn(NULL, s));
    THREAD_ERROR(tarn_randn_truncated(NULL, s, -1, 1));
    THREAD_ERROR(
        tarn_parameter_with(NULL, "p", s, (tarn_init){ .kind = TARN_INIT_NORMAL, .b = 1 }));
    THREAD_ERROR(tarn_stack(NULL, 2, 0));
    THREAD_ERROR(tarn_eval(NULL, 1));
    THREAD_ERROR(tarn_concat(NULL, 2, 0));
    THREAD_ERROR(tarn_grad(TARN_NONE));
    THREAD_ERROR(tarn_parameter(NULL, "p", s, value));
    THREAD_ERROR(tarn_buffer(NULL, "b", s, TARN_F32, value));
    THREAD_ERROR(tarn_parameter_kaiming(NULL, "p", s, 4));
    THREAD_ERROR(tarn_find(NULL, "p"));
    THREAD_ERROR(tarn_linear_make(NULL, "l", 2, 2));
    THREAD_ERROR(tarn_conv2d_make(NULL, "l", 2, 2, 3, (tarn_conv2d_options){ .groups = 1 }));
    THREAD_ERROR(tarn_batch_norm_make(NULL, "l", 2));
    THREAD_ERROR(tarn_layer_norm_make(NULL, "l", 2));
    THREAD_ERROR(tarn_linear_make_with(NULL, "l", 2, 2, (tarn_linear_options){ .no_bias = true }));
    THREAD_ERROR(
        tarn_conv2d_make_with(NULL, "l", 2, 2, (tarn_conv2d_make_options){ .window = { 3 } }));
    THREAD_ERROR(tarn_conv1d_make(NULL, "l", 2, 2, 3, (tarn_conv1d_options){ .groups = 1 }));
    THREAD_ERROR(tarn_conv_transpose2d_make(NULL, "l", 2, 2, 3,
                                            (tarn_conv_transpose2d_options){ .groups = 1 }));
    THREAD_ERROR(tarn_embedding_make(NULL, "l", 2, 2));
    THREAD_ERROR(tarn_group_norm_make(NULL, "l", 2, 2));
    THREAD_ERROR(tarn_rms_norm_make(NULL, "l", 2));
    THREAD_ERROR(tarn_multi_head_attention_make(NULL, "l", 2,
                                                (tarn_multi_head_attention_options){ .heads = 1 }));
    THREAD_ERROR(
        tarn_transformer_block_make(NULL, "l", 2, (tarn_transformer_block_options){ .heads = 1 }));
    THREAD_ERROR(tarn_conv1d_forward(NULL, TARN_NONE));
    THREAD_ERROR(tarn_conv_transpose2d_forward(NULL, TARN_NONE));
    THREAD_ERROR(tarn_embedding_forward(NULL, TARN_NONE));
    THREAD_ERROR(tarn_group_norm_forward(NULL, TARN_NONE));
    THREAD_ERROR(tarn_rms_norm_forward(NULL, TARN_NONE));
    THREAD_ERROR(tarn_multi_head_attention_forward(NULL, TARN_NONE, TARN_NONE, TARN_NONE));
    THREAD_ERROR(tarn_transformer_block_forward(NULL, TARN_NONE, TARN_NONE));
    THREAD_ERROR(tarn_linear_forward(NULL, TARN_NONE));
    THREAD_ERROR(tarn_conv2d_forward(NULL, TARN_NONE));
    THREAD_ERROR(tarn_batch_norm_forward(NULL, TARN_NONE));
    THREAD_ERROR(tarn_layer_norm_forward(NULL, TARN_NONE));
    THREAD_ERROR(tarn_sgd(NULL, (tarn_sgd_options){ .lr = 1 }));
    THREAD_ERROR(tarn_adam(NULL, (tarn_adam_options){ .lr = 1 }));
    THREAD_ERROR(tarn_adamw(NULL, (tarn_adam_options){ .lr = 1 }));
    THREAD_ERROR(tarn_clip_grad_norm(NULL, 1));
    THREAD_ERROR(tarn_save(NULL, "f", (tarn_progress){ 0 }));
    THREAD_ERROR(tarn_load(NULL, "f", NULL));
    THREAD_ERROR(tarn_loader_open(NULL, NULL, (tarn_loader_options){ .batch = 1 }));
    THREAD_ERROR(tarn_profile(NULL, NULL, NULL));
    THREAD_ERROR(tarn_barrier(NULL));
    THREAD_ERROR(tarn_check_weights(NULL));
    THREAD_ERROR(tarn_launch(NULL, NULL, (tarn_launch_options){ .count = 1 }));
}

Test(misuse, pointers_that_are_null)
{
    tarn_dataset_close(NULL);
    tarn_loader_close(NULL);
    tarn_weight_file_close(NULL);
    tarn_weight_file *file = NULL;
    tarn_weight_difference difference;
    const tarn_weight empty = { .name = NULL };
    char text[20] = "";
    tarn_batch batch;
    THREAD_ERROR(tarn_idx_open(NULL, NULL, 10));
    THREAD_ERROR(tarn_idx_open("a", NULL, 10));
    THREAD_ERROR(tarn_mnist_open(NULL, true));
    THREAD_ERROR(tarn_weight_file_open(NULL));
    THREAD_ERROR(tarn_weight_compare(NULL, NULL, 0, NULL));
    THREAD_ERROR(tarn_weight_compare(&empty, &empty, 0, &difference));
    cr_expect_eq(tarn_weight_file_count(file), 0);
    cr_expect_null(tarn_weight_file_at(file, 0).name);
    cr_expect_null(tarn_weight_file_find(file, "a").name);
    cr_expect_null(tarn_weight_file_metadata(file, "a"));
    cr_expect_eq(tarn_weight_bits(NULL, 0), 0);
    cr_expect_eq(tarn_weight_bits(&empty, 0), 0);
    tarn_weight_text(NULL, 0, text, sizeof text);
    tarn_weight_text(&empty, 0, text, sizeof text);
    tarn_weight_text(&empty, 0, NULL, 0);
    cr_expect_eq(tarn_dataset_size(NULL), 0);
    cr_expect_eq(tarn_dataset_classes(NULL), 0);
    cr_expect_eq(tarn_dataset_sample_shape(NULL).rank, 0);
    cr_expect_null(tarn_dataset_samples(NULL));
    cr_expect_null(tarn_dataset_labels(NULL));
    cr_expect_not(tarn_loader_next(NULL, &batch));
    tarn_loader_seek(NULL, 0, 0);
    cr_expect_eq(tarn_loader_epoch(NULL), 0);
    cr_expect_eq(tarn_loader_length(NULL), 0);
    tarn_optimizer_step(NULL);
    tarn_optimizer_accumulate(NULL);
    tarn_optimizer_set_lr(NULL, 1);
    cr_expect_eq(tarn_optimizer_lr(NULL), 0);
    (void)tarn_lr_step(1, 5, 0, 0.5f);
    (void)tarn_lr_cosine(1, 5, 0, 0);
    (void)tarn_lr_warmup(1, 5, 0);
    tarn_print0(NULL, "%s", "");
}

Test(misuse, pointers_beside_a_replica)
{
    open_both();
    float value[4] = { 0 };
    const tarn_shape s = TARN_SHAPE(4);
    tarn_tensor g[1];
    STICKS(tarn_from(here, s, TARN_F32, NULL));
    STICKS(tarn_from(here, s, (tarn_dtype)77, value));
    STICKS(tarn_read(make(here, VECTOR), NULL, sizeof value));
    STICKS(tarn_gradients(make(here, SCALAR), NULL, 1, g));
    STICKS(tarn_gradients(make(here, SCALAR), &weight[0], 1, NULL));
    STICKS(tarn_gradients(make(here, SCALAR), &weight[0], -1, g));
    STICKS(tarn_parameter(here, NULL, s, value));
    STICKS(tarn_parameter(here, "", s, value));
    STICKS(tarn_buffer(here, NULL, s, TARN_F32, value));
    STICKS(tarn_buffer(here, "b", s, (tarn_dtype)77, value));
    STICKS(tarn_parameter_kaiming(here, NULL, s, 4));
    STICKS(tarn_linear_make(here, NULL, 2, 2));
    STICKS(tarn_conv2d_make(here, NULL, 2, 2, 3, (tarn_conv2d_options){ .groups = 1 }));
    STICKS(tarn_batch_norm_make(here, NULL, 2));
    STICKS(tarn_layer_norm_make(here, NULL, 2));
    STICKS(tarn_linear_forward(NULL, make(here, X)));
    STICKS(tarn_conv2d_forward(NULL, make(here, X)));
    STICKS(tarn_batch_norm_forward(NULL, make(here, X)));
    STICKS(tarn_layer_norm_forward(NULL, make(here, X)));
    STICKS(tarn_linear_forward(&(tarn_linear){ .weight = TARN_NONE }, make(here, X)));
    STICKS(tarn_conv2d_forward(&(tarn_conv2d){ .weight = TARN_NONE }, make(here, X)));
    STICKS(tarn_batch_norm_forward(&(tarn_batch_norm){ .eps = 1 }, make(here, X)));
    STICKS(tarn_layer_norm_forward(&(tarn_layer_norm){ .eps = 1 }, make(here, X)));
    STICKS(tarn_loader_open(here, NULL, (tarn_loader_options){ .batch = 1 }));
    cr_expect(tarn_failed(tarn_find(here, NULL)));
    cr_expect_null(tarn_owned_name(here, -1));
    cr_expect_null(tarn_owned_name(here, 1000));
    cr_expect_neq(tarn_save(here, NULL, (tarn_progress){ 0 }), TARN_OK);
    cr_expect_neq(tarn_load(here, NULL, NULL), TARN_OK);
    close_both();
}
