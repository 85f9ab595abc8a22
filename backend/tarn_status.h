/* SPDX-License-Identifier: Apache-2.0 */
/* Status codes of Tarn, in hundreds by who has to act: 1xx environment, 2xx caller, 3xx device,
 * 4xx file, 5xx peers. Public; included by tarn.h. */
#ifndef TARN_STATUS_H
#define TARN_STATUS_H

/* clang-format off */
/*      name                 code  text */
#define TARN_STATUS_LIST(X) \
    X(OK,                    0, "ok") \
    X(ERR_MEMORY,          100, "out of host memory") \
    X(ERR_NO_DEVICE,       101, "no OpenCL device") \
    X(ERR_ENVIRONMENT,     102, "bad environment") \
    X(ERR_ARGUMENT,        200, "bad argument") \
    X(ERR_SHAPE,           201, "shapes do not fit") \
    X(ERR_DTYPE,           202, "element types do not fit") \
    X(ERR_STALE,           203, "tensor of an earlier step") \
    X(ERR_STATE,           204, "call not allowed now") \
    X(ERR_NOT_FINITE,      205, "NaN or infinity") \
    X(ERR_DEVICE,          300, "device or driver failed") \
    X(ERR_BUILD,           301, "OpenCL build failed") \
    X(ERR_DEVICE_MEMORY,   302, "out of device memory") \
    X(ERR_TIMEOUT,         303, "device did not answer in time") \
    X(ERR_IO,              400, "input or output failed") \
    X(ERR_FORMAT,          401, "file is damaged or of another kind") \
    X(ERR_MISMATCH,        402, "file is of another model") \
    X(ERR_REPLICA,         500, "another replica failed") \
    X(ERR_STALLED,         501, "a replica did not come in time") \
    X(ERR_DISAGREE,        502, "replicas ask for different collectives") \
    X(ERR_WEIGHTS,         503, "weights differ between replicas") \
    X(ERR_INTERNAL,        900, "a bug in Tarn")
/* clang-format on */

typedef enum tarn_status {
#define TARN_STATUS_ENUM(name, code, text) TARN_##name = code,
    TARN_STATUS_LIST(TARN_STATUS_ENUM)
#undef TARN_STATUS_ENUM
} tarn_status;

#endif
