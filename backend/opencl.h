/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the backend share: OpenCL itself, and the structs behind backend.h. */
#ifndef TARN_OPENCL_H
#define TARN_OPENCL_H

/* 2.0 for memory that the host sees without commands, where a device has it; the rest is 1.2. */
#define CL_TARGET_OPENCL_VERSION 200
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <pthread.h>

#include "backend.h"

#define TRACKED 4096 /* commands in flight that are kept */
/* Launches for each event where these are dear. An H200's driver takes 7.0 us for a launch, 2.4 more for its event, and 1.5
 * for a question about it. */
#define EVENT_EVERY 8
#define POOL_CLASSES 48
#define MOST_DEVICES 64

/* A command in flight. */
struct tracked {
    cl_event event; /* NULL: it ended before the next one that has an event */
    cl_event cause; /* of the other queue, ended before `event`; NULL: none */
    const char *label;
    const char *about; /* for the trace; NULL: the label */
    bool first;        /* launch of its kernel, in which drivers compile it */
    bool fills;        /* the device: no core is left to the thread that waits */
};

struct context {
    struct device device;
    char label[200]; /* device_describe() */
    cl_device_id id;
    cl_context context;
    cl_command_queue compute, copy;
    double timeout;       /* seconds that a command may be late */
    double build_timeout; /* and the first launch of a kernel */
    bool profiled;        /* compute notes times */
    int track;            /* of its commands in the trace; 0: none */
    const char *about;    /* of the commands that come, for the trace */
    double device_zero,
        traced; /* seconds_now() at the device's 0, and at the end of the last span */
    struct command_recorder *recorder; /* command_recorder.c; NULL: nothing is recorded */
    bool no_replay;                    /* the driver failed at it */
    bool no_bitcode;                   /* the driver does not give or does not take it: bitcode.c */
    bool no_declared;                  /* the driver's compiler does not take our declarations */
    bool fine_grain; /* host and device can use the same memory without commands in between */
    bool near_host;  /* so do they for all buffers: the device is the host's processor */
    struct tracked ring[TRACKED];
    int event_every;      /* so manyth launch has an event; 1: each */
    int silent;           /* the newest commands that have none */
    bool unflushed;       /* something was enqueued since the last flush */
    uint64_t first, next; /* commands first .. next - 1 are in flight; numbers never repeat */
    tarn_status failed;   /* the first command that failed, with its line */
    char failure[512];
    struct buffer *pool[POOL_CLASSES];
    struct buffer_stats stats;
    struct backend_counters counters;
    struct gemm_tarn *gemm;         /* gemm_tarn.c's program, once it was needed */
    _Atomic bool lost;              /* a command that nobody waits for any more may still run */
    struct lender *lender;          /* NULL: there is none */
    struct staging *staging;        /* what copies go through; NULL until one is needed */
    struct known_kernel *kernels;   /* by text: kernels.c */
    uint64_t steps;                 /* context_step() */
    size_t built_bytes;             /* of their texts, in the wait that lasted until built_at */
    double built_at;                /* seconds */
    struct built_program *programs; /* to be written to the disk cache when the context closes */
    pthread_mutex_t upload_lock;
};

struct kernel {
    struct built_program *program;
    cl_kernel kernel;
    char name[64];
    const char *label;
    bool launched;
    struct known_kernel *known; /* NULL: its maker's alone */
};

struct buffer {
    struct context *context;
    cl_mem memory;
    void *host;      /* the same bytes, for the host between commands; NULL: not for it */
    size_t bytes;    /* asked for */
    size_t capacity; /* of the class */
    queue_mark used; /* in the pool: no later command uses it */
    struct buffer *next;
};

/* A context of a CPU device opens, launches, closes: see awake.c. */
void awake_join(const struct device *d);
void awake_now(const struct context *c);
/* Some tens of cycles of nothing, in which the core's other thread has it for itself. */
void awake_pause(void);
void awake_leave(const struct device *d);

