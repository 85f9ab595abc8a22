/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of contractions, convolution, pools, gather, soft-max, losses and norms. */
#ifndef TARN_TEST_OPS_NN_CASES_H
#define TARN_TEST_OPS_NN_CASES_H

#include "ops_cases.h"

DEVICE(matmul, tarn_matmul(in[0], in[1]))
REFERENCE(matmul, ref_matmul(&in[0], &in[1]))
DEVICE(matmul_transposed, tarn_matmul(tarn_transpose(in[0], 0, 1), tarn_transpose(in[1], 0, 1)))
static struct ref ref_of_matmul_transposed(const struct ref *in, const struct op_case *c)
{
    (void)c;
    const int swap[] = { 1, 0 };
    struct ref a = ref_permute(&in[0], swap), b = ref_permute(&in[1], swap);
    const struct ref y = ref_matmul(&a, &b);
    ref_free(&a);
    ref_free(&b);
    return y;
}

/* clang-format off */
static const struct op_case matmul_cases[] = {
    { "matmul [5,7] [7,3]",        CALLS(matmul), BOUND_LINEAR, 0, 7,   false, { 0 }, 2, { IN(SIGNED, 2, 5, 7), IN(SIGNED, 2, 7, 3) } },
    { "matmul [16,33] [33,17]",    CALLS(matmul), BOUND_LINEAR, 0, 33,  false, { 0 }, 2, { IN(SIGNED, 2, 16, 33), IN(SIGNED, 2, 33, 17) } },
    { "matmul [1,1] [1,1]",        CALLS(matmul), BOUND_LINEAR, 0, 1,   false, { 0 }, 2, { IN(SIGNED, 2, 1, 1), IN(SIGNED, 2, 1, 1) } },
    { "matmul [128,320] [320,50]", CALLS(matmul), BOUND_LINEAR, 0, 320, true,  { 0 }, 2, { IN(SIGNED, 2, 128, 320), IN(SIGNED, 2, 320, 50) } },
    { "matmul [0,5] [5,3]",        CALLS(matmul), BOUND_LINEAR, 0, 5,   false, { 0 }, 2, { IN(SIGNED, 2, 0, 5), IN(SIGNED, 2, 5, 3) } },
    { "matmul [3,0] [0,2]",        CALLS(matmul), BOUND_LINEAR, 0, 1,   false, { 0 }, 2, { IN(SIGNED, 2, 3, 0), IN(SIGNED, 2, 0, 2) } },
    { "matmul [7] [7]",            CALLS(matmul), BOUND_LINEAR, 0, 7,   false, { 0 }, 2, { IN(SIGNED, 1, 7), IN(SIGNED, 1, 7) } },
    { "matmul [7] [7,3]",          CALLS(matmul), BOUND_LINEAR, 0, 7,   false, { 0 }, 2, { IN(SIGNED, 1, 7), IN(SIGNED, 2, 7, 3) } },
    { "matmul [2,5,7] [7]",        CALLS(matmul), BOUND_LINEAR, 0, 7,   false, { 0 }, 2, { IN(SIGNED, 3, 2, 5, 7), IN(SIGNED, 1, 7) } },
    { "matmul [2,5,7] [2,7,3]",    CALLS(matmul), BOUND_LINEAR, 0, 7,   false, { 0 }, 2, { IN(SIGNED, 3, 2, 5, 7), IN(SIGNED, 3, 2, 7, 3) } },
    { "matmul [2,1,3,5] [3,5,2]",  CALLS(matmul), BOUND_LINEAR, 0, 5,   false, { 0 }, 2, { IN(SIGNED, 4, 2, 1, 3, 5), IN(SIGNED, 3, 3, 5, 2) } },
    { "matmul transposed",         CALLS(matmul_transposed), BOUND_LINEAR, 0, 17, false, { 0 }, 2, { IN(SIGNED, 2, 17, 5), IN(SIGNED, 2, 3, 17) } },
};

