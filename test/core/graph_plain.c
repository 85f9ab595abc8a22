/* SPDX-License-Identifier: Apache-2.0 */
/* Recording without a device: shapes, error lines, staleness, hashes, structure of gradients. The
 * device itself is hardly used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "op/op.h"
#include "run/plan_cache.h"
#include "tensor/shape.h"

/* ---- checks --------------------------------------------------------------------------------- */

static int failures;
#define CHECK(condition, ...) \
    do { \
        if (!(condition)) { \
            failures++; \
            printf("line %d: %s: ", __LINE__, #condition); \
            printf(__VA_ARGS__); \
            printf("\n"); \
        } \
    } while (0)

static bool is(tarn_tensor t, const char *shape)
{
    const char *text = shape_text(tarn_shape_get(t));
    const bool same = strcmp(text, shape) == 0;
    if (!same)
        printf("shape %s, expected %s; ", text, shape);
    return same;
}

static void check_shapes(tarn_replica *r)
{
    const tarn_tensor x = tarn_zeros(r, TARN_SHAPE(4, 3, 8, 6));
    const int32_t two[2] = { 2, 2 }, one[2] = { 1, 1 };
    CHECK(is(tarn_add(x, tarn_zeros(r, TARN_SHAPE(3, 1, 1))), "[4,3,8,6]"), "%s", tarn_error(r));
    CHECK(is(tarn_flatten(x, 1), "[4,144]"), "%s", tarn_error(r));
    CHECK(is(tarn_reshape(x, TARN_SHAPE(2, -1)), "[2,288]"), "%s", tarn_error(r));
    CHECK(is(tarn_transpose(x, 0, -1), "[6,3,8,4]"), "%s", tarn_error(r));
    CHECK(is(tarn_slice(x, 2, 1, 8, 3), "[4,3,3,6]"), "%s", tarn_error(r));
    CHECK(is(tarn_slice(x, 2, -2, 100, 1), "[4,3,2,6]"), "%s", tarn_error(r));
    CHECK(is(op_window_view(x, two, two, one), "[4,3,4,3,2,2]"), "%s", tarn_error(r));
    CHECK(is(tarn_sum(x, TARN_AXES(1, -1), false), "[4,8]"), "%s", tarn_error(r));
    CHECK(is(tarn_var(x, TARN_AXES(0, 2, 3), 1, true), "[1,3,1,1]"), "%s", tarn_error(r));
    CHECK(is(tarn_argmax(x, 1, false), "[4,8,6]"), "%s", tarn_error(r));
    CHECK(is(tarn_mean(x, TARN_ALL, false), "[]"), "%s", tarn_error(r));
    CHECK(is(tarn_concat((tarn_tensor[]){ x, x }, 2, 1), "[4,6,8,6]"), "%s", tarn_error(r));
    CHECK(is(tarn_one_hot(tarn_arange(r, 5), 7), "[5,7]"), "%s", tarn_error(r));
    CHECK(is(tarn_sum(tarn_zeros(r, TARN_SHAPE(0, 3)), TARN_AXES(0), false), "[3]"), "%s",
          tarn_error(r));
    CHECK(tarn_dtype_get(tarn_eq(x, x)) == TARN_U8, "comparison");
    CHECK(tarn_dtype_get(tarn_add(tarn_eq(x, x), tarn_eq(x, x))) == TARN_I32, "promotion");
    CHECK(tarn_step(r) == TARN_OK, "%s", tarn_error(r));
}

static void check_errors(tarn_replica *r)
{
    const tarn_tensor bad =
        tarn_add(tarn_zeros(r, TARN_SHAPE(128, 10)), tarn_zeros(r, TARN_SHAPE(12)));
    CHECK(tarn_failed(tarn_relu(bad)), "poison is contagious");
    CHECK(strstr(tarn_error(r), "add: shapes [128,10] and [12] do not broadcast"), "%s",
          tarn_error(r));
    CHECK(tarn_step(r) == TARN_ERR_SHAPE, "%s", tarn_error(r));
    tarn_error_clear(r);
    const tarn_tensor old = tarn_ones(r, TARN_SHAPE(2));
    CHECK(tarn_step(r) == TARN_OK, "%s", tarn_error(r));
    CHECK(tarn_failed(tarn_exp(old)) && tarn_error_status(r) == TARN_ERR_STALE, "%s",
          tarn_error(r));
    printf("%s\n", tarn_error(r));
    tarn_error_clear(r);
    const tarn_tensor kept = tarn_keep(tarn_ones(r, TARN_SHAPE(2)));
    CHECK(tarn_step(r) == TARN_OK, "%s", tarn_error(r));
    CHECK(is(tarn_exp(kept), "[2]"), "%s", tarn_error(r));
    tarn_drop(kept);
    CHECK(tarn_failed(tarn_exp(kept)) && tarn_error_status(r) == TARN_ERR_STALE, "%s",
          tarn_error(r));
    tarn_error_clear(r);
    CHECK(tarn_failed(tarn_relu(TARN_NONE)), "no tensor");
}

static void record_step(tarn_replica *r, tarn_tensor w, float lr, int32_t batch)
{
    const tarn_tensor x = tarn_zeros(r, TARN_SHAPE(batch, 3));
    const tarn_tensor loss = tarn_mean(tarn_relu(tarn_mul(x, w)), TARN_ALL, false);
    tarn_backward(loss);
    tarn_assign(w, tarn_sub(w, tarn_mul(tarn_number(r, lr), tarn_grad(w))));
}

static void check_hash(tarn_replica *r, tarn_tensor w)
{
    uint64_t hash[3];
    for (int i = 0; i < 3; i++) {
        record_step(r, w, 0.1f * (float)i, i == 2 ? 5 : 4);
        hash[i] = r->graph.hash[0] ^ r->graph.hash[1];
        CHECK(tarn_step(r) == TARN_OK, "%s", tarn_error(r));
    }
    CHECK(hash[0] == hash[1], "a number's value is not hashed");
    CHECK(hash[0] != hash[2], "a shape is hashed");
}

static void check_gradients(tarn_replica *r, tarn_tensor w)
{
    const tarn_tensor x = tarn_zeros(r, TARN_SHAPE(4, 3));
    const tarn_tensor y = tarn_gelu(tarn_mul(x, w));
    const tarn_tensor loss = tarn_sum(tarn_max(y, TARN_AXES(1), false), TARN_ALL, false);
    tarn_backward(loss);
    CHECK(is(tarn_grad(w), "[3]"), "%s", tarn_error(r));
    const uint32_t once = tarn_grad(w).node;
    CHECK(tarn_eval(&y, 1) == TARN_OK && r->graph.nodes[y.node].op == &op_input, "evaluated");
    tarn_backward(loss);
    CHECK(tarn_grad(w).node != once && graph_node(tarn_grad(w))->op == &op_add, "summed");
    tarn_tensor g[2];
    tarn_gradients(loss, (tarn_tensor[]){ x, tarn_detach(x) }, 2, g);
    CHECK(is(g[0], "[4,3]") && is(g[1], "[4,3]"), "%s", tarn_error(r));
    CHECK(graph_node(g[1])->op == &op_constant, "no dependence gives zeros");
    tarn_tensor p = tarn_rand(r, TARN_SHAPE(4, 3, 8, 8)), q;
    const int32_t three[2] = { 3, 3 }, two[2] = { 2, 2 }, one[2] = { 1, 1 };
    q = op_reduce(&op_max_first, op_window_view(p, three, two, one), 3u << 4);
    q = tarn_pow(tarn_pad(tarn_slice(q, 1, 0, 3, 2), TARN_SHAPE(0, 0, 1, 1, 0, 0),
                          TARN_SHAPE(0, 0, 1, 1, 0, 0), 1),
                 tarn_abs(tarn_number(r, 2)));
    q = tarn_concat((tarn_tensor[]){ q, tarn_permute(q, TARN_SHAPE(0, 1, 3, 2, 4, 5)) }, 2, 0);
    tarn_gradients(tarn_sum(q, TARN_ALL, false), &p, 1, &g[0]);
    CHECK(is(g[0], "[4,3,8,8]"), "%s", tarn_error(r));
    p = tarn_zeros(r, TARN_SHAPE(5, 2));
    q = tarn_embedding(p, tarn_arange(r, 7));
    q = tarn_clamp(tarn_div(q, tarn_sqrt(tarn_maximum(q, tarn_sigmoid(q)))), 0, 1);
    tarn_gradients(tarn_mean(q, TARN_ALL, false), &p, 1, &g[0]);
    CHECK(is(g[0], "[5,2]"), "%s", tarn_error(r));
    tarn_assign(w, tarn_mul_scalar(w, 0.5f));
    tarn_gradients(tarn_sum(tarn_exp(w), TARN_ALL, false), &w, 1, &g[0]);
    CHECK(graph_node(w)->op == &op_detach && is(g[0], "[3]"), "new value is a leaf");
    CHECK(tarn_step(r) == TARN_OK, "%s", tarn_error(r));
}

static void check_flat(tarn_replica *r)
{
    const uint32_t flat = owned_add(r, OWNED_FLAT, NULL, TARN_SHAPE(10), TARN_F32, NULL);
    const uint32_t part =
        owned_add_slice(r, OWNED_PARAMETER, "part", TARN_SHAPE(2, 3), flat, 4 * sizeof(float));
    const tarn_tensor all = owned_handle(r, flat), p = owned_handle(r, part);
    CHECK(is(tarn_exp(p), "[2,3]") && graph_node(p)->op == &op_owned, "%s", tarn_error(r));
    tarn_assign(all, tarn_mul_scalar(all, 2));
    CHECK(is(tarn_exp(p), "[2,3]") && graph_node(p)->op == &op_detach, "%s", tarn_error(r));
    tarn_assign(p, tarn_zeros(r, TARN_SHAPE(2, 3)));
    CHECK(tarn_error_status(r) == TARN_ERR_STATE, "%s", tarn_error(r));
    printf("%s\n", tarn_error(r));
    tarn_error_clear(r);
}

/* What a reduction's record must have, and one without it. */
static void check_reductions(tarn_replica *r)
{
    for (int i = 0; i < all_ops_count; i++) {
        const struct combination *by = all_ops[i]->combination;
        CHECK((by != NULL) == (all_ops[i]->kind == OP_REDUCE), "%s", all_ops[i]->name);
        if (by != NULL)
            CHECK(by->code && by->identity[0] && by->identity[1] &&
                      (by->lanes == NULL) == (by->found != NULL),
                  "%s", all_ops[i]->name);
    }
    static const struct op odd = { .name = "odd", .arity = 1, .kind = OP_REDUCE };
    union op_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.reduce.axes = 1;
    const tarn_tensor x = tarn_zeros(r, TARN_SHAPE(5));
    float y;
    (void)!tarn_read(graph_record(r, &odd, &x, 1, TARN_SHAPE(1), TARN_F32, &arg), &y, sizeof y);
    CHECK(tarn_error_status(r) == TARN_ERR_INTERNAL &&
              strstr(tarn_error(r), "odd has no combination") != NULL,
          "%s", tarn_error(r));
    printf("%s\n", tarn_error(r));
    tarn_error_clear(r);
}

int main(void)
{
    tarn_replica *r = tarn_open(NULL);
    const tarn_tensor w = tarn_parameter_kaiming(r, "w", TARN_SHAPE(3), 3);
    check_shapes(r);
    check_errors(r);
    check_hash(r, w);
    check_gradients(r, w);
    check_flat(r);
    check_reductions(r);
    CHECK(tarn_owned_count(r) == 2 && strcmp(tarn_owned_name(r, 0), "w") == 0, "names");
    tarn_close(r);
    printf(failures ? "%d failures\n" : "ok\n", failures);
    return failures != 0;
}
