/* SPDX-License-Identifier: Apache-2.0 */
/* The compile cache stays below its limit: what was used least recently leaves, and nothing that
 * was used in the last minutes. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "backend.h"

TestSuite(cache_trim, .timeout = 600);

enum { ENTRIES = 12, KIB = 64 };

static char folder[64];

static void make_file(const char *name, int kib, long age)
{
    char path[300];
    static const char block[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    cr_assert_not_null(f, "%s", path);
    for (int i = 0; i < kib; i++)
        cr_assert_eq(fwrite(block, 1, sizeof block, f), sizeof block);
    cr_assert_eq(fclose(f), 0);
    const struct timespec when[2] = { { time(NULL) - age, 0 }, { time(NULL) - age, 0 } };
    cr_assert_eq(utimensat(AT_FDCWD, path, when, 0), 0);
}

static void make_folder(const char *name, long age)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    cr_assert_eq(mkdir(path, 0700), 0, "%s", path);
    const struct timespec when[2] = { { time(NULL) - age, 0 }, { time(NULL) - age, 0 } };
    cr_assert_eq(utimensat(AT_FDCWD, path, when, 0), 0);
}

static bool exists(const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static const char *own(int i)
{
    static char name[2][40];
    static int turn;
    char *out = name[turn ^= 1];
    snprintf(out, 40, "%032d", i);
    return out;
}

static const char *pocl(int i)
{
    static char name[80];
    snprintf(name, sizeof name, "pocl/AB/PROGRAM%d", i);
    return name;
}

/* Even entries are ours, odd ones PoCL's; number i was used i hours ago. */
static void make_entry(int i)
{
    char name[200];
    const long age = 3600L * i;
    if (i % 2 == 0) {
        make_file(own(i), KIB, age);
        return;
    }
    make_folder(pocl(i), age);
    snprintf(name, sizeof name, "%s/k0", pocl(i));
    make_folder(name, age);
    snprintf(name, sizeof name, "%s/k0/k0.so", pocl(i));
    make_file(name, KIB - 4, 1000000); /* old, but the program was used again */
    snprintf(name, sizeof name, "%s/last_accessed", pocl(i));
    make_file(name, 0, age);
    /* What was made in them has touched the folders. */
    char path[300];
    const struct timespec when[2] = { { time(NULL) - age, 0 }, { time(NULL) - age, 0 } };
    for (int k = 0; k < 2; k++) {
        snprintf(path, sizeof path, "%s/%s%s", folder, pocl(i), k ? "/k0" : "");
        cr_assert_eq(utimensat(AT_FDCWD, path, when, 0), 0);
    }
}

static void begin(const char *limit)
{
    snprintf(folder, sizeof folder, "/tmp/tarn-trim-%ld", (long)getpid());
    cr_assert_eq(mkdir(folder, 0700), 0);
    cr_assert_eq(setenv("TARN_CACHE_DIR", folder, 1), 0);
    cr_assert_eq(setenv("TARN_CACHE_BYTES", limit, 1), 0);
    make_folder("pocl", 0);
    make_folder("pocl/AB", 0);
    make_file("lock", 1, 1000000);
    for (int i = 0; i < ENTRIES; i++)
        make_entry(i);
}

static void end(void)
{
    char command[200];
    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

static int count_entries(void)
{
    int count = 0;
    for (int i = 0; i < ENTRIES; i++)
        count += exists(i % 2 == 0 ? own(i) : pocl(i));
    return count;
}

Test(cache_trim, the_least_recently_used_leave)
{
    begin("500000"); /* room for 7 entries of about 64 KiB; down to 90 % are 6 */
    cache_trim();
    const int left = count_entries();
    cr_expect(left >= 5 && left <= 7, "%d entries", left);
    for (int i = 0; i < ENTRIES; i++)
        cr_expect_eq(exists(i % 2 == 0 ? own(i) : pocl(i)), i < left, "entry %d", i);
    cr_expect(exists("lock") && exists("pocl/AB"));
    end();
}

Test(cache_trim, nothing_leaves_below_the_limit)
{
    begin("5e6");
    cache_trim();
    cr_expect_eq(count_entries(), ENTRIES);
    end();
}

Test(cache_trim, zero_is_no_limit)
{
    begin("0");
    cache_trim();
    cr_expect_eq(count_entries(), ENTRIES);
    end();
}

Test(cache_trim, what_was_just_used_stays)
{
    begin("1");
    cache_trim();
    cr_expect_eq(count_entries(), 1, "%d entries", count_entries());
    cr_expect(exists(own(0)));
    end();
}

/* Loading an entry is use. */
Test(cache_trim, a_load_keeps_an_entry)
{
    begin("1");
    cache_store_text("a key", "a text", 1.5);
    char command[200], text[20];
    snprintf(command, sizeof command, "touch -d '2 hours ago' %s/*", folder);
    cr_assert_eq(system(command), 0);
    cr_expect(cache_load_text("a key", text, sizeof text));
    cache_trim();
    cr_expect_eq(count_entries(), 0);
    cr_expect(cache_load_text("a key", text, sizeof text));
    end();
}

/* What PoCL leaves when a process is killed is of no use, whatever room there is. */
Test(cache_trim, what_pocl_did_not_finish_leaves)
{
    begin("5e6");
    make_file("pocl/tempfile_old", KIB, 3600);
    make_file("pocl/tempfile_new", KIB, 0);
    cache_trim();
    cr_expect_not(exists("pocl/tempfile_old"));
    cr_expect(exists("pocl/tempfile_new"));
    cr_expect_eq(count_entries(), ENTRIES);
    end();
}

Test(cache_trim, people_see_and_clear_it)
{
    struct cache_entry *list;
    size_t count;
    uint64_t removed, bytes = 0;
    begin("0");
    cache_store_text("a key", "a text", 1.5);
    cr_assert(cache_list(&list, &count));
    cr_expect_eq(count, (size_t)ENTRIES + 1);
    int named = 0, pocls = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += list[i].bytes;
        named += strcmp(list[i].about, "a key") == 0;
        pocls += list[i].pocl;
        cr_expect(strcmp(list[i].about, "a key") == 0 ? list[i].seconds == 1.5
                                                      : isnan(list[i].seconds));
        cr_expect(list[i].idle > -10 && list[i].idle < 13 * 3600);
    }
    cr_expect(named == 1 && pocls == ENTRIES / 2 && bytes > ENTRIES * (KIB - 8) * 1024);
    free(list);
    cr_expect(cache_clear(3600 * 6.5, 0, &removed)); /* numbers 7 to 11 */
    cr_expect_eq(count_entries(), 7);
    cr_expect(removed > 4 * KIB * 1024);
    cr_expect(cache_clear(0, 3.5 * KIB * 1024, &removed));
    cr_expect(count_entries() == 3 || count_entries() == 2, "%d", count_entries());
    cr_expect(cache_clear(0, 0, &removed));
    cr_expect_eq(count_entries(), 0);
    cr_expect(exists("lock"));
    end();
    cr_assert_eq(setenv("TARN_CACHE_DIR", "off", 1), 0);
    cr_expect_not(cache_list(&list, &count));
}
