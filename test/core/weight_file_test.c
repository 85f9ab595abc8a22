/* SPDX-License-Identifier: Apache-2.0 */
/* Weight files of any framework: every type is read, and differences are counted and measured. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tarn.h"

static char path[64];

static void make_path(void)
{
    snprintf(path, sizeof path, "/tmp/tarn-weight-file-test-XXXXXX");
    const int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    (void)close(fd);
}

static void remove_path(void)
{
    (void)unlink(path);
}

TestSuite(weight_file, .init = make_path, .fini = remove_path, .timeout = 600);
TestSuite(weight_compare, .init = make_path, .fini = remove_path, .timeout = 600);

static void write_file(const char *header, const void *data, size_t bytes)
{
    FILE *f = fopen(path, "wb");
    cr_assert_not_null(f);
    const size_t n = strlen(header);
    for (int i = 0; i < 8; i++)
        (void)fputc((int)(n >> (8 * i) & 0xff), f);
    cr_assert_eq(fwrite(header, 1, n, f), n);
    cr_assert_eq(fwrite(data, 1, bytes, f), bytes);
    cr_assert_eq(fclose(f), 0);
}

/* ---- reading -------------------------------------------------------------------------------- */

#define TWO \
    "{\"__metadata__\":{\"format\":\"pt\"}," \
    "\"w\":{\"dtype\":\"F16\",\"shape\":[2,1],\"data_offsets\":[1,5]}," \
    "\"b\":{\"dtype\":\"BOOL\",\"shape\":[],\"data_offsets\":[0,1]}}"

Test(weight_file, reads_names_shapes_bytes_and_metadata)
{
    const uint8_t data[] = { 1, 0x00, 0x3c, 0x00, 0xc0 };
    write_file(TWO, data, sizeof data);
    tarn_weight_file *f = tarn_weight_file_open(path);
    cr_assert_not_null(f, "%s", tarn_error(NULL));
    cr_assert_eq(tarn_weight_file_count(f), 2);
    const tarn_weight b = tarn_weight_file_at(f, 0), w = tarn_weight_file_find(f, "w");
    cr_expect_str_eq(b.name, "b");
    cr_expect_str_eq(b.dtype, "BOOL");
    cr_expect(b.rank == 0 && b.count == 1 && b.bytes == 1 && b.kind == TARN_WEIGHT_BITS);
    cr_expect_str_eq(w.name, "w");
    cr_expect(w.rank == 2 && w.dim[0] == 2 && w.dim[1] == 1 && w.kind == TARN_WEIGHT_FLOAT);
    cr_expect(w.width == 2 && w.count == 2 && w.bytes == 4);
    cr_expect_eq(memcmp(w.data, data + 1, 4), 0);
    cr_expect_null(tarn_weight_file_at(f, 2).name);
    cr_expect_null(tarn_weight_file_at(f, -1).name);
    cr_expect_null(tarn_weight_file_find(f, "__metadata__").name);
    cr_expect_str_eq(tarn_weight_file_metadata(f, "format"), "pt");
    cr_expect_null(tarn_weight_file_metadata(f, "none"));
    tarn_weight_file_close(f);
    tarn_weight_file_close(NULL);
}

