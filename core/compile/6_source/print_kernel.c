/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels as OpenCL C: parameters, sections, and the loop over batch blocks around the nests. In: a
 * scheduled program. Out: a kernel's code, and what it takes. Decides nothing. */
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "compile/6_source/print.h"
#include "compile/6_source/source.h"
#include "tensor/shape.h"
#include "tensor/sum_order.h"

static void want_param(struct arena *a, struct planned_kernel *k, enum param_kind kind,
                       uint32_t slot)
{
    for (int i = 0; i < k->param_count; i++)
        if (k->params[i].kind == kind && k->params[i].slot == slot)
            return;
    if (k->param_count == k->param_capacity) {
        const int capacity = 2 * k->param_capacity + 16;
        struct param *larger = arena_take(a, (size_t)capacity * sizeof *larger);
        if (larger == NULL)
            return;
        if (k->param_count > 0)
            memcpy(larger, k->params, (size_t)k->param_count * sizeof *larger);
        k->params = larger;
        k->param_capacity = capacity;
    }
    k->params[k->param_count++] = (struct param){ .kind = kind, .slot = slot };
}

struct param param_of(const struct value *v)
{
    static const enum param_kind kinds[] = {
        [PLACE_ARENA] = PARAM_ARENA, [PLACE_INPUT] = PARAM_INPUT,   [PLACE_OWNED] = PARAM_OWNED,
        [PLACE_LEFT] = PARAM_OWNED,  [PLACE_OUTPUT] = PARAM_OUTPUT, [PLACE_SHARED] = PARAM_SHARED
    };
    return (struct param){ .kind = v->kept ? PARAM_KEPT : kinds[v->place],
                           .slot = v->place == PLACE_ARENA ? 0 : v->slot };
}

static bool has_offset(const struct value *v)
{
    return v->place == PLACE_ARENA || v->place == PLACE_OWNED || v->place == PLACE_LEFT;
}

/* The first time that a kernel's nests name a value. */
static void want_value(struct printer *pr, struct planned_kernel *k, int value)
{
    struct program_ir *p = pr->p;
    struct value *v = &p->values[value];
    if (v->named_in == pr->kernel + 1)
        return;
    v->named_in = pr->kernel + 1;
    pr->values[pr->value_count++] = value;
    if (v->place == PLACE_SCRATCH)
        return;
    const struct param needed = param_of(v);
    want_param(p->arena, k, needed.kind, needed.slot);
    if (has_offset(v))
        want_param(p->arena, k, PARAM_OFFSETS, 0);
    if (has_offset(v) && p->module->program->steps > 0)
        want_param(p->arena, k, PARAM_STEP, 0);
}

static void want_expr(struct printer *pr, struct planned_kernel *k, const struct expr *e)
{
    struct arena *a = pr->p->arena;
    if (e->kind == EXPR_LOAD)
        want_value(pr, k, e->access.value);
    if (e->kind == EXPR_NUMBER)
        want_param(a, k, PARAM_NUMBER, e->bits);
    if (e->kind == EXPR_RAND) {
        want_param(a, k, PARAM_KEY, 0);
        want_param(a, k, PARAM_SERIAL, e->bits);
        if (kernel_repeats(pr->p, pr->kernel))
            want_param(a, k, PARAM_SERIALS, 0);
    }
    for (uint32_t axis = 0; axis < MESH_AXES; axis++)
        if (e->step[axis] != 0)
            want_param(a, k, PARAM_COORDINATE, axis);
}

/* Values and parameters, in the order in which the nests name them. */
static bool collect_uses(struct printer *pr, struct planned_kernel *k)
{
    struct program_ir *p = pr->p;
    size_t most = 1;
    for (int i = 0; i < pr->nest_count; i++)
        most += (size_t)(p->nests[pr->nests[i]].stores + p->nests[pr->nests[i]].expr_count);
    pr->values = arena_take(p->arena, most * sizeof *pr->values);
    if (pr->values == NULL)
        return false;
    if (!p->target->items)
        want_param(p->arena, k, PARAM_SKIP, 0);
    if (kernel_repeats(p, pr->kernel))
        want_param(p->arena, k, PARAM_STEPS, 0);
    for (int i = 0; i < pr->nest_count; i++) {
        const struct nest *n = &p->nests[pr->nests[i]];
        for (int s = 0; s < n->stores; s++)
            want_value(pr, k, n->store[s].value);
        for (int e = 0; e < n->expr_count; e++)
            want_expr(pr, k, &n->exprs[e]);
    }
    k->offsets = arena_take(p->arena, (size_t)(pr->value_count + 1) * sizeof *k->offsets);
    k->offset_of = arena_take(p->arena, (size_t)(pr->value_count + 1) * sizeof *k->offset_of);
    return k->offsets != NULL && k->offset_of != NULL;
}

