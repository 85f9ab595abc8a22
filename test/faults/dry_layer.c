/* SPDX-License-Identifier: Apache-2.0 */
/* A layer of the OpenCL loader (OPENCL_LAYERS=PATH): a driver that compiles and computes nothing, but
 * writes down what it was told to compile and to run. In the folder TARN_DRY_FOLDER it leaves
 *
 *   N.cl      the source of program N, counted from 0
 *   launches  a line for each kernel launched: N, kernel, global and local size, arguments by value
 *
 * Programs and kernels are objects of this layer, which no driver sees; only calls that Tarn makes are
 * played. Nothing is compiled, so a training step whose kernels take a compiler a minute is
 * over in milliseconds. Memory begins with zeros: what the host reads back, such as the fingerprints
 * that replicas compare, is the same on all devices and finite. */
#include <CL/cl_layer.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define MOST_ARGS 1024

struct program {
    long number;
    int users; /* the program's owner, and its kernels */
};

struct argument {
    bool value; /* otherwise a handle, which tells nothing */
    uint64_t bits;
};

struct kernel {
    struct program *program;
    char name[64];
    int count;
    struct argument arguments[MOST_ARGS];
};

static const cl_icd_dispatch *next; /* the loader, or the layer below */
static cl_icd_dispatch table;
static const char *folder;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long programs;
static FILE *launches;

static FILE *open_in_folder(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    return file;
}

static void *code_of(void *object, cl_int *code)
{
    if (code != NULL)
        *code = object != NULL ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    return object;
}

/* ---- programs ------------------------------------------------------------------------------- */

static void release(struct program *p)
{
    pthread_mutex_lock(&lock);
    const bool last = --p->users == 0;
    pthread_mutex_unlock(&lock);
    if (last)
        free(p);
}

static cl_program CL_API_CALL do_clCreateProgramWithSource(cl_context c, cl_uint n,
                                                           const char **text, const size_t *size,
                                                           cl_int *code)
{
    (void)c;
    struct program *p = malloc(sizeof *p);
    if (p == NULL)
        return code_of(NULL, code);
    pthread_mutex_lock(&lock);
    *p = (struct program){ .number = programs++, .users = 1 };
    pthread_mutex_unlock(&lock);
    char name[32];
    snprintf(name, sizeof name, "%ld.cl", p->number);
    FILE *file = open_in_folder(name);
    for (cl_uint i = 0; i < n; i++)
        fwrite(text[i], 1, size != NULL && size[i] != 0 ? size[i] : strlen(text[i]), file);
    fclose(file);
    return code_of(p, code);
}

static cl_program CL_API_CALL do_clCreateProgramWithBinary(cl_context c, cl_uint n,
                                                           const cl_device_id *d,
                                                           const size_t *size,
                                                           const unsigned char **binary,
                                                           cl_int *status, cl_int *code)
{
    (void)c, (void)n, (void)d, (void)size, (void)binary, (void)status;
    *code = CL_INVALID_BINARY;
    return NULL;
}

static cl_int CL_API_CALL do_clBuildProgram(cl_program p, cl_uint n, const cl_device_id *d,
                                            const char *options,
                                            void(CL_CALLBACK *call)(cl_program, void *), void *user)
{
    (void)p, (void)n, (void)d, (void)options, (void)call, (void)user;
    return CL_SUCCESS;
}

/* It comes again, to be built. */
static cl_int CL_API_CALL do_clCompileProgram(cl_program p, cl_uint n, const cl_device_id *d,
                                              const char *options, cl_uint headers,
                                              const cl_program *header, const char **name,
                                              void(CL_CALLBACK *call)(cl_program, void *),
                                              void *user)
{
    (void)n, (void)d, (void)options, (void)headers, (void)header, (void)name, (void)call;
    (void)user;
    pthread_mutex_lock(&lock);
    programs = ((const struct program *)p)->number;
    pthread_mutex_unlock(&lock);
    return CL_COMPILER_NOT_AVAILABLE;
}

