/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: found once, before any thread can race PoCL's initialisation. */
#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "deep.h"
#include "env.h"
#include "opencl.h"

#define MOST_PLATFORMS 16
#define POCL "Portable Computing Language"
/* Floats: 128 bits, which CPUs have that have vectors. */
#define LEAST_VECTOR 4

static struct device devices[MOST_DEVICES];
static cl_device_id ids[MOST_DEVICES];
static int device_count;
static tarn_status scan_status;
static char scan_line[512];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- finding -------------------------------------------------------------------------------- */

static char passing[512]; /* the folder to be removed when this process ends */
static pid_t maker;

static int remove_entry(const char *path, const struct stat *s, int kind, struct FTW *at)
{
    (void)s;
    (void)kind;
    (void)at;
    (void)!remove(path); /* what stays is harmless */
    return 0;
}

static void remove_passing(void)
{
    if (getpid() == maker) /* not a child that ends first */
        (void)!nftw(passing, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* Registered before the driver is loaded, so that its own handlers run first. */
static void remove_at_exit(const char *path)
{
    snprintf(passing, sizeof passing, "%s", path);
    maker = getpid();
    (void)!atexit(remove_passing);
}

/* PoCL takes all cores that are online, and pins worker i to core i, also where the process may use others, as taskset,
 * containers and Slurm have it: several processes of a host would then share some cores and leave the others alone.
 * Unpinned, workers often share one core; so they are pinned where the process may use the first cores, however many. */
static void keep_to_allowed_cores(void)
{
    cpu_set_t allowed;
    char text[16];
    size_t first = 0;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return; /* more cores than the set has room for */
    const size_t count = (size_t)CPU_COUNT(&allowed);
    while (first < count && CPU_ISSET(first, &allowed))
        first++;
    setenv("POCL_AFFINITY", first == count ? "1" : "0", 0);
    if ((long)count >= sysconf(_SC_NPROCESSORS_ONLN))
        return;
    snprintf(text, sizeof text, "%zu", count);
    setenv("POCL_MAX_PTHREAD_COUNT", text, 0);
    setenv("POCL_CPU_MAX_CU_COUNT", text, 0); /* its name since PoCL 5 */
}

/* PoCL loads code from its cache, by default under a name in /tmp that anybody may own first, and
 * finds no device when it cannot write there: give it a private place before the first call. */
static void prepare_pocl(void)
{
    char path[512];
    if (env_system("POCL_CACHE_DIR")[0] == '\0') {
        if (!cache_folder_of_pocl(path, sizeof path)) {
            snprintf(path, sizeof path, "/tmp/tarn-pocl-XXXXXX");
            if (mkdtemp(path) == NULL)
                path[0] = '\0';
            else
                remove_at_exit(path);
        }
        if (path[0] != '\0')
            setenv("POCL_CACHE_DIR", path, 1);
    }
    keep_to_allowed_cores();
}

static void text_info(cl_device_id id, cl_device_info what, char *out, size_t capacity)
{
    char text[8192] = "";
    if (clGetDeviceInfo(id, what, sizeof text - 1, text, NULL) != CL_SUCCESS)
        snprintf(text, sizeof text, "unknown");
    text_escape(text, out, capacity); /* it is printed */
}

/* Devices of older versions do not know every question: its answer is 0 then. */
static void number_info(cl_device_id id, cl_device_info what, void *out, size_t bytes)
{
    if (clGetDeviceInfo(id, what, bytes, out, NULL) != CL_SUCCESS)
        memset(out, 0, bytes);
}

/* What every version knows: kernels are made by it, so no answer is no device. */
static void need_info(cl_device_id id, cl_device_info what, void *out, size_t bytes, int *failure)
{
    const cl_int code = clGetDeviceInfo(id, what, bytes, out, NULL);
    if (code == CL_SUCCESS)
        return;
    memset(out, 0, bytes);
    *failure = *failure != CL_SUCCESS ? *failure : code;
}

static int most_parts(cl_device_id id)
{
    cl_device_partition_property how[16] = { 0 };
    cl_uint most = 1;
    number_info(id, CL_DEVICE_PARTITION_PROPERTIES, how, sizeof how);
    number_info(id, CL_DEVICE_PARTITION_MAX_SUB_DEVICES, &most, sizeof most);
    for (int i = 0; i < 15 && how[i] != 0; i++)
        if (how[i] == CL_DEVICE_PARTITION_EQUALLY && most > 1)
            return (int)most;
    return 1;
}

static void describe(cl_platform_id platform, cl_device_id id, struct device *d)
{
    cl_device_type type;
    cl_uint units, width, wide, clock, wavefront;
    cl_ulong memory, largest, local, cache;
    cl_bool unified;
    cl_device_fp_config single;
    char name[256] = "", version[256] = "", extensions[8192];
    text_info(id, CL_DEVICE_NAME, d->name, sizeof d->name);
    text_info(id, CL_DEVICE_VENDOR, d->vendor, sizeof d->vendor);
    text_info(id, CL_DRIVER_VERSION, d->driver, sizeof d->driver);
    text_info(id, CL_DEVICE_EXTENSIONS, extensions, sizeof extensions);
    if (clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, NULL) != CL_SUCCESS ||
        clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof version, version, NULL) !=
            CL_SUCCESS)
        snprintf(name, sizeof name, "unknown platform");
    snprintf(d->platform, sizeof d->platform, "%.40s, %.80s", name, version);
    need_info(id, CL_DEVICE_TYPE, &type, sizeof type, &d->failure);
    need_info(id, CL_DEVICE_MAX_COMPUTE_UNITS, &units, sizeof units, &d->failure);
    need_info(id, CL_DEVICE_GLOBAL_MEM_SIZE, &memory, sizeof memory, &d->failure);
    need_info(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, &largest, sizeof largest, &d->failure);
    need_info(id, CL_DEVICE_LOCAL_MEM_SIZE, &local, sizeof local, &d->failure);
    need_info(id, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, &width, sizeof width, &d->failure);
    number_info(id, CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, &wide, sizeof wide);
    number_info(id, CL_DEVICE_HOST_UNIFIED_MEMORY, &unified, sizeof unified);
    number_info(id, CL_DEVICE_SINGLE_FP_CONFIG, &single, sizeof single);
    number_info(id, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, &cache, sizeof cache);
    number_info(id, CL_DEVICE_MAX_CLOCK_FREQUENCY, &clock, sizeof clock);
    number_info(id, CL_DEVICE_WARP_SIZE_NV, &wavefront, sizeof wavefront);
    if (wavefront == 0)
        number_info(id, CL_DEVICE_WAVEFRONT_WIDTH_AMD, &wavefront, sizeof wavefront);
    need_info(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, &d->max_group, sizeof d->max_group, &d->failure);
    d->kind = type & CL_DEVICE_TYPE_GPU   ? DEVICE_GPU
              : type & CL_DEVICE_TYPE_CPU ? DEVICE_CPU
                                          : DEVICE_OTHER;
    d->compute_units = units;
    d->memory_bytes = (size_t)memory;
    d->max_buffer_bytes = (size_t)largest;
    d->local_bytes = (size_t)local;
    d->wavefront = wavefront;
    d->cache_bytes = (size_t)cache;
    d->clock_hz = 1e6 * clock;
    d->fp64 = wide > 0;
    d->fp16 = strstr(extensions, "cl_khr_fp16") != NULL;
    d->rounds_quotients = (single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    d->unified_memory = unified != CL_FALSE;
    d->is_pocl = strcmp(name, POCL) == 0;
    /* PoCL says 1 of CPUs whose vectors it does not know by name, as POWER's, and where /proc/cpuinfo does not tell; its
     * compiler makes vectors for all of them. */
    d->native_float_width = d->is_pocl && width < LEAST_VECTOR ? LEAST_VECTOR : width;
    d->keeps_code = d->is_pocl;
    d->parts = 1;
    d->copies = 1;
    d->most_parts = most_parts(id);
}

/* PoCL 6 ends the process ("did not reach a fixpoint") over some kernels of many work-items, in the way by which it
 * makes loops of them; the other way that it has compiles all, and into faster code. */
static void prepare_version(cl_platform_id platform)
{
    char version[256] = "";
    if (clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof version, version, NULL) ==
            CL_SUCCESS &&
        strstr(version, "PoCL 6.") != NULL)
        setenv("POCL_WORK_GROUP_METHOD", "cbs", 0);
}

