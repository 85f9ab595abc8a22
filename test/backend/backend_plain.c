/* SPDX-License-Identifier: Apache-2.0 */
/* The backend alone, on whatever device there is: devices, launches, errors, cache, GEMM, uploads.
 * Runs itself a second time to see what the disk cache carries from process to process. */
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backend.h"
#include "progress.h"
#include "check.h"

#define COUNT 1000
#define LOCAL 64

extern char **environ;
static const char source[] = "__kernel void scale(__global float *x, float by, uint n)\n"
                             "{\n"
                             "    const uint i = get_global_id(0);\n"
                             "    if (i < n)\n"
                             "        x[i] *= by;\n"
                             "}\n";

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void check_devices(void)
{
    const struct device *list;
    struct device chosen[8];
    int count = 0, selected = 0;
    CHECK(device_list(&list, &count) == TARN_OK && count > 0);
    for (int i = 0; i < count; i++)
        printf("device %d: %s, %s, %u units\n", list[i].number, list[i].name, list[i].platform,
               list[i].compute_units);
    CHECK(device_select("0", chosen, 8, &selected) == TARN_OK && selected == 1);
    static const char *const wrong[] = { "99", "-1", "cpu:2/2", "cpu:0/0", "0:0/9999", "no such" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK(device_select(wrong[i], chosen, 8, &selected) != TARN_OK);
        CHECK(strstr(error_text(), list[0].name) != NULL); /* it says what there is */
        CHECK(strchr(error_text(), '\n') == NULL);
    }
}

static void check_launch(struct context *c)
{
    float x[COUNT];
    struct buffer *b;
    struct built_program *p;
    struct kernel *k;
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)i;
    const double start = now();
    CHECK(program_build(c, source, "smoke", &p) == TARN_OK);
    CHECK(buffer_new(c, sizeof x, &b) == TARN_OK);
    if (failures > 0)
        exit(1);
    CHECK(kernel_new(p, "no_such_kernel", &k) != TARN_OK);
    CHECK(kernel_new(p, "scale", &k) == TARN_OK);
    const double built = now();
    const struct kernel_arg args[] = { { .buffer = b },
                                       { .size = sizeof(float), .value.f32 = 3.0f },
                                       { .size = sizeof(uint32_t), .value.u32 = COUNT } };
    CHECK(buffer_write(b, 0, x, sizeof x) == TARN_OK);
    CHECK(kernel_launch(k, args, 3, (COUNT + LOCAL - 1) / LOCAL, LOCAL) == TARN_OK);
    CHECK(kernel_launch(k, args, 3, 0, LOCAL) == TARN_OK);
    CHECK(buffer_read(b, 0, x, sizeof x) == TARN_OK);
    printf("program: build %.1f ms, first launch and read %.1f ms\n", (built - start) * 1e3,
           (now() - built) * 1e3);
    for (int i = 0; i < COUNT; i++)
        CHECK(x[i] == 3.0f * (float)i);
    CHECK(buffer_fill_zero(b, 0, sizeof x) == TARN_OK);
    CHECK(buffer_read(b, 0, x, sizeof x) == TARN_OK && x[0] == 0 && x[COUNT - 1] == 0);
    const struct backend_counters n = context_counters(c);
    printf("builds %d, from the disk cache %d\n", (int)n.builds, (int)n.cache_hits);
    CHECK(n.builds + n.cache_hits == 1 && n.launches == 1);
    kernel_free(k);
    program_free(p);
    buffer_free(b);
    CHECK(buffer_statistics(c).live == 0);
}

/* The source that did not build was saved, as the error says. */
static void remove_saved(void)
{
    const char *saved = strstr(error_text(), "saved as ");
    CHECK(saved != NULL);
    if (saved != NULL) {
        CHECK(access(saved + strlen("saved as "), R_OK) == 0);
        unlink(saved + strlen("saved as "));
    }
}

