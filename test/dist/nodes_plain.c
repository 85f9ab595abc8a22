/* SPDX-License-Identifier: Apache-2.0 */
/* What nodes do together, over sockets of one process, with messages that come late and in any order: every
 * schedule on up to 64 nodes against the tree of one process, bit for bit; and what differs is found. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pair_link.h"
#include "pattern.h"
#include "rounds.h"

enum { MOST = 64 };

static uint32_t seed = 1;

static uint32_t next(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

/* Floats of 32 magnitudes, so that another order of sums has other bits; or any integers. */
static void fill(void *to, size_t count, tarn_dtype dtype)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t sign = next() % 2 << 31, exponent = 111 + next() % 32;
        const uint32_t bits =
            dtype == TARN_I32 ? next() << 8 ^ next() : sign | exponent << 23 | next() >> 1;
        memcpy((char *)to + 4 * i, &bits, 4);
    }
}

static void fill_wide(void *to, size_t count, tarn_dtype dtype)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t some = (uint64_t)next() << 40 ^ (uint64_t)next() << 20 ^ next();
        const uint64_t bits =
            dtype == TARN_I64
                ? some
                : (uint64_t)(next() % 2) << 63 | (uint64_t)(1000 + next() % 40) << 52 | some >> 12;
        memcpy((char *)to + 8 * i, &bits, 8);
    }
}

struct nodes {
    int count;
    struct pair_net *net;
    struct link *link[MOST];
    struct rounds *rounds[MOST];
    struct task task[MOST];
    char *data[MOST], *scratch[MOST];
    bool over[MOST];
    tarn_status status[MOST];
};

static void open_nodes(struct nodes *n, int count)
{
    memset(n, 0, sizeof *n);
    n->count = count;
    n->net = pair_net_new(count, 6);
    for (int i = 0; i < count; i++) {
        n->link[i] = pair_link_open(n->net, i);
        CHECK(rounds_new(n->link[i], &n->rounds[i]) == TARN_OK);
    }
}

static void close_nodes(struct nodes *n)
{
    for (int i = 0; i < n->count; i++) {
        rounds_free(n->rounds[i]);
        n->link[i]->leave(n->link[i], true);
        free(n->data[i]);
        free(n->scratch[i]);
    }
    pair_net_free(n->net);
}

static void room(struct nodes *n, size_t bytes, size_t scratch)
{
    for (int i = 0; i < n->count; i++) {
        free(n->data[i]);
        free(n->scratch[i]);
        n->data[i] = malloc(bytes + 4);
        n->scratch[i] = malloc(scratch + 4);
    }
}

static struct collective ask(size_t count, const void *in)
{
    return (struct collective){
        .kind = COLLECTIVE_ALL_REDUCE, .count = count, .order = FORM_ANY, .label = "test", .in = in
    };
}

/* All tasks to their ends; whoever goes on first is chance. Those that failed stand still. */
static void run(struct nodes *n)
{
    for (int i = 0; i < n->count; i++) {
        n->over[i] = false;
        n->status[i] = rounds_begin(n->rounds[i], &n->task[i]);
        CHECK(n->status[i] == TARN_OK);
    }
    bool moves = true;
    for (long look = 0; moves && look < 1000000; look++) {
        const int first = (int)(next() % (unsigned)n->count);
        moves = false;
        for (int k = 0; k < n->count; k++) {
            const int i = (first + k) % n->count;
            if (n->over[i] || n->status[i] != TARN_OK)
                continue;
            n->status[i] = rounds_poll(n->rounds[i], &n->over[i]);
            moves = true;
        }
        for (int i = 0; look > 20000 && i < n->count; i++)
            moves = moves && n->status[i] == TARN_OK;
    }
}

