#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a checkpoint by the format's description alone, and checks names and shapes of the MNIST
network as PyTorch's state_dict has them; loads it into PyTorch when that is installed."""
import json
import math
import struct
import sys

SHAPES = {
    "conv1.weight": [10, 1, 5, 5], "conv1.bias": [10],
    "conv2.weight": [20, 10, 5, 5], "conv2.bias": [20],
    "fc1.weight": [50, 320], "fc1.bias": [50], "fc2.weight": [10, 50], "fc2.bias": [10],
}
for norm, channels in (("bn1", 10), ("bn2", 20)):
    for part in ("weight", "bias", "running_mean", "running_var"):
        SHAPES[f"{norm}.{part}"] = [channels]
    SHAPES[f"{norm}.num_batches_tracked"] = []
BYTES = {"F32": 4, "I64": 8, "I32": 4, "U8": 1}

data = open(sys.argv[1], "rb").read()
(size,) = struct.unpack("<Q", data[:8])
header = json.loads(data[8:8 + size])
header.pop("__metadata__", None)
for name, shape in SHAPES.items():
    assert header[name]["shape"] == shape, (name, header[name]["shape"])
for name, entry in header.items():
    begin, end = entry["data_offsets"]
    assert end - begin == math.prod(entry["shape"]) * BYTES[entry["dtype"]], name
    assert name in SHAPES or name.startswith("optimizer."), name
print(f"{len(header)} tensors read")
try:
    import torch
except ImportError:
    sys.exit(0)
body = data[8 + size:]
types = {"F32": torch.float32, "I64": torch.int64}
state = {}
for name in SHAPES:
    e = header[name]
    piece = bytearray(body[slice(*e["data_offsets"])])
    state[name] = torch.frombuffer(piece, dtype=types[e["dtype"]]).reshape(e["shape"])
nn = torch.nn
net = nn.ModuleDict({"conv1": nn.Conv2d(1, 10, 5), "bn1": nn.BatchNorm2d(10),
                     "conv2": nn.Conv2d(10, 20, 5), "bn2": nn.BatchNorm2d(20),
                     "fc1": nn.Linear(320, 50), "fc2": nn.Linear(50, 10)})
net.load_state_dict(state)
print("loaded into PyTorch by name")
