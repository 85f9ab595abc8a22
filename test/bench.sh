#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tarn-bench: every item of a quick run is measured, JSON and picture are well formed, and each
# refusal has its exit code. Argument: the tarn-bench program.
set -eu
tool=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

"$tool" --devices 0 --quick --json --roofline picture.svg >out.json
python3 -m json.tool out.json >/dev/null
python3 - <<'END'
import json
import xml.dom.minidom

result = json.load(open("out.json"))
assert result["quick"] and result["compute_units"] >= 1, result
items = {i["name"]: i for i in result["items"]}
assert len(items) == len(result["items"]), "a name is there twice"
groups = {name.split("/")[0] for name in items}
assert groups == {"launch", "memory", "fma", "gemm", "conv", "reduce", "norm", "step", "kernel", "optimizer"}, groups
for i in items.values():
    assert i["error"] is None and 0 < i["least"] <= i["value"] <= i["most"], i
    if i["unit"] == "GFLOP/s":
        assert abs(i["flops"] / i["seconds"] / i["value"] / 1e9 - 1) < 1e-3, i
    if i["unit"] == "GB/s":
        assert abs(i["bytes"] / i["seconds"] / i["value"] / 1e9 - 1) < 1e-3, i
points = [i for i in items.values() if i["flops"] and i["bytes"] and i["seconds"]]
circles = xml.dom.minidom.parse("picture.svg").getElementsByTagName("circle")
assert len(circles) == len(points) > 10, (len(circles), len(points))
END

expect() {
    wanted=$1
    shift
    code=0
    "$@" >out 2>err || code=$?
    if [ "$code" -ne "$wanted" ]; then
        echo "exit code $code instead of $wanted: $*" >&2
        cat out err >&2
        exit 1
    fi
}

expect 0 "$tool" --quick --devices 0 --only launch/wait,norm/soft
grep -q '^launch/waited .* us ' out
grep -q '^norm/softmax .* GB/s ' out
test "$(grep -cE '^[a-z]+/' out)" -eq 2
expect 1 env TARN_GEMM=nonsense "$tool" --quick --devices 0 --only gemm/256,fma
grep -q '^gemm/256x256x256 nonsense  *error: .*TARN_GEMM=nonsense' out
grep -q '^fma/float32 .*error: ' out # the run goes on after an item that failed
mkdir -m 700 "$folder/cache"
expect 0 env TARN_CACHE_DIR="$folder/cache" "$tool" cache
grep -q '^0 entries' out
expect 0 env TARN_CACHE_DIR="$folder/cache" "$tool" cache --clear --older 1 --beyond 10
expect 1 env TARN_CACHE_DIR=off "$tool" cache
expect 2 "$tool" cache --older 1
expect 2 "$tool" --clear
# Figures of the device are measured, and kept with --store; or the machine was too busy.
expect_figures() {
    code=0
    "$tool" target --devices 0 "$@" >out 2>err || code=$?
    if [ "$code" -ne 0 ] && ! grep -q 'too busy' err; then
        cat out err >&2
        exit 1
    fi
    return "$code"
}
TARN_CACHE_DIR=$folder/figures
export TARN_CACHE_DIR
mkdir -m 700 "$TARN_CACHE_DIR"
if expect_figures; then
    grep -qE '^registers +[0-9]+ +[0-9]+ +[0-9]+ ' out
    test "$(find "$TARN_CACHE_DIR" -maxdepth 1 -type f -size -2k ! -name lock | wc -l)" -eq 0
fi
if expect_figures --json --store; then
    python3 - <<'END'
import json

figures = json.load(open("out"))["figures"]
assert len(figures) == 13, figures
for name, row in figures.items():
    assert row["used"] == row["measured"] > 0, (name, row)
registers = figures["registers"]
assert registers["measured"] <= registers["default"], registers  # of which instructions name no more
END
fi
unset TARN_CACHE_DIR
# What is expected of kernels, next to what they take: figures of sane size, and shares that follow from them.
expect 0 "$tool" model --quick --devices 0 --json mnist mlp
python3 - <<'END'
import json

text, networks, decoder = open("out").read().strip(), [], json.JSONDecoder()
while text:
    network, end = decoder.raw_decode(text)
    networks.append(network)
    text = text[end:].strip()
assert [n["network"] for n in networks] == ["mnist", "mlp"], networks
for n in networks:
    kernels = n["kernels"]
    assert len(kernels) > 1, n
    for k in kernels:
        assert 1e-7 < k["expected"] < 1 and 1e-7 < k["measured"] < 60, k
        assert k["bound"] in ("arithmetic", "loads", "caches", "memory", "launch"), k
    measured = sum(k["measured"] for k in kernels)
    right = sum(k["measured"] for k in kernels if 0.5 <= k["expected"] / k["measured"] <= 2)
    assert abs(measured / n["seconds"] - 1) < 1e-3, n
    assert abs(right / measured - n["within"]) < 0.01, n
END
expect 0 "$tool" model --quick --devices 0 mlp
grep -qE '^mlp: [0-9.]+ % of [0-9.]+ ms within a factor of two$' out
expect 2 "$tool" model nonsense
expect 2 "$tool" model --only gemm
expect 2 "$tool" model --store
expect 2 "$tool" target --only gemm
expect 2 "$tool" --store
expect 2 "$tool" targets
expect 2 "$tool" --only nonsense
expect 3 "$tool" --quick --devices 0 --only launch --roofline no/such/folder.svg
grep -q 'no/such/folder.svg' err
expect 4 "$tool" --devices nonsense
grep -q nonsense err
echo "bench: as it should be"
