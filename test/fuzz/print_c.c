/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a program as C that uses the public API alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "more.h"

static void print_list(FILE *f, tarn_shape s)
{
    if (s.rank < 0) {
        fprintf(f, "TARN_ALL");
        return;
    }
    if (s.rank == 0) {
        fprintf(f, "TARN_SCALAR");
        return;
    }
    fprintf(f, "TARN_SHAPE(");
    for (int d = 0; d < s.rank; d++)
        fprintf(f, "%s%d", d > 0 ? ", " : "", s.dim[d]);
    fprintf(f, ")");
}

static const char *type_name(tarn_dtype d)
{
    static const char *const names[] = {
        [TARN_F32] = "TARN_F32", [TARN_I32] = "TARN_I32",   [TARN_U8] = "TARN_U8",
        [TARN_F16] = "TARN_F16", [TARN_BF16] = "TARN_BF16", [TARN_F64] = "TARN_F64",
        [TARN_I64] = "TARN_I64"
    };
    return names[d];
}

static bool has_data(const struct line *l)
{
    return l->op == OP_ID_from || l->op == OP_ID_parameter || l->op == OP_ID_buffer;
}

void print_number(FILE *f, double v, const char *nan_word, const char *infinity_word)
{
    if (isnan(v))
        fprintf(f, "%s", nan_word);
    else if (isinf(v))
        fprintf(f, "%s%s", v > 0 ? "" : "-", infinity_word);
    else
        fprintf(f, "%.17g", v);
}

/* n values of each replica, one after the other. */
static void print_values(FILE *f, const char *type, const char *name, int i,
                         const double *const v[MAX_WORLD], int world, int64_t n)
{
    fprintf(f, "    static const %s %s%d[] = {", type, name, i);
    for (int64_t k = 0; k < world * n; k++) {
        fprintf(f, k % 8 == 0 ? "\n        " : " ");
        print_number(f, v[k / n][k % n], "NAN", "INFINITY");
        fprintf(f, k + 1 < world * n ? "," : "");
    }
    fprintf(f, n > 0 ? "\n    };\n" : "0 };\n");
}

static void print_data(FILE *f, const struct program *p, int i)
{
    const struct line *l = &p->line[i];
    const int64_t n = tarn_shape_count(l->shape);
    const double *v[MAX_WORLD];
    double *all = calloc((size_t)(p->world * n) + 1, sizeof *all);
    if (all == NULL)
        return;
    for (int rank = 0; rank < p->world; rank++) {
        v[rank] = all + rank * n;
        program_data(p, l, rank, all + rank * n);
    }
    for (int64_t k = 0; k < p->world * n && program_half(l->dtype); k++)
        all[k] = half_bits(all[k], l->dtype);
    const tarn_dtype dtype = program_type(p, l->dtype);
    print_values(f,
                 program_half(dtype) ? "uint16_t"
                 : dtype == TARN_F32 ? "float"
                 : dtype == TARN_I32 ? "int32_t"
                 : dtype == TARN_F64 ? "double"
                 : dtype == TARN_I64 ? "int64_t"
                                     : "uint8_t",
                 "data", i, v, p->world, n);
    free(all);
}

static void print_operands(FILE *f, const struct line *l, int first)
{
    for (int k = first; k < l->ins; k++)
        fprintf(f, "%st%d", k > first ? ", " : "", l->in[k]);
}

static void print_name(FILE *f, const struct program *p, const struct line *l)
{
    char name[48];
    if (l->op == OP_ID_find)
        program_find_name(p, l, name);
    else
        program_name(l, name);
    fprintf(f, "\"%s\"", name);
}

/* How many numbers $F stands for. */
static int numbers_of(enum op_id op)
{
    return op == OP_ID_make_sgd || op == OP_ID_make_lion || op == OP_ID_parameter_with ? 4 : 5;
}

static void print_call(FILE *f, const struct program *p, int i)
{
    const struct line *l = &p->line[i];
    for (const char *c = op_table[l->op].text; *c != '\0'; c++) {
        if (*c != '$') {
            fputc(*c, f);
            continue;
        }
        c++;
        if (*c >= 'a' && *c <= 'h')
            (void)(*c - 'a' < l->ins ? fprintf(f, "t%d", l->in[*c - 'a'])
                                     : fprintf(f, "TARN_NONE"));
        else if (*c >= '0' && *c <= '9')
            fprintf(f, "%d",
                    (l->op == OP_ID_concat || l->op == OP_ID_stack) && *c == '1' ? l->ins
                    : l->op == OP_ID_gradients && *c == '1'                      ? l->ins - 1
                                                            : l->arg[*c - '0']);
        else if (*c == 'E')
            fprintf(f, "\"%s\"", einsum_text[l->arg[0]]);
        else if (*c == 'P')
            print_operands(f, l, l->op == OP_ID_gradients);
        else if (*c == 'x' || *c == 'y')
            fprintf(f, "(float)%.9g", (double)l->f[*c - 'x'] + 0.0);
        else if (*c == 'u' || *c == 'v')
            fprintf(f, "%.17g", line_scalar(l, *c - 'u', p->wide) + 0.0);
        else if (*c == 'L' || *c == 'M')
            print_list(f, l->list[*c - 'L']);
        else if (*c == 'S')
            print_list(f, l->shape);
        else if (*c == 'T')
            fprintf(f, "%s", type_name(program_type(p, l->dtype)));
        else if (*c == 'D')
            fprintf(f, p->world > 1 ? "data%d + rank * %lld" : "data%d", i,
                    (long long)tarn_shape_count(l->shape));
        else if (*c == 'N')
            print_name(f, p, l);
        else if (*c == 'G')
            fprintf(f, "\"*%s*\"", program_pattern(l));
        else if (*c == 'F')
            for (int k = 0; k < numbers_of(l->op); k++)
                fprintf(f, "%s%.9g", k > 0 ? ", " : "", (double)l->f[k]);
    }
}

