/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL error codes in words. */
#include "opencl.h"

static const struct {
    cl_int code;
    const char *name;
} names[] = {
#define ROW(code) \
    { \
        code, #code \
    }
    ROW(CL_DEVICE_NOT_FOUND),
    ROW(CL_DEVICE_NOT_AVAILABLE),
    ROW(CL_COMPILER_NOT_AVAILABLE),
    ROW(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    ROW(CL_OUT_OF_RESOURCES),
    ROW(CL_OUT_OF_HOST_MEMORY),
    ROW(CL_BUILD_PROGRAM_FAILURE),
    ROW(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    ROW(CL_DEVICE_PARTITION_FAILED),
    ROW(CL_INVALID_VALUE),
    ROW(CL_INVALID_PLATFORM),
    ROW(CL_INVALID_DEVICE),
    ROW(CL_INVALID_CONTEXT),
    ROW(CL_INVALID_COMMAND_QUEUE),
    ROW(CL_INVALID_MEM_OBJECT),
    ROW(CL_INVALID_BINARY),
    ROW(CL_INVALID_BUILD_OPTIONS),
    ROW(CL_INVALID_PROGRAM_EXECUTABLE),
    ROW(CL_INVALID_KERNEL_NAME),
    ROW(CL_INVALID_KERNEL_ARGS),
    ROW(CL_INVALID_WORK_GROUP_SIZE),
    ROW(CL_INVALID_EVENT_WAIT_LIST),
    ROW(CL_INVALID_EVENT),
    ROW(CL_INVALID_OPERATION),
    ROW(CL_INVALID_BUFFER_SIZE),
#undef ROW
    { -1001, "CL_PLATFORM_NOT_FOUND_KHR" },
};

const char *cl_error_name(cl_int code)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == code)
            return names[i].name;
    return "OpenCL error";
}

tarn_status cl_failed(const struct context *c, const char *call, cl_int code)
{
    const bool memory = code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_RESOURCES ||
                        code == CL_OUT_OF_HOST_MEMORY || code == CL_INVALID_BUFFER_SIZE;
    return error_set(memory ? TARN_ERR_DEVICE_MEMORY : TARN_ERR_DEVICE,
                     "%s on device \"%s\": %s (%d)", call, c->label, cl_error_name(code), code);
}
