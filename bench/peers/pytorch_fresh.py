# SPDX-License-Identifier: Apache-2.0
"""The networks of bench/networks/timed_fresh.c in PyTorch, for pytorch_networks.py."""
import torch
import torch.nn.functional as F
from torch import nn

from pytorch_net import WIDTH, Net


def unit(i, o, window=3, stride=1, groups=1):
    return nn.Sequential(nn.Conv2d(i, o, window, stride, window // 2, groups=groups, bias=False), nn.BatchNorm2d(o))


def layers(count, make):
    return nn.ModuleList(make(i) for i in range(count))


# ---- images ----------------------------------------------------------------------------------------

class Shuffle(Net):
    shape = (64, 3, 32, 32)

    def __init__(self):
        super().__init__()
        self.stem, self.head = unit(3, 64, stride=2), nn.Linear(64, 10)
        self.into, self.out = (layers(6, lambda i: unit(64, 64, 1, groups=4)) for _ in range(2))
        self.each = layers(6, lambda i: unit(64, 64, groups=64))

    def forward(self, x):
        x = F.relu(self.stem(x))
        for into, each, out in zip(self.into, self.each, self.out):
            h = F.relu(into(x))
            h = h.reshape(h.shape[0], 4, 16, *h.shape[2:]).transpose(1, 2).reshape(h.shape)
            x = F.relu(x + out(each(h)))
        return self.head(x.mean((2, 3)))


class Inception(Net):
    shape = (64, 3, 32, 32)

    def __init__(self):
        super().__init__()
        def sides(first, *window):
            return layers(4, lambda i: nn.Sequential(unit(88 if i else 48, first, 1), nn.ReLU(), *(make() for make in window)))
        self.stem, self.head = unit(3, 48), nn.Linear(88, 10)
        self.one, self.pool = sides(24), sides(16)
        self.three = sides(16, lambda: unit(16, 32), nn.ReLU)
        self.five = sides(8, lambda: unit(8, 16, 5), nn.ReLU)

    def forward(self, x):
        x = F.relu(self.stem(x))
        for i in range(4):
            x = torch.cat([self.one[i](x), self.three[i](x), self.five[i](x), self.pool[i](F.max_pool2d(x, 3, 1, 1))], 1)
            if i == 1:
                x = F.max_pool2d(x, 2)
        return self.head(x.mean((2, 3)))


class ConvLstm(Net):
    shape = (16, 8, 1, 32, 32)

    def __init__(self):
        super().__init__()
        self.cell, self.head = nn.Conv2d(33, 128, 3, padding=1), nn.Linear(32, 10)

    def forward(self, x):
        h = c = x.new_zeros(x.shape[0], 32, *x.shape[3:])
        for t in range(x.shape[1]):
            i, f, o, g = self.cell(torch.cat([x[:, t], h], 1)).chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        return self.head(h.mean((2, 3)))


# ---- rows ------------------------------------------------------------------------------------------

class Flow(Net):
    shape = (512, 64)

    def __init__(self):
        super().__init__()
        self.inner = layers(6, lambda i: nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU()))
        self.scale, self.move = (layers(6, lambda i: nn.Linear(128, 32)) for _ in range(2))
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        for inner, scale, move in zip(self.inner, self.scale, self.move):
            a, b = x.chunk(2, 1)
            h = inner(a)
            x = torch.cat([b * scale(h).tanh().exp() + move(h), a], 1)
        return self.head(x)


class LinearAttention(Net):
    shape = (32, 128, WIDTH)

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = (layers(3, lambda i: nn.LayerNorm(WIDTH)) for _ in range(2))
        self.queries, self.keys, self.values, self.out = (layers(3, lambda i: nn.Linear(WIDTH, WIDTH)) for _ in range(4))
        self.after = layers(3, lambda i: nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH)))
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, x):
        def heads(y):
            return y.reshape(*y.shape[:2], 4, -1).transpose(1, 2)
        for i in range(3):
            h = self.norm1[i](x)
            q, k = (F.elu(heads(of[i](h))) + 1 for of in (self.queries, self.keys))
            h = q @ (k.transpose(2, 3) @ heads(self.values[i](h))) / (q @ k.sum(2, keepdim=True).transpose(2, 3))
            x = x + self.out[i](h.transpose(1, 2).reshape(x.shape))
            x = x + self.after[i](self.norm2[i](x))
        return self.head(x.mean(1))


class Radial(Net):
    shape = (256, 64)

    def __init__(self):
        super().__init__()
        self.centers = nn.ParameterList(nn.Parameter(torch.randn(1, 128, 64)) for _ in range(2))
        self.out, self.head = layers(2, lambda i: nn.Linear(128, 64)), nn.Linear(64, 10)

    def forward(self, x):
        for centers, out in zip(self.centers, self.out):
            x = out(torch.exp(-0.01 * (x[:, None] - centers).square().sum(2)))
        return self.head(x)


class Contrast(Net):
    shape = (256, 784)

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, WIDTH))

    def forward(self, x):
        x = self.net(x)
        x = x / (x.square().sum(1, keepdim=True) + 1e-6).sqrt()
        return x @ x.T * 10


NETWORKS = {"shuffle": Shuffle, "inception": Inception, "convlstm": ConvLstm, "flow": Flow,
            "linear-attention": LinearAttention, "radial": Radial, "contrast": Contrast}
