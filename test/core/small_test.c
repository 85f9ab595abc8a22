/* SPDX-License-Identifier: Apache-2.0 */
/* Small functions that nothing else would miss: names, questions, printing. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "first.h"
#include "tarn.h"
#include "tarn_dist.h"

TestSuite(small, .timeout = 600);

Test(small, types_have_names)
{
    cr_expect_str_eq(tarn_dtype_name(TARN_F32), "float32");
    cr_expect_str_eq(tarn_dtype_name(TARN_I32), "int32");
    cr_expect_str_eq(tarn_dtype_name(TARN_U8), "uint8");
}

Test(small, the_device_is_in_the_list)
{
    char list[4096] = "";
    tarn_replica *r = open_first();
    cr_assert_eq(tarn_list_devices(list, sizeof list), TARN_OK, "%s", tarn_error(NULL));
    const char *name = tarn_device_name(r);
    cr_expect(name[0] != '\0' && strstr(list, name) != NULL, "\"%s\" is not in \"%s\"", name, list);
    tarn_close(r);
}

Test(small, training_is_on_until_it_is_switched_off)
{
    tarn_replica *r = open_first();
    cr_expect(tarn_training(r));
    tarn_train(r, false);
    cr_expect_not(tarn_training(r));
    tarn_train(r, true);
    cr_expect(tarn_training(r));
    tarn_close(r);
}

Test(small, steps_are_counted_at_updates)
{
    tarn_replica *r = open_first();
    const tarn_tensor w = tarn_parameter(r, "w", TARN_SHAPE(2), (const float[]){ 1, 2 });
    tarn_optimizer *o = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.5f });
    cr_expect_eq(tarn_optimizer_lr(o), 0.5f);
    cr_expect_eq(tarn_step_count(r), 0);
    for (uint64_t i = 1; i <= 2; i++) {
        tarn_backward(tarn_sum(w, TARN_ALL, false));
        tarn_optimizer_step(o);
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
        cr_expect_eq(tarn_step_count(r), i);
    }
    tarn_close(r);
}

Test(small, escaped_text_can_be_printed)
{
    char out[32];
    tarn_escape("a\x1b[31m\n\xff.st", out, sizeof out);
    cr_expect_str_eq(out, "a\\x1b[31m\\x0a\\xff.st");
    tarn_escape("abcdef", out, 4);
    cr_expect_str_eq(out, "abc");
}

Test(small, bits_of_a_weight)
{
    const float data[] = { 1, -2, NAN };
    const tarn_weight w = { .name = "w",
                            .dtype = "F32",
                            .kind = TARN_WEIGHT_FLOAT,
                            .width = 4,
                            .rank = 1,
                            .dim = { 3 },
                            .count = 3,
                            .bytes = sizeof data,
                            .data = (const void *)data };
    for (size_t i = 0; i < 3; i++) {
        uint32_t bits;
        memcpy(&bits, &data[i], sizeof bits);
        cr_expect_eq(tarn_weight_bits(&w, i), bits, "element %zu", i);
    }
}

/* (x - mean) / sqrt(var + eps) of 1 and 3 is -1 and 1 but for eps. */
Test(small, layer_norm_has_parameters)
{
    tarn_replica *r = open_first();
    const tarn_layer_norm layer = tarn_layer_norm_make(r, "norm", 2);
    cr_assert_eq(tarn_owned_count(r), 2);
    cr_expect_str_eq(tarn_owned_name(r, 0), "norm.weight");
    cr_expect_str_eq(tarn_owned_name(r, 1), "norm.bias");
    tarn_assign(layer.weight, tarn_from(r, TARN_SHAPE(2), TARN_F32, (const float[]){ 2, 4 }));
    tarn_assign(layer.bias, tarn_from(r, TARN_SHAPE(2), TARN_F32, (const float[]){ 10, 20 }));
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    const tarn_tensor x = tarn_from(r, TARN_SHAPE(1, 2), TARN_F32, (const float[]){ 1, 3 });
    float y[2];
    const tarn_status s = tarn_read(tarn_layer_norm_forward(&layer, x), y, sizeof y);
    cr_assert_eq(s, TARN_OK, "%s", tarn_error(r));
    const double unit = 1 / sqrt(1 + (double)layer.eps);
    cr_expect_float_eq(y[0], 10 - 2 * unit, 8e-6);
    cr_expect_float_eq(y[1], 20 + 4 * unit, 16e-6);
    tarn_close(r);
}

/* Not even the momentum: after each of them comes a step as from the beginning. */
Test(small, gradients_that_are_not_finite_change_nothing)
{
    const float bad[] = { INFINITY, -INFINITY, NAN }, one = 1;
    for (int i = 0; i < 3; i++) {
        tarn_replica *r = open_first();
        const tarn_tensor w = tarn_parameter(r, "w", TARN_SHAPE(2), (const float[]){ 1, 2 });
        tarn_optimizer *o = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.5f, .momentum = 0.5f });
        for (int k = 0; k < 2; k++) {
            const tarn_tensor x = tarn_from(r, TARN_SHAPE(1), TARN_F32, k == 0 ? &bad[i] : &one);
            tarn_backward(tarn_sum(tarn_mul(w, x), TARN_ALL, false));
            tarn_optimizer_step(o);
            cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
            float seen[2];
            cr_assert_eq(tarn_read(w, seen, sizeof seen), TARN_OK, "%s", tarn_error(r));
            const float moved = k == 0 ? 0 : 0.5f;
            cr_expect(seen[0] == 1 - moved && seen[1] == 2 - moved, "after %g: %g, %g",
                      (double)bad[i], (double)seen[0], (double)seen[1]);
        }
        tarn_close(r);
    }
}

static tarn_status print_rank(tarn_replica *r, void *arg)
{
    (void)arg;
    tarn_print0(r, "rank %d of %d\n", tarn_rank(r), tarn_world_size(r));
    return TARN_OK;
}

Test(small, rank_0_alone_prints)
{
    char seen[256] = "";
    FILE *f = tmpfile();
    cr_assert_not_null(f);
    (void)fflush(stdout);
    const int before = dup(STDOUT_FILENO);
    cr_assert(before >= 0 && dup2(fileno(f), STDOUT_FILENO) >= 0);
    const tarn_launch_options options = { .devices = "0,0", .timeout = 60 };
    const tarn_status s = tarn_launch(print_rank, NULL, options);
    (void)fflush(stdout);
    cr_assert(dup2(before, STDOUT_FILENO) >= 0);
    (void)close(before);
    rewind(f);
    (void)!fread(seen, 1, sizeof seen - 1, f);
    (void)fclose(f);
    cr_assert_eq(s, TARN_OK, "%s", tarn_error(NULL));
    cr_expect_str_eq(seen, "rank 0 of 2\n");
}
