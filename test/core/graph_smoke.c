/* SPDX-License-Identifier: Apache-2.0 */
/* Recording without a device: shapes, error lines, staleness, hashes, structure of gradients. The
 * backend and the compiler are stand-ins that do nothing. */
#include <stdio.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "op/op.h"
#include "plan.h"

/* ---- stand-ins ------------------------------------------------------------------------------- */

struct buffer {
    size_t bytes;
};
static char last_error[1000];
static struct device device = { .name = "stand-in" };
static int live_buffers;

tarn_status error_set(tarn_status code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(last_error, sizeof last_error, format, args);
    va_end(args);
    return code;
}
const char *error_text(void) { return last_error; }
const char *status_name(tarn_status code) { return code == TARN_OK ? "TARN_OK" : "TARN_ERR"; }
tarn_status device_list(const struct device **list, int *count)
{
    *list = &device;
    *count = 1;
    return TARN_OK;
}
tarn_status device_select(const char *spec, struct device *out, int capacity, int *count)
{
    (void)spec, (void)capacity;
    *out = device;
    *count = 1;
    return TARN_OK;
}
tarn_status context_open(const struct device *d, struct context **out)
{
    (void)d;
    *out = NULL;
    return TARN_OK;
}
void context_close(struct context *c) { (void)c; }
const struct device *context_device(const struct context *c) { return (void)c, &device; }
tarn_status context_poll(struct context *c) { return (void)c, TARN_OK; }
tarn_status context_finish(struct context *c) { return (void)c, TARN_OK; }
tarn_status context_flush(struct context *c) { return (void)c, TARN_OK; }
tarn_status context_mark(struct context *c, queue_mark *out) { return (void)c, *out = 1, TARN_OK; }
tarn_status context_wait(struct context *c, queue_mark m) { return (void)c, (void)m, TARN_OK; }
struct backend_counters context_counters(const struct context *c)
{
    return (void)c, (struct backend_counters){ .launches = 0 };
}
struct buffer_stats buffer_statistics(const struct context *c)
{
    return (void)c, (struct buffer_stats){ .live = 0 };
}
tarn_status buffer_new(struct context *c, size_t bytes, struct buffer **out)
{
    (void)c;
    *out = calloc(1, sizeof **out);
    (*out)->bytes = bytes;
    live_buffers++;
    return TARN_OK;
}
void buffer_free(struct buffer *b)
{
    live_buffers -= b != NULL;
    free(b);
}
tarn_status buffer_read(struct buffer *b, size_t offset, void *to, size_t bytes)
{
    (void)b, (void)offset;
    memset(to, 0, bytes);
    return TARN_OK;
}
tarn_status buffer_write(struct buffer *b, size_t offset, const void *from, size_t bytes)
{
    return (void)b, (void)offset, (void)from, (void)bytes, TARN_OK;
}
tarn_status buffer_fill_zero(struct buffer *b, size_t offset, size_t bytes)
{
    return (void)b, (void)offset, (void)bytes, TARN_OK;
}
tarn_status upload_release(struct upload *u) { return (void)u, TARN_OK; }
tarn_status plan_execute(tarn_replica *r, const uint32_t *outputs, int count,
                         struct buffer **buffers, bool effects)
{
    (void)effects;
    for (int i = 0; i < count; i++) {
        const size_t bytes = (size_t)tarn_shape_count(r->graph.nodes[outputs[i]].shape) * 4;
        if (buffer_new(NULL, bytes, &buffers[i]) != TARN_OK)
            return TARN_ERR_MEMORY;
    }
    return TARN_OK;
}
void plan_cache_free(struct plan_cache *cache) { (void)cache; }

/* ---- checks ---------------------------------------------------------------------------------- */

static int failures;
#define CHECK(condition, ...) \
    ((condition) ? (void)0 \
                 : (void)(failures++, printf("line %d: %s: ", __LINE__, #condition), \
                          printf(__VA_ARGS__), printf("\n")))

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
                          TARN_SHAPE(0, 0, 1, 1, 0, 0), 1), tarn_abs(tarn_number(r, 2)));
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

static void measure(tarn_replica *r)
{
    struct timespec a, b;
    tarn_tensor x = tarn_zeros(r, TARN_SHAPE(4, 3));
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; i < 200000; i++)
        x = graph_record(r, &op_exp, &x, 1, TARN_SHAPE(4, 3), TARN_F32, NULL);
    clock_gettime(CLOCK_MONOTONIC, &b);
    const double seconds = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
    printf("%.0f ns a node\n", seconds / 200000 * 1e9);
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
    measure(r);
    CHECK(tarn_owned_count(r) == 2 && strcmp(tarn_owned_name(r, 0), "w") == 0, "names");
    tarn_close(r);
    CHECK(live_buffers == 0, "%d buffers left", live_buffers);
    printf(failures ? "%d failures\n" : "ok\n", failures);
    return failures != 0;
}