Test(weight_file, reads_every_type)
{
    static const struct {
        const char *dtype;
        int elements, bytes;
        size_t width;
        tarn_weight_kind kind;
    } cases[] = {
        { "BOOL", 2, 2, 1, TARN_WEIGHT_BITS },        { "U8", 2, 2, 1, TARN_WEIGHT_INTEGER },
        { "I8", 2, 2, 1, TARN_WEIGHT_INTEGER },       { "F4", 2, 1, 1, TARN_WEIGHT_BITS },
        { "F6_E2M3", 4, 3, 1, TARN_WEIGHT_BITS },     { "F6_E3M2", 4, 3, 1, TARN_WEIGHT_BITS },
        { "F8_E5M2", 2, 2, 1, TARN_WEIGHT_BITS },     { "F8_E4M3", 2, 2, 1, TARN_WEIGHT_BITS },
        { "F8_E8M0", 2, 2, 1, TARN_WEIGHT_BITS },     { "F8_E4M3FNUZ", 2, 2, 1, TARN_WEIGHT_BITS },
        { "F8_E5M2FNUZ", 2, 2, 1, TARN_WEIGHT_BITS }, { "I16", 2, 4, 2, TARN_WEIGHT_INTEGER },
        { "U16", 2, 4, 2, TARN_WEIGHT_INTEGER },      { "F16", 2, 4, 2, TARN_WEIGHT_FLOAT },
        { "BF16", 2, 4, 2, TARN_WEIGHT_FLOAT },       { "I32", 2, 8, 4, TARN_WEIGHT_INTEGER },
        { "U32", 2, 8, 4, TARN_WEIGHT_INTEGER },      { "F32", 2, 8, 4, TARN_WEIGHT_FLOAT },
        { "F64", 2, 16, 8, TARN_WEIGHT_FLOAT },       { "I64", 2, 16, 8, TARN_WEIGHT_INTEGER },
        { "U64", 2, 16, 8, TARN_WEIGHT_INTEGER },     { "C64", 2, 16, 8, TARN_WEIGHT_BITS },
    };
    const char zeros[16] = "";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char header[128];
        snprintf(header, sizeof header,
                 "{\"t\":{\"dtype\":\"%s\",\"shape\":[%d],\"data_offsets\":[0,%d]}}",
                 cases[i].dtype, cases[i].elements, cases[i].bytes);
        write_file(header, zeros, (size_t)cases[i].bytes);
        tarn_weight_file *f = tarn_weight_file_open(path);
        cr_assert_not_null(f, "%s", tarn_error(NULL));
        const tarn_weight t = tarn_weight_file_at(f, 0);
        cr_expect_str_eq(t.dtype, cases[i].dtype);
        cr_expect(t.width == cases[i].width && t.kind == cases[i].kind, "%s", t.dtype);
        cr_expect_eq(t.count, (size_t)cases[i].bytes / t.width, "%s", t.dtype);
        tarn_weight_file_close(f);
    }
}

static void expect_refused(const char *what)
{
    cr_expect_null(tarn_weight_file_open(path), "%s", what);
    cr_expect_not_null(strstr(tarn_error(NULL), what), "%s: %s", what, tarn_error(NULL));
}

Test(weight_file, refuses_what_the_format_does)
{
    const char zeros[64] = "";
    write_file(TWO, zeros, 4);
    expect_refused("outside the file");
    write_file(TWO, zeros, 6);
    expect_refused("tensors take 5 bytes, but 6 follow");
    write_file("{\"t\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,2]}}", zeros, 2);
    expect_refused("do not fill whole bytes");
    write_file("no JSON", zeros, 0);
    expect_refused("no JSON object");
    cr_assert_eq(truncate(path, 5), 0);
    expect_refused("5 bytes are too few");
    cr_expect_null(tarn_weight_file_open("/tmp"));
    cr_expect_not_null(strstr(tarn_error(NULL), "not a regular file"));
    cr_expect_null(tarn_weight_file_open("/nowhere/at/all"));
    cr_expect_not_null(strstr(tarn_error(NULL), "cannot open"));
    cr_expect_null(tarn_weight_file_open(NULL));
}

/* A hole of 8 TiB behind a small header: refused by the header, not by the allocator. */
Test(weight_file, takes_no_memory_before_the_header_is_checked)
{
    write_file("{}", "", 0);
    if (truncate(path, (off_t)1 << 43) != 0)
        cr_assert_eq(truncate(path, (off_t)1 << 40), 0);
    expect_refused("tensors take 0 bytes");
}

/* ---- memory --------------------------------------------------------------------------------- */

static long peak_kib(void)
{
    char line[200];
    long kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    cr_assert_not_null(f);
    while (fgets(line, sizeof line, f) != NULL)
        (void)sscanf(line, "VmHWM: %ld", &kib);
    fclose(f);
    return kib;
}

