/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the register tiles of a program's heaviest sums by measuring. In: a compiled program and
 * what it works on. Out: tiles in the target. Kernels that differ in one tile run in turns, each alone,
 * on memory of their own; what won is then compared as a whole step. No tile changes a bit. */
#include "run/tune_tiles.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "env.h"
#include "hash_table.h"
#include "log.h"

#define MOST_SUMS 16       /* that are tuned, the heaviest: */
#define WORTH_TUNING 0.02  /* from this share of a program's work on */
#define MOST_OF_A_KERNEL 4 /* sums of one kernel: each is measured by itself */
#define TURN_SECONDS \
    2e-3              /* of a kernel, launched again and again: far above what a launch varies */
#define FIRST_TURNS 3 /* after which what is slower is given up */
#define TURNS 9
#define GAIN 0.97 /* of the other's time that is taken for faster, and not for chance */

static tarn_status out_of_memory(void)
{
    return error_set(TARN_ERR_MEMORY, "tune: out of host memory");
}

/* ---- which sums ----------------------------------------------------------------------------- */

struct heavy_sum {
    uint64_t sum;
    int kernel, turn; /* its number among those of its kernel */
    double work;
    bool known;
};

struct heavy_sums {
    struct heavy_sum list[MOST_SUMS];
    int count;
};

static bool is_listed(const struct heavy_sums *h, uint64_t sum)
{
    for (int i = 0; i < h->count; i++)
        if (h->list[i].sum == sum)
            return true;
    return false;
}

/* Among those listed, the lightest makes room. */
static void list_sum(struct heavy_sums *h, const struct heavy_sum *new)
{
    int at = h->count;
    while (at > 0 && h->list[at - 1].work < new->work)
        at--;
    if (at == MOST_SUMS)
        return;
    if (h->count < MOST_SUMS)
        h->count++;
    memmove(&h->list[at + 1], &h->list[at], (size_t)(h->count - 1 - at) * sizeof *new);
    h->list[at] = *new;
}

static struct heavy_sums find_heavy(const struct program_ir *p)
{
    struct heavy_sums h = { 0 };
    double all = 0;
    for (int i = 0; i < p->nest_count; i++)
        all += p->placements[i].work;
    for (int i = 0; i < p->nest_count; i++) {
        const struct heavy_sum new = { .sum = p->schedules[i].sum,
                                       .kernel = p->placements[i].kernel,
                                       .work = p->placements[i].work };
        if (new.sum != 0 && new.work >= WORTH_TUNING * all && !is_listed(&h, new.sum))
            list_sum(&h, &new);
    }
    for (int i = 0; i < h.count; i++)
        for (int k = 0; k < i; k++)
            h.list[i].turn += h.list[k].kernel == h.list[i].kernel;
    return h;
}

/* ---- what is known -------------------------------------------------------------------------- */

/* Replicas of one device measure one after the other: the second finds what the first kept. */
static pthread_mutex_t measuring = PTHREAD_MUTEX_INITIALIZER;

struct kept_tile {
    char key[256];
    int number;
    UT_hash_handle hh;
};
static struct kept_tile *kept_tiles; /* for the life of the process; guarded by `measuring` */

static void name_tile(struct context *c, uint64_t sum, char *key, size_t capacity)
{
    const struct device *d = context_device(c);
    snprintf(key, capacity, "tile 1 %016llx|%s|%s|%u", (unsigned long long)sum, d->name, d->driver,
             d->compute_units);
}

static bool known_tile(struct context *c, uint64_t sum, int *number)
{
    char key[256], text[16];
    struct kept_tile *found;
    name_tile(c, sum, key, sizeof key);
    HASH_FIND_STR(kept_tiles, key, found);
    if (found != NULL) {
        *number = found->number;
        return true;
    }
    if (!cache_load_text(key, text, sizeof text))
        return false;
    char *end;
    const long value = strtol(text, &end, 10);
    *number = (int)value;
    return end != text && *end == '\0' && value >= 0 && value < TARGET_TILES;
}

