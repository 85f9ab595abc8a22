#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The example resnet learns a folder of PNG and JPEG files with a folder for each class, takes train/ and test/,
# has the same bits on one device and on two, and refuses what is wrong by name; without libpng and libjpeg it
# says so.
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

# run STATUS PATTERN OPTION ...: the pattern is of what it prints, or of its error
run()
{
    local code=$1 pattern=$2 status=0
    shift 2
    "$folder/resnet" "$@" >"$here/out" 2>"$here/err" || status=$?
    [ "$status" = "$code" ] || fail "$*: exit status $status, must be $code: $(cat "$here/err")"
    cat "$here/out" "$here/err" >"$here/both"
    grep -q -e "$pattern" "$here/both" || fail "$*: says $(cat "$here/both")"
    [ "$code" = 0 ] || [ "$(wc -l <"$here/err")" = 1 ] || fail "$*: not one line: $(cat "$here/err")"
}

mkdir "$here/all"
"$folder/make_folder" "$here/all" 40
touch "$here/all/red/.hidden.png" "$here/all/blue/notes.txt"
small=(--images "$here/all" --batch-size 32 --size 16 --lr 0.05)
run 0 "96 training, 24 test samples" "${small[@]}" --epochs 6 --target 0.8
grep -q "^classes: 3: blue green red$" "$here/out" || fail "classes: $(cat "$here/out")"
losses=$(sed -nE 's/^epoch .*: loss ([0-9.]+),.*/\1/p' "$here/out" | sed -n '1p;$p' | tr '\n' ' ')
awk -v l="$losses" 'BEGIN { split(l, a, " "); exit !(a[2] < a[1] / 2) }' || fail "losses $losses do not halve"
run 0 training "${small[@]}" --steps 2 --batch-size 64 --virtual-shards 4 --devices cpu/1 --save "$here/one"
run 0 training "${small[@]}" --steps 2 --batch-size 64 --virtual-shards 4 --devices 2 --save "$here/two"
cmp "$here/one" "$here/two" || fail "checkpoints of one device and of two differ"

mkdir -p "$here/parted/train" "$here/parted/test"
"$folder/make_folder" "$here/parted/train" 12
"$folder/make_folder" "$here/parted/test" 4
parted=(--images "$here/parted" --batch-size 32 --size 16 --steps 1)
run 0 "36 training, 12 test samples" "${parted[@]}"
run 0 "117 training, 3 test samples" "${small[@]}" --test-share 0.001 --fit pad --steps 1
mv "$here/parted/test/red" "$here/parted/test/rot"
run 3 "parted/test: no class red, which .*/parted/train has" "${parted[@]}"
mv "$here/parted/test/rot" "$here/parted/test/red"
mkdir "$here/parted/train/none"
run 3 "parted/test: no class none" "${parted[@]}"
mkdir "$here/parted/test/none"
run 3 "parted/train/none: a class without a picture" "${parted[@]}"
rm -r "$here/parted/train/none" "$here/parted/test/none"

head -c 100 "$here/parted/train/blue/0000.png" >"$here/parted/train/blue/0001.JPG"
run 3 "parted/train/blue/0001.JPG: damaged PNG" "${parted[@]}"
head -c 400 "$here/all/red/0003.JPG" >"$here/parted/train/blue/0001.JPG"
run 3 "parted/train/blue/0001.JPG: damaged JPEG" "${parted[@]}"
echo text >"$here/parted/train/blue/0001.JPG"
run 3 "parted/train/blue/0001.JPG: neither a PNG nor a JPEG" "${parted[@]}"

mkdir -p "$here/empty" "$here/one_each/a" "$here/one_each/b"
run 3 "empty: no folder in it" --images "$here/empty"
run 3 "nowhere: No such file" --images "$here/nowhere"
cp "$here/all/red/0000.png" "$here/one_each/a"
cp "$here/all/red/0000.png" "$here/one_each/b"
run 3 "one_each/a: a class of one picture" --images "$here/one_each"
run 2 "batch-size: 128 are more than the 96" --images "$here/all"
run 2 "not crop, stretch or pad" --images "$here/all" --fit square
run 2 "exclude each other" --images "$here/all" --fake-data
status=0
"$folder/vae" --images "$here/all" 2>"$here/err" || status=$?
[ "$status" = 2 ] || fail "vae: exit status $status"

status=0
"$folder/resnet-without" --images "$here/all" 2>"$here/err" || status=$?
[ "$status" = 3 ] || fail "without libpng: exit status $status"
grep -q "a PNG, and this program was built without libpng: install libpng-dev" "$here/err" ||
    grep -q "a JPEG, and this program was built without libjpeg: install libjpeg-dev" "$here/err" ||
    fail "without libpng it says $(cat "$here/err")"
exit $((failures > 0))
