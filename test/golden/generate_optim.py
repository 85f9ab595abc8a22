#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes optim.safetensors: five steps of each optimizer on a small vector, the running statistics
of a batch norm and a clipped gradient, as PyTorch computes them, for golden_optim_test.c.

Run in this folder with a Python that has PyTorch (made with 1.13, CPU).
"""
import torch

from generate import HERE, save

STEPS, SIZE = 5, 7


def vectors():
    """Start, curvature and targets: the targets stay so far off that no gradient nears zero."""
    start = torch.rand(SIZE) * 2 - 1
    curvature = torch.rand(SIZE) + 0.5
    sign = torch.where(torch.rand(SIZE) < 0.5, -1.0, 1.0)
    target = (3 + torch.rand(STEPS, SIZE)) * sign
    return start, curvature, target


def trajectory(out, name, make):
    start, curvature, target = out["start"], out["curvature"], out["target"]
    p = start.clone().requires_grad_()
    optimizer = make([p])
    path = []
    for step in range(STEPS):
        optimizer.zero_grad()
        (curvature * (p - target[step]) ** 2).sum().backward()
        optimizer.step()
        path.append(p.detach().clone())
    out[f"{name}.path"] = torch.stack(path)


def optimizers(out):
    sgd, adam, adamw = torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW
    lr = 0.0625
    trajectory(out, "sgd", lambda p: sgd(p, lr=lr))
    trajectory(out, "sgd_momentum", lambda p: sgd(p, lr=lr, momentum=0.5))
    trajectory(out, "sgd_dampening", lambda p: sgd(p, lr=lr, momentum=0.5, dampening=0.25))
    trajectory(out, "sgd_decay", lambda p: sgd(p, lr=lr, momentum=0.5, weight_decay=0.125))
    trajectory(out, "sgd_nesterov",
               lambda p: sgd(p, lr=lr, momentum=0.5, weight_decay=0.125, nesterov=True))
    trajectory(out, "adam", lambda p: adam(p, lr=lr))
    trajectory(out, "adam_decay", lambda p: adam(p, lr=lr, weight_decay=0.125))
    trajectory(out, "adamw", lambda p: adamw(p, lr=lr))
    trajectory(out, "adamw_decay", lambda p: adamw(p, lr=lr, betas=(0.5, 0.75), weight_decay=0.125))


def clip(out):
    p = out["start"].clone().requires_grad_()
    (out["curvature"] * (p - out["target"][0]) ** 2).sum().backward()
    out["clip.norm"] = torch.nn.utils.clip_grad_norm_([p], 1.0)
    out["clip.grad"] = p.grad


def batch_norm(out):
    layer = torch.nn.BatchNorm2d(3)
    x = torch.rand(4, 5, 3, 4, 4) * 4 - 2
    for step in range(3):
        layer(x[step])
    layer.eval()
    out["bn.x"] = x
    out["bn.mean"] = layer.running_mean
    out["bn.var"] = layer.running_var
    out["bn.y"] = layer(x[3]).detach()


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(11)
    OUT = dict(zip(("start", "curvature", "target"), vectors()))
    optimizers(OUT)
    clip(OUT)
    batch_norm(OUT)
    save(HERE / "optim.safetensors", OUT)
