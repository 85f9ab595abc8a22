/* SPDX-License-Identifier: Apache-2.0 */
/* Launches that are recorded: what they compute and how many are, through changes of arguments, sizes and memory, and with
 * a driver that fails. The driver's recordings are played here, so that every driver has them, and has them with faults. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "log.h"
#include "opencl.h"
#include "tarn.h"
#include "tensor/replica.h"

#include "check.h"

/* ---- recordings, played --------------------------------------------------------------------- */

enum { MOST_ARGS = 64, MOST_LAUNCHES = 256, MOST_KERNELS = 512 };

struct args {
    cl_kernel kernel;
    int count;
    size_t size[MOST_ARGS];
    unsigned char value[MOST_ARGS][16];
};

struct driver_recording {
    struct args list[MOST_LAUNCHES];
    size_t global[MOST_LAUNCHES], local[MOST_LAUNCHES];
    int count;
    cl_command_queue queue;
    cl_event newest; /* of the last time */
};

static struct args now[MOST_KERNELS]; /* arguments that kernels have */
static bool may_twice, forgets;       /* forgets: what a launch was recorded with */
static bool slow;                     /* to enqueue a recording */
static const char *failing;           /* the call that fails, */
static int fail_at;                   /* the nth one from now */
static int created, released;

static bool fails(const char *call)
{
    return failing != NULL && strcmp(failing, call) == 0 && fail_at-- == 0;
}

static struct args *args_of(cl_kernel k)
{
    int i = 0;
    while (i < MOST_KERNELS - 1 && now[i].kernel != k && now[i].kernel != NULL)
        i++;
    now[i].kernel = k;
    return &now[i];
}

/* In the place of the loader's. */
cl_int clSetKernelArg(cl_kernel k, cl_uint i, size_t size, const void *value)
{
    static cl_int (*next)(cl_kernel, cl_uint, size_t, const void *);
    struct args *a = args_of(k);
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "clSetKernelArg");
    if (i < MOST_ARGS && size <= sizeof a->value[i]) {
        a->size[i] = size;
        memcpy(a->value[i], value, size);
        a->count = a->count > (int)i ? a->count : (int)i + 1;
    }
    return next(k, i, size, value);
}

cl_kernel clCreateKernel(cl_program p, const char *name, cl_int *code)
{
    static cl_kernel (*next)(cl_program, const char *, cl_int *);
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "clCreateKernel");
    const cl_kernel k = next(p, name, code);
    args_of(k)->count = 0; /* its handle may have been another's */
    return k;
}

cl_int clGetDeviceInfo(cl_device_id d, cl_device_info what, size_t size, void *to, size_t *bytes)
{
    static cl_int (*next)(cl_device_id, cl_device_info, size_t, void *, size_t *);
    static const char extension[] = " cl_khr_command_buffer";
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "clGetDeviceInfo");
    if (what == CL_DEVICE_EXTENSIONS_WITH_VERSION_KHR)
        return CL_INVALID_VALUE;
    if (what == 0x12A9 || what == 0x12AA) {
        const cl_ulong can = what == 0x12A9 && may_twice ? 1u << 2 : 0;
        memcpy(to, &can, sizeof can);
        return CL_SUCCESS;
    }
    const cl_int code = next(d, what, size, to, bytes);
    if (what == CL_DEVICE_EXTENSIONS && code == CL_SUCCESS && to != NULL &&
        strlen(to) + sizeof extension <= size)
        strcat(to, extension);
    return code;
}

static struct driver_recording *create(cl_uint n, const cl_command_queue *queues,
                                       const cl_ulong *properties, cl_int *code)
{
    (void)n;
    *code = fails("create") ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
    CHECK((properties != NULL) <= may_twice);
    if (*code != CL_SUCCESS)
        return NULL;
    struct driver_recording *r = calloc(1, sizeof *r);
    r->queue = queues[0];
    created++;
    return r;
}

