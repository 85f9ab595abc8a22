#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# 40 training steps are 20 steps, a checkpoint and 20 steps more, byte for byte; and a checkpoint is
# what Python code that knows nothing of Tarn reads. In mixed precision, too, with the scale of the loss.
# Argument: the mnist program.
set -eu
mnist=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$mnist" --fake-data --no-progress --steps 40 --save "$folder/whole.safetensors" >/dev/null
"$mnist" --fake-data --no-progress --steps 20 --save "$folder/half.safetensors" >/dev/null
"$mnist" --fake-data --no-progress --steps 20 --resume "$folder/half.safetensors" \
    --save "$folder/resumed.safetensors" >/dev/null
cmp "$folder/whole.safetensors" "$folder/resumed.safetensors"
if cmp -s "$folder/whole.safetensors" "$folder/half.safetensors"; then
    echo "resume: 20 more steps changed nothing" >&2
    exit 1
fi
"$mnist" --fake-data --no-progress --amp fp16 --steps 12 --save "$folder/amp.safetensors" >/dev/null
"$mnist" --fake-data --no-progress --amp fp16 --steps 6 --save "$folder/half_amp.safetensors" >/dev/null
"$mnist" --fake-data --no-progress --amp fp16 --steps 6 --resume "$folder/half_amp.safetensors" \
    --save "$folder/resumed_amp.safetensors" >/dev/null
cmp "$folder/amp.safetensors" "$folder/resumed_amp.safetensors"
python3 "$(dirname "$0")/read_safetensors.py" "$folder/whole.safetensors"
# Refusals: a damaged file, another model's file, a missing one; nothing may be left behind.
head -c 1000 "$folder/whole.safetensors" >"$folder/cut.safetensors"
for bad in cut none; do
    code=0
    "$mnist" --fake-data --no-progress --steps 1 --resume "$folder/$bad.safetensors" \
        >/dev/null 2>"$folder/errors" || code=$?
    if [ "$code" -ne 3 ] && [ "$code" -ne 5 ]; then
        echo "resume: exit code $code for a bad file" >&2
        cat "$folder/errors" >&2
        exit 1
    fi
    cat "$folder/errors"
done
echo "resume: equal"
