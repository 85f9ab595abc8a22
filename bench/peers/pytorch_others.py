# SPDX-License-Identifier: Apache-2.0
"""The networks of bench/networks/timed_others.c in PyTorch, for pytorch_networks.py."""
import math

import torch
import torch.nn.functional as F
from torch import nn

import measure
from pytorch_net import AdamW, Block, Net


class Texts:
    """Numbers of words, with a label for each text, or for each place."""
    V, each_place = 4096, False

    def batch(self, n):
        x = torch.tensor(measure.labels(n * self.shape[1], self.V)).reshape(n, self.shape[1])
        return x, x.flatten() if self.each_place else torch.tensor(measure.labels(n))


# ---- images ----------------------------------------------------------------------------------------

class Deconv(Net):
    shape = (32, 3, 32, 32)

    def __init__(self):
        super().__init__()
        layers, last = [], 3
        for out in 32, 64, 128:
            layers += [nn.Conv2d(last, out, 4, 2, 1), nn.BatchNorm2d(out), nn.LeakyReLU(0.2)]
            last = out
        for out in 64, 32:
            layers += [nn.ConvTranspose2d(last, out, 4, 2, 1), nn.BatchNorm2d(out), nn.ReLU()]
            last = out
        self.net = nn.Sequential(*layers, nn.ConvTranspose2d(32, 3, 4, 2, 1))

    def forward(self, x):
        return self.net(x)

    def loss(self, x, y):
        return F.mse_loss(self(x), x)


class TimedBlock(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(8, i), nn.GroupNorm(8, o)
        self.conv1, self.conv2 = nn.Conv2d(i, o, 3, 1, 1), nn.Conv2d(o, o, 3, 1, 1)
        self.time, self.beside = nn.Linear(128, o), nn.Identity() if i == o else nn.Conv2d(i, o, 1)

    def forward(self, x, time):
        h = self.conv1(F.silu(self.norm1(x))) + self.time(time)[:, :, None, None]
        return self.beside(x) + self.conv2(F.silu(self.norm2(h)))


class Denoise(AdamW):
    shape = (8, 3, 32, 32)

    def __init__(self):
        super().__init__()
        self.time, self.first = nn.Linear(32, 128), nn.Conv2d(3, 32, 3, 1, 1)
        self.down = nn.ModuleList([TimedBlock(32, 32), TimedBlock(32, 64)])
        self.smaller = nn.ModuleList(nn.Conv2d(o, o, 3, 2, 1) for o in (32, 64))
        self.bottom1, self.bottom2, self.before = TimedBlock(64, 128), TimedBlock(128, 128), nn.GroupNorm(8, 128)
        self.qkv, self.out = nn.Linear(128, 384), nn.Linear(128, 128)
        self.larger = nn.ModuleList([nn.Conv2d(64, 32, 3, 1, 1), nn.Conv2d(128, 64, 3, 1, 1)])
        self.up = nn.ModuleList([TimedBlock(64, 32), TimedBlock(128, 64)])
        self.norm, self.last = nn.GroupNorm(8, 32), nn.Conv2d(32, 3, 3, 1, 1)

    def forward(self, x):
        wave = x.mean((1, 2, 3))[:, None] * torch.exp(0.5 * torch.arange(16.0, device=x.device))
        time = F.silu(self.time(torch.cat([wave.sin(), wave.cos()], 1)))
        h, side = self.first(x), []
        for down, smaller in zip(self.down, self.smaller):
            side.append(down(h, time))
            h = smaller(side[-1])
        h = self.bottom1(h, time)
        rows = self.qkv(self.before(h).flatten(2).transpose(1, 2))
        q, k, v = rows.reshape(len(x), -1, 3, 4, 32).permute(2, 0, 3, 1, 4)
        rows = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        h = self.bottom2(h + self.out(rows).transpose(1, 2).reshape(h.shape), time)
        for i in 1, 0:
            h = self.up[i](torch.cat([self.larger[i](F.interpolate(h, scale_factor=2)), side[i]], 1), time)
        return self.last(F.silu(self.norm(h)))

    def loss(self, x, y):
        noise = torch.randn_like(x)
        return F.mse_loss(self(x + noise), noise)


class Atari(Net):
    shape = (32, 4, 84, 84)

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(4, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(), nn.Conv2d(64, 64, 3),
                                 nn.ReLU(), nn.Flatten(), nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, 6))

    def batch(self, n):
        return torch.rand(n, *self.shape[1:]), torch.tensor(measure.labels(n, 6))

    def forward(self, x):
        return self.net(x)

    def loss(self, x, y):
        return F.smooth_l1_loss(self(x).gather(1, y[:, None]), 0.1 * y[:, None].float())