/* The file is read in a process of its own, whose peak tells. */
static void expect_small(char *header, size_t bytes, const char *what)
{
    FILE *f = fopen(path, "wb");
    cr_assert_not_null(f);
    for (int i = 0; i < 8; i++)
        fputc((int)(bytes >> (8 * i) & 255), f);
    cr_assert_eq(fwrite(header, 1, bytes, f), bytes);
    cr_assert_eq(fclose(f), 0);
    free(header);
    const pid_t child = fork();
    if (child == 0) {
        const long before = peak_kib();
        tarn_weight_file *file = tarn_weight_file_open(path);
        const long grown = peak_kib() - before;
        tarn_weight_file_close(file);
        _exit(grown > (long)(bytes >> 10) + 16384 ? 1 : 0);
    }
    int code = 1;
    cr_assert_eq(waitpid(child, &code, 0), child);
    cr_expect_eq(code, 0, "%s: more than the file and 16 MiB", what);
}

/* `count` members, each `before`, its number, `after`. */
static char *repeat(const char *start, const char *before, const char *after, int count,
                    const char *end, size_t *bytes)
{
    const size_t each = strlen(before) + strlen(after) + 12;
    char *text = malloc(strlen(start) + each * (size_t)count + strlen(end) + 1);
    cr_assert_not_null(text);
    size_t n = (size_t)sprintf(text, "%s", start);
    for (int i = 0; i < count; i++)
        n += (size_t)sprintf(text + n, "%s%s%d%s", i ? "," : "", before, i, after);
    n += (size_t)sprintf(text + n, "%s", end);
    *bytes = n;
    return text;
}

Test(weight_file, hostile_headers_take_little_memory)
{
#if defined(__SANITIZE_ADDRESS__)
    cr_skip("a sanitizer takes memory of its own");
#endif
    write_file("{}", "", 0); /* makes the path */
    size_t n = 99000000;
    char *name = malloc(n);
    cr_assert_not_null(name);
    memset(name, 'a', n);
    memcpy(name, "{\"", 2);
    memcpy(name + n - 6, "\":{}}", 5);
    expect_small(name, n, "a name of 99 MB");
    char *text = repeat("{", "\"i", "\":{}", 440000, "}", &n);
    expect_small(text, n, "empty objects");
    text = repeat("{", "\"", "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}", 50000,
                  "}", &n);
    expect_small(text, n, "50,000 tensors");
    text = repeat("{\"__metadata__\":{", "\"", "\":\"\"", 99000, "}}", &n);
    expect_small(text, n, "99,000 texts");
}

/* ---- comparing ------------------------------------------------------------------------------ */

static tarn_weight vector(const char *dtype, tarn_weight_kind kind, size_t width, const void *data,
                          size_t count)
{
    return (tarn_weight){ .name = "t",
                          .dtype = dtype,
                          .kind = kind,
                          .rank = 1,
                          .dim = { count },
                          .width = width,
                          .count = count,
                          .bytes = count * width,
                          .data = data };
}

static tarn_weight_difference differ(const char *dtype, tarn_weight_kind kind, size_t width,
                                     const void *a, const void *b, size_t count, uint64_t tolerance)
{
    const tarn_weight x = vector(dtype, kind, width, a, count);
    const tarn_weight y = vector(dtype, kind, width, b, count);
    tarn_weight_difference d;
    cr_assert_eq(tarn_weight_compare(&x, &y, tolerance, &d), TARN_OK, "%s", tarn_error(NULL));
    return d;
}

static uint64_t ulp32(uint32_t a, uint32_t b)
{
    const uint8_t x[] = { (uint8_t)a, (uint8_t)(a >> 8), (uint8_t)(a >> 16), (uint8_t)(a >> 24) };
    const uint8_t y[] = { (uint8_t)b, (uint8_t)(b >> 8), (uint8_t)(b >> 16), (uint8_t)(b >> 24) };
    return differ("F32", TARN_WEIGHT_FLOAT, 4, x, y, 1, 0).max_steps;
}

static uint64_t ulp16(const char *dtype, uint16_t a, uint16_t b)
{
    const uint8_t x[] = { (uint8_t)a, (uint8_t)(a >> 8) }, y[] = { (uint8_t)b, (uint8_t)(b >> 8) };
    return differ(dtype, TARN_WEIGHT_FLOAT, 2, x, y, 1, 0).max_steps;
}

