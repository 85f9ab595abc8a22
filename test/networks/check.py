#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the networks of this folder to PyTorch's losses (losses.json, made by networks.py): at each step
Tarn must be at most 4 times as far from PyTorch's float64 as PyTorch's float32 is itself, and what the last
four operations round: the mean, a device's part of the batch, their product, the sum. In the first three steps it
must also be within what bound.py derives: a bound of the error however roundings fall, and a smaller one that holds
if they are independent. Convolutions are summed directly, as PyTorch's are; with Winograd's algorithm
errors may be 40 times as large (docs/numerics.md: 4e-6 against 1e-7), and nothing is derived. Checks that
virtual shards have the same bits on one device and on two, and that a resumed run has those of one that
was not interrupted. Without --all each network is run in one of four ways, else in all."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FACTOR, WINOGRAD, LAST = 4, 40, 4 * 2.0 ** -24
DERIVED = {"bound": "derived bound", "likely": "likely one"}
p = argparse.ArgumentParser(description=__doc__)
p.add_argument("program", help="the program networks")
p.add_argument("networks", nargs="*")
p.add_argument("--all", action="store_true", help="all ways to run each of them")
p.add_argument("--python", help="that has PyTorch, to load checkpoints into it")
o = p.parse_args()
LOSSES = json.loads((HERE / "losses.json").read_text())
failures = 0


def fail(text):
    global failures
    failures += 1
    print(f"FAILED {text}", flush=True)


def run(name, batch, *more, **variables):
    command = [o.program, name, f"--batch-size={batch}", *more]
    done = subprocess.run(command, env=dict(os.environ, **variables), capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"{' '.join(command[1:])}: {done.stderr.strip()}")
        return []
    return [float(line.split()[1]) for line in done.stdout.splitlines()]


def compare(name, batch, *more, **variables):
    """Runs a network and compares its losses. Returns them."""
    known, worst = LOSSES[name][str(batch)], 0
    variables.setdefault("TARN_WINOGRAD", "0")
    factor = FACTOR * (1 if variables["TARN_WINOGRAD"] == "0" else WINOGRAD)
    what = f"{name} batch {batch} {' '.join(more)} {' '.join(f'{k}={v}' for k, v in variables.items())}"
    got = run(name, batch, *more, **variables)
    close = {key: 0 for key in DERIVED}
    for step, value in enumerate(got[:len(known["bound"])] if factor == FACTOR else []):
        wanted = known["loss"][step]
        for key in DERIVED:
            close[key] = max(close[key], (abs(value - wanted) - LAST * abs(wanted)) / known[key][step])
            if not close[key] <= 1:
                fail(f"{what}, step {step}: loss {value} is not within {known[key][step]} of {wanted}, as derived "
                     f"({key})")
    for step, (value, wanted, distance) in enumerate(zip(got, known["loss"], known["distance"])):
        far = (abs(value - wanted) - LAST * abs(wanted)) / distance
        worst = max(worst, far)
        if not far <= factor:
            fail(f"{what}, step {step}: loss {value}, PyTorch's {wanted}, whose float32 is {distance} off at most")
    derived = " and ".join(f"{close[key]:.2g} of the {DERIVED[key]}" for key in DERIVED)
    print(f"{what}: {worst:.2f} of {factor}" + (f", {derived}" if factor == FACTOR else ""), flush=True)
    return got


def one_device(name, batch):
    compare(name, batch)


def two_devices(name, batch):
    compare(name, batch, "--devices=cpu/2")


def mesh(name, batch):
    compare(name, batch, "--devices=cpu/2", "--mesh=2")


def as_gpu(name, batch):
    compare(name, batch, TARN_SCHEDULE="gpu")


def unfused(name, batch):
    compare(name, batch, TARN_FUSE="0")


def winograd(name, batch):
    compare(name, batch, TARN_WINOGRAD="1")


def shards(name, batch):
    one = compare(name, batch, "--virtual-shards=4")
    two = compare(name, batch, "--virtual-shards=4", "--devices=cpu/2")
    if one != two:
        fail(f"{name} batch {batch}: 4 virtual shards give {one} on one device, {two} on two")


def in_pytorch(name, batch, step, file, losses):
    """The loss of a step that PyTorch makes of Tarn's checkpoint before it."""
    if o.python is None:
        return
    command = [o.python, str(HERE / "networks.py"), "--loss", name, str(batch), str(step), file]
    done = subprocess.run(command, capture_output=True, text=True)
    distance = LOSSES[name][str(batch)]["distance"][0] + LAST * losses[step]
    if done.returncode == 0 and done.stdout.strip() == "None":
        return
    if done.returncode != 0 or not abs(float(done.stdout) - losses[step]) <= FACTOR * distance:
        fail(f"{name} batch {batch}: step {step} from the checkpoint has loss {losses[step]}, in PyTorch "
             f"{done.stdout.strip()} {done.stderr.strip()}")


def resumed(name, batch):
    with tempfile.TemporaryDirectory() as folder:
        whole, half, again = (f"{folder}/{f}" for f in ("whole", "half", "again"))
        losses = compare(name, batch)
        direct = {"TARN_WINOGRAD": "0"}
        run(name, batch, f"--save={whole}", **direct)
        first = run(name, batch, "--steps=4", f"--save={half}", **direct)
        second = run(name, batch, "--steps=4", "--from=4", f"--load={half}", f"--save={again}", **direct)
        if first + second != losses:
            fail(f"{name} batch {batch}: losses {losses}, resumed {first + second}")
        in_pytorch(name, batch, 4, half, losses)
        if not failures and Path(whole).read_bytes() != Path(again).read_bytes():
            fail(f"{name} batch {batch}: the checkpoint of a resumed run differs")


WAYS = [(one_device, 8), (two_devices, 127), (shards, 64), (as_gpu, 32), (resumed, 8), (one_device, 127),
        (two_devices, 32), (shards, 128), (one_device, 32), (two_devices, 8), (as_gpu, 8), (unfused, 8),
        (winograd, 32), (mesh, 8), (mesh, 32)]

for number, network in enumerate(LOSSES):
    if o.networks and network not in o.networks:
        continue
    # Every way that counts, and every network; and one with a loop under a mesh.
    ways = WAYS if o.all else (WAYS[1 + number % 4],)
    ways += ((mesh, 8),) * (network == "lstm" and not o.all)
    for way, size in ways:
        way(network, size)
print(f"{failures} failed")
sys.exit(failures > 0)
