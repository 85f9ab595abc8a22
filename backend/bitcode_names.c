/* SPDX-License-Identifier: Apache-2.0 */
/* In: LLVM bitcode. Out: the same without the names of what functions compute. Clang gives each instruction one, half of
 * all bytes, and whoever reads them puts each into a table: a third of the time that PoCL takes to load a program. Code
 * does not depend on them.
 *
 * Bitcode is a stream of bits: blocks, which say their length, and records, whose shapes are defined on the way
 * (https://llvm.org/docs/BitCodeFormat.html). In each function the block of its names gets the number of a block
 * that nobody knows, which every reader skips; nothing moves. What is not understood stays as it is. */
#include <string.h>

#include "opencl.h"

enum { END_BLOCK, ENTER_BLOCK, DEFINE_SHAPE, PLAIN_RECORD, FIRST_SHAPE }; /* what begins an entry */
enum { INFO_BLOCK = 0, MODULE_BLOCK = 8, FUNCTION_BLOCK = 12, NAMES_BLOCK = 14 };
enum { SET_BLOCK = 1 };       /* the record of INFO_BLOCK that says whose shapes follow */
enum { UNKNOWN_BLOCK = 120 }; /* has as many bits as NAMES_BLOCK */
enum { MOST_FIELDS = 32, MOST_SHAPES = 64 };

enum encoding { LITERAL, FIXED = 1, VARIABLE = 2, ARRAY = 3, LETTER = 4, BLOB = 5 };

struct shape {
    int count;
    struct {
        enum encoding encoding;
        uint64_t bits; /* of FIXED and VARIABLE */
    } field[MOST_FIELDS];
};

struct shapes {
    int count;
    struct shape list[MOST_SHAPES];
};

struct reader {
    unsigned char *bytes;
    size_t at, end;                         /* in bits */
    bool bad;                               /* it is not understood */
    struct shapes of_modules, of_functions; /* as INFO_BLOCK has them */
};

static uint64_t fixed(struct reader *r, uint64_t bits)
{
    uint64_t value = 0;
    if (bits > 64 || bits > r->end - r->at) {
        r->bad = true;
        return 0;
    }
    for (uint64_t i = 0; i < bits; i++, r->at++)
        value |= (uint64_t)(r->bytes[r->at / 8] >> r->at % 8 & 1) << i;
    return value;
}

/* In pieces of so many bits, of which the highest says that another one follows. */
static uint64_t variable(struct reader *r, uint64_t bits)
{
    uint64_t value = 0;
    if (bits < 2 || bits > 32) {
        r->bad = true;
        return 0;
    }
    for (uint64_t shift = 0; shift < 64 && !r->bad; shift += bits - 1) {
        const uint64_t piece = fixed(r, bits), more = UINT64_C(1) << (bits - 1);
        value |= (piece & (more - 1)) << shift;
        if ((piece & more) == 0)
            return value;
    }
    r->bad = true;
    return 0;
}

static void skip(struct reader *r, uint64_t bits)
{
    r->bad |= bits > r->end - r->at;
    r->at += r->bad ? 0 : (size_t)bits;
}

static void align(struct reader *r)
{
    skip(r, (32 - r->at % 32) % 32);
}

static void define_shape(struct reader *r, struct shapes *to)
{
    struct shape s = { 0 };
    const uint64_t count = variable(r, 5);
    for (uint64_t i = 0; i < count && !r->bad; i++) {
        if (s.count == MOST_FIELDS) {
            r->bad = true;
            return;
        }
        if (fixed(r, 1) == 1) {
            (void)variable(r, 8);
            s.field[s.count++].encoding = LITERAL;
            continue;
        }
        const enum encoding e = (enum encoding)fixed(r, 3);
        r->bad |= e < FIXED || e > BLOB;
        s.field[s.count].encoding = e;
        s.field[s.count++].bits = e == FIXED || e == VARIABLE ? variable(r, 5) : 0;
    }
    r->bad |= to->count == MOST_SHAPES;
    if (!r->bad)
        to->list[to->count++] = s;
}

static void skip_field(struct reader *r, enum encoding e, uint64_t bits)
{
    if (e == FIXED)
        skip(r, bits);
    else if (e == VARIABLE && bits > 0)
        (void)variable(r, bits);
    else if (e == LETTER)
        skip(r, 6);
    else
        r->bad |= e != LITERAL && e != VARIABLE;
}

