# SPDX-License-Identifier: Apache-2.0
"""The networks of bench/networks/timed_memory.c in PyTorch, for pytorch_networks.py."""
import math

import torch
import torch.nn.functional as F
from torch import nn

import measure
from pytorch_fresh import layers
from pytorch_net import AdamW, Net


# ---- relative places -------------------------------------------------------------------------------

def buckets(distance, count):
    near = count // 2
    far = torch.log(distance.clamp(min=1).float() / near) / math.log(128 / near) * (count - near)
    return torch.where(distance < near, distance, (near + far.long()).clamp(max=count - 1))


class SpanAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(160, 160, bias=False) for _ in range(4))

    def forward(self, x, memory, bias=None):
        q, k, v = (f(y).unflatten(2, (4, 40)).transpose(1, 2)
                   for f, y in ((self.q, x), (self.k, memory), (self.v, memory)))
        scores = q @ k.transpose(2, 3)
        if bias is not None:
            scores = scores + bias
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class SpanLayer(nn.Module):
    def __init__(self, decodes):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(160, eps=1e-6), nn.RMSNorm(160, eps=1e-6)
        self.own = SpanAttention()
        if decodes:
            self.cross, self.norm3 = SpanAttention(), nn.RMSNorm(160, eps=1e-6)
        self.gate, self.up = nn.Linear(160, 320, bias=False), nn.Linear(160, 320, bias=False)
        self.down = nn.Linear(320, 160, bias=False)

    def forward(self, x, bias, memory=None):
        h = self.norm1(x)
        x = x + self.own(h, h, bias)
        h = self.norm2(x)
        if memory is not None:
            x = x + self.cross(h, memory)
            h = self.norm3(x)
        return x + self.down(F.gelu(self.gate(h), approximate="tanh") * self.up(h))


class Spans(AdamW):
    shape = (16, 88)

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(1000, 160)
        self.source_bias, self.target_bias = nn.Embedding(32, 4), nn.Embedding(32, 4)
        self.encoder, self.decoder = layers(2, lambda i: SpanLayer(False)), layers(2, lambda i: SpanLayer(True))
        self.encoder_norm, self.decoder_norm = nn.RMSNorm(160, eps=1e-6), nn.RMSNorm(160, eps=1e-6)
        far = torch.arange(48) - torch.arange(48)[:, None]
        self.register_buffer("source_buckets", (far > 0) * 16 + buckets(far.abs(), 16))
        self.register_buffer("target_buckets", buckets(-far[:40, :40].clamp(max=0), 32))

    def batch(self, n):
        return torch.tensor(measure.labels(n * 88, 1000)).reshape(n, 88), torch.tensor(measure.labels(n * 40, 1000))

    def forward(self, x):
        memory, bias = self.words(x[:, :48]), self.source_bias(self.source_buckets).permute(2, 0, 1)
        for layer in self.encoder:
            memory = layer(memory, bias)
        memory, x = self.encoder_norm(memory), self.words(x[:, 48:])
        later = torch.ones(40, 40, dtype=torch.bool, device=x.device).triu(1)
        bias = self.target_bias(self.target_buckets).permute(2, 0, 1).masked_fill(later, -torch.inf)
        for layer in self.decoder:
            x = layer(x, bias, memory)
        return F.linear(self.decoder_norm(x) * 160 ** -0.5, self.words.weight).flatten(0, 1)


# ---- a memory that is read and written -------------------------------------------------------------

class HeadTape(Net):
    shape, clip = (50, 20, 8), 10.0

    def __init__(self):
        super().__init__()
        self.memory = nn.Parameter(0.1 * torch.randn(40, 20))
        self.input, self.state, self.out = nn.Linear(28, 400), nn.Linear(100, 400), nn.Linear(120, 8)
        self.write, self.read = nn.Linear(100, 61), nn.Linear(100, 21)

    def batch(self, n):
        return torch.rand(n, 20, 8), torch.tensor(measure.labels(n * 160, 2)).reshape(n, 20, 8)

    @staticmethod
    def address(key, strength, memory):
        like = F.cosine_similarity(torch.tanh(key)[:, None], memory, dim=2)
        return F.softmax(F.softplus(strength) * like, 1)

    def forward(self, x):
        n, ys = len(x), []
        h, c, read = x.new_zeros(n, 100), x.new_zeros(n, 100), x.new_zeros(n, 20)
        memory = self.memory.expand(n, 40, 20)
        for t in range(x.shape[1]):
            i, f, g, o = (self.input(torch.cat([x[:, t], read], 1)) + self.state(h)).chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            key, strength, erase, add = self.write(h).split([20, 1, 20, 20], 1)
            at = self.address(key, strength, memory)[:, :, None]
            memory = memory * (1 - at * torch.sigmoid(erase)[:, None]) + at * torch.tanh(add)[:, None]
            key, strength = self.read(h).split([20, 1], 1)
            read = (self.address(key, strength, memory)[:, None] @ memory).squeeze(1)
            ys.append(self.out(torch.cat([h, read], 1)))
        return torch.stack(ys, 1)

    def loss(self, x, y):
        return F.binary_cross_entropy_with_logits(self(x), y.float())


# ---- speech ----------------------------------------------------------------------------------------