/* A context opens, has flushed, closes (`idle`: all its commands ended): see lend.c. */
void lend_open(struct context *c);
void lend_newest(struct context *c);
void lend_close(struct context *c, bool idle);
/* Sleeps for at most so long (below 1 s), less when a command ends that lend.c waits for; false at once when it waits for
 * none. */
bool lend_pause(const struct context *c, double seconds);

/* Finds out whether a context can record launches, as TARN_REPLAY wants it; and gives that up, when no replay is left. */
TARN_CHECKED tarn_status command_recorder_open(struct context *c);
void command_recorder_close(struct context *c);
/* Drops all recordings of a context, whose queue changes, or whose memory goes. */
void replay_forget(struct context *c);
/* OpenCL's code. */
cl_int kernel_set_args(const struct kernel *k, const struct kernel_arg *args, int count);

/* PoCL's bitcode of a source, to be freed; NULL where it does not give any, or cannot compile the source. `declared`: of
 * what kernels/declared.cl has, in 0.4 of the time. */
unsigned char *bitcode_of(const struct context *c, const char *source, const char *options,
                          bool declared, size_t *bytes);
/* Takes the names of what functions compute out of bitcode; false, and it is as it was, where it is not understood. */
bool bitcode_drop_names(unsigned char *bitcode, size_t bytes);

/* The OpenCL device behind an entry of the device list. */
cl_device_id device_id(int number);
/* What tells a device, its driver and their versions from others. */
#define DEVICE_IDENTITY_BYTES 400
void device_identify(const struct device *d, char out[DEVICE_IDENTITY_BYTES]);
/* Name of an OpenCL error code. */
const char *cl_error_name(cl_int code);
/* "clCreateBuffer on "name": CL_OUT_OF_RESOURCES (-5)" as an error. */
tarn_status cl_failed(const struct context *c, const char *call, cl_int code);

/* A buffer that was never in the pool; CL_MEM_READ_WRITE is among the flags already. `memory`
 * (may be NULL) is for CL_MEM_USE_HOST_PTR. */
TARN_CHECKED tarn_status buffer_fresh(struct context *c, size_t bytes, cl_mem_flags flags,
                                      void *memory, struct buffer **out);
/* Releases a buffer without giving it to the pool; `keep`: all but the device's memory. */
void buffer_drop(struct buffer *b, bool keep);
/* Releases the idle buffers; `keep`: all but the device's memory. */
void pool_release(struct context *c, bool keep);
/* A copy of a label that lives as long as the process; equal labels share one. */
const char *label_keep(const char *text);

/* Keeps the event of an enqueued command until it ended. The label must live as long as that:
 * a literal, or one from label_keep. */
TARN_CHECKED tarn_status event_track(struct context *c, cl_event event, const char *label);
/* The same for a command that waits for one of the copy queue, whose failure counts, too. Both
 * events are released in the end, also on failure. */
TARN_CHECKED tarn_status event_track_cause(struct context *c, cl_event event, cl_event cause,
                                           const char *label);
void event_forget(struct tracked *t);
/* Whether the next launch has an event. If the newest have none: a command that has one behind them. */
bool event_wanted(const struct context *c, bool first);
TARN_CHECKED tarn_status event_close(struct context *c);
/* An event that ends when all commands before `mark` have ended, which were flushed. */
cl_event event_before(const struct context *c, queue_mark mark);
/* As context_wait, but leaves failed commands for the next poll to report. */
TARN_CHECKED tarn_status context_settle(struct context *c, queue_mark mark);
/* Waits (with deadline) for all commands; whether all ended. The next poll reports those that
 * failed. */
bool context_is_idle(struct context *c);
/* How far a command is: CL_COMPLETE, above it not ended, below it failed. */
TARN_CHECKED tarn_status event_status(const struct context *c, cl_event event, cl_int *status);
/* Waits for one event with the deadline. */
TARN_CHECKED tarn_status event_wait(const struct context *c, cl_event event, const char *label);