static void print_read(FILE *f, const struct program *p, const struct interpreter *m,
                       const struct result *r, int k)
{
    const int64_t n = tarn_shape_count(r->shape);
    const double *v[MAX_WORLD], *e[MAX_WORLD];
    for (int rank = 0; rank < p->world; rank++) {
        v[rank] = m->tape->node[r->node[rank]].v;
        e[rank] = m->tape->node[r->node[rank]].e;
    }
    print_values(f, "double", "want", k, v, p->world, n);
    print_values(f, "double", "limit", k, e, p->world, n);
    fprintf(f, "    wrong += compare(");
    if (r->slot < 0)
        fprintf(f, "k%d", r->line);
    else if (!program_is_layer(p->line[m->slot[r->slot].line].op))
        fprintf(f, "t%d", m->slot[r->slot].line);
    else {
        const struct line find = { .op = OP_ID_find,
                                   .in = { m->slot[r->slot].line },
                                   .arg = { m->slot[r->slot].part } };
        fprintf(f, "tarn_find(r, ");
        print_name(f, p, &find);
        fprintf(f, ")");
    }
    fprintf(f, ", \"line %d\", want%d + rank * %lld, limit%d + rank * %lld, %lld, %s);\n",
            r->slot < 0 ? r->line : m->slot[r->slot].line, k, (long long)n, k, (long long)n,
            (long long)n, type_name(program_type(p, r->dtype)));
}

/* The samples of a step as a data set of one batch, at the first of its leaves; the next is its
 * target. */
static void print_batch(FILE *f, const struct program *p, int i)
{
    const struct line *l = p->line;
    int first = i, last = i;
    while (first > 0 && l[first - 1].segment == l[i].segment)
        first--;
    while (l[first].op != OP_ID_from)
        first++;
    for (int k = first + 1; k < p->count && l[k].segment == l[i].segment; k++)
        last = l[k].op == OP_ID_from ? k : last;
    if (i > first) {
        fprintf(f, "    tarn_tensor t%d = b%d.y;\n", i, first);
        return;
    }
    print_data(f, p, first);
    if (last > first)
        print_data(f, p, last);
    fprintf(f, "    tarn_dataset *set%d = tarn_dataset_from((tarn_arrays){ ", i);
    for (int k = first; k <= last; k += last > first ? last - first : 1) {
        fprintf(f, "%s = { { .data = data%d, .dtype = %s, .shape = ",
                k == first ? ".inputs" : ", .targets", k, type_name(l[k].dtype));
        print_list(f, l[k].shape);
        fprintf(f, " } }");
    }
    fprintf(f,
            " });\n    tarn_batch b%d = { 0 };\n    tarn_loader_next(tarn_loader_open(r, set%d, "
            "(tarn_loader_options){ .batch = %d }), &b%d);\n    tarn_tensor t%d = b%d.x;\n",
            i, i, l[i].shape.dim[0], i, i, i);
}

static void print_line(FILE *f, const struct program *p, int i)
{
    static const char *const layers[] = { "linear", "conv2d", "batch_norm", "layer_norm" };
    const struct line *l = &p->line[i];
    if (p->shards > 0 && l->op == OP_ID_from) {
        print_batch(f, p, i);
        return;
    }
    if (has_data(l))
        print_data(f, p, i);
    fprintf(f, "    ");
    if (program_is_layer(l->op)) {
        const char *kind = layers[l->op - OP_ID_make_linear];
        fprintf(f, "tarn_%s t%d_%s = ", kind, i, kind);
    } else if (l->op >= OP_ID_make_sgd && l->op <= OP_ID_make_lion) {
        fprintf(f, "tarn_optimizer *optimizer = ");
    } else if (l->op == OP_ID_output) {
        fprintf(f, "tarn_tensor k%d = tarn_keep(t%d);\n", l->in[0], l->in[0]);
        return;
    } else if (l->op == OP_ID_fail) {
        fprintf(f,
                "tarn_add(tarn_zeros(r, TARN_SHAPE(2)), tarn_zeros(r, TARN_SHAPE(3)));\n    "
                "%starn_error_clear(r);\n",
                l->arg[0] ? "tarn_step(r);\n    " : "");
        return;
    } else if (l->op == OP_ID_step) {
        fprintf(f, "if (tarn_step(r) != TARN_OK)\n        return tarn_error_status(r);\n");
        return;
    } else if (op_table[l->op].result != 's') {
        fprintf(f, "tarn_tensor t%d = ", i);
    }
    const bool cast = p->wide && program_type(p, l->dtype) != l->dtype && !l->owned &&
                      op_table[l->op].result != 's';
    fprintf(f, cast ? "tarn_cast(" : "");
    print_call(f, p, i);
    if (cast)
        fprintf(f, ", %s)", type_name(program_type(p, l->dtype)));
    fprintf(f, ";\n");
}

