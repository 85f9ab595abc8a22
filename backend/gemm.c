/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products: CLBlast as a provider, and the choice between providers. */
#include "opencl.h" /* first: it says which OpenCL */

#include <clblast_c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "env.h"
#include "hash_table.h"

#define RUNS 3    /* of each provider, after one that may compile */
#define TURNS 9   /* of the fastest and the one that would be taken unmeasured */
#define GAIN 0.97 /* of the other's time that is taken for faster, and not for chance */

/* CLBlast before 1.6.1 shares its caches between threads without care. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool clblast_used;

tarn_status gemm_nothing(const struct gemm *g)
{
    return buffer_fill_zero(g->c, g->c_offset * sizeof(float),
                            g->batch * g->m * g->n * sizeof(float));
}

static tarn_status run_clblast(struct context *c, const struct gemm *g, void *user)
{
    (void)user;
    if (g->m == 0 || g->n == 0 || g->batch == 0)
        return TARN_OK;
    if (g->k == 0)
        return gemm_nothing(g);
    if (g->a_words != GEMM_FLOAT32 || g->b_words != GEMM_FLOAT32)
        return error_set(TARN_ERR_INTERNAL, "CLBlast gemm %zux%zux%zu: operands of 16 bits", g->m,
                         g->n, g->k);
    cl_event event = NULL;
    pthread_mutex_lock(&lock);
    clblast_used = true;
    const CLBlastStatusCode code = CLBlastSgemmStridedBatched(
        CLBlastLayoutRowMajor, g->transpose_a ? CLBlastTransposeYes : CLBlastTransposeNo,
        g->transpose_b ? CLBlastTransposeYes : CLBlastTransposeNo, g->m, g->n, g->k, 1.0f,
        g->a->memory, g->a_offset, g->transpose_a ? g->m : g->k, g->a_stride, g->b->memory,
        g->b_offset, g->transpose_b ? g->k : g->n, g->b_stride, 0.0f, g->c->memory, g->c_offset,
        g->n, g->c_stride, g->batch, &c->compute, &event);
    pthread_mutex_unlock(&lock);
    if (code != CLBlastSuccess)
        return error_set(code == CLBlastOpenCLOutOfResources || code == CLBlastOpenCLOutOfHostMemory
                             ? TARN_ERR_DEVICE_MEMORY
                             : TARN_ERR_DEVICE,
                         "CLBlast gemm %zux%zux%zu on device \"%s\": status %d", g->m, g->n, g->k,
                         c->label, (int)code);
    c->counters.launches++;
    return event_track(c, event, "CLBlast gemm");
}

const struct gemm_provider gemm_clblast = { .name = "clblast", .run = run_clblast };

void gemm_release(void)
{
    pthread_mutex_lock(&lock);
    if (clblast_used)
        CLBlastClearCache(); /* its destructor at exit may find the driver gone */
    clblast_used = false;
    pthread_mutex_unlock(&lock);
}

/* ---- choosing ------------------------------------------------------------------------------- */

struct choice {
    char key[256];
    char provider[32];
    UT_hash_handle hh;
};
static struct choice *choices; /* for the life of the process; guarded by `lock` */

struct provider_run {
    const struct gemm *g;
    const struct gemm_provider *by;
};

static tarn_status run_provider(struct context *c, void *user)
{
    const struct provider_run *r = user;
    return r->by->run(c, r->g, r->by->user);
}

static tarn_status run_once(struct context *c, const struct gemm *g, const struct gemm_provider *p,
                            double *seconds)
{
    struct provider_run run = { g, p };
    return time_once(c, &(struct timed){ run_provider, &run }, seconds);
}

/* The median: the minimum would choose a provider that is fast once in a while. */
static tarn_status measure(struct context *c, const struct gemm *g, const struct gemm_provider *p,
                           double *seconds)
{
    double took[RUNS];
    TRY(run_once(c, g, p, seconds));
    for (int i = 0; i < RUNS; i++)
        TRY(run_once(c, g, p, &took[i]));
    *seconds = median_of(took, RUNS);
    return TARN_OK;
}

/* Whether `best` is faster than `other` when they run in turns. */
static tarn_status confirm(struct context *c, const struct gemm *g,
                           const struct gemm_provider *best, const struct gemm_provider *other,
                           bool *faster)
{
    struct provider_run a = { g, best }, b = { g, other };
    double ratio;
    TRY(time_ratio(c, &(struct timed){ run_provider, &a }, &(struct timed){ run_provider, &b },
                   TURNS, &ratio));
    *faster = ratio < GAIN;
    return TARN_OK;
}

static bool candidate(const struct gemm_provider *p, bool serial)
{
    return !p->refused && (p->serial || !serial);
}

/* The fastest of those that work, the guess if it is about as fast; the first failure when none
 * does. */