/* Equal texts are one kernel, built once; what failed leaves nothing behind. */
static void check_kernels(struct context *c)
{
    static const char *const head[2] = { "/* unique to this test */\n", "#define TWO 2\n" };
    const struct kernel_text a = {
        .function = "ka", .text = "__kernel void ka(__global float *x)\n{\n    x[0] = TWO;\n}\n"
    };
    const struct kernel_text b = {
        .function = "kb", .text = "__kernel void kb(__global float *x)\n{\n    x[0] = 3;\n}\n"
    };
    const struct kernel_text bad = {
        .function = "kc", .text = "__kernel void kc(__global float *x)\n{\n    x[0] = none;\n}\n"
    };
    const struct kernel_text first[3] = { a, b, a }, second[2] = { b, bad }, third[1] = { b };
    struct kernel *k[3], *l[2];
    const struct backend_counters before = context_counters(c);
    CHECK(kernels_take(c, head, first, 3, "first", k) == TARN_OK);
    CHECK(k[0] == k[2] && k[0] != k[1]);
    CHECK(kernels_take(c, head, second, 2, "second", l) == TARN_ERR_BUILD);
    CHECK(strstr(error_text(), "none") != NULL);
    remove_saved();
    CHECK(kernels_take(c, head, third, 1, "third", l) == TARN_OK && l[0] == k[1]);
    const struct backend_counters after = context_counters(c);
    CHECK(after.builds + after.cache_hits == before.builds + before.cache_hits + 1);
    float x = 0;
    struct buffer *buffer;
    CHECK(buffer_new(c, sizeof x, &buffer) == TARN_OK);
    for (int i = 0; i < 3; i++)
        kernel_free(k[i]); /* b has another user */
    const struct kernel_arg arg = { .buffer = buffer };
    CHECK(kernel_launch(l[0], &arg, 1, 1, 1) == TARN_OK);
    CHECK(buffer_read(buffer, 0, &x, sizeof x) == TARN_OK && x == 3);
    kernel_free(l[0]);
    buffer_free(buffer);
}

/* With skip no group has anything to do; the kernel is the same afterwards, and no launch is counted. */
static void check_idle(struct context *c)
{
    static const char *const head[2] = { "/* idle */\n", "" };
    float x = 1;
    struct buffer *buffer;
    struct kernel *k;
    CHECK(buffer_new(c, sizeof x, &buffer) == TARN_OK);
    CHECK(buffer_write(buffer, 0, &x, sizeof x) == TARN_OK);
    struct kernel_arg args[2] = { { .buffer = buffer }, { .size = 4, .value.i32 = 1 << 30 } };
    const struct kernel_text text = {
        .function = "ki",
        .text = "__kernel void ki(__global float *x, int skip)\n{\n"
                "    if (get_group_id(0) + skip < 1)\n        x[0] = 5;\n}\n",
        .idle = { .args = args, .count = 2, .groups = 1, .local = 1 }
    };
    const uint64_t launches = context_counters(c).launches;
    CHECK(kernels_take(c, head, &text, 1, "idle", &k) == TARN_OK);
    CHECK(buffer_read(buffer, 0, &x, sizeof x) == TARN_OK && x == 1);
    CHECK(context_counters(c).launches == launches);
    args[1].value.i32 = 0;
    CHECK(kernel_launch(k, args, 2, 1, 1) == TARN_OK);
    CHECK(buffer_read(buffer, 0, &x, sizeof x) == TARN_OK && x == 5);
    kernel_free(k);
    buffer_free(buffer);
}

/* What is written to the standard error stream when 12 of 41 kernels are done after so many seconds. */
static void told_after(double seconds, const char *how, char *line, size_t capacity)
{
    FILE *file = tmpfile();
    const int before = dup(STDERR_FILENO);
    CHECK(file != NULL && before >= 0 && setenv("TARN_PROGRESS", how, 1) == 0);
    fflush(stderr);
    CHECK(dup2(fileno(file), STDERR_FILENO) >= 0);
    struct progress p = progress_begin();
    p.begin -= seconds;
    progress_tell(&p, 11, 41);
    progress_tell(&p, 12, 41); /* soon after */
    progress_end(&p);
    CHECK(dup2(before, STDERR_FILENO) >= 0);
    rewind(file);
    line[fread(line, 1, capacity - 1, file)] = '\0';
    fclose(file);
    close(before);
    unsetenv("TARN_PROGRESS");
}

static void check_progress(void)
{
    char line[256];
    told_after(3, "1", line, sizeof line);
    CHECK(strncmp(line, "tarn: compiling 12 of 41 kernels", 32) == 0);
    CHECK(strchr(line, '\n') == line + strlen(line) - 1);
    told_after(1, "1", line, sizeof line);
    CHECK(line[0] == '\0');
    told_after(3, "0", line, sizeof line);
    CHECK(line[0] == '\0');
    told_after(3, "auto", line, sizeof line); /* a file is no terminal */
    CHECK(line[0] == '\0');
}