/* ---- convolution: arg is stride, padding, dilation (two each), groups ----------------------- */

static tarn_tensor dev_conv2d(const tarn_tensor *in, const struct op_case *c)
{
    const int *a = c->arg;
    const tarn_conv2d_options o = { .stride = { a[0], a[1] }, .padding = { a[2], a[3] },
                                    .dilation = { a[4], a[5] }, .groups = a[6] };
    return tarn_conv2d_op(in[0], in[1], c->inputs == 3 ? in[2] : TARN_NONE, o);
}

static struct ref ref_of_conv2d(const struct ref *in, const struct op_case *c)
{
    const int *a = c->arg;
    const struct ref_conv o = { { a[0], a[1] }, { a[2], a[3] }, { a[4], a[5] }, a[6] };
    return ref_conv2d(&in[0], &in[1], c->inputs == 3 ? &in[2] : NULL, &o);
}

#define CONV(name, terms, ...) { name, CALLS(conv2d), BOUND_LINEAR, 0, terms, false, __VA_ARGS__ }
static const struct op_case conv_cases[] = {
    CONV("conv 1x1",               3,  D(1, 1, 0, 0, 1, 1, 1), 2, { IN(SIGNED, 4, 2, 3, 5, 5), IN(SIGNED, 4, 4, 3, 1, 1) }),
    CONV("conv 5x5 as MNIST",      26, D(1, 1, 0, 0, 1, 1, 1), 3, { IN(SIGNED, 4, 3, 1, 12, 12), IN(SIGNED, 4, 10, 1, 5, 5), IN(SIGNED, 1, 10) }),
    CONV("conv batch 16",          28, D(1, 1, 0, 0, 1, 1, 1), 3, { IN(SIGNED, 4, 16, 3, 5, 5), IN(SIGNED, 4, 5, 3, 3, 3), IN(SIGNED, 1, 5) }),
    CONV("conv batch 17",          28, D(1, 1, 0, 0, 1, 1, 1), 3, { IN(SIGNED, 4, 17, 3, 5, 5), IN(SIGNED, 4, 5, 3, 3, 3), IN(SIGNED, 1, 5) }),
    CONV("conv padding 1 2",       19, D(1, 1, 1, 2, 1, 1, 1), 3, { IN(SIGNED, 4, 2, 2, 5, 7), IN(SIGNED, 4, 3, 2, 3, 3), IN(SIGNED, 1, 3) }),
    CONV("conv stride 2 3",        19, D(2, 3, 0, 0, 1, 1, 1), 3, { IN(SIGNED, 4, 2, 2, 9, 11), IN(SIGNED, 4, 3, 2, 3, 3), IN(SIGNED, 1, 3) }),
    CONV("conv stride 2 padded",   19, D(2, 2, 1, 1, 1, 1, 1), 2, { IN(SIGNED, 4, 2, 2, 8, 8), IN(SIGNED, 4, 3, 2, 3, 3) }),
    CONV("conv dilation 2 1",      19, D(1, 1, 1, 1, 2, 1, 1), 2, { IN(SIGNED, 4, 2, 2, 7, 6), IN(SIGNED, 4, 3, 2, 3, 3) }),
    CONV("conv groups 2",          19, D(1, 1, 0, 0, 1, 1, 2), 3, { IN(SIGNED, 4, 2, 4, 5, 5), IN(SIGNED, 4, 6, 2, 3, 3), IN(SIGNED, 1, 6) }),
    CONV("conv depthwise",         10, D(1, 1, 1, 1, 1, 1, 5), 3, { IN(SIGNED, 4, 2, 5, 5, 5), IN(SIGNED, 4, 5, 1, 3, 3), IN(SIGNED, 1, 5) }),
    CONV("conv all at once",       14, D(2, 1, 1, 2, 1, 2, 2), 3, { IN(SIGNED, 4, 3, 4, 7, 9), IN(SIGNED, 4, 6, 2, 2, 3), IN(SIGNED, 1, 6) }),
    CONV("conv empty batch",       9,  D(1, 1, 0, 0, 1, 1, 1), 2, { IN(SIGNED, 4, 0, 1, 5, 5), IN(SIGNED, 4, 2, 1, 3, 3) }),
};

