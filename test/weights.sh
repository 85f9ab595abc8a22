#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tarn-weights compare: exit codes, table, verdict and JSON over small files, equal, different in
# every way, and damaged. Argument: the tarn-weights program.
set -eu
tool=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 - <<'END'
import json
import struct


def write(name, *tensors):
    header, data = {"__metadata__": {"made": name}}, b""
    for tensor, dtype, shape, bits in tensors:
        width = {"F32": "I", "F16": "H", "I64": "q", "BOOL": "B"}[dtype]
        piece = struct.pack(f"<{len(bits)}{width}", *bits)
        header[tensor] = {"dtype": dtype, "shape": shape,
                          "data_offsets": [len(data), len(data) + len(piece)]}
        data += piece
    text = json.dumps(header).encode()
    with open(name + ".safetensors", "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + data)


ONE, NAN = 0x3f800000, 0x7fc00000
WEIGHT = ("fc.weight", "F32", [2, 2], [ONE, 0, ONE, NAN])
STEPS = ("bn.steps", "I64", [], [7])
MOMENT = ("optimizer.m", "F16", [2], [0x3c00, 0xc000])
MASK = ("mask\u00e4", "BOOL", [1], [1])
write("a", WEIGHT, STEPS, MOMENT, MASK)
write("same", MASK, MOMENT, STEPS, WEIGHT)  # in another order, with other metadata
write("bit", ("fc.weight", "F32", [2, 2], [ONE, 0, ONE + 1, NAN]), STEPS, MOMENT, MASK)
write("nan", ("fc.weight", "F32", [2, 2], [ONE, 0, ONE, NAN + 1]), STEPS, MOMENT, MASK)
write("step", WEIGHT, ("bn.steps", "I64", [], [4]), MOMENT, MASK)
write("missing", WEIGHT, STEPS)
write("shape", ("fc.weight", "F32", [4], [ONE, 0, ONE, NAN]), STEPS, MOMENT, MASK)
write("type", WEIGHT, STEPS, ("optimizer.m", "I64", [2], [1, 2]), MASK)
write("empty")
END
head -c 100 a.safetensors >cut.safetensors
head -c 3 a.safetensors >short.safetensors
echo "this file is no safetensors file" >text.safetensors
mkdir folder.safetensors

complain() {
    echo "weights: $1" >&2
    cat out err >&2
    exit 1
}

# expect CODE ARGUMENT...: runs compare and leaves what it printed in out and err.
expect() {
    want=$1
    shift
    code=0
    "$tool" compare "$@" >out 2>err || code=$?
    [ "$code" -eq "$want" ] || complain "compare $*: exit code $code, not $want"
}

# shows PATTERN...: each is an extended expression for a line of the output.
shows() {
    for pattern in "$@"; do
        grep -qE -- "$pattern" out || complain "no line like $pattern"
    done
}

a=a.safetensors
expect 0 $a same.safetensors
shows '^bn.steps +I64 +\[\] +equal +- +- ' '^fc.weight +F32 +\[2,2\] +equal +- +1 / 1 ' \
    '^mask.* BOOL ' '^equal: 4 tensors, bit for bit, in 2 files$'
tail -n 1 out | grep -q '^equal:' || complain "the verdict is not the last line"
expect 0 empty.safetensors empty.safetensors
shows '^equal: 0 tensors'

expect 1 $a bit.safetensors
shows '^fc.weight .* different +1 +1 / 1 +1.19e-07 +1.19e-07 +1 +at 2: 1 \(0x3f800000\), 1.00000012 \(0x3f800001\)$' \
    '^different: 1 of 4 tensors, 1 of 1 files; the first is fc.weight in bit.safetensors$'
expect 0 --tolerance 1 $a bit.safetensors
shows '^fc.weight .* within ' '^equal: 4 tensors, 1 of them within 1 ULP, in 2 files$'
expect 0 $a bit.safetensors --ignore fc.
shows '^equal: 3 tensors, bit for bit'
expect 0 $a --ignore fc.w missing.safetensors --ignore optimizer. --ignore mask
shows '^equal: 1 tensors'

expect 1 --tolerance 1000 $a nan.safetensors
shows '^fc.weight .* different +1 +1 / 1 +0 +0 +0 +at 3: nan \(0x7fc00000\), nan \(0x7fc00001\)$'
expect 1 --tolerance 1000 $a step.safetensors
shows '^bn.steps .* different +1 +- +3 +- +- +at 0: 7 \(0x0000000000000007\), 4 '
expect 1 $a missing.safetensors
shows '^optimizer.m +F16 +\[2\] +only in first' '^mask.*only in first' '^different: 2 of 4 tensors'
expect 1 missing.safetensors $a
shows '^optimizer.m +F16 +\[2\] +only in second'
expect 1 $a shape.safetensors
shows '^fc.weight +F32 +\[2,2\] / \[4\] +other shape'
expect 1 $a type.safetensors
shows '^optimizer.m +F16 / I64 +\[2\] +other type'

# More files than two; only the line of the verdict.
expect 1 --quiet $a same.safetensors bit.safetensors shape.safetensors
shows '^different: 2 of 12 tensors, 2 of 3 files; the first is fc.weight in bit.safetensors$'
[ "$(wc -l <out)" -eq 1 ] || complain "--quiet printed more than a line"

# JSON: parses, and says the same.
expect 0 --json $a same.safetensors
python3 -m json.tool out >/dev/null || complain "--json is no JSON"
expect 1 --json --ignore mask $a bit.safetensors missing.safetensors nan.safetensors step.safetensors
python3 - <<'END' || complain "--json says something else"
import json


def no_constant(text):
    raise ValueError(text)


report = json.load(open("out"), parse_constant=no_constant)
assert report["verdict"] == "different" and report["first"] == "a.safetensors"
assert report["tolerance"] == 0 and report["ignored"] == ["mask"]
bit, missing, nan, step = report["files"]
assert [f["file"][0] for f in report["files"]] == ["b", "m", "n", "s"]
assert [t["name"] for t in bit["tensors"]] == ["bn.steps", "fc.weight", "optimizer.m"]
steps, weight, moment = bit["tensors"]
assert steps["state"] == "equal" and steps["first_difference"] is None
assert weight["state"] == "different" and weight["first"] == {"type": "F32", "shape": [2, 2]}
assert weight["elements"] == 4 and weight["different"] == 1 and weight["beyond"] == 1
assert weight["max_ulp"] == 1 and weight["max_abs"] == 2.0**-23
assert weight["nan_first"] == 1 and weight["nan_second"] == 1
assert weight["first_difference"] == {
    "index": 2, "first": {"value": "1", "bits": "0x3f800000"},
    "second": {"value": "1.00000012", "bits": "0x3f800001"}}
assert missing["verdict"] == "different" and missing["tensors"][2]["state"] == "only_first"
assert missing["tensors"][2]["second"] is None
assert nan["tensors"][1]["first_difference"]["second"]["value"] == "nan"
assert step["tensors"][0]["max_abs"] == 3 and step["tensors"][0]["max_ulp"] is None
END

# Files that cannot be read, on either side: one line with the name, and no verdict.
for bad in cut short text folder none; do
    for order in "$bad.safetensors $a" "$a $bad.safetensors" "$a same.safetensors $bad.safetensors"; do
        # shellcheck disable=SC2086 # a list of names
        expect 3 $order
        if [ "$(wc -l <err)" -ne 1 ] || ! grep -q "^tarn-weights: $bad.safetensors: " err; then
            complain "not one line on $bad"
        fi
        if grep -qE '^(equal|different)' out; then
            complain "a verdict on a file that cannot be read"
        fi
        # shellcheck disable=SC2086
        expect 3 --json $order
        [ ! -s out ] || complain "half a JSON object"
    done
done
if [ -w /dev/full ]; then
    code=0
    "$tool" compare $a same.safetensors >/dev/full 2>err || code=$?
    [ "$code" -eq 3 ] || complain "exit code $code for output that is lost"
fi

# Usage.
expect 2
expect 2 $a
expect 2 --json --quiet $a same.safetensors
expect 2 --tolerance -1 $a same.safetensors
expect 2 --tolerance 1x $a same.safetensors
expect 2 --ignore '' $a same.safetensors
expect 2 --unknown $a same.safetensors
code=0
"$tool" >out 2>err || code=$?
[ "$code" -eq 2 ] || complain "exit code $code without a command"
code=0
"$tool" guess $a same.safetensors >out 2>err || code=$?
[ "$code" -eq 2 ] || complain "exit code $code for an unknown command"
"$tool" --help >out 2>err
shows '^  compare '
expect 0 --help
shows '--tolerance' '^Exit status:'

# check CODE FILE TEXT: tarn-weights check, whose output must have the text.
check() {
    code=0
    "$tool" check "$2" >out 2>err || code=$?
    [ "$code" -eq "$1" ] || complain "check $2 ended with $code, not $1"
    grep -q -- "$3" out err || complain "check $2 says nothing of: $3"
}
check 1 a.safetensors "4 tensors, no checksums"
check 3 cut.safetensors "cut.safetensors"
sed 's/"made": "a"/"tarn.xxh3": "0"/' a.safetensors >wrong.safetensors
python3 - <<'END'
import struct

data = open("wrong.safetensors", "rb").read()
end = data.index(b"}}") + 2
open("wrong.safetensors", "wb").write(struct.pack("<Q", end - 8) + data[8:])
END
check 3 wrong.safetensors "checksum"
echo "weights: all as expected"
