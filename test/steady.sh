#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every example comes to 100 steps in a row that compile nothing and allocate no device memory, and has in use at
# most what was expected before it ran, to 5 %. Argument: the folder of the programs.
set -euo pipefail
folder=$1
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
export TARN_DEBUG=memory
failures=0
line='s/.*memory of rank ([0-9]+): expected at most ([0-9]+) bytes, ([0-9]+) were .* steps ([0-9]+) in a row.*/\1 \2 \3 \4/p'

# steady RANKS NAME OPTION ...
steady()
{
    local ranks=$1 name=$2 status=0
    shift 2
    "$folder/$name" "$@" >"$here/out" 2>"$here/err" || status=$?
    sed -nE "$line" "$here/err" >"$here/numbers"
    if [ "$status" != 0 ] || [ "$(wc -l <"$here/numbers")" != "$ranks" ] || ! awk -v name="$name" '
        { error = 100 * ($3 - $2) / $3
          printf "%s, rank %d: %.4f %% of %d bytes were not expected; steady for %d steps\n", name, $1, error, $3, $4
          if ($3 < 1 || error > 5 || error < -5 || $4 < 100) bad = 1 }
        END { exit bad }' "$here/numbers"; then
        echo "FAILED: $name $*: exit status $status: $(tail -n 3 "$here/err")"
        failures=$((failures + 1))
    fi
}

for i in $(seq 2000); do
    echo "line $i of a text that says little"
done >"$here/text"
steady 1 mnist --fake-data --no-progress --steps 120 --batch-size 32
steady 2 mnist --fake-data --no-progress --steps 120 --batch-size 32 --devices 2
steady 1 gpt --data "$here/text" --layers 1 --width 32 --heads 2 --context 16 --batch-size 32 --steps 120 --every 120 --sample 0
steady 1 lstm --fake-data --batch-size 32 --steps 120
steady 1 vae --fake-data --batch-size 32 --steps 120
steady 1 gan --fake-data --batch-size 16 --steps 120
steady 1 resnet --fake-data --batch-size 16 --steps 120 --lr 0.01
exit $((failures > 0))