static void check_reduce(struct nodes *n, enum rounds_kind kind, size_t count, tarn_dtype dtype,
                         tarn_reduction reduction)
{
    const void *in[MOST];
    const size_t size = tarn_dtype_bytes(dtype);
    char *rows = malloc((size_t)n->count * count * size + 8), *sum = malloc(size * count + 8);
    room(n, tarn_dtype_bytes(dtype) * count, rounds_scratch(n->count, count, dtype));
    for (int i = 0; i < n->count; i++) {
        char *row = rows + (size_t)i * count * size;
        in[i] = row;
        if (size == 8)
            fill_wide(row, count, dtype);
        else
            fill(row, count, dtype);
        memcpy(n->data[i], in[i], size * count);
        n->task[i] = (struct task){ .kind = TASK_REDUCE,
                                    .schedule = kind,
                                    .dtype = dtype,
                                    .reduction = reduction,
                                    .data = n->data[i],
                                    .count = count,
                                    .scratch = n->scratch[i] };
        const struct collective c = ask(count, NULL);
        notice_make(&n->task[i].notice, &c, 1, 2 * i, i, false);
    }
    pattern_reduce_to(dtype, reduction, in, n->count, 0, count, sum);
    run(n);
    for (int i = 0; i < n->count; i++) {
        CHECK(n->over[i] && n->status[i] == TARN_OK);
        CHECK(memcmp(n->data[i], sum, size * count) == 0);
        CHECK(rounds_notice(n->rounds[i])->differs == -1);
        CHECK(rounds_notice(n->rounds[i])->rank == 0);
    }
    free(rows);
    free(sum);
}

static void check_reductions(struct nodes *n)
{
    static const size_t counts[] = { 0, 1, 17, 1000, 70001 };
    for (int kind = ROUNDS_DIRECT; kind <= ROUNDS_DOUBLING; kind++) {
        if (!rounds_fits((enum rounds_kind)kind, n->count))
            continue;
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
            if (n->count <= 16 || counts[k] <= 1000)
                check_reduce(n, (enum rounds_kind)kind, counts[k], TARN_F32, TARN_SUM);
        check_reduce(n, (enum rounds_kind)kind, 333, TARN_I32, TARN_SUM);
        check_reduce(n, (enum rounds_kind)kind, 333, TARN_F32, TARN_MAX);
        check_reduce(n, (enum rounds_kind)kind, 333, TARN_I32, TARN_MIN);
        check_reduce(n, (enum rounds_kind)kind, 333, TARN_F64, TARN_SUM);
        check_reduce(n, (enum rounds_kind)kind, 333, TARN_I64, TARN_SUM);
        check_reduce(n, (enum rounds_kind)kind, 333, TARN_F64, TARN_MIN);
    }
}

static void check_broadcast(struct nodes *n, size_t bytes)
{
    const int root = (int)(next() % (unsigned)n->count);
    room(n, bytes, 0);
    for (int i = 0; i < n->count; i++) {
        memset(n->data[i], i, bytes);
        n->task[i] = (struct task){
            .kind = TASK_BROADCAST, .data = n->data[i], .count = bytes, .root = root
        };
        const struct collective c = ask(bytes, NULL);
        notice_make(&n->task[i].notice, &c, 1, i, i, false);
    }
    run(n);
    for (int i = 0; i < n->count; i++) {
        CHECK(n->over[i] && n->status[i] == TARN_OK);
        size_t right = 0;
        while (right < bytes && n->data[i][right] == (char)root)
            right++;
        CHECK(right == bytes);
    }
}