/* ---- pools: arg is window, stride, padding (two each) --------------------------------------- */

static tarn_pool_options pool_options(const struct op_case *c)
{
    const int *a = c->arg;
    return (tarn_pool_options){ .window = { a[0], a[1] }, .stride = { a[2], a[3] },
                                .padding = { a[4], a[5] } };
}

static struct ref_pool pool_args(const struct op_case *c)
{
    const int *a = c->arg;
    return (struct ref_pool){ { a[0], a[1] }, { a[2], a[3] }, { a[4], a[5] } };
}

DEVICE(max_pool, tarn_max_pool2d_with(in[0], pool_options(c)))
REFERENCE(max_pool, ref_max_pool(&in[0], (const struct ref_pool[]){ pool_args(c) }))
DEVICE(avg_pool, tarn_avg_pool2d_with(in[0], pool_options(c)))
REFERENCE(avg_pool, ref_avg_pool(&in[0], (const struct ref_pool[]){ pool_args(c) }))
DEVICE(max_pool_plain, tarn_max_pool2d(in[0], c->arg[0]))
REFERENCE(max_pool_plain, ref_max_pool(&in[0], (const struct ref_pool[]){ pool_args(c) }))

static const struct op_case pool_cases[] = {
    { "max_pool 2",              CALLS(max_pool_plain), BOUND_EXACT, 0, 0, false, { 2, 2, 2, 2 }, S1(4, D(3, 2, 6, 8)) },
    { "max_pool 2 odd [5,7]",    CALLS(max_pool), BOUND_EXACT,  0, 0,  false, { 2, 2, 2, 2 }, S1(4, D(17, 1, 5, 7)) },
    { "max_pool 3 stride 2",     CALLS(max_pool), BOUND_EXACT,  0, 0,  false, { 3, 3, 2, 2 }, S1(4, D(2, 3, 7, 7)) },
    { "max_pool 3 padded",       CALLS(max_pool), BOUND_EXACT,  0, 0,  false, { 3, 3, 2, 2, 1, 1 }, S1(4, D(2, 3, 7, 8)) },
    { "max_pool 2x3 overlap",    CALLS(max_pool), BOUND_EXACT,  0, 0,  false, { 2, 3, 1, 1, 1, 1 }, S1(4, D(2, 2, 5, 5)) },
    { "avg_pool 2",              CALLS(avg_pool), BOUND_LINEAR, 0, 6,  false, { 2, 2, 2, 2 }, S1(4, D(16, 2, 6, 6)) },
    { "avg_pool 3 padded",       CALLS(avg_pool), BOUND_LINEAR, 0, 11, false, { 3, 3, 2, 1, 1, 1 }, S1(4, D(2, 3, 7, 5)) },
};

/* ---- gather, soft-max, losses, norms: arg[0] axis or classes -------------------------------- */

