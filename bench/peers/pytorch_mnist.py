#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples/mnist.c in PyTorch on the CPU: the same network, data, order of work and exit status."""
import argparse
import gzip
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

p = argparse.ArgumentParser(description=__doc__)
p.add_argument("--data", required=True, help="folder with the four IDX files, plain or .gz")
p.add_argument("--epochs", type=int, default=3)
p.add_argument("--steps", type=int, help="stop after so many")
p.add_argument("--seed", type=int, default=0)
p.add_argument("--target-accuracy", type=float, default=0)
p.add_argument("--threads", type=int, default=2)
o = p.parse_args()
torch.set_num_threads(o.threads)
torch.manual_seed(o.seed)
BATCH, TEST_BATCH = 128, 1000


def read(name, header):
    path = Path(o.data) / name
    content = path.read_bytes() if path.exists() else gzip.open(f"{path}.gz").read()
    return torch.frombuffer(bytearray(content[header:]), dtype=torch.uint8)


def load(part):
    images = read(f"{part}-images-idx3-ubyte", 16).reshape(-1, 1, 28, 28)
    return images, read(f"{part}-labels-idx1-ubyte", 8).long()


def pixels(images):
    return (images.float() / 255 - 0.1307) / 0.3081


net = nn.Sequential(nn.Conv2d(1, 10, 5), nn.MaxPool2d(2), nn.ReLU(), nn.BatchNorm2d(10),
                    nn.Conv2d(10, 20, 5), nn.MaxPool2d(2), nn.ReLU(), nn.BatchNorm2d(20),
                    nn.Flatten(), nn.Linear(320, 50), nn.ReLU(), nn.Linear(50, 10),
                    nn.LogSoftmax(1))
sgd = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.5)
train, test = load("train"), load("t10k")
steps = 0
for epoch in range(o.epochs):
    net.train()
    for part in torch.randperm(len(train[1])).split(BATCH):
        if len(part) < BATCH or steps == o.steps:
            break
        sgd.zero_grad()
        F.nll_loss(net(pixels(train[0][part])), train[1][part]).backward()
        sgd.step()
        steps += 1
    net.eval()
    with torch.no_grad():
        right = sum(int((net(pixels(x)).argmax(1) == y).sum())
                    for x, y in zip(test[0].split(TEST_BATCH), test[1].split(TEST_BATCH)))
    accuracy = right / len(test[1])
    print(f"epoch {epoch + 1}: test accuracy {100 * accuracy:.2f} %")
    if steps == o.steps:
        break
sys.exit(accuracy < o.target_accuracy)
