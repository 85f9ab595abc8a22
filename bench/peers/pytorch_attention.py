#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Causal attention in PyTorch on the CPU as bench/attend.c has it: alone and with its gradients."""
import argparse
import statistics
import time

import torch

WARM, CALLS = 3, 21
p = argparse.ArgumentParser(description=__doc__)
for name in ("samples", "heads", "rows", "features"):
    p.add_argument(name, type=int)
p.add_argument("--threads", type=int, default=2)
o = p.parse_args()
torch.set_num_threads(o.threads)
shape = (o.samples, o.rows, o.heads * o.features)


def step(x, g):
    q, k, v = (t.view(o.samples, o.rows, o.heads, o.features).transpose(1, 2) for t in x)
    y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    joined = y.transpose(1, 2).reshape(shape)
    if x[0].requires_grad:
        torch.autograd.grad((joined * g).sum(), x)


for gradients in (False, True):
    x = [torch.rand(shape).sub_(0.5).requires_grad_(gradients) for _ in range(3)]
    g = torch.rand(shape).sub_(0.5)
    ms = []
    for _ in range(WARM + CALLS):
        start = time.perf_counter()
        step(x, g)
        ms.append(1e3 * (time.perf_counter() - start))
    ms = ms[WARM:]
    print(f"{'with gradients' if gradients else 'forward'}: median {statistics.median(ms):.3f} ms, "
          f"least {min(ms):.3f}, most {max(ms):.3f}")
