#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes calls.safetensors: optimizers over steps in which some parameters have no gradient, gradients
are kept for later steps, or clipped before more are added, as PyTorch computes them in double, for
optim_test.c. The calls are those of test/support/optim_oracle.c.

Run in this folder with a Python that has PyTorch (made with 2.15, CPU).
"""
import torch

from generate import HERE, save

SIZES = (3, 18, 1)
CALLS = ("as", "as", "cs", "bs", "cu", "as", "cks", "cks", "au", "bs", "ckas", "cs")
MASKS = {"a": (0,), "b": (1,), "c": (0, 1, 2)}


def start(k):
    return torch.tensor([0.125 * ((5 * i + 3 * k) % 16) - 1 for i in range(SIZES[k])])


def slope(k):
    return torch.tensor([(1 + 0.0625 * (i % 16)) * (-1 if (i + k) % 3 == 0 else 1)
                         for i in range(SIZES[k])])


def trajectory(make):
    p = [start(k).requires_grad_() for k in range(len(SIZES))]
    optimizer = make(p)
    path = []
    for step, calls in enumerate(CALLS):
        scale = 2.0 ** (step % 3 - 1)
        for c in calls:
            if c in MASKS:
                loss = sum((slope(k) * p[k] + p[k] ** 2 / 128).sum() for k in MASKS[c])
                (scale * loss).backward()
            elif c == "k":
                torch.nn.utils.clip_grad_norm_(p, 1.0)
            elif c == "s":
                optimizer.step()
                optimizer.zero_grad()
        path.append(torch.cat([x.detach() for x in p]))
    return torch.stack(path).float()


def schedule(make):
    """The learning rate of each step."""
    optimizer = torch.optim.SGD([torch.zeros(1)], lr=0.5)
    scheduler = make(optimizer)
    rates = []
    for _ in range(9):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return torch.tensor(rates).float()


def main():
    schedules = torch.optim.lr_scheduler
    sgd, adam, adamw = torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW
    lr = 0.0625
    save(HERE / "calls.safetensors", {
        "sgd": trajectory(lambda p: sgd(p, lr=lr, momentum=0.5)),
        "sgd_dampening": trajectory(lambda p: sgd(p, lr=lr, momentum=0.5, dampening=0.25)),
        "adam": trajectory(lambda p: adam(p, lr=lr)),
        "adam_decay": trajectory(lambda p: adam(p, lr=lr, weight_decay=0.125)),
        "adamw": trajectory(lambda p: adamw(p, lr=lr, weight_decay=0.125)),
        "lr_step": schedule(lambda o: schedules.StepLR(o, 3, 0.25)),
        "lr_cosine": schedule(lambda o: schedules.CosineAnnealingLR(o, 8, 0.125)),
        "lr_warmup": schedule(lambda o: schedules.LinearLR(o, 1 / 5, 1, 4)),
    })


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    main()
