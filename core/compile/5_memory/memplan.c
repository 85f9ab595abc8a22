/* SPDX-License-Identifier: Apache-2.0 */
/* Places temporaries in one arena: values whose kernels do not overlap share memory. In: values
 * with the kernels that write and read them. Out: an offset for each, and the arena's size. */
#include "compile/5_memory/memory_passes.h"

#define ALIGNMENT 128u

static bool overlap(const struct value *a, const struct value *b)
{
    return a->first <= b->last && b->first <= a->last;
}

void memplan(struct program_ir *p)
{
    for (int i = 0; i < p->value_count; i++) {
        struct value *v = &p->values[i];
        if (v->place != PLACE_ARENA || v->first < 0)
            continue;
        /* First fit: the lowest offset that no value placed before and alive together holds. */
        size_t offset = 0;
        bool moved = true;
        while (moved) {
            moved = false;
            for (int k = 0; k < i; k++) {
                const struct value *o = &p->values[k];
                if (o->place != PLACE_ARENA || o->first < 0 || !overlap(v, o))
                    continue;
                const size_t end =
                    (o->offset + o->bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
                if (offset < end && o->offset < offset + v->bytes) {
                    offset = end;
                    moved = true;
                }
            }
        }
        v->offset = offset;
        if (offset + v->bytes > p->arena_bytes)
            p->arena_bytes = offset + v->bytes;
    }
}
