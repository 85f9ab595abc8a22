#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The example gpt learns a text, has the same bits on one device and on two, and refuses what it cannot do.
set -euo pipefail
gpt=$1
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
failures=0
fail()
{
    echo "FAILED: $1"
    failures=$((failures + 1))
}

for i in $(seq 2000); do
    echo "line $i of a text that says little"
done >"$here/text"
small=(--data "$here/text" --layers 1 --width 32 --heads 2 --context 16 --batch-size 64 --steps 40
    --every 40 --sample 5 --prompt "line" --virtual-shards 4 --lr 0.01)

# A byte of this text that is guessed by its frequency alone costs 2.9.
"$gpt" "${small[@]}" --devices cpu/1 --save "$here/one" --target-loss 2.4 >"$here/out" ||
    fail "one device: exit status $?: $(tail -n 3 "$here/out")"
"$gpt" "${small[@]}" --devices 2 --save "$here/two" >"$here/out2" || fail "two devices: exit status $?"
cmp "$here/one" "$here/two" || fail "checkpoints of one device and of two differ"
diff <(tail -n +3 "$here/out" | sed 's/, [0-9]* bytes.*//') \
    <(tail -n +3 "$here/out2" | sed 's/, [0-9]* bytes.*//') || fail "they say different things"

# In mixed precision, too; and samples are written from logits of a half type.
amp=("${small[@]}" --amp bf16 --steps 8 --every 8)
"$gpt" "${amp[@]}" --devices cpu/1 --save "$here/one_amp" >"$here/out" ||
    fail "--amp, one device: exit status $?: $(tail -n 3 "$here/out")"
"$gpt" "${amp[@]}" --devices 2 --save "$here/two_amp" >/dev/null ||
    fail "--amp, two devices: exit status $?"
cmp "$here/one_amp" "$here/two_amp" || fail "--amp: checkpoints of one device and of two differ"
if cmp -s "$here/one" "$here/one_amp"; then fail "--amp changes nothing"; fi

# Of attention by blocks of queries, too, which begins with long texts.
cat "$here/text" "$here/text" >"$here/long_text"
long=("${small[@]}" --data "$here/long_text" --context 128 --steps 4 --every 4)
"$gpt" "${long[@]}" --devices cpu/1 --save "$here/one_long" >"$here/out" ||
    fail "128 bytes, one device: exit status $?: $(tail -n 3 "$here/out")"
"$gpt" "${long[@]}" --devices 2 --save "$here/two_long" >/dev/null ||
    fail "128 bytes, two devices: exit status $?"
cmp "$here/one_long" "$here/two_long" || fail "128 bytes: checkpoints of one device and of two differ"

refused()
{
    local code=$1 line=$2 status=0
    shift 2
    "$gpt" "$@" >"$here/out" 2>"$here/err" || status=$?
    [ "$status" = "$code" ] || fail "$*: exit status $status, must be $code"
    grep -q -e "$line" "$here/err" || fail "$*: says $(cat "$here/err")"
}
refused 3 "cannot read" --data "$here/nothing"
refused 3 "too short" --data /etc/hostname
refused 2 "do not divide" --heads 3
refused 2 "batch-size" --data "$here/text" --batch-size 100000
refused 1 "above the target" "${small[@]}" --steps 2 --target-loss 0.1
exit $((failures > 0))
