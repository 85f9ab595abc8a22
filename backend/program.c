/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: built under a lock, or taken from the disk cache; and launches of their kernels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "clock.h"
#include "compilers.h"
#include "deep.h"
#include "env.h"
#include "opencl.h"

#define OPTIONS "-cl-std=CL1.2 -w" /* -w: drivers print warnings to stderr */
#define ROUNDED " -cl-fp32-correctly-rounded-divide-sqrt"
#define QUICK " -cl-opt-disable"
#define TRIES 3

struct built_program {
    struct context *context;
    cl_program program;
    const char *options;
    char key[768];
    double seconds;      /* that the build took */
    bool launched, keep; /* kept on disk once it has been launched */
    bool refused;        /* the driver did not take the binary that is kept */
    struct built_program *next;
};

/* Without being asked some compilers make approximations of quotients and square roots, and others where an operand is
 * known to them: then fused kernels have other bits. */
static const char *build_options(const struct device *d, bool quick)
{
    if (d->rounds_quotients)
        return quick ? OPTIONS ROUNDED QUICK : OPTIONS ROUNDED;
    return quick ? OPTIONS QUICK : OPTIONS;
}

static pthread_mutex_t build_lock = PTHREAD_MUTEX_INITIALIZER;

static void make_key(const struct device *d, const char *source, const char *options, char *key,
                     size_t capacity)
{
    const XXH128_hash_t h = XXH3_128bits(source, strlen(source));
    snprintf(key, capacity, "%s %016llx%016llx %zu|%s|%s|%s|%s|%s|%d/%d",
             d->keeps_code ? "bitcode 2" : "program 1", (unsigned long long)h.high64,
             (unsigned long long)h.low64, strlen(source), options, d->name, d->vendor, d->driver,
             d->platform, d->parts, (int)d->compute_units);
}

/* ---- building ------------------------------------------------------------------------------- */

static bool from_binary(struct built_program *p, const unsigned char *binary, size_t bytes)
{
    const struct context *c = p->context;
    cl_int status = CL_SUCCESS, code = CL_SUCCESS;
    p->program = clCreateProgramWithBinary(c->context, 1, &c->id, &bytes, &binary, &status, &code);
    if (code == CL_SUCCESS && status == CL_SUCCESS)
        code = clBuildProgram(p->program, 1, &c->id, p->options, NULL, NULL);
    if (code == CL_SUCCESS && status == CL_SUCCESS)
        return true;
    if (p->program != NULL)
        clReleaseProgram(p->program);
    p->program = NULL;
    return false;
}

static bool from_cache(struct built_program *p)
{
    size_t bytes = 0;
    unsigned char *binary = cache_load(p->key, &bytes);
    if (binary == NULL)
        return false;
    const bool taken = from_binary(p, binary, bytes);
    free(binary);
    if (taken)
        p->context->counters.cache_hits++;
    else
        p->refused = true;
    return taken;
}

static char *build_log(const struct built_program *p)
{
    size_t bytes = 0;
    const cl_device_id id = p->context->id;
    if (clGetProgramBuildInfo(p->program, id, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) != CL_SUCCESS)
        return NULL;
    char *log = malloc(bytes + 1);
    if (log != NULL && clGetProgramBuildInfo(p->program, id, CL_PROGRAM_BUILD_LOG, bytes, log,
                                             NULL) != CL_SUCCESS) {
        free(log);
        return NULL;
    }
    if (log != NULL)
        log[bytes] = '\0';
    return log;
}

/* The part of a log that says why: from the first "error" on, else its first line with text. */
static const char *first_cause(const char *log)
{
    const char *error = log != NULL ? strstr(log, "error") : NULL;
    const char *text = log != NULL ? log + strspn(log, " \t\r\n") : "";
    if (error != NULL)
        return error;
    return *text != '\0' ? text : "the driver's compiler says nothing";
}

static tarn_status build_failed(const struct built_program *p, const char *source,
                                const char *label, cl_int code)
{
    char path[512];
    char *log = build_log(p);
    failed_save(source, path, sizeof path);
    const char *line = first_cause(log);
    const char *found = log != NULL ? strstr(log, "error") : NULL;
    /* "FILE:LINE:COLUMN: error: ..." with a temporary name of the driver: keep from the line on. */
    char where[32] = "";
    if (found != NULL) {
        const char *start = found;
        while (start > log && start[-1] != '\n')
            start--;
        const char *colon = strchr(start, ':');
        if (colon != NULL && colon < line)
            snprintf(where, sizeof where, " line %ld:", strtol(colon + 1, NULL, 10));
    }
    const int span = (int)strcspn(line, "\n");
    const tarn_status status =
        error_set(TARN_ERR_BUILD,
                  "%s: OpenCL build failed on device \"%s\" (%s %d):%s %.*s; source saved as %s",
                  label, p->context->label, cl_error_name(code), code, where, span, line, path);
    free(log);
    return status;
}

