/* SPDX-License-Identifier: Apache-2.0 */
/* Connectionist temporal classification. A sample goes through states (blank, label 1, blank, label 2, ..., blank),
 * from one step to the next staying in a state or going on by one, or by two where that leaves out the blank between
 * different labels. A loop over steps has for each state the logarithm of how probable all ways are that end there. */
#include <math.h>

#include "op/op.h"
#include "tensor/shape.h"

/* The logarithm of what is impossible: not -infinity, so that differences of two such are no NaN in value and gradient,
 * but nothing is left of it beside a number, however many steps add to it. What is below half of it is impossible. */
#define NEVER (-1e30)

struct ctc {
    tarn_replica *r;
    tarn_dtype type; /* of logarithms */
    int32_t steps, samples, classes, labels, states;
    tarn_ctc_options options;
};

/* ---- checks --------------------------------------------------------------------------------- */

static bool lengths_fit(const struct ctc *c, const char *name, tarn_tensor lengths)
{
    if (lengths.replica == NULL)
        return true;
    const tarn_shape s = tarn_shape_get(lengths);
    if (s.rank == 1 && s.dim[0] == c->samples && !dtype_is_float(tarn_dtype_get(lengths)))
        return true;
    graph_fail(c->r, TARN_ERR_SHAPE, "ctc_loss: %s are %s %s, must be int32 [%d]", name,
               tarn_dtype_name(tarn_dtype_get(lengths)), shape_text(s), c->samples);
    return false;
}

/* Takes sizes from the operands; false after recording an error. */
static bool sizes_of(struct ctc *c, tarn_tensor logp, tarn_tensor target)
{
    const tarn_ctc_options *o = &c->options;
    const tarn_shape s = tarn_shape_get(logp), t = tarn_shape_get(target);
    const int samples = o->batch_first ? 0 : 1;
    if (s.rank != 3 || tarn_shape_count(s) == 0 || !dtype_is_float(tarn_dtype_get(logp))) {
        graph_fail(
            c->r, TARN_ERR_SHAPE,
            "ctc_loss: logp is %s %s, must be of a float type, [%s, classes], at least 1 each",
            tarn_dtype_name(tarn_dtype_get(logp)), shape_text(s),
            samples == 0 ? "samples, steps" : "steps, samples");
        return false;
    }
    c->steps = s.dim[1 - samples];
    c->samples = s.dim[samples];
    c->classes = s.dim[2];
    if (t.rank != 2 || t.dim[0] != c->samples || dtype_is_float(tarn_dtype_get(target))) {
        graph_fail(c->r, TARN_ERR_SHAPE,
                   "ctc_loss: the target is %s %s, must be int32 [%d, labels]: logp is %s",
                   tarn_dtype_name(tarn_dtype_get(target)), shape_text(t), c->samples,
                   shape_text(s));
        return false;
    }
    c->labels = t.dim[1];
    if (c->labels > (INT32_MAX / c->samples / c->steps - 1) / 2) {
        graph_fail(c->r, TARN_ERR_SHAPE,
                   "ctc_loss: %d steps of %d samples with %d labels, twice as many states and one: "
                   "more than %d",
                   c->steps, c->samples, c->labels, INT32_MAX);
        return false;
    }
    c->states = 2 * c->labels + 1;
    return lengths_fit(c, "input_lengths", o->input_lengths) &&
           lengths_fit(c, "target_lengths", o->target_lengths);
}

static bool options_fit(const struct ctc *c)
{
    const tarn_ctc_options *o = &c->options;
    if (o->blank < 0 || o->blank >= c->classes)
        graph_fail(c->r, TARN_ERR_ARGUMENT, "ctc_loss: blank is %d, must be a class from 0 to %d",
                   o->blank, c->classes - 1);
    else if ((unsigned)o->reduction > TARN_LOSS_NONE)
        graph_fail(c->r, TARN_ERR_ARGUMENT, "ctc_loss: there is no reduction %d",
                   (int)o->reduction);
    else
        return true;
    return false;
}

