/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the files of each class, parts them into those for training and for tests, and reads them. */
#include "image_folder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { CHANNELS = 3 };

/* Files of one class. */
struct files {
    char **names;
    int count;
};

/* Where an error goes, and what all functions need. */
struct scan {
    const struct image_folder_options *with;
    struct image_folder *out;
    char *problem;
    size_t capacity;
};

static bool fail(const struct scan *s, const char *path, const char *why)
{
    snprintf(s->problem, s->capacity, "%s: %s", path, why);
    return false;
}

/* ---- names in a folder ---------------------------------------------------------------------- */

static bool join(const struct scan *s, char out[PATH_MAX], const char *a, const char *b)
{
    const int n = snprintf(out, PATH_MAX, "%s/%s", a, b);
    return (n >= 0 && n < PATH_MAX) || fail(s, a, "a path that is too long");
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_picture(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && (strcasecmp(dot, ".png") == 0 || strcasecmp(dot, ".jpg") == 0 ||
                           strcasecmp(dot, ".jpeg") == 0);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void release_names(char **names, int count)
{
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

static bool append(char ***names, int *count, const char *name)
{
    char **more =
        *count < INT_MAX - 1 ? realloc(*names, ((size_t)*count + 1) * sizeof *more) : NULL;
    if (more == NULL)
        return false;
    *names = more;
    more[*count] = strdup(name);
    if (more[*count] == NULL)
        return false;
    (*count)++;
    return true;
}

/* The folders, or the pictures, that are in a folder; sorted by their bytes. */
static bool list(const struct scan *s, const char *folder, bool folders, char ***names, int *count)
{
    char path[PATH_MAX];
    DIR *d = opendir(folder);
    if (d == NULL)
        return fail(s, folder, strerror(errno));
    bool good = true;
    for (struct dirent *e; good && (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        good = join(s, path, folder, e->d_name);
        if (good && is_folder(path) == folders && (folders || is_picture(e->d_name)) &&
            !append(names, count, e->d_name))
            good = fail(s, folder, "out of memory");
    }
    (void)closedir(d);
    if (good && *count > 0)
        qsort(*names, (size_t)*count, sizeof **names, by_text);
    return good;
}

/* ---- for training, or for tests ------------------------------------------------------------- */

/* FNV-1a: an order that has nothing to do with what names say, and stays when files are added. */
static uint32_t scattered(const char *name)
{
    uint32_t hash = 2166136261u;
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash;
}

static int by_scattered(const void *a, const void *b)
{
    const uint32_t x = scattered(*(char *const *)a), y = scattered(*(char *const *)b);
    return x != y ? (x < y ? -1 : 1) : by_text(a, b);
}

/* Puts the files for tests first; at least one, and not all. */
static int part(const struct files *f, double share)
{
    const long tests = lrint(share * f->count), most = f->count - 1;
    qsort(f->names, (size_t)f->count, sizeof *f->names, by_scattered);
    return (int)(tests < 1 ? 1 : tests > most ? most : tests);
}

/* ---- pixels --------------------------------------------------------------------------------- */

static size_t sample_bytes(const struct scan *s)
{
    return (size_t)s->with->size * (size_t)s->with->size * CHANNELS;
}

static bool set_make(const struct scan *s, struct image_set *set, size_t count)
{
    const size_t bytes = sample_bytes(s);
    if (count <= INT32_MAX && count <= SIZE_MAX / bytes) {
        set->pixels = malloc(count * bytes);
        set->labels = malloc(count * sizeof *set->labels);
    }
    if (set->pixels != NULL && set->labels != NULL)
        return true;
    char line[120];
    snprintf(line, sizeof line, "out of memory for %zu pictures of %d x %d pixels", count,
             s->with->size, s->with->size);
    return fail(s, s->with->path, line);
}

static bool set_add(const struct scan *s, struct image_set *set, const char *path, int class)
{
    struct picture p;
    if (!picture_read(path, &p, s->problem, s->capacity))
        return false;
    unsigned char *planes = set->pixels + (size_t)set->count * sample_bytes(s);
    const bool good = picture_scale(&p, s->with->size, s->with->fit, planes);
    free(p.rgb);
    if (!good)
        return fail(s, path, "out of memory");
    set->labels[set->count++] = class;
    return true;
}

/* Reads the first `tests` files of each class into one set, the others into the other. */
static bool read_files(const struct scan *s, const char *folder, const struct files *files,
                       const int *tests)
{
    struct image_folder *out = s->out;
    char class_path[PATH_MAX], path[PATH_MAX];
    for (int c = 0; c < out->class_count; c++) {
        if (!join(s, class_path, folder, out->classes[c]))
            return false;
        for (int i = 0; i < files[c].count; i++)
            if (!join(s, path, class_path, files[c].names[i]) ||
                !set_add(s, i < tests[c] ? &out->test : &out->train, path, c))
                return false;
    }
    return true;
}

/* ---- a folder of classes -------------------------------------------------------------------- */

enum use { FOR_BOTH, FOR_TRAINING, FOR_TESTS };

static bool find_files(const struct scan *s, const char *folder, enum use use, struct files *files,
                       int *tests, size_t *all, size_t *all_tests)
{
    char path[PATH_MAX];
    for (int c = 0; c < s->out->class_count; c++) {
        struct files *f = &files[c];
        if (!join(s, path, folder, s->out->classes[c]) ||
            !list(s, path, false, &f->names, &f->count))
            return false;
        if (f->count == 0)
            return fail(s, path, "a class without a picture (.png, .jpg, .jpeg)");
        if (use == FOR_BOTH && f->count == 1)
            return fail(s, path, "a class of one picture, of which one is for tests: none is left");
        tests[c] = use == FOR_TRAINING ? 0 : f->count;
        if (use == FOR_BOTH)
            tests[c] = part(f, s->with->test_share);
        *all += (size_t)f->count;
        *all_tests += (size_t)tests[c];
    }
    return true;
}

static bool read_classes(const struct scan *s, const char *folder, enum use use)
{
    struct image_folder *out = s->out;
    const size_t count = (size_t)out->class_count;
    struct files *files = calloc(count, sizeof *files);
    int *tests = calloc(count, sizeof *tests);
    size_t all = 0, all_tests = 0;
    bool good = files != NULL && tests != NULL ? true : fail(s, folder, "out of memory");
    good = good && find_files(s, folder, use, files, tests, &all, &all_tests);
    if (good && use != FOR_TESTS)
        good = set_make(s, &out->train, all - all_tests);
    if (good && use != FOR_TRAINING)
        good = set_make(s, &out->test, all_tests);
    good = good && read_files(s, folder, files, tests);
    for (size_t c = 0; files != NULL && c < count; c++)
        release_names(files[c].names, files[c].count);
    free(files);
    free(tests);
    return good;
}

/* Both folders must have the same classes: else numbers of classes would mean other things. */
static bool same_classes(const struct scan *s, const char *train, const char *test)
{
    const struct image_folder *out = s->out;
    char **names = NULL, line[PATH_MAX + 80];
    int count = 0;
    bool good = list(s, test, true, &names, &count);
    for (int i = 0; good && (i < count || i < out->class_count); i++) {
        const char *a = i < out->class_count ? out->classes[i] : NULL,
                   *b = i < count ? names[i] : NULL;
        const int order = a == NULL ? 1 : b == NULL ? -1 : strcmp(a, b);
        if (order == 0)
            continue;
        snprintf(line, sizeof line, "no class %s, which %s has", order < 0 ? a : b,
                 order < 0 ? train : test);
        good = fail(s, order < 0 ? test : train, line);
    }
    release_names(names, count);
    return good;
}

static bool read_all(const struct scan *s)
{
    struct image_folder *out = s->out;
    char train[PATH_MAX], test[PATH_MAX];
    if (!join(s, train, s->with->path, "train") || !join(s, test, s->with->path, "test"))
        return false;
    const bool parted = is_folder(train) && is_folder(test);
    const char *folder = parted ? train : s->with->path;
    if (!list(s, folder, true, &out->classes, &out->class_count))
        return false;
    if (out->class_count == 0)
        return fail(s, folder, "no folder in it; it must have one for each class");
    if (!parted)
        return read_classes(s, folder, FOR_BOTH);
    return same_classes(s, train, test) && read_classes(s, train, FOR_TRAINING) &&
           read_classes(s, test, FOR_TESTS);
}

/* ---- data sets ------------------------------------------------------------------------------ */

static void measure(struct image_folder *f, size_t plane)
{
    for (size_t c = 0; c < CHANNELS; c++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < (size_t)f->train.count; i++)
            for (size_t k = 0; k < plane; k++) {
                const double v = f->train.pixels[(i * CHANNELS + c) * plane + k] / 255.0;
                sum += v;
                squares += v * v;
            }
        const double n = (double)f->train.count * (double)plane, mean = sum / n;
        const double deviation = sqrt(fmax(squares / n - mean * mean, 0));
        f->means[c] = (float)mean;
        f->deviations[c] = deviation > 1e-3 ? (float)deviation : 1.0f; /* all pixels are the same */
    }
}

static bool set_open(const struct scan *s, struct image_set *set)
{
    const int size = s->with->size;
    set->set = tarn_dataset_from(
        (tarn_arrays){ .inputs = { { .data = set->pixels,
                                     .dtype = TARN_U8,
                                     .shape = TARN_SHAPE(set->count, CHANNELS, size, size) } },
                       .targets = { { .data = set->labels,
                                      .dtype = TARN_I32,
                                      .shape = TARN_SHAPE(set->count),
                                      .classes = s->out->class_count } } });
    return set->set != NULL || fail(s, s->with->path, tarn_error(NULL));
}

bool image_folder_open(const struct image_folder_options *options, struct image_folder *out,
                       char *problem, size_t capacity)
{
    const struct scan s = { options, out, problem, capacity };
    *out = (struct image_folder){ 0 };
    if (!read_all(&s))
        return false;
    measure(out, (size_t)options->size * (size_t)options->size);
    return set_open(&s, &out->train) && set_open(&s, &out->test);
}

void image_folder_close(struct image_folder *f)
{
    struct image_set *const sets[] = { &f->train, &f->test };
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        tarn_dataset_close(sets[i]->set);
        free(sets[i]->pixels);
        free(sets[i]->labels);
    }
    release_names(f->classes, f->class_count);
    *f = (struct image_folder){ 0 };
}
