/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL in the words that Tarn needs: devices, contexts, buffers, programs, launches, waiting.
 * Knows bytes, never tensors. Nothing above this folder includes CL/cl.h.
 *
 * Threads: device_* may be called from any thread (the enumeration runs once, under pthread_once).
 * A context and what belongs to it is used by one thread at a time, except upload_* which one
 * other thread (a loader) may use concurrently. Builds take a process-wide lock.
 * Errors: every function returns a status whose line is in error_text(). */
#ifndef TARN_BACKEND_H
#define TARN_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "figures.h"

/* ---- devices -------------------------------------------------------------------------------- */

enum device_kind { DEVICE_CPU, DEVICE_GPU, DEVICE_OTHER };

struct device {
    char name[128]; /* as the driver says it */
    char vendor[64];
    char driver[64];    /* driver version */
    char platform[128]; /* platform name and version */
    enum device_kind kind;
    unsigned compute_units;
    size_t memory_bytes, max_buffer_bytes, local_bytes, max_group;
    unsigned native_float_width;
    unsigned wavefront; /* work-items that go together, where the driver says so; else 0 */
    size_t cache_bytes; /* of the cache in front of its memory; 0: not known */
    double clock_hz;    /* the highest; 0: not known */
    bool fp64, fp16, unified_memory;
    bool rounds_quotients; /* and square roots correctly, where it is asked to */
    bool is_pocl;          /* whose workers' cores are known */
    bool keeps_code;       /* the driver has a cache of compiled kernels itself */
    int number;            /* in the flat numbering of device_list() */
    int part, parts;  /* sub-device `part` of `parts` equal parts; parts == 1 for a whole device */
    int most_parts;   /* into which a whole device can be divided; 1: not at all */
    int failure;      /* OpenCL's code when it could not be asked; such a device does not open */
    int copy, copies; /* index and number of the selections of this same device */
};

/* All devices of all platforms in one flat numbering. `*list` stays valid for ever. */
TARN_CHECKED tarn_status device_list(const struct device **list, int *count);

/* Parses a selection (grammar of TARN_DEVICES; NULL or "" means the environment's, else the first
 * GPU, else device 0) into at most `capacity` devices. Refusals name what there is. "cpu:0/2" is
 * part 0 of 2 of the first CPU that can be divided so, "cpu/2" both parts. */
TARN_CHECKED tarn_status device_select(const char *spec, struct device *out, int capacity,
                                       int *count);
/* Devices for a launch: NULL or "" means the environment's, else all GPUs, else all devices.
 * `wanted` 0 means TARN_NUM_DEVICES of them, or one replica for each; a lone CPU is divided into
 * as many as are wanted. The same device may come more than once. */
TARN_CHECKED tarn_status device_select_many(const char *spec, int wanted, struct device *out,
                                            int capacity, int *count);
/* The name as errors give it: with number, part and copy when the name alone could be another's:
 * "NAME (device 0)", "NAME (device 0:1/2)", "NAME (device 0, copy 1/2)". */
void device_describe(const struct device *d, char *out, size_t capacity);
/* Keeps the calling thread, and those that it starts, on the cores of a part of a CPU. For
 * threads that launch work while others do so on the other parts. Nothing happens for whole
 * devices, where a driver's cores are not known, or with TARN_PIN=0. */
void device_stay(const struct device *d);

/* What to expect of it (figures.h): of the kind that TARN_TARGET names, else as they were measured,
 * else the default: by the kind of the device, and by what driver and operating system say. */
struct device_figures figures_of(const struct device *d);
struct device_figures figures_default(const struct device *d);
/* Keeps measured ones in the cache, for all programs; TARN_ERR_ARGUMENT for impossible ones. */
TARN_CHECKED tarn_status figures_keep(const struct device *d, const struct device_figures *f,
                                      double seconds);

/* ---- contexts ------------------------------------------------------------------------------- */

struct context; /* one replica's OpenCL context with a compute and an upload queue, both in order */

TARN_CHECKED tarn_status context_open(const struct device *device, struct context **out);
/* Waits (with deadline) for what runs, then releases everything that belongs to the context. */
void context_close(struct context *c);
const struct device *context_device(const struct context *c);
/* How long a command may be late, and the first launch of a kernel, in place of TARN_TIMEOUT and
 * TARN_BUILD_TIMEOUT, which 0 leaves. Before there are any. */
void context_set_timeouts(struct context *c, double command, double build);
double context_timeout(const struct context *c);

/* Looks at the commands in flight without waiting: retires finished ones, reports the first that
 * failed by its label. clFinish() is not trusted: it succeeds over failed commands. */
TARN_CHECKED tarn_status context_poll(struct context *c);
/* Waits until all enqueued commands ended, or the deadline passed. */
TARN_CHECKED tarn_status context_finish(struct context *c);

