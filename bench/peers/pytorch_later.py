# SPDX-License-Identifier: Apache-2.0
"""The networks of bench/networks/timed_later.c in PyTorch, for pytorch_networks.py."""
import torch
import torch.nn.functional as F
from torch import nn

from pytorch_fresh import layers
from pytorch_net import WIDTH, Block, Net


def normal(*shape, deviation=1.0):
    return nn.Parameter(torch.randn(*shape) * deviation)


def numbers_below(count, below, step):
    return torch.tensor([(i * step & 0xFFFFFFFF) // 256 % below for i in range(count)])


# ---- sequences -------------------------------------------------------------------------------------

class TextWindows(Net):
    shape = (64, 64)

    def __init__(self):
        super().__init__()
        self.words, self.head = nn.Embedding(5000, WIDTH), nn.Linear(300, 10)
        self.windows = layers(3, lambda i: nn.Conv1d(WIDTH, 100, 3 + i))

    def batch(self, n):
        return torch.randint(5000, (n, 64)), super().batch(n)[1]

    def forward(self, x):
        x = self.words(x).transpose(1, 2)
        return self.head(torch.cat([F.relu(of(x)).amax(2) for of in self.windows], 1))


class Gates(Net):
    shape = (32, 64, WIDTH)

    def __init__(self):
        super().__init__()
        self.norm, self.inner = layers(4, lambda i: nn.LayerNorm(WIDTH)), layers(4, lambda i: nn.LayerNorm(2 * WIDTH))
        self.up, self.down = layers(4, lambda i: nn.Linear(WIDTH, 4 * WIDTH)), layers(4, lambda i: nn.Linear(2 * WIDTH, WIDTH))
        self.places = nn.ParameterList(normal(64, 64, deviation=0.01) for _ in range(4))
        self.offset = nn.ParameterList(normal(64, 1) for _ in range(4))
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, x):
        for i in range(4):
            u, v = F.gelu(self.up[i](self.norm[i](x))).chunk(2, 2)
            x = x + self.down[i](u * (self.places[i] @ self.inner[i](v) + self.offset[i]))
        return self.head(x.mean(1))


class StateSpace(Net):
    shape = (32, 64, 64)

    def __init__(self):
        super().__init__()
        self.into, self.gate = (layers(2, lambda i: nn.Linear(64, WIDTH)) for _ in range(2))
        self.out, self.head = layers(2, lambda i: nn.Linear(WIDTH, 64)), nn.Linear(64, 10)
        self.decay, self.write, self.read = (nn.ParameterList(normal(WIDTH, 16) for _ in range(2)) for _ in range(3))

    def forward(self, x):
        for i in range(2):
            h, decay = self.into[i](x), self.decay[i].sigmoid()
            state, read = h.new_zeros(h.shape[0], WIDTH, 16), []
            for t in range(h.shape[1]):
                state = state * decay + h[:, t, :, None] * self.write[i]
                read.append((state * self.read[i]).sum(2))
            x = self.out[i](torch.stack(read, 1) * F.silu(self.gate[i](x)))
        return self.head(x.mean(1))


class Tabular(Net):
    shape = (256, 14)

    def __init__(self):
        super().__init__()
        self.scale, self.offset = normal(14, 96), normal(14, 96)
        self.blocks, self.head = layers(3, lambda i: Block(False, 96)), nn.Linear(96, 10)

    def forward(self, x):
        x = x[:, :, None] * self.scale + self.offset
        for block in self.blocks:
            x = block(x)
        return self.head(x[:, 0])


# ---- others ----------------------------------------------------------------------------------------

def squashed(s):
    squares = s.square().sum(-1, keepdim=True)
    return s * ((squares + 1e-6).sqrt() / (squares + 1))


class Capsules(Net):
    def __init__(self):
        super().__init__()
        self.first, self.predict = nn.Linear(784, 512), normal(64, 10, 16, 8, deviation=0.1)

    def forward(self, x):
        x = squashed(F.relu(self.first(x)).reshape(-1, 64, 8))
        u = torch.einsum("nid,ijkd->nijk", x, self.predict)
        b = x.new_zeros(x.shape[0], 64, 10)
        for _ in range(3):
            v = squashed(torch.einsum("nij,nijk->njk", b.softmax(2), u))
            b = b + torch.einsum("nijk,njk->nij", u, v)
        return 10 * (v.square().sum(2) + 1e-6).sqrt()


class Sets(Net):
    shape = (64, 200, 3)

    def __init__(self):
        super().__init__()
        self.layers = layers(3, lambda i: nn.Linear(WIDTH if i else 3, WIDTH))
        self.first, self.head = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 10)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x - x.mean(1, keepdim=True)).tanh()
        return self.head(F.relu(self.first(x.amax(1))))


class GraphAttention(Net):
    shape = (1024, 64)

    def __init__(self):
        super().__init__()
        self.into, self.source, self.target = layers(2, lambda i: nn.Linear(64, 64)), *(layers(2, lambda i: nn.Linear(64, 4)) for _ in range(2))
        self.head, self.edges = nn.Linear(64, 10), {}

    def edges_of(self, nodes):
        if nodes not in self.edges:
            self.edges[nodes] = numbers_below(8192, nodes, 2654435761), numbers_below(8192, nodes, 2246822519)
        return self.edges[nodes]

    def forward(self, x):
        source, target = self.edges_of(x.shape[0])
        for i in range(2):
            h = self.into[i](x)
            score = F.leaky_relu(self.source[i](h)[source] + self.target[i](h)[target], 0.2).exp()
            score = score / x.new_full((x.shape[0], 4), 1e-6).index_add(0, target, score)[target]
            sent = (h[source].reshape(-1, 4, 16) * score[:, :, None]).reshape(-1, 64)
            x = F.elu(x.new_zeros(x.shape[0], 64).index_add(0, target, sent))
        return self.head(x)


class Splines(Net):
    shape = (256, 64)

    def __init__(self):
        super().__init__()
        self.bumps, self.base = layers(3, lambda i: nn.Linear(512, 64)), layers(3, lambda i: nn.Linear(64, 64))
        self.head, self.at = nn.Linear(64, 10), torch.linspace(-2, 2, 8)

    def forward(self, x):
        for bumps, base in zip(self.bumps, self.base):
            d = torch.exp(-(x[:, :, None] - self.at).square())
            x = bumps(d.flatten(1)) + base(F.silu(x))
        return self.head(x)


NETWORKS = {"text-windows": TextWindows, "gates": Gates, "state-space": StateSpace, "tabular": Tabular,
            "capsules": Capsules, "sets": Sets, "graph-attention": GraphAttention, "splines": Splines}
