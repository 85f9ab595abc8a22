#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/ in PyTorch on the CPU: the same networks by the same names, initial
distributions, data, losses, optimizers and learning rates; only random numbers are others. Trains one, or
says what PyTorch makes of a checkpoint of Tarn's. Prints one JSON object."""
import argparse
import gzip
import json
import math
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

MEAN, DEVIATION = 0.1307, 0.3081
TEST_BATCH = 500


# ---- data ----------------------------------------------------------------------------------------

def read(folder, name, header):
    path = Path(folder) / name
    content = path.read_bytes() if path.exists() else gzip.open(f"{path}.gz").read()
    return torch.from_numpy(np.frombuffer(content, np.uint8, offset=header).copy())


class Images:
    """MNIST's four files. Pixels are normalised, or from 0 to 1."""

    def __init__(self, o, unit):
        load = lambda part: (read(o.data, f"{part}-images-idx3-ubyte", 16).reshape(-1, 1, 28, 28),
                             read(o.data, f"{part}-labels-idx1-ubyte", 8).long())
        self.train, self.test_set, self.batch, self.unit = load("train"), load("t10k"), o.batch_size, unit

    def pick(self, part, rows):
        x = part[0][rows].float() / 255
        return x if self.unit else (x - MEAN) / DEVIATION, part[1][rows]

    def epoch(self):
        for rows in torch.randperm(len(self.train[1])).split(self.batch):
            if len(rows) == self.batch:
                yield self.pick(self.train, rows)

    def test(self):
        for rows in torch.arange(len(self.test_set[1])).split(TEST_BATCH):
            yield self.pick(self.test_set, rows)


class Text:
    """Pieces of a text, and the same a byte later; the last tenth is for tests, 16 batches at most."""

    def __init__(self, o):
        text = torch.from_numpy(np.fromfile(o.data, np.uint8).astype(np.int64))
        cut, n = len(text) // 10 * 9, o.context
        pieces = lambda t: (t[:(len(t) - 1) // n * n].reshape(-1, n), t[1:(len(t) - 1) // n * n + 1].reshape(-1, n))
        self.train, self.rest, self.batch = pieces(text[:cut]), pieces(text[cut:]), o.batch_size

    def epoch(self):
        for rows in torch.randperm(len(self.train[0])).split(self.batch):
            if len(rows) == self.batch:
                yield self.train[0][rows], self.train[1][rows]

    def test(self):
        for rows in torch.arange(len(self.rest[0])).split(self.batch)[:16]:
            if len(rows) == self.batch:
                yield self.rest[0][rows], self.rest[1][rows]


def cosine(lr, step, steps, lowest=0.0):
    return lowest + 0.5 * (lr - lowest) * (1 + math.cos(math.pi * step / steps))


# ---- networks: forward, the loss of a step, the result of a batch of the test ----------------------

class Classifier(nn.Module):
    unit = False

    def loss(self, x, y):
        return F.cross_entropy(self(x), y)

    def tested(self, x, y):
        return (self(x).argmax(1) == y).float().mean()

    def rate(self, lr, step, steps):
        return cosine(lr, step, steps)


class Mnist(Classifier):
    lr, steps, batch = 0.01, 468, 128

    def __init__(self, o):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(1, 10, 5), nn.BatchNorm2d(10)
        self.conv2, self.bn2 = nn.Conv2d(10, 20, 5), nn.BatchNorm2d(20)
        self.fc1, self.fc2 = nn.Linear(320, 50), nn.Linear(50, 10)

    def forward(self, x):
        x = self.bn1(F.relu(F.max_pool2d(self.conv1(x), 2)))
        x = self.bn2(F.relu(F.max_pool2d(self.conv2(x), 2)))
        return self.fc2(F.relu(self.fc1(x.flatten(1))))

    def optimizers(self, lr):
        return [torch.optim.SGD(self.parameters(), lr=lr, momentum=0.5)]

    def rate(self, lr, step, steps):
        return lr


class Block(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(i, o, 3, o // i, 1, bias=False), nn.BatchNorm2d(o)
        self.conv2, self.bn2 = nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o)
        self.more = (o - i) // 2

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        if self.more:
            x = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.more, self.more))
        return F.relu(x + y)


class Resnet(Classifier):
    lr, steps, batch = 0.1, 100, 64

    def __init__(self, o):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16)
        self.layer1 = nn.Sequential(Block(16, 16), Block(16, 16), Block(16, 16))
        self.layer2 = nn.Sequential(Block(16, 32), Block(32, 32), Block(32, 32))
        self.layer3 = nn.Sequential(Block(32, 64), Block(64, 64), Block(64, 64))
        self.fc = nn.Linear(64, 10)

    def forward(self, x):
        x = F.pad(x, (2, 2, 2, 2)).repeat(1, 3, 1, 1)
        x = self.layer3(self.layer2(self.layer1(F.relu(self.bn1(self.conv1(x))))))
        return self.fc(x.mean((2, 3)))

    def optimizers(self, lr):
        return [torch.optim.SGD(self.parameters(), lr=lr, momentum=0.9, weight_decay=5e-4, nesterov=True)]


