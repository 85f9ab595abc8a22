/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver compiles for longer than the timeout is no late device: with an empty cache and a
 * timeout below any compilation's time, alone and on two replicas. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tarn.h"
#include "tarn_dist.h"

static int failures;

static tarn_status train(tarn_replica *r, void *count)
{
    const float start[3] = { 0.5f, 0.25f, 0.125f };
    const tarn_tensor w = tarn_parameter(r, "w", TARN_SHAPE(3), start);
    tarn_optimizer *sgd = tarn_sgd(r, (tarn_sgd_options){ .lr = 0.1f });
    for (int step = 0; step < 2; step++) {
        tarn_tensor y = w;
        for (int i = 0; i < *(const int *)count; i++)
            y = tarn_tanh(tarn_mul_scalar(y, 1.25f));
        tarn_backward(tarn_sum(y, TARN_ALL, false));
        tarn_optimizer_step(sgd);
        if (tarn_step(r) != TARN_OK)
            break;
    }
    const tarn_status status = tarn_wait(r);
    printf("cold_plain: rank %d: compiled for %.2f s: %s %s\n", tarn_rank(r),
           tarn_metrics_get(r).compile_seconds, tarn_status_name(status), tarn_error(r));
    if (tarn_metrics_get(r).compile_seconds < 0.2)
        printf("cold_plain: too fast to show anything\n");
    return status;
}

int main(void)
{
    char folder[] = "/tmp/tarn-cold-XXXXXX", command[64];
    int some = 12, more = 13;
    if (mkdtemp(folder) == NULL || setenv("TARN_CACHE_DIR", folder, 1) != 0 ||
        setenv("TARN_TIMEOUT", "0.15", 1) != 0)
        return perror("cold_plain"), 1;
    tarn_replica *r = tarn_open(NULL);
    failures += r == NULL || train(r, &some) != TARN_OK;
    tarn_close(r);
    failures += tarn_launch(train, &more, (tarn_launch_options){ .devices = "0,0" }) != TARN_OK;
    printf("cold_plain: %d failures %s\n", failures, tarn_error(NULL));
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0 || failures > 0;
}
