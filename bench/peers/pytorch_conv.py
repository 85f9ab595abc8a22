#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times convolutions in PyTorch on the CPU as tarn-bench does: names of its items, one a line, on
the standard input; one JSON object from names to seconds."""
import argparse
import json
import re
import statistics
import sys
import time

import torch

BLOCKS, BUDGET = 9, 0.2
NAME = re.compile(r"conv/(\d+)x\d+ s(\d+) (\d+)-(\d+) (\d+)x\d+ b(\d+) (forward|input grad|weight grad)")
p = argparse.ArgumentParser(description=__doc__)
p.add_argument("--threads", type=int, default=2)
p.add_argument("--channels-last", action="store_true", help="images with the channels innermost")
o = p.parse_args()
torch.set_num_threads(o.threads)
torch.manual_seed(0)


def block(once, runs):
    start = time.perf_counter()
    for _ in range(runs):
        once()
    return (time.perf_counter() - start) / runs


def seconds(once):
    """The median of blocks that take the budget together, after a warm-up."""
    for runs in (1, 1, 5):
        one = block(once, runs)
    runs = max(1, min(2000, int(BUDGET / BLOCKS / max(one, 1e-7))))
    return statistics.median(block(once, runs) for _ in range(BLOCKS))


def measure(name):
    window, stride, inputs, outputs, size, batch = map(int, NAME.fullmatch(name).groups()[:6])
    pad = window // 2
    x = torch.rand(batch, inputs, size, size)
    w = torch.rand(outputs, inputs, window, window)
    if o.channels_last:
        x, w = (t.to(memory_format=torch.channels_last) for t in (x, w))
    y = torch.nn.functional.conv2d(x, w, None, stride, pad)
    if name.endswith("forward"):
        return seconds(lambda: torch.nn.functional.conv2d(x, w, None, stride, pad))
    which = [name.endswith("input grad"), name.endswith("weight grad"), False]
    return seconds(lambda: torch.ops.aten.convolution_backward(
        y, x, w, None, [stride, stride], [pad, pad], [1, 1], False, [0, 0], 1, which))


with torch.no_grad():
    json.dump({name: measure(name) for name in sys.stdin.read().splitlines()}, sys.stdout)