/* Whether it is known that a command ended, well or not: what it used is free again. */
bool event_ended(cl_event event);

/* Host memory for copies, in the place of the caller's: makes it at least so large; its bytes;
 * and takes the event of a command on it, whose wait is over. When the command may still run, the
 * memory is left to it for ever and `*s` is NULL. Released with free(). */
struct staging;
TARN_CHECKED tarn_status staging_need(struct staging **s, size_t bytes);
void *staging_data(struct staging *s);
void staging_settle(struct context *c, struct staging **s, cl_event event);

/* Whether host and device can use the same memory without commands in between (SHARED_DIRECT), and
 * the host's address of it; NULL for shared memory of another kind. */
bool shared_is_direct(const struct context *c);
void *shared_memory(struct shared *s);

/* The directory of the disk cache: an open descriptor, or -1 when there is none; the first time
 * that it cannot be used, a line says why. `path` (may be NULL) gets its name without symbolic
 * links. */
int cache_directory(char *path, size_t capacity);
/* The folder in it for PoCL's own; false when it cannot be used, or the disk is full. */
bool cache_folder_of_pocl(char *path, size_t capacity);
/* Says once in a process that the cache is not used as it should. */
void cache_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A payload by key text, checked; NULL on a miss. The caller frees it. */
void *cache_load(const char *key, size_t *bytes);
/* The beginning of the key of an entry of ours, as text, from an open directory, and what it took to make. */
void cache_describe(int folder, const char *name, struct cache_entry *out);
/* `seconds`: what it took to make, for people. */
void cache_store(const char *key, const void *payload, size_t bytes, double seconds);
/* A program was built: trims now and then. Called with the lock for builds. */
void cache_grew(void);
/* Serialises cold builds of several processes: an open lock to be closed; -1 when there is none, or
 * another process has it for seconds. */
int cache_lock(void);

/* Saves OpenCL C that did not build for a person to look at, and gives the file's name; of all that
 * were saved in that folder the last 8 stay. */
void failed_save(const char *source, char *path, size_t capacity);

/* The same as program_build; `quick`: without the driver's optimiser, which changes no bit of what its
 * kernels compute. */
TARN_CHECKED tarn_status program_build_as(struct context *c, const char *source, bool quick,
                                          const char *label, struct built_program **out);
/* Launches a kernel that is to do nothing, so that the driver finishes it. */
TARN_CHECKED tarn_status kernel_launch_idle(struct kernel *k, const struct idle_launch *idle);
/* Takes the function of the same name from another program of the same source. */
TARN_CHECKED tarn_status kernel_replace(struct kernel *k, struct built_program *p);
/* The middle one of so many numbers, which it sorts (timed.c). */
double median_of(double *values, int count);

/* A kernel that was taken by its text is about to be launched: if it was built quickly, this asks for a
 * better one when it is launched often, and takes that when it is there. */
TARN_CHECKED tarn_status known_kernel_improve(struct known_kernel *known);
/* Gives back a kernel that was taken by its text. NULL is a no-op. */
void known_kernel_leave(struct known_kernel *known);
/* Releases a kernel that nobody has any more. */
void kernel_drop(struct kernel *k);
/* Writes the binaries of programs that were built here to the disk cache. */
void program_flush(struct context *c);
void gemm_release(void);
/* Whether TARN_GEMM names a provider. */
TARN_CHECKED tarn_status gemm_check(void);
/* The same of TARN_TARGET. */
TARN_CHECKED tarn_status target_check_name(void);
/* A context's program for products. */
void gemm_tarn_free(struct context *c);
/* c = 0: what a product over no steps is. */
tarn_status gemm_nothing(const struct gemm *g);

/* Whether this allocation or launch is the one that a test plans to fail. */
bool backend_fails_now(void);

#endif