static cl_int finalize(struct driver_recording *r)
{
    (void)r;
    return fails("finalize") ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

static cl_int let_go(struct driver_recording *r)
{
    if (r->newest != NULL)
        clReleaseEvent(r->newest);
    free(r);
    released++;
    return CL_SUCCESS;
}

static cl_int launch(struct driver_recording *r, cl_command_queue q, const cl_ulong *p, cl_kernel k,
                     cl_uint n, const size_t *from, const size_t *global, const size_t *local,
                     cl_uint waits, const cl_uint *list, cl_uint *out, void *handle)
{
    (void)p, (void)from, (void)waits, (void)list, (void)out, (void)handle;
    CHECK(q == NULL && n == 1 && r->count < MOST_LAUNCHES);
    if (fails("launch"))
        return CL_OUT_OF_RESOURCES;
    r->list[r->count] = *args_of(k);
    r->global[r->count] = *global;
    r->local[r->count++] = *local;
    return CL_SUCCESS;
}

static cl_int enqueue(cl_uint n, cl_command_queue *q, struct driver_recording *r, cl_uint waits,
                      const cl_event *list, cl_event *event)
{
    (void)n, (void)q, (void)waits, (void)list;
    if (fails("enqueue"))
        return CL_INVALID_OPERATION;
    if (slow)
        nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    CHECK(may_twice || r->newest == NULL || event_ended(r->newest));
    if (r->newest != NULL)
        clReleaseEvent(r->newest);
    r->newest = NULL;
    for (int i = 0; i < r->count; i++) {
        const struct args *a = &r->list[i];
        const struct args before = *args_of(a->kernel);
        for (int v = 0; !forgets && v < a->count; v++)
            CHECK(clSetKernelArg(a->kernel, (cl_uint)v, a->size[v], a->value[v]) == CL_SUCCESS);
        CHECK(clEnqueueNDRangeKernel(r->queue, a->kernel, 1, NULL, &r->global[i], &r->local[i], 0,
                                     NULL, i == r->count - 1 ? event : NULL) == CL_SUCCESS);
        for (int v = 0; !forgets && v < before.count; v++)
            (void)clSetKernelArg(a->kernel, (cl_uint)v, before.size[v], before.value[v]);
    }
    r->newest = *event;
    return clRetainEvent(*event);
}

void *clGetExtensionFunctionAddressForPlatform(cl_platform_id p, const char *name)
{
    static void *(*next)(cl_platform_id, const char *);
    if (next == NULL)
        *(void **)&next = dlsym(RTLD_NEXT, "clGetExtensionFunctionAddressForPlatform");
    return strcmp(name, "clCreateCommandBufferKHR") == 0     ? (void *)create
           : strcmp(name, "clFinalizeCommandBufferKHR") == 0 ? (void *)finalize
           : strcmp(name, "clReleaseCommandBufferKHR") == 0  ? (void *)let_go
           : strcmp(name, "clCommandNDRangeKernelKHR") == 0  ? (void *)launch
           : strcmp(name, "clEnqueueCommandBufferKHR") == 0  ? (void *)enqueue
                                                             : next(p, name);
}

/* ---- launches ------------------------------------------------------------------------------- */

static const char source[] = "__kernel void turn(__global int *x, int v)\n"
                             "{\n"
                             "    x[get_global_id(0)] = 3 * x[get_global_id(0)] + v;\n"
                             "}\n";

enum { LAUNCHES = 6, STEPS = 80, ITEMS = 4 };

/* Step by step, launch by launch: the third one differs each time; sizes change once, and so does memory. */
static int value_at(int step, int launch_number)
{
    return launch_number == 2 ? step : 10 * launch_number + (step >= 56 && launch_number == 5);
}

static size_t groups_at(int step)
{
    return step < 24 ? ITEMS : ITEMS / 2;
}

static void expect(struct buffer *b[2])
{
    int want[2][ITEMS] = { { 0 } }, seen[ITEMS];
    for (int step = 0; step < STEPS; step++)
        for (int k = 0; k < LAUNCHES; k++)
            for (size_t i = 0; i < groups_at(step); i++) {
                int *at = &want[step >= 40][i];
                *at = (int)(3u * (unsigned)*at + (unsigned)value_at(step, k));
            }
    for (int v = 0; v < 2; v++)
        CHECK(buffer_read(b[v], 0, seen, sizeof seen) == TARN_OK &&
              memcmp(seen, want[v], sizeof seen) == 0);
}

static void run_steps(struct context *c, struct kernel *k, struct buffer *b[2])
{
    struct replay *r;
    queue_mark last[2] = { 0 };
    CHECK(replay_new(c, LAUNCHES, &r) == TARN_OK);
    for (int step = 0; step < STEPS; step++) {
        CHECK(context_poll(c) == TARN_OK && context_wait(c, last[step % 2]) == TARN_OK);
        if (r != NULL)
            replay_begin(r);
        for (int i = 0; i < LAUNCHES; i++) {
            const struct kernel_arg args[] = {
                { .buffer = b[step >= 40] }, { .size = 4, .value = { .i32 = value_at(step, i) } }
            };
            CHECK((r != NULL ? replay_launch(r, k, args, 2, groups_at(step), 1, 1)
                             : kernel_launch(k, args, 2, groups_at(step), 1)) == TARN_OK);
        }
        if (r != NULL)
            replay_end(r);
        CHECK(context_mark(c, &last[step % 2]) == TARN_OK && context_flush(c) == TARN_OK);
        if (step == 66)
            CHECK(context_profile(c, true) == TARN_OK);
        if (step == 70)
            CHECK(context_profile(c, false) == TARN_OK);
    }
    replay_free(r);
}

/* How many launches were part of a recording. */
static long steps_with(const char *wanted)
{
    struct device d;
    struct context *c;
    struct built_program *p;
    struct kernel *k;
    struct buffer *b[2];
    int count;
    long replayed = -1;
    created = released = 0;
    memset(now, 0, sizeof now);
    setenv("TARN_REPLAY", wanted, 1);
    CHECK(device_select(NULL, &d, 1, &count) == TARN_OK);
    if (strcmp(wanted, "auto") == 0)
        d.kind = DEVICE_GPU; /* CPUs are not even asked */
    CHECK(context_open(&d, &c) == TARN_OK);
    if (failures > 0)
        return -1;
    CHECK(program_build(c, source, "turn", &p) == TARN_OK && kernel_new(p, "turn", &k) == TARN_OK);
    for (int i = 0; i < 2; i++)
        CHECK(buffer_new(c, ITEMS * sizeof(int), &b[i]) == TARN_OK &&
              buffer_fill_zero(b[i], 0, ITEMS * sizeof(int)) == TARN_OK);
    if (failures == 0) {
        const struct backend_counters before = context_counters(c);
        run_steps(c, k, b);
        expect(b);
        const struct backend_counters after = context_counters(c);
        CHECK(after.launches - before.launches == LAUNCHES * STEPS);
        replayed = (long)after.replayed;
    }
    for (int i = 0; i < 2; i++)
        buffer_free(b[i]);
    kernel_free(k);
    program_free(p);
    context_close(c);
    CHECK(created == released);
    return replayed;
}

/* ---- lines ---------------------------------------------------------------------------------- */

static int lines;
static char line[1000];

static void take_line(tarn_log_level level, const char *text, void *user)
{
    (void)level, (void)user;
    lines++;
    snprintf(line, sizeof line, "%s", text);
}

static void check_faults(void)
{
    static const char *const calls[] = { "create", "launch", "finalize", "enqueue" };
    for (int way = 0; way < 2; way++)
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
            for (int at = 0; at < 4; at++) {
                failing = calls[i];
                fail_at = at;
                may_twice = way;
                lines = 0;
                const long replayed = steps_with("1");
                const bool failed = fail_at < 0;
                CHECK(replayed >= 0 && lines == failed);
                CHECK(!failed || (strstr(line, "TARN_REPLAY=0") != NULL));
            }
    failing = NULL;
}

/* ---- a net ---------------------------------------------------------------------------------- */

enum { BATCH = 8, WIDTH = 20, NET_STEPS = 16 };

static long train(const char *wanted, float *weights)
{
    static float x[BATCH * WIDTH];
    static int32_t y[BATCH];
    setenv("TARN_REPLAY", wanted, 1);
    tarn_replica *r = tarn_open(NULL);
    CHECK(r != NULL);
    if (r == NULL)
        return -1;
    const tarn_linear one = tarn_linear_make(r, "one", WIDTH, WIDTH);
    const tarn_linear two = tarn_linear_make(r, "two", WIDTH, WIDTH);
    tarn_optimizer *adam = tarn_adam(r, (tarn_adam_options){ .lr = 0.01f });
    for (int step = 0; step < NET_STEPS; step++) {
        for (int i = 0; i < BATCH * WIDTH; i++)
            x[i] = (float)((i * 7 + step * 3) % 11) / 8.0f;
        for (int i = 0; i < BATCH; i++)
            y[i] = (i + step) % WIDTH;
        const tarn_tensor in = tarn_from(r, TARN_SHAPE(BATCH, WIDTH), TARN_F32, x);
        const tarn_tensor h = tarn_dropout(tarn_softmax(tarn_linear_forward(&one, in), 1), 0.1f);
        const tarn_tensor out = tarn_linear_forward(&two, h);
        tarn_backward(tarn_cross_entropy(out, tarn_from(r, TARN_SHAPE(BATCH), TARN_I32, y)));
        tarn_optimizer_step(adam);
        CHECK(tarn_step(r) == TARN_OK);
    }
    CHECK(tarn_read(one.weight, weights, WIDTH * WIDTH * sizeof *weights) == TARN_OK);
    const long replayed = (long)context_counters(r->context).replayed;
    tarn_close(r);
    return replayed;
}

int main(void)
{
    static float plain[WIDTH * WIDTH], recorded[WIDTH * WIDTH];
    tarn_set_log(take_line, NULL);
    CHECK(steps_with("0") == 0 && created == 0);
    for (int way = 0; way < 2; way++) {
        may_twice = way;
        /* Two runs, of two and three launches, but for the steps after changes, and while profiled. */
        const long replayed = steps_with("1");
        printf("replay: %ld of %d launches recorded\n", replayed, LAUNCHES * STEPS);
        CHECK(replayed > LAUNCHES * STEPS / 4 && replayed < LAUNCHES * STEPS);
    }
    CHECK(lines == 0);
    forgets = true;
    CHECK(steps_with("1") == 0 && lines == 1 && strstr(line, "wrong") != NULL);
    forgets = false;
    slow = true;
    lines = 0;
    CHECK(steps_with("auto") == 0 && lines == 0 && created > 0);
    slow = false;
    check_faults();
    CHECK(setenv("TARN_FUSE", "0", 1) == 0); /* more launches */
    memset(now, 0, sizeof now);
    CHECK(train("0", plain) == 0);
    CHECK(train("1", recorded) > 0);
    CHECK(memcmp(plain, recorded, sizeof plain) == 0);
    printf("replay: %d failures\n", failures);
    return failures > 0;
}
