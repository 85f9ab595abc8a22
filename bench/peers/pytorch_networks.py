#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the steps of bench/networks in PyTorch, on the CPU or with --cuda on a GPU; prints one JSON object."""
import argparse
import json
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

import measure
import pytorch_depth
import pytorch_fresh
import pytorch_later
import pytorch_memory
import pytorch_odd
import pytorch_others
import pytorch_scenes
from pytorch_net import WIDTH, AdamW, Block, Net

CONTEXT = 64


class Images(Net):
    shape = (128, 3, 32, 32)

    def optimizer(self):
        return torch.optim.SGD(self.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)


# ---- images ----------------------------------------------------------------------------------------

class Mnist(Net):
    shape = (128, 1, 28, 28)

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, 10, 5), nn.MaxPool2d(2), nn.ReLU(), nn.BatchNorm2d(10),
                                 nn.Conv2d(10, 20, 5), nn.MaxPool2d(2), nn.ReLU(), nn.BatchNorm2d(20),
                                 nn.Flatten(), nn.Linear(320, 50), nn.ReLU(), nn.Linear(50, 10))

    def forward(self, x):
        return self.net(x)

    def optimizer(self):
        return torch.optim.SGD(self.parameters(), lr=0.01, momentum=0.5)


def unit(i, o, stride, window=3, groups=1):
    return nn.Sequential(nn.Conv2d(i, o, window, stride, window // 2, groups=groups, bias=False), nn.BatchNorm2d(o))


class Resnet(Images):
    def __init__(self):
        super().__init__()
        self.stem = unit(3, 16, 1)
        widths = [(16 << max(i - 1, 0) // 3, 16 << i // 3) for i in range(9)]
        self.first = nn.ModuleList(unit(i, o, o // i) for i, o in widths)
        self.second = nn.ModuleList(unit(o, o, 1) for _, o in widths)
        self.fc = nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu(self.stem(x))
        for first, second in zip(self.first, self.second):
            h = second(F.relu(first(x)))
            more = (h.shape[1] - x.shape[1]) // 2
            if more:
                x = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, more, more))
            x = F.relu(h + x)
        return self.fc(x.mean((2, 3)))


class Depthwise(Images):
    def __init__(self):
        super().__init__()
        units = [unit(3, 32, 1)]
        for i, o, stride in (32, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2):
            units += [unit(i, i, stride, groups=i), unit(i, o, 1, 1)]
        self.units, self.fc = nn.Sequential(*(nn.Sequential(u, nn.ReLU6()) for u in units)), nn.Linear(256, 10)

    def forward(self, x):
        return self.fc(self.units(x).mean((2, 3)))


def same(i, o, stride=1):
    return nn.Conv2d(i, o, 3, stride, 1)


class Unet(Net):
    shape = (16, 3, 64, 64)

    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.bottom = same(3, 16), same(16, 32), same(32, 64)
        self.up2, self.up1, self.head = same(96, 32), same(48, 16), nn.Conv2d(16, 10, 1)

    def batch(self, n):
        return torch.rand(n, 3, 64, 64), torch.tensor(measure.labels(n * 64 * 64)).reshape(n, 64, 64)

    def forward(self, x):
        a = F.relu(self.down1(x))
        b = F.relu(self.down2(F.max_pool2d(a, 2)))
        c = F.relu(self.bottom(F.max_pool2d(b, 2)))
        d = F.relu(self.up2(torch.cat([F.interpolate(c, scale_factor=2), b], 1)))
        return self.head(F.relu(self.up1(torch.cat([F.interpolate(d, scale_factor=2), a], 1))))


class Vae(Net):
    shape = (128, 1, 28, 28)

    def __init__(self):
        super().__init__()
        self.down1, self.down2 = same(1, 32, 2), same(32, 64, 2)
        self.mean, self.spread, self.wide = nn.Linear(3136, 16), nn.Linear(3136, 16), nn.Linear(16, 3136)
        self.up1, self.up2 = same(64, 32), same(32, 1)

    def encode(self, x):
        h = F.relu(self.down2(F.relu(self.down1(x)))).flatten(1)
        return self.mean(h), self.spread(h)

    def decode(self, z):
        h = F.interpolate(F.relu(self.wide(z)).reshape(-1, 64, 7, 7), scale_factor=2)
        return self.up2(F.interpolate(F.relu(self.up1(h)), scale_factor=2))

    def forward(self, x):
        return self.decode(self.encode(x)[0])

    def loss(self, x, y):
        mean, spread = self.encode(x)
        back = self.decode(mean + torch.exp(0.5 * spread) * torch.randn_like(mean))
        return (784 * F.binary_cross_entropy_with_logits(back, x)
                + 8 * (mean ** 2 + spread.exp() - spread - 1).mean())


# ---- rows ------------------------------------------------------------------------------------------

class Mlp(AdamW):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(784, 1024), nn.Linear(1024, 1024), nn.Linear(1024, 10)

    def forward(self, x):
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


class Transformer(AdamW):
    def __init__(self, causal, width=WIDTH, heads=4):
        super().__init__()
        self.blocks, self.norm = nn.Sequential(*(Block(causal, width, heads) for _ in range(4))), nn.LayerNorm(width)


class Gpt(Transformer):
    shape, V = (32, CONTEXT), 65

    def __init__(self):
        super().__init__(causal=True)
        self.words, self.places = nn.Embedding(self.V, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.head = nn.Linear(WIDTH, self.V, bias=False)

    def batch(self, n):
        x = torch.tensor(measure.labels(n * CONTEXT, self.V))
        return x.reshape(n, CONTEXT), x

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.words(x) + self.places.weight))).flatten(0, 1)


class Gpt8192(Gpt):
    V = 8192


class Vit(Transformer):
    shape = (64, 3, 32, 32)
    patch, width, heads, classes = 4, WIDTH, 4, 10

    def __init__(self):
        super().__init__(False, self.width, self.heads)
        tokens = 1 + (self.shape[2] // self.patch) * (self.shape[3] // self.patch)
        self.patches = nn.Conv2d(3, self.width, self.patch, self.patch)
        self.first, self.places = (nn.Parameter(0.02 * torch.randn(n, self.width)) for n in (1, tokens))
        self.head = nn.Linear(self.width, self.classes)

    def batch(self, n):
        return torch.rand(n, *self.shape[1:]), torch.tensor(measure.labels(n, self.classes))

    def forward(self, x):
        cut = self.patches(x).flatten(2).transpose(1, 2)
        h = torch.cat([self.first.expand(len(x), 1, self.width), cut], 1) + self.places
        return self.head(self.norm(self.blocks(h))[:, 0])


class PhotoTokens(Vit):
    """Of timed_odd.c; the others of that file are in pytorch_odd.py."""
    shape = (8, 3, 224, 224)
    patch, width, heads, classes = 16, 192, 3, 101


class Recurrent(Net):
    shape, clip = (128, 28, 28), 1.0
    layer = nn.LSTM

    def __init__(self):
        super().__init__()
        self.rows, self.head = self.layer(28, 128, batch_first=True), nn.Linear(128, 10)

    def forward(self, x):
        return self.head(self.rows(x)[0][:, -1])


class Gru(Recurrent):
    layer = nn.GRU


# ---- others, as in timed_more.c ------------------------------------------------------------------------

class ConvNextBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.each, self.norm = nn.Conv2d(width, width, 7, padding=3, groups=width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        h = self.norm(self.each(x).permute(0, 2, 3, 1))
        return x + self.down(F.gelu(self.up(h))).permute(0, 3, 1, 2)


class ConvNext(AdamW):
    shape = (64, 3, 32, 32)

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 48, 2, 2), ConvNextBlock(48), ConvNextBlock(48), nn.Conv2d(48, 96, 2, 2),
                                 ConvNextBlock(96), ConvNextBlock(96))
        self.fc = nn.Linear(96, 10)

    def forward(self, x):
        return self.fc(self.net(x).mean((2, 3)))


class MixerBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(128), nn.LayerNorm(128)
        self.across = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64))
        self.along = nn.Sequential(nn.Linear(128, 512), nn.GELU(), nn.Linear(512, 128))

    def forward(self, x):
        x = x + self.across(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.along(self.norm2(x))


class Mixer(AdamW):
    shape = (64, 3, 32, 32)

    def __init__(self):
        super().__init__()
        self.patches, self.blocks = nn.Conv2d(3, 128, 4, 4), nn.Sequential(*(MixerBlock() for _ in range(4)))
        self.norm, self.head = nn.LayerNorm(128), nn.Linear(128, 10)

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.patches(x).flatten(2).transpose(1, 2))).mean(1))


