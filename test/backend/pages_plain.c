/* SPDX-License-Identifier: Apache-2.0 */
/* Large buffers lie in memory for which the kernel was asked for large pages, where the device is the host's processor and
 * the kernel has such pages; small ones do not. Seen in what the kernel says of the process. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backend.h"
#include "check.h"

#define LARGE ((size_t)64 << 20)
#define SMALL ((size_t)1 << 20)
#define PAGE ((size_t)2 << 20) /* at either end less than one is left over */

/* Bytes of mappings that have the flag "hg"; -1: the kernel does not tell. */
static long long asked_for(void)
{
    char line[512];
    long long kib = 0, sum = 0;
    bool told = false;
    FILE *f = fopen("/proc/self/smaps", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        (void)sscanf(line, "Size: %lld kB", &kib);
        if (strncmp(line, "VmFlags:", 8) != 0)
            continue;
        told = true;
        sum += strstr(line, " hg") != NULL ? kib : 0;
    }
    if (f != NULL)
        (void)fclose(f);
    return told ? sum * 1024 : -1;
}

/* How much more a buffer of so many bytes makes it. */
static long long asked_by(struct context *c, size_t bytes)
{
    struct buffer *b;
    const long long before = asked_for();
    CHECK(buffer_new(c, bytes, &b) == TARN_OK);
    const long long after = asked_for();
    buffer_free(b);
    return after - before;
}

int main(void)
{
    struct device device;
    struct context *c;
    int count;
    if (device_select(NULL, &device, 1, &count) != TARN_OK ||
        context_open(&device, &c) != TARN_OK) {
        fprintf(stderr, "pages: %s\n", error_text());
        return 1;
    }
    if (device.kind != DEVICE_CPU || asked_for() < 0 ||
        access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) != 0) {
        printf("pages: no CPU, or a kernel without large pages: nothing to see\n");
    } else {
        CHECK(asked_by(c, LARGE) >= (long long)(LARGE - 2 * PAGE));
        CHECK(asked_by(c, SMALL) == 0);
    }
    context_close(c);
    printf("pages: %d failures\n", failures);
    return failures > 0;
}