/* ---- states --------------------------------------------------------------------------------- */

/* The class of each state, int32 [N, states]. */
static tarn_tensor classes_of(const struct ctc *c, tarn_tensor target)
{
    const tarn_tensor blank = op_whole(c->r, c->options.blank);
    const tarn_shape each = TARN_SHAPE(c->samples, c->labels);
    const tarn_tensor pair[] = { op_expand_to(blank, each), tarn_cast(target, TARN_I32) };
    const tarn_tensor part[] = { tarn_reshape(tarn_stack(pair, 2, 2),
                                              TARN_SHAPE(c->samples, c->states - 1)),
                                 op_expand_to(blank, TARN_SHAPE(c->samples, 1)) };
    return tarn_concat(part, 2, 1);
}

/* [N, states]: of each what the one `by` states before it has, or `none`. */
static tarn_tensor from_before(tarn_tensor x, int by, float none)
{
    const int32_t states = tarn_shape_get(x).dim[1];
    return tarn_slice(tarn_pad(x, TARN_SHAPE(0, by), TARN_SHAPE(0, 0), none), 1, 0, states, 1);
}

/* logp of the states' classes, with steps along the axis along which logp has them. Steps come last in between: so rows are
 * moved, in the gradient too, and only each sample's classes are sorted. */
static tarn_tensor emissions(const struct ctc *c, tarn_tensor logp, tarn_tensor classes)
{
    const bool first = c->options.batch_first;
    const tarn_tensor x = tarn_permute(logp, first ? TARN_SHAPE(0, 2, 1) : TARN_SHAPE(1, 2, 0));
    const tarn_tensor index =
        op_expand_to(op_reshape_to(classes, TARN_SHAPE(c->samples, c->states, 1)),
                     TARN_SHAPE(c->samples, c->states, c->steps));
    const tarn_tensor y =
        tarn_permute(tarn_gather(x, 1, index), first ? TARN_SHAPE(0, 2, 1) : TARN_SHAPE(2, 0, 1));
    return tarn_maximum(y, op_constant_of(c->r, TARN_SCALAR, c->type, NEVER));
}

/* uint8, of the form of emissions: whether the sample has that step. */
static tarn_tensor has_step(const struct ctc *c)
{
    const bool first = c->options.batch_first;
    const tarn_tensor lengths = tarn_cast(c->options.input_lengths, TARN_I32);
    const tarn_tensor step = op_iota_of(
        c->r, first ? TARN_SHAPE(1, c->steps, 1) : TARN_SHAPE(c->steps, 1, 1), first ? 1 : 0);
    return tarn_lt(step, tarn_reshape(lengths, first ? TARN_SHAPE(c->samples, 1, 1)
                                                     : TARN_SHAPE(1, c->samples, 1)));
}

/* ---- the loop ------------------------------------------------------------------------------- */

/* What a step uses from outside. */
struct path {
    tarn_tensor skips; /* uint8 [N, states]: may be reached from two states before */
    tarn_tensor never; /* NEVER */
    bool ends;         /* x[1] says whether a sample has the step */
};

static void path_step(const tarn_tensor *carry, const tarn_tensor *x, tarn_tensor *next,
                      tarn_tensor *y, void *user)
{
    const struct path *p = user;
    const tarn_tensor from[] = { carry[0], from_before(carry[0], 1, (float)NEVER),
                                 tarn_where(p->skips, from_before(carry[0], 2, (float)NEVER),
                                            p->never) };
    const tarn_tensor most = tarn_detach(tarn_maximum(tarn_maximum(from[0], from[1]), from[2]));
    tarn_tensor sum = tarn_exp(tarn_sub(from[0], most));
    for (int i = 1; i < 3; i++)
        sum = tarn_add(sum, tarn_exp(tarn_sub(from[i], most)));
    const tarn_tensor here = tarn_add(tarn_add(tarn_log(sum), most), x[0]);
    next[0] = p->ends ? tarn_where(x[1], here, carry[0]) : here;
    (void)y;
}

