/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics count what happened, and compilations that nobody expects come with their reason. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tarn.h"

struct heard {
    int reasons;
    char last[1001];
};

static void hear(tarn_log_level level, const char *text, void *user)
{
    struct heard *h = user;
    if (level != TARN_LOG_INFO || strncmp(text, "tarn: compilation", 17) != 0)
        return;
    h->reasons++;
    snprintf(h->last, sizeof h->last, "%s", text);
}

static tarn_replica *open_device(void)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    return r;
}

static void step(tarn_replica *r)
{
    cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
}

static void nap(long milliseconds)
{
    nanosleep(&(struct timespec){ .tv_nsec = milliseconds * 1000000 }, NULL);
}

Test(metrics, count_recording_operations_and_memory)
{
    tarn_replica *r = open_device();
    const tarn_tensor w = tarn_parameter(r, "w", TARN_SHAPE(1000), NULL);
    for (int i = 0; i < 3; i++) {
        const tarn_tensor y = tarn_add(w, tarn_number(r, 1)); /* number, broadcast, sum */
        nap(20);
        tarn_assign(w, y);
        step(r);
    }
    const tarn_metrics m = tarn_metrics_get(r);
    cr_expect_eq(m.steps, 3);
    cr_expect_eq(m.plans_compiled, 1);
    cr_expect_eq(m.plan_hits, 2);
    cr_expect(m.nodes_last_step >= 4 && m.nodes_last_step < 10, "%d", (int)m.nodes_last_step);
    cr_expect(m.record_seconds >= 0.06 && m.record_seconds < 0.06 + m.compile_seconds + 1);
    cr_expect_geq(m.device_bytes, 4000);
    cr_expect_geq(m.device_bytes_peak, m.device_bytes);

    float host[1000];
    const uint64_t peak = m.device_bytes_peak;
    cr_expect_eq(tarn_read(tarn_rand(r, TARN_SHAPE(1000)), host, sizeof host), TARN_OK);
    cr_expect_geq(tarn_metrics_get(r).device_bytes_peak, peak);
    cr_expect_gt(tarn_metrics_get(r).wait_seconds, 0);

    char text[600], cut[12];
    cr_expect_eq(tarn_metrics_report(r, text, sizeof text), TARN_OK);
    cr_expect_not_null(strstr(text, "rank 0 after 3 steps"), "%s", text);
    cr_expect_not_null(strstr(text, "2 times one was known"), "%s", text);
    cr_expect_eq(tarn_metrics_report(r, cut, sizeof cut), TARN_OK);
    cr_expect_eq(strlen(cut), sizeof cut - 1);
    cr_expect_eq(tarn_metrics_report(NULL, cut, sizeof cut), TARN_ERR_ARGUMENT);
    cr_expect_eq(tarn_metrics_report(r, NULL, 10), TARN_ERR_ARGUMENT);
    tarn_close(r);
}

/* Steps that differ in what `change` makes of their number. */
static struct heard compile_often(tarn_tensor (*change)(tarn_replica *r, tarn_tensor x, int i))
{
    struct heard h = { 0 };
    tarn_replica *r = open_device();
    const tarn_tensor w = tarn_parameter(r, "w", TARN_SHAPE(8), NULL);
    tarn_set_log(hear, &h);
    for (int i = 1; i <= 11; i++) {
        tarn_assign(w, tarn_mul(w, tarn_sum(change(r, tarn_add(w, w), i), TARN_ALL, false)));
        step(r);
        cr_expect_eq(h.reasons, i > 10, "step %d", i);
    }
    tarn_set_log(NULL, NULL);
    cr_expect_eq(tarn_metrics_get(r).plans_compiled, 11);
    tarn_close(r);
    return h;
}

static tarn_tensor other_constant(tarn_replica *r, tarn_tensor x, int i)
{
    (void)r;
    return tarn_leaky_relu(x, 0.5f / (float)i);
}

static tarn_tensor other_shape(tarn_replica *r, tarn_tensor x, int i)
{
    return tarn_add(tarn_sum(x, TARN_ALL, false), tarn_rand(r, TARN_SHAPE(i)));
}

Test(reasons, name_a_constant_that_changes)
{
    const struct heard h = compile_often(other_constant);
    cr_expect_not_null(strstr(h.last, "compilation 11, in step 11: its first "), "%s", h.last);
    cr_expect_not_null(strstr(h.last, "of compilation "), "%s", h.last);
    cr_expect_not_null(strstr(h.last, "tarn_number()"), "%s", h.last);
    cr_expect_not_null(strstr(h.last, "0.0454545"), "%s", h.last);
}

Test(reasons, name_a_shape_that_changes)
{
    const struct heard h = compile_often(other_shape);
    cr_expect_not_null(strstr(h.last, "rand float32 [11] instead of rand float32 ["), "%s", h.last);
    cr_expect_not_null(strstr(h.last, "drop_last"), "%s", h.last);
}

Test(graph_dot, draws_operations_and_names)
{
    char path[] = "/tmp/tarn-dot-XXXXXX", text[4000];
    const int made = mkstemp(path);
    cr_assert_geq(made, 0);
    close(made);
    tarn_replica *r = open_device();
    const tarn_tensor w = tarn_parameter(r, "a \"b\"", TARN_SHAPE(2, 3), NULL);
    tarn_assign(w, tarn_relu(w));
    cr_expect_eq(tarn_graph_dot(r, path), TARN_OK, "%s", tarn_error(r));
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    unlink(path);
    cr_expect_not_null(strstr(text, "owned a \\\"b\\\"\\nfloat32 [2,3]"), "%s", text);
    cr_expect_not_null(strstr(text, "relu"), "%s", text);
    cr_expect_not_null(strstr(text, "n1 -> n2;"), "%s", text);
    cr_expect_eq(text[strlen(text) - 2], '}');
    cr_expect_eq(tarn_graph_dot(r, "/nowhere/at/all.dot"), TARN_ERR_IO);
    cr_expect_not_null(strstr(tarn_error(r), "/nowhere/at"), "%s", tarn_error(r));
    tarn_close(r);
}
