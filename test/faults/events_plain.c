/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of which only some have events, as on GPUs: they end in order, are waited for, fail and are late as others. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "clock.h"
#include "opencl.h"

enum { LOCAL = 64, LAUNCHES = 20 };

static const char source[] = "__kernel void count(__global uint *x)\n"
                             "{\n"
                             "    x[get_global_id(0)] += 1;\n"
                             "}\n";

struct rig {
    struct context *context;
    struct built_program *program;
    struct kernel *kernel;
    struct buffer *buffer;
};

static bool rig_open(struct rig *r)
{
    const struct device *list;
    int count = 0;
    CHECK(device_list(&list, &count) == TARN_OK && count > 0);
    CHECK(failures == 0 && context_open(&list[0], &r->context) == TARN_OK);
    if (failures > 0)
        return false;
    r->context->event_every = EVENT_EVERY;
    CHECK(program_build(r->context, source, "events", &r->program) == TARN_OK &&
          kernel_new(r->program, "count", &r->kernel) == TARN_OK &&
          buffer_new(r->context, LOCAL * sizeof(uint32_t), &r->buffer) == TARN_OK &&
          buffer_fill_zero(r->buffer, 0, LOCAL * sizeof(uint32_t)) == TARN_OK);
    return failures == 0;
}

static void rig_close(struct rig *r)
{
    kernel_free(r->kernel);
    program_free(r->program);
    buffer_free(r->buffer);
    context_close(r->context);
}

static tarn_status launch(struct rig *r, int times)
{
    const struct kernel_arg arg = { .buffer = r->buffer };
    tarn_status status = TARN_OK;
    for (int i = 0; i < times && status == TARN_OK; i++)
        status = kernel_launch(r->kernel, &arg, 1, 1, LOCAL);
    return status;
}

static uint32_t counted(struct rig *r)
{
    uint32_t x[LOCAL] = { 0 };
    CHECK(buffer_read(r->buffer, 0, x, sizeof x) == TARN_OK);
    return x[LOCAL - 1];
}

static int events_in_flight(const struct context *c)
{
    int events = 0;
    for (uint64_t i = c->first; i < c->next; i++)
        events += c->ring[i % TRACKED].event != NULL;
    return events;
}

static void check_order(struct rig *r)
{
    struct context *c = r->context;
    queue_mark middle;
    CHECK(launch(r, 1) == TARN_OK && context_finish(c) == TARN_OK);
    CHECK(launch(r, LAUNCHES / 2) == TARN_OK);
    CHECK(context_mark(c, &middle) == TARN_OK);
    CHECK(launch(r, LAUNCHES / 2) == TARN_OK);
    CHECK(events_in_flight(c) == LAUNCHES / EVENT_EVERY);
    CHECK(!context_is_past(c, middle));
    CHECK(context_wait(c, middle) == TARN_OK && context_is_past(c, middle));
    CHECK(context_finish(c) == TARN_OK && c->first == c->next);
    CHECK(counted(r) == LAUNCHES + 1);
    CHECK(launch(r, 2 * TRACKED) == TARN_OK && context_finish(c) == TARN_OK);
    CHECK(counted(r) == LAUNCHES + 1 + 2 * TRACKED);
}

/* Behind a launch that has no event a command that ends when we say so. */
static cl_event stall(struct rig *r, int launches)
{
    cl_int code;
    const cl_event event = clCreateUserEvent(r->context->context, &code);
    CHECK(code == CL_SUCCESS && context_finish(r->context) == TARN_OK);
    CHECK(launch(r, launches) == TARN_OK);
    clRetainEvent(event);
    CHECK(event_track(r->context, event, "a command of ours") == TARN_OK);
    return event;
}

static void check_failure(struct rig *r)
{
    const cl_event event = stall(r, 3);
    CHECK(clSetUserEventStatus(event, CL_OUT_OF_RESOURCES) == CL_SUCCESS);
    CHECK(context_finish(r->context) == TARN_ERR_DEVICE);
    CHECK(strstr(error_text(), "a command of ours, or one of the 3 launches before it") != NULL);
    CHECK(context_finish(r->context) == TARN_OK);
    clReleaseEvent(event);
}

/* Four commands that are asked for together may take four times the limit. */
static void check_lateness(struct rig *r)
{
    const cl_event event = stall(r, 3);
    context_set_timeouts(r->context, 0.1, 0.1);
    const double start = seconds_now();
    CHECK(context_finish(r->context) == TARN_ERR_TIMEOUT);
    CHECK(seconds_now() - start > 0.35);
    CHECK(clSetUserEventStatus(event, CL_COMPLETE) == CL_SUCCESS);
    context_set_timeouts(r->context, 60, 60);
    CHECK(context_finish(r->context) == TARN_OK);
    clReleaseEvent(event);
}

int main(void)
{
    struct rig r = { 0 };
    if (rig_open(&r)) {
        check_order(&r);
        check_failure(&r);
        check_lateness(&r);
    }
    rig_close(&r);
    printf("%d failures\n", failures);
    return failures > 0;
}