static void print_params(struct text *t, const struct planned_kernel *k, bool repeats)
{
    static const char *const words[] = {
        [PARAM_SKIP] = "const int skip",           [PARAM_ARENA] = "__global uchar *arena",
        [PARAM_KEPT] = "__global uchar *kept",     [PARAM_OFFSETS] = "__global const ulong *offset",
        [PARAM_INPUT] = "__global uchar *input",   [PARAM_OWNED] = "__global uchar *owned",
        [PARAM_OUTPUT] = "__global uchar *output", [PARAM_SHARED] = "__global uchar *shared",
        [PARAM_NUMBER] = "const float number",     [PARAM_SERIAL] = "const uint serial",
        [PARAM_KEY] = "const ulong key",           [PARAM_COORDINATE] = "const uint coordinate",
        [PARAM_STEP] = "const int step",           [PARAM_STEPS] = "const int steps",
        [PARAM_SERIALS] = "const uint serials",
    };
    for (int i = 0; i < k->param_count; i++) {
        const struct param *p = &k->params[i];
        const bool alone = p->kind == PARAM_SKIP || p->kind == PARAM_ARENA ||
                           p->kind == PARAM_KEPT || p->kind == PARAM_OFFSETS ||
                           p->kind == PARAM_KEY || p->kind == PARAM_STEP ||
                           p->kind == PARAM_STEPS || p->kind == PARAM_SERIALS;
        const bool grows = repeats && (p->kind == PARAM_STEP || p->kind == PARAM_SERIAL);
        text_add(t, "%s%s", i == 0 ? "" : ", ", words[p->kind] + (grows ? strlen("const ") : 0));
        if (!alone)
            text_add(t, "%u", p->slot);
    }
}

static void print_scratch(const struct printer *pr, struct text *t)
{
    size_t scratch = 0;
    for (int i = 0; i < pr->value_count; i++) {
        const struct value *v = &pr->p->values[pr->values[i]];
        if (v->place == PLACE_SCRATCH && v->offset + v->bytes > scratch)
            scratch = v->offset + v->bytes;
    }
    if (scratch > 0)
        text_add(t, "    __local float16 scratch[%zu];\n", (scratch + 63) / 64);
}

/* Declares the values. Where they lie is no part of the text: layers that do the same at other
 * places are one kernel. */
static void print_values(const struct printer *pr, struct text *t, struct planned_kernel *k)
{
    static const char *const places[] = { [PLACE_INPUT] = "input",
                                          [PLACE_OWNED] = "owned",
                                          [PLACE_LEFT] = "owned",
                                          [PLACE_OUTPUT] = "output",
                                          [PLACE_SHARED] = "shared" };
    for (int i = 0; i < pr->value_count; i++) {
        const struct value *v = &pr->p->values[pr->values[i]];
        const char *type = memory_type(v), *space = value_space(v);
        text_add(t, "%*s%s %s *v%d = (%s %s *)(", 4 * pr->indent, "", space, type, pr->values[i],
                 space, type);
        if (v->place == PLACE_SCRATCH)
            text_add(t, "(__local uchar *)scratch + %zu", v->offset);
        else if (v->place == PLACE_ARENA)
            text_add(t, v->kept ? "kept" : "arena");
        else
            text_add(t, "%s%u", places[v->place], v->slot);
        if (has_offset(v)) {
            text_add(t, " + offset[%s%d]", pr->p->module->program->steps > 0 ? "step + " : "",
                     k->offset_count);
            k->offset_of[k->offset_count] = v->place == PLACE_ARENA ? -1 : (int)v->slot;
            k->offsets[k->offset_count++] = v->offset;
        }
        text_add(t, "); /* %s%s */\n", shape_text(v->shape),
                 v->layout == LAYOUT_BLOCKED ? " blocked" : "");
    }
}

/* The nests of a kernel that have loops, section by section: first those of the only ones that have several
 * nests, 0 to 2. */
