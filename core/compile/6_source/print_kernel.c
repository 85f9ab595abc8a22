/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels as OpenCL C: parameters, sections, and the loop over batch blocks around the nests. In: a
 * scheduled program. Out: a kernel's code, and what it takes. Decides nothing. */
#include <stdlib.h>
#include <string.h>

#include "compile/6_source/print.h"
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
    static const enum param_kind kinds[] = { [PLACE_ARENA] = PARAM_ARENA,
                                             [PLACE_INPUT] = PARAM_INPUT,
                                             [PLACE_OWNED] = PARAM_OWNED,
                                             [PLACE_OUTPUT] = PARAM_OUTPUT,
                                             [PLACE_SHARED] = PARAM_SHARED };
    return (struct param){ .kind = kinds[v->place], .slot = v->place == PLACE_ARENA ? 0 : v->slot };
}

static void want_value(struct program_ir *p, struct planned_kernel *k, int value)
{
    const struct value *v = &p->values[value];
    if (v->place == PLACE_SCRATCH)
        return;
    const struct param needed = param_of(v);
    want_param(p->arena, k, needed.kind, needed.slot);
}

static void collect_params(struct program_ir *p, int kernel, struct planned_kernel *k)
{
    for (struct nest_range r = kernel_nests(p, kernel); r.at < r.end; r.at++) {
        const struct nest *n = &p->nests[*r.at];
        if (n->kind != NEST_LOOPS)
            continue;
        for (int s = 0; s < n->stores; s++)
            want_value(p, k, n->store[s].value);
        for (int e = 0; e < n->expr_count; e++) {
            if (n->exprs[e].kind == EXPR_LOAD)
                want_value(p, k, n->exprs[e].access.value);
            if (n->exprs[e].kind == EXPR_NUMBER)
                want_param(p->arena, k, PARAM_NUMBER, n->exprs[e].bits);
            if (n->exprs[e].kind == EXPR_RAND)
                want_param(p->arena, k, PARAM_KEY, 0);
            if (n->exprs[e].kind == EXPR_RAND && n->exprs[e].arg[0] > 0)
                want_param(p->arena, k, PARAM_RANK, 0);
        }
    }
}

/* What a kernel reads and writes, by number. */
struct used_values {
    const int *value;
    int count;
};

static void print_head(struct program_ir *p, struct text *t, int kernel,
                       const struct planned_kernel *k, const struct used_values *used)
{
    static const char *const places[] = { [PLACE_INPUT] = "input",
                                          [PLACE_OWNED] = "owned",
                                          [PLACE_OUTPUT] = "output",
                                          [PLACE_SHARED] = "shared" };
    text_add(t, "__kernel __attribute__((reqd_work_group_size(%d, 1, 1)))\nvoid %s(", p->group_size,
             k->name);
    for (int i = 0; i < k->param_count; i++) {
        text_add(t, "%s", i == 0 ? "" : ", ");
        const uint32_t slot = k->params[i].slot;
        switch (k->params[i].kind) {
        case PARAM_ARENA:
            text_add(t, "__global uchar *arena");
            break;
        case PARAM_INPUT:
            text_add(t, "__global uchar *input%u", slot);
            break;
        case PARAM_OWNED:
            text_add(t, "__global uchar *owned%u", slot);
            break;
        case PARAM_OUTPUT:
            text_add(t, "__global uchar *output%u", slot);
            break;
        case PARAM_SHARED:
            text_add(t, "__global uchar *shared%u", slot);
            break;
        case PARAM_NUMBER:
            text_add(t, "const float number%u", slot);
            break;
        case PARAM_KEY:
            text_add(t, "const ulong key");
            break;
        case PARAM_RANK:
            text_add(t, "const uint rank");
            break;
        }
    }
    text_add(t, ")\n{\n    const int section_group = (int)get_group_id(0);\n");
    if (p->target->items)
        print_team(p, kernel, t);
    size_t scratch = 0;
    for (int i = 0; i < used->count; i++) {
        const struct value *value = &p->values[used->value[i]];
        if (value->place == PLACE_SCRATCH && value->offset + value->bytes > scratch)
            scratch = value->offset + value->bytes;
    }
    if (scratch > 0)
        text_add(t, "    __local float16 scratch[%zu];\n", (scratch + 63) / 64);
    for (int i = 0; i < used->count; i++) {
        const int v = used->value[i];
        const struct value *value = &p->values[v];
        const char *type = memory_type(value), *space = value_space(value);
        text_add(t, "    %s %s *v%d = (%s %s *)(", space, type, v, space, type);
        if (value->place == PLACE_SCRATCH)
            text_add(t, "(__local uchar *)scratch");
        else if (value->place == PLACE_ARENA)
            text_add(t, "arena");
        else
            text_add(t, "%s%u", places[value->place], value->slot);
        text_add(t, " + %zu); /* %s%s */\n", value->offset, shape_text(value->shape),
                 value->layout == LAYOUT_BLOCKED ? " blocked" : "");
    }
}