Test(weight_compare, counts_ulp_between_neighbours)
{
    cr_expect_eq(ulp32(0x3f800000, 0x3f800001), 1);
    cr_expect_eq(ulp32(0x3f800000, 0x3f7fffff), 1); /* over a power of two */
    cr_expect_eq(ulp32(0xbf800000, 0xbf800003), 3);
    cr_expect_eq(ulp32(0x00000000, 0x80000000), 0); /* 0 and -0 */
    cr_expect_eq(ulp32(0x00000001, 0x80000001), 2); /* the smallest ones, over zero */
    cr_expect_eq(ulp32(0x80000002, 0x00000001), 3);
    cr_expect_eq(ulp32(0x00000000, 0x00000001), 1);
    cr_expect_eq(ulp32(0x007fffff, 0x00800000), 1); /* denormal and normal */
    cr_expect_eq(ulp32(0x7f7fffff, 0x7f800000), 1); /* largest and infinity */
    cr_expect_eq(ulp32(0xff800000, 0x7f800000), 0xff000000);
    cr_expect_eq(ulp16("F16", 0x3c00, 0x3c01), 1);
    cr_expect_eq(ulp16("F16", 0x8001, 0x0001), 2);
    cr_expect_eq(ulp16("F16", 0x7bff, 0x7c00), 1);
    cr_expect_eq(ulp16("BF16", 0x3f80, 0x3f7e), 2);
    cr_expect_eq(ulp16("BF16", 0x7f7f, 0x7f80), 1);
}

Test(weight_compare, counts_ulp_of_doubles_to_the_ends)
{
    const double a[] = { -(double)INFINITY }, b[] = { (double)INFINITY };
    cr_expect_eq(differ("F64", TARN_WEIGHT_FLOAT, 8, a, b, 1, 0).max_steps, 0xffe0000000000000u);
    const double one[] = { 1.0 }, next[] = { nextafter(1.0, 2.0) };
    cr_expect_eq(differ("F64", TARN_WEIGHT_FLOAT, 8, one, next, 1, 0).max_steps, 1);
}

Test(weight_compare, measures_the_largest_differences)
{
    const float a[] = { 1, 2, 0, 100 }, b[] = { 1, 2.5f, 1e-3f, 104 };
    const tarn_weight_difference d = differ("F32", TARN_WEIGHT_FLOAT, 4, a, b, 4, 0);
    cr_expect(d.different == 3 && d.beyond == 3 && d.first == 1);
    cr_expect_eq(d.max_abs, 4.0);
    cr_expect_eq(d.max_rel, 1.0); /* against 0 */
    const float small[] = { -0.0f, 0x1p-149f }, zero[] = { 0.0f, 0x1p-149f };
    const tarn_weight_difference z = differ("F32", TARN_WEIGHT_FLOAT, 4, small, zero, 2, 0);
    cr_expect(z.different == 1 && z.beyond == 1 && z.max_abs == 0 && z.max_rel == 0);
    const double huge[] = { 1e308 }, low[] = { -1e308 };
    const tarn_weight_difference h = differ("F64", TARN_WEIGHT_FLOAT, 8, huge, low, 1, 0);
    cr_expect(isinf(h.max_abs) && h.max_rel == 2.0);
    const float inf[] = { INFINITY }, one[] = { 1 };
    cr_expect(isinf(differ("F32", TARN_WEIGHT_FLOAT, 4, inf, one, 1, 0).max_rel));
    cr_expect_eq(differ("F32", TARN_WEIGHT_FLOAT, 4, inf, inf, 1, 0).different, 0);
}