static int *nests_of(const struct program_ir *p, int kernel, int *count)
{
    const struct nest_range all = kernel_nests(p, kernel);
    int *nests = arena_take(p->arena, (size_t)(all.end - all.at + 1) * sizeof *nests);
    *count = 0;
    for (int pass = 0; nests != NULL && pass < 4; pass++)
        for (const int *at = all.at; at < all.end; at++) {
            const int section = p->placements[*at].section;
            if (nest_is_code(&p->nests[*at]) && (section < 3 ? section : 3) == pass)
                nests[(*count)++] = *at;
        }
    return nests;
}

/* Who runs a nest of section 0. */
enum role {
    EVERY_GROUP, /* for itself: small values that others read */
    SHARED_OUT,  /* all groups, each a part */
    ONE_GROUP,
    IN_BLOCKS
};

static enum role role_of(const struct program_ir *p, const struct nest *n)
{
    return n->batched                       ? IN_BLOCKS
           : placement_of(p, n)->replicated ? EVERY_GROUP
           : schedule_of(p, n)->groups > 1  ? SHARED_OUT
                                            : ONE_GROUP;
}

static void open_block(struct printer *pr, const char *head)
{
    print_line(pr, "%s", head);
    pr->indent++;
}

static void print_nests(struct printer *pr, enum role role)
{
    for (int i = 0; i < pr->nest_count; i++) {
        take_nest(pr, pr->nests[i]);
        if (role_of(pr->p, pr->n) != role)
            continue;
        const bool alone = placement_of(pr->p, pr->n)->first_part;
        if (alone)
            open_block(pr, "if (part == 0) {");
        print_call(pr);
        close_loops(pr, alone);
    }
}

/* Who has copies of values for itself. */
static void print_copies(struct printer *pr)
{
    const struct program_ir *p = pr->p;
    const char *who = kernel_workers(p, pr->kernel) > 0 ? "worker" : group_name(pr);
    for (int i = 0; i < pr->value_count; i++) {
        const struct value *v = &p->values[pr->values[i]];
        if (v->copy_stride > 0 && kernel_shares(p, v->first) == kernel_shares(p, pr->kernel))
            print_line(pr, "v%d += %d * %s;", pr->values[i], v->copy_stride, who);
        if (v->part_stride > 0)
            print_line(pr, "v%d += %dL * part;", pr->values[i], v->part_stride);
        if (v->worker_stride > 0)
            print_line(pr, "v%d += %lldL * worker;", pr->values[i], (long long)v->worker_stride);
    }
    print_nests(pr, EVERY_GROUP);
}

/* The loop over batch blocks, and before it what else there is to do. */
static void print_blocks(struct printer *pr, int groups)
{
    const struct program_ir *p = pr->p;
    bool rest = false;
    print_nests(pr, SHARED_OUT);
    for (int i = 0; i < pr->nest_count; i++)
        rest |= role_of(p, &p->nests[pr->nests[i]]) == ONE_GROUP;
    if (rest) {
        print_line(pr, "if (%s == 0) {", group_name(pr));
        pr->indent++;
        print_nests(pr, ONE_GROUP);
        close_loops(pr, 1);
    }
    print_line(pr, "const long first = group * %d / %d, last = (group + 1) * %d / %d;", p->blocks,
               groups, p->blocks, groups);
    print_for(pr, "for (long b = first; b < last; ++b) {");
    print_nests(pr, IN_BLOCKS);
    close_loops(pr, 1);
}

static void print_worker_loop(struct printer *pr, int groups, int workers)
{
    print_for(pr, "for (long group = worker * %d / %d; group < (worker + 1) * %d / %d; ++group) {",
              groups, workers, groups, workers);
}

static void print_all_nests(struct printer *pr)
{
    for (int i = 0; i < pr->nest_count; i++) {
        take_nest(pr, pr->nests[i]);
        print_call(pr);
    }
}

/* What row workers do, who have values of which they keep no more than the samples at hand. */
static void open_shares(struct printer *pr, int workers)
{
    print_line(pr, "if (section_group < %d) {", workers);
    pr->indent++;
    print_line(pr, "const long worker = section_group;");
    for (int i = 0; i < pr->value_count; i++) {
        const struct value *v = &pr->p->values[pr->values[i]];
        if (v->room > 0)
            print_line(pr, "__global %s *const room%d = v%d + %lldL * worker;", memory_type(v),
                       pr->values[i], pr->values[i], (long long)value_room(pr->p, v, pr->kernel));
    }
}

