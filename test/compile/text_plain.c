/* SPDX-License-Identifier: Apache-2.0 */
/* What the compiler prints is what the C library would print, for the formats that text_add() knows itself and for those that
 * it leaves to the library; and text that has no room left is cut off, and says so. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "compile/text.h"

enum { NUMBERS = 200000, MOST = 400 };

static uint64_t state = 1;

static uint64_t any_bits(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state ^ state >> 31;
}

/* Both have the same end of a text that came from elsewhere. */
#define SAME(...) \
    do { \
        char expected[MOST]; \
        struct text t = { 0 }; \
        text_add(&t, "from "); \
        text_add(&t, __VA_ARGS__); \
        (void)snprintf(expected, sizeof expected, __VA_ARGS__); \
        CHECK(!t.failed && t.length == 5 + strlen(expected)); \
        CHECK(t.data != NULL && strcmp(t.data + 5, expected) == 0); \
        text_free(&t); \
    } while (0)

static void check_numbers(void)
{
    static const int whole[] = { 0, 1, -1, 9, 10, -10, 123456789, INT_MAX, INT_MIN };
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        SAME("%d", whole[i]);
        SAME("a%db%d%%", whole[i], -1);
        SAME("%u %x", (unsigned)whole[i], (unsigned)whole[i]);
        SAME("%lld,%lld", (long long)whole[i] * 3, LLONG_MAX / 3 - whole[i]);
    }
    SAME("%lld %lld", LLONG_MIN, LLONG_MAX);
}

static void check_exact(void)
{
    static const double some[] = { 0,        -0.0,        1,      -1,       0.5,      1.5,
                                   0.1,      -0.3,        1e300,  DBL_MAX,  DBL_MIN,  FLT_MAX,
                                   -FLT_MIN, DBL_MIN / 4, 1e-320, INFINITY, -INFINITY };
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        SAME("(%af)", some[i]);
    for (int i = 0; i < NUMBERS && failures == 0; i++) {
        const uint64_t bits = any_bits();
        const uint32_t half = (uint32_t)bits;
        double d;
        float f;
        memcpy(&d, &bits, sizeof d);
        memcpy(&f, &half, sizeof f);
        if (!isnan(d))
            SAME("%a", d);
        if (!isnan(f))
            SAME("%a", (double)f);
    }
}

static void check_strings(void)
{
    const char *const empty = "";
    SAME("%s", empty);
    SAME("%s%s, %s", "x", empty, "longer than that");
    SAME("%.*s|%s", 3, "abcdef", "z");
    SAME("%s %*s|%8s %-14s %c", "left", 6, "y", "right", "padded", 'c');
    SAME("%d %016llx %08x %g %.3g", 7, 255ull, 16u, 1.0 / 3, 1e10);
    SAME("%zu %s", (size_t)12, "after");
    struct text t = { 0 };
    text_add(&t, "%s", empty);
    CHECK(t.data != NULL && t.data[0] == '\0' && t.length == 0);
    text_add_spaces(&t, 3);
    text_add_spaces(&t, -1);
    text_add_bytes(&t, "a\0b", 3);
    CHECK(t.length == 6 && memcmp(t.data, "   a\0b", 7) == 0);
    text_free(&t);
}

static void check_room(void)
{
    char eight[8], all[8];
    text_fill(eight, sizeof eight, "t%d", 123456);
    CHECK(strcmp(eight, "t123456") == 0);
    memset(all, '?', sizeof all);
    text_fill(all, 6, "%s%s", "acc", "mulator");
    CHECK(strcmp(all, "acc") == 0 && all[6] == '?');
    struct text t = { 0 };
    for (int i = 0; i < 10000; i++)
        text_add(&t, "%d,", i % 10);
    CHECK(!t.failed && t.length == 20000 && strcmp(t.data + 19996, "8,9,") == 0);
    text_free(&t);
}

int main(void)
{
    check_numbers();
    check_exact();
    check_strings();
    check_room();
    return failures > 0;
}
