#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tarn-weights watch and inject: replicas that stay equal, flipped bits that are found where they
# are, or undone, and refusals. Argument: the tarn-weights program.
set -eu
# More replicas than this machine may have devices: copies of one.
export TARN_DEVICES=0,0,0,0
tool=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export TARN_TIMEOUT=240 # a slow machine that compiles is not stuck

complain() {
    echo "weights-live: $1" >&2
    cat out err >&2
    exit 1
}

# expect CODE ARGUMENT...: leaves what the tool printed in out and err.
expect() {
    want=$1
    shift
    code=0
    "$tool" "$@" >out 2>err || code=$?
    [ "$code" -eq "$want" ] || complain "$*: exit code $code, not $want"
}

# shows PATTERN...: each is an extended expression for a line of the output.
shows() {
    for pattern in "$@"; do
        grep -qE -- "$pattern" out || complain "no line like $pattern"
    done
}

# events: checks the report in out with the Python lines of the standard input, which find it as
# `report` (all objects) and `checks`; every line must be strict JSON.
events() {
    cat >check.py
    python3 - <<'END' || complain "--json says something else"
import json


def no_constant(text):
    raise ValueError(text)


report = [json.loads(line, parse_constant=no_constant) for line in open("out")]
checks = [e for e in report if e["event"] == "check"]
assert report[0]["event"] == "start" and report[0]["tensors"] == 31
assert report[-1]["event"] == "verdict"
for c in checks:
    assert len(c["hashes"]) == c["replicas"] == report[0]["replicas"]
    assert (len(set(c["hashes"])) == 1) == (c["verdict"] == "equal")
exec(open("check.py").read())
END
}

# ---- watch ------------------------------------------------------------------------------------

expect 0 watch --devices 2 --steps 7 --check-weights 3
shows '^devices: 2 x ' '^ +3 +1 +2 +equal +[0-9.]+ +([0-9a-f]{16}) \1$' '^ +7 +3 +2 +equal ' \
    '^equal: bit for bit \(replicas: 2, steps: 7, checks: 3\)$'
tail -n 1 out | grep -q '^equal:' || complain "the verdict is not the last line"
expect 0 watch --devices cpu --steps 2
shows '^equal: bit for bit'

for devices in 2 4; do
    expect 0 watch --devices $devices --steps 5 --check-weights 2 --json
    echo "devices = $devices" >devices.py
    events <<'END'
exec(open("devices.py").read())
assert report[0]["replicas"] == devices and report[0]["steps"] == 5
assert [c["step"] for c in checks] == [2, 4, 5] and [c["check"] for c in checks] == [1, 2, 3]
assert all(c["verdict"] == "equal" and 0 < c["loss"] < 10 for c in checks)
assert len({c["hashes"][0] for c in checks}) == 3  # it trained
assert report[-1] == {"event": "verdict", "verdict": "equal", "line": None, "checks": 3,
                      "steps": 5, "replicas": devices}
END
done

# The hash is one of the weights: the seed changes it, the number of devices does not with shards.
final() {
    expect 0 watch --steps 3 --virtual-shards 4 --json "$@"
    python3 -c 'import json; print([json.loads(l) for l in open("out")][-2]["hashes"][-1])'
}
one=$(final --devices 1)
[ "$one" = "$(final --devices 4)" ] || complain "other hashes on 1 and 4 devices, which should agree"
[ "$one" != "$(final --devices 1 --seed 1)" ] || complain "the same hash with another seed"

# ---- inject -----------------------------------------------------------------------------------

# found DEVICES TENSOR ELEMENT BIT RANK STEP OTHER: the flip is found, and the line names tensor,
# element, step and the rank that differs from rank 0.
found() {
    expect 1 inject --devices "$1" --tensor "$2" --element "$3" --bit "$4" --rank "$5" --step "$6" \
        --steps 12 --check-weights 4
    shows "^flipped before step $6 on rank $5: bit $4 of $2 element $3, .* to .*" \
        "^ +$(($6 - 1)) +flip +$1 +different " \
        "^different: .*weights differ before training step $6: $2 \[.*\] element $3 is 0x[0-9a-f]{8} on rank 0 and 0x[0-9a-f]{8} on rank $7"
    tail -n 1 out | grep -q '^different:' || complain "the verdict is not the last line"
}