static void scan_platform(cl_platform_id platform, cl_int *failure)
{
    cl_device_id found[MOST_DEVICES];
    cl_uint count = 0;
    prepare_version(platform);
    const cl_int code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MOST_DEVICES, found, &count);
    if (code != CL_SUCCESS) {
        *failure = code;
        return;
    }
    for (cl_uint i = 0; i < count && device_count < MOST_DEVICES; i++) {
        struct device *d = &devices[device_count];
        describe(platform, found[i], d);
        d->number = device_count;
        ids[device_count++] = found[i];
    }
}

static void scan(void)
{
    prepare_pocl();
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_uint count = 0;
    cl_int failure = CL_SUCCESS;
    const cl_int code = clGetPlatformIDs(MOST_PLATFORMS, platforms, &count);
    for (cl_uint i = 0; code == CL_SUCCESS && i < count && i < MOST_PLATFORMS; i++)
        scan_platform(platforms[i], &failure);
    if (device_count > 0)
        return;
    if (code != CL_SUCCESS || count == 0)
        scan_status =
            error_set(TARN_ERR_NO_DEVICE,
                      "no OpenCL platform (%s): install a driver, for a CPU Debian's "
                      "pocl-opencl-icd; OCL_ICD_VENDORS names where drivers are looked for",
                      code != CL_SUCCESS ? cl_error_name(code) : "none registered");
    else
        scan_status = error_set(TARN_ERR_NO_DEVICE,
                                "%u OpenCL platforms, but no device (%s): PoCL says so too when it "
                                "cannot write to POCL_CACHE_DIR (\"%s\")",
                                count, cl_error_name(failure), env_system("POCL_CACHE_DIR"));
    snprintf(scan_line, sizeof scan_line, "%s", error_text());
}

/* PoCL starts its workers now, and they compile each kernel at its first launch. */
static void scan_deep(void)
{
    run_for_deep_threads(scan);
}

tarn_status device_list(const struct device **list, int *count)
{
    pthread_once(&once, scan_deep);
    *list = devices;
    *count = device_count;
    return scan_status == TARN_OK ? TARN_OK : error_set(scan_status, "%s", scan_line);
}

void device_identify(const struct device *d, char out[DEVICE_IDENTITY_BYTES])
{
    snprintf(out, DEVICE_IDENTITY_BYTES, "%s|%s|%s|%s", d->name, d->vendor, d->driver, d->platform);
}

cl_device_id device_id(int number)
{
    return ids[number];
}