/* The nests of a kernel that have loops, section by section: first those of the only ones that have several
 * nests, 0 and 1. */
static int *nests_of(const struct program_ir *p, int kernel, int *count)
{
    const struct nest_range all = kernel_nests(p, kernel);
    int *nests = arena_take(p->arena, (size_t)(all.end - all.at + 1) * sizeof *nests);
    *count = 0;
    for (int pass = 0; nests != NULL && pass < 2; pass++)
        for (const int *at = all.at; at < all.end; at++)
            if (p->nests[*at].kind == NEST_LOOPS && (p->placements[*at].section > 1) == (pass == 1))
                nests[(*count)++] = *at;
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

static void print_nests(struct printer *pr, enum role role)
{
    for (int i = 0; i < pr->nest_count; i++) {
        take_nest(pr, pr->nests[i]);
        if (role_of(pr->p, pr->n) == role)
            print_nest(pr);
    }
}

/* The loop over batch blocks, and before it what else there is to do. */
static void print_blocks(struct printer *pr, int groups, const struct used_values *used)
{
    const struct program_ir *p = pr->p;
    bool rest = false;
    for (int i = 0; i < used->count; i++)
        if (p->values[used->value[i]].copy_stride > 0)
            print_line(pr, "v%d += %d * group;", used->value[i],
                       p->values[used->value[i]].copy_stride);
    print_nests(pr, EVERY_GROUP);
    print_nests(pr, SHARED_OUT);
    for (int i = 0; i < pr->nest_count; i++) {
        rest |= role_of(p, &p->nests[pr->nests[i]]) == ONE_GROUP;
    }
    if (rest) {
        print_line(pr, "if (group == 0) {");
        pr->indent++;
        print_nests(pr, ONE_GROUP);
        close_loops(pr, 1);
    }
    print_line(pr, "const long first = group * %d / %d, last = (group + 1) * %d / %d;", p->blocks,
               groups, p->blocks, groups);
    print_for(pr, "for (long b = first; b < last; ++b) {");
    if (pr->tail) {
        print_line(pr,
                   "const int16 sample = min((int16)((int)(16 * b)) + TARN_LANES, (int16)(%d));",
                   p->module->batch - 1);
        print_line(pr, "const int16 present = ((int16)((int)(16 * b)) + TARN_LANES) < (int16)(%d);",
                   p->module->batch);
    }
    print_nests(pr, IN_BLOCKS);
    close_loops(pr, 1);
}

/* The printer has the nests of one section. */
static void print_section(struct printer *pr, int start, int groups, const struct used_values *used)
{
    print_line(pr, "if (section_group >= %d && section_group < %d) {", start, start + groups);
    pr->indent++;
    print_line(pr, "const long group = section_group - %d;", start);
    if (pr->p->placements[pr->nests[0]].section == 0)
        print_blocks(pr, groups, used);
    else
        for (int i = 0; i < pr->nest_count; i++) {
            take_nest(pr, pr->nests[i]);
            print_nest(pr);
        }
    close_loops(pr, 1);
}

/* The nests of a kernel, section by section. */
static void print_sections(struct printer *pr, struct planned_kernel *k,
                           const struct used_values *used)
{
    const struct program_ir *p = pr->p;
    const int *end = pr->nests + pr->nest_count;
    for (const int *next; pr->nests < end; pr->nests = next) {
        const int section = p->placements[pr->nests[0]].section;
        for (next = pr->nests; next < end && p->placements[*next].section == section;)
            next++;
        pr->nest_count = (int)(next - pr->nests);
        const int groups = section == 0 ? p->groups : p->schedules[pr->nests[0]].groups;
        text_add(pr->out, "    /* %s */\n", p->nests[pr->nests[0]].name);
        if (groups == 0)
            continue;
        print_section(pr, k->groups, groups, used);
        k->groups += groups;
    }
}

tarn_status print_kernel(struct program_ir *p, int kernel, struct text *out,
                         struct planned_kernel *k)
{
    struct used_values used = { 0 };
    used.value = kernel_values(p, kernel, &used.count);
    if (used.value == NULL)
        return error_set(TARN_ERR_MEMORY, "compile: out of host memory");
    collect_params(p, kernel, k);
    print_head(p, out, kernel, k, &used);
    struct printer pr = { .p = p, .out = out, .indent = 1, .width = 1, .lane_axis = -1 };
    pr.tail = p->module->batch % LANES != 0;
    pr.nests = nests_of(p, kernel, &pr.nest_count);
    k->groups = 0;
    if (p->target->items)
        print_nests_gpu(&pr, k);
    else
        print_sections(&pr, k, &used);
    text_add(out, "}\n\n");
    free(pr.known);
    return out->failed || p->arena->failed
               ? error_set(TARN_ERR_MEMORY, "compile: out of host memory")
               : TARN_OK;
}
