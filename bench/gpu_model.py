# SPDX-License-Identifier: Apache-2.0
"""Shared by bench/gpu and scripts/check-gpu-code: what training steps are like on GPUs that are not here, and how
long they may last. The model takes of each kernel the largest of what memory, arithmetic, loads and waiting would
take alone, after a start. It is right within a factor of two: good for comparing schedules, not for promises."""
import os
import re
import subprocess
import sys
import tempfile

# Of an H100: units; of a unit cycles in a second, multiply-adds in one, work-items that it can hold.
UNITS, CLOCK, FMAS, RESIDENT = 132, 1.755e9, 128, 2048
# Fitted to 315 kernels of eight steps, timed by its clock: with these all but 12 take from half to twice as long as
# the model says.
BANDWIDTH = 2.0e12  # bytes in a second
STALLED = 3         # arithmetic and requests take so many times as long as they could
START = 7e-6        # of a kernel, and its end
WAIT = 0.3e-6       # for memory, in a round of a loop
HEADS = {"kernels": "/* Head of every generated program", "cost": "tarn: cost of "}


def stop(text):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {text}")


def largest_plan(text, word):
    """The longest piece of what TARN_DEBUG=`word` printed: the training step."""
    plans = text.split(HEADS[word])[1:]
    return HEADS[word] + max(plans, key=len) if plans else None


def dry_step(build, name, batch, target, word):
    """What a step of bench-networks prints of itself for a made-up device; nothing is compiled or run. The name may
    have options behind it."""
    binaries = os.path.join(build, "bin")
    with tempfile.TemporaryDirectory() as folder:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("TARN_")}
        environment.update(OPENCL_LAYERS=os.path.join(binaries, "dry_layer.so"), TARN_DRY_FOLDER=folder,
                           TARN_CACHE_DIR="off", TARN_COMPILERS="0", TARN_AWAKE="0", TARN_DEVICES="cpu",
                           TARN_TUNE="0", TARN_GEMM="nest", TARN_TARGET=target, TARN_DEBUG=word)
        command = [os.path.join(binaries, "bench-networks"), *name.split(), "-b", str(batch), "--once"]
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            stop(f"{build} is no build with bin/bench-networks")
        if done.returncode != 0 or not os.path.exists(os.path.join(folder, "launches")):
            stop(f"{' '.join(command)} does not run under bin/dry_layer.so: {done.stderr[-500:]}")
    return largest_plan(done.stderr, word) or stop(f"{name} printed nothing for TARN_DEBUG={word}")


def kernel_seconds(text, group, units):
    """Seconds of each bound, of a kernel as TARN_DEBUG=cost prints it."""
    head, *rows = text.strip().split("\n")
    flops, size = (float(x) for x in re.search(r": (\S+) MFLOP, (\S+) MB", head).groups())
    loads = 0.0
    waves, all_groups = {}, {}  # by section, whose groups do its nests one after the other
    for row in rows:
        found = re.match(r"    .{14} +(\d+) +(\d+) +(\d+) +(\d+) +(\S+) +(\S+)", row)
        section, groups, chain, terms, per_term = (float(x) for x in found.groups()[:5])
        sectors = 0 if found.group(6) == "-" else float(found.group(6))
        # A request goes through in a cycle for each line of 128 bytes, which is four sectors.
        loads += terms * per_term / 32 * max(1, sectors / 4) / min(units, groups) / CLOCK
        waves[section] = waves.get(section, 0) + -(-groups * group // (units * RESIDENT)) * chain
        all_groups[section] = groups
    return {"memory": 1e6 * size / BANDWIDTH,
            "arithmetic": STALLED * 1e6 * flops / 2 / FMAS / CLOCK / max(1, min(units, sum(all_groups.values()))),
            "loads": STALLED * loads, "waiting": WAIT * max(waves.values(), default=0)}


def whole(bounds):
    """Seconds of a kernel."""
    return START + max(bounds.values())


def model(text, units=UNITS):
    """Of each kernel of a plan, as TARN_DEBUG=cost prints it: name, nests, seconds of each bound."""
    group = int(re.search(r"groups of (\d+)", text).group(1))
    kernels = []
    for part in re.split(r"\n  (?=k\d+: )", text)[1:]:
        rows = [row for row in part.split("\n")[1:] if row.startswith("    ")]
        kernels.append((part.split(":")[0], " ".join(row.split()[0] for row in rows),
                        kernel_seconds("\n".join([part.split("\n")[0], *rows]), group, units)))
    return kernels


def step_seconds(kernels):
    """Of kernels in one queue."""
    return sum(whole(bounds) for _, _, bounds in kernels)
