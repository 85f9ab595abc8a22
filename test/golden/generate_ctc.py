#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes ctc.safetensors: CTC losses of soft-maxima as PyTorch computes them in double, and their gradients, for
ctc_test.c.

Run in this folder with a Python that has PyTorch (made with 2.15, CPU).
"""
import torch
import torch.nn.functional as F

from generate import HERE, save

STEPS, SAMPLES, CLASSES, LABELS = 8, 5, 4, 3


def case(out, name, reduction, blank=0, input_lengths=None, target_lengths=None, zero_infinity=False):
    torch.manual_seed(len(out) + 1)
    x = (2 * torch.randn(STEPS, SAMPLES, CLASSES)).requires_grad_()
    labels = [k for k in range(CLASSES) if k != blank]
    target = torch.tensor(labels)[torch.randint(0, CLASSES - 1, (SAMPLES, LABELS))]
    target[1] = labels[1]  # equal neighbours
    lengths = [torch.tensor(input_lengths or [STEPS] * SAMPLES), torch.tensor(target_lengths or [LABELS] * SAMPLES)]

    def loss(zero):
        return F.ctc_loss(F.log_softmax(x, 2), target, *lengths, blank, reduction, zero)

    y, w = loss(zero_infinity), torch.rand(loss(True).shape) + 0.5
    (w * loss(True)).sum().backward()  # of what is infinite PyTorch's gradient is NaN
    out[name + ".x"], out[name + ".y"], out[name + ".w"], out[name + ".g"] = x, y, w, x.grad
    out[name + ".target"] = target.int()
    if input_lengths:
        out[name + ".input"], out[name + ".labels"] = (k.int() for k in lengths)


def main():
    out = {}
    case(out, "mean", "mean")
    case(out, "sum", "sum", 2, [8, 7, 3, 2, 0], [3, 2, 3, 3, 0], True)
    case(out, "none", "none", 3, [8, 4, 2, 1, 5], [2, 3, 0, 1, 3])
    save(HERE / "ctc.safetensors", out)


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    main()
