/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of the library and of the driver stay on the cores that the process may use, as taskset, containers and Slurm
 * set them, also where these are not the first ones. */
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "tarn.h"

enum { SKIPPED = 77, SIDE = 300 };

/* Threads that may run elsewhere. Those of a sanitizer begin before the program does. */
static int count_strays(const cpu_set_t *allowed)
{
    DIR *tasks = opendir("/proc/self/task");
    int strays = 0;
    for (const struct dirent *e; tasks != NULL && (e = readdir(tasks)) != NULL;) {
        cpu_set_t now, both;
        const int id = atoi(e->d_name);
        if (id == 0 || sched_getaffinity(id, sizeof now, &now) != 0)
            continue;
        CPU_AND(&both, &now, allowed);
        strays += !CPU_EQUAL(&both, &now);
    }
    return tasks == NULL || closedir(tasks) != 0 ? -1 : strays;
}

int main(void)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) {
        puts("cores_plain: one core only: skipped");
        return SKIPPED;
    }
    size_t last = CPU_SETSIZE - 1;
    while (!CPU_ISSET(last, &allowed))
        last--;
    CPU_ZERO(&allowed);
    CPU_SET(last, &allowed);
    if (sched_setaffinity(0, sizeof allowed, &allowed) != 0)
        return 2;
    const int before = count_strays(&allowed);
    tarn_replica *r = tarn_open(NULL);
    if (r == NULL) {
        printf("cores_plain: %s\n", tarn_error(NULL));
        return 1;
    }
    const tarn_tensor x = tarn_rand(r, TARN_SHAPE(SIDE, SIDE));
    const float sum = tarn_item(tarn_sum(tarn_matmul(x, x), TARN_ALL, false));
    const int strays = count_strays(&allowed) - before;
    printf("cores_plain: %d threads may leave core %zu (%s)\n", strays, last, tarn_error(r));
    tarn_close(r);
    return sum > 0 && strays == 0 ? 0 : 1;
}
