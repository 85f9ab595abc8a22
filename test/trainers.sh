#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The examples resnet, vae, lstm and gan learn synthetic digits in a few steps, have the same bits on one
# device and on two with virtual shards, go on from a checkpoint, and write what they draw.
set -euo pipefail
folder=$1
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
failures=0
fail()
{
    echo "FAILED: $1"
    failures=$((failures + 1))
}

# run STATUS NAME OPTION ...
run()
{
    local code=$1 name=$2 status=0
    shift 2
    "$folder/$name" --fake-data "$@" >"$here/out" 2>"$here/err" || status=$?
    [ "$status" = "$code" ] || fail "$name $*: exit status $status, must be $code: $(cat "$here/err")"
}

run 0 resnet --steps 20 --batch-size 64 --target 0.2 --lr 0.05
run 0 lstm --steps 40 --batch-size 64 --target 0.15
run 0 vae --steps 20 --batch-size 64 --target 480 --sheet "$here/vae.pgm" # 543: all pixels 1/2
run 0 gan --steps 10 --batch-size 64 --target 1.3 --sheet "$here/gan.pgm"
for name in vae gan; do
    [ "$(head -n 2 "$here/$name.pgm" | tr '\n' ' ')" = "P5 224 224 " ] || fail "$name: no sheet"
    [ "$(wc -c <"$here/$name.pgm")" = 50191 ] || fail "$name: a sheet of another size"
done

for name in vae gan; do
    run 0 "$name" --steps 6 --batch-size 64 --virtual-shards 4 --devices cpu/1 --save "$here/one"
    run 0 "$name" --steps 6 --batch-size 64 --virtual-shards 4 --devices 2 --save "$here/two"
    cmp "$here/one" "$here/two" || fail "$name: checkpoints of one device and of two differ"
done
# Learning rates depend on the number of steps, so there is none here: moments, seed and order count.
run 0 lstm --steps 3 --batch-size 64 --devices cpu/1 --lr 0 --save "$here/half"
run 0 lstm --steps 6 --batch-size 64 --devices cpu/1 --lr 0 --resume "$here/half" --save "$here/again"
run 0 lstm --steps 6 --batch-size 64 --devices cpu/1 --lr 0 --save "$here/whole"
cmp "$here/again" "$here/whole" || fail "lstm: the checkpoint of a resumed run differs"

run 1 lstm --steps 2 --batch-size 64 --target 0.99
grep -q "misses the target" "$here/err" || fail "lstm: a missed target says $(cat "$here/err")"
run 2 lstm --steps 2 --sheet "$here/none.pgm"
run 2 lstm --data .
run 5 vae --steps 2 --batch-size 64 --sheet "$here/nowhere/sheet.pgm"
exit $((failures > 0))
