/* SPDX-License-Identifier: Apache-2.0 */
/* Loads as OpenCL C: of an element, of lanes side by side, every other one or anywhere, of blocks of samples, and all
 * these where a condition holds for some lanes only. In: an access, and what each axis is at this point. Out: the right
 * side of a statement. */
#include "compile/6_source/print.h"
#include "tensor/sum_order.h"

/* ---- addresses ------------------------------------------------------------------------------ */

struct short_text block_start(const struct value *v)
{
    struct short_text t = { "" };
    if (v->place != PLACE_SCRATCH && v->worker_stride == 0)
        text_fill(t.text, sizeof t.text, "%lld * b + ",
                  (long long)(tarn_shape_count(v->shape) / v->shape.dim[0]));
    return t;
}

/* The address of an access: a scalar text, or that of a register of lane addresses. */
static void address_text(struct printer *pr, const struct access *a, bool lanes, struct text *t)
{
    if (lanes)
        lanes_of(pr, &a->address, t);
    else
        print_affine(pr, &a->address, t);
    for (int i = 0; i < a->part_count; i++) {
        struct text e = { 0 };
        if (lanes)
            lanes_of(pr, &a->part[i].index.e, &e);
        else
            print_affine(pr, &a->part[i].index.e, &e);
        text_add(t, " + %d * ((%s) / %d)", a->part[i].stride, e.data, a->part[i].index.divide);
        t->failed |= e.failed;
        text_free(&e);
    }
    if (a->gather >= 0) {
        char index[NAME];
        print_expr(pr, a->gather, index);
        if (pr->width > 1 && !lanes) /* all lanes' index is that of the first one */
            text_add(t, " + %d * clamp((%s).s0, 0, %d)", a->gather_stride, index,
                     a->gather_extent - 1);
        else
            text_add(t, " + %d * clamp(%s, (%s)(0), (%s)(%d))", a->gather_stride, index,
                     register_name(TARN_I32, pr->width), register_name(TARN_I32, pr->width),
                     a->gather_extent - 1);
    }
}

/* Whether lanes read elements of which each has an address of its own: else it is the same for all, or goes up evenly, as along
 * a row of a table that all of them look up. */
static bool lanes_apart(const struct printer *pr, const struct access *a)
{
    bool apart =
        a->gather >= 0 && (pr->lane_axis < 0 || !expr_is_alike(pr->n, a->gather, pr->lane_axis));
    for (int i = 0; i < a->part_count; i++)
        apart |= lane_factor(pr, &a->part[i].index.e) != 0;
    return apart || (nest_has_batch_lanes(pr->n) && pr->tail && lane_factor(pr, &a->address) != 0);
}

/* ---- registers ------------------------------------------------------------------------------ */

static void each_lane(struct text *t, const char *type, const char *mask, const char *pointer,
                      const char *address, int32_t step, bool vector_address)
{
    text_add(t, "(%s)(", type);
    for (int i = 0; i < LANES; i++) {
        text_add(t, "%s", i == 0 ? "" : ", ");
        if (mask[0] != '\0')
            text_add(t, "%s.s%x ? ", mask, (unsigned)i);
        if (vector_address)
            text_add(t, "%s[%s.s%x]", pointer, address, (unsigned)i);
        else
            text_add(t, "%s[%s + %d]", pointer, address, i * step);
        if (mask[0] != '\0')
            text_add(t, " : 0");
    }
    text_add(t, ")");
}

/* Lanes side by side from `address` on, or every other element. */
static void run_text(const struct printer *pr, const struct expr *e, int step, const char *address,
                     struct text *t)
{
    const struct value *v = &pr->p->values[e->access.value];
    const bool narrow = tarn_dtype_bytes(v->dtype) < sizeof(int32_t);
    text_add(t, "%s(TARN_%s(%s, %s, v%d + %s))", narrow ? "TARN_WIDEN" : "",
             step == 1 ? "LOAD" : "LOAD_EVEN", value_space(v), memory_type(v), e->access.value,
             address);
}

/* ---- under a condition of lanes ------------------------------------------------------------- */

/* Of a sum that takes one sample after the other: which of its block. */
static void add_sample(const struct printer *pr, struct text *t)
{
    const int batch = pr->n->batch_axis;
    text_add(t, " + i%d - 16 * b", batch);
    if (pr->axis[batch].constant > 0)
        text_add(t, " + %d", pr->axis[batch].constant);
}

/* Lanes of a block that is in memory as a whole, read one by one: where the mask leaves a lane
 * out, the other indices may be out of range, too. */
static void masked_block_text(struct printer *pr, const struct access *a, const char *type,
                              const char *pointer, const char *address, struct text *t)
{
    const bool by_sample = pr->n->by_sample;
    char name[NAME];
    struct text first = { 0 };
    text_add(&first, "16 * (%s%s)", block_start(&pr->p->values[a->value]).text, address);
    if (by_sample)
        add_sample(pr, &first);
    print_define(pr, "long", &first, name);
    each_lane(t, type, pr->mask, pointer, name, by_sample ? 0 : 1, false);
}

