# SPDX-License-Identifier: Apache-2.0
"""What the networks of pytorch_networks.py and the files beside it are made of."""
import torch
import torch.nn.functional as F
from torch import nn

import measure

WIDTH = 128


class Net(nn.Module):
    """Rows or images at random, ten classes, unless a network says otherwise. `shape` is a batch's."""
    shape, clip = (128, 784), 0.0

    def batch(self, n):
        return torch.rand(n, *self.shape[1:]), torch.tensor(measure.labels(n))

    def loss(self, x, y):
        return F.cross_entropy(self(x), y)

    def optimizer(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


class AdamW(Net):
    def optimizer(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


class Block(nn.Module):
    def __init__(self, causal, width=WIDTH, heads=4):
        super().__init__()
        self.causal, self.heads = causal, heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attention(self, x, seen):
        n, t, width = x.shape
        parts = self.qkv(x).reshape(n, t, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        if hasattr(F, "scaled_dot_product_attention"):
            y = F.scaled_dot_product_attention(*parts, attn_mask=seen, is_causal=self.causal)
        else:
            q, k, v = parts
            scores = q @ k.transpose(2, 3) * q.shape[3] ** -0.5
            if self.causal:
                scores = scores.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), -torch.inf)
            if seen is not None:
                scores = scores.masked_fill(~seen, -torch.inf)
            y = scores.softmax(3) @ v
        return self.out(y.transpose(1, 2).reshape(x.shape))

    def forward(self, x, seen=None):  # which keys; None: all
        x = x + self.attention(self.norm1(x), seen)
        return x + self.down(F.gelu(self.up(self.norm2(x))))
