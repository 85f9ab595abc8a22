/* SPDX-License-Identifier: Apache-2.0 */
/* Each of Tarn's own calls for memory, threads and files fails in turn: a small training run ends
 * with an error, or right to the bit; the checkpoint is the old one or the right one; nothing
 * stays open. All memory that is handed to Tarn lies between pages that no one may touch. */
#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tarn.h>

#include "check.h"
#include "layer.h"

#define SKIPPED 77
enum { SAMPLES = 10, IN = 3, OUT = 2, BATCH = 5, FILE_MOST = 1 << 16 };

static fault_plan_function *plan;
static fault_calls_function *calls;

static char folder[] = "/tmp/tarn-host-smoke-XXXXXX";
static char start[100], save[100];
static unsigned char file[FILE_MOST];

/* ---- memory between pages that no one may touch --------------------------------------------- */

struct guarded {
    unsigned char *map;
    size_t bytes;
    void *at;
};

/* At the end of its pages, or at their beginning. */
static struct guarded guard(size_t bytes, bool at_end)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t inner = (bytes + page - 1) / page * page;
    struct guarded g = { .bytes = inner + 2 * page };
    g.map = mmap(NULL, g.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(g.map != MAP_FAILED && mprotect(g.map + page, inner, PROT_READ | PROT_WRITE) == 0);
    g.at = g.map + page + (at_end ? inner - bytes : 0);
    return g;
}

static struct guarded guard_copy(const void *from, size_t bytes, bool at_end)
{
    const struct guarded g = guard(bytes, at_end);
    memcpy(g.at, from, bytes);
    return g;
}

static void unguard(struct guarded g)
{
    munmap(g.map, g.bytes);
}

/* ---- the run -------------------------------------------------------------------------------- */

struct result {
    tarn_status status;
    char line[1100];
    float weights[OUT * IN];
};

static void steps(tarn_replica *r, tarn_loader *l, const tarn_linear *layer, tarn_optimizer *o,
                  const float *scale)
{
    tarn_batch b;
    while (tarn_loader_next(l, &b)) {
        const tarn_tensor x = tarn_mul(b.x, tarn_from(r, TARN_SHAPE(IN), TARN_F32, scale));
        tarn_backward(tarn_nll_loss(tarn_log_softmax(tarn_linear_forward(layer, x), 1), b.y));
        tarn_optimizer_step(o);
        if (tarn_step(r) != TARN_OK)
            return;
    }
}

static void train(tarn_replica *r, const tarn_dataset *d, const float *scale, const char *load,
                  struct guarded weights)
{
    const tarn_linear layer = tarn_linear_make(r, "layer", IN, OUT);
    tarn_optimizer *o = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.5f, .momentum = 0.5f });
    if (load != NULL)
        (void)!tarn_load(r, load, NULL);
    tarn_loader *l =
        tarn_loader_open(r, d, (tarn_loader_options){ .batch = BATCH, .shuffle = true, .seed = 3 });
    if (l != NULL) {
        steps(r, l, &layer, o, scale);
        (void)!tarn_save(r, save, (tarn_progress){ 0 });
        (void)!tarn_read(tarn_find(r, "layer.weight"), weights.at, OUT * IN * sizeof(float));
    }
    tarn_loader_close(l);
}

static struct result run(const char *load, bool at_end)
{
    static const float scale[IN] = { 0.5f, 2, 1 };
    struct result out = { .status = TARN_OK };
    unsigned char images[SAMPLES * IN], labels[SAMPLES];
    for (int i = 0; i < SAMPLES * IN; i++)
        images[i] = (unsigned char)(i * 41);
    for (int i = 0; i < SAMPLES; i++)
        labels[i] = (unsigned char)(i * i % OUT);
    const struct guarded g[] = { guard_copy(images, sizeof images, at_end),
                                 guard_copy(labels, sizeof labels, at_end),
                                 guard_copy(scale, sizeof scale, at_end),
                                 guard(sizeof out.weights, at_end) };
    tarn_dataset *d = tarn_dataset_from((tarn_arrays){
        .inputs = { { .data = g[0].at, .dtype = TARN_U8, .shape = TARN_SHAPE(SAMPLES, IN) } },
        .targets = { { .data = g[1].at,
                       .dtype = TARN_U8,
                       .shape = TARN_SHAPE(SAMPLES),
                       .classes = OUT } } });
    tarn_replica *r = d != NULL ? tarn_open(NULL) : NULL;
    if (r != NULL)
        train(r, d, g[2].at, load, g[3]);
    out.status = tarn_error_status(r);
    snprintf(out.line, sizeof out.line, "%s", tarn_error(r));
    tarn_close(r);
    tarn_dataset_close(d);
    memcpy(out.weights, g[3].at, sizeof out.weights);
    for (int i = 0; i < 4; i++)
        unguard(g[i]);
    return out;
}

