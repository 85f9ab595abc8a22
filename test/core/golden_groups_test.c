/* SPDX-License-Identifier: Apache-2.0 */
/* Parameter groups under a schedule, and averages of weights, against stored results of PyTorch. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "golden.h"

enum { STEPS = 5, SIZE = 7, THREE = 3 };

static const double UNIT = 1.0 / (1 << 24);

TestSuite(golden_groups, .timeout = 600);

static const float *get(const struct golden *g, const char *name, const char *part)
{
    const struct golden_tensor t = golden_find(g, "%s%s", name, part);
    cr_assert(t.data != NULL, "%s%s: not in the file", name, part);
    return t.data;
}

/* That of golden_optim_test.c: of SGD 2 * 2.5 * steps * (4 + lr * 25 * 8), the largest of these rules
 * with momentum, and three roundings more of the factor, of the decay and of what both make. Lr is at most
 * 0.0625. A mean goes a tenth of the way and adds three roundings of values below 4. */
static double limit_after(int steps)
{
    return 2 * 2.5 * steps * (4 + 0.0625 * 2 * 43 * 4 + 0.0625 * 25 * 11 + 3 * 4) * UNIT;
}

static double check(const char *name, int step, tarn_replica *r, const char *parameter,
                    const float *want)
{
    float got[SIZE];
    double worst = 0;
    cr_assert(tarn_read(tarn_find(r, parameter), got, sizeof got) == TARN_OK, "%s", tarn_error(r));
    for (int i = 0; i < SIZE; i++) {
        const double error = fabs((double)got[i] - (double)want[i]), limit = limit_after(step + 1);
        cr_expect(error <= limit,
                  "%s, step %d, %s: element %d is %.9g, PyTorch has %.9g (limit %.3g)", name,
                  step + 1, parameter, i, (double)got[i], (double)want[i], limit);
        worst = fmax(worst, error / limit);
    }
    return worst;
}

static void backward(tarn_replica *r, const struct golden *g, int step)
{
    static const char *const names[THREE] = { "a", "b", "c" };
    const tarn_tensor curvature = tarn_from(r, TARN_SHAPE(SIZE), TARN_F32, get(g, "curvature", ""));
    const tarn_tensor target =
        tarn_from(r, TARN_SHAPE(SIZE), TARN_F32, get(g, "target", "") + SIZE * step);
    tarn_tensor loss = tarn_full(r, TARN_SCALAR, 0);
    for (int k = 0; k < THREE; k++) {
        const tarn_tensor d = tarn_sub(tarn_find(r, names[k]), target);
        loss = tarn_add(loss, tarn_sum(tarn_mul(curvature, tarn_mul(d, d)), TARN_ALL, false));
    }
    tarn_backward(loss);
}

typedef tarn_optimizer *make_fn(tarn_replica *r);

/* As generate_optim.py's groups(). */
static void check_groups(const char *name, make_fn *make, float factor, float decay)
{
    static const char *const names[THREE] = { "a", "b", "c" };
    struct golden *g = golden_open("optim.safetensors");
    tarn_replica *r = tarn_open(NULL);
    cr_assert(g != NULL && r != NULL, "%s", tarn_error(NULL));
    for (int k = 0; k < THREE; k++)
        (void)tarn_parameter(r, names[k], TARN_SHAPE(SIZE), get(g, "start", ""));
    tarn_optimizer *o = make(r);
    cr_assert(o != NULL, "%s: %s", name, tarn_error(r));
    tarn_optimizer_scale_lr(o, "b", factor);
    tarn_optimizer_set_weight_decay(o, "c", decay);
    tarn_optimizer_average(o, 0.9f);
    const float *path = get(g, name, ".groups"), *means = get(g, name, ".means");
    double worst = 0;
    for (int s = 0; s < STEPS; s++) {
        tarn_optimizer_set_lr(o, tarn_lr_step(0.0625f, (uint64_t)s, 3, 0.5f));
        backward(r, g, s);
        tarn_optimizer_step(o);
        cr_assert(tarn_step(r) == TARN_OK, "%s: %s", name, tarn_error(r));
        for (int k = 0; k < THREE; k++) {
            char mean[32];
            const int at = SIZE * (THREE * s + k);
            snprintf(mean, sizeof mean, "optimizer.average.%s", names[k]);
            worst = fmax(worst, check(name, s, r, names[k], path + at));
            worst = fmax(worst, check(name, s, r, mean, means + at));
        }
    }
    printf("%s: worst error / limit %.3f\n", name, worst);
    tarn_close(r);
    golden_close(g);
}

static tarn_optimizer *sgd(tarn_replica *r)
{
    return tarn_sgd(r,
                    (tarn_sgd_options){ .lr = 0.0625f, .momentum = 0.5f, .weight_decay = 0.125f });
}

static tarn_optimizer *adam(tarn_replica *r)
{
    return tarn_adam(r, (tarn_adam_options){ .lr = 0.0625f, .weight_decay = 0.125f });
}

static tarn_optimizer *adamw(tarn_replica *r)
{
    return tarn_adamw(r, (tarn_adam_options){ .lr = 0.0625f, .weight_decay = 0.125f });
}

static tarn_optimizer *lion(tarn_replica *r)
{
    return tarn_lion(r, (tarn_lion_options){ .lr = 0.0625f });
}

Test(golden_groups, sgd)
{
    check_groups("sgd", sgd, 0.1f, 0);
}

Test(golden_groups, adam)
{
    check_groups("adam", adam, 0.3f, 0.7f);
}

Test(golden_groups, adamw)
{
    check_groups("adamw", adamw, 0.1f, 0);
}

Test(golden_groups, lion)
{
    check_groups("lion", lion, 0.3f, 0.7f);
}