class HalfStep(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(144), nn.Linear(144, 576), nn.Linear(576, 144)

    def forward(self, x):
        return x + 0.5 * self.down(F.silu(self.up(self.norm(x))))


class Convolved(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.into = nn.LayerNorm(144), nn.Conv1d(144, 288, 1)
        self.each, self.batch_norm = nn.Conv1d(144, 144, 15, padding=7, groups=144), nn.BatchNorm1d(144)
        self.out = nn.Conv1d(144, 144, 1)

    def forward(self, x):
        h = F.glu(self.into(self.norm(x).transpose(1, 2)), 1)
        return x + self.out(F.silu(self.batch_norm(self.each(h)))).transpose(1, 2)


class ConformerBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.conv, self.second = HalfStep(), nn.LayerNorm(144), Convolved(), HalfStep()
        self.attention, self.last_norm = nn.MultiheadAttention(144, 4, batch_first=True), nn.LayerNorm(144)

    def forward(self, x):
        x = self.first(x)
        h = self.norm(x)
        x = x + self.attention(h, h, h, need_weights=False)[0]
        return self.last_norm(self.second(self.conv(x)))


class Conformer(AdamW):
    shape = (12, 150, 80)

    def __init__(self):
        super().__init__()
        self.start, self.head = nn.Linear(80, 144), nn.Linear(144, 40)
        self.blocks = nn.Sequential(*(ConformerBlock() for _ in range(3)))

    def batch(self, n):
        return torch.rand(n, 150, 80), torch.tensor(measure.labels(n * 150, 40))

    def forward(self, x):
        return self.head(self.blocks(self.start(x))).flatten(0, 1)


# ---- weights that a network makes ------------------------------------------------------------------

class Hyper(Net):
    shape = (256, 830)

    def __init__(self):
        super().__init__()
        self.first, self.second, self.weights = nn.Linear(30, 64), nn.Linear(64, 64), nn.Linear(64, 97)

    def batch(self, n):
        return torch.rand(n, 830), torch.rand(n, 400)

    def forward(self, x):
        context, points = x[:, :30], x[:, 30:].reshape(-1, 400, 2)
        made = self.weights(F.relu(self.second(F.relu(self.first(context)))))
        w1, b1, w2, b2 = made.split([48, 24, 24, 1], 1)
        h = torch.tanh(torch.bmm(points, w1.reshape(-1, 2, 24)) + b1[:, None])
        return torch.bmm(h, w2.reshape(-1, 24, 1)).squeeze(2) + b2

    def loss(self, x, y):
        return F.mse_loss(self(x), y)


# ---- waves -----------------------------------------------------------------------------------------

class Waves(nn.Module):
    def __init__(self):
        super().__init__()
        self.real, self.imaginary = (nn.Parameter(torch.rand(16, 48, 48) / 48 ** 2) for _ in range(2))
        self.skip = nn.Linear(48, 48)

    def forward(self, x, cos, sin):
        def mix(wave, weight):
            return torch.einsum("nkc,kcd->nkd", wave, weight)
        re, im = torch.einsum("kp,npc->nkc", cos, x), -torch.einsum("kp,npc->nkc", sin, x)
        real = mix(re, self.real) - mix(im, self.imaginary)
        imaginary = mix(re, self.imaginary) + mix(im, self.real)
        times = (1 + (torch.arange(16, device=x.device) > 0).float()[:, None]) / 256
        mixed = torch.einsum("kp,nkd->npd", cos, real * times) - torch.einsum("kp,nkd->npd", sin, imaginary * times)
        return F.gelu(mixed + self.skip(x))


class Spectra(Net):
    shape = (20, 256, 2)

    def __init__(self):
        super().__init__()
        angle = 2 * math.pi / 256 * torch.arange(16, dtype=torch.float64)[:, None] * torch.arange(256)
        self.register_buffer("cos", angle.cos().float())
        self.register_buffer("sin", angle.sin().float())
        self.layers, self.lift = layers(3, lambda i: Waves()), nn.Linear(2, 48)
        self.wide, self.head = nn.Linear(48, 128), nn.Linear(128, 1)

    def batch(self, n):
        return torch.rand(n, 256, 2), torch.rand(n, 256)

    def forward(self, x):
        x = self.lift(x)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        return self.head(F.gelu(self.wide(x))).squeeze(2)

    def loss(self, x, y):
        return F.mse_loss(self(x), y)


# ---- tags, of which some follow others -------------------------------------------------------------

class Tagger(Net):
    shape = (24, 30)

    def __init__(self):
        super().__init__()
        self.words, self.head = nn.Embedding(2000, 64), nn.Linear(200, 9)
        self.lstm = nn.LSTM(64, 100, batch_first=True, bidirectional=True)
        self.first, self.last, self.follows = (nn.Parameter(torch.empty(s).uniform_(-0.1, 0.1)) for s in (9, 9, (9, 9)))

    def batch(self, n):
        return (torch.tensor(measure.labels(n * 30, c)).reshape(n, 30) for c in (2000, 9))

    def forward(self, x):
        return self.head(self.lstm(self.words(x))[0])

    def loss(self, x, y):
        scores = self(x)
        ways = self.first + scores[:, 0]
        for t in range(1, scores.shape[1]):
            ways = torch.logsumexp(ways[:, :, None] + self.follows, 1) + scores[:, t]
        gold = scores.gather(2, y[..., None]).sum((1, 2)) + self.follows[y[:, :-1], y[:, 1:]].sum(1)
        return (torch.logsumexp(ways + self.last, 1) - gold - self.first[y[:, 0]] - self.last[y[:, -1]]).mean()


NETWORKS = {"spans": Spans, "head-tape": HeadTape, "conformer": Conformer, "hyper": Hyper, "spectra": Spectra,
            "tagger": Tagger}