/* Of a driver that keeps compiled kernels itself this cache has what it finds them by. */
static bool from_bitcode(struct built_program *p, const char *source)
{
    struct context *c = p->context;
    const double start = seconds_now();
    size_t bytes = 0;
    if (!c->device.is_pocl || !c->device.keeps_code || c->no_bitcode)
        return false;
    unsigned char *code = c->no_declared ? NULL : bitcode_of(c, source, p->options, true, &bytes);
    if (code == NULL) {
        code = bitcode_of(c, source, p->options, false, &bytes);
        c->no_declared = code != NULL;
    }
    const bool taken = code != NULL && from_binary(p, code, bytes);
    if (taken)
        cache_store(p->key, code, bytes, seconds_now() - start);
    free(code);
    return taken;
}

static tarn_status from_source(struct built_program *p, const char *source, const char *label)
{
    struct context *c = p->context;
    cl_int code = CL_SUCCESS;
    /* Drivers with a shared cache of their own fail now and then when processes build at once. */
    for (int try = 0; try < TRIES; try++) {
        p->program = clCreateProgramWithSource(c->context, 1, &source, NULL, &code);
        if (code != CL_SUCCESS)
            return cl_failed(c, "clCreateProgramWithSource", code);
        code = clBuildProgram(p->program, 1, &c->id, p->options, NULL, NULL);
        if (code == CL_SUCCESS) {
            p->keep = !c->device.keeps_code;
            c->no_bitcode = true; /* or this one would have been built of it */
            return TARN_OK;
        }
        char *log = build_log(p);
        const bool says_why = log != NULL && strstr(log, "error") != NULL;
        free(log);
        if (says_why || try == TRIES - 1)
            break;
        clReleaseProgram(p->program);
    }
    const tarn_status status = build_failed(p, source, label, code);
    clReleaseProgram(p->program);
    p->program = NULL;
    return status;
}

/* Of what is not in the cache. */
static tarn_status make_program(struct built_program *p, const char *source, const char *label)
{
    struct context *c = p->context;
    const double start = seconds_now();
    if (!from_bitcode(p, source))
        TRY(from_source(p, source, label));
    p->seconds = seconds_now() - start;
    c->counters.builds++;
    c->counters.build_seconds += p->seconds;
    return TARN_OK;
}

struct build {
    struct context *context;
    const char *source, *options, *label;
    struct built_program **out;
};

static tarn_status build(void *arg)
{
    const struct build *b = arg;
    struct context *c = b->context;
    const char *source = b->source, *label = b->label;
    struct built_program *p = calloc(1, sizeof *p);
    if (p == NULL)
        return error_set(TARN_ERR_MEMORY, "%s: out of host memory", label);
    p->context = c;
    p->options = b->options;
    make_key(&c->device, source, p->options, p->key, sizeof p->key);
    pthread_mutex_lock(&build_lock);
    tarn_status status = TARN_OK;
    if (!from_cache(p)) {
        const int lock = c->device.keeps_code ? -1 : cache_lock();
        /* Once more: another process may have kept it while this one waited. */
        status = lock >= 0 && from_cache(p) ? TARN_OK : make_program(p, source, label);
        cache_grew();
        if (lock >= 0)
            close(lock);
    }
    pthread_mutex_unlock(&build_lock);
    if (status != TARN_OK) {
        free(p);
        return status;
    }
    p->next = c->programs;
    c->programs = p;
    *b->out = p;
    return TARN_OK;
}

tarn_status program_build_as(struct context *c, const char *source, bool quick, const char *label,
                             struct built_program **out)
{
    struct build b = { .context = c,
                       .source = source,
                       .options = build_options(&c->device, quick),
                       .label = label,
                       .out = out };
    *out = NULL;
    return run_deep(build, &b);
}

tarn_status program_build(struct context *c, const char *source, const char *label,
                          struct built_program **out)
{
    return program_build_as(c, source, false, label, out);
}

/* A record for each program that a driver with a cache of its own finished, and where that is. */
static void finished_key(const struct device *d, const char *source, bool quick, char *key,
                         size_t capacity)
{
    const int length = snprintf(key, capacity, "finished 1 %s ", env_system("POCL_CACHE_DIR"));
    if (length > 0 && (size_t)length < capacity)
        make_key(d, source, build_options(d, quick), key + length, capacity - (size_t)length);
}

bool program_is_finished(const struct device *d, const char *source, bool quick)
{
    char key[2048], text[8];
    finished_key(d, source, quick, key, sizeof key);
    return cache_load_text(key, text, sizeof text);
}

void program_tell_finished(const struct device *d, const char *source, bool quick, double seconds)
{
    char key[2048];
    finished_key(d, source, quick, key, sizeof key);
    cache_store_text(key, "yes", seconds);
}

static void keep_binary(struct built_program *p)
{
    size_t bytes = 0;
    void *kept = p->refused ? NULL : cache_load(p->key, &bytes);
    free(kept);
    if (kept != NULL)
        return; /* by another context meanwhile */
    if (clGetProgramInfo(p->program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) !=
            CL_SUCCESS ||
        bytes == 0)
        return;
    unsigned char *binary = malloc(bytes);
    if (binary != NULL && clGetProgramInfo(p->program, CL_PROGRAM_BINARIES, sizeof binary, &binary,
                                           NULL) == CL_SUCCESS)
        cache_store(p->key, binary, bytes, p->seconds);
    free(binary);
}