Test(weight_compare, tolerance_excuses_ulp_but_no_nan)
{
    const uint32_t a[] = { 0x3f800000, 0x3f800000, 0x80000000, 0x7fc00000, 0x7fc00000 };
    const uint32_t b[] = { 0x3f800002, 0x3f800003, 0x00000000, 0x7fc00001, 0x7fc00000 };
    tarn_weight_difference d = differ("F32", TARN_WEIGHT_FLOAT, 4, a, b, 5, 2);
    cr_expect(d.different == 4 && d.beyond == 2, "%d", (int)d.beyond);
    cr_expect(d.nan_a == 2 && d.nan_b == 2 && d.max_steps == 3);
    d = differ("F32", TARN_WEIGHT_FLOAT, 4, a, b, 5, UINT64_MAX);
    cr_expect_eq(d.beyond, 1);
    const uint32_t one[] = { 0x3f800000 }, nan[] = { 0xffc00000 };
    d = differ("F32", TARN_WEIGHT_FLOAT, 4, one, nan, 1, UINT64_MAX);
    cr_expect(d.beyond == 1 && d.nan_a == 0 && d.nan_b == 1 && d.max_abs == 0);
}

Test(weight_compare, measures_integers_over_their_whole_range)
{
    const int64_t low[] = { INT64_MIN }, high[] = { INT64_MAX };
    tarn_weight_difference d = differ("I64", TARN_WEIGHT_INTEGER, 8, low, high, 1, 5);
    cr_expect(d.max_steps == UINT64_MAX && d.beyond == 1 && d.max_rel == 0);
    const int8_t minus[] = { -1 }, plus[] = { 1 };
    cr_expect_eq(differ("I8", TARN_WEIGHT_INTEGER, 1, minus, plus, 1, 5).max_steps, 2);
    cr_expect_eq(differ("U8", TARN_WEIGHT_INTEGER, 1, minus, plus, 1, 5).max_steps, 254);
    cr_expect_eq(differ("BOOL", TARN_WEIGHT_BITS, 1, minus, plus, 1, 5).beyond, 1);
}

Test(weight_compare, refuses_other_types_and_shapes)
{
    const float data[2] = { 0, 0 };
    const tarn_weight two = vector("F32", TARN_WEIGHT_FLOAT, 4, data, 2);
    const tarn_weight one = vector("F32", TARN_WEIGHT_FLOAT, 4, data, 1);
    const tarn_weight whole = vector("I32", TARN_WEIGHT_INTEGER, 4, data, 2);
    tarn_weight_difference d;
    cr_expect_eq(tarn_weight_compare(&two, &one, 0, &d), TARN_ERR_SHAPE);
    cr_expect_eq(tarn_weight_compare(&two, &whole, 0, &d), TARN_ERR_DTYPE);
    cr_expect_eq(tarn_weight_compare(&two, NULL, 0, &d), TARN_ERR_ARGUMENT);
}

static void expect_text(const char *dtype, tarn_weight_kind kind, size_t width, const void *data,
                        const char *want)
{
    char text[64];
    const tarn_weight w = vector(dtype, kind, width, data, 1);
    tarn_weight_text(&w, 0, text, sizeof text);
    cr_expect_str_eq(text, want, "%s: %s, not %s", dtype, text, want);
}

Test(weight_compare, shows_values)
{
    expect_text("F16", TARN_WEIGHT_FLOAT, 2, "\x00\x3e", "1.5");
    expect_text("F16", TARN_WEIGHT_FLOAT, 2, "\x01\x00", "5.9605e-08");
    expect_text("F16", TARN_WEIGHT_FLOAT, 2, "\x00\xfc", "-inf");
    expect_text("BF16", TARN_WEIGHT_FLOAT, 2, "\x80\xbf", "-1");
    expect_text("F32", TARN_WEIGHT_FLOAT, 4, "\xcd\xcc\xcc\x3d", "0.100000001");
    expect_text("F32", TARN_WEIGHT_FLOAT, 4, "\x01\x00\xc0\xff", "nan");
    expect_text("F64", TARN_WEIGHT_FLOAT, 8, "\x01\0\0\0\0\0\0\0", "4.9406564584124654e-324");
    expect_text("I8", TARN_WEIGHT_INTEGER, 1, "\x80", "-128");
    expect_text("U16", TARN_WEIGHT_INTEGER, 2, "\xff\xff", "65535");
    expect_text("C64", TARN_WEIGHT_BITS, 8, "\x01\0\0\0\0\0\0\xff", "0xff00000000000001");
}