class Vgg(Images):
    shape = (64, 3, 32, 32)

    def __init__(self):
        super().__init__()
        layers, last = [], 3
        for width in 64, 64, 0, 128, 128, 0, 256, 256, 0:
            layers += [same(last, width), nn.ReLU()] if width else [nn.MaxPool2d(2)]
            last = width or last
        self.net = nn.Sequential(*layers, nn.Flatten(), nn.Linear(4096, 512), nn.ReLU(), nn.Dropout(), nn.Linear(512, 10))

    def forward(self, x):
        return self.net(x)


class Densenet(Images):
    shape = (64, 3, 32, 32)

    def __init__(self):
        super().__init__()
        self.stem, self.norms, self.more, width = same(3, 24), nn.ModuleList(), nn.ModuleList(), 24
        for i in range(12):
            self.norms.append(nn.BatchNorm2d(width))
            out = 12 * i // 4 + 24 if i in (4, 8) else 12
            self.more.append(nn.Conv2d(width, out, 1) if i in (4, 8) else same(width, out))
            width = out if i in (4, 8) else width + out
        self.norm, self.fc = nn.BatchNorm2d(width), nn.Linear(width, 10)

    def forward(self, x):
        x = self.stem(x)
        for i, (norm, more) in enumerate(zip(self.norms, self.more)):
            h = more(F.relu(norm(x)))
            x = F.avg_pool2d(h, 2) if i in (4, 8) else torch.cat([x, h], 1)
        return self.fc(F.relu(self.norm(x)).mean((2, 3)))


