#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes double.safetensors: five steps of each optimizer, and the training of a small network, all in float64 as
PyTorch computes it, for golden_double_test.c. Settings are decimals that float32 does not hold.

Run in this folder with a Python that has PyTorch (made with 1.13, CPU).
"""
import torch
import torch.nn.functional as F

from generate import HERE, save
from generate_optim import Adafactor, Lion, trajectory, vectors

STEPS, BATCH = 6, 8


def optimizers(out):
    optim = torch.optim
    trajectory(out, "sgd", lambda p: optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01))
    trajectory(out, "dampened", lambda p: optim.SGD(p, lr=0.1, momentum=0.7, dampening=0.3))
    trajectory(out, "adam", lambda p: optim.Adam(p, lr=0.1, weight_decay=0.01))
    trajectory(out, "adamw", lambda p: optim.AdamW(p, lr=0.1, betas=(0.8, 0.9), eps=1e-6, weight_decay=0.3))
    trajectory(out, "rmsprop", lambda p: optim.RMSprop(p, lr=0.01, alpha=0.9, momentum=0.3, centered=True))
    trajectory(out, "lion", lambda p: Lion(p, lr=0.1, weight_decay=0.3))
    trajectory(out, "adafactor", lambda p: Adafactor(p, lr=0.3))


def network(out):
    """A convolution, a batch norm, a pool and a linear layer; clipped gradients."""
    conv, norm, fc = torch.nn.Conv2d(1, 3, 3, padding=1), torch.nn.BatchNorm2d(3), torch.nn.Linear(27, 4)
    net = torch.nn.ModuleDict({"conv": conv, "norm": norm, "fc": fc})
    out.update({f"first.{k}": v.clone() for k, v in net.state_dict().items() if v.dim() > 0})
    out["x"] = torch.rand(STEPS, BATCH, 1, 6, 6) * 2 - 1
    out["labels"] = torch.randint(0, 4, (STEPS, BATCH))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01)
    losses, norms = [], []
    for step in range(STEPS):
        optimizer.zero_grad()
        h = F.max_pool2d(F.relu(norm(conv(out["x"][step]))), 2)
        loss = F.cross_entropy(fc(h.flatten(1)), out["labels"][step])
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(net.parameters(), 0.7))
        optimizer.step()
        losses.append(loss.detach())
    out["losses"], out["norms"] = torch.stack(losses), torch.stack(norms)
    out.update({f"last.{k}": v for k, v in net.state_dict().items() if v.dim() > 0})


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(64)
    torch.set_default_dtype(torch.float64)
    OUT = {}
    OUT["start"], OUT["curvature"], OUT["target"] = vectors()
    optimizers(OUT)
    network(OUT)
    save(HERE / "double.safetensors", OUT)