/* Of each of them the samples of a group, whose number is an index into all of the batch. */
static void print_rows(struct printer *pr, int groups)
{
    for (int i = 0; i < pr->value_count; i++) {
        const struct value *v = &pr->p->values[pr->values[i]];
        if (v->room > 0)
            print_line(pr, "__global %s *const v%d = room%d - %lldL * (group * %d / %d);",
                       memory_type(v), pr->values[i], pr->values[i], (long long)value_run(pr->p, v),
                       pr->p->module->samples, groups);
    }
}

/* The printer has the nests of one section. */
static void print_section(struct printer *pr, int start, int groups)
{
    const int section = pr->p->placements[pr->nests[0]].section;
    print_line(pr, "if (section_group >= %d && section_group < %d) {", start, start + groups);
    pr->indent++;
    const int parts = pr->parts = section == 0 ? kernel_parts(pr->p, pr->kernel) : 1;
    const int workers = section == 0 ? kernel_workers(pr->p, pr->kernel) : 0;
    print_line(pr, "const long %s = section_group - %d;",
               workers > 0 ? "worker"
               : parts > 1 ? "share"
                           : "group",
               start);
    if (parts > 1)
        print_line(pr, "const long group = share / %d, part = share %% %d;", parts, parts);
    if (section == 0)
        print_copies(pr);
    if (workers > 0)
        print_worker_loop(pr, pr->p->groups, workers);
    if (section == 0)
        print_blocks(pr, pr->p->groups);
    else
        print_all_nests(pr);
    close_loops(pr, 1 + (workers > 0));
}

/* The same of a kernel with row workers, each of which does its share of every section: groups of other sections
 * beside so few would leave units idle, since drivers hand them out in runs of equal length. */
static void print_shared_section(struct printer *pr, int workers)
{
    const int groups = pr->p->schedules[pr->nests[0]].groups;
    pr->parts = 1;
    print_worker_loop(pr, groups, workers);
    if (pr->p->placements[pr->nests[0]].section == SECTION_OF_ROWS)
        print_rows(pr, groups);
    print_all_nests(pr);
    close_loops(pr, 1);
}

/* The nests of a kernel, section by section. */
static void print_sections(struct printer *pr, struct planned_kernel *k)
{
    const struct program_ir *p = pr->p;
    const int *end = pr->nests + pr->nest_count;
    const int workers = kernel_row_workers(p, pr->kernel);
    if (workers > 0)
        open_shares(pr, workers);
    for (const int *next; pr->nests < end; pr->nests = next) {
        const int section = p->placements[pr->nests[0]].section;
        for (next = pr->nests; next < end && p->placements[*next].section == section;)
            next++;
        pr->nest_count = (int)(next - pr->nests);
        const int groups =
            section == 0 ? kernel_shares(p, pr->kernel) : p->schedules[pr->nests[0]].groups;
        print_line(pr, "/* %s */", p->nests[pr->nests[0]].name);
        if (groups == 0)
            continue;
        if (workers > 0)
            print_shared_section(pr, workers);
        else
            print_section(pr, k->groups, groups);
        k->groups = workers > 0 ? workers : k->groups + groups;
    }
    close_loops(pr, workers > 0);
}

/* What is another for the next step: where values lie, and random numbers. */
static void print_next_step(struct printer *pr, const struct planned_kernel *k)
{
    if (k->offset_count > 0)
        print_line(pr, "step += %d;", k->offset_count);
    for (int i = 0; i < k->param_count; i++)
        if (k->params[i].kind == PARAM_SERIAL)
            print_line(pr, "serial%u += serials;", k->params[i].slot);
    close_loops(pr, 1);
}

/* The kernel from its parameters on, with names of the whole program in it. */
static tarn_status print_rest(struct program_ir *p, int kernel, struct text *functions,
                              struct text *out, struct planned_kernel *k)
{
    struct printer pr = { .p = p,
                          .kernel = kernel,
                          .out = out,
                          .functions = functions,
                          .indent = 1,
                          .width = 1,
                          .lane_axis = -1 };
    pr.tail = p->module->batch % LANES != 0;
    pr.nests = nests_of(p, kernel, &pr.nest_count);
    if (pr.nests == NULL || !collect_uses(&pr, k))
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    k->groups = 0;
    text_add(out, "(");
    const bool repeats = kernel_repeats(p, kernel);
    print_params(out, k, repeats);
    text_add(out, ")\n{\n    const int section_group = (int)get_group_id(0)%s;\n",
             p->target->items ? "" : " + skip");
    if (p->target->items)
        print_team(p, kernel, out);
    print_scratch(&pr, out);
    if (repeats)
        print_for(&pr, "for (int turn = 0; turn < steps; ++turn) {");
    print_values(&pr, out, k);
    if (p->target->items)
        print_nests_gpu(&pr, k);
    else
        print_sections(&pr, k);
    if (repeats)
        print_next_step(&pr, k);
    text_add(out, "}\n");
    free(pr.known);
    return TARN_OK;
}

