/* SPDX-License-Identifier: Apache-2.0 */
/* Loops whose body uses many tensors from outside: layers, one layer often, constants. All numbers are small integers,
 * so sums are exact in any order: a loop has the bits of the same steps written out, its gradients, too. */
#include <criterion/criterion.h>
#include <string.h>

#include "first.h"
#include "tarn.h"

TestSuite(scan_many, .timeout = 900);

enum { SAMPLES = 16, WIDTH = 4, STEPS = 3, LAYERS = 40 };

struct net {
    int layers; /* of a step, */
    int own;    /* of so many weights */
    tarn_tensor matrix[300], shift[300];
};

/* Turns and negates what it multiplies. */
static tarn_tensor matrix_of(tarn_replica *r, int number)
{
    float v[WIDTH * WIDTH] = { 0 };
    for (int i = 0; i < WIDTH; i++)
        v[i * WIDTH + (i + number) % WIDTH] = (number + i) % 3 == 0 ? -1 : 1;
    return tarn_parameter(r, TARN_NAME("matrix%d", number), TARN_SHAPE(WIDTH, WIDTH), v);
}

static void open_net(tarn_replica *r, struct net *n)
{
    for (int i = 0; i < n->own; i++) {
        const float v[WIDTH] = { (float)(i % 3) - 1, 1, -1, 0 };
        n->matrix[i] = matrix_of(r, i);
        n->shift[i] = tarn_parameter(r, TARN_NAME("shift%d", i), TARN_SHAPE(WIDTH), v);
    }
}

/* Each layer with views of its own, and with two constants that no other one has. */
static void layers(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                   tarn_tensor *y, void *user)
{
    const struct net *n = user;
    tarn_replica *r = carry[0].replica;
    tarn_tensor h = tarn_add(carry[0], x[0]);
    for (int i = 0; i < n->layers; i++) {
        const tarn_tensor turned = tarn_transpose(n->matrix[i % n->own], 0, 1);
        h = tarn_add(tarn_matmul(h, turned), n->shift[i % n->own]);
        h = tarn_maximum(h, tarn_full(r, TARN_SCALAR, -2000.0f - (float)i));
        h = tarn_add_scalar(h, i % 2 == 0 ? i : -i);
    }
    next[0] = h;
    y[0] = tarn_mul_scalar(h, 2);
}

struct seen {
    float last[SAMPLES * WIDTH], all[STEPS * SAMPLES * WIDTH];
    float matrix[LAYERS][WIDTH * WIDTH], shift[LAYERS][WIDTH];
};

static void by_hand(struct net *n, tarn_tensor first, tarn_tensor x, tarn_tensor *last,
                    tarn_tensor *all)
{
    tarn_tensor y[STEPS];
    *last = first;
    for (int t = 0; t < STEPS; t++) {
        const tarn_tensor of_step = tarn_select(x, 0, t);
        tarn_tensor next;
        layers(last, &of_step, &next, &y[t], n);
        *last = next;
    }
    *all = tarn_stack(y, STEPS, 0);
}

static void loop(struct net *n, tarn_tensor first, tarn_tensor x, tarn_tensor *last,
                 tarn_tensor *all)
{
    tarn_scan(
        first.replica,
        &(tarn_scan_args){
            .body = layers, .user = n, .carry = &first, .carries = 1, .x = &x, .xs = 1, .ys = 1 },
        last, all);
}

static void train(int count, int own, bool looped, struct seen *out)
{
    tarn_replica *r = open_first();
    struct net n = { .layers = count, .own = own };
    float v[STEPS * SAMPLES * WIDTH];
    for (int i = 0; i < STEPS * SAMPLES * WIDTH; i++)
        v[i] = (float)(i * 7 % 5 - 2);
    open_net(r, &n);
    const tarn_tensor first = tarn_from(r, TARN_SHAPE(SAMPLES, WIDTH), TARN_F32, v);
    const tarn_tensor x = tarn_from(r, TARN_SHAPE(STEPS, SAMPLES, WIDTH), TARN_F32, v);
    tarn_tensor last, all;
    if (looped)
        loop(&n, first, x, &last, &all);
    else
        by_hand(&n, first, x, &last, &all);
    tarn_backward(tarn_add(tarn_sum(last, TARN_ALL, false), tarn_sum(all, TARN_ALL, false)));
    memset(out, 0, sizeof *out);
    last = tarn_keep(last);
    all = tarn_keep(all);
    for (int i = 0; i < own; i++) {
        n.matrix[i] = tarn_keep(tarn_grad(n.matrix[i]));
        n.shift[i] = tarn_keep(tarn_grad(n.shift[i]));
    }
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    read_all(last, out->last, sizeof out->last);
    read_all(all, out->all, sizeof out->all);
    for (int i = 0; i < own; i++) {
        read_all(n.matrix[i], out->matrix[i], sizeof out->matrix[i]);
        read_all(n.shift[i], out->shift[i], sizeof out->shift[i]);
    }
    tarn_close(r);
}

static void expect_the_same(int count, int own)
{
    static struct seen looped, written_out;
    train(count, own, true, &looped);
    train(count, own, false, &written_out);
    cr_expect(memcmp(&looped, &written_out, sizeof looped) == 0, "%d layers of %d weights", count,
              own);
    bool some = false;
    for (size_t i = 0; i < WIDTH * WIDTH; i++)
        some |= looped.matrix[own - 1][i] != 0 && looped.all[i] != 0;
    cr_expect(some, "nothing but zeros");
}

Test(scan_many, many_layers)
{
    expect_the_same(LAYERS, LAYERS);
}

/* Without a view of its own for each use there is room. */
Test(scan_many, one_layer_often)
{
    expect_the_same(120, 1);
}

Test(scan_many, few_layers_in_turn)
{
    expect_the_same(LAYERS, 3);
}

/* ---- the limit ------------------------------------------------------------------------------- */

static void refuse(int count, bool gradient, const char *words)
{
    tarn_replica *r = open_first();
    struct net n = { .layers = count, .own = count };
    open_net(r, &n);
    const tarn_tensor first = tarn_zeros(r, TARN_SHAPE(SAMPLES, WIDTH));
    const tarn_tensor x = tarn_zeros(r, TARN_SHAPE(STEPS, SAMPLES, WIDTH));
    tarn_tensor last, all;
    loop(&n, first, x, &last, &all);
    if (gradient) {
        cr_expect(!tarn_failed(last), "%s", tarn_error(r));
        tarn_backward(tarn_sum(last, TARN_ALL, false));
    }
    cr_expect_eq(tarn_error_status(r), TARN_ERR_ARGUMENT);
    cr_expect(strstr(tarn_error(r), words) != NULL, "%s", tarn_error(r));
    cr_expect(strstr(tarn_error(r), "256") != NULL, "%s", tarn_error(r));
    tarn_close(r);
}

Test(scan_many, too_many_are_refused)
{
    refuse(130, false, "scan: more than");
    refuse(125, true, "scan's gradient: ");
}
