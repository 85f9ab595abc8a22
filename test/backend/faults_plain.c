/* SPDX-License-Identifier: Apache-2.0 */
/* Planned failures: every allocation and launch of a training step fails once, and nothing stays
 * behind; a driver short of memory gets the pool's idle buffers back; a GEMM provider that fails is
 * left out; threads know their own last error; the folder made for PoCL goes with the process. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "tensor/replica.h"

#define FEATURES 4
#define BATCH 8
#define MOST_FAULTS 200

/* ---- a training step ------------------------------------------------------------------------ */

static tarn_status train(tarn_replica *r, const tarn_linear *layer, tarn_optimizer *o)
{
    float x[BATCH * FEATURES];
    for (int i = 0; i < BATCH * FEATURES; i++)
        x[i] = (float)(i % 7) - 3;
    const tarn_tensor in = tarn_from(r, TARN_SHAPE(BATCH, FEATURES), TARN_F32, x);
    const tarn_tensor out = tarn_linear_forward(layer, in);
    tarn_backward(tarn_mean(tarn_mul(out, out), TARN_ALL, false));
    tarn_optimizer_step(o);
    const tarn_status s = tarn_step(r);
    return s == TARN_OK ? tarn_wait(r) : s;
}

/* From the opening on, with all that a first step makes. True when nothing was left to fail. */
static bool fail_in_new(const char *device, long nth)
{
    tarn_replica *r = tarn_open(device);
    CHECK(r != NULL);
    if (r == NULL)
        return true;
    struct context *c = r->context;
    backend_fail_nth = nth;
    const tarn_linear layer = tarn_linear_make(r, "fc", FEATURES, 3);
    tarn_optimizer *o = tarn_adam(r, (tarn_adam_options){ .lr = 0.1f });
    const tarn_status s = o != NULL ? train(r, &layer, o) : tarn_error_status(r);
    const bool unused = backend_fail_nth >= 0;
    backend_fail_nth = -1;
    CHECK(unused == (s == TARN_OK));
    CHECK(unused || strstr(tarn_error(r), "planned") != NULL);
    CHECK(context_finish(c) == TARN_OK);
    tarn_close(r);
    return unused;
}

/* A step of a replica that has trained before; after it training goes on. */
static bool fail_in_step(tarn_replica *r, const tarn_linear *layer, tarn_optimizer *o, long nth,
                         const struct buffer_stats *before)
{
    backend_fail_nth = nth;
    const tarn_status s = train(r, layer, o);
    const bool unused = backend_fail_nth >= 0;
    backend_fail_nth = -1;
    CHECK(unused == (s == TARN_OK));
    CHECK(unused || s == TARN_ERR_DEVICE || s == TARN_ERR_DEVICE_MEMORY);
    CHECK(unused || strstr(tarn_error(r), "planned") != NULL);
    tarn_error_clear(r);
    const struct buffer_stats after = buffer_statistics(r->context);
    CHECK(after.live == before->live && after.live_bytes == before->live_bytes);
    CHECK(train(r, layer, o) == TARN_OK);
    return unused;
}

static void check_steps(const char *device)
{
    long nth = 0;
    while (nth < MOST_FAULTS && !fail_in_new(device, nth))
        nth++;
    printf("a first step has %ld allocations and launches\n", nth);
    CHECK(nth > 3 && nth < MOST_FAULTS);

    tarn_replica *r = tarn_open(device);
    const tarn_linear layer = tarn_linear_make(r, "fc", FEATURES, 3);
    tarn_optimizer *o = tarn_adam(r, (tarn_adam_options){ .lr = 0.1f });
    for (int i = 0; i < 3; i++)
        CHECK(train(r, &layer, o) == TARN_OK);
    const struct buffer_stats before = buffer_statistics(r->context);
    for (nth = 0; nth < MOST_FAULTS && !fail_in_step(r, &layer, o, nth, &before);)
        nth++;
    printf("a later step has %ld\n", nth);
    CHECK(nth > 0 && nth < MOST_FAULTS);
    tarn_close(r);
}

/* ---- the backend's own ---------------------------------------------------------------------- */

static void check_pool(struct context *c)
{
    struct buffer *small = NULL, *large = NULL;
    CHECK(buffer_new(c, 1000, &small) == TARN_OK);
    buffer_free(small);
    CHECK(buffer_statistics(c).pooled_bytes > 0);
    backend_refuse_nth = 0;
    CHECK(buffer_new(c, 100000, &large) == TARN_OK); /* the second try */
    CHECK(backend_refuse_nth < 0 && buffer_statistics(c).pooled_bytes == 0);
    backend_refuse_nth = 0;
    CHECK(buffer_new(c, 1000, &small) == TARN_ERR_DEVICE_MEMORY && small == NULL); /* idle: none */
    CHECK(buffer_statistics(c).live == 1);
    buffer_free(large);
    CHECK(buffer_statistics(c).live == 0);
}

