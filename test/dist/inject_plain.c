/* SPDX-License-Identifier: Apache-2.0 */
/* Every single changed bit is found: 32 bits of 100 elements of parameters, momentum and running
 * statistics on one replica of two, one at a time. And training raises no false alarm.
 *
 * A flip is put into the device's memory from the host. Both replicas then take the same way as a
 * training step, fingerprint, checksum, search, and rank 0's copy, but without gradients, which a
 * flipped exponent would drown in NaNs. Each repair writes a line to the standard error stream; they
 * are caught in a file and compared with what was flipped. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "member.h"
#include "op/op.h"

#define COUNT(a) ((int)(sizeof a / sizeof(*(a))))
enum { ELEMENTS = 100, BITS = 32, FLIPS = ELEMENTS * BITS, CLEAN_STEPS = 1000 };

struct model {
    tarn_linear fc1, fc2;
    tarn_batch_norm bn;
    tarn_optimizer *sgd;
};

static struct model make(tarn_replica *r)
{
    struct model m;
    m.fc1 = tarn_linear_make(r, "fc1", 20, 16);
    m.bn = tarn_batch_norm_make(r, "bn", 16);
    m.fc2 = tarn_linear_make(r, "fc2", 16, 10);
    m.sgd = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.01f, .momentum = 0.9f });
    return m;
}

static tarn_status train(tarn_replica *r, const struct model *m, int steps)
{
    tarn_status s = tarn_error_status(r);
    for (int i = 0; s == TARN_OK && i < steps; i++) {
        const tarn_tensor x = tarn_rand(r, TARN_SHAPE(32, 20));
        tarn_tensor y = tarn_batch_norm_forward(&m->bn, tarn_linear_forward(&m->fc1, x));
        y = tarn_linear_forward(&m->fc2, tarn_relu(y));
        const tarn_tensor aim = tarn_slice(x, 1, 0, 10, 1);
        tarn_backward(tarn_mse_loss(y, aim));
        tarn_optimizer_step(m->sgd);
        s = tarn_step(r);
    }
    return s;
}

/* ---- flips ---------------------------------------------------------------------------------- */

/* All that can be flipped, and how many elements of each are. */
static const struct {
    const char *name;
    int size, take;
} tensors[] = {
    { "fc1.weight", 320, 20 },
    { "fc1.bias", 16, 4 },
    { "bn.weight", 16, 4 },
    { "bn.bias", 16, 4 },
    { "fc2.weight", 160, 12 },
    { "fc2.bias", 10, 4 },
    { "bn.running_mean", 16, 12 },
    { "bn.running_var", 16, 12 },
    { "bn.num_batches_tracked", 1, 1 },
    { "optimizer.momentum_buffer.fc1.weight", 320, 14 },
    { "optimizer.momentum_buffer.bn.bias", 16, 4 },
    { "optimizer.momentum_buffer.fc2.weight", 160, 6 },
    { "optimizer.momentum_buffer.fc2.bias", 10, 2 },
    { "optimizer.step", 1, 1 },
};

struct flip {
    int tensor, element, bit;
    uint32_t before;
};

static struct flip flips[FLIPS];

/* Spreads the elements over their tensor, its first and last among them. */
static int list_flips(void)
{
    int n = 0;
    for (int t = 0; t < COUNT(tensors); t++)
        for (int k = 0; k < tensors[t].take; k++)
            for (int bit = 0; bit < BITS && n < FLIPS; bit++) {
                const int last = tensors[t].take > 1 ? tensors[t].take - 1 : 1;
                flips[n++] = (struct flip){ t, k * (tensors[t].size - 1) / last, bit, 0 };
            }
    return n;
}

static tarn_status flip(tarn_replica *r, struct flip *f)
{
    static uint32_t values[512];
    const struct owned *o = owned_find(r, tensors[f->tensor].name);
    if (o == NULL || tarn_shape_count(o->shape) != tensors[f->tensor].size)
        return error_set(TARN_ERR_STATE, "no %s of this size", tensors[f->tensor].name);
    TRY(owned_read(r, o, values));
    f->before = values[f->element];
    values[f->element] ^= UINT32_C(1) << f->bit;
    return owned_write(r, o, values);
}