static cl_int nothing(size_t n, void *to, size_t *size)
{
    if (to != NULL)
        memset(to, 0, n);
    if (size != NULL)
        *size = 0;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL do_clGetProgramInfo(cl_program p, cl_program_info i, size_t n, void *to,
                                              size_t *size)
{
    (void)p, (void)i;
    return nothing(n, to, size);
}

static cl_int CL_API_CALL do_clGetProgramBuildInfo(cl_program p, cl_device_id d,
                                                   cl_program_build_info i, size_t n, void *to,
                                                   size_t *size)
{
    (void)p, (void)d, (void)i;
    return nothing(n, to, size);
}

static cl_int CL_API_CALL do_clReleaseProgram(cl_program p)
{
    release((struct program *)p);
    return CL_SUCCESS;
}

/* ---- kernels -------------------------------------------------------------------------------- */

static cl_kernel CL_API_CALL do_clCreateKernel(cl_program program, const char *name, cl_int *code)
{
    struct kernel *k = calloc(1, sizeof *k);
    if (k == NULL)
        return code_of(NULL, code);
    k->program = (struct program *)program;
    snprintf(k->name, sizeof k->name, "%s", name);
    pthread_mutex_lock(&lock);
    k->program->users++;
    pthread_mutex_unlock(&lock);
    return code_of(k, code);
}

static cl_int CL_API_CALL do_clReleaseKernel(cl_kernel kernel)
{
    struct kernel *k = (struct kernel *)kernel;
    release(k->program);
    free(k);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL do_clSetKernelArg(cl_kernel kernel, cl_uint i, size_t n,
                                            const void *value)
{
    struct kernel *k = (struct kernel *)kernel;
    struct argument a = { .value = false };
    if (i >= MOST_ARGS)
        return CL_INVALID_ARG_INDEX;
    if (value != NULL && n <= sizeof a.bits)
        memcpy(&a.bits, value, n);
    /* A handle is an address, and those of a process of 64 bits are large. */
    a.value = n < sizeof(cl_mem) || a.bits <= UINT32_MAX;
    k->arguments[i] = a;
    if (k->count <= (int)i)
        k->count = (int)i + 1;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL do_clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel kernel,
                                                    cl_uint dimensions, const size_t *offset,
                                                    const size_t *global, const size_t *local,
                                                    cl_uint n, const cl_event *waits,
                                                    cl_event *event)
{
    (void)offset;
    const struct kernel *k = (const struct kernel *)kernel;
    pthread_mutex_lock(&lock);
    fprintf(launches, "%ld %s", k->program->number, k->name);
    for (cl_uint i = 0; i < dimensions; i++)
        fprintf(launches, " %zu/%zu", global[i], local != NULL ? local[i] : 0);
    for (int i = 0; i < k->count; i++)
        if (k->arguments[i].value)
            fprintf(launches, " %d:%llx", i, (unsigned long long)k->arguments[i].bits);
    fputc('\n', launches);
    pthread_mutex_unlock(&lock);
    return next->clEnqueueMarkerWithWaitList(q, n, waits, event);
}

/* ---- memory --------------------------------------------------------------------------------- */

static cl_mem CL_API_CALL do_clCreateBuffer(cl_context c, cl_mem_flags flags, size_t n, void *at,
                                            cl_int *code)
{
    if (at != NULL)
        return next->clCreateBuffer(c, flags, n, at, code);
    void *zeros = calloc(1, n);
    if (zeros == NULL)
        return code_of(NULL, code);
    const cl_mem m = next->clCreateBuffer(c, flags | CL_MEM_COPY_HOST_PTR, n, zeros, code);
    free(zeros);
    return m;
}

static void *CL_API_CALL do_clSVMAlloc(cl_context c, cl_svm_mem_flags how, size_t size,
                                       cl_uint alignment)
{
    void *memory = next->clSVMAlloc(c, how, size, alignment);
    return memory != NULL ? memset(memory, 0, size) : NULL;
}

/* ---- the loader's side ---------------------------------------------------------------------- */

static void end(void)
{
    fclose(launches);
}

EXPORT CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t n, void *to,
                                                      size_t *size)
{
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    static const char name[] = "dry runs of Tarn";
    const void *from = what == CL_LAYER_API_VERSION ? (const void *)&version : name;
    const size_t bytes = what == CL_LAYER_API_VERSION ? sizeof version : sizeof name;
    if ((what != CL_LAYER_API_VERSION && what != CL_LAYER_NAME) || (to != NULL && n < bytes))
        return CL_INVALID_VALUE;
    if (to != NULL)
        memcpy(to, from, bytes);
    if (size != NULL)
        *size = bytes;
    return CL_SUCCESS;
}

/* clang-format off */
#define FUNCTIONS(X) \
    X(clCreateProgramWithSource) X(clCreateProgramWithBinary) X(clBuildProgram) \
    X(clCompileProgram) X(clGetProgramInfo) X(clGetProgramBuildInfo) X(clReleaseProgram) \
    X(clCreateKernel) X(clReleaseKernel) X(clSetKernelArg) \
    X(clEnqueueNDRangeKernel) X(clCreateBuffer) X(clSVMAlloc)
/* clang-format on */

EXPORT CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries, const cl_icd_dispatch *target,
                                                   cl_uint *count, const cl_icd_dispatch **out)
{
    const cl_uint all = sizeof table / sizeof(void *);
    folder = getenv("TARN_DRY_FOLDER");
    if (entries < all || folder == NULL)
        return CL_INVALID_VALUE;
    next = target;
    table = *target;
#define PUT(name) table.name = do_##name;
    FUNCTIONS(PUT)
#undef PUT
    launches = open_in_folder("launches");
    atexit(end);
    *count = all;
    *out = &table;
    return CL_SUCCESS;
}