/* ---- what is left --------------------------------------------------------------------------- */

static size_t read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    const size_t bytes = f != NULL ? fread(file, 1, sizeof file, f) : 0;
    if (f != NULL)
        fclose(f);
    return bytes;
}

static void write_file(const char *path, const void *data, size_t bytes)
{
    FILE *f = fopen(path, "wb");
    CHECK(f != NULL && fwrite(data, 1, bytes, f) == bytes && fclose(f) == 0);
}

static int count_names(const char *path)
{
    int count = 0;
    DIR *all = opendir(path);
    CHECK(all != NULL);
    while (readdir(all) != NULL)
        count++;
    closedir(all);
    return count;
}

struct expected {
    struct result result;
    unsigned char bytes[FILE_MOST];
    size_t size;
    int open; /* descriptors */
};

static bool is_right(const struct result *got, const struct expected *e)
{
    const size_t bytes = read_file(save);
    const bool new = bytes == e->size &&memcmp(file, e->bytes, bytes) == 0;
    const bool old = bytes == 3 && memcmp(file, "old", 3) == 0;
    const bool same = memcmp(got->weights, e->result.weights, sizeof got->weights) == 0;
    const bool kind = got->status < 200 || got->status >= 300; /* which are a caller's mistakes */
    return count_names(folder) == 4 && count_names("/proc/self/fd") == e->open &&
           (got->status == TARN_OK ? new &&same : (new || old) && kind && * got->line != '\0');
}

static void check_each(const char *action, const char *group, const char *value,
                       const struct expected *e)
{
    char text[100];
    snprintf(text, sizeof text, "none:%s:0", group);
    CHECK(plan(text) == 0 && run(start, true).status == TARN_OK);
    const long count = calls();
    int failed = 0, bad = 0;
    CHECK(count > 0);
    for (long n = 0; n < count; n++) {
        write_file(save, "old", 3);
        snprintf(text, sizeof text, "%s:%s:%ld%s", action, group, n, value);
        CHECK(plan(text) == 0);
        const struct result got = run(start, n % 2);
        CHECK(plan("none") == 0);
        failed += got.status != TARN_OK;
        if (is_right(&got, e))
            continue;
        bad++;
        fprintf(stderr, "FAILED: TARN_FAULT=%s: %s: %s\n", text, tarn_status_name(got.status),
                got.line);
    }
    printf("%s %s%s: %ld calls, %d runs failed, %d not as they must\n", action, group, value, count,
           failed, bad);
    failures += bad;
}

int main(void)
{
    static struct expected e;
    *(void **)&plan = dlsym(RTLD_DEFAULT, "fault_plan");
    *(void **)&calls = dlsym(RTLD_DEFAULT, "fault_calls");
    if (plan == NULL || calls == NULL) {
        printf("skipped: not under LD_PRELOAD=fault_shim.so\n");
        return SKIPPED;
    }
    CHECK(mkdtemp(folder) != NULL);
    snprintf(start, sizeof start, "%s/start", folder);
    snprintf(save, sizeof save, "%s/save", folder);
    CHECK(run(NULL, true).status == TARN_OK && rename(save, start) == 0);
    e.result = run(start, false);
    CHECK(e.result.status == TARN_OK);
    e.size = read_file(save);
    memcpy(e.bytes, file, e.size);
    e.open = count_names("/proc/self/fd");
    check_each("fail", "threads", "", &e);
    check_each("fail", "files", "", &e);
    check_each("short", "transfers", "", &e);
    check_each("fail", "transfers", ":4", &e); /* EINTR */
    check_each("fail", "memory", "", &e);
    write_file(save, "old", 3);
    const struct result last = run(start, true);
    CHECK(last.status == TARN_OK && is_right(&last, &e));
    unlink(start);
    unlink(save);
    rmdir(folder);
    return failures > 0;
}