/* As in a training step, but with a zero for all gradients. */
static tarn_status compare(tarn_replica *r)
{
    const tarn_tensor words = weights_fingerprint(r);
    tarn_tensor pieces[2] = { tarn_zeros(r, TARN_SHAPE(1)), op_value_of_bits(words) };
    const tarn_tensor all = collective_bucket(op_join(pieces, 2), 2);
    TRY(tarn_eval(&all, 1));
    return tarn_step(r);
}

static tarn_status inject(tarn_replica *r, void *arg)
{
    (void)arg;
    const struct model m = make(r);
    TRY(train(r, &m, 3));
    for (int i = 0; i < FLIPS; i++) {
        if (tarn_rank(r) == 1)
            TRY(flip(r, &flips[i]));
        TRY(compare(r));
    }
    return train(r, &m, 3);
}

static tarn_status stay_clean(tarn_replica *r, void *arg)
{
    (void)arg;
    const struct model m = make(r);
    return train(r, &m, CLEAN_STEPS);
}

/* ---- what was reported ---------------------------------------------------------------------- */

/* Runs with the standard error stream in a file, which is returned. */
static FILE *launch(tarn_replica_fn fn, tarn_status *status)
{
    FILE *caught = tmpfile();
    (void)fflush(stderr);
    const int before = dup(STDERR_FILENO);
    if (caught == NULL || before < 0 || dup2(fileno(caught), STDERR_FILENO) < 0) {
        *status = TARN_ERR_IO;
        return caught;
    }
    *status = tarn_launch(
        fn, NULL,
        (tarn_launch_options){ .devices = "0,0", .count = 2, .timeout = 20, .heal = true });
    (void)fflush(stderr);
    (void)dup2(before, STDERR_FILENO);
    (void)close(before);
    rewind(caught);
    return caught;
}

/* A line tells what was flipped: tensor, element, and the bits of both replicas. */
static bool tells(const char *line, const struct flip *f)
{
    char name[64];
    unsigned long element;
    unsigned bits[2];
    if (sscanf(line,
               "tarn: weights differ before training step 4: %63s %*s element %lu is 0x%8x on rank "
               "0 and 0x%8x on rank 1",
               name, &element, &bits[0], &bits[1]) != 4)
        return false;
    return strcmp(name, tensors[f->tensor].name) == 0 && element == (unsigned long)f->element &&
           bits[0] == f->before && bits[1] == (f->before ^ UINT32_C(1) << f->bit);
}

static int count_reports(FILE *f, int *right)
{
    char line[1024];
    int n = 0;
    *right = 0;
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        if (strstr(line, "weights differ") == NULL) {
            fputs(line, stderr);
            continue;
        }
        if (n < FLIPS && tells(line, &flips[n]))
            ++*right;
        else
            fprintf(stderr, "FAILED: report %d: %s", n, line);
        n++;
    }
    return n;
}

int main(void)
{
    tarn_status status;
    int right, failures = 0;
    if (list_flips() != FLIPS) {
        fprintf(stderr, "FAILED: the tensors do not offer %d flips\n", FLIPS);
        return 1;
    }
    FILE *f = launch(inject, &status);
    const int found = count_reports(f, &right);
    printf("flips found: %d of %d, told right: %d\n", found, FLIPS, right);
    if (status != TARN_OK || found != FLIPS || right != FLIPS) {
        failures++;
        fprintf(stderr, "FAILED: %s: %s\n", tarn_status_name(status), tarn_error(NULL));
    }
    if (f != NULL)
        (void)fclose(f);
    f = launch(stay_clean, &status);
    const int alarms = count_reports(f, &right);
    printf("alarms in %d clean steps: %d\n", CLEAN_STEPS, alarms);
    if (status != TARN_OK || alarms != 0) {
        failures++;
        fprintf(stderr, "FAILED: %s: %s\n", tarn_status_name(status), tarn_error(NULL));
    }
    if (f != NULL)
        (void)fclose(f);
    return failures != 0;
}
