/* SPDX-License-Identifier: Apache-2.0 */
/* Checksums of checkpoints: every damaged byte is refused, and files without checksums load. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tarn.h"

TestSuite(checksum, .timeout = 600);

static char path[64], changed[80];
static uint8_t bytes[8192];
static size_t size, data_start;
static tarn_replica *r;

static void open_model(void)
{
    r = tarn_open(NULL);
    cr_assert_not_null(r, "%s", tarn_error(NULL));
    tarn_linear_make(r, "fc", 3, 2);
    tarn_batch_norm_make(r, "norm", 4);
}

static size_t read_file(const char *name, uint8_t *to)
{
    FILE *f = fopen(name, "rb");
    cr_assert_not_null(f);
    const size_t n = fread(to, 1, sizeof bytes, f);
    cr_assert(n < sizeof bytes);
    fclose(f);
    return n;
}

static void write_file(const uint8_t *from, size_t n)
{
    FILE *f = fopen(changed, "wb");
    cr_assert_not_null(f);
    cr_assert_eq(fwrite(from, 1, n, f), n);
    cr_assert_eq(fclose(f), 0);
}

static void begin(void)
{
    snprintf(path, sizeof path, "/tmp/tarn-checksum-%ld", (long)getpid());
    snprintf(changed, sizeof changed, "%s.changed", path);
    open_model();
    cr_assert_eq(tarn_save(r, path, (tarn_progress){ 3, 4 }), TARN_OK, "%s", tarn_error(r));
    size = read_file(path, bytes);
    data_start = 8;
    for (int i = 0; i < 8; i++)
        data_start += (size_t)bytes[i] << (8 * i);
    cr_assert_lt(data_start, size);
}

static void end(void)
{
    tarn_close(r);
    unlink(path);
    unlink(changed);
}

/* The tensor whose data have a byte. */
static const char *owner(const tarn_weight_file *f, size_t at)
{
    const uint8_t *data = tarn_weight_file_at(f, 0).data, *first = data;
    for (int i = 0; i < tarn_weight_file_count(f); i++) {
        data = tarn_weight_file_at(f, i).data;
        first = data < first ? data : first;
    }
    for (int i = 0; i < tarn_weight_file_count(f); i++) {
        const tarn_weight w = tarn_weight_file_at(f, i);
        const size_t begins = (size_t)((const uint8_t *)w.data - first);
        if (at >= begins && at < begins + w.bytes)
            return w.name;
    }
    return "none";
}

Test(checksum, every_flipped_bit_is_refused)
{
    begin();
    tarn_weight_file *good = tarn_weight_file_open(path);
    cr_assert_not_null(good, "%s", tarn_error(NULL));
    for (size_t i = 0; i < size; i++) {
        for (int bit = (int)(i % 3); bit < 8; bit += i < data_start ? 1 : 3) {
            bytes[i] ^= (uint8_t)(1 << bit);
            write_file(bytes, size);
            bytes[i] ^= (uint8_t)(1 << bit);
            tarn_weight_file *f = tarn_weight_file_open(changed);
            cr_expect_null(f, "byte %zu, bit %d: read", i, bit);
            tarn_weight_file_close(f);
            const char *line = tarn_error(NULL);
            cr_expect_not_null(strstr(line, changed), "byte %zu: %s", i, line);
            if (i >= data_start)
                cr_expect_not_null(strstr(line, owner(good, i - data_start)), "byte %zu: %s", i,
                                   line);
        }
    }
    tarn_weight_file_close(good);
    end();
}

Test(checksum, a_damaged_file_changes_nothing)
{
    begin();
    float before[6], after[6];
    const tarn_tensor w = tarn_find(r, "fc.weight");
    cr_assert_eq(tarn_read(w, before, sizeof before), TARN_OK);
    bytes[size - 1] ^= 64;
    write_file(bytes, size);
    cr_expect_eq(tarn_load(r, changed, NULL), TARN_ERR_FORMAT);
    cr_expect_not_null(strstr(tarn_error(r), "checksum"), "%s", tarn_error(r));
    tarn_error_clear(r);
    cr_assert_eq(tarn_read(w, after, sizeof after), TARN_OK);
    cr_expect_eq(memcmp(before, after, sizeof before), 0);
    cr_expect_eq(tarn_load(r, path, NULL), TARN_OK, "%s", tarn_error(r));
    end();
}

/* What is taken out is replaced by spaces, as JSON allows. */
static void remove_checksums(void)
{
    char *head = (char *)bytes + 8;
    for (;;) {
        bytes[size] = 0;
        char *at = strstr(head, ",\"tarn.xxh3");
        if (at == NULL || at >= (char *)bytes + data_start)
            return;
        char *stop = strstr(strstr(at, ":\"") + 2, "\"");
        memset(at, ' ', (size_t)(stop + 1 - at));
    }
}

Test(checksum, a_file_without_them_loads)
{
    begin();
    remove_checksums();
    write_file(bytes, size);
    tarn_progress p = { 0 };
    cr_expect_eq(tarn_load(r, changed, &p), TARN_OK, "%s", tarn_error(r));
    cr_expect_eq(p.epoch, 3);
    bytes[size - 1] ^= 64;
    write_file(bytes, size);
    cr_expect_eq(tarn_load(r, changed, &p), TARN_OK, "%s", tarn_error(r));
    end();
}

Test(checksum, the_same_state_gives_the_same_bytes)
{
    begin();
    static uint8_t again[sizeof bytes];
    cr_assert_eq(tarn_save(r, path, (tarn_progress){ 3, 4 }), TARN_OK);
    cr_expect_eq(read_file(path, again), size);
    cr_expect_eq(memcmp(bytes, again, size), 0);
    tarn_weight_file *f = tarn_weight_file_open(path);
    cr_assert_not_null(f, "%s", tarn_error(NULL));
    for (int i = 0; i < tarn_weight_file_count(f); i++) {
        char key[100];
        snprintf(key, sizeof key, "tarn.xxh3.%s", tarn_weight_file_at(f, i).name);
        const char *sum = tarn_weight_file_metadata(f, key);
        cr_expect(sum && strlen(sum) == 16, "%s", key);
    }
    tarn_weight_file_close(f);
    end();
}