DEVICE(embedding, tarn_embedding(in[0], in[1]))
REFERENCE(embedding, ref_embedding(&in[0], &in[1]))
DEVICE(one_hot, tarn_one_hot(in[0], c->arg[0]))
REFERENCE(one_hot, ref_one_hot(&in[0], c->arg[0]))
DEVICE(gather, tarn_gather(in[0], c->arg[0], in[1]))
REFERENCE(gather, ref_gather(&in[0], c->arg[0], &in[1]))
DEVICE(scatter_add, tarn_scatter_add(in[0], c->arg[0], in[1], in[2]))
REFERENCE(scatter_add, ref_scatter_add(&in[0], c->arg[0], &in[1], &in[2]))
DEVICE(index_add, tarn_index_add(in[0], c->arg[0], in[1], in[2]))
REFERENCE(index_add, ref_index_add(&in[0], c->arg[0], &in[1], &in[2]))
DEVICE(index_select, tarn_index_select(in[0], c->arg[0], in[1]))
REFERENCE(index_select, ref_index_select(&in[0], c->arg[0], &in[1]))
DEVICE(sort, tarn_sort(in[0], c->arg[0], c->arg[1] != 0, NULL))
REFERENCE(sort, ref_sort(&in[0], c->arg[0], c->arg[1] != 0))
DEVICE(argsort, tarn_argsort(in[0], c->arg[0], c->arg[1] != 0))
REFERENCE(argsort, ref_argsort(&in[0], c->arg[0], c->arg[1] != 0))
DEVICE(top_k, tarn_top_k(in[0], c->arg[2], c->arg[0], c->arg[1] != 0, NULL))
REFERENCE(top_k, ref_top_k(&in[0], c->arg[2], c->arg[0], c->arg[1] != 0))
DEVICE(cumsum, tarn_cumsum(in[0], c->arg[0]))
REFERENCE(cumsum, ref_cumsum(&in[0], c->arg[0]))
DEVICE(softmax, tarn_softmax(in[0], c->arg[0]))
REFERENCE(softmax, ref_softmax(&in[0], c->arg[0]))
DEVICE(log_softmax, tarn_log_softmax(in[0], c->arg[0]))
REFERENCE(log_softmax, ref_log_softmax(&in[0], c->arg[0]))
DEVICE(nll_loss, tarn_nll_loss(in[0], in[1]))
REFERENCE(nll_loss, ref_nll(&in[0], &in[1]))
DEVICE(cross_entropy, tarn_cross_entropy(in[0], in[1]))
static struct ref ref_of_cross_entropy(const struct ref *in, const struct op_case *c)
{
    (void)c;
    struct ref logp = ref_log_softmax(&in[0], 1);
    const struct ref y = ref_nll(&logp, &in[1]);
    ref_free(&logp);
    return y;
}
DEVICE(mse_loss, tarn_mse_loss(in[0], in[1]))
REFERENCE(mse_loss, ref_mse(&in[0], &in[1]))
DEVICE(layer_norm, tarn_layer_norm_op(in[0], in[1], in[2], 1e-5f))
REFERENCE(layer_norm, ref_layer_norm(&in[0], &in[1], &in[2], (double)1e-5f))

/* The operands stand in for the layer's own parameters, so that all three get gradients. */
static tarn_tensor dev_batch_norm(const tarn_tensor *in, const struct op_case *c)
{
    tarn_replica *r = in[0].replica;
    tarn_batch_norm layer = { .eps = 1e-5f, .momentum = 0.1f };
    layer.weight = in[1];
    layer.bias = in[2];
    const tarn_shape channels = TARN_SHAPE(c->in[1].dim[0]);
    layer.running_mean = tarn_keep(tarn_zeros(r, channels));
    layer.running_var = tarn_keep(tarn_ones(r, channels));
    const int32_t zero = 0;
    layer.num_batches_tracked = tarn_keep(tarn_from(r, TARN_SCALAR, TARN_I32, &zero));
    return tarn_batch_norm_forward(&layer, in[0]);
}
REFERENCE(batch_norm, ref_batch_norm(&in[0], &in[1], &in[2], (double)1e-5f))