static void keep_tile(struct context *c, const struct tile_choice *choice, double seconds)
{
    char text[16];
    struct kept_tile *new = calloc(1, sizeof *new);
    if (new == NULL)
        return;
    name_tile(c, choice->sum, new->key, sizeof new->key);
    new->number = choice->number;
    snprintf(text, sizeof text, "%d", choice->number);
    cache_store_text(new->key, text, seconds);
    HASH_ADD_STR(kept_tiles, key, new);
    if (new->hh.tbl == NULL)
        free(new);
}

/* ---- memory to measure on ------------------------------------------------------------------- */

/* As a step's, but for what a step writes. */
struct stand_ins {
    struct binding binding;
    struct owned *owned;  /* only with their buffers */
    struct buffer **real; /* of each, whose place it takes */
    uint32_t *slots;      /* each slot its own number */
    struct buffer **outputs;
    int output_count;
    uint32_t owned_count;
};

static void free_stand_ins(struct stand_ins *s)
{
    for (uint32_t i = 0; s->owned != NULL && s->real != NULL && i < s->owned_count; i++)
        if (s->owned[i].flat == 0) /* a buffer that others share is freed once */
            buffer_free(s->owned[i].buffer);
    for (int i = 0; s->outputs != NULL && i < s->output_count; i++)
        buffer_free(s->outputs[i]);
    buffer_free(s->binding.arena);
    free(s->owned);
    free(s->real);
    free(s->slots);
    free(s->outputs);
}

static tarn_status zeros(struct context *c, size_t bytes, struct buffer **out)
{
    TRY(buffer_new(c, bytes, out));
    return buffer_fill_zero(*out, 0, bytes);
}

/* A piece of memory that several owned tensors share has one that takes its place. */
static tarn_status stand_in_for(const tarn_replica *r, uint32_t slot, struct stand_ins *s)
{
    s->slots[slot] = slot;
    s->real[slot] = r->owned[slot].buffer;
    if (s->real[slot] == NULL)
        return TARN_OK;
    for (uint32_t i = 0; i < slot; i++)
        if (s->real[i] == s->real[slot]) {
            s->owned[slot] = (struct owned){ .buffer = s->owned[i].buffer, .flat = i + 1 };
            return TARN_OK;
        }
    return zeros(r->context, buffer_bytes(s->real[slot]), &s->owned[slot].buffer);
}

static tarn_status make_stand_ins(const tarn_replica *r, const struct program *program,
                                  size_t arena_bytes, const size_t *output_bytes,
                                  struct stand_ins *s)
{
    s->owned_count = r->owned_count;
    s->output_count = program->output_count;
    s->owned = calloc((size_t)r->owned_count + 1, sizeof *s->owned);
    s->real = calloc((size_t)r->owned_count + 1, sizeof(struct buffer *));
    s->slots = calloc((size_t)r->owned_count + 1, sizeof *s->slots);
    s->outputs = calloc((size_t)program->output_count + 1, sizeof(struct buffer *));
    if (s->owned == NULL || s->real == NULL || s->slots == NULL || s->outputs == NULL)
        return out_of_memory();
    for (uint32_t i = 0; i < r->owned_count; i++)
        TRY(stand_in_for(r, i, s));
    for (int i = 0; i < program->output_count; i++)
        TRY(buffer_new(r->context, output_bytes[i], &s->outputs[i]));
    s->binding = (struct binding){ .context = r->context,
                                   .inputs = r->graph.inputs,
                                   .owned = s->owned,
                                   .owned_slots = s->slots,
                                   .outputs = s->outputs,
                                   .numbers = r->graph.numbers };
    return arena_bytes > 0 ? zeros(r->context, arena_bytes, &s->binding.arena) : TARN_OK;
}

/* ---- measuring ------------------------------------------------------------------------------ */

struct tuning {
    tarn_replica *replica;
    const struct program *program;
    struct target *target;
    struct heavy_sums sums;
    struct stand_ins memory;
    struct plan *first, *best; /* as without choices; and with what was chosen so far */
};

