/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that a loader delivers to each replica: all data of programs with virtual shards. */
#include <stdlib.h>

#include "device.h"

struct batches {
    tarn_replica *r;
    const struct program *p;
    int segment; /* whose batch this is */
    tarn_batch now;
    tarn_loader *loader[MAX_LINES];
    tarn_dataset *set[MAX_LINES];
    void *data[2 * MAX_LINES];
    int count;
};

struct batches *batches_open(tarn_replica *r, const struct program *p)
{
    struct batches *b = calloc(1, sizeof *b);
    if (b == NULL)
        abort();
    b->r = r;
    b->p = p;
    b->segment = -1;
    return b;
}

void batches_close(struct batches *b)
{
    for (int i = 0; i < b->count; i++) {
        tarn_loader_close(b->loader[i]);
        tarn_dataset_close(b->set[i]);
        free(b->data[2 * i]);
        free(b->data[2 * i + 1]);
    }
    free(b);
}

static tarn_array array_of(const struct program *p, const struct line *l, void **data)
{
    *data = device_data(p, l, 0);
    return (tarn_array){ .data = *data, .dtype = l->dtype, .shape = l->shape };
}

/* A data set of one batch: the data of line i is its input, that of the segment's next leaf its
 * target. */
static bool open_batch(struct batches *b, int i)
{
    const struct line *l = b->p->line;
    tarn_arrays arrays = { .inputs = { array_of(b->p, &l[i], &b->data[2 * b->count]) } };
    for (int k = i + 1; k < b->p->count && l[k].segment == l[i].segment; k++)
        if (l[k].op == OP_ID_from && arrays.targets[0].data == NULL)
            arrays.targets[0] = array_of(b->p, &l[k], &b->data[2 * b->count + 1]);
    const int n = b->count++;
    b->set[n] = tarn_dataset_from(arrays);
    if (b->set[n] == NULL)
        return false;
    b->loader[n] =
        tarn_loader_open(b->r, b->set[n], (tarn_loader_options){ .batch = l[i].shape.dim[0] });
    b->segment = l[i].segment;
    return b->loader[n] != NULL && tarn_loader_next(b->loader[n], &b->now);
}

tarn_tensor batches_leaf(struct batches *b, int i)
{
    if (b->segment == b->p->line[i].segment)
        return b->now.y;
    return open_batch(b, i) ? b->now.x : TARN_NONE;
}