class Enlarge(Net):
    shape = (8, 3, 24, 24)

    def __init__(self):
        super().__init__()
        self.first, self.pixels = nn.Conv2d(3, 64, 3, 1, 1), nn.Conv2d(64, 12, 3, 1, 1)
        self.blocks = nn.ModuleList(nn.Sequential(nn.Conv2d(64, 64, 3, 1, 1), nn.ReLU(), nn.Conv2d(64, 64, 3, 1, 1))
                                    for _ in range(4))

    def forward(self, x):
        h = first = self.first(x)
        for block in self.blocks:
            h = h + block(h)
        return F.pixel_shuffle(self.pixels(h + first), 2)

    def loss(self, x, y):
        return F.l1_loss(self(x), F.interpolate(x, scale_factor=2))


# ---- waves and lines -------------------------------------------------------------------------------

def wave_unit(i, o, window, stride=1):
    return nn.Sequential(nn.Conv1d(i, o, window, stride, window // 2), nn.BatchNorm1d(o))


class Heartbeat(Net):
    shape = (32, 1, 1000)

    def __init__(self):
        super().__init__()
        self.stem, self.blocks, last = wave_unit(1, 32, 15, 2), nn.ModuleList(), 32
        for i in range(4):
            out, stride = 32 << i // 2, i % 2 + 1
            beside = wave_unit(last, out, 1, stride) if stride == 2 or last != out else nn.Identity()
            self.blocks.append(nn.ModuleList([wave_unit(last, out, 7, stride), wave_unit(out, out, 7), beside]))
            last = out
        self.fc = nn.Linear(last, 10)

    def forward(self, x):
        x = F.relu(self.stem(x))
        for first, second, beside in self.blocks:
            x = F.relu(second(F.relu(first(x))) + beside(x))
        return self.fc(x.mean(2))


class Line(Net):
    shape, clip, LETTERS = (16, 1, 32, 128), 1.0, 80

    def __init__(self):
        super().__init__()
        self.images = nn.Sequential(
            nn.Conv2d(1, 32, 3, 1, 1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3, 1, 1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(64, 128, 3, 1, 1), nn.BatchNorm2d(128), nn.ReLU(), nn.MaxPool2d((2, 1)))
        self.gru, self.head = nn.GRU(512, 128, batch_first=True), nn.Linear(128, self.LETTERS)

    def batch(self, n):
        return torch.rand(n, *self.shape[1:]), torch.tensor(measure.labels(n * 32, self.LETTERS))

    def forward(self, x):
        return self.head(self.gru(self.images(x).permute(0, 3, 1, 2).flatten(2))[0]).flatten(0, 1)


# ---- texts -----------------------------------------------------------------------------------------

class LlamaBlock(nn.Module):
    def __init__(self, width=256, heads=8, shared=2):
        super().__init__()
        self.heads, self.shared = heads, shared
        self.norm1, self.norm2 = nn.RMSNorm(width, 2.0 ** -23), nn.RMSNorm(width, 2.0 ** -23)
        each = width // heads
        self.q, self.k, self.v, self.out = (nn.Linear(width, o, bias=False)
                                            for o in (width, shared * each, shared * each, width))
        self.gate, self.up, self.down = (nn.Linear(i, o, bias=False) for i, o in ((width, 688), (width, 688), (688, width)))

    def turned(self, x, c, s):
        a, b = x.chunk(2, 3)
        return torch.cat([a * c - b * s, b * c + a * s], 3)

    def forward(self, x, c, s):
        h = self.norm1(x)
        q, k, v = (layer(h).unflatten(2, (heads, -1)).transpose(1, 2)
                   for layer, heads in ((self.q, self.heads), (self.k, self.shared), (self.v, self.shared)))
        h = F.scaled_dot_product_attention(self.turned(q, c, s), self.turned(k, c, s), v, is_causal=True, enable_gqa=True)
        x = x + self.out(h.transpose(1, 2).flatten(2))
        h = self.norm2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Llama(Texts, AdamW):
    shape, clip, each_place = (8, 128), 1.0, True

    def __init__(self):
        super().__init__()
        self.words, self.blocks = nn.Embedding(self.V, 256), nn.ModuleList(LlamaBlock() for _ in range(4))
        self.norm, self.head = nn.RMSNorm(256, 2.0 ** -23), nn.Linear(256, self.V, bias=False)
        angle = torch.arange(128.0)[:, None] * torch.exp(-math.log(1e4) / 16 * torch.arange(16.0))
        self.register_buffer("c", angle.cos())
        self.register_buffer("s", angle.sin())

    def forward(self, x):
        x = self.words(x)
        for block in self.blocks:
            x = block(x, self.c, self.s)
        return self.head(self.norm(x)).flatten(0, 1)


class Masked(Texts, AdamW):
    shape = (16, 64)

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(self.V, 128), nn.Parameter(0.02 * torch.randn(64, 128))
        self.norm, self.blocks = nn.LayerNorm(128), nn.ModuleList(Block(False) for _ in range(4))
        self.pool, self.head = nn.Linear(128, 128), nn.Linear(128, 10)

    def forward(self, x):
        seen = (x >= self.V // 8)[:, None, None, :]
        x = self.norm(self.words(x) + self.places)
        for block in self.blocks:
            x = block(x, seen)
        return self.head(torch.tanh(self.pool(x[:, 0])))


class Sentence(Texts, Net):
    shape = (64, 64)

    def __init__(self):
        super().__init__()
        self.words, self.windows = nn.Embedding(self.V, 64), nn.ModuleList(nn.Conv1d(64, 100, 3 + i) for i in range(3))
        self.head = nn.Linear(300, 10)

    def forward(self, x):
        x = self.words(x).transpose(1, 2)
        return self.head(F.dropout(torch.cat([F.relu(w(x)).amax(2) for w in self.windows], 1), 0.5, self.training))


# ---- rays and policies -----------------------------------------------------------------------------

class Rays(Net):
    shape, DEPTHS = (512, 6), 32

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(*(layer for i in range(4) for layer in (nn.Linear(128 if i else 39, 128), nn.ReLU())),
                                 nn.Linear(128, 4))

    def forward(self, x):
        far = torch.arange(float(self.DEPTHS), device=x.device)[:, None] / self.DEPTHS
        point = x[:, None, :3] + x[:, None, 3:] * far
        h = self.net(torch.cat([point] + [f(point * 2 ** i) for i in range(6) for f in (torch.sin, torch.cos)], 2))
        dense = F.relu(h[..., 3]) / self.DEPTHS
        weight = torch.exp(dense - dense.cumsum(1)) * -torch.expm1(-dense)
        return (weight[..., None] * torch.sigmoid(h[..., :3])).sum(1)

    def loss(self, x, y):
        return F.mse_loss(self(x), x[:, :3])


def two_tanh(out):
    return nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, out))


class Policy(Net):
    shape, clip = (64, 8), 0.5

    def __init__(self):
        super().__init__()
        self.actor, self.critic = two_tanh(6), two_tanh(1)

    def batch(self, n):
        return torch.rand(n, 8), torch.tensor(measure.labels(n, 6))

    def forward(self, x):
        return torch.cat([self.actor(x), self.critic(x)], 1)

    def loss(self, x, y):
        both = self(x)
        every = both[:, :6].log_softmax(1)
        ratio, gain = (every.gather(1, y[:, None]) + 1.8).exp(), x[:, :1] - 0.5
        least = torch.minimum(ratio * gain, ratio.clamp(0.8, 1.2) * gain)
        return 0.5 * F.mse_loss(both[:, 6:], x[:, 1:2]) - least.mean() + 0.01 * (every.exp() * every).sum(1).mean()


NETWORKS = {"deconv": Deconv, "denoise": Denoise, "atari": Atari, "enlarge": Enlarge, "heartbeat": Heartbeat, "line": Line,
            "llama": Llama, "masked": Masked, "sentence": Sentence, "rays": Rays, "policy": Policy}