static const char *const head =
    "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n\n#include \"tarn.h\"\n#include "
    "\"tarn_dist.h\"\n\n"
    "#if defined(__GNUC__)\n#pragma GCC diagnostic ignored \"-Wunused-variable\"\n"
    "#pragma GCC diagnostic ignored \"-Wunused-function\"\n#endif\n\n"
    "static tarn_tensor gradients_of(tarn_tensor loss, const tarn_tensor *inputs, int count, int "
    "which)\n"
    "{\n    tarn_tensor g[8];\n    tarn_gradients(loss, inputs, count, g);\n    return "
    "g[which];\n}\n\n"
    "/* How many elements are further from `want` than `limit`. */\n"
    "static int compare(tarn_tensor t, const char *name, const double *want, const double *limit, "
    "int n,\n"
    "                   tarn_dtype dtype)\n"
    "{\n    const bool half = dtype == TARN_F16 || dtype == TARN_BF16;\n"
    "    if (half) /* which is exact */\n        t = tarn_cast(t, TARN_F32), dtype = TARN_F32;\n"
    "    const size_t bytes = (size_t)n * tarn_dtype_bytes(dtype);\n"
    "    unsigned char *data = malloc(bytes + 1);\n    int wrong = 0;\n"
    "    if (data == NULL || tarn_read(t, data, bytes) != TARN_OK)\n        return 1;\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        const double got = dtype == TARN_F32   ? (double)((float *)(void *)data)[i]\n"
    "                           : dtype == TARN_I32 ? (double)((int32_t *)(void *)data)[i]\n"
    "                           : dtype == TARN_F64 ? ((double *)(void *)data)[i]\n"
    "                           : dtype == TARN_I64 ? (double)((int64_t *)(void *)data)[i]\n"
    "                                               : (double)data[i];\n"
    "        if (got == want[i] || fabs(got - want[i]) <= limit[i] + 0x1p-126)\n            "
    "continue;\n"
    "        if (wrong++ < 5)\n            printf(\"%s, element %d: %.9g, should be %.9g, bound "
    "%.3g\\n\", name, i,"
    " got, want[i], limit[i]);\n    }\n    free(data);\n    return wrong;\n}\n\n";

static void print_launch(FILE *f, int world, int shards)
{
    fprintf(
        f,
        "    int wrong = 0;\n    if (tarn_launch(run, NULL, (tarn_launch_options){ .devices = \"");
    for (int rank = 0; rank < world; rank++)
        fprintf(f, "%s0", rank > 0 ? "," : "");
    fprintf(f,
            "\", .virtual_shards = %d }) != TARN_OK)\n"
            "        return fprintf(stderr, \"%%s\\n\", tarn_error(NULL)), 1;\n"
            "    for (int rank = 0; rank < %d; rank++)\n        wrong += wrong_on[rank];\n"
            "    printf(\"%%d elements are wrong\\n\", wrong);\n    return wrong != 0;\n}\n",
            shards, world);
}

void print_program(FILE *f, const struct program *p, const struct outcome *o)
{
    struct interpreter *m = malloc(MAX_WORLD * sizeof *m);
    struct tape tape = { .node = NULL };
    struct results want;
    struct program copy = *p;
    const int world = p->shards > 1 ? 2 : p->world;
    if (m == NULL)
        return;
    fprintf(f, "/* Seed %llu, %d devices, %s: %s */\n%s%s", p->seed, world,
            configuration_names[o->in], o->what, head, scan_source);
    fprintf(f,
            "static int wrong_on[%d];\n\n"
            "static tarn_status run(tarn_replica *r, void *arg)\n{\n"
            "    const int rank = tarn_rank(r) %% %d;\n    int wrong = 0;\n    (void)arg;\n%s",
            world, p->world, p->wide ? "    tarn_parameter_dtype(r, TARN_F64);\n" : "");
    const bool good = interpret_program(m, &copy, &tape, &want);
    for (int i = 0; i < p->count; i++) {
        print_line(f, p, i);
        for (int k = 0; good && k < want.count; k++)
            if (want.r[k].step == i && (p->shards == 0 || want.r[k].slot >= 0))
                print_read(f, p, m, &want.r[k], k);
    }
    fprintf(f,
            "    wrong_on[tarn_rank(r)] = wrong;\n    return TARN_OK;\n}\n\nint main(void)\n{\n");
    print_launch(f, world, p->shards);
    tape_free(&tape);
    free(m);
}
