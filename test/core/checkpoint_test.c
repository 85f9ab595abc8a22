/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints: the format's refusals, replacement of files, and a replica's state over a file. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file/atomic_file.h"
#include "file/safetensors.h"
#include "tarn.h"

/* A file of a header and `data` zeros, parsed from a block of exactly its size, so that a
 * sanitizer sees every byte read too many. */
static tarn_status parse_bytes(const char *header, size_t n, uint64_t said, size_t data)
{
    const size_t size = 8 + n + data;
    uint8_t *file = calloc(1, size);
    cr_assert_not_null(file);
    for (int i = 0; i < 8; i++)
        file[i] = (uint8_t)(said >> (8 * i));
    memcpy(file + 8, header, n);
    struct safetensors s;
    const tarn_status status = safetensors_parse(file, size, size, "test", &s);
    if (status == TARN_OK)
        safetensors_release(&s);
    return status;
}

static tarn_status parse(const char *header, size_t data)
{
    return parse_bytes(header, strlen(header), strlen(header), data);
}

#define A "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}"
#define B "\"b\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[8,16]}"
#define T(dtype, shape, offsets) \
    "{\"a\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}}"

struct file_case {
    const char *header;
    size_t data;
};

static const struct file_case good[] = {
    { "{}", 0 },
    { "{}   ", 0 },
    { "{" A "}", 8 },
    { "{" A "," B "}", 16 },
    { "{" B "," A "}", 16 },
    { "{\"__metadata__\":{}," A "}", 8 },
    { "{\"__metadata__\":{\"format\":\"pt\",\"note\":\"two\\nlines\"}," A "}", 8 },
    { T("\"F32\"", "[0,7]", "[0,0]"), 0 },
    { T("\"BF16\"", "[1,2,3]", "[0,12]"), 12 },
    { T("\"U8\"", "[1,1,1,1,1,1,1,1]", "[0,1]"), 1 },
    { "{\"a\\u00e4\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1]}}", 1 },
    { "{\"a\":{\"data_offsets\":[0,1],\"shape\":[1],\"dtype\":\"BOOL\"}}", 1 },
};

