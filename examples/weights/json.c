/* SPDX-License-Identifier: Apache-2.0 */
/* A comparison as JSON; docs/weights.md describes it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare.h"

static const char *const states[] = {
    [ROW_EQUAL] = "equal",
    [ROW_WITHIN] = "within",
    [ROW_DIFFERENT] = "different",
    [ROW_ONLY_FIRST] = "only_first",
    [ROW_ONLY_SECOND] = "only_second",
    [ROW_OTHER_TYPE] = "other_type",
    [ROW_OTHER_SHAPE] = "other_shape",
};

json_t *argument_json(const char *text)
{
    json_t *whole = json_string(text);
    if (whole != NULL)
        return whole;
    char ascii[4096];
    snprintf(ascii, sizeof ascii, "%s", text);
    for (char *c = ascii; *c; c++)
        *c = (unsigned char)*c < 0x80 ? *c : '?';
    return json_string(ascii);
}

/* Jansson's integers are signed. */
static json_t *natural(uint64_t value)
{
    return value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value);
}

/* JSON has no infinity. */
static json_t *real(double value)
{
    return isinf(value) ? json_string("inf") : json_real(value);
}

static json_t *side(const tarn_weight *w)
{
    if (w->name == NULL)
        return json_null();
    json_t *shape = json_array(), *out = json_object();
    int failed = 0;
    for (int i = 0; i < w->rank; i++)
        failed |= json_array_append_new(shape, natural(w->dim[i]));
    failed |= json_object_set_new(out, "type", json_string(w->dtype));
    failed |= json_object_set_new(out, "shape", shape);
    if (!failed)
        return out;
    json_decref(out);
    return NULL;
}

static json_t *element(const tarn_weight *w, size_t at)
{
    char value[64], bits[24];
    tarn_weight_text(w, at, value, sizeof value);
    snprintf(bits, sizeof bits, "0x%0*" PRIx64, (int)(2 * w->width), tarn_weight_bits(w, at));
    return json_pack("{s:s, s:s}", "value", value, "bits", bits);
}

static json_t *first_json(const struct row *r)
{
    if (!r->d.different)
        return json_null();
    const size_t at = (size_t)r->d.first;
    return json_pack("{s:o, s:o, s:o}", "index", natural(at), "first", element(&r->a, at), "second",
                     element(&r->b, at));
}

static int add_difference(json_t *out, const struct row *r)
{
    const tarn_weight_difference *d = &r->d;
    const bool is_float = r->a.kind == TARN_WEIGHT_FLOAT;
    json_t *abs = is_float                           ? real(d->max_abs)
                  : r->a.kind == TARN_WEIGHT_INTEGER ? natural(d->max_steps)
                                                     : json_null();
    int failed = json_object_set_new(out, "elements", natural(r->a.count));
    failed |= json_object_set_new(out, "different", natural(d->different));
    failed |= json_object_set_new(out, "beyond", natural(d->beyond));
    failed |= json_object_set_new(out, "nan_first", natural(d->nan_a));
    failed |= json_object_set_new(out, "nan_second", natural(d->nan_b));
    failed |= json_object_set_new(out, "max_abs", abs);
    failed |= json_object_set_new(out, "max_rel", is_float ? real(d->max_rel) : json_null());
    failed |= json_object_set_new(out, "max_ulp", is_float ? natural(d->max_steps) : json_null());
    failed |= json_object_set_new(out, "first_difference", first_json(r));
    return failed;
}

static json_t *row_json(const struct row *r)
{
    json_t *out = json_object();
    int failed = json_object_set_new(out, "name", json_string(row_name(r)));
    failed |= json_object_set_new(out, "state", json_string(states[r->state]));
    failed |= json_object_set_new(out, "first", side(&r->a));
    failed |= json_object_set_new(out, "second", side(&r->b));
    if (row_compared(r))
        failed |= add_difference(out, r);
    if (!failed)
        return out;
    json_decref(out);
    return NULL;
}

json_t *comparison_json(const struct comparison *c)
{
    json_t *tensors = json_array(), *out = json_object();
    int failed = 0;
    for (size_t i = 0; i < c->count; i++)
        failed |= json_array_append_new(tensors, row_json(&c->rows[i]));
    failed |= json_object_set_new(out, "file", argument_json(c->second));
    failed |= json_object_set_new(out, "verdict", json_string(c->bad ? "different" : "equal"));
    failed |= json_object_set_new(out, "tensors", tensors);
    if (!failed)
        return out;
    json_decref(out);
    return NULL;
}
