#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the programs do with closed streams, bad options, bad names and runs that go astray: a
# documented exit status, one line, nothing of it in a file. Arguments: mnist, tarn-weights, tarn-bench.
set -eu
mnist=$1
weights=$2
bench=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
run="--fake-data --no-progress --steps 2"

bad() {
    echo "programs: $*" >&2
    [ ! -s errors ] || cat -v errors >&2
    exit 1
}

# expect STATUS TEXT COMMAND...: the status, and one line of errors with the text.
expect() {
    status=$1
    text=$2
    shift 2
    code=0
    "$@" >output 2>errors || code=$?
    [ "$code" -eq "$status" ] || bad "$*: exit status $code, not $status"
    [ "$(wc -l <errors)" -eq 1 ] || bad "$*: not one line"
    grep -qF -- "$text" errors || bad "$*: no '$text'"
    if LC_ALL=C tr -d '\n' <errors | LC_ALL=C grep -q '[[:cntrl:]]'; then
        bad "$*: control characters"
    fi
}

# Each line of a log is an object, and the checkpoint is whole.
whole() {
    python3 - log save.safetensors <<'END' || bad "a file is damaged"
import json, struct, sys
for line in open(sys.argv[1]):
    assert line.startswith("{"), line
    json.loads(line)
data = open(sys.argv[2], "rb").read()
size, = struct.unpack("<Q", data[:8])
json.loads(data[8:8 + size])
END
}

# A version and a summary of options, each with status 0.
for program in "$mnist" "$weights" "$bench"; do
    "$program" --version | grep -q '(Tarn) [0-9]' || bad "$program --version: no version"
    "$program" --help | grep -qi 'usage' || bad "$program --help: no usage"
done

# Closed streams, one after the other, and all: no text in a file that gets their numbers.
for closed in '>&-' '2>&-' '<&-' '<&- >&- 2>&-'; do
    rm -f log save.safetensors
    code=0
    eval "'$mnist' $run --log log --save save.safetensors >output 2>errors $closed" || code=$?
    case $closed in
    *'>&- '* | '>&-') expected=5 ;; # the standard output
    *) expected=0 ;;
    esac
    [ "$code" -eq $expected ] || bad "mnist $closed: exit status $code, not $expected"
    whole
done
code=0
"$mnist" $run --log log --device nosuch >output 2>&- || code=$?
[ "$code" -eq 4 ] && [ ! -s log ] || bad "mnist 2>&- with an error: exit status $code"
cp save.safetensors other.safetensors
code=0
"$weights" compare save.safetensors other.safetensors >&- 2>errors || code=$?
[ "$code" -eq 3 ] || bad "tarn-weights >&-: exit status $code"
code=0
"$bench" --quick --only launch --roofline picture.svg >&- 2>errors || code=$?
[ "$code" -eq 3 ] || bad "tarn-bench >&-: exit status $code"

# Usage: one line.
expect 2 "--devices" "$mnist" $run --devices=-1
expect 2 "--devices" "$weights" watch --devices=-1
expect 2 "unrecognized option" "$mnist" --bogus
expect 2 "unrecognized option" "$weights" watch --bogus
expect 2 "unrecognized option" "$weights" compare --bogus
expect 2 "unrecognized option" "$bench" --bogus
expect 2 "--steps" "$mnist" --steps many
expect 4 "TARN_GEMM=bogus" env TARN_GEMM=bogus "$mnist" $run

# Names with control characters.
odd=$(printf 'no\nsuch\033[31m')
expect 3 'no\x0asuch\x1b[31m' "$weights" compare save.safetensors "$odd"
expect 5 'no\x0asuch\x1b[31m' "$mnist" $run --log "$odd/log"
expect 4 'no\x0asuch\x1b[31m' "$mnist" $run --device "$odd"
expect 2 'no\x0asuch\x1b[31m' "$mnist" $run --steps "$odd"
cp save.safetensors "$odd"
"$weights" compare save.safetensors "$odd" >output
grep -qF 'no\x0asuch\x1b[31m' output || bad "tarn-weights compare: a name is printed as it is"

# Images that the network does not take.
python3 - <<'END'
import struct
for part in "train", "t10k":
    with open(part + "-images-idx3-ubyte", "wb") as out:
        out.write(struct.pack(">4i", 2051, 256, 27, 28) + bytes(256 * 27 * 28))
    with open(part + "-labels-idx1-ubyte", "wb") as out:
        out.write(struct.pack(">2i", 2049, 256) + bytes(256))
END
expect 3 "./train-images-idx3-ubyte" "$mnist" --data . --no-progress --steps 2

# Training that goes astray.
expect 6 "NaN" "$mnist" --fake-data --no-progress --steps 20 --lr 1000000
echo "programs: all as documented"