/* clang-format off */
static const struct file_case bad[] = {
    /* no JSON object */
    { "", 0 },
    { " {}", 0 },
    { "[]", 0 },
    { "null", 0 },
    { "1", 0 },
    { "\"a\"", 0 },
    { "{", 0 },
    { "}", 0 },
    { "{}x", 0 }, { "{}{}", 0 }, { "{" A, 8 }, { "{" A ",}", 8 }, { "{'a':1}", 0 }, { "{//\n}", 0 },
    { "\xef\xbb\xbf{}", 0 }, { "PK\x03\x04", 0 },
    /* names and strings */
    { "{" A "," A "}", 8 },
    { "{" A ",\"\\u0061\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8 },
    { "{\"a\\u0000b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1 },
    { "{\"a\\u001bb\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1 },
    { "{\"a\\nb\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1 },
    { "{\"a\\u007f\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1 },
    { "{\"a\\u0085\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1 },
    { "{\"a\xff\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1 },
    { "{\"a\xc0\xaf\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1 },
    { "{\"a\\ud800\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1 },
    { "{\"a\tb\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1 },
    /* metadata */
    { "{\"__metadata__\":1}", 0 }, { "{\"__metadata__\":null}", 0 }, { "{\"__metadata__\":[]}", 0 },
    { "{\"__metadata__\":{\"a\":1}}", 0 }, { "{\"__metadata__\":{\"a\":null}}", 0 },
    { "{\"__metadata__\":{\"a\":{}}}", 0 }, { "{\"__metadata__\":{\"a\":\"x\",\"a\":\"y\"}}", 0 },
    { "{\"__metadata__\":{\"a\\u0001\":\"x\"}}", 0 },
    { "{\"__metadata__\":{},\"__metadata__\":{}}", 0 },
    /* the three members */
    { "{\"a\":1}", 0 }, { "{\"a\":{}}", 0 }, { "{\"a\":[]}", 0 }, { "{\"a\":null}", 0 },
    { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1]}}", 1 },
    { "{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,1]}}", 1 },
    { "{\"a\":{\"shape\":[1],\"data_offsets\":[0,1]}}", 1 },
    { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"more\":1}}", 1 },
    { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"offsets\":[0,1]}}", 1 },
    /* dtype */
    { T("\"X\"", "[1]", "[0,1]"), 1 },
    { T("\"f32\"", "[1]", "[0,4]"), 4 },
    { T("1", "[1]", "[0,1]"), 1 },
    { T("null", "[1]", "[0,1]"), 1 },
    { T("\"\"", "[1]", "[0,1]"), 1 },
    { T("\"F32 \"", "[1]", "[0,4]"), 4 },
    /* shape */
    { T("\"U8\"", "1", "[0,1]"), 1 },
    { T("\"U8\"", "{}", "[0,1]"), 1 },
    { T("\"U8\"", "[-1]", "[0,1]"), 1 },
    { T("\"U8\"", "[-1,-1]", "[0,1]"), 1 },
    { T("\"U8\"", "[-0]", "[0,0]"), 0 },
    { T("\"U8\"", "[1.0]", "[0,1]"), 1 },
    { T("\"U8\"", "[1e0]", "[0,1]"), 1 },
    { T("\"U8\"", "[1E3]", "[0,1000]"), 1000 },
    { T("\"U8\"", "[\"1\"]", "[0,1]"), 1 },
    { T("\"U8\"", "[true]", "[0,1]"), 1 },
    { T("\"U8\"", "[null]", "[0,1]"), 1 },
    { T("\"U8\"", "[01]", "[0,1]"), 1 },
    { T("\"U8\"", "[[1]]", "[0,1]"), 1 },
    { T("\"U8\"", "[[[1]]]", "[0,1]"), 1 },
    { T("\"U8\"", "[0x1]", "[0,1]"), 1 },
    { T("\"U8\"", "[1,1,1,1,1,1,1,1,1]", "[0,1]"), 1 }, { T("\"U8\"", "[NaN]", "[0,1]"), 1 },
    { T("\"U8\"", "[18446744073709551616]", "[0,0]"), 0 },
    { T("\"U8\"", "[99999999999999999999999999]", "[0,0]"), 0 },
    { T("\"U8\"", "[4294967296,4294967296]", "[0,0]"), 0 },
    { T("\"F32\"", "[4611686018427387904]", "[0,0]"), 0 },
    { T("\"U8\"", "[9223372036854775807,9223372036854775807]", "[0,1]"), 1 },
    /* offsets */
    { T("\"U8\"", "[1]", "[0]"), 1 },
    { T("\"U8\"", "[1]", "[]"), 1 },
    { T("\"U8\"", "[1]", "[0,1,1]"), 1 },
    { T("\"U8\"", "[1]", "1"), 1 },
    { T("\"U8\"", "[1]", "[-1,0]"), 1 },
    { T("\"U8\"", "[1]", "[0,1.0]"), 1 },
    { T("\"U8\"", "[1]", "[0,1e0]"), 1 },
    { T("\"U8\"", "[1]", "[1,0]"), 1 },
    { T("\"U8\"", "[1]", "[\"0\",1]"), 1 },
    { T("\"U8\"", "[1]", "[1,2]"), 2 },
    { T("\"U8\"", "[1]", "[0,2]"), 2 },
    { T("\"U8\"", "[2]", "[0,1]"), 1 },
    { T("\"U8\"", "[2]", "[0,2]"), 1 },
    { T("\"U8\"", "[1]", "[0,1]"), 2 },
    { T("\"U8\"", "[1]", "[0,1]"), 0 },
    { T("\"U8\"", "[0]", "[1,1]"), 1 },
    { T("\"U8\"", "[1]", "[9223372036854775807,9223372036854775808]"), 1 },
    { "{" A ",\"b\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8]}}", 8 },
    { "{" A ",\"b\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[4,12]}}", 12 },
    { "{" A ",\"b\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[9,17]}}", 17 },
    { "{" A ",\"b\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[4,4]}}", 8 },
    { "{" A "}", 9 },
    { "{" A "}", 7 },
    { "{" A "}", 0 },
    { "{}", 1 },
    { "{\"__metadata__\":{}}", 4 },
    { "{" A ",\"b\":[[[[[1]]]]]}", 8 },
};
/* clang-format on */

Test(safetensors, accepts_good_files, .timeout = 600)
{
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        cr_expect_eq(parse(good[i].header, good[i].data), TARN_OK, "%s: %s", good[i].header,
                     error_text());
}

Test(safetensors, refuses_bad_files, .timeout = 600)
{
    cr_assert_geq(sizeof bad / sizeof *bad, 60);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_expect_eq(parse(bad[i].header, bad[i].data), TARN_ERR_FORMAT, "case %zu: %s", i,
                     bad[i].header);
        for (const char *c = error_text(); *c; c++)
            cr_assert(*c >= 0x20 && *c < 0x7f, "case %zu prints a raw byte", i);
    }
}

Test(safetensors, refuses_bad_lengths, .timeout = 600)
{
    static const uint64_t said[] = { 0, 1, 3, 100000001, UINT64_MAX, (uint64_t)1 << 63 };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        cr_expect_eq(parse_bytes("{}", 2, said[i], 0), TARN_ERR_FORMAT, "%" PRIu64, said[i]);
    cr_expect_eq(parse_bytes("{}\0", 3, 3, 0), TARN_ERR_FORMAT, "NUL after the header");
    cr_expect_eq(parse_bytes("{\"a\0\":1}", 8, 8, 0), TARN_ERR_FORMAT, "NUL in a name");
    struct safetensors s;
    for (size_t n = 0; n < 8; n++) {
        uint8_t *head = calloc(1, n + 1);
        cr_assert_not_null(head);
        head[0] = 2;
        cr_expect_eq(safetensors_parse(head, n, n, "test", &s), TARN_ERR_FORMAT);
    }
    static const char whole[] = "{" A "," B "}";
    for (size_t n = 0; n < sizeof whole - 1; n++)
        cr_expect_eq(parse_bytes(whole, n, n, 16), TARN_ERR_FORMAT, "first %zu bytes", n);
}

Test(safetensors, refuses_deep_and_crowded_headers, .timeout = 600)
{
    const size_t n = 2000000;
    char *text = malloc(n);
    cr_assert_not_null(text);
    memset(text, '[', n);
    memcpy(text, "{\"a\":", 5);
    cr_expect_eq(parse_bytes(text, n, n, 0), TARN_ERR_FORMAT);
    for (size_t i = 6; i < n; i++)
        text[i] = i % 2 ? ',' : '1';
    cr_expect_eq(parse_bytes(text, n, n, 0), TARN_ERR_FORMAT);
    free(text);
}

/* Every change of one byte is either refused or still a valid file: a sanitizer judges. */
Test(safetensors, survives_every_changed_byte, .timeout = 600)
{
    char text[] = "{\"__metadata__\":{\"k\":\"v\"}," A "," B "}";
    for (size_t i = 0; i < sizeof text - 1; i++) {
        const char before = text[i];
        for (int c = 0; c < 256; c++) {
            text[i] = (char)c;
            (void)parse_bytes(text, sizeof text - 1, sizeof text - 1, 16);
        }
        text[i] = before;
    }
}

Test(safetensors, escapes_names, .timeout = 600)
{
    char out[SAFETENSORS_ESCAPED], big[1000];
    cr_expect_str_eq(safetensors_escape("fc1.weight", out), "fc1.weight");
    cr_expect_str_eq(safetensors_escape("\x1b[2J\"\\\xff", out), "\\x1b[2J\\x22\\x5c\\xff");
    memset(big, 0x1b, sizeof big - 1);
    big[sizeof big - 1] = '\0';
    cr_expect_lt(strlen(safetensors_escape(big, out)), SAFETENSORS_ESCAPED);
}

Test(safetensors, reads_what_it_builds, .timeout = 600)
{
    const struct safetensors_entry entries[] = {
        { .name = "z", .dtype = "I64", .begin = 0, .end = 8 },
        { .name = "quote\"", .dtype = "F32", .rank = 2, .dim = { 2, 3 }, .begin = 8, .end = 32 },
    };
    const struct safetensors_text metadata[] = { { "format", "tarn" } };
    uint8_t *head = NULL;
    size_t bytes = 0;
    cr_assert_eq(safetensors_build(entries, 2, metadata, 1, &head, &bytes), TARN_OK);
    cr_expect_eq(bytes % 8, 0);
    struct safetensors s;
    cr_assert_eq(safetensors_parse(head, bytes, bytes + 32, "test", &s), TARN_OK, "%s",
                 error_text());
    const struct safetensors_entry *e = safetensors_find(&s, "quote\"");
    cr_assert_not_null(e);
    cr_expect(e->rank == 2 && e->dim[1] == 3 && e->begin == 8);
    cr_expect_null(safetensors_find(&s, "y"));
    cr_expect_str_eq(safetensors_metadata(&s, "format"), "tarn");
    safetensors_release(&s);
}

/* ---- replacing files ------------------------------------------------------------------------ */

static char folder[64], path[128];

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/tarn-checkpoint-test-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
}

static int count_files(bool remove)
{
    int n = 0;
    DIR *dir = opendir(folder);
    cr_assert_not_null(dir);
    for (const struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        if (e->d_name[0] == '.')
            continue;
        n++;
        if (remove)
            (void)unlinkat(dirfd(dir), e->d_name, 0);
    }
    (void)closedir(dir);
    return n;
}

static void remove_folder(void)
{
    (void)count_files(true);
    (void)rmdir(folder);
}

TestSuite(replace, .init = make_folder, .fini = remove_folder, .timeout = 600);
TestSuite(checkpoint, .init = make_folder, .fini = remove_folder, .timeout = 600);

static size_t slurp(const char *name, char *out, size_t capacity)
{
    FILE *f = fopen(name, "rb");
    cr_assert_not_null(f, "%s", name);
    const size_t n = fread(out, 1, capacity, f);
    (void)fclose(f);
    return n;
}

Test(replace, keeps_the_old_file_until_the_end)
{
    struct atomic_file w;
    char text[16] = "";
    cr_assert_eq(atomic_file_begin(&w, path), TARN_OK, "%s", error_text());
    cr_assert_eq(atomic_file_write(&w, "one", 3), TARN_OK);
    cr_expect_neq(access(path, F_OK), 0);
    cr_assert_eq(atomic_file_commit(&w), TARN_OK);
    struct stat st;
    cr_assert_eq(stat(path, &st), 0);
    cr_expect_eq(st.st_mode & 0777, 0600);
    cr_assert_eq(atomic_file_begin(&w, path), TARN_OK);
    cr_assert_eq(atomic_file_write(&w, "twoo", 4), TARN_OK);
    cr_expect_eq(slurp(path, text, sizeof text), 3);
    atomic_file_abort(&w);
    cr_expect_eq(slurp(path, text, sizeof text), 3);
    cr_expect_eq(memcmp(text, "one", 3), 0);
    cr_expect_eq(count_files(false), 1);
    cr_expect_neq(atomic_file_begin(&w, "/nowhere/at/all"), TARN_OK);
    cr_expect_neq(atomic_file_begin(&w, "/tmp/"), TARN_OK);
}

Test(replace, leaves_what_is_no_plain_file_alone)
{
    struct atomic_file w;
    struct stat st;
    cr_assert_eq(mkfifo(path, 0600), 0);
    cr_expect_eq(atomic_file_begin(&w, path), TARN_ERR_IO);
    cr_expect_neq(strstr(error_text(), path), NULL, "%s", error_text());
    cr_assert_eq(lstat(path, &st), 0);
    cr_expect(S_ISFIFO(st.st_mode));
    cr_assert_eq(unlink(path), 0);
    cr_assert_eq(mkdir(path, 0700), 0);
    cr_expect_eq(atomic_file_begin(&w, path), TARN_ERR_IO);
    cr_expect_eq(count_files(false), 1);
    cr_assert_eq(rmdir(path), 0);
    cr_assert_eq(symlink("nowhere", path), 0);
    cr_assert_eq(atomic_file_begin(&w, path), TARN_OK);
    cr_assert_eq(atomic_file_commit(&w), TARN_OK);
    cr_assert_eq(lstat(path, &st), 0);
    cr_expect(S_ISREG(st.st_mode));
}

Test(replace, leaves_a_read_only_file_alone)
{
    struct atomic_file w;
    cr_assert_eq(atomic_file_begin(&w, path), TARN_OK);
    cr_assert_eq(atomic_file_commit(&w), TARN_OK);
    cr_assert_eq(chmod(path, 0400), 0);
    if (geteuid() == 0) { /* which may write to all files */
        const uid_t nobody = 65534;
        cr_assert_eq(chown(path, nobody, (gid_t)-1), 0);
        cr_assert_eq(chown(folder, nobody, (gid_t)-1), 0);
        cr_assert_eq(seteuid(nobody), 0);
    }
    cr_expect_eq(atomic_file_begin(&w, path), TARN_ERR_IO);
    cr_expect_eq(count_files(false), 1);
}

Test(replace, sweeps_what_dead_processes_left)
{
    struct atomic_file w;
    const pid_t child = fork();
    if (child == 0) {
        const bool begun = atomic_file_begin(&w, path) == TARN_OK;
        _exit(begun && atomic_file_write(&w, "x", 1) == TARN_OK ? 0 : 1);
    }
    int code = 1;
    cr_assert_eq(waitpid(child, &code, 0), child);
    cr_assert_eq(code, 0);
    cr_assert_eq(count_files(false), 1);
    char other[192];
    snprintf(other, sizeof other, "%s.tmp.%ld.x", path, (long)child);
    FILE *f = fopen(other, "wb"); /* not of our form: stays */
    cr_assert_not_null(f);
    (void)fclose(f);
    cr_assert_eq(atomic_file_begin(&w, path), TARN_OK);
    cr_assert_eq(atomic_file_commit(&w), TARN_OK);
    cr_expect_eq(count_files(false), 2);
}

/* ---- replicas ------------------------------------------------------------------------------- */

struct model {
    tarn_linear fc;
    tarn_batch_norm bn;
    tarn_optimizer *adam;
};

static tarn_replica *open_model(struct model *m, uint64_t seed, int out, bool optimizer)
{
    tarn_replica *r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    tarn_seed(r, seed);
    m->fc = tarn_linear_make(r, "fc", 6, out);
    m->bn = tarn_batch_norm_make(r, "bn", out);
    m->adam = optimizer ? tarn_adam(r, (tarn_adam_options){ .lr = 0.01f }) : NULL;
    return r;
}

static void train(tarn_replica *r, struct model *m, int steps)
{
    for (int i = 0; i < steps; i++) {
        const tarn_tensor x = tarn_rand(r, TARN_SHAPE(8, 6));
        const tarn_tensor y = tarn_batch_norm_forward(&m->bn, tarn_linear_forward(&m->fc, x));
        tarn_backward(tarn_mean(tarn_mul(y, tarn_mul(y, y)), TARN_ALL, false));
        tarn_optimizer_step(m->adam);
        cr_assert_eq(tarn_step(r), TARN_OK, "%s", tarn_error(r));
    }
}

static size_t save(tarn_replica *r, tarn_progress p, char *out, size_t capacity)
{
    cr_assert_eq(tarn_save(r, path, p), TARN_OK, "%s", tarn_error(r));
    return slurp(path, out, capacity);
}

Test(checkpoint, resumes_bit_for_bit)
{
    static char straight[65536], resumed[65536];
    struct model m;
    tarn_replica *r = open_model(&m, 4, 5, true);
    train(r, &m, 3);
    (void)save(r, (tarn_progress){ .epoch = 2, .batches = 3 }, straight, sizeof straight);
    char middle[192];
    snprintf(middle, sizeof middle, "%s/middle", folder);
    cr_assert_eq(rename(path, middle), 0);
    train(r, &m, 3);
    const size_t n = save(r, (tarn_progress){ .epoch = 2 }, straight, sizeof straight);
    tarn_close(r);

    r = open_model(&m, 99, 5, true);
    tarn_progress p;
    cr_assert_eq(tarn_load(r, middle, &p), TARN_OK, "%s", tarn_error(r));
    cr_expect(p.epoch == 2 && p.batches == 3);
    cr_expect_eq(tarn_step_count(r), 3);
    train(r, &m, 3);
    cr_expect_eq(save(r, (tarn_progress){ .epoch = 2 }, resumed, sizeof resumed), n);
    cr_expect_eq(memcmp(straight, resumed, n), 0);
    tarn_close(r);

    r = open_model(&m, 99, 5, false);
    cr_expect_eq(tarn_load(r, middle, NULL), TARN_OK, "without optimizer: %s", tarn_error(r));
    tarn_close(r);
}

Test(checkpoint, lists_differences_and_loads_nothing)
{
    static char before[65536], after[65536];
    struct model m;
    char other[192];
    snprintf(other, sizeof other, "%s/other", folder);
    tarn_replica *r = open_model(&m, 1, 7, false);
    (void)tarn_linear_make(r, "extra", 2, 2);
    cr_assert_eq(tarn_save(r, other, (tarn_progress){ 0 }), TARN_OK, "%s", tarn_error(r));
    tarn_close(r);
    r = open_model(&m, 2, 5, false);
    (void)tarn_linear_make(r, "absent", 2, 2);
    const size_t n = save(r, (tarn_progress){ 0 }, before, sizeof before);
    cr_expect_eq(tarn_load(r, other, NULL), TARN_ERR_MISMATCH);
    static const char *const named[] = { "fc.weight", "absent.bias is missing",
                                         "extra.weight is in the file only", "[7,6]", "[5,6]" };
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        cr_expect_not_null(strstr(tarn_error(r), named[i]), "%s: %s", named[i], tarn_error(r));
    cr_expect_eq(tarn_save(r, path, (tarn_progress){ 0 }), TARN_ERR_MISMATCH, "after an error");
    tarn_error_clear(r);
    cr_expect_eq(save(r, (tarn_progress){ 0 }, after, sizeof after), n);
    cr_expect_eq(memcmp(before, after, n), 0);
    cr_expect_eq(tarn_load(r, folder, NULL), TARN_ERR_IO);
    tarn_error_clear(r);
    cr_expect_eq(truncate(other, 300), 0);
    cr_expect_eq(tarn_load(r, other, NULL), TARN_ERR_FORMAT);
    tarn_close(r);
}