class SqueezeBlock(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        wide = 4 * i
        self.up = nn.Sequential(nn.Conv2d(i, wide, 1), nn.GroupNorm(8, wide), nn.Hardswish())
        self.each = nn.Sequential(nn.Conv2d(wide, wide, 5, o // i, 2, groups=wide), nn.GroupNorm(8, wide), nn.Hardswish())
        self.gate = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(wide, wide // 4, 1), nn.ReLU(),
                                  nn.Conv2d(wide // 4, wide, 1), nn.Sigmoid())
        self.down, self.adds = nn.Sequential(nn.Conv2d(wide, o, 1), nn.GroupNorm(4, o)), i == o

    def forward(self, x):
        h = self.each(self.up(x))
        h = self.down(h * self.gate(h))
        return x + h if self.adds else h


class Squeeze(Images):
    shape = (64, 3, 32, 32)

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(same(3, 16), nn.GroupNorm(4, 16), nn.Hardswish(),
                                 *(SqueezeBlock(16 << (i + 1) // 2, 16 << (i + 2) // 2) for i in range(4)))
        self.fc = nn.Linear(64, 10)

    def forward(self, x):
        return self.fc(self.net(x).mean((2, 3)))


class Wavenet(Net):
    shape, NOTES = (16, 256), 256

    def __init__(self):
        super().__init__()
        self.notes = nn.Embedding(self.NOTES, 32)
        self.both = nn.ModuleList(nn.Conv1d(32, 64, 2, dilation=1 << i) for i in range(6))
        self.skip, self.out = (nn.ModuleList(nn.Conv1d(32, o, 1) for _ in range(6)) for o in (64, 32))
        self.head = nn.Sequential(nn.ReLU(), nn.Conv1d(64, 64, 1), nn.ReLU(), nn.Conv1d(64, self.NOTES, 1))

    def batch(self, n):
        x = torch.tensor(measure.labels(n * 256, self.NOTES))
        return x.reshape(n, 256), x

    def forward(self, x):
        x, total = self.notes(x).transpose(1, 2), 0
        for i, (both, skip, out) in enumerate(zip(self.both, self.skip, self.out)):
            a, b = both(F.pad(x, (1 << i, 0))).split(32, 1)
            gated = torch.tanh(a) * torch.sigmoid(b)
            total, x = total + skip(gated), x + out(gated)
        return self.head(total).transpose(1, 2).flatten(0, 1)


class Translate(Net):
    shape, clip, WORDS, STATE = (64, 16), 1.0, 500, 96

    def __init__(self):
        super().__init__()
        w = self.STATE
        self.words, self.reader = nn.Embedding(self.WORDS, w), nn.GRU(w, w, batch_first=True)
        self.keys, self.query, self.energy = (nn.Linear(w, o, bias=False) for o in (w, w, 1))
        self.inner, self.state, self.head = nn.Linear(2 * w, 2 * w), nn.Linear(w, 2 * w, bias=False), nn.Linear(w, self.WORDS)

    def batch(self, n):
        x = torch.tensor(measure.labels(n * 16, self.WORDS))
        return x.reshape(n, 16), x

    def forward(self, x):
        words = self.words(x)
        memory = self.reader(words)[0]
        keys, h, all_h = self.keys(memory), memory[:, -1], []
        for i in range(x.shape[1]):
            score = self.energy(torch.tanh(keys + self.query(h)[:, None]))
            seen = (score.softmax(1).transpose(1, 2) @ memory)[:, 0]
            keep, new = (self.inner(torch.cat([words[:, i], seen], 1)) + self.state(h)).chunk(2, 1)
            keep = torch.sigmoid(keep)
            h = keep * h + (1 - keep) * torch.tanh(new)
            all_h.append(h)
        return self.head(torch.stack(all_h, 1)).flatten(0, 1)


class Recommend(Images):
    shape, TABLES, ROWS = (512, 16), 16, 2000

    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(self.ROWS, 32) for _ in range(self.TABLES))
        self.low = nn.Sequential(nn.Linear(13, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.high = nn.Sequential(nn.Linear(17 * 17 + 32, 256), nn.ReLU(), nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 2))

    def batch(self, n):
        return torch.tensor(measure.labels(n * 16, self.ROWS)).reshape(n, 16), torch.tensor(measure.labels(n, 2))

    def forward(self, x):
        dense = self.low(x[:, :13].float() / self.ROWS)
        every = torch.stack([*(table(x[:, i]) for i, table in enumerate(self.tables)), dense], 1)
        return self.high(torch.cat([(every @ every.transpose(1, 2)).flatten(1), dense], 1))


class Graph(Net):
    shape, EDGES_EACH = (2048, 64), 4

    def __init__(self):
        super().__init__()
        self.far, self.own = (nn.ModuleList(nn.Linear(i, 128) for i in (64, 128)) for _ in range(2))
        self.head = nn.Linear(128, 10)

    def batch(self, n):
        edge = torch.arange(self.EDGES_EACH * n)
        self.far_end, self.near_end = edge * 7919 % n, (edge * 31 + 17) % n
        return super().batch(n)

    def forward(self, x):
        for far, own in zip(self.far, self.own):
            x = F.relu(own(x).index_add(0, self.near_end, far(x)[self.far_end]))
        return self.head(x)


class ExpertLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale, self.gate = nn.Parameter(torch.ones(128)), nn.Linear(128, 8)
        self.up, self.down = (nn.Parameter(0.05 * torch.randn(8, i, o)) for i, o in ((128, 256), (256, 128)))

    def forward(self, x):
        h = x * (x.square().mean(1, keepdim=True) + 1.2e-7).rsqrt() * self.scale
        score = self.gate(h)
        weight = score.masked_fill(score < score.topk(2, 1).values[:, 1:], -1e9).softmax(1)
        out = torch.einsum("enh,ehd->end", F.silu(torch.einsum("nd,edh->enh", h, self.up)), self.down)
        return x + torch.einsum("ne,end->nd", weight, out)


class Experts(AdamW):
    shape = (512, 64)

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 128), ExpertLayer(), ExpertLayer(), nn.Linear(128, 10))

    def forward(self, x):
        return self.net(x)


# ---- further kinds ---------------------------------------------------------------------------------

class Swin(AdamW):
    shape = (32, 3, 32, 32)

    def __init__(self):
        super().__init__()
        self.patches, self.norm, self.head = nn.Conv2d(3, 64, 2, 2), nn.LayerNorm(64), nn.Linear(64, 10)
        self.norm1 = nn.ModuleList(nn.LayerNorm(64) for _ in range(4))
        self.inputs = nn.ModuleList(nn.Linear(64, 192) for _ in range(4))
        self.outputs = nn.ModuleList(nn.Linear(64, 64) for _ in range(4))
        self.after = nn.ModuleList(nn.Sequential(nn.LayerNorm(64), nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64))
                                   for _ in range(4))

    def forward(self, x):
        x = self.patches(x).permute(0, 2, 3, 1)
        n, side, _, width = x.shape
        many = side // 4
        for i in range(4):
            by = i % 2 * 2
            h = self.norm1[i](x).roll((-by, -by), (1, 2)).reshape(n, many, 4, many, 4, width)
            h = self.inputs[i](h.transpose(2, 3).reshape(-1, 16, width))
            q, k, v = h.reshape(-1, 16, 3, 4, width // 4).permute(2, 0, 3, 1, 4)
            h = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(-1, 16, width)
            h = self.outputs[i](h).reshape(n, many, many, 4, 4, width).transpose(2, 3).reshape(n, side, side, width)
            x = x + h.roll((by, by), (1, 2))
            x = x + self.after[i](x)
        return self.head(self.norm(x).mean((1, 2)))


class ResnextBlock(nn.Module):
    def __init__(self, i, width, stride):
        super().__init__()
        self.net = nn.Sequential(unit(i, width, 1, 1), nn.ReLU(), unit(width, width, stride, 3, 16), nn.ReLU(),
                                 unit(width, 2 * width, 1, 1))
        self.along = unit(i, 2 * width, 2, 1) if stride == 2 else nn.Identity()

    def forward(self, x):
        return F.relu(self.along(x) + self.net(x))


class Resnext(Images):
    shape = (64, 3, 32, 32)

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(unit(3, 32, 1), nn.ReLU(), ResnextBlock(32, 64, 2), ResnextBlock(128, 64, 1),
                                 ResnextBlock(128, 128, 2), ResnextBlock(256, 128, 1))
        self.fc = nn.Linear(256, 10)

    def forward(self, x):
        return self.fc(self.net(x).mean((2, 3)))


class Pointnet(Net):
    shape = (32, 256, 3)

    def __init__(self):
        super().__init__()
        self.each = nn.Sequential(*(layer for i, o in ((3, 64), (64, 128), (128, 512))
                                    for layer in (nn.Conv1d(i, o, 1), nn.BatchNorm1d(o), nn.ReLU())))
        self.head = nn.Sequential(nn.Linear(512, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Dropout(0.3),
                                  nn.Linear(256, 10))

    def forward(self, x):
        return self.head(self.each(x.transpose(1, 2)).amax(2))


class Siren(Net):
    shape = (4096, 3)

    def __init__(self):
        super().__init__()
        self.waves = nn.ModuleList(nn.Linear(3 if i == 0 else 131 if i == 3 else 128, 128) for i in range(6))
        self.out = nn.Linear(128, 10)

    def forward(self, x):
        h = x
        for i, layer in enumerate(self.waves):
            h = torch.sin(layer(torch.cat((h, x), 1) if i == 3 else h))
        return self.out(h)


class Speech(Net):
    shape, clip = (32, 64, 40), 1.0

    def __init__(self):
        super().__init__()
        self.thin, self.head = nn.Conv1d(40, 64, 3, 2, 1), nn.Linear(128, 10)
        self.rows = nn.LSTM(64, 64, 2, batch_first=True, bidirectional=True)

    def batch(self, n):
        return torch.rand(n, *self.shape[1:]), torch.tensor(measure.labels(n * 32))

    def forward(self, x):
        h = F.relu(self.thin(x.transpose(1, 2))).transpose(1, 2)
        return self.head(self.rows(h)[0]).reshape(-1, 10)


# ---- as in timed_large.c -----------------------------------------------------------------------------------

class Resnet18(Images):
    shape = (16, 3, 64, 64)

    def __init__(self):
        super().__init__()
        self.stem, self.blocks, last = unit(3, 64, 1), nn.ModuleList(), 64
        for i in range(8):
            out, stride = 64 << i // 2, 2 if i in (2, 4, 6) else 1
            short = unit(last, out, stride, 1) if stride > 1 else nn.Identity()
            self.blocks.append(nn.ModuleList([unit(last, out, stride), unit(out, out, 1), short]))
            last = out
        self.fc = nn.Linear(512, 10)

    def start(self, x):
        return F.relu(self.stem(x))

    def forward(self, x):
        x = self.start(x)
        for first, second, short in self.blocks:
            x = F.relu(second(F.relu(first(x))) + short(x))
        return self.fc(x.mean((2, 3)))


class Photos(Resnet18):
    shape = (4, 3, 224, 224)

    def __init__(self):
        super().__init__()
        self.stem = unit(3, 64, 2, 7)

    def start(self, x):
        return F.max_pool2d(super().start(x), 3, 2, 1)


class Inverted(Images):
    shape = (32, 3, 96, 96)

    def __init__(self):
        super().__init__()
        self.stem, self.blocks, last = unit(3, 32, 2), nn.ModuleList(), 32
        for out, stride in (16, 1), (24, 2), (24, 1), (32, 2), (32, 1), (64, 2), (64, 1):
            wide = 6 * last
            self.blocks.append(nn.Sequential(unit(last, wide, 1, 1), nn.ReLU6(), unit(wide, wide, stride, groups=wide),
                                             nn.ReLU6(), unit(wide, out, 1, 1)))
            last = out
        self.fc = nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu6(self.stem(x))
        for block in self.blocks:
            h = block(x)
            x = x + h if h.shape == x.shape else h
        return self.fc(x.mean((2, 3)))


def twice(i, o):
    return nn.Sequential(unit(i, o, 1), nn.ReLU(), unit(o, o, 1), nn.ReLU())


class UnetWide(Net):
    shape = (4, 3, 128, 128)

    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList(twice(i, o) for i, o in ((3, 32), (32, 64), (64, 128), (128, 256)))
        self.wider = nn.ModuleList(nn.ConvTranspose2d(2 * o, o, 2, 2) for o in (128, 64, 32))
        self.up, self.head = nn.ModuleList(twice(2 * o, o) for o in (128, 64, 32)), nn.Conv2d(32, 10, 1)

    def batch(self, n):
        return torch.rand(n, *self.shape[1:]), torch.tensor(measure.labels(n * 128 * 128)).reshape(n, 128, 128)

    def forward(self, x):
        sides = []
        for i, down in enumerate(self.down):
            x = down(F.max_pool2d(x, 2) if i else x)
            sides.append(x)
        for wider, up, side in zip(self.wider, self.up, sides[-2::-1]):
            x = up(torch.cat([wider(x), side], 1))
        return self.head(x)


class Wide(AdamW):
    shape = (256, 2048)

    def __init__(self):
        super().__init__()
        self.layers, self.head = nn.ModuleList(nn.Linear(2048, 2048) for _ in range(3)), nn.Linear(2048, 10)

    def forward(self, x):
        for layer in self.layers:
            x = F.relu(layer(x))
        return self.head(x)


class Gpt512(AdamW):
    shape = (8, 128)

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(8192, 512), nn.Embedding(128, 512)
        self.blocks = nn.Sequential(*(Block(True, 512, 8) for _ in range(4)))
        self.norm, self.head = nn.LayerNorm(512), nn.Linear(512, 8192, bias=False)

    def batch(self, n):
        x = torch.tensor(measure.labels(n * 128, 8192))
        return x.reshape(n, 128), x

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.words(x) + self.places.weight))).flatten(0, 1)


class Lstm512(Images):
    shape, clip = (20, 32), 1.0

    def __init__(self):
        super().__init__()
        self.words, self.lstm = nn.Embedding(8192, 512), nn.LSTM(512, 512, 2, batch_first=True)
        self.head = nn.Linear(512, 8192)

    def batch(self, n):
        x = torch.tensor(measure.labels(n * 32, 8192))
        return x.reshape(n, 32), x

    def forward(self, x):
        return self.head(self.lstm(self.words(x))[0]).flatten(0, 1)


NETWORKS = {"mnist": Mnist, "resnet": Resnet, "depthwise": Depthwise, "unet": Unet, "vae": Vae, "mlp": Mlp,
            "gpt": Gpt, "gpt-8192": Gpt8192, "vit": Vit, "photo-tokens": PhotoTokens, "lstm": Recurrent, "gru": Gru, "convnext": ConvNext, "mixer": Mixer,
            "vgg": Vgg, "densenet": Densenet, "squeeze": Squeeze, "wavenet": Wavenet, "translate": Translate,
            "recommend": Recommend, "graph": Graph, "experts": Experts,
            "swin": Swin, "resnext": Resnext, "pointnet": Pointnet, "siren": Siren, "speech": Speech,
            "resnet-18": Resnet18, "photos": Photos, "inverted": Inverted, "unet-wide": UnetWide, "wide": Wide,
            "gpt-512": Gpt512, "lstm-512": Lstm512} | pytorch_others.NETWORKS | pytorch_depth.NETWORKS | \
    pytorch_fresh.NETWORKS | pytorch_later.NETWORKS | pytorch_memory.NETWORKS | pytorch_odd.NETWORKS | \
    pytorch_scenes.NETWORKS

p = argparse.ArgumentParser(description=__doc__)
p.add_argument("network", choices=NETWORKS)
p.add_argument("--batch-size", type=int, help="samples in a step (default: the network's)")
p.add_argument("--steps", type=int, default=3, help="in a block")
p.add_argument("--blocks", type=int, default=9)
p.add_argument("--threads", type=int, default=2)
p.add_argument("--cuda", action="store_true", help="on the first GPU that CUDA has")
p.add_argument("--infer", action="store_true", help="evaluation in place of training")
p.add_argument("--channels-last", action="store_true", help="images with the channels innermost")
p.add_argument("--compile", action="store_true", help="loss and update, or the forward pass, through torch.compile")
o = p.parse_args()
torch.set_num_threads(o.threads)
torch.manual_seed(0)
net = NETWORKS[o.network]()
x, y = net.batch(o.batch_size or net.shape[0])
if o.cuda:
    net, x, y = (t.to("cuda") for t in (net, x, y))
if o.channels_last:
    last = torch.channels_last_3d if x.dim() == 5 else torch.channels_last
    net, x = (t.to(memory_format=last) for t in (net, x))
compiled = torch.compile if o.compile else lambda f: f
if o.infer:
    net.eval()
    forward = compiled(net)

    def step():
        with torch.inference_mode():
            return forward(x).flatten()[0]
else:
    optimizer = net.optimizer()
    loss_of, update = compiled(net.loss), compiled(optimizer.step)

    def step():
        optimizer.zero_grad()
        loss = loss_of(x, y)
        loss.backward()
        if net.clip:
            nn.utils.clip_grad_norm_(net.parameters(), net.clip)
        update()
        return loss.detach()


def block(steps):
    start = time.perf_counter()
    for _ in range(steps):
        result = step()
    value = float(result)
    return (time.perf_counter() - start) / steps * 1e3, value


first = block(1)[1]
block(4)
blocks = [block(o.steps) for _ in range(o.blocks)]
json.dump({"first": first, "ms": [ms for ms, _ in blocks], "last": blocks[-1][1]}, sys.stdout)
