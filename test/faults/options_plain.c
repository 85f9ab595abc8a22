/* SPDX-License-Identifier: Apache-2.0 */
/* How programs are built: so that a quotient is the nearest number wherever the device can have it so. */
#include <string.h>

#include "check.h"
#include "opencl.h"

static const char source[] = "__kernel void divide(__global float *x) { x[0] /= x[1]; }\n";

static void check_program(struct context *c, bool quick)
{
    struct built_program *p;
    struct kernel *k;
    cl_program program = NULL;
    char options[256] = "";
    cl_device_fp_config single = 0;
    CHECK(program_build_as(c, source, quick, "options", &p) == TARN_OK);
    CHECK(kernel_new(p, "divide", &k) == TARN_OK);
    if (failures > 0)
        return;
    CHECK(clGetDeviceInfo(c->id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof single, &single, NULL) ==
          CL_SUCCESS);
    CHECK(clGetKernelInfo(k->kernel, CL_KERNEL_PROGRAM, sizeof program, &program, NULL) ==
          CL_SUCCESS);
    CHECK(clGetProgramBuildInfo(program, c->id, CL_PROGRAM_BUILD_OPTIONS, sizeof options, options,
                                NULL) == CL_SUCCESS);
    const bool able = (single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    CHECK(able == (strstr(options, "-cl-fp32-correctly-rounded-divide-sqrt") != NULL));
    CHECK(quick == (strstr(options, "-cl-opt-disable") != NULL));
    kernel_free(k);
    program_free(p);
}

int main(void)
{
    struct device d;
    struct context *c;
    int count;
    CHECK(device_select(NULL, &d, 1, &count) == TARN_OK && context_open(&d, &c) == TARN_OK);
    if (failures == 0) {
        check_program(c, false);
        check_program(c, true);
        context_close(c);
    }
    printf("options: %d failures\n", failures);
    return failures > 0;
}
