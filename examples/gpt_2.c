/* SPDX-License-Identifier: Apache-2.0 */
/* What a file of GPT-2 has, and where that belongs. */
#include "gpt_2.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>
#include <tarn_dist.h>

#define PREFIX "transformer."

struct reading {
    const char *path;
    const tarn_weight_file *file;
    const char *prefix;
    char *problem;
    size_t capacity;
};

static bool fail(const struct reading *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool fail(const struct reading *r, const char *format, ...)
{
    char line[400];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    snprintf(r->problem, r->capacity, "--load: %s: %s", r->path, line);
    return false;
}

/* ---- tensors -------------------------------------------------------------------------------- */

/* A tensor of two axes that a model can have; else its name is NULL. */
static tarn_weight matrix(const struct reading *r, const char *name)
{
    char full[80];
    snprintf(full, sizeof full, "%s%s", r->prefix, name);
    tarn_weight w = tarn_weight_file_find(r->file, full);
    if (w.name != NULL && (w.rank != 2 || w.dim[0] < 1 || w.dim[1] < 1 || w.dim[0] > INT32_MAX ||
                           w.dim[1] > INT32_MAX))
        w.name = NULL;
    return w;
}

static bool has_block(const struct reading *r, int i)
{
    char name[40];
    snprintf(name, sizeof name, "h.%d.attn.c_attn.weight", i);
    return matrix(r, name).name != NULL;
}

/* A head of its own has no place in the model. */
static bool is_tied(const struct reading *r, const tarn_weight *words)
{
    const tarn_weight head = tarn_weight_file_find(r->file, "lm_head.weight");
    tarn_weight_difference d;
    return head.name == NULL ||
           (tarn_weight_compare(words, &head, 0, &d) == TARN_OK && d.different == 0);
}

static bool read_sizes(const struct reading *r, struct gpt_shape *s)
{
    const tarn_weight words = matrix(r, "wte.weight"), places = matrix(r, "wpe.weight"),
                      hidden = matrix(r, "h.0.mlp.c_fc.weight");
    if (words.name == NULL || places.name == NULL || hidden.name == NULL)
        return fail(r, "no wte.weight, wpe.weight or h.0.mlp.c_fc.weight of two axes: not a GPT-2");
    if (!is_tied(r, &words))
        return fail(r, "lm_head.weight is not wte.weight: the model must use one for both");
    s->words = (int32_t)words.dim[0];
    s->width = (int)words.dim[1];
    s->places = (int32_t)places.dim[0];
    s->mlp_ratio = (int)(hidden.dim[1] / words.dim[1]);
    while (s->layers <= MOST_LAYERS && has_block(r, s->layers))
        s->layers++;
    if (s->layers < 1 || s->layers > MOST_LAYERS)
        return fail(r, "%d layers, must be 1 to %d", s->layers, (int)MOST_LAYERS);
    if (s->mlp_ratio < 1 || (uint64_t)s->mlp_ratio * words.dim[1] != hidden.dim[1])
        return fail(r, "%d hidden features, must be a multiple of %d", (int)hidden.dim[1],
                    s->width);
    return true;
}

/* ---- config.json ---------------------------------------------------------------------------- */

static bool read_activation(const struct reading *r, const char *name, struct gpt_shape *s)
{
    static const struct {
        const char *name;
        tarn_tensor (*function)(tarn_tensor x);
    } known[] = { { "gelu_new", tarn_gelu_tanh }, { "gelu_pytorch_tanh", tarn_gelu_tanh },
                  { "gelu", tarn_gelu },          { "relu", tarn_relu },
                  { "silu", tarn_silu },          { "swish", tarn_silu } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0) {
            s->activation = known[i].function;
            return true;
        }
    return fail(r, "config.json: no activation_function %s here", name);
}

/* What a file may say; else it is what transformers has by default. */
static bool read_settings(const struct reading *r, json_t *config, struct gpt_shape *s)
{
    const json_t *heads = json_object_get(config, "n_head"),
                 *eps = json_object_get(config, "layer_norm_epsilon"),
                 *activation = json_object_get(config, "activation_function");
    static const char *const unknown[] = { "scale_attn_by_inverse_layer_idx",
                                           "add_cross_attention" };
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        if (json_is_true(json_object_get(config, unknown[i])))
            return fail(r, "config.json: no %s here", unknown[i]);
    if (json_is_false(json_object_get(config, "scale_attn_weights")))
        return fail(r, "config.json: attention without scale_attn_weights is not here");
    if (s->heads == 0 && json_is_integer(heads) && json_integer_value(heads) <= INT_MAX)
        s->heads = (int)json_integer_value(heads);
    if (json_is_number(eps) && json_number_value(eps) > 0)
        s->eps = (float)json_number_value(eps);
    return !json_is_string(activation) || read_activation(r, json_string_value(activation), s);
}

static bool read_config(const struct reading *r, struct gpt_shape *s)
{
    char path[PATH_MAX];
    json_error_t error;
    const char *slash = strrchr(r->path, '/');
    const int folder = slash != NULL ? (int)(slash - r->path) + 1 : 0;
    const int n = snprintf(path, sizeof path, "%.*sconfig.json", folder, r->path);
    if (n < 0 || (size_t)n >= sizeof path)
        return fail(r, "a path that is too long");
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return s->heads > 0 || fail(r, "no config.json beside it that says how many heads there "
                                       "are: give --heads");
    json_t *config = json_load_file(path, 0, &error);
    if (!json_is_object(config)) {
        json_decref(config);
        return fail(r, "config.json beside it: %s", config != NULL ? "not an object" : error.text);
    }
    const bool good = read_settings(r, config, s);
    json_decref(config);
    return good;
}

/* ---- both ----------------------------------------------------------------------------------- */

static bool read_shape(struct reading *r, struct gpt_shape *s)
{
    const bool prefixed = tarn_weight_file_find(r->file, PREFIX "wte.weight").name != NULL;
    r->prefix = prefixed ? PREFIX : "";
    if (!read_sizes(r, s) || !read_config(r, s))
        return false;
    return (s->heads >= 1 && s->width % s->heads == 0) ||
           fail(r, "%d heads do not divide a width of %d", s->heads, s->width);
}

bool gpt_2_shape(const char *path, int heads, struct gpt_shape *out, char *problem, size_t capacity)
{
    tarn_weight_file *file = tarn_weight_file_open(path);
    struct reading r = { path, file, "", problem, capacity };
    *out = (struct gpt_shape){ .heads = heads, .eps = 1e-5f, .activation = tarn_gelu_tanh };
    if (file == NULL) {
        snprintf(problem, capacity, "--load: %s", tarn_error(NULL));
        return false;
    }
    const bool good = read_shape(&r, out);
    tarn_weight_file_close(file);
    return good;
}

static void tell(void *user, tarn_left left, const char *name, const char *why)
{
    if (left == TARN_LEFT_UNEXPECTED)
        tarn_print0(user, "left: %s %s\n", name, why);
}

tarn_status gpt_2_load(tarn_replica *r, const char *path)
{
    /* Layers are [in, out] in the file. Of masks, which are no weights, it may have some. */
    static const char *const rename[] = { "attn.c_attn.",
                                          "self_attn.in_proj_",
                                          "attn.c_proj.",
                                          "self_attn.out_proj.",
                                          "mlp.c_fc.",
                                          "linear1.",
                                          "mlp.c_proj.",
                                          "linear2.",
                                          "ln_1.",
                                          "norm1.",
                                          "ln_2.",
                                          "norm2.",
                                          "ln_f.",
                                          "norm.",
                                          "wte.",
                                          "words.",
                                          "wpe.",
                                          "places.",
                                          "h.",
                                          "blocks.",
                                          NULL };
    tarn_weight_file *file = tarn_weight_file_open(path);
    const bool prefixed = tarn_weight_file_find(file, PREFIX "wte.weight").name != NULL;
    tarn_weight_file_close(file);
    return tarn_load_weights(
        r, path,
        (tarn_load_options){
            .from = prefixed ? PREFIX : NULL,
            .rename = rename,
            .transposed = "*.in_proj_weight,*.out_proj.weight,*.linear1.weight,*.linear2.weight",
            .unexpected = true,
            .report = tell,
            .user = r });
}