#define INDEX(limit, rank, ...) { FILL_INDEX, limit, rank, { __VA_ARGS__ } }
static const struct op_case gather_cases[] = {
    { "embedding [7,5] [3]",      CALLS(embedding), BOUND_EXACT, 0, 0, false, { 0 }, 2, { IN(SIGNED, 2, 7, 5), INDEX(7, 1, 3) } },
    { "embedding [3,17] [5,7]",   CALLS(embedding), BOUND_EXACT, 0, 0, false, { 0 }, 2, { IN(SIGNED, 2, 3, 17), INDEX(3, 2, 5, 7) } },
    { "embedding clamps",         CALLS(embedding), BOUND_EXACT, 0, 0, false, { 0 }, 2, { IN(SIGNED, 2, 3, 2), INDEX(9, 1, 16) } },
    { "gather [7,5] axis 0",      CALLS(gather),    BOUND_EXACT, 0, 0, false, { 0 }, 2, { IN(SIGNED, 2, 7, 5), INDEX(9, 2, 16, 5) } },
    { "gather [17,3,4] axis 1",   CALLS(gather),    BOUND_EXACT, 0, 0, false, { 1 }, 2, { IN(SIGNED, 3, 17, 3, 4), INDEX(3, 3, 17, 5, 3) } },
    { "gather [2,33] axis 1",     CALLS(gather),    BOUND_EXACT, 0, 0, false, { 1 }, 2, { IN(SIGNED, 2, 2, 33), INDEX(33, 2, 2, 1) } },
    { "scatter_add axis 0",       CALLS(scatter_add), BOUND_LINEAR, 0, 17, false, { 0 }, 3, { IN(SIGNED, 2, 4, 3), INDEX(6, 2, 15, 3), IN(SIGNED, 2, 15, 3) } },
    { "scatter_add axis 1",       CALLS(scatter_add), BOUND_LINEAR, 0, 41, false, { 1 }, 3, { IN(SIGNED, 3, 17, 3, 2), INDEX(3, 3, 16, 40, 2), IN(SIGNED, 3, 17, 40, 3) } },
    { "index_add axis 0",         CALLS(index_add), BOUND_LINEAR, 0, 17, false, { 0 }, 3, { IN(SIGNED, 2, 4, 19), INDEX(6, 1, 15), IN(SIGNED, 2, 15, 19) } },
    { "index_add axis 1",         CALLS(index_add), BOUND_LINEAR, 0, 42, false, { 1 }, 3, { IN(SIGNED, 3, 17, 3, 2), INDEX(3, 1, 40), IN(SIGNED, 3, 17, 40, 2) } },
    { "index_select axis 1",      CALLS(index_select), BOUND_EXACT, 0, 0, false, { 1 }, 2, { IN(SIGNED, 3, 16, 3, 2), INDEX(4, 1, 9) } },
    { "sort [33] of equal ones",  CALLS(argsort),   BOUND_EXACT, 0, 0, true, { 0 },     1, { IN(COARSE, 1, 333) } },
    { "argsort down axis 1",      CALLS(argsort),   BOUND_EXACT, 0, 0, true, { 1, 1 },  1, { IN(COARSE, 3, 3, 70, 5) } },
    { "sort [17,15] axis 1",      CALLS(sort),      BOUND_EXACT, 0, 0, false, { 1 },    S1(2, D(17, 15)) },
    { "sort [40,3] axis 0",       CALLS(sort),      BOUND_EXACT, 0, 0, false, { 0, 1 }, S1(2, D(40, 3)) },
    { "top_k 3 of [16,33]",       CALLS(top_k),     BOUND_EXACT, 0, 0, false, { 1, 1, 3 }, S1(2, D(16, 33)) },
    { "top_k least of [5,2]",     CALLS(top_k),     BOUND_EXACT, 0, 0, false, { 0, 0, 2 }, S1(2, D(5, 2)) },
    { "cumsum [17,33]",           CALLS(cumsum),    BOUND_LINEAR, 0, 33, false, { 1 },   S1(2, D(17, 33)) },
    { "cumsum [130,2]",           CALLS(cumsum),    BOUND_LINEAR, 0, 130, false, { 0 },  S1(2, D(130, 2)) },
    { "one_hot [16]",             CALLS(one_hot),   BOUND_EXACT, 0, 0, true, { 10 }, 1, { INDEX(10, 1, 16) } },
    { "one_hot [3,5]",            CALLS(one_hot),   BOUND_EXACT, 0, 0, true, { 7 },  1, { INDEX(7, 2, 3, 5) } },
};

