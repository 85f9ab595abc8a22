/* SPDX-License-Identifier: Apache-2.0 */
/* What records launches and enqueues them as one command: cl_khr_command_buffer, found in a driver by
 * command_recorder.c and used by replay.c. Headers may be older than the driver, so nothing of theirs is needed; the parts
 * that are used are the same from version 0.9.0 to 1.0. */
#ifndef TARN_COMMAND_RECORDER_H
#define TARN_COMMAND_RECORDER_H

#include "opencl.h"

#define RECORDING_FLAGS 0x1293
#define MAY_QUEUE_TWICE (1u << 0)

typedef struct driver_recording *recording;
typedef recording(CL_API_CALL *create_fn)(cl_uint, const cl_command_queue *, const cl_ulong *,
                                          cl_int *);
typedef cl_int(CL_API_CALL *one_fn)(recording);
typedef cl_int(CL_API_CALL *launch_fn)(recording, cl_command_queue, const cl_ulong *, cl_kernel,
                                       cl_uint, const size_t *, const size_t *, const size_t *,
                                       cl_uint, const cl_uint *, cl_uint *, void *);
typedef cl_int(CL_API_CALL *enqueue_fn)(cl_uint, cl_command_queue *, recording, cl_uint,
                                        const cl_event *, cl_event *);

struct command_recorder {
    create_fn create;
    one_fn finalize, release;
    launch_fn launch;
    enqueue_fn enqueue;
    bool twice;           /* a recording may be in the queue more than once */
    struct replay *first; /* of the context */
};

#endif
