#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Times the training step of bench/step.c in PyTorch on the CPU; prints one JSON object."""
import argparse
import json
import time

import torch
import torch.nn.functional as F
from torch import nn

p = argparse.ArgumentParser(description=__doc__)
p.add_argument("--batch-size", type=int, default=128)
p.add_argument("--steps", type=int, default=20)
p.add_argument("--blocks", type=int, default=9)
p.add_argument("--threads", type=int, default=2)
o = p.parse_args()
torch.set_num_threads(o.threads)
torch.manual_seed(0)

net = nn.Sequential(nn.Conv2d(1, 10, 5), nn.MaxPool2d(2), nn.ReLU(), nn.BatchNorm2d(10),
                    nn.Conv2d(10, 20, 5), nn.MaxPool2d(2), nn.ReLU(), nn.BatchNorm2d(20),
                    nn.Flatten(), nn.Linear(320, 50), nn.ReLU(), nn.Linear(50, 10),
                    nn.LogSoftmax(1))
sgd = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.5)
x, y = torch.rand(o.batch_size, 1, 28, 28), torch.randint(0, 10, (o.batch_size,))


def block():
    start = time.perf_counter()
    for _ in range(o.steps):
        sgd.zero_grad()
        F.nll_loss(net(x), y).backward()
        sgd.step()
    return (time.perf_counter() - start) / o.steps * 1e3


block()
times = sorted(block() for _ in range(o.blocks))
median = times[o.blocks // 2]
print(json.dumps({"batch": o.batch_size, "median_ms": median, "min_ms": times[0],
                  "max_ms": times[-1], "samples_per_second": o.batch_size / median * 1e3}))
