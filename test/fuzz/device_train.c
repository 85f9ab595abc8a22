/* SPDX-License-Identifier: Apache-2.0 */
/* Optimizers and settings of parameters on a device. */
#include <stdio.h>

#include "device.h"

static tarn_optimizer *make(tarn_replica *r, const struct line *l)
{
    const tarn_adam_options adam = {
        .lr = l->f[0], .beta1 = l->f[1], .beta2 = l->f[2], .eps = l->f[3], .weight_decay = l->f[4]
    };
    switch (l->op) {
    case OP_ID_make_sgd:
        return tarn_sgd(r, (tarn_sgd_options){ .lr = l->f[0],
                                               .momentum = l->f[1],
                                               .dampening = l->f[2],
                                               .weight_decay = l->f[3],
                                               .nesterov = l->arg[0] != 0 });
    case OP_ID_make_adam:
        return tarn_adam(r, adam);
    case OP_ID_make_adamw:
        return tarn_adamw(r, adam);
    case OP_ID_make_rmsprop:
        return tarn_rmsprop(r, (tarn_rmsprop_options){ .lr = l->f[0],
                                                       .alpha = l->f[1],
                                                       .eps = l->f[2],
                                                       .weight_decay = l->f[3],
                                                       .momentum = l->f[4],
                                                       .centered = l->arg[0] != 0 });
    default:
        return tarn_lion(
            r, (tarn_lion_options){
                   .lr = l->f[0], .beta1 = l->f[1], .beta2 = l->f[2], .weight_decay = l->f[3] });
    }
}

bool device_setting(tarn_replica *r, const struct line *l, tarn_optimizer **optimizer)
{
    char pattern[32];
    snprintf(pattern, sizeof pattern, "*%s*", program_pattern(l));
    if (l->op == OP_ID_scale_lr)
        tarn_optimizer_scale_lr(*optimizer, pattern, l->f[0]);
    else if (l->op == OP_ID_set_weight_decay)
        tarn_optimizer_set_weight_decay(*optimizer, pattern, l->f[0]);
    else if (l->op == OP_ID_freeze)
        tarn_freeze(r, pattern, l->arg[0] != 0);
    else
        *optimizer = make(r, l);
    return *optimizer != NULL;
}
