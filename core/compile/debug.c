/* SPDX-License-Identifier: Apache-2.0 */
/* What TARN_DEBUG prints of a compilation, on the standard error stream. */
#include "compile/debug.h"
#include "tensor/replica.h"
#include "tensor/shape.h"

#include <stdio.h>
#include <string.h>

#include "env.h"

void debug_name_kernel(const struct program_ir *p, int kernel, char *out, size_t capacity)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < p->nest_count && used + 4 < capacity; ++i) {
        const struct nest *n = &p->nests[i];
        if (n->kernel != kernel)
            continue;
        const int wrote =
            snprintf(out + used, capacity - used, "%s%s", used == 0 ? "" : " ", n->name);
        if (wrote < 0)
            return;
        used += (size_t)wrote;
    }
    if (used >= capacity)
        memcpy(out + capacity - 4, "...", 4);
}

void debug_graph(const struct module *m)
{
    if (!env_debug("graph"))
        return;
    fprintf(stderr, "tarn: graph of %u nodes, batch %d\n", m->count, m->batch);
    for (uint32_t i = 0; i < m->count; ++i) {
        const struct node *n = &m->nodes[i];
        if (m->uses[i] == 0)
            continue;
        fprintf(stderr, "  %%%u = %s %s%s", i, tarn_dtype_name(n->dtype), shape_text(n->shape),
                m->sharded[i] ? "/batch " : " ");
        fprintf(stderr, "%s(", n->op->name);
        for (uint32_t k = 0; k < n->in_count; ++k)
            fprintf(stderr, "%s%%%u", k == 0 ? "" : ", ", m->operands[n->first_in + k]);
        fprintf(stderr, ")%s\n", m->stored[i] ? " stored" : "");
    }
}

static void print_nests(const struct program_ir *p)
{
    for (int k = 0; k < p->kernel_count; ++k) {
        fprintf(stderr, "tarn: kernel k%d\n", k);
        for (int i = 0; i < p->nest_count; ++i) {
            const struct nest *n = &p->nests[i];
            if (n->kernel != k)
                continue;
            fprintf(stderr, "  section %-3d %-14s", n->section, n->name);
            for (int a = 0; a < n->axes; ++a) {
                fprintf(stderr, "%s%d", a == n->out_axes ? " | " : " ", n->extent[a]);
                if (n->tile[a] > 1)
                    fprintf(stderr, "/%d", n->tile[a]);
                if (a == nest_vector_axis(n))
                    fprintf(stderr, "v");
            }
            fprintf(stderr, "  -> v%d%s\n", n->store[0].value, n->partial ? " rows" : "");
        }
    }
}

static void print_values(const struct program_ir *p)
{
    fprintf(stderr, "tarn: plan of %d kernels, %zu bytes of temporaries\n", p->kernel_count,
            p->arena_bytes);
    for (int i = 0; i < p->value_count; ++i) {
        const struct value *v = &p->values[i];
        if (v->place == PLACE_ARENA && v->first >= 0)
            fprintf(stderr, "  v%-4d %s %s%s, kernels %d to %d, at %zu\n", i,
                    tarn_dtype_name(v->dtype), shape_text(v->shape),
                    v->layout == LAYOUT_BLOCKED ? " blocked" : "", v->first, v->last, v->offset);
    }
}

void debug_plan(const struct program_ir *p)
{
    if (env_debug("fuse"))
        print_nests(p);
    if (env_debug("plan"))
        print_values(p);
}

void debug_compiled(const tarn_replica *r, uint64_t key, double seconds)
{
    if (env_debug("plan"))
        fprintf(stderr,
                "tarn: compiled plan %016llx at step %llu, plan number %llu, %.3f s of compiling "
                "so far\n",
                (unsigned long long)key, (unsigned long long)r->step_count,
                (unsigned long long)r->metrics.plans_compiled, seconds);
}
