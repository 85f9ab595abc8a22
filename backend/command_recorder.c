/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a context's driver can record launches. In: an open context, and TARN_REPLAY. Out: its functions, if it offers
 * them, ran a trial right and, where that is asked for, in less time than launches one by one; a driver that runs the trial
 * wrong is named in a line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_recorder.h"
#include "env.h"
#include "log.h"

/* Of the trial by time: each launch takes some microseconds. */
#define TRIAL_LAUNCHES 8
#define TRIAL_TIMES 2000
#define TRIAL_TURNS 5
#define TRIAL_RATIO 0.9

#define EXTENSION "cl_khr_command_buffer"
#define DEVICE_CAPABILITIES 0x12A9
#define DEVICE_REQUIRED_QUEUE 0x12AA
#define CAN_QUEUE_TWICE (1u << 2)

/* ---- the driver ----------------------------------------------------------------------------- */

/* Versions that are known; before OpenCL 3.0 devices do not tell, and have the first. */
static bool has_known_version(const struct context *c)
{
    size_t bytes = 0;
    if (clGetDeviceInfo(c->id, CL_DEVICE_EXTENSIONS_WITH_VERSION_KHR, 0, NULL, &bytes) !=
        CL_SUCCESS)
        return true;
    cl_name_version_khr *list = malloc(bytes + 1);
    bool known = false;
    if (list != NULL && clGetDeviceInfo(c->id, CL_DEVICE_EXTENSIONS_WITH_VERSION_KHR, bytes, list,
                                        NULL) == CL_SUCCESS)
        for (size_t i = 0; i < bytes / sizeof *list; i++)
            if (strcmp(list[i].name, EXTENSION) == 0)
                known = list[i].version >= CL_MAKE_VERSION_KHR(0, 9, 0) &&
                        list[i].version < CL_MAKE_VERSION_KHR(1, 1, 0);
    free(list);
    return known;
}

static bool offers(const struct context *c)
{
    char extensions[8192] = "";
    cl_ulong needed = 0;
    return clGetDeviceInfo(c->id, CL_DEVICE_EXTENSIONS, sizeof extensions - 1, extensions, NULL) ==
               CL_SUCCESS &&
           strstr(extensions, EXTENSION) != NULL && has_known_version(c) &&
           (clGetDeviceInfo(c->id, DEVICE_REQUIRED_QUEUE, sizeof needed, &needed, NULL) !=
                CL_SUCCESS ||
            needed == 0);
}

/* ISO C knows no conversion of an object's address to a function's. */
static bool find(cl_platform_id platform, const char *name, void *function)
{
    void *const at = clGetExtensionFunctionAddressForPlatform(platform, name);
    memcpy(function, &at, sizeof at);
    return at != NULL;
}

static bool find_all(const struct context *c, struct command_recorder *r)
{
    cl_platform_id platform;
    return clGetDeviceInfo(c->id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) ==
               CL_SUCCESS &&
           find(platform, "clCreateCommandBufferKHR", &r->create) &&
           find(platform, "clFinalizeCommandBufferKHR", &r->finalize) &&
           find(platform, "clReleaseCommandBufferKHR", &r->release) &&
           find(platform, "clCommandNDRangeKernelKHR", &r->launch) &&
           find(platform, "clEnqueueCommandBufferKHR", &r->enqueue);
}

/* Launches of a kernel that turns some numbers over so many times, each with an argument of its own. */
struct trial {
    const struct command_recorder *by;
    struct kernel *kernel;
    struct buffer *numbers; /* one for each group */
    size_t groups;
    int launches, times;
    recording made;
};

static const char trial_source[] = "__kernel void turn(__global int *x, int v, int times)\n"
                                   "{\n"
                                   "    int y = x[get_group_id(0)];\n"
                                   "    for (int i = 0; i < times; i++)\n"
                                   "        y = 3 * y + v;\n"
                                   "    x[get_group_id(0)] = y;\n"
                                   "}\n";

static void trial_args(const struct trial *t, int v, struct kernel_arg args[3])
{
    args[0] = (struct kernel_arg){ .buffer = t->numbers };
    args[1] = (struct kernel_arg){ .size = 4, .value = { .i32 = v } };
    args[2] = (struct kernel_arg){ .size = 4, .value = { .i32 = t->times } };
}

static bool record_trial(const struct context *c, struct trial *t)
{
    cl_int code;
    const size_t one = 1;
    t->made = t->by->create(1, &c->compute, NULL, &code);
    for (int i = 0; i < t->launches && code == CL_SUCCESS; i++) {
        struct kernel_arg args[3];
        trial_args(t, 5 + 2 * i, args);
        code = kernel_set_args(t->kernel, args, 3);
        if (code == CL_SUCCESS)
            code = t->by->launch(t->made, NULL, NULL, t->kernel->kernel, 1, NULL, &t->groups, &one,
                                 0, NULL, NULL, NULL);
    }
    return code == CL_SUCCESS && t->by->finalize(t->made) == CL_SUCCESS;
}