static void check_shared(struct context *c)
{
    struct shared *s;
    backend_fail_nth = 0;
    CHECK(shared_new(c, 1000, &s) == TARN_ERR_DEVICE_MEMORY && s == NULL);
    CHECK(buffer_statistics(c).live == 0);
    shared_free(NULL);
}

static tarn_status run_bad(struct context *c, const struct gemm *g, void *user)
{
    (void)c;
    (void)g;
    return error_set(TARN_ERR_DEVICE, "%s does not work", (const char *)user);
}

static tarn_status run_nothing(struct context *c, const struct gemm *g, void *user)
{
    (void)c;
    (void)g;
    ++*(int *)user;
    return TARN_OK;
}

static void check_gemm(struct context *c)
{
    /* A shape that no cache knows: the providers compute nothing. */
    const size_t new = ((size_t)time(NULL) * 1000 + (size_t)getpid()) % 4000000 + 1;
    const struct gemm g = { .m = new, .n = 1, .k = 1, .batch = 1 };
    const struct gemm h = { .m = new, .n = 2, .k = 1, .batch = 1 };
    const struct gemm other = { .m = new, .n = 3, .k = 1, .batch = 1 };
    char first[] = "first", second[] = "second";
    int runs = 0, chosen = -1;
    const struct gemm_provider works = { .name = "b", .run = run_nothing, .user = &runs };
    const struct gemm_provider fails = {
        .name = "a", .run = run_bad, .user = first, .serial = true
    };
    const struct gemm_provider both[] = { fails, works };
    const struct gemm_provider bad[] = { fails, { .name = "b", .run = run_bad, .user = second } };
    CHECK(setenv("TARN_TUNE", "0", 1) == 0);
    CHECK(gemm_choose(c, &g, both, 2, false, &chosen) == TARN_OK && chosen == 1 && runs == 0);
    CHECK(setenv("TARN_TUNE", "1", 1) == 0);
    CHECK(gemm_choose(c, &g, both, 2, false, &chosen) == TARN_OK && chosen == 1 && runs > 1);
    const int measured = runs;
    CHECK(gemm_choose(c, &g, both, 2, false, &chosen) == TARN_OK && chosen == 1 &&
          runs == measured);
    CHECK(gemm_choose(c, &h, bad, 2, false, &chosen) == TARN_ERR_DEVICE);
    CHECK(strcmp(error_text(), "first does not work") == 0);
    /* With one candidate there is nothing to measure: the second one's sums are not serial. */
    CHECK(gemm_choose(c, &other, both, 2, true, &chosen) == TARN_OK && chosen == 0 &&
          runs == measured);
    CHECK(unsetenv("TARN_TUNE") == 0);
    CHECK(buffer_statistics(c).live == 0);
}

static void *other_thread(void *arg)
{
    (void)arg;
    CHECK(tarn_error_status(NULL) == TARN_OK);
    CHECK(tarn_open("no such device") == NULL);
    CHECK(tarn_error_status(NULL) == TARN_ERR_NO_DEVICE);
    return NULL;
}

static void check_last_error(void)
{
    pthread_t thread;
    error_set(TARN_ERR_SHAPE, "a line of this thread");
    CHECK(pthread_create(&thread, NULL, other_thread, NULL) == 0);
    pthread_join(thread, NULL);
    CHECK(tarn_error_status(NULL) == TARN_ERR_SHAPE);
}

/* ---- the folder for PoCL -------------------------------------------------------------------- */

/* In a process of its own: the driver is loaded with the cache off, and compiles. */
static int run_uncached(const char *device)
{
    CHECK(fail_in_new(device, MOST_FAULTS));
    CHECK(access(getenv("POCL_CACHE_DIR"), W_OK) == 0);
    printf("%s\n", getenv("POCL_CACHE_DIR"));
    return failures > 0;
}

static void check_folder(void)
{
    char self[400], command[600], folder[400] = "";
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    CHECK(length > 0);
    self[length > 0 ? length : 0] = '\0';
    snprintf(command, sizeof command, "POCL_CACHE_DIR= TARN_CACHE_DIR=off '%s' uncached", self);
    FILE *child = popen(command, "r");
    CHECK(child != NULL && fgets(folder, sizeof folder, child) != NULL && pclose(child) == 0);
    folder[strcspn(folder, "\n")] = '\0';
    CHECK(strncmp(folder, "/tmp/tarn-pocl-", 15) == 0 && access(folder, F_OK) != 0);
}

int main(int argc, char **argv)
{
    (void)argv;
    const char *device = NULL;
    struct device d;
    struct context *c;
    int count;
    if (argc > 1)
        return run_uncached(device);
    if (device_select(device, &d, 1, &count) != TARN_OK || context_open(&d, &c) != TARN_OK) {
        fprintf(stderr, "faults: %s\n", error_text());
        return 1;
    }
    check_pool(c);
    check_shared(c);
    check_gemm(c);
    context_close(c);
    check_last_error();
    check_steps(device);
    check_folder();
    printf("faults: %d failures\n", failures);
    return failures > 0;
}
