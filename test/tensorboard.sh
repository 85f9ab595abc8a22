#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What an example writes with --log is JSON Lines with the numbers that a run has, and comes back from event files of
# TensorBoard as it was written. Skipped where PyPI's tensorboard is not installed (TENSORBOARD_PYTHON names a python3
# that has it). Arguments: the programs' folder.
set -euo pipefail
bin=$1
python=${TENSORBOARD_PYTHON:-python3}
convert=$(cd "$(dirname "$0")/.." && pwd)/scripts/to-tensorboard
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
head -c 20000 /dev/zero | tr '\0' 'a' >"$here/text"
"$bin/gpt" --data "$here/text" --layers 1 --width 16 --heads 2 --context 16 --batch-size 4 --steps 4 --every 2 \
    --sample 1 --log "$here/gpt.jsonl" >/dev/null
"$bin/lstm" --fake-data --steps 3 --batch-size 64 --log "$here/lstm.jsonl" >/dev/null
"$bin/mnist" --fake-data --steps 3 --batch-size 64 --no-progress --log "$here/mnist.jsonl" >/dev/null
python3 - "$here" <<'END'
import json, pathlib, sys
for name, event, tested, last in (("gpt", "step", "test_loss", 4), ("lstm", "epoch", "test_accuracy", 3),
                                  ("mnist", "epoch", "test_accuracy", 3)):
    rows = [json.loads(line) for line in (pathlib.Path(sys.argv[1]) / f"{name}.jsonl").read_text().splitlines()]
    for row in rows:
        assert {"event", "epoch", "step", "train_loss", "lr", tested, "samples_per_second", "steps"} <= row.keys(), row
        assert 0 < row["lr"] < 1 and row["samples_per_second"] > 0 and row["train_loss"] > 0, row
    assert rows[0]["event"] == event and rows[-1]["step"] == last, rows
    assert len(rows) == {"gpt": 2, "lstm": 1, "mnist": 2}[name], rows
END
if "$bin/gpt" --log "$here/no/folder" --data "$here/text" --context 16 --batch-size 4 2>"$here/said"; then
    echo "tensorboard: a log that cannot be opened passes"
    exit 1
fi
grep -q -- "--log: cannot open" "$here/said"
"$python" -c "import tensorboard" 2>/dev/null || { echo "skipped: no tensorboard"; exit 77; }
"$python" "$convert" "$here/gpt.jsonl" "$here/events"
"$python" - "$here" <<'END'
import json, pathlib, struct, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
here = pathlib.Path(sys.argv[1])
rows = [json.loads(line) for line in (here / "gpt.jsonl").read_text().splitlines()]
events = EventAccumulator(str(here / "events"), size_guidance={"scalars": 0})
events.Reload()
names = set(events.Tags()["scalars"])
assert names == {"epoch", "train_loss", "lr", "test_loss", "samples_per_second", "seconds", "steps", "world_size"}, names
for name in names:
    got = [(e.step, e.value) for e in events.Scalars(name)]
    wanted = [(row["step"], struct.unpack("f", struct.pack("f", row[name]))[0]) for row in rows]
    assert got == wanted, (name, got, wanted)
print("tensorboard: all values came back")
END
printf 'no json\n' >"$here/bad"
if "$python" "$convert" "$here/bad" "$here/none" 2>"$here/said"; then exit 1; fi
grep -q "line 1 is not JSON" "$here/said"