/* Node i sends (i + 1) (j + 1) * unit bytes to j. */
static void check_exchange(struct nodes *n, size_t unit)
{
    struct block to[MOST][MOST], from[MOST][MOST];
    for (int i = 0; i < n->count; i++)
        for (int j = 0; j < n->count; j++) {
            const size_t bytes = (size_t)(i + 1) * (size_t)(j + 1) * unit;
            to[i][j] = (struct block){ malloc(bytes + 1), bytes };
            from[j][i] = (struct block){ malloc(bytes + 1), bytes };
            memset(to[i][j].at, 3 * i + j, bytes);
            memset(from[j][i].at, 255, bytes);
        }
    for (int i = 0; i < n->count; i++) {
        n->task[i] = (struct task){ .kind = TASK_EXCHANGE, .to = to[i], .from = from[i] };
        const struct collective c = ask(1, NULL);
        notice_make(&n->task[i].notice, &c, 1, i, i, false);
    }
    run(n);
    for (int i = 0; i < n->count; i++) {
        CHECK(n->over[i] && n->status[i] == TARN_OK);
        for (int j = 0; j < n->count; j++) {
            const char *got = from[i][j].at;
            size_t right = 0;
            while (right < from[i][j].bytes && got[right] == (char)(3 * j + i))
                right++;
            CHECK(j == i || right == from[i][j].bytes);
        }
    }
    for (int i = 0; i < n->count; i++)
        for (int j = 0; j < n->count; j++) {
            free(to[i][j].at);
            free(from[i][j].at);
        }
}

/* ---- what differs --------------------------------------------------------------------------- */

static void prepare_words(struct nodes *n, enum rounds_kind kind, const uint32_t *words)
{
    room(n, 8, rounds_scratch(n->count, 2, TARN_F32));
    for (int i = 0; i < n->count; i++) {
        const uint32_t bits[2] = { 0, words[i] };
        memcpy(n->data[i], bits, 8);
        n->task[i] = (struct task){ .kind = TASK_REDUCE,
                                    .schedule = kind,
                                    .dtype = TARN_I32,
                                    .data = n->data[i],
                                    .count = 1,
                                    .scratch = n->scratch[i] };
        struct collective c = ask(1, n->data[i]);
        c.checksum = 1;
        notice_make(&n->task[i].notice, &c, 7, 4 * i, i, false);
    }
}

/* Other weights on one node, or on several: all hear of the lowest, and the sum goes on. */
static void check_weights(struct nodes *n, enum rounds_kind kind)
{
    uint32_t words[MOST];
    const int lowest = 1 + (int)(next() % (unsigned)(n->count - 1));
    for (int i = 0; i < n->count; i++)
        words[i] = i == lowest || (i > lowest && next() % 4 == 0) ? 5 : 4;
    prepare_words(n, kind, words);
    run(n);
    for (int i = 0; i < n->count; i++) {
        CHECK(n->over[i] && n->status[i] == TARN_OK);
        CHECK(rounds_notice(n->rounds[i])->differs == lowest);
    }
}

/* Ranks of one node differ among each other. */
static void check_weights_inside(struct nodes *n, enum rounds_kind kind)
{
    const uint32_t words[MOST] = { 0 };
    const int which = (int)(next() % (unsigned)n->count);
    prepare_words(n, kind, words);
    n->task[which].notice.differs = which;
    run(n);
    for (int i = 0; i < n->count; i++)
        CHECK(n->over[i] && rounds_notice(n->rounds[i])->differs == which);
}

/* Another count, step, label, number, size or version on one node: whoever hears of it says so, and nobody comes to an
 * end with it. */
static void check_disagree(int count, enum rounds_kind kind, int what)
{
    struct nodes n;
    const uint32_t words[MOST] = { 0 };
    open_nodes(&n, count);
    prepare_words(&n, kind, words);
    struct notice *other = &n.task[count - 1].notice;
    if (what == 0) {
        other->ask.count = 2;
    } else if (what == 1) {
        other->ask.step = 3;
    } else if (what == 2) {
        memcpy(other->label, "oops", 5);
    } else if (what == 3) {
        other->number = 8;
    } else if (what == 4) {
        n.task[count - 1].count = other->ask.count = 2; /* and its messages have another size */
    } else {
        memcpy(other->version, "0.0", 4);
    }
    run(&n);
    int heard = 0;
    for (int i = 0; i < count; i++) {
        CHECK(!n.over[i]);
        heard += n.status[i] == TARN_ERR_DISAGREE;
        CHECK(n.status[i] == TARN_OK || n.status[i] == TARN_ERR_DISAGREE);
    }
    CHECK(heard >= 1); /* who tells the others */
    close_nodes(&n);
}

