#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The driver's optimiser changes no bit: a step's kernels with it and without it train the same weights, byte
# for byte. Argument: the mnist program.
set -eu
mnist=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
train() { # NAME VARIABLE=VALUE
    env "$2" "$mnist" --fake-data --no-progress --steps 30 --save "$folder/$1.safetensors" >/dev/null
}
train optimised TARN_QUICK=0
train quick TARN_QUICK=1
train alone TARN_COMPILERS=0
cmp "$folder/optimised.safetensors" "$folder/quick.safetensors"
cmp "$folder/optimised.safetensors" "$folder/alone.safetensors"
echo "quick: equal"