class Lstm(Classifier):
    lr, steps, batch = 2e-3, 300, 128

    def __init__(self, o):
        super().__init__()
        self.lstm, self.head = nn.LSTM(28, 128, batch_first=True), nn.Linear(128, 10)

    def forward(self, x):
        return self.head(self.lstm(x.squeeze(1))[0][:, -1])

    def optimizers(self, lr):
        return [torch.optim.Adam(self.parameters(), lr=lr)]

    clip = 1.0


class Vae(nn.Module):
    lr, steps, batch, unit = 1e-3, 300, 128, True

    def __init__(self, o):
        super().__init__()
        self.down1, self.down2 = nn.Conv2d(1, 32, 3, 2, 1), nn.Conv2d(32, 64, 3, 2, 1)
        self.mean, self.spread, self.wide = nn.Linear(3136, 16), nn.Linear(3136, 16), nn.Linear(16, 3136)
        self.up1, self.up2 = nn.Conv2d(64, 32, 3, 1, 1), nn.Conv2d(32, 1, 3, 1, 1)

    def loss(self, x, _, noisy=True):
        h = F.relu(self.down2(F.relu(self.down1(x)))).flatten(1)
        mean, spread = self.mean(h), self.spread(h)
        z = mean + torch.exp(0.5 * spread) * torch.randn_like(mean) if noisy else mean
        h = F.relu(self.wide(z)).reshape(-1, 64, 7, 7)
        h = F.relu(self.up1(F.interpolate(h, scale_factor=2)))
        back = F.binary_cross_entropy_with_logits(self.up2(F.interpolate(h, scale_factor=2)), x)
        return 784 * back + 8 * (mean ** 2 + spread.exp() - spread - 1).mean()

    def tested(self, x, y):
        return self.loss(x, y, False)

    def optimizers(self, lr):
        return [torch.optim.Adam(self.parameters(), lr=lr)]

    def rate(self, lr, step, steps):
        return lr


