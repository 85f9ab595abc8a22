#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The C programs that the fuzzer prints compile without a warning, run, and find nothing wrong; with one
# expected number changed, they do. Arguments: test_fuzz_plain, the folder of libtarn.so, seeds.
set -eu
fuzzer=$1
library=$2
shift 2
root=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

build() {
    cc -std=c11 -Wall -Wextra -Werror -I"$root/core" -I"$root/backend" -I"$root/dist" "$1.c" -o "$1" -L"$library" \
        -ltarn -Wl,-rpath,"$library" -lm
}

for seed in "$@"; do
    "$fuzzer" --print --programs 1 --first-seed "$seed" >"$seed.c"
    build "$seed"
    "./$seed" >out 2>err || { echo "seed $seed:"; cat out err; exit 1; }
    grep -q '^0 elements are wrong$' out
done

sed '/ want0\[\] = {/,/};/ s/[0-9]\.[0-9]/9e9 + &/' "$seed.c" >wrong.c
if cmp -s "$seed.c" wrong.c; then
    echo "seed $seed has no number to change"
    exit 1
fi
build wrong
if ./wrong >out 2>err; then
    echo "a wrong number was not seen"
    exit 1
fi
grep -q 'should be' out
echo "printed programs: as they should be"