/* Kernels are often finished at their first launch: only a program that ran is worth keeping. */
static void maybe_keep(struct built_program *p)
{
    if (p->launched && p->keep) {
        pthread_mutex_lock(&build_lock);
        keep_binary(p);
        pthread_mutex_unlock(&build_lock);
        p->keep = false;
    }
}

void program_flush(struct context *c)
{
    for (struct built_program *p = c->programs; p != NULL; p = p->next)
        maybe_keep(p);
}

void program_free(struct built_program *p)
{
    if (p == NULL)
        return;
    maybe_keep(p);
    for (struct built_program **at = &p->context->programs; *at != NULL; at = &(*at)->next)
        if (*at == p) {
            *at = p->next;
            break;
        }
    clReleaseProgram(p->program);
    free(p);
}

/* ---- kernels -------------------------------------------------------------------------------- */

tarn_status kernel_new(struct built_program *p, const char *name, struct kernel **out)
{
    *out = NULL;
    struct kernel *k = calloc(1, sizeof *k);
    if (k == NULL)
        return error_set(TARN_ERR_MEMORY, "kernel %s: out of host memory", name);
    cl_int code;
    k->program = p;
    k->kernel = clCreateKernel(p->program, name, &code);
    if (code != CL_SUCCESS) {
        free(k);
        return cl_failed(p->context, "clCreateKernel", code);
    }
    snprintf(k->name, sizeof k->name, "%s", name);
    char label[96];
    snprintf(label, sizeof label, "kernel %s", name);
    k->label = label_keep(label);
    *out = k;
    return TARN_OK;
}

tarn_status kernel_replace(struct kernel *k, struct built_program *p)
{
    cl_int code;
    const cl_kernel better = clCreateKernel(p->program, k->name, &code);
    if (code != CL_SUCCESS)
        return cl_failed(p->context, "clCreateKernel", code);
    clReleaseKernel(k->kernel); /* launches of it that have not ended keep it */
    k->kernel = better;
    k->program = p;
    k->launched = false;
    return TARN_OK;
}

void kernel_drop(struct kernel *k)
{
    if (k == NULL)
        return;
    clReleaseKernel(k->kernel);
    free(k);
}

void kernel_free(struct kernel *k)
{
    if (k != NULL && k->known != NULL)
        known_kernel_leave(k->known);
    else
        kernel_drop(k);
}

const char *kernel_name(const struct kernel *k)
{
    return k->name;
}

cl_int kernel_set_args(const struct kernel *k, const struct kernel_arg *args, int count)
{
    cl_int code = CL_SUCCESS;
    for (int i = 0; i < count && code == CL_SUCCESS; i++) {
        const struct kernel_arg *a = &args[i];
        code = a->buffer != NULL
                   ? clSetKernelArg(k->kernel, (cl_uint)i, sizeof(cl_mem), &a->buffer->memory)
                   : clSetKernelArg(k->kernel, (cl_uint)i, a->size, &a->value);
    }
    return code;
}

/* `first`: the driver may compile the kernel in it. */
static tarn_status enqueue(struct kernel *k, const struct kernel_arg *args, int count,
                           size_t groups, size_t local, bool first)
{
    struct context *c = k->program->context;
    const cl_int set = kernel_set_args(k, args, count);
    if (set != CL_SUCCESS)
        return cl_failed(c, "clSetKernelArg", set);
    if (backend_fails_now())
        return error_set(TARN_ERR_DEVICE, "%s on device \"%s\": planned", k->label, c->label);
    awake_now(c);
    const size_t global = groups * local;
    cl_event event = NULL;
    const cl_int code = clEnqueueNDRangeKernel(c->compute, k->kernel, 1, NULL, &global, &local, 0,
                                               NULL, event_wanted(c, first) ? &event : NULL);
    if (code != CL_SUCCESS)
        return cl_failed(c, k->label, code);
    k->program->launched = true;
    TRY(event_track(c, event, k->label));
    struct tracked *t = &c->ring[(c->next - 1) % TRACKED];
    t->first = first;
    t->fills = c->device.kind == DEVICE_CPU && groups >= c->device.compute_units;
    return TARN_OK;
}

tarn_status kernel_launch_idle(struct kernel *k, const struct idle_launch *idle)
{
    return idle->args == NULL
               ? TARN_OK
               : enqueue(k, idle->args, idle->count, idle->groups, idle->local, true);
}

tarn_status kernel_launch(struct kernel *k, const struct kernel_arg *args, int count, size_t groups,
                          size_t local)
{
    if (groups == 0)
        return TARN_OK;
    if (k->known != NULL)
        TRY(known_kernel_improve(k->known));
    TRY(enqueue(k, args, count, groups, local, !k->launched));
    k->program->context->counters.launches++;
    k->launched = true;
    return TARN_OK;
}
