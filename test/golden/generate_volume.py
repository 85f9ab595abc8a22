#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes volume.safetensors: networks of convolutions, transposed ones and pools of one, two and three axes, as
PyTorch computes them in float64: results, gradients, second gradients and statistics, for volume_test.c.

Run in this folder with a Python that has PyTorch (made with 2.15, CPU).
"""
import torch
import torch.nn.functional as F
from torch import nn

from generate import HERE, save

OUT = {}


def ramp(shape, k):
    count = torch.Size(shape).numel()
    return torch.tensor([((37 * i + 11 * k) % 101) / 50 - 1 for i in range(count)]).reshape(shape)


class Volume(nn.Module):
    shape = (3, 4, 5, 6, 7)

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv3d(4, 4, (3, 2, 3), (1, 2, 1), (1, 0, 1), (1, 1, 2), 2)
        self.norm = nn.BatchNorm3d(4, torch.tensor(1e-5, dtype=torch.float32).item())  # what a float has
        self.up = nn.ConvTranspose3d(4, 3, (2, 3, 2), (2, 1, 2), (0, 1, 1), (1, 0, 1), bias=False)

    def forward(self, x):
        x = F.max_pool3d(torch.tanh(self.norm(self.conv(x))), 2, ceil_mode=True)
        return F.avg_pool3d(self.up(x), (3, 2, 2), (2, 1, 2), 1, True, False)


class Line(nn.Module):
    shape = (3, 4, 9)

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(4, 6, 3, 1, 1, bias=False)
        self.up = nn.ConvTranspose1d(6, 4, 4, 3, 1, 1, 2, dilation=2)

    def forward(self, x):
        x = F.max_pool1d(torch.tanh(self.conv(x)), 3, 2, 1, 2)
        return F.avg_pool1d(self.up(x), 3, 2, 1, True)


class Image(nn.Module):
    shape = (3, 2, 5, 7)

    def __init__(self):
        super().__init__()
        self.up = nn.ConvTranspose2d(2, 3, (3, 2), 2, bias=False)

    def forward(self, x):
        x = F.adaptive_max_pool2d(torch.tanh(self.up(x)), (4, 5))
        return F.adaptive_avg_pool2d(x, (3, 7))


def run(net):
    name = type(net).__name__.lower()
    for k, p in enumerate(net.parameters()):
        p.data = ramp(p.shape, k + 1)
    x = ramp(net.shape, 0).requires_grad_()
    y = net(x)
    loss = (ramp(y.shape, 5) * y * y).sum()
    wanted = [x, *net.parameters()]
    first = torch.autograd.grad(loss, wanted, create_graph=True)
    OUT[f"{name}.y"] = y
    parts = ["x", *dict(net.named_parameters())]
    OUT.update({f"{name}.first.{part}": g for part, g in zip(parts, first)})
    if not isinstance(net, Volume):  # a norm's take long to compile
        second = torch.autograd.grad((first[0] ** 2).sum(), wanted)
        OUT.update({f"{name}.second.{part}": g for part, g in zip(parts, second)})
    for part, buffer in net.named_buffers():
        OUT[f"{name}.after.{part}"] = buffer.double()
    net.eval()
    OUT[f"{name}.evaluated"] = net(x)


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    for kind in (Volume, Line, Image):
        run(kind())
    save(HERE / "volume.safetensors", OUT)
