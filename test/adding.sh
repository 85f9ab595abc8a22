#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Does what docs/adding-an-op.md says: applies each block of code to a copy of the tree, at the place that
# the line before the block names, builds the library, and checks the ops and the optimizer of the page
# against the C library and against sums made here.
#
#   test/adding.sh [C-COMPILER]
set -eu
cd "$(dirname "$0")/.."
compiler=${1:-cc}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM
for part in docs CMakeLists.txt backend core dist kernels examples bench scripts; do
    cp -R "$part" "$scratch"
done

# A place is named as "In `FILE`, below `TEXT`:" (or above), or as "At the end of `FILE`:".
# The text must stand in exactly one line.
python3 - docs/adding-an-op.md "$scratch" <<'EOF'
import pathlib, re, sys

page, scratch = pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2])
places = r"In `([^`]+)`, (below|above)\s`([^`]+)`:|(At) the end of `([^`]+)`:"
blocks = re.findall(r"(?:" + places + r")\n\n```c\n(.*?)^```", page, flags=re.S | re.M)
if len(blocks) != len(re.findall(r"^```", page, flags=re.M)) // 2 or len(blocks) < 10:
    sys.exit(f"adding: of the page's blocks only {len(blocks)} say where they go")
for name, side, text, end, whole, block in blocks:
    file = scratch / (name or whole)
    lines = file.read_text().splitlines(keepends=True)
    for function in re.findall(r"TARN_API.*?(\w+)\(", block):
        if any(re.search(rf"\b{function}\(", line) for line in lines):
            sys.exit(f"adding: the library has {function}() already: the page needs another example")
    at = [i for i, line in enumerate(lines) if text in line] if text else [len(lines) - 1]
    if len(at) != 1:
        sys.exit(f"adding: {len(at)} lines of {name} have {text}")
    lines.insert(at[0] + (side != "above"), block)
    file.write_text("".join(lines))
print(f"adding: {len(blocks)} blocks applied")
EOF

cat >"$scratch/check.c" <<'EOF'
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tarn.h"

enum { SAMPLES = 33, EACH = 20, COUNT = SAMPLES * EACH };
static int failures;

static void expect(const char *what, tarn_tensor t, const double *wanted, int count, double bound)
{
    static float got[COUNT];
    if (tarn_read(t, got, (size_t)count * sizeof *got) != TARN_OK) {
        fprintf(stderr, "%s: %s\n", what, tarn_error(t.replica));
        failures++;
        return;
    }
    for (int i = 0; i < count; i++)
        if (!(fabs((double)got[i] - wanted[i]) <= bound * (fabs(wanted[i]) + 1e-6))) {
            fprintf(stderr, "%s: element %d is %.9g, not %.9g\n", what, i, (double)got[i], wanted[i]);
            failures++;
            return;
        }
}

static tarn_tensor slope(tarn_tensor y, tarn_tensor x)
{
    tarn_tensor g = TARN_NONE;
    tarn_gradients(tarn_sum(y, TARN_ALL, false), &x, 1, &g);
    return g;
}

static void check_maps(tarn_replica *r, tarn_tensor x, const float *in)
{
    static double asinhs[COUNT], asinh_slopes[COUNT], scaled[COUNT], scaled_slopes[COUNT];
    const double a = (double)1.7159f, b = (double)0.6667f;
    (void)r;
    for (int i = 0; i < COUNT; i++) {
        const double v = (double)in[i], t = tanh(b * v);
        asinhs[i] = asinh(v);
        asinh_slopes[i] = 1 / sqrt(1 + v * v);
        scaled[i] = a * t;
        scaled_slopes[i] = a * b * (1 - t * t);
    }
    expect("asinh", tarn_asinh(x), asinhs, COUNT, 5 * (double)FLT_EPSILON);
    expect("asinh's gradient", slope(tarn_asinh(x), x), asinh_slopes, COUNT, 1e-6);
    const tarn_tensor y = tarn_scaled_tanh(x, 1.7159f, 0.6667f);
    expect("scaled_tanh", y, scaled, COUNT, 1e-6);
    expect("scaled_tanh's gradient", slope(y, x), scaled_slopes, COUNT, 1e-4);
}

