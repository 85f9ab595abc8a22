/* SPDX-License-Identifier: Apache-2.0 */
/* In: OpenCL C. Out: LLVM bitcode, of which PoCL makes a program in a tenth of the time.
 *
 * Whenever it is given source, PoCL has clang read all declarations of OpenCL C, 18,000 lines, and prints the result
 * into a file, only to find by its hash what it keeps on disk. It takes bitcode as a program's binary, too, and finds
 * what it keeps by the hash of that. It hands bitcode out in a container of its own. That of an executable costs
 * another compilation of each kernel, for any size of group; that of an object, which is compiled and not linked, is
 * there at once. The container ends in its only file: the length in 4 bytes, then the bitcode. Where another version
 * of PoCL has another container, nothing is found, and programs are built from source as on other drivers.
 *
 * The 18,000 lines are one header, which is left out where its guard is defined. kernels/declared.cl stands in for it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "opencl.h"

#define WITHOUT_HEADER " -D_OPENCL_H_"

static const unsigned char magic[] = { 'B', 'C', 0xc0, 0xde };

/* Where the bitcode begins; `bytes` if there is none. */
static size_t begin_of(const unsigned char *container, size_t bytes)
{
    uint32_t length;
    for (size_t at = sizeof length; at + sizeof magic < bytes; at++)
        if (memcmp(container + at, magic, sizeof magic) == 0) {
            memcpy(&length, container + at - sizeof length, sizeof length);
            if (length == bytes - at)
                return at;
        }
    return bytes;
}

static unsigned char *container_of(cl_program object, size_t *bytes)
{
    *bytes = 0;
    if (clGetProgramInfo(object, CL_PROGRAM_BINARY_SIZES, sizeof *bytes, bytes, NULL) !=
            CL_SUCCESS ||
        *bytes == 0)
        return NULL;
    unsigned char *container = malloc(*bytes);
    if (container != NULL && clGetProgramInfo(object, CL_PROGRAM_BINARIES, sizeof container,
                                              &container, NULL) == CL_SUCCESS)
        return container;
    free(container);
    return NULL;
}

unsigned char *bitcode_of(const struct context *c, const char *source, const char *options,
                          bool declared, size_t *bytes)
{
    cl_int code;
    char all_options[256];
    const char *texts[] = { (const char *)kernel_text_declared, source };
    snprintf(all_options, sizeof all_options, "%s%s", options, declared ? WITHOUT_HEADER : "");
    const cl_program object = clCreateProgramWithSource(c->context, declared ? 2 : 1,
                                                        declared ? texts : &source, NULL, &code);
    if (code != CL_SUCCESS)
        return NULL;
    unsigned char *found = NULL;
    code = clCompileProgram(object, 1, &c->id, all_options, 0, NULL, NULL, NULL, NULL);
    if (code == CL_SUCCESS)
        found = container_of(object, bytes);
    const size_t begin = found != NULL ? begin_of(found, *bytes) : 0;
    clReleaseProgram(object);
    if (found == NULL || begin == *bytes) {
        free(found);
        return NULL;
    }
    *bytes -= begin;
    memmove(found, found + begin, *bytes);
    (void)bitcode_drop_names(found, *bytes); /* or it takes longer to load */
    return found;
}