found 2 fc1.weight 15999 0 1 6 1
found 4 conv1.bias 3 31 2 2 2
found 2 conv2.weight 0 30 0 5 1
found 4 optimizer.momentum_buffer.conv2.bias 19 0 3 7 3
found 2 optimizer.momentum_buffer.fc2.weight 1 22 1 12 1
found 2 bn1.running_mean 9 1 1 9 1
found 4 bn2.running_var 0 23 1 4 1
found 2 optimizer.step 0 4 1 3 1

# The same in JSON: before and after differ in the bit, and the line has both values.
expect 1 inject --tensor fc2.bias --element 4 --bit 21 --rank 1 --step 5 --steps 8 --json
events <<'END'
flip = next(e for e in report if e["event"] == "flip")
before, after = (int(flip[side]["bits"], 16) for side in ("before", "after"))
assert before ^ after == 1 << 21 and flip["before"]["value"] != flip["after"]["value"]
assert (flip["tensor"], flip["element"], flip["rank"], flip["before_step"]) == ("fc2.bias", 4, 1, 5)
assert [c["check"] for c in checks] == [None] and checks[0]["step"] == 4
assert checks[0]["verdict"] == "different"
verdict = report[-1]
assert verdict["verdict"] == "different" and verdict["steps"] == 4
assert flip["before"]["bits"] + " on rank 0" in verdict["line"]
assert flip["after"]["bits"] + " on rank 1" in verdict["line"]
END

# --heal: other hashes right after the flip, equal ones from the step on, and the line of the
# library, which went on.
for tensor in fc1.weight optimizer.momentum_buffer.conv1.weight bn2.running_mean; do
    expect 0 inject --devices 4 --tensor $tensor --element 7 --bit 20 --rank 2 --step 5 --steps 9 \
        --check-weights 4 --heal --json
    grep -q "$tensor .* element 7 .*; copied from rank 0$" err || complain "$tensor was not healed"
    events <<'END'
assert [(c["step"], c["check"], c["verdict"]) for c in checks] == [
    (4, 1, "equal"), (4, None, "different"), (5, 2, "equal"), (8, 3, "equal"), (9, 4, "equal")]
odd = checks[1]["hashes"]
assert odd[0] == odd[1] == odd[3] != odd[2]
assert report[-1]["verdict"] == "equal" and report[-1]["steps"] == 9
END
done

# ---- refusals ---------------------------------------------------------------------------------

# refused PATTERN ARGUMENT...: exit code 2, one line, nothing on the standard output.
refused() {
    pattern=$1
    shift
    expect 2 "$@"
    [ ! -s out ] || complain "$*: an output"
    if [ "$(wc -l <err)" -ne 1 ] || ! grep -qE -- "$pattern" err; then
        complain "$*: not one line like $pattern"
    fi
}

# flip_refused PATTERN TENSOR ELEMENT BIT RANK STEP
flip_refused() {
    refused "$1" inject --tensor "$2" --element "$3" --bit "$4" --rank "$5" --step "$6" --steps 9
}

flip_refused "--tensor: 'fc9.weight' is none of conv1.weight, .*bn1.running_mean, .*momentum_buffer.fc2.bias" \
    fc9.weight 0 0 0 2
flip_refused '--element: 50 is not from 0 to 49' fc1.bias 50 0 0 2
flip_refused "--element: '-1'" fc1.bias -1 0 0 2
flip_refused "--bit: '32' is not a whole number from 0 to 31" fc1.bias 0 32 0 2
flip_refused '--rank: 2 is not a rank from 0 to 1' fc1.bias 0 0 2 2
flip_refused '--step: 1 is not a step from 2 to 9' fc1.bias 0 0 0 1
flip_refused '--step: 10 is not a step from 2 to 9' fc1.bias 0 0 0 10
refused 'are all needed' inject --tensor fc1.bias --element 0
refused 'one replica has no other' inject --tensor fc1.bias --element 0 --bit 0 --rank 0 --step 2 \
    --devices 1
refused '--devices: .0. is not a number from 1' watch --devices 0
refused '--check-weights: ' watch --check-weights 0
refused '--steps: ' watch --steps x
refused '--batch-size: ' watch --batch-size 20000
refused 'virtual shards' watch --virtual-shards 3
refused 'is not an option' watch more
expect 2 watch --heal
expect 3 watch --data "$folder/none"
expect 4 watch --devices no-such-device
echo "weights-live: all as expected"