/* Over the samples, over each sample, and over all. */
static void check_product(tarn_replica *r, tarn_tensor x, const float *in)
{
    static double over_samples[EACH], of_each[SAMPLES], all[1], slopes[COUNT];
    all[0] = 1;
    for (int k = 0; k < EACH; k++)
        over_samples[k] = 1;
    for (int i = 0; i < SAMPLES; i++) {
        of_each[i] = 1;
        for (int k = 0; k < EACH; k++) {
            over_samples[k] *= (double)in[i * EACH + k];
            of_each[i] *= (double)in[i * EACH + k];
        }
        all[0] *= of_each[i];
    }
    for (int i = 0; i < COUNT; i++)
        slopes[i] = of_each[i / EACH] / (double)in[i];
    expect("prod over samples", tarn_prod(x, TARN_AXES(0), false), over_samples, EACH, 1e-5);
    expect("prod of each", tarn_prod(x, TARN_AXES(1), false), of_each, SAMPLES, 1e-5);
    expect("prod of all", tarn_prod(x, TARN_ALL, false), all, 1, 1e-4);
    expect("prod's gradient", slope(tarn_prod(x, TARN_AXES(1), false), x), slopes, COUNT, 1e-5);
    uint8_t bytes[24];
    for (int i = 0; i < 24; i++)
        bytes[i] = (uint8_t)(i == 5 || i == 20 ? 200 : i % 9 == 0 ? 3 : 1);
    const tarn_tensor b = tarn_from(r, TARN_SHAPE(24), TARN_U8, bytes);
    expect("prod of bytes", tarn_cast(tarn_prod(b, TARN_ALL, false), TARN_F32),
           (double[]){ 200.0 * 200 * 27 }, 1, 0);
    expect("prod of nothing", tarn_prod(tarn_zeros(r, TARN_SHAPE(2, 0)), TARN_AXES(1), false),
           (double[]){ 1, 1 }, 2, 0);
}

/* Five steps on sum(w^2 / 2), whose gradient is w; the second parameter at half the rate. */
static void check_adadelta(tarn_replica *r)
{
    enum { N = 5 };
    const float start[N] = { 1, -2, 0.5f, 3, -0.25f };
    const tarn_tensor w[2] = { tarn_parameter(r, "w", TARN_SHAPE(N), start),
                               tarn_parameter(r, "half", TARN_SHAPE(N), start) };
    tarn_optimizer *o = tarn_adadelta(r, (tarn_adadelta_options){ .lr = 0.5f, .weight_decay = 0.1f });
    tarn_optimizer_scale_lr(o, "half", 0.5f);
    double p[2][N], v[2][N] = { { 0 } }, d[2][N] = { { 0 } };
    for (int i = 0; i < N; i++)
        p[0][i] = p[1][i] = (double)start[i];
    for (int step = 0; step < 5; step++) {
        for (int k = 0; k < 2; k++)
            tarn_backward(tarn_mul_scalar(tarn_sum(tarn_mul(w[k], w[k]), TARN_ALL, false), 0.5f));
        tarn_optimizer_step(o);
        if (tarn_step(r) != TARN_OK)
            break;
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < N; i++) {
                const double g = p[k][i] + 0.1 * p[k][i];
                v[k][i] = 0.9 * v[k][i] + 0.1 * g * g;
                const double way = sqrt((d[k][i] + 1e-6) / (v[k][i] + 1e-6)) * g;
                d[k][i] = 0.9 * d[k][i] + 0.1 * way * way;
                p[k][i] -= (k ? 0.25 : 0.5) * way;
            }
    }
    expect("adadelta", w[0], p[0], N, 1e-5);
    expect("adadelta at half the rate", w[1], p[1], N, 1e-5);
    expect("adadelta's state", tarn_find(r, "optimizer.square_avg.w"), v[0], N, 1e-5);
}

int main(void)
{
    tarn_replica *r = tarn_open(NULL);
    static float in[COUNT];
    if (r == NULL) {
        fprintf(stderr, "%s\n", tarn_error(NULL));
        return 1;
    }
    for (int i = 0; i < COUNT; i++)
        in[i] = (float)(0.7 + 0.6 * ((i * 37 + 11) % 101) / 101) * (i % 7 == 0 ? -1.0f : 1.0f);
    const tarn_tensor x = tarn_keep(tarn_from(r, TARN_SHAPE(SAMPLES, EACH), TARN_F32, in));
    check_maps(r, x, in);
    check_product(r, x, in);
    if (tarn_step(r) != TARN_OK) {
        fprintf(stderr, "%s\n", tarn_error(r));
        failures++;
    }
    check_adadelta(r);
    tarn_close(r);
    return failures != 0;
}
EOF

{
    cmake -S "$scratch" -B "$scratch/build" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_C_FLAGS_RELEASE=-O0 -DTARN_TESTS=OFF &&
        make -C "$scratch/build" -j2 tarn &&
        "$compiler" -std=c11 -Wall -Wextra -Werror "$scratch/check.c" -o "$scratch/check" \
            -I"$scratch/core" -I"$scratch/backend" -I"$scratch/dist" -L"$scratch/build" -ltarn \
            -Wl,-rpath,"$scratch/build" -lm
} >"$scratch/log" 2>&1 || {
    tail -30 "$scratch/log"
    exit 1
}
for schedule in cpu gpu; do
    TARN_CACHE_DIR=off TARN_SCHEDULE=$schedule "$scratch/check"
    echo "adding: the page's ops and optimizer are right with TARN_SCHEDULE=$schedule"
done
