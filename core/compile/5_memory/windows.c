/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of values by themselves. Layers that are alike read and write other pieces of what is shared, such as
 * the flat gradient, or the steps of a sequence: where a piece begins becomes a part of the value's offset, as it
 * is a constant of the nest, and so the layers' nests have the same text. In: values that have their places. Out:
 * more values, each a window of another from some element on; loads and stores that go through them. */
#include <stdint.h>

#include "compile/5_memory/memory_passes.h"
#include "tensor/sum_order.h"

struct window {
    int value, from; /* and its first element */
    int number;      /* the value that it is itself */
};

/* Of one kernel. */
struct windows {
    struct window *list;
    int count;
};

static bool can_move(const struct value *v)
{
    return v->place == PLACE_ARENA || v->place == PLACE_OWNED;
}

/* The lowest constant of a nest's indices into a value, where all count the same elements; nothing lies
 * before the value itself. */
static int lowest(const struct nest *n, int value, bool in_block)
{
    int32_t low = INT32_MAX;
    for (int s = 0; s < n->stores; s++)
        if (n->store[s].value == value && n->store[s].address.constant < low)
            low = n->store[s].address.constant;
    for (int e = 0; e < n->expr_count; e++) {
        const struct access *x = &n->exprs[e].access;
        if (n->exprs[e].kind != EXPR_LOAD || x->value != value)
            continue;
        if (x->in_block != in_block)
            return 0;
        low = x->address.constant < low ? x->address.constant : low;
    }
    return low > 0 ? low : 0;
}

/* The window of a value that begins at an element; -1 without memory. */
static int window_at(struct program_ir *p, struct windows *w, int value, int from)
{
    for (int i = 0; i < w->count; i++)
        if (w->list[i].value == value && w->list[i].from == from)
            return w->list[i].number;
    const struct value of = p->values[value];
    const int number = value_add(p, of.place, of.layout, of.slot, of.shape, of.dtype);
    if (number < 0)
        return -1;
    const size_t samples = of.layout == LAYOUT_BLOCKED ? LANES : 1;
    p->values[number] = of;
    p->values[number].offset += (size_t)from * samples * tarn_dtype_bytes(of.dtype);
    p->values[number].window_of = value + 1;
    p->values[number].window_from += from;
    w->list[w->count++] = (struct window){ value, from, number };
    return number;
}

/* Lets a nest reach a value through a window. */
static void look_through(struct nest *n, int value, int from, int window)
{
    for (int s = 0; s < n->stores; s++)
        if (n->store[s].value == value) {
            n->store[s].value = window;
            n->store[s].address.constant -= from;
        }
    for (int e = 0; e < n->expr_count; e++) {
        struct access *x = &n->exprs[e].access;
        if (n->exprs[e].kind == EXPR_LOAD && x->value == value) {
            x->value = window;
            x->address.constant -= from;
        }
    }
}

static void open_window(struct program_ir *p, struct windows *w, int nest, int value)
{
    struct nest *n = &p->nests[nest];
    const struct value *v = &p->values[value];
    const int from = can_move(v) ? lowest(n, value, v->layout == LAYOUT_BLOCKED) : 0;
    const int window = from > 0 ? window_at(p, w, value, from) : -1;
    if (window >= 0)
        look_through(n, value, from, window);
}

void open_windows(struct program_ir *p)
{
    for (int k = 0; k < p->kernel_count; k++) {
        struct windows w = { 0 };
        int most = 0;
        for (struct nest_range r = kernel_nests(p, k); r.at < r.end; r.at++)
            most += p->nests[*r.at].stores + p->nests[*r.at].expr_count;
        w.list = arena_take(p->arena, (size_t)(most + 1) * sizeof *w.list);
        for (struct nest_range r = kernel_nests(p, k); w.list != NULL && r.at < r.end; r.at++) {
            const struct nest *n = &p->nests[*r.at];
            for (int s = 0; n->kind == NEST_LOOPS && s < n->stores; s++)
                open_window(p, &w, *r.at, n->store[s].value);
            for (int e = 0; n->kind == NEST_LOOPS && e < n->expr_count; e++)
                if (n->exprs[e].kind == EXPR_LOAD)
                    open_window(p, &w, *r.at, n->exprs[e].access.value);
        }
    }
}