static void check_wrong_source(struct context *c)
{
    struct built_program *p;
    CHECK(program_build(c, "__kernel void f(__global float *x)\n{\n    x[0] = nonsense;\n}\n",
                        "wrong", &p) == TARN_ERR_BUILD);
    CHECK(p == NULL && strstr(error_text(), "nonsense") != NULL);
    /* The line of our source, as the backend or the driver's own log writes it. */
    CHECK(strstr(error_text(), "line 3:") != NULL || strstr(error_text(), ":3:") != NULL);
    remove_saved();
}

static float *fill(size_t count, unsigned seed)
{
    float *x = malloc(count * sizeof *x);
    for (size_t i = 0; x != NULL && i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)(seed >> 16) / 65536.0f - 0.5f;
    }
    return x;
}

static void check_gemm(struct context *c, bool transpose_a, bool transpose_b)
{
    const size_t m = 33, n = 17, k = 29, batch = 2;
    float *a = fill(batch * m * k, 1), *b = fill(k * n, 2), *out = fill(batch * m * n, 3);
    struct gemm g = { .m = m,
                      .n = n,
                      .k = k,
                      .batch = batch,
                      .transpose_a = transpose_a,
                      .transpose_b = transpose_b,
                      .a_stride = m * k,
                      .c_stride = m * n };
    CHECK(buffer_new(c, batch * m * k * sizeof *a, &g.a) == TARN_OK);
    CHECK(buffer_new(c, k * n * sizeof *b, &g.b) == TARN_OK);
    CHECK(buffer_new(c, batch * m * n * sizeof *out, &g.c) == TARN_OK);
    CHECK(buffer_write(g.a, 0, a, batch * m * k * sizeof *a) == TARN_OK);
    CHECK(buffer_write(g.b, 0, b, k * n * sizeof *b) == TARN_OK);
    CHECK(gemm_clblast.run(c, &g, gemm_clblast.user) == TARN_OK);
    CHECK(buffer_read(g.c, 0, out, batch * m * n * sizeof *out) == TARN_OK);
    double worst = 0;
    for (size_t s = 0; s < batch; s++)
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < n; j++) {
                double sum = 0;
                for (size_t q = 0; q < k; q++)
                    sum += (double)a[s * m * k + (transpose_a ? q * m + i : i * k + q)] *
                           (double)b[transpose_b ? j * k + q : q * n + j];
                worst = fmax(worst, fabs(sum - (double)out[s * m * n + i * n + j]));
            }
    CHECK(worst < 1e-5);
    buffer_free(g.a);
    buffer_free(g.b);
    buffer_free(g.c);
    free(a);
    free(b);
    free(out);
}

static void check_upload(struct context *c)
{
    int32_t sent[256], got[256];
    struct upload *u;
    CHECK(upload_new(c, sizeof sent, &u) == TARN_OK);
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 256; i++)
            sent[i] = round * 1000 + i;
        CHECK(upload_put(u, sent, sizeof sent) == TARN_OK);
        CHECK(buffer_read(upload_buffer(u), 0, got, sizeof got) == TARN_OK);
        CHECK(upload_release(u) == TARN_OK);
        CHECK(memcmp(sent, got, sizeof sent) == 0);
    }
    upload_free(u);
}

static void run_again(const char *self)
{
    char *const arguments[] = { (char *)self, "again", NULL };
    pid_t child;
    int status = -1;
    CHECK(posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ) == 0);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(int argc, char **argv)
{
    const bool again = argc > 1 && strcmp(argv[1], "again") == 0;
    struct device device;
    struct context *c;
    int count;
    char text[32];
    check_devices();
    CHECK(device_select(NULL, &device, 1, &count) == TARN_OK);
    device.keeps_code = false; /* so that Tarn's own cache is seen */
    if (failures > 0 || context_open(&device, &c) != TARN_OK) {
        fprintf(stderr, "smoke: %s\n", error_text());
        return 1;
    }
    check_launch(c);
    if (again) {
        CHECK(context_counters(c).cache_hits == 1);
        CHECK(cache_load_text("smoke record", text, sizeof text) && strcmp(text, "kept") == 0);
    } else {
        check_kernels(c);
        check_idle(c);
        check_progress();
        check_wrong_source(c);
        for (int t = 0; t < 4; t++)
            check_gemm(c, (t & 1) != 0, (t & 2) != 0);
        check_upload(c);
        cache_store_text("smoke record", "kept", 0);
    }
    CHECK(buffer_statistics(c).live == 0);
    context_close(c);
    if (!again)
        run_again(argv[0]);
    printf("smoke%s: %d failures\n", again ? " again" : "", failures);
    return failures > 0;
}
