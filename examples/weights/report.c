/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "tensors.h"
#include "terminal.h"

/* Takes the object. A reader gets every line as soon as it is there. */
static void print_line(json_t *object)
{
    char *text = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    if (text != NULL)
        puts(text);
    else
        fputs("tarn-weights: no memory for a line\n", stderr);
    free(text);
    fflush(stdout);
}

static json_t *hashes_json(const struct check *k)
{
    json_t *list = json_array();
    for (int i = 0; i < k->world; i++) {
        char text[24];
        snprintf(text, sizeof text, "%016" PRIx64, k->hashes[i]);
        json_array_append_new(list, json_string(text));
    }
    return list;
}

/* ---- the start ------------------------------------------------------------------------------ */

void report_start(const struct live_config *c, tarn_replica *r)
{
    const int world = tarn_world_size(r);
    int tensors = 0;
    size_t bytes = 0;
    for (struct tensor_walk w = { .replica = r }; tensor_next(&w); tensors++)
        bytes += w.bytes;
    if (c->json) {
        print_line(json_pack("{s:s, s:i, s:o, s:i, s:I, s:I}", "event", "start", "replicas", world,
                             "device", argument_json(tarn_device_name(r)), "tensors", tensors,
                             "bytes", (json_int_t)bytes, "steps", (json_int_t)c->steps));
        return;
    }
    printf("data:    %s\ndevices: %d x %s\n",
           c->data != NULL ? terminal_name(c->data) : "synthetic", world, tarn_device_name(r));
    printf("weights: %d tensors, %zu bytes on each; compared in every step, hashed every %ld\n\n",
           tensors, bytes, c->check);
    printf("%8s %6s %8s  %-9s  %8s  hash of all tensors on rank 0 ... %d\n", "step", "check",
           "replicas", "verdict", "loss", world - 1);
    fflush(stdout);
}

/* ---- checks and the flip -------------------------------------------------------------------- */

void report_check(const struct live_config *c, const struct check *k)
{
    const char *verdict = k->equal ? "equal" : "different";
    if (c->json) {
        json_t *loss = isfinite(k->loss) ? json_real(k->loss) : json_null();
        json_t *number = k->number ? json_integer((json_int_t)k->number) : json_null();
        print_line(json_pack("{s:s, s:I, s:o, s:i, s:s, s:o, s:o}", "event", "check", "step",
                             (json_int_t)k->step, "check", number, "replicas", k->world, "verdict",
                             verdict, "loss", loss, "hashes", hashes_json(k)));
        return;
    }
    char number[24] = "flip";
    if (k->number)
        snprintf(number, sizeof number, "%ld", k->number);
    const double loss = isfinite(k->loss) ? k->loss : NAN; /* without a sign */
    printf("%8ld %6s %8d  %-9s  %8.4f ", k->step, number, k->world, verdict, loss);
    for (int i = 0; i < k->world; i++)
        printf(" %016" PRIx64, k->hashes[i]);
    putchar('\n');
    fflush(stdout);
}

void report_flip(const struct live_config *c, const struct flip *f)
{
    char value[2][32], bits[2][16];
    for (int i = 0; i < 2; i++) {
        const uint32_t b = i ? f->after : f->before;
        flip_text(f, b, value[i], sizeof(value[i]));
        snprintf(bits[i], sizeof(bits[i]), "0x%08" PRIx32, b);
    }
    if (c->json) {
        print_line(json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:{s:s, s:s}, s:{s:s, s:s}}", "event",
                             "flip", "tensor", f->tensor, "element", (json_int_t)f->element, "bit",
                             (json_int_t)f->bit, "rank", (json_int_t)f->rank, "before_step",
                             (json_int_t)f->step, "before", "value", value[0], "bits", bits[0],
                             "after", "value", value[1], "bits", bits[1]));
        return;
    }
    printf("flipped before step %ld on rank %ld: bit %ld of %s element %ld, %s (%s) to %s (%s)\n",
           f->step, f->rank, f->bit, f->tensor, f->element, value[0], bits[0], value[1], bits[1]);
    fflush(stdout);
}

/* ---- the verdict ---------------------------------------------------------------------------- */

void report_verdict(const struct live_config *c, const struct verdict *v)
{
    if (c->json) {
        json_t *line = v->line != NULL ? argument_json(v->line) : json_null();
        print_line(json_pack("{s:s, s:s, s:o, s:I, s:I, s:i}", "event", "verdict", "verdict",
                             v->word, "line", line, "checks", (json_int_t)v->checks, "steps",
                             (json_int_t)v->steps, "replicas", v->world));
        return;
    }
    if (v->line != NULL)
        printf("%s: %s\n", strcmp(v->word, "not_found") == 0 ? "NOT FOUND" : v->word, v->line);
    else
        printf("equal: bit for bit (replicas: %d, steps: %ld, checks: %ld)\n", v->world, v->steps,
               v->checks);
}