static tarn_status enqueue_trial(struct context *c, void *user)
{
    const struct trial *t = user;
    cl_event event;
    const cl_int code = t->by->enqueue(0, NULL, t->made, 0, NULL, &event);
    return code == CL_SUCCESS ? event_track(c, event, "a recording to try")
                              : cl_failed(c, "clEnqueueCommandBufferKHR", code);
}

static tarn_status launch_trial(struct context *c, void *user)
{
    const struct trial *t = user;
    (void)c;
    for (int i = 0; i < t->launches; i++) {
        struct kernel_arg args[3];
        trial_args(t, 5 + 2 * i, args);
        TRY(kernel_launch(t->kernel, args, 3, t->groups, 1));
    }
    return TARN_OK;
}

/* Twice two launches, and before each of them one that gives the kernel other arguments. */
static bool keeps_arguments(struct context *c, struct trial *t)
{
    int32_t x = 1, want = 1;
    struct kernel_arg args[3];
    bool good = buffer_write(t->numbers, 0, &x, sizeof x) == TARN_OK && record_trial(c, t);
    trial_args(t, 1, args);
    for (int i = 0; i < 2 && good; i++) {
        good = kernel_launch(t->kernel, args, 3, t->groups, 1) == TARN_OK &&
               enqueue_trial(c, t) == TARN_OK && context_finish(c) == TARN_OK;
        want = 3 * (3 * (3 * want + 1) + 5) + 7;
    }
    return good && buffer_read(t->numbers, 0, &x, sizeof x) == TARN_OK && x == want;
}

/* Whether a recording takes less time than its launches, which leave no unit idle: with Intel's
 * driver for two cores a recording takes as long as one core would. */
static bool is_faster(struct context *c, struct trial *t)
{
    double ratio;
    const struct timed made = { enqueue_trial, t }, each = { launch_trial, t };
    return record_trial(c, t) && time_ratio(c, &made, &each, TRIAL_TURNS, &ratio) == TARN_OK &&
           ratio < TRIAL_RATIO;
}

/* Whether one of the two is so. */
static bool try_recording(struct context *c, const struct command_recorder *by, bool timed)
{
    struct trial t = { .by = by, .groups = 1, .launches = 2, .times = 1 };
    struct built_program *p = NULL;
    if (timed) {
        t.groups = 4 * (size_t)c->device.compute_units;
        t.launches = TRIAL_LAUNCHES;
        t.times = TRIAL_TIMES;
    }
    const bool good = program_build(c, trial_source, "replay", &p) == TARN_OK &&
                      kernel_new(p, "turn", &t.kernel) == TARN_OK &&
                      buffer_new(c, t.groups * sizeof(int32_t), &t.numbers) == TARN_OK &&
                      (timed ? is_faster(c, &t) : keeps_arguments(c, &t));
    if (t.made != NULL)
        by->release(t.made);
    buffer_free(t.numbers);
    kernel_free(t.kernel);
    program_free(p);
    return good;
}

tarn_status command_recorder_open(struct context *c)
{
    const char *wanted = env_text(ENV_REPLAY);
    const bool automatic = strcmp(wanted, "auto") == 0;
    cl_ulong can = 0;
    if (!automatic && strcmp(wanted, "0") != 0 && strcmp(wanted, "1") != 0)
        return error_set(TARN_ERR_ENVIRONMENT, "TARN_REPLAY=%s: there are auto, 0 and 1", wanted);
    if (automatic ? c->device.kind == DEVICE_CPU : strcmp(wanted, "0") == 0)
        return TARN_OK;
    struct command_recorder *r = calloc(1, sizeof *r);
    if (r == NULL)
        return error_set(TARN_ERR_MEMORY, "open: out of host memory");
    if (!offers(c) || !find_all(c, r)) {
        free(r);
        return TARN_OK;
    }
    r->twice = clGetDeviceInfo(c->id, DEVICE_CAPABILITIES, sizeof can, &can, NULL) == CL_SUCCESS &&
               (can & CAN_QUEUE_TWICE) != 0;
    const bool works = try_recording(c, r, false);
    if (works && (!automatic || try_recording(c, r, true))) {
        c->recorder = r;
        return TARN_OK;
    }
    free(r);
    if (works)
        return TARN_OK; /* it does not pay */
    log_print(TARN_LOG_WARNING,
              "tarn: device \"%s\" runs recordings (" EXTENSION ") wrong; nothing is recorded, as "
              "with TARN_REPLAY=0",
              c->label);
    return TARN_OK;
}

void command_recorder_close(struct context *c)
{
    free(c->recorder);
    c->recorder = NULL;
}
