/* SPDX-License-Identifier: Apache-2.0 */
/* Names that leave bitcode: of a module that is written here bit by bit those of its functions, and nothing else, and of all
 * that is no module, or only a part of one, nothing. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "opencl.h"

enum { BYTES = 4096, BROKEN = 50000 };
enum {
    INFO = 0,
    IDENTITY = 13,
    MODULE = 8,
    CONSTANTS = 11,
    FUNCTION = 12,
    NAMES = 14,
    UNKNOWN = 120
};

static unsigned char stream[BYTES];
static size_t end; /* in bits */

static void put(uint64_t value, int bits)
{
    for (int i = 0; i < bits; i++, end++)
        if (value >> i & 1)
            stream[end / 8] = (unsigned char)(stream[end / 8] | 1u << end % 8);
}

static void put_variable(uint64_t value, int bits)
{
    const uint64_t more = UINT64_C(1) << (bits - 1);
    for (; value >= more; value >>= bits - 1)
        put((value & (more - 1)) | more, bits);
    put(value, bits);
}

static void align(void)
{
    end = (end + 31) / 32 * 32;
}

/* Where the number of the block is, and where its length. */
struct block {
    size_t number, length;
};

static struct block begin_block(int around, unsigned number, unsigned width)
{
    struct block b;
    put(1, around);
    b.number = end;
    put_variable(number, 8);
    put_variable(width, 4);
    align();
    b.length = end;
    put(0, 32);
    return b;
}

static void end_block(struct block b, int width)
{
    put(0, width);
    align();
    const uint32_t words = (uint32_t)((end - b.length) / 32 - 1);
    for (int i = 0; i < 32; i++)
        if (words >> i & 1)
            stream[b.length / 8 + (size_t)i / 8] |= (unsigned char)(1u << i % 8);
}

static void put_record(int width, unsigned code, unsigned operands)
{
    put(3, width);
    put_variable(code, 6);
    put_variable(operands, 6);
    for (unsigned i = 0; i < operands; i++)
        put_variable(1000003 * i, 6);
}

static void put_names(int around, struct block *out)
{
    *out = begin_block(around, NAMES, 4);
    put_record(4, 1, 5);
    end_block(*out, 4);
}

/* Records of the shapes that a function has from the block of information, and of one of its own. */
static void put_shaped(int width)
{
    put(4, width); /* a literal, 3 bits, pieces of 6 bits */
    put(5, 3);
    put_variable(123456, 6);
    put(5, width); /* an array of letters */
    put_variable(7, 6);
    for (unsigned i = 0; i < 7; i++)
        put(i, 6);
    put(2, width); /* DEFINE: a blob */
    put_variable(1, 5);
    put(0, 1);
    put(5, 3);
    put(6, width);
    put_variable(9, 6);
    align();
    for (unsigned i = 0; i < 9; i++)
        put(0xa5, 8);
    align();
}

static void put_info(int around)
{
    const struct block b = begin_block(around, INFO, 2);
    put(3, 2); /* of whom */
    put_variable(1, 6);
    put_variable(1, 6);
    put_variable(FUNCTION, 6);
    put(2, 2);
    put_variable(3, 5);
    put(1, 1), put_variable(200, 8);
    put(0, 1), put(1, 3), put_variable(3, 5);
    put(0, 1), put(2, 3), put_variable(6, 5);
    put(2, 2);
    put_variable(2, 5);
    put(0, 1), put(3, 3);
    put(0, 1), put(4, 3);
    end_block(b, 2);
}

/* `names` get where the names of two functions are. */
static void write_module(struct block names[2])
{
    struct block of_module;
    memset(stream, 0, sizeof stream);
    end = 0;
    put(0xdec04342, 32);
    const struct block identity = begin_block(2, IDENTITY, 5);
    put_record(5, 1, 3);
    end_block(identity, 5);
    const struct block module = begin_block(2, MODULE, 3);
    put_record(3, 1, 1);
    put_info(3);
    for (int i = 0; i < 2; i++) {
        const struct block function = begin_block(3, FUNCTION, 5);
        put_record(5, 1, 1);
        const struct block constants = begin_block(5, CONSTANTS, 4);
        put_record(4, 4, 2);
        end_block(constants, 4);
        put_shaped(5);
        put_names(5, &names[i]);
        end_block(function, 5);
    }
    put_names(3, &of_module); /* of the functions themselves: they stay */
    end_block(module, 3);
}

static void check_module(void)
{
    struct block names[2];
    unsigned char expected[BYTES];
    write_module(names);
    memcpy(expected, stream, BYTES);
    for (int n = 0; n < 2; n++)
        for (size_t i = 0, at = names[n].number; i < 7; i++, at++) {
            expected[at / 8] = (unsigned char)(expected[at / 8] & ~(1u << at % 8));
            expected[at / 8] = (unsigned char)(expected[at / 8] | (UNKNOWN >> i & 1) << at % 8);
        }
    CHECK(bitcode_drop_names(stream, end / 8));
    CHECK(memcmp(stream, expected, BYTES) == 0);
    CHECK(bitcode_drop_names(stream, end / 8)); /* there are none any more */
    CHECK(memcmp(stream, expected, BYTES) == 0);
}

/* In memory of just so many bytes, so that sanitizers see what is read behind them. */
static bool drop_from(const unsigned char *from, size_t bytes, unsigned char **copy)
{
    *copy = malloc(bytes + (bytes == 0));
    if (*copy == NULL)
        abort();
    memcpy(*copy, from, bytes);
    return bitcode_drop_names(*copy, bytes);
}

static void check_parts(void)
{
    struct block names[2];
    unsigned char *copy;
    write_module(names);
    for (size_t bytes = 0; bytes < end / 8; bytes++) {
        (void)drop_from(stream, bytes, &copy);
        CHECK(memcmp(copy, stream, bytes) == 0);
        free(copy);
    }
}

static void check_broken(void)
{
    struct block names[2];
    uint64_t state = 1;
    for (int i = 0; i < BROKEN; i++) {
        unsigned char *copy;
        write_module(names);
        for (int flips = 0; flips <= i % 4; flips++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            stream[(state >> 33) % (end / 8)] ^= (unsigned char)(1u << (state >> 60) % 8);
        }
        if (!drop_from(stream, end / 8, &copy))
            CHECK(memcmp(copy, stream, end / 8) == 0);
        free(copy);
    }
}

int main(void)
{
    check_module();
    check_parts();
    check_broken();
    return failures > 0;
}