/* Whether all of a value lies where its pointer points: else there is only what the samples at hand have of it. */
static bool is_whole(const struct value *v)
{
    return v->room == 0 && v->worker_stride == 0 && tarn_shape_count(v->shape) > 0;
}

/* Lanes that the condition leaves out are read, too, and nobody looks at them: from the value's first element where they
 * may be outside of it. So nothing branches, but where lanes side by side, which are read at once, begin before the value or
 * end behind it. */
static void masked_text(struct printer *pr, const struct expr *e, const char *type,
                        const char *pointer, struct text *t)
{
    const struct access *a = &e->access;
    const struct elements all = access_elements(pr->p, a);
    const int k = lane_factor(pr, &a->address);
    struct text lanes = { 0 }, kept = { 0 };
    char name[NAME];
    if (!lanes_apart(pr, a) && (k == 1 || k == 2) && a->part_count == 0) {
        struct text first = { 0 };
        address_text(pr, a, false, &first);
        print_define(pr, "long", &first, name);
        text_add(t, "%s >= %lld && %s <= %lldL ? ", name, (long long)all.from, name,
                 (long long)all.to - 1 - k * (LANES - 1));
        run_text(pr, e, k, name, t);
        text_add(t, " : ");
    }
    address_text(pr, a, true, &lanes);
    text_add(&kept, "%s ? %s : (int16)(0)", pr->mask, lanes.data != NULL ? lanes.data : "");
    kept.failed |= lanes.failed;
    text_free(&lanes);
    print_define(pr, "int16", &kept, name);
    each_lane(t, type, "", pointer, name, 0, true);
}

/* ---- all of them ---------------------------------------------------------------------------- */

static void block_text(struct printer *pr, const struct expr *e, const char *type,
                       const char *pointer, struct text *t)
{
    const struct access *a = &e->access;
    const struct value *v = &pr->p->values[a->value];
    struct text address = { 0 };
    address_text(pr, a, false, &address);
    const char *at = address.data != NULL ? address.data : "0";
    if (pr->mask[0] != '\0')
        masked_block_text(pr, a, type, pointer, at, t);
    else if (pr->n->by_sample) {
        text_add(t, "(%s)(%s[16 * (%s%s)", type, pointer, block_start(v).text, at);
        add_sample(pr, t);
        text_add(t, "])");
    } else if (pr->items)
        text_add(t, "b%d[%d * (%s)]", a->value, LANES, at);
    else {
        struct text first = { 0 };
        text_add(&first, "16 * (%s%s)", block_start(v).text, at);
        run_text(pr, e, 1, first.data != NULL ? first.data : "0", t);
        t->failed |= first.failed;
        text_free(&first);
    }
    t->failed |= address.failed;
    text_free(&address);
}

/* Lanes whose addresses go up evenly, none of them under a condition. */
static void even_text(struct printer *pr, const struct expr *e, const char *type,
                      const char *pointer, struct text *t)
{
    const struct access *a = &e->access;
    const int k = lane_factor(pr, &a->address);
    char name[NAME];
    struct text address = { 0 };
    address_text(pr, a, false, &address);
    const char *at = address.data != NULL ? address.data : "0";
    if (pr->width == 1 || k == 0)
        text_add(t, pr->width == 1 ? "%s%s[%s]" : "(%s)(%s[%s])", pr->width == 1 ? "" : type,
                 pointer, at);
    else if (k != 1 && square_text(pr, a, t))
        ; /* it is called as in the square */
    else if (k == 1 || k == 2)
        run_text(pr, e, k, at, t);
    else {
        print_define(pr, "long", &address, name);
        each_lane(t, type, "", pointer, name, k, false);
        return;
    }
    t->failed |= address.failed;
    text_free(&address);
}

void load_text(struct printer *pr, const struct expr *e, struct text *t)
{
    const struct access *a = &e->access;
    const char *type = register_name(e->dtype, pr->width);
    const bool whole = is_whole(&pr->p->values[a->value]);
    const bool apart = pr->width > 1 && lanes_apart(pr, a);
    char pointer[NAME], name[NAME];
    text_fill(pointer, sizeof pointer, "v%d", a->value);
    if (panel_text(pr, e, t))
        return;
    const bool masked =
        pr->mask[0] != '\0' && !(whole && !apart && access_stays_inside(pr->p, pr->n, a));
    if (a->in_block) {
        block_text(pr, e, type, pointer, t);
    } else if (masked && whole) {
        masked_text(pr, e, type, pointer, t);
    } else if (masked || apart) {
        struct text lanes = { 0 };
        address_text(pr, a, true, &lanes);
        print_define(pr, "int16", &lanes, name);
        each_lane(t, type, pr->mask, pointer, name, 0, true);
    } else {
        even_text(pr, e, type, pointer, t);
    }
}
