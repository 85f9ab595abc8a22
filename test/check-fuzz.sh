#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every public function that returns a tensor, and every statement that changes some, is one that the
# fuzzer's programs may call (test/fuzz/ops.def). Those over groups of a mesh have a test of all layouts
# (test/dist/over_plain.c): where the fuzzer's launches have a mesh, their programs are those of one device.
set -eu
cd "$(dirname "$0")/.."
# tarn_parameter() calls tarn_parameter_as() for float32; random programs have no parameters of other types.
# Layers of tarn_use.h are calls of two functions of tarn_nn.h: test/core/use_test.c compares them bit for bit.
headers=$(ls core/tarn*.h dist/tarn_dist.h | grep -v tarn_use.h)
functions=$(cat $headers | tr '\n' ' ' | grep -o 'TARN_API tarn_tensor tarn_[a-z0-9_]*' | sed 's/.* tarn_//' |
    grep -v -e '_over$' -e '^parameter_as$')
missing=
for f in $functions backward gradients assign drop eval optimizer_step optimizer_accumulate; do
    grep -q "^OP($f," test/fuzz/ops.def || missing="$missing tarn_$f"
done
[ -n "$functions" ] || { echo "no functions found in $headers"; exit 1; }
[ -z "$missing" ] || { echo "not in test/fuzz/ops.def, so no random program calls it:$missing"; exit 1; }