class Gan(nn.Module):
    lr, steps, batch, unit = 2e-4, 300, 128, True

    def __init__(self, o):
        super().__init__()
        self.maker = nn.ModuleDict({
            "wide": nn.Linear(32, 3136), "norm1": nn.BatchNorm2d(64), "norm2": nn.BatchNorm2d(32),
            "up1": nn.ConvTranspose2d(64, 32, 4, 2, 1), "up2": nn.ConvTranspose2d(32, 1, 4, 2, 1)})
        self.judge = nn.ModuleDict({"down1": nn.Conv2d(1, 32, 4, 2, 1), "down2": nn.Conv2d(32, 64, 4, 2, 1),
                                    "verdict": nn.Linear(3136, 1)})

    def made(self, noise):
        m = self.maker
        h = F.relu(m["norm1"](m["wide"](noise).reshape(-1, 64, 7, 7)))
        return torch.sigmoid(m["up2"](F.relu(m["norm2"](m["up1"](h)))))

    def judged(self, images, real):
        m = self.judge
        h = F.leaky_relu(m["down2"](F.leaky_relu(m["down1"](images), 0.2)), 0.2)
        logits = m["verdict"](h.flatten(1))
        return F.binary_cross_entropy_with_logits(logits, torch.full_like(logits, real))

    def tested(self, x, _):
        return self.judged(x, 1.0) + self.judged(self.made(torch.randn(len(x), 32)), 0.0)

    def optimizers(self, lr):
        return [torch.optim.Adam(m.parameters(), lr=lr, betas=(0.5, 0.999)) for m in (self.judge, self.maker)]

    def rate(self, lr, step, steps):
        return lr

    def step(self, optimizers, x, _):
        images = self.made(torch.randn(len(x), 32))
        losses = [lambda: self.judged(x, 1.0) + self.judged(images.detach(), 0.0), lambda: self.judged(images, 1.0)]
        for optimizer, loss in zip(optimizers, losses):
            optimizer.zero_grad()
            loss().backward()
            optimizer.step()

    def more(self, data):
        """The Frechet distance of normal distributions with the means and covariances of 10,000 images made
        and of the test's, of 14x14 pixels."""
        small = lambda x: F.avg_pool2d(x, 2).flatten(1).double().numpy()
        torch.manual_seed(0)
        made = np.concatenate([small(self.made(torch.randn(500, 32))) for _ in range(20)])
        real = np.concatenate([small(x) for x, _ in data.test()])
        a, b = np.cov(made.T), np.cov(real.T)
        values, vectors = np.linalg.eigh(a)
        root = vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T
        both = np.sqrt(np.maximum(np.linalg.eigvalsh(root @ b @ root), 0)).sum()
        return float(((made.mean(0) - real.mean(0)) ** 2).sum() + np.trace(a) + np.trace(b) - 2 * both)


class Gpt(nn.Module):
    lr, steps, batch = 2e-3, 200, 32

    def __init__(self, o):
        super().__init__()
        self.words, self.places = nn.Embedding(256, o.width), nn.Embedding(o.context, o.width)
        for e in (self.words, self.places):
            nn.init.normal_(e.weight, 0, 0.02)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(o.width, o.heads, 4 * o.width, 0.0, "gelu", batch_first=True, norm_first=True)
            for _ in range(o.layers))
        self.norm = nn.LayerNorm(o.width)
        self.register_buffer("mask", torch.ones(o.context, o.context).triu(1).bool(), persistent=False)

    def loss(self, x, y):
        h = self.words(x) + self.places.weight
        for b in self.blocks:
            h = b(h, src_mask=self.mask)
        return F.cross_entropy((self.norm(h) @ self.words.weight.T).flatten(0, 1), y.flatten())

    def tested(self, x, y):
        return self.loss(x, y)

    def optimizers(self, lr):
        bare = lambda name: name.endswith("bias") or "norm" in name or name.startswith("places")
        groups = [{"params": [p for n, p in self.named_parameters() if bare(n) == b],
                   "weight_decay": 0.0 if b else 0.1} for b in (False, True)]
        return [torch.optim.AdamW(groups, lr=lr, betas=(0.9, 0.99))]

    clip = 1.0

    def rate(self, lr, step, steps):
        warm = steps // 20 + 1
        return cosine(lr, step, steps, lr / 10) * min(1, (step + 1) / warm)


NETWORKS = {"mnist": Mnist, "lstm": Lstm, "vae": Vae, "gpt": Gpt, "gan": Gan, "resnet": Resnet}


