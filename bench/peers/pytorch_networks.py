#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the training steps of bench/networks.c in PyTorch on the CPU; prints one JSON object."""
import argparse
import json
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

import measure

BATCH, TEXTS, CONTEXT, WORDS, WIDTH = 128, 32, 64, 65, 128


class Net(nn.Module):
    """What all have but for the GPT and the VAE: images or rows at random, ten classes."""
    shape, clip = (BATCH, 784), 0.0

    def batch(self):
        return torch.rand(self.shape), torch.tensor([v % 10 for v in measure.labels(BATCH)])

    def loss(self, x, y):
        return F.cross_entropy(self(x), y)

    def optimizer(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


class Mlp(Net):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(784, 1024), nn.Linear(1024, 1024), nn.Linear(1024, 10)

    def forward(self, x):
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))

    def optimizer(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


def unit(i, o, stride):
    return nn.Sequential(nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o))


class Resnet(Net):
    shape = (BATCH, 3, 32, 32)

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

    def optimizer(self):
        return torch.optim.SGD(self.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def attention(self, x):
        parts = self.qkv(x).reshape(TEXTS, CONTEXT, 3, 4, WIDTH // 4).permute(2, 0, 3, 1, 4)
        if hasattr(F, "scaled_dot_product_attention"):
            y = F.scaled_dot_product_attention(*parts, is_causal=True)
        else:
            q, k, v = parts
            past = torch.ones(CONTEXT, CONTEXT, dtype=torch.bool).triu(1)
            y = (q @ k.transpose(2, 3) * q.shape[3] ** -0.5).masked_fill(past, -torch.inf).softmax(3) @ v
        return self.out(y.transpose(1, 2).reshape(x.shape))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Gpt(Mlp):
    def __init__(self):
        nn.Module.__init__(self)
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(4)))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)

    def batch(self):
        x = torch.tensor([(i * 2654435761 % 2**32 >> 16) % WORDS for i in range(TEXTS * CONTEXT)])
        return x.reshape(TEXTS, CONTEXT), x

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.words(x) + self.places.weight))).flatten(0, 1)


class Vae(Net):
    shape = (BATCH, 1, 28, 28)

    def __init__(self):
        super().__init__()
        self.down1, self.down2 = nn.Conv2d(1, 32, 3, 2, 1), nn.Conv2d(32, 64, 3, 2, 1)
        self.mean, self.spread, self.wide = nn.Linear(3136, 16), nn.Linear(3136, 16), nn.Linear(16, 3136)
        self.up1, self.up2 = nn.Conv2d(64, 32, 3, 1, 1), nn.Conv2d(32, 1, 3, 1, 1)

    def loss(self, x, y):
        h = F.relu(self.down2(F.relu(self.down1(x)))).flatten(1)
        mean, spread = self.mean(h), self.spread(h)
        z = mean + torch.exp(0.5 * spread) * torch.randn_like(mean)
        h = F.interpolate(F.relu(self.wide(z)).reshape(-1, 64, 7, 7), scale_factor=2)
        back = self.up2(F.interpolate(F.relu(self.up1(h)), scale_factor=2))
        return (784 * F.binary_cross_entropy_with_logits(back, x)
                + 8 * (mean ** 2 + spread.exp() - spread - 1).mean())


class Lstm(Net):
    shape, clip = (BATCH, 28, 28), 1.0

    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(28, 128, batch_first=True), nn.Linear(128, 10)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


NETWORKS = {"mlp": Mlp, "resnet": Resnet, "gpt": Gpt, "vae": Vae, "lstm": Lstm}

p = argparse.ArgumentParser(description=__doc__)
p.add_argument("network", choices=NETWORKS)
p.add_argument("--steps", type=int, default=3, help="in a block")
p.add_argument("--blocks", type=int, default=9)
p.add_argument("--threads", type=int, default=2)
p.add_argument("--channels-last", action="store_true", help="images with the channels innermost")
p.add_argument("--compile", action="store_true", help="loss and update through torch.compile")
o = p.parse_args()
torch.set_num_threads(o.threads)
torch.manual_seed(0)
net = NETWORKS[o.network]()
x, y = net.batch()
if o.channels_last:
    net, x = (t.to(memory_format=torch.channels_last) for t in (net, x))
optimizer = net.optimizer()
loss_of, update = net.loss, optimizer.step
if o.compile:
    loss_of, update = torch.compile(loss_of), torch.compile(update)


def block(steps):
    start = time.perf_counter()
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(x, y)
        loss.backward()
        if net.clip:
            nn.utils.clip_grad_norm_(net.parameters(), net.clip)
        update()
    value = float(loss)
    return (time.perf_counter() - start) / steps * 1e3, value


first = block(1)[1]
block(4)
blocks = [block(o.steps) for _ in range(o.blocks)]
json.dump({"first_loss": first, "ms": [ms for ms, _ in blocks], "loss": blocks[-1][1]}, sys.stdout)
