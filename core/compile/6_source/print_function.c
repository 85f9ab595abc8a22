/* SPDX-License-Identifier: Apache-2.0 */
/* Nests as functions. A driver's compiler takes much more than twice as long over twice the code, and layers that do the
 * same differ in nothing but which values they do it to: so a kernel of a CPU calls its nests, and what the kernels of a
 * program call alike is there once. In: a nest. Out: a function, unless the kernel has it, and the call. */
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "compile/6_source/print.h"
#include "compile/6_source/source.h"

/* What the loops around nests are about, where a nest's text names it. */
static const struct {
    const char *word, *type;
} around[] = { { "group", "long " }, { "share", "long " }, { "part", "long " },
               { "b", "long " },     { "first", "long " }, { "key", "ulong " } };

struct call {
    struct text params, args;
    int count;
};

static bool in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool names(const char *text, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += length)
        if (!in_word(at[length]) && (at == text || !in_word(at[-1])))
            return true;
    return false;
}

/* What the text names becomes a parameter, once. */
static void add(struct call *c, const char *text, const char *type, const char *name)
{
    if (names(c->args.data != NULL ? c->args.data : "", name) || !names(text, name))
        return;
    text_add(&c->params, "%s%s%s", c->count > 0 ? ", " : "", type, name);
    text_add(&c->args, "%s%s", c->count++ > 0 ? ", " : "", name);
}

static void add_value(const struct printer *pr, struct call *c, const char *text, int value)
{
    const struct value *v = &pr->p->values[value];
    char type[NAME], name[NAME];
    text_fill(type, sizeof type, "%s %s *", value_space(v), memory_type(v));
    text_fill(name, sizeof name, "v%d", value);
    add(c, text, type, name);
}

static void add_number(struct call *c, const char *text, const char *type, const char *word,
                       uint32_t number)
{
    char name[NAME];
    text_fill(name, sizeof name, "%s%u", word, number);
    add(c, text, type, name);
}

static void add_expr(const struct printer *pr, struct call *c, const char *text,
                     const struct expr *e)
{
    if (e->kind == EXPR_LOAD)
        add_value(pr, c, text, e->access.value);
    if (e->kind == EXPR_NUMBER)
        add_number(c, text, "float ", "number", e->bits);
    if (e->kind == EXPR_RAND)
        add_number(c, text, "uint ", "serial", e->bits);
    for (uint32_t axis = 0; axis < MESH_AXES; axis++)
        if (e->step[axis] != 0)
            add_number(c, text, "uint ", "coordinate", axis);
}

static void find_params(const struct printer *pr, const char *text, struct call *c)
{
    const struct nest *n = pr->n;
    for (size_t i = 0; i < sizeof around / sizeof *around; i++)
        add(c, text, around[i].type, around[i].word);
    for (int s = 0; s < n->stores; s++)
        add_value(pr, c, text, n->store[s].value);
    for (int e = 0; e < n->expr_count; e++)
        add_expr(pr, c, text, &n->exprs[e]);
}

/* The function without its name, and what it is called by it: names are by order of appearance, as in all that has the
 * same name. */
static void print_definition(struct printer *pr, const struct text *nest, const struct call *c,
                             char name[NAME])
{
    struct text own = { 0 }, same = { 0 };
    text_add(&own, "(%s)\n%s", c->params.data != NULL ? c->params.data : "void", nest->data);
    if (!own.failed)
        number_names(&own, &same);
    if (!own.failed && !same.failed) {
        text_fill(name, NAME, "nest_%016llx",
                  (unsigned long long)XXH3_64bits(same.data, same.length));
        if (pr->functions->data == NULL || strstr(pr->functions->data, name) == NULL)
            text_add(pr->functions,
                     "#ifndef TARN_%s\n#define TARN_%s\nTARN_APART void %s%s#endif\n", name, name,
                     name, same.data);
    }
    pr->functions->failed |= own.failed || same.failed;
    text_free(&own);
    text_free(&same);
}

void print_call(struct printer *pr)
{
    struct text nest = { 0 }, *const kernel = pr->out;
    struct call c = { 0 };
    char name[NAME] = "";
    const int indent = pr->indent;
    pr->out = &nest;
    pr->indent = 0;
    pr->temporaries = 0;
    print_nest(pr);
    pr->out = kernel;
    pr->indent = indent;
    if (!nest.failed) {
        find_params(pr, nest.data, &c);
        print_definition(pr, &nest, &c, name);
    }
    describe_nest(pr);
    print_line(pr, "%s(%s);", name, c.args.data != NULL ? c.args.data : "");
    kernel->failed |= nest.failed || c.params.failed || c.args.failed;
    text_free(&nest);
    text_free(&c.params);
    text_free(&c.args);
}
