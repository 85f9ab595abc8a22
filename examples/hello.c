/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest program: adds two tensors on the chosen device and prints the sum. */
#include <stdio.h>
#include <stdlib.h>

#include <tarn.h>

int main(void)
{
    tarn_replica *r = tarn_open(NULL);
    if (r == NULL) {
        fprintf(stderr, "hello: %s\n", tarn_error(NULL));
        return EXIT_FAILURE;
    }

    const float left[] = { 1, 2, 3, 4, 5, 6 };
    const float right[] = { 10, 20, 30 };
    tarn_tensor a = tarn_from(r, TARN_SHAPE(2, 3), TARN_F32, left);
    tarn_tensor b = tarn_from(r, TARN_SHAPE(3), TARN_F32, right); /* repeats over the rows */

    float sum[6];
    if (tarn_read(tarn_add(a, b), sum, sizeof sum) != TARN_OK) {
        fprintf(stderr, "hello: %s\n", tarn_error(r));
        tarn_close(r);
        return EXIT_FAILURE;
    }
    printf("on %s:\n", tarn_device_name(r));
    for (int i = 0; i < 6; i++)
        printf("%g%c", (double)sum[i], i % 3 == 2 ? '\n' : ' ');
    tarn_close(r);
    return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