static tarn_status fastest(struct context *c, const struct gemm *g,
                           const struct gemm_provider *providers, int count, bool serial, int *out)
{
    char line[512] = "gemm: no provider";
    tarn_status first = TARN_OK;
    const int guess = *out;
    double best = 0;
    bool guess_works = false, faster = true;
    *out = -1;
    for (int i = 0; i < count; i++) {
        double seconds = 0;
        if (!candidate(&providers[i], serial))
            continue;
        const tarn_status status = measure(c, g, &providers[i], &seconds);
        if (status == TARN_ERR_TIMEOUT)
            return status; /* the device is lost to the others, too */
        if (status != TARN_OK && first == TARN_OK) {
            first = status;
            snprintf(line, sizeof line, "%s", error_text());
        }
        if (status == TARN_OK && (*out < 0 || seconds < best)) {
            best = seconds;
            *out = i;
        }
        guess_works = guess_works || (status == TARN_OK && i == guess);
    }
    if (*out < 0)
        return error_set(first != TARN_OK ? first : TARN_ERR_INTERNAL, "%s", line);
    if (guess_works && *out != guess)
        TRY(confirm(c, g, &providers[*out], &providers[guess], &faster));
    *out = faster ? *out : guess;
    return TARN_OK;
}

/* On buffers of its own, since there may be no data yet. `*out` is the guess before. */
static tarn_status measure_all(struct context *c, const struct gemm *shape,
                               const struct gemm_provider *providers, int count, bool serial,
                               int *out)
{
    struct gemm g = *shape;
    struct buffer **const at[] = { &g.a, &g.b, &g.c };
    const size_t elements[] = { g.m * g.k, g.k * g.n, g.m * g.n };
    tarn_status status = TARN_OK;
    g.a = g.b = g.c = NULL;
    g.a_offset = g.b_offset = g.c_offset = 0;
    for (int i = 0; i < 3 && status == TARN_OK; i++) {
        const size_t bytes = g.batch * elements[i] * sizeof(float);
        status = buffer_new(c, bytes, at[i]);
        if (status == TARN_OK && i < 2)
            status = buffer_fill_zero(*at[i], 0, bytes);
    }
    if (status == TARN_OK)
        status = fastest(c, &g, providers, count, serial, out);
    for (int i = 0; i < 3; i++)
        buffer_free(*at[i]);
    return status;
}

static int by_name(const struct gemm_provider *providers, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(providers[i].name, name) == 0)
            return i;
    return -1;
}

static int remembered(const char *key, const struct gemm_provider *providers, int count)
{
    struct choice *found;
    char text[32];
    pthread_mutex_lock(&lock);
    HASH_FIND_STR(choices, key, found);
    const int known = found != NULL ? by_name(providers, count, found->provider) : -1;
    pthread_mutex_unlock(&lock);
    if (known >= 0)
        return known;
    return cache_load_text(key, text, sizeof text) ? by_name(providers, count, text) : -1;
}

/* The first choice counts, so that replicas that measured at once agree; it is returned. */
static int remember(const char *key, const struct gemm_provider *providers, int count, int chosen)
{
    struct choice *new = calloc(1, sizeof *new), *found;
    if (new == NULL)
        return chosen;
    snprintf(new->key, sizeof new->key, "%s", key);
    snprintf(new->provider, sizeof new->provider, "%s", providers[chosen].name);
    pthread_mutex_lock(&lock);
    HASH_FIND_STR(choices, key, found);
    if (found == NULL)
        HASH_ADD_STR(choices, key, new);
    if (new->hh.tbl == NULL)
        free(new);
    const int kept = found != NULL ? by_name(providers, count, found->provider) : chosen;
    pthread_mutex_unlock(&lock);
    return kept >= 0 ? kept : chosen;
}

tarn_status gemm_check(void)
{
    static const char *const words[] = { "auto", "nest", "tarn", "clblast" };
    const char *name = env_text(ENV_GEMM);
    for (int i = 0; i < 4; i++)
        if (strcmp(name, words[i]) == 0)
            return TARN_OK;
    return error_set(TARN_ERR_ENVIRONMENT,
                     "TARN_GEMM=%s: no such provider; there are auto, nest, tarn, clblast", name);
}

/* TARN_GEMM names the provider: also one that would not be offered here. */
static tarn_status forced(const char *name, const struct gemm_provider *providers, int count,
                          bool serial, int *out)
{
    *out = by_name(providers, count, name);
    if (*out < 0)
        return error_set(TARN_ERR_ENVIRONMENT,
                         "TARN_GEMM=%s: no such provider; there are auto, nest, tarn, clblast",
                         name);
    if (serial && !providers[*out].serial)
        *out = 0;
    return TARN_OK;
}

tarn_status gemm_choose(struct context *c, const struct gemm *g,
                        const struct gemm_provider *providers, int count, bool serial, int *out)
{
    char key[256];
    const char *name = env_text(ENV_GEMM);
    int candidates = 0, guess = 0;
    if (strcmp(name, "auto") != 0)
        return forced(name, providers, count, serial, out);
    for (int i = 0; i < count; i++)
        if (candidate(&providers[i], serial)) {
            candidates++;
            if (!providers[i].unlikely)
                guess = i;
        }
    *out = guess;
    if (candidates < 2)
        return TARN_OK;
    snprintf(key, sizeof key, "gemm 5 %zu %zu %zu %zu %d%d%d|%s|%s|%u", g->m, g->n, g->k, g->batch,
             g->transpose_a, g->transpose_b, serial, c->device.name, c->device.driver,
             c->device.compute_units);
    *out = remembered(key, providers, count);
    if (*out >= 0)
        return TARN_OK;
    *out = guess;
    if (!tuning_wanted(c))
        return TARN_OK;
    const double start = seconds_now();
    TRY(measure_all(c, g, providers, count, serial, out));
    *out = remember(key, providers, count, *out);
    cache_store_text(key, providers[*out].name, seconds_now() - start);
    return TARN_OK;
}