/* What one node leaves open, another may say; then a third must say the same. */
static void check_open(int count, bool fits)
{
    struct nodes n;
    const uint32_t words[MOST] = { 0 };
    open_nodes(&n, count);
    prepare_words(&n, ROUNDS_DIRECT, words);
    n.task[1].notice.ask.origin = 11;
    n.task[count - 1].notice.ask.origin = fits ? 11 : 12;
    run(&n);
    int heard = 0;
    for (int i = 0; i < count; i++) {
        CHECK(n.over[i] == fits);
        heard += n.status[i] == TARN_ERR_DISAGREE;
    }
    CHECK(fits ? heard == 0 : heard >= 1);
    close_nodes(&n);
}

/* A node that says nothing: the others stand still, without an error and without an end. */
static void check_silence(int count, enum rounds_kind kind)
{
    struct nodes n;
    const uint32_t words[MOST] = { 0 };
    open_nodes(&n, count);
    prepare_words(&n, kind, words);
    pair_net_silence(n.net, 0);
    for (int i = 0; i < count; i++)
        CHECK(rounds_begin(n.rounds[i], &n.task[i]) == TARN_OK);
    for (int look = 0; look < 2000; look++)
        for (int i = 0; i < count; i++) {
            CHECK(rounds_poll(n.rounds[i], &n.over[i]) == TARN_OK);
            CHECK(!n.over[i]);
        }
    close_nodes(&n);
}

static void check_choice(void)
{
    CHECK(rounds_choose(2, 1 << 20) == ROUNDS_DOUBLING);
    CHECK(rounds_choose(4, 100) == ROUNDS_DOUBLING);
    CHECK(rounds_choose(4, 1 << 20) == ROUNDS_DIRECT);
    CHECK(rounds_choose(5, 100) == ROUNDS_DIRECT);
    CHECK(rounds_choose(1024, 100) == ROUNDS_DOUBLING);
    CHECK(rounds_choose(1024, 1 << 20) == ROUNDS_HALVING);
    for (int nodes = 1; nodes < 200; nodes++)
        for (size_t bytes = 1; bytes < 1 << 24; bytes *= 7)
            CHECK(rounds_fits(rounds_choose(nodes, bytes), nodes));
}

int main(void)
{
    static const int counts[] = { 1, 2, 3, 4, 5, 6, 7, 8, 16, 31, 32, 64 };
    check_choice();
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        struct nodes n;
        open_nodes(&n, counts[k]);
        check_reductions(&n);
        check_broadcast(&n, 0);
        check_broadcast(&n, counts[k] > 16 ? 1000 : 200000);
        check_exchange(&n, 1);
        check_exchange(&n, counts[k] > 8 ? 3 : 3000);
        for (int kind = ROUNDS_DIRECT; counts[k] > 1 && kind <= ROUNDS_DOUBLING; kind++)
            if (rounds_fits((enum rounds_kind)kind, counts[k])) {
                check_weights(&n, (enum rounds_kind)kind);
                check_weights_inside(&n, (enum rounds_kind)kind);
            }
        close_nodes(&n);
    }
    for (int what = 0; what < 6; what++)
        for (int kind = ROUNDS_DIRECT; kind <= ROUNDS_DOUBLING; kind++)
            check_disagree(4, (enum rounds_kind)kind, what);
    check_disagree(3, ROUNDS_DIRECT, 0);
    check_open(4, true);
    check_open(4, false);
    for (int kind = ROUNDS_DIRECT; kind <= ROUNDS_DOUBLING; kind++)
        check_silence(4, (enum rounds_kind)kind);
    return failures != 0;
}