static const struct op_case loss_cases[] = {
    { "softmax [17,10] axis 1",     CALLS(softmax),       BOUND_COMPOSED, 0, 24,  false, { 1 }, S1(2, D(17, 10)) },
    { "softmax [5,7,3] axis 1",     CALLS(softmax),       BOUND_COMPOSED, 0, 21,  false, { 1 }, S1(3, D(5, 7, 3)) },
    { "softmax [33] axis 0",        CALLS(softmax),       BOUND_COMPOSED, 0, 47,  false, { 0 }, S1(1, D(33)) },
    { "log_softmax [16,10] axis 1", CALLS(log_softmax),   BOUND_COMPOSED, 0, 24,  false, { 1 }, S1(2, D(16, 10)) },
    { "log_softmax [7,2] axis 0",   CALLS(log_softmax),   BOUND_COMPOSED, 0, 21,  false, { 0 }, S1(2, D(7, 2)) },
    { "nll_loss [17,10]",           CALLS(nll_loss),      BOUND_LINEAR,   0, 19,  false, { 0 }, 2, { IN(SIGNED, 2, 17, 10), INDEX(10, 1, 17) } },
    { "nll_loss target outside",    CALLS(nll_loss),      BOUND_LINEAR,   0, 19,  false, { 0 }, 2, { IN(SIGNED, 2, 17, 3), INDEX(5, 1, 17) } },
    { "cross_entropy [16,10]",      CALLS(cross_entropy), BOUND_COMPOSED, 0, 42,  false, { 0 }, 2, { IN(SIGNED, 2, 16, 10), INDEX(10, 1, 16) } },
    { "cross_entropy [33,3]",       CALLS(cross_entropy), BOUND_COMPOSED, 0, 52,  false, { 0 }, 2, { IN(SIGNED, 2, 33, 3), INDEX(3, 1, 33) } },
    { "mse_loss [7,5]",             CALLS(mse_loss),      BOUND_COMPOSED, 0, 39,  false, { 0 }, 2, { IN(SIGNED, 2, 7, 5), IN(SIGNED, 2, 7, 5) } },
};

static const struct op_case norm_cases[] = {
    { "layer_norm [5,16]",     CALLS(layer_norm), BOUND_COMPOSED, 0, 160, false, { 0 }, 3, { IN(SIGNED, 2, 5, 16), IN(SIGNED, 1, 16), IN(SIGNED, 1, 16) } },
    { "layer_norm [3,2,33]",   CALLS(layer_norm), BOUND_COMPOSED, 0, 300, false, { 0 }, 3, { IN(SIGNED, 3, 3, 2, 33), IN(SIGNED, 1, 33), IN(SIGNED, 1, 33) } },
    { "layer_norm [3,5,7] two axes", CALLS(layer_norm), BOUND_COMPOSED, 0, 320, false, { 0 }, 3, { IN(SIGNED, 3, 3, 5, 7), IN(SIGNED, 2, 5, 7), IN(SIGNED, 2, 5, 7) } },
    { "batch_norm [16,3]",     CALLS(batch_norm), BOUND_COMPOSED, 0, 160, false, { 0 }, 3, { IN(SIGNED, 2, 16, 3), IN(SIGNED, 1, 3), IN(SIGNED, 1, 3) } },
    { "batch_norm [5,2,7,3]",  CALLS(batch_norm), BOUND_COMPOSED, 0, 840, false, { 0 }, 3, { IN(SIGNED, 4, 5, 2, 7, 3), IN(SIGNED, 1, 2), IN(SIGNED, 1, 2) } },
    { "batch_norm [17,5,3,3]", CALLS(batch_norm), BOUND_COMPOSED, 0, 1224, false, { 0 }, 3, { IN(SIGNED, 4, 17, 5, 3, 3), IN(SIGNED, 1, 5), IN(SIGNED, 1, 5) } },
};
/* clang-format on */

#endif