static tarn_status make_plan(struct tuning *t, struct plan **out)
{
    struct kernel_plan compiled = { 0 };
    *out = calloc(1, sizeof **out);
    if (*out == NULL)
        return out_of_memory();
    tarn_status status = compile_program(t->program, t->target, &compiled);
    if (status == TARN_OK)
        status = plan_make(t->replica->context, t->program, &compiled, *out);
    if (status == TARN_OK && (*out)->kept_bytes > 0)
        status = zeros(t->replica->context, (*out)->kept_bytes, &(*out)->kept);
    kernel_plan_free(&compiled);
    if (status == TARN_OK)
        return TARN_OK;
    plan_free(*out);
    *out = NULL;
    return status;
}

/* Kernels of a plan, from `from` to `to` - 1, so many times. */
struct kernels_run {
    const struct plan *plan;
    const struct binding *binding;
    int from, to, times;
};

static tarn_status run_kernels(struct context *c, void *user)
{
    const struct kernels_run *k = user;
    (void)c;
    for (int i = 0; i < k->times; i++)
        for (int n = k->from; n < k->to; n++)
            TRY(execute_kernel(k->plan, &k->plan->kernels[n], k->binding));
    return TARN_OK;
}

/* The time of what one plan does through that of another. */
static tarn_status compare(struct tuning *t, const struct plan *a, const struct plan *b, int from,
                           int to, double *ratio)
{
    struct context *c = t->replica->context;
    struct kernels_run x = { a, &t->memory.binding, from, to, 1 };
    struct kernels_run y = { b, &t->memory.binding, from, to, 1 };
    const struct timed first = { run_kernels, &x }, second = { run_kernels, &y };
    double seconds;
    TRY(time_once(c, &first, &seconds)); /* the driver may finish kernels here */
    TRY(time_once(c, &second, &seconds));
    TRY(time_once(c, &second, &seconds));
    if (seconds < TURN_SECONDS)
        x.times = y.times = (int)(TURN_SECONDS / (seconds + 1e-6)) + 1;
    TRY(time_ratio(c, &first, &second, FIRST_TURNS, ratio));
    return *ratio < 1 ? time_ratio(c, &first, &second, TURNS, ratio) : TARN_OK;
}

/* The arena of the plan that needs most. */
static tarn_status need_arena(struct tuning *t, const struct plan *plan)
{
    struct buffer **arena = &t->memory.binding.arena;
    if (plan->arena_bytes == 0 || (*arena != NULL && buffer_bytes(*arena) >= plan->arena_bytes))
        return TARN_OK;
    buffer_free(*arena);
    *arena = NULL;
    return zeros(t->replica->context, plan->arena_bytes, arena);
}

static bool takes_turn(const struct heavy_sum *h, int turn)
{
    return !h->known && h->turn == turn;
}

/* One sum of each kernel in its tile of this number: those that are faster keep it. */
static tarn_status try_number(struct tuning *t, int turn, int number)
{
    int before[MOST_SUMS];
    struct plan *plan;
    for (int i = 0; i < t->sums.count; i++) {
        before[i] = t->target->tiles[i].number;
        if (takes_turn(&t->sums.list[i], turn))
            t->target->tiles[i].number = number;
    }
    TRY(make_plan(t, &plan));
    tarn_status status = need_arena(t, plan);
    bool any = false;
    for (int i = 0; i < t->sums.count && status == TARN_OK; i++) {
        const int k = t->sums.list[i].kernel;
        double ratio = 1;
        if (!takes_turn(&t->sums.list[i], turn))
            continue;
        if (plan->kernels[k].kernel != t->best->kernels[k].kernel)
            status = compare(t, plan, t->best, k, k + 1, &ratio);
        if (status == TARN_OK && ratio < GAIN && env_debug("plan"))
            log_print(TARN_LOG_DEBUG, "tarn: k%d: tile %d of a sum takes %.3f of the kernel's time",
                      k, number, ratio);
        any |= ratio < GAIN;
        if (!(ratio < GAIN))
            t->target->tiles[i].number = before[i];
    }
    plan_free(plan);
    if (status != TARN_OK || !any)
        return status;
    TRY(make_plan(t, &plan));
    if (t->best != t->first)
        plan_free(t->best);
    t->best = plan;
    return need_arena(t, plan);
}

