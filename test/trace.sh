#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# TARN_TRACE: the file parses, spans nest, times rise on each track, and what ranks, devices, loaders and
# collectives did is there. Argument: the example mnist.
set -euo pipefail
mnist=$1
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
run="$mnist --fake-data --no-progress --steps 12 --devices 2"

TARN_TRACE=$here/trace.json $run >"$here/out" 2>"$here/err" || { cat "$here/err"; exit 1; }
python3 - "$here/trace.json" <<'END'
import json, sys

tracks, last, spans, stacks = {}, {}, {}, {}
for event in json.load(open(sys.argv[1])):
    track = (event["pid"], event.get("tid"))
    if event["ph"] == "M":
        if event["name"] == "thread_name":
            tracks[track] = event["args"]["name"]
        continue
    assert event["ts"] >= last.get(track, 0), f"time goes back on {tracks[track]}: {event}"
    last[track] = event["ts"]
    stack = stacks.setdefault(track, [])
    if event["ph"] == "B":
        stack.append(event)
        spans.setdefault(tracks[track], []).append("/".join(e["name"] for e in stack))
    else:
        assert event["ph"] == "E" and stack, f"an end without a beginning on {tracks[track]}"
        stack.pop()
for track, stack in stacks.items():
    assert not stack, f"{tracks[track]}: never ended: {stack}"

for rank in 0, 1:
    host, device = spans[f"rank {rank}: host"], spans[f"rank {rank}: device"]
    assert host.count("step mark") >= 12, host.count("step mark")
    assert host.count("step mark/enqueue/all_reduce") >= 10
    assert host.count("record") >= 12 and "step mark/compile" in host and "next batch" in host
    assert sum("conv2d" in name for name in device) >= 24, "kernels of 12 steps are missing"
    loader = spans[f"rank {rank}: loader, batch in work 0"]
    assert loader.count("upload") >= 12 and loader.count("fill a batch") >= 12
print("trace:", sum(len(s) for s in spans.values()), "spans on", len(spans), "tracks")
END

# A file that cannot be written is a line, and nothing else is lost.
TARN_TRACE=$here/none/trace.json $run >"$here/out2" 2>"$here/err2" || { cat "$here/err2"; exit 1; }
[ "$(grep -c "there is no trace" "$here/err2")" = 1 ] || { echo "no line about the file"; exit 1; }
sed 's/, [0-9.]* s.*//; s/, [0-9]* samples.*//' "$here/out" >"$here/a"
sed 's/, [0-9.]* s.*//; s/, [0-9]* samples.*//' "$here/out2" >"$here/b"
diff "$here/a" "$here/b"