/* A point in the compute queue: all commands enqueued before it. */
typedef uint64_t queue_mark;
TARN_CHECKED tarn_status context_mark(struct context *c, queue_mark *out);
/* Waits until everything before the mark ended (immediately true for mark 0). */
TARN_CHECKED tarn_status context_wait(struct context *c, queue_mark mark);
/* Whether context_poll() or a wait saw all commands before the mark end. */
bool context_is_past(const struct context *c, queue_mark mark);

/* While on, the device notes when its commands begin and end. Waits. */
TARN_CHECKED tarn_status context_profile(struct context *c, bool on);
/* From now on the commands of the compute queue are spans of a new track of this name, if a trace is
 * wanted (trace.h). Waits. */
TARN_CHECKED tarn_status context_trace(struct context *c, const char *name);
/* What launches do from now on, for the trace: a text that lives until they ended; NULL: their kernel's
 * name says it. */
void context_describe(struct context *c, const char *what);

/* ---- buffers -------------------------------------------------------------------------------- */

struct buffer; /* device memory, taken from and given back to the context's pool */

/* bytes == 0 is legal (a minimal buffer is made). Refuses more than the device's largest buffer.
 * Contents are undefined. */
TARN_CHECKED tarn_status buffer_new(struct context *c, size_t bytes, struct buffer **out);
/* With these contents; `data` may be reused on return. Does not wait for commands in flight where the host sees the
 * device's memory. */
TARN_CHECKED tarn_status buffer_new_of(struct context *c, size_t bytes, const void *data,
                                       struct buffer **out);
/* Gives it back to the pool; commands already enqueued may still use it, since the compute queue
 * is in order. NULL is a no-op. */
void buffer_free(struct buffer *b);
size_t buffer_bytes(const struct buffer *b);
/* Live (not pooled) buffers and bytes, the most bytes that ever were, and bytes held by the pool. */
struct buffer_stats {
    size_t live, live_bytes, peak_bytes, pooled_bytes;
};
struct buffer_stats buffer_statistics(const struct context *c);

/* Blocking, in order with the compute queue, with deadline. After an error the device does not
 * touch the caller's memory either, however late it comes; what was read in part is undefined. */
TARN_CHECKED tarn_status buffer_read(struct buffer *b, size_t offset, void *to, size_t bytes);
/* `from` may be reused on return. In order with the compute queue. */
TARN_CHECKED tarn_status buffer_write(struct buffer *b, size_t offset, const void *from,
                                      size_t bytes);
TARN_CHECKED tarn_status buffer_copy(struct buffer *to, size_t to_offset, struct buffer *from,
                                     size_t from_offset, size_t bytes);
TARN_CHECKED tarn_status buffer_fill_zero(struct buffer *b, size_t offset, size_t bytes);

/* ---- uploads from another thread ------------------------------------------------------------ */

struct upload; /* a device buffer filled by another thread, then used on the compute queue */

/* Makes an upload slot of a fixed size. Uploads are not pooled buffers; their buffer lives as long
 * as the slot. */
TARN_CHECKED tarn_status upload_new(struct context *c, size_t bytes, struct upload **out);
void upload_free(struct upload *u);
/* On the loader's thread: waits until the compute queue is done with the slot's last contents,
 * then copies `bytes` to the device and waits until they are there. */
TARN_CHECKED tarn_status upload_put(struct upload *u, const void *from, size_t bytes);
/* On the replica's thread: the buffer to compute with. */
struct buffer *upload_buffer(struct upload *u);
/* On the replica's thread: all commands that read the slot are enqueued now; the next upload_put
 * waits for them. */
TARN_CHECKED tarn_status upload_release(struct upload *u);
/* Whether those have ended, and waiting for them (with deadline): on the replica's thread, so
 * that the loader's has nothing to wait for. */
bool upload_is_idle(struct upload *u);
TARN_CHECKED tarn_status upload_settle(struct upload *u);

/* ---- memory that kernels and the host's threads use in turn --------------------------------- */

/* The device computes into it, then the host reads and writes it, then the device goes on. Unlike
 * buffer_read and buffer_write it waits for no command but those that it is told of, so that the
 * device can work on something else meanwhile.
 *
 * Called by the context's thread, at most one begin without its end for each. Between begin and end
 * any thread may use the host pointer (they agree among themselves), and no command that is
 * enqueued may use the buffer. */
struct shared;

/* How the bytes get to the host. */
enum shared_way {
    SHARED_BEST,   /* the first of these that the device can */
    SHARED_DIRECT, /* host and device see the same memory at any time: no command is needed */
    SHARED_MAPPED, /* the same memory, mapped for the host */
    SHARED_COPIED  /* a copy in page-aligned host memory */
};

