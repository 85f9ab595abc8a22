/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of kernels/math.cl that a kernel calls. In: a kernel's text. Out: these, and what they call, in the
 * order of that file. */
#include <string.h>

#include "compile/6_source/print.h"

enum { MOST = 24 }; /* functions */

static const char opening[] = "\n#ifndef ", closing[] = "\n#endif\n";

struct function {
    const char *start, *end;
    char name[NAME]; /* as it is called, but for the width: "TARN_EXP_" */
    bool used;
};

static int find_functions(struct function *list)
{
    const char *at = kernel_math;
    int count = 0;
    while (count < MOST && (at = strstr(at, opening)) != NULL) {
        struct function *f = &list[count++];
        *f = (struct function){ .start = at + 1, .end = strstr(at, closing) + strlen(closing) };
        at += strlen(opening);
        memcpy(f->name, at, strcspn(at, "\n") - strlen("1"));
        at = f->end;
    }
    return count;
}

static bool calls(const char *from, const char *end, const struct function *f)
{
    const char *at = strstr(from, f->name);
    return at != NULL && at < end;
}

void print_math(const char *kernel, struct text *out)
{
    struct function list[MOST];
    const int count = find_functions(list);
    for (int i = count - 1; i >= 0; i--) {
        list[i].used = calls(kernel, kernel + strlen(kernel), &list[i]);
        for (int later = i + 1; later < count && !list[i].used; later++)
            list[i].used = list[later].used && calls(list[later].start, list[later].end, &list[i]);
    }
    for (int i = 0; i < count; i++)
        if (list[i].used)
            text_add(out, "%.*s", (int)(list[i].end - list[i].start), list[i].start);
}