/* The logarithms of all states, [N, states], after each sample's last step. Before the first one it is in the first
 * blank: what the loop makes of that is the first step. */
static tarn_tensor after_steps(const struct ctc *c, tarn_tensor logp, tarn_tensor classes)
{
    struct path p = { .skips = tarn_ne(classes, from_before(classes, 2, 0)),
                      .never = op_constant_of(c->r, TARN_SCALAR, c->type, NEVER),
                      .ends = c->options.input_lengths.replica != NULL };
    const tarn_tensor x[] = { emissions(c, logp, classes), p.ends ? has_step(c) : TARN_NONE };
    const tarn_tensor state = op_iota_of(c->r, TARN_SHAPE(c->samples, c->states), 1);
    const tarn_tensor zero = op_constant_of(c->r, TARN_SCALAR, c->type, 0);
    const tarn_tensor first = tarn_where(tarn_eq(state, op_whole(c->r, 0)), zero, p.never);
    tarn_tensor last;
    const tarn_scan_args args = { .body = path_step,
                                  .user = &p,
                                  .carry = &first,
                                  .carries = 1,
                                  .x = x,
                                  .xs = p.ends ? 2 : 1,
                                  .axis = c->options.batch_first ? 1 : 0 };
    tarn_scan(c->r, &args, &last, NULL);
    return last;
}

/* ---- the loss ------------------------------------------------------------------------------- */

/* Each sample's [N]: a way ends in the last label of its target, or in the blank behind, states 2 length - 1 and
 * 2 length. */
static tarn_tensor losses(const struct ctc *c, tarn_tensor last, tarn_tensor lengths)
{
    const tarn_tensor never = op_constant_of(c->r, TARN_SCALAR, c->type, NEVER);
    const tarn_tensor state = op_iota_of(c->r, TARN_SHAPE(1, c->states), 1);
    const tarn_tensor label = tarn_div(tarn_add(state, op_whole(c->r, 1)), op_whole(c->r, 2));
    const tarn_tensor ends = tarn_eq(label, tarn_reshape(lengths, TARN_SHAPE(c->samples, 1)));
    const tarn_tensor all = tarn_logsumexp(tarn_where(ends, last, never), TARN_AXES(1), false);
    const tarn_tensor impossible =
        tarn_lt(all, op_constant_of(c->r, TARN_SCALAR, c->type, NEVER / 2));
    const double instead = c->options.zero_infinity ? 0 : (double)INFINITY;
    return tarn_where(impossible, op_constant_of(c->r, TARN_SCALAR, c->type, instead),
                      tarn_neg(all));
}

tarn_tensor tarn_ctc_loss(tarn_tensor logp, tarn_tensor target, tarn_ctc_options options)
{
    struct ctc c = { .options = options };
    const tarn_tensor in[] = { logp, target, options.input_lengths, options.target_lengths };
    if (!graph_operands_some("ctc_loss", in, 2, 4, &c.r) || !sizes_of(&c, logp, target) ||
        !options_fit(&c))
        return graph_poison(c.r);
    tarn_dtype of;
    logp = op_wide(op_high(logp), &of);
    c.type = tarn_dtype_get(logp);
    const tarn_tensor lengths =
        options.target_lengths.replica != NULL
            ? tarn_cast(options.target_lengths, TARN_I32)
            : op_constant_of(c.r, TARN_SHAPE(c.samples), TARN_I32, c.labels);
    const tarn_tensor each = losses(&c, after_steps(&c, logp, classes_of(&c, target)), lengths);
    if (options.reduction == TARN_LOSS_NONE)
        return each;
    if (options.reduction == TARN_LOSS_SUM)
        return tarn_sum(each, TARN_ALL, false);
    const tarn_tensor labels = tarn_cast(tarn_maximum(lengths, op_whole(c.r, 1)), c.type);
    return tarn_mean(tarn_div(each, labels), TARN_ALL, false);
}