/* bytes == 0 is legal. A way other than SHARED_BEST is for tests; TARN_ERR_ARGUMENT when the device
 * cannot go it. */
TARN_CHECKED tarn_status shared_new(struct context *c, size_t bytes, struct shared **out);
TARN_CHECKED tarn_status shared_new_by(struct context *c, size_t bytes, enum shared_way way,
                                       struct shared **out);
/* Ends what was begun and waits (with deadline) for the commands enqueued so far, which may use the
 * buffer. NULL is a no-op. */
void shared_free(struct shared *s);
/* The buffer, as a kernel's argument and for buffer_*. Belongs to `s`: never freed alone. */
struct buffer *shared_buffer(struct shared *s);

/* Waits until the commands before the mark ended, not for later ones, and gives the host pointer to
 * all bytes; without `read` their contents are undefined. On failure nothing was begun. */
TARN_CHECKED tarn_status shared_begin(struct shared *s, queue_mark after, bool read, void **host);
/* Hands the memory back without waiting: every later command sees what the host wrote. With
 * `written` false the host must have changed nothing. */
TARN_CHECKED tarn_status shared_end(struct shared *s, bool written);

/* ---- programs and launches ------------------------------------------------------------------ */

struct built_program;
struct kernel;

/* Builds OpenCL C 1.2 source, or takes the binary from the on-disk cache. `label` names it in
 * errors ("plan 3f2a..."); on failure the error line carries the first line of the build log with
 * our line number and the path where the source was saved. */
TARN_CHECKED tarn_status program_build(struct context *c, const char *source, const char *label,
                                       struct built_program **out);
void program_free(struct built_program *p);
TARN_CHECKED tarn_status kernel_new(struct built_program *p, const char *name, struct kernel **out);
void kernel_free(struct kernel *k);
const char *kernel_name(const struct kernel *k);

/* One kernel argument: a buffer, or `size` bytes by value. */
struct kernel_arg {
    struct buffer *buffer; /* NULL: by value */
    size_t size;
    union {
        int32_t i32;
        uint32_t u32;
        float f32;
        uint64_t u64;
    } value;
};

/* A launch in which a kernel does nothing, for drivers that compile kernels when they are first
 * launched: arguments with which no group has anything to do. */
struct idle_launch {
    const struct kernel_arg *args; /* NULL: there is no such launch */
    int count;
    size_t groups, local;
};
/* A kernel's text and the function in it. Equal texts have one function; others have others. */
struct kernel_text {
    const char *function, *text;
    struct idle_launch idle;
};
/* Takes the kernels of these texts, each compiled after the two texts of `head`: a context builds
 * each once, however many ask for it. Each is to be given back with kernel_free(); on failure none
 * was taken. */
TARN_CHECKED tarn_status kernels_take(struct context *c, const char *const head[2],
                                      const struct kernel_text *list, int count, const char *label,
                                      struct kernel **out);

/* Enqueues `groups` work-groups of `local` work-items (one dimension, never local = NULL).
 * groups == 0 is legal and does nothing. The kernel is tracked until it ends. */
TARN_CHECKED tarn_status kernel_launch(struct kernel *k, const struct kernel_arg *args, int count,
                                       size_t groups, size_t local);
/* Launches of a plan that come step after step, in one order: what does not change from one step to the next is
 * recorded, where the driver can (replay.c, TARN_REPLAY), and enqueued as one command. The same kernels run on the same
 * memory in the same order. */
struct replay;
/* For at most so many launches; *out is NULL where nothing is ever recorded. */
TARN_CHECKED tarn_status replay_new(struct context *c, int launches, struct replay **out);
void replay_free(struct replay *r); /* NULL is a no-op */
/* A step's launches begin. Until replay_end() commands of others are enqueued on the context's queue only after
 * replay_apart(). */
void replay_begin(struct replay *r);
/* As kernel_launch(), but a launch may be held back until one of those that follow. `work`: its operations and bytes, by
 * which runs are kept short. */
TARN_CHECKED tarn_status replay_launch(struct replay *r, struct kernel *k,
                                       const struct kernel_arg *args, int count, size_t groups,
                                       size_t local, double work);
/* Something else comes before the next launch; to be said in each step. */
void replay_apart(struct replay *r);
/* All launches were made; none is held back any more. */
void replay_end(struct replay *r);
/* Starts the enqueued work without waiting for it. */
TARN_CHECKED tarn_status context_flush(struct context *c);
/* A step ends: what was built quickly, and is launched in another step, is worth a better build. */
void context_step(struct context *c);

/* Something that enqueues, to be timed. */
struct timed {
    tarn_status (*run)(struct context *c, void *user);
    void *user;
};
/* Seconds from its start until the context has nothing left to do. */
TARN_CHECKED tarn_status time_once(struct context *c, const struct timed *what, double *seconds);
/* The median of a's time through b's in so many turns (at most 15) of both: the machine may have been
 * busier while one of them ran. */