/* Nobody is to have a slower step for it: as a whole, too, the tuned one must be faster. */
static tarn_status check_step(struct tuning *t)
{
    double ratio = 1;
    if (t->best == t->first)
        return TARN_OK;
    TRY(compare(t, t->best, t->first, 0, t->first->kernel_count, &ratio));
    if (env_debug("plan"))
        log_print(TARN_LOG_DEBUG, "tarn: tuned tiles: the step's kernels take %.3f of their time",
                  ratio);
    for (int i = 0; i < t->sums.count && !(ratio < 1); i++)
        if (!t->sums.list[i].known)
            t->target->tiles[i].number = 0;
    return TARN_OK;
}

static tarn_status measure(struct tuning *t)
{
    TRY(make_plan(t, &t->first));
    t->best = t->first;
    TRY(make_stand_ins(t->replica, t->program, t->first->arena_bytes, t->first->output_bytes,
                       &t->memory));
    for (int turn = 0; turn < MOST_OF_A_KERNEL; turn++) {
        bool any = false;
        for (int i = 0; i < t->sums.count; i++)
            any |= takes_turn(&t->sums.list[i], turn);
        for (int number = 1; any && number < TARGET_TILES; number++)
            TRY(try_number(t, turn, number));
    }
    return check_step(t);
}

static tarn_status measure_and_keep(struct tuning *t)
{
    const double start = seconds_now();
    tarn_status status = measure(t);
    const tarn_status finished = context_finish(t->replica->context);
    status = status == TARN_OK ? finished : status;
    if (t->best != t->first)
        plan_free(t->best);
    plan_free(t->first);
    free_stand_ins(&t->memory);
    for (int i = 0; i < t->sums.count; i++) {
        if (status != TARN_OK && !t->sums.list[i].known)
            t->target->tiles[i].number = 0;
        else if (!t->sums.list[i].known)
            keep_tile(t->replica->context, &t->target->tiles[i], seconds_now() - start);
    }
    /* A program that is too large to be measured beside itself runs as it is. */
    return status == TARN_ERR_MEMORY || status == TARN_ERR_DEVICE_MEMORY ? TARN_OK : status;
}

/* ---- choosing ------------------------------------------------------------------------------- */

static tarn_status choose_tiles(struct tuning *t)
{
    struct context *c = t->replica->context;
    bool all_known = true;
    for (int i = 0; i < t->sums.count; i++) {
        struct tile_choice *choice = &t->target->tiles[i];
        choice->sum = t->sums.list[i].sum;
        t->sums.list[i].known = known_tile(c, choice->sum, &choice->number);
        if (!t->sums.list[i].known)
            choice->number = 0;
        all_known &= t->sums.list[i].known;
    }
    t->target->tile_count = t->sums.count;
    return all_known || !tuning_wanted(c) ? TARN_OK : measure_and_keep(t);
}

tarn_status tune_tiles(tarn_replica *r, const struct program *program, struct target *target,
                       struct kernel_plan *compiled)
{
    struct tuning t = {
        .replica = r, .program = program, .target = target, .sums = find_heavy(compiled->ir)
    };
    if (t.sums.count == 0 || target->tile_number != 0)
        return TARN_OK;
    target->tiles = calloc((size_t)t.sums.count, sizeof *target->tiles);
    if (target->tiles == NULL)
        return out_of_memory();
    pthread_mutex_lock(&measuring);
    const tarn_status status = choose_tiles(&t);
    pthread_mutex_unlock(&measuring);
    TRY(status);
    for (int i = 0; i < target->tile_count; i++)
        if (target->tiles[i].number != 0) {
            kernel_plan_free(compiled);
            return compile_program(program, target, compiled);
        }
    return TARN_OK;
}