# ---- runs ----------------------------------------------------------------------------------------

def checkpoint(path):
    whole = Path(path).read_bytes()
    size = int.from_bytes(whole[:8], "little")
    header, data = json.loads(whole[8:8 + size]), whole[8 + size:]
    return {name: torch.from_numpy(np.frombuffer(data[slice(*h["data_offsets"])], np.float32)
                                   .reshape(h["shape"]).copy())
            for name, h in header.items() if name != "__metadata__" and h["dtype"] == "F32"}


def load(net, path):
    tensors, own = checkpoint(path), net.state_dict()
    missing = [n for n in own if n not in tensors and not n.endswith("num_batches_tracked")]
    if missing:
        sys.exit(f"{path} has no {', '.join(missing)}")
    net.load_state_dict({n: tensors.get(n, t) for n, t in own.items()})


def train(net, data, o):
    optimizers, step = net.optimizers(o.lr), 0
    while step < o.steps:
        for x, y in data.epoch():
            for optimizer in optimizers:
                for group in optimizer.param_groups:
                    group["lr"] = net.rate(o.lr, step, o.steps)
            if hasattr(net, "step"):
                net.step(optimizers, x, y)
            else:
                optimizers[0].zero_grad()
                net.loss(x, y).backward()
                if hasattr(net, "clip"):
                    nn.utils.clip_grad_norm_(net.parameters(), net.clip)
                optimizers[0].step()
            step += 1
            if step == o.steps:
                break


@torch.no_grad()
def test(net, data):
    net.train(isinstance(net, Gpt))  # without dropout the same; PyTorch has another way through it in evaluation
    sums, count = 0.0, 0
    for x, y in data.test():
        sums += float(net.tested(x, y)) * len(x)
        count += len(x)
    result = {"tested": sums / count}
    if hasattr(net, "more"):
        result["more"] = net.more(data)
    return result


def initial(net, path):
    """How far the initial values of a checkpoint are from PyTorch's distributions: for each tensor the root of
    the mean square over PyTorch's, and the deviations of that ratio that chance explains."""
    tensors, out = checkpoint(path), {}
    for name, p in net.named_parameters():
        ours, theirs = (x.double().flatten() for x in (tensors[name], p.detach()))
        root = [float(x.square().mean().sqrt()) for x in (ours, theirs)]
        same = root[0] == root[1]  # norms and biases that begin with 1 or 0
        ratio = 1.0 if same else root[0] / max(root[1], 1e-30)
        # A mean square of n values deviates by at most sqrt(2 / n) of itself (normal), twice: in both.
        out[name] = {"ratio": ratio, "deviations": 0.0 if same else abs(ratio - 1) * math.sqrt(len(ours))}
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("network", choices=NETWORKS)
    p.add_argument("--data", required=True, help="folder with MNIST's four files, or a text")
    p.add_argument("--steps", type=int)
    p.add_argument("--batch-size", type=int)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--lr", type=float)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--layers", type=int, default=4)
    p.add_argument("--width", type=int, default=128)
    p.add_argument("--heads", type=int, default=4)
    p.add_argument("--context", type=int, default=64)
    p.add_argument("--score", metavar="FILE", help="test a checkpoint of Tarn's")
    p.add_argument("--initial", metavar="FILE", help="compare a checkpoint of initial values")
    o = p.parse_args()
    make = NETWORKS[o.network]
    o.steps, o.batch_size, o.lr = o.steps or make.steps, o.batch_size or make.batch, o.lr or make.lr
    torch.set_num_threads(o.threads)
    torch.manual_seed(o.seed)
    net = make(o)
    if o.initial:
        print(json.dumps(initial(net, o.initial)))
        return
    data = Text(o) if make is Gpt else Images(o, make.unit)
    if o.score:
        load(net, o.score)
    else:
        train(net, data, o)
    print(json.dumps(test(net, data)))


if __name__ == "__main__":
    main()