TARN_CHECKED tarn_status time_ratio(struct context *c, const struct timed *a, const struct timed *b,
                                    int turns, double *ratio);

/* Counters for metrics and tests. */
struct backend_counters {
    uint64_t launches, builds, cache_hits, buffers_created;
    uint64_t replayed; /* launches that were part of a recording */
    uint64_t
        quick_launches; /* of kernels that were built quickly, of which better builds are still to come */
    uint64_t quick_kept; /* kernels of which none will come */
    double build_seconds;
    double
        improve_seconds; /* in launches, until such better builds were there and had taken their place */
    double busy_seconds; /* of commands that ended while context_profile() was on */
};
struct backend_counters context_counters(const struct context *c);

/* ---- planned failures (tests) --------------------------------------------------------------- */

/* Counts down at every allocation and launch, the one at 0 fails; negative: none. */
extern _Atomic long backend_fail_nth;
/* The same for calls of the driver's allocation, which says that it has no memory left. */
extern _Atomic long backend_refuse_nth;

/* ---- disk cache: private, checked; a bad entry is a miss ------------------------------------ */

/* Small named records (measured choices). `key` is any text. Returns false on a miss or when the
 * cache is disabled. */
bool cache_load_text(const char *key, char *out, size_t capacity);
/* `seconds`: what it took to find out; for people, who may clear the cache. */
void cache_store_text(const char *key, const char *text, double seconds);
/* Removes what was used least recently, if the cache is larger than TARN_CACHE_BYTES. Done now
 * and then when a program was built. */
void cache_trim(void);
/* An entry: a file of ours, or the folder in which PoCL keeps a program. */
struct cache_entry {
    bool pocl;
    char about[120]; /* what a file of ours is found by, shortened; the folder */
    uint64_t bytes;
    double idle;    /* seconds since it was used */
    double seconds; /* that it took to make; NAN: not known, as of PoCL's */
};
/* All of them, for free(). False after error_set() when there is no cache. */
bool cache_list(struct cache_entry **list, size_t *count);
/* Removes entries that were not used for so many seconds, those that were used least recently first, until those that
 * are left have at most so many bytes. What other processes are building may be among them: they build it again. */
bool cache_clear(double idle, double most_bytes, uint64_t *removed);

/* Whether TARN_TUNE lets things be measured: by itself on GPUs alone, since they differ most. */
bool tuning_wanted(const struct context *c);

/* ---- GEMM ----------------------------------------------------------------------------------- */

/* c[m,n] = op(a) op(b), row-major, `batch` times with strides in elements (0: shared): float32, but where a provider
 * reads them operands may be of half types, which are widened. */
enum gemm_words { GEMM_FLOAT32, GEMM_FLOAT16, GEMM_BFLOAT16, GEMM_WORDS };
struct gemm {
    size_t m, n, k, batch;
    bool transpose_a, transpose_b;
    struct buffer *a, *b, *c;
    size_t a_offset, b_offset, c_offset; /* elements */
    size_t a_stride, b_stride, c_stride; /* elements between batches */
    enum gemm_words a_words, b_words;
};

struct gemm_provider {
    const char *name;
    tarn_status (*run)(struct context *c, const struct gemm *g, void *user);
    void *user;
    bool refused;  /* it cannot compute this shape on this device, or never is the fastest */
    bool unlikely; /* when nobody measures, those before it are taken */
    bool serial;   /* every element is summed in the order of docs/numerics.md, on any device */
};

/* kernels/gemm.cl, for CPUs: in the usual blocks, with panels of twice the depth, and with as many
 * groups as units. The `user` of each is a struct gemm_form (gemm_blocks.h). */
extern const struct gemm_provider gemm_tarn, gemm_tarn_deep, gemm_tarn_coarse;
extern const struct gemm_provider gemm_clblast; /* everywhere, though slow on CPUs */

/* Whether gemm_tarn can be used on this device. */
bool gemm_tarn_possible(const struct context *c);

/* Index of the provider to use for this shape on this device, whose buffers need not be there: the
 * one that TARN_GEMM names; else, of those that are offered (with `serial` only serial ones, which
 * give the same bits), the remembered one (in memory, then on disk); else the fastest now measured,
 * leaving out those that fail, if it is still faster when it runs in turns with the one that would be
 * taken without measuring; when all fail, the first one's error. Where TARN_TUNE says not to
 * measure, the last likely one. providers[0] is serial and always offered. */
TARN_CHECKED tarn_status gemm_choose(struct context *c, const struct gemm *g,
                                     const struct gemm_provider *providers, int count, bool serial,
                                     int *out);

#endif