static void skip_shaped(struct reader *r, const struct shape *s)
{
    for (int i = 0; i < s->count && !r->bad; i++) {
        const enum encoding e = s->field[i].encoding;
        if (e == ARRAY) {
            r->bad |= i + 2 != s->count;
            for (uint64_t n = variable(r, 6); n > 0 && !r->bad; n--)
                skip_field(r, s->field[i + 1].encoding, s->field[i + 1].bits);
            return;
        }
        if (e == BLOB) {
            const uint64_t bytes = variable(r, 6);
            align(r);
            r->bad |= bytes > r->end / 8;
            skip(r, r->bad ? 0 : 8 * bytes);
            align(r);
            return;
        }
        skip_field(r, e, s->field[i].bits);
    }
}

/* Its code; *first: its first operand. */
static uint64_t plain_record(struct reader *r, uint64_t *first)
{
    const uint64_t code = variable(r, 6), count = variable(r, 6);
    *first = 0;
    for (uint64_t i = 0; i < count && !r->bad; i++) {
        const uint64_t operand = variable(r, 6);
        *first = i == 0 ? operand : *first;
    }
    return code;
}

static void rename_block(struct reader *r, size_t at)
{
    for (size_t i = 0; i < 7; i++, at++) {
        const unsigned bit = 1u << at % 8, is = UNKNOWN_BLOCK >> i & 1;
        r->bytes[at / 8] = (unsigned char)((r->bytes[at / 8] & ~bit) | (is ? bit : 0));
    }
}

static void info_block(struct reader *r, uint64_t width)
{
    struct shapes others = { 0 }, *now = &others;
    while (!r->bad) {
        uint64_t number;
        switch (fixed(r, width)) {
        case END_BLOCK:
            align(r);
            return;
        case DEFINE_SHAPE:
            others.count = 0;
            define_shape(r, now);
            break;
        case PLAIN_RECORD:
            if (plain_record(r, &number) == SET_BLOCK)
                now = number == MODULE_BLOCK     ? &r->of_modules
                      : number == FUNCTION_BLOCK ? &r->of_functions
                                                 : &others;
            break;
        default:
            r->bad = true;
        }
    }
}

/* Without `rename` nothing is changed, but all of it is read. */
static void walk(struct reader *r, uint64_t block, uint64_t width, bool rename);

static void enter(struct reader *r, uint64_t inside, bool rename)
{
    const size_t at = r->at;
    const uint64_t block = variable(r, 8), width = variable(r, 4);
    align(r);
    const uint64_t bits = 32 * fixed(r, 32);
    if (r->bad || bits > r->end - r->at || width < 2 || width > 32) {
        r->bad = true;
        return;
    }
    if (block == INFO_BLOCK && inside == MODULE_BLOCK) {
        info_block(r, width);
    } else if (block == FUNCTION_BLOCK && inside == MODULE_BLOCK) {
        walk(r, block, width, rename);
    } else {
        if (block == NAMES_BLOCK && inside == FUNCTION_BLOCK && rename)
            rename_block(r, at);
        skip(r, bits);
    }
}

static void walk(struct reader *r, uint64_t block, uint64_t width, bool rename)
{
    struct shapes shapes = block == FUNCTION_BLOCK ? r->of_functions : r->of_modules;
    while (!r->bad) {
        uint64_t first;
        const uint64_t entry = fixed(r, width);
        if (entry == END_BLOCK) {
            align(r);
            return;
        }
        if (entry == ENTER_BLOCK)
            enter(r, block, rename);
        else if (entry == DEFINE_SHAPE)
            define_shape(r, &shapes);
        else if (entry == PLAIN_RECORD)
            (void)plain_record(r, &first);
        else if (entry - FIRST_SHAPE < (uint64_t)shapes.count)
            skip_shaped(r, &shapes.list[entry - FIRST_SHAPE]);
        else
            r->bad = true;
    }
}

/* What lies side by side in the stream: only the module is of interest. */
static bool walk_all(struct reader *r, bool rename)
{
    r->at = 32; /* behind the magic number */
    while (!r->bad && r->end - r->at >= 64) {
        r->bad |= fixed(r, 2) != ENTER_BLOCK;
        const uint64_t block = variable(r, 8), width = variable(r, 4);
        align(r);
        const uint64_t bits = 32 * fixed(r, 32);
        r->bad |= bits > r->end - r->at || width < 2 || width > 32;
        r->of_modules.count = r->of_functions.count = 0;
        if (!r->bad && block == MODULE_BLOCK)
            walk(r, block, width, rename);
        else if (!r->bad)
            skip(r, bits);
    }
    return !r->bad;
}

bool bitcode_drop_names(unsigned char *bitcode, size_t bytes)
{
    static const unsigned char magic[] = { 'B', 'C', 0xc0, 0xde };
    struct reader r = { .bytes = bitcode, .end = 8 * bytes };
    if (bytes < sizeof magic || memcmp(bitcode, magic, sizeof magic) != 0)
        return false;
    return walk_all(&r, false) && walk_all(&r, true);
}