static bool calls_routines(const struct program_ir *p, int kernel)
{
    for (struct nest_range r = kernel_nests(p, kernel); r.at < r.end; r.at++)
        if (p->nests[*r.at].kind == NEST_ROUTINE)
            return true;
    return false;
}

/* Its functions have tiles of the target's size, and call exp. */
static void print_attention(const struct program_ir *p, const char *kernel, struct text *out)
{
    if (strstr(kernel, "tarn_attention") == NULL)
        return;
    print_math("TARN_EXP_", out);
    text_add(out,
             "#ifndef TARN_ATTENTION_VECTORS\n#define TARN_ATTENTION_VECTORS %d\n"
             "#define TARN_ATTENTION_TILE %d\n#define TARN_ATTENTION_WHOLE %d\n%s#endif\n",
             target_routine_vectors(p->target), target_routine_rows(p->target),
             p->target->vector.width == 1, kernel_attention);
}

static bool has_dtype(const struct program_ir *p, int kernel, tarn_dtype dtype)
{
    for (struct nest_range r = kernel_nests(p, kernel); r.at < r.end; r.at++) {
        const struct nest *n = &p->nests[*r.at];
        for (int s = 0; s < n->stores; s++)
            if (p->values[n->store[s].value].dtype == dtype)
                return true;
        for (int e = 0; e < n->expr_count; e++)
            if (n->exprs[e].dtype == dtype)
                return true;
    }
    return false;
}

/* What the kernel calls, but for kernels/math.cl: each file once in a program. */
static void print_functions(const struct program_ir *p, int kernel, const char *text,
                            struct text *out)
{
    const bool routines = calls_routines(p, kernel);
    const bool longs = has_dtype(p, kernel, TARN_I64), doubles = has_dtype(p, kernel, TARN_F64);
    if (routines)
        text_add(out, "#ifndef TARN_ROUTINE\n%s%s#endif\n", kernel_sorting, kernel_routines);
    if (strstr(text, "F16_") != NULL)
        text_add(out, "#ifndef TARN_TO_F16_1\n%s#endif\n", kernel_half);
    if (longs)
        text_add(out, "#ifndef TARN_TO_I64_1\n%s#endif\n", kernel_long);
    if (doubles)
        text_add(out, "#ifndef TARN_TO_F64_F64\n%s#endif\n", kernel_double);
    if (routines && longs)
        text_add(out, "#ifndef TARN_ROUTINE_LONG\n%s#endif\n", kernel_routines_long);
    if (routines && doubles)
        text_add(out, "#ifndef TARN_ROUTINE_DOUBLE\n%s#endif\n", kernel_routines_double);
}

tarn_status print_kernel(struct program_ir *p, int kernel, struct planned_kernel *k)
{
    struct text body = { 0 }, nests = { 0 }, text = { 0 };
    tarn_status status = print_rest(p, kernel, &nests, &body, k);
    if (status == TARN_OK && !body.failed)
        number_names(&body, &text);
    const bool printed = !body.failed && !text.failed && !nests.failed;
    if (status == TARN_OK && printed) {
        const XXH64_hash_t h =
            XXH3_64bits_withSeed(text.data, text.length, (uint64_t)p->group_size);
        text_fill(k->function, sizeof k->function, "k_%016llx", (unsigned long long)h);
        text_add(&nests, "__kernel __attribute__((reqd_work_group_size(%d, 1, 1)))\nvoid %s%s\n",
                 p->group_size, k->function, text.data);
    }
    if (status == TARN_OK && printed && !nests.failed) {
        print_functions(p, kernel, nests.data, &k->source);
        print_attention(p, nests.data, &k->source);
        print_math(nests.data, &k->source);
        text_add_bytes(&k->source, nests.data, nests.length);
    }
    if (status == TARN_OK && (!printed || nests.failed || k->source.failed || p->arena->failed))
        status = error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    text_free(&body);
    text_free(&nests);
    text_free(&text);
    return status;
}
