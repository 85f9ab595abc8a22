/* SPDX-License-Identifier: Apache-2.0 */
/* Which schedule devices get that are not here: by their type, by whether their driver makes scalars of vectors, and by
 * TARN_SCHEDULE. Of such drivers one line warns. */
#include <stdlib.h>
#include <string.h>

#include "run/device_target.h"

#include "check.h"
#include "log.h"

static int warnings;

static void count_warnings(tarn_log_level level, const char *text, void *user)
{
    (void)user;
    warnings += level == TARN_LOG_WARNING && strstr(text, "compiles no vectors") != NULL;
}

static bool has_items(enum device_kind kind, unsigned width, const char *wanted)
{
    static int number; /* figures are kept by it */
    struct device d = { .number = number++,
                        .kind = kind,
                        .compute_units = 4,
                        .native_float_width = width,
                        .max_group = 4096,
                        .local_bytes = 32768,
                        .vendor = "NVIDIA Corporation" };
    struct target t = { 0 };
    CHECK(setenv("TARN_SCHEDULE", wanted, 1) == 0);
    CHECK(device_target(&d, 0, false, &t) == TARN_OK);
    return t.items;
}

int main(void)
{
    CHECK(setenv("TARN_CACHE_DIR", "off", 1) == 0); /* figures that were measured */
    log_to(count_warnings, NULL);
    CHECK(has_items(DEVICE_GPU, 1, "auto"));
    CHECK(!has_items(DEVICE_CPU, 4, "auto"));
    CHECK(warnings == 0);
    CHECK(has_items(DEVICE_CPU, 1, "auto"));
    CHECK(warnings == 1);
    CHECK(!has_items(DEVICE_CPU, 0, "auto")); /* not known */
    CHECK(!has_items(DEVICE_CPU, 4, "auto"));
    CHECK(!has_items(DEVICE_CPU, 1, "cpu"));
    CHECK(has_items(DEVICE_CPU, 16, "gpu"));
    CHECK(warnings == 1); /* said once */
    printf("device_target: %d failures\n", failures);
    return failures > 0;
}
