#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The networks of this folder in PyTorch, in float32 and in float64: writes losses.json, which check.py
holds Tarn's losses to. Names of parameters, initial values and data are those of main.c.

Run it with a Python that has PyTorch (made with 1.13, CPU)."""
import argparse
import json
import math
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

HERE = Path(__file__).resolve().parent
STEPS = 8
RUNS = 16
BATCHES = (8, 32, 127, 64, 128)


# ---- numbers -------------------------------------------------------------------------------------

def bits_of(name, count):
    h = 2166136261
    for c in name.encode():
        h = (h ^ c) * 16777619 & 0xFFFFFFFF
    x = np.uint32(h) ^ np.arange(count, dtype=np.uint32) * np.uint32(0x9E3779B9)
    x = (x ^ x >> 16) * np.uint32(0x85EBCA6B)
    x = (x ^ x >> 13) * np.uint32(0xC2B2AE35)
    return (x ^ x >> 16) >> 8


def numbers_of(name, count):
    return bits_of(name, count).astype(np.float32) / np.float32(16777216) - np.float32(0.5)


def array(kind, which, classes, shape, count):
    shape = (count, *shape)
    n = math.prod(shape)
    if classes:
        return torch.from_numpy((bits_of(f"{kind}{which}", n) % classes).astype(np.int64).reshape(shape))
    return torch.from_numpy(numbers_of(f"{kind}{which}", n).reshape(shape))


@torch.no_grad()
def fill(model):
    for name, p in model.named_parameters():
        scale, base = 0.2, float(name.endswith("weight"))
        if p.dim() > 1:
            scale, base = 2 / math.sqrt(p.numel() / p.shape[0]), 0.0
        values = np.float32(base) + np.float32(scale) * numbers_of(name, p.numel())
        p.copy_(torch.from_numpy(values.reshape(p.shape)))


# ---- images --------------------------------------------------------------------------------------

def conv(i, o, window, **options):
    return nn.Conv2d(i, o, window, bias=False, **options)


class MLP(nn.Module):
    inputs, targets = [(0, (1, 16, 16))], [(10, ())]

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(256, 64), nn.Linear(64, 32), nn.Linear(32, 10)

    def optimizer(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-3)

    def loss(self, x, y):
        return F.cross_entropy(self.c(F.relu(self.b(F.relu(self.a(x.flatten(1)))))), y)


class Residual(nn.Module):
    inputs, targets = [(0, (3, 16, 16))], [(10, ())]

    def __init__(self):
        super().__init__()
        unit = nn.ModuleDict
        self.stem = unit({"conv": conv(3, 8, 3, padding=1), "bn": nn.BatchNorm2d(8)})
        for k in range(3):
            o, i, s = 8 << k, 8 if k == 0 else 8 << k - 1, 1 if k == 0 else 2
            stage = {"conv1": conv(i, o, 3, stride=s, padding=1), "bn1": nn.BatchNorm2d(o),
                     "conv2": conv(o, o, 3, padding=1), "bn2": nn.BatchNorm2d(o)}
            if k > 0:
                stage |= {"conv3": conv(i, o, 1, stride=s), "bn3": nn.BatchNorm2d(o)}
            setattr(self, f"stage{k}", unit(stage))
        self.head = nn.Linear(32, 10)

    def optimizer(self):
        return torch.optim.SGD(self.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3)

    def loss(self, x, y):
        x = F.relu(self.stem["bn"](self.stem["conv"](x)))
        for k in range(3):
            m = getattr(self, f"stage{k}")
            z = m["bn2"](m["conv2"](F.relu(m["bn1"](m["conv1"](x)))))
            x = F.relu(z + (m["bn3"](m["conv3"](x)) if k > 0 else x))
        return F.cross_entropy(self.head(x.mean((2, 3))), y)


class Separable(nn.Module):
    inputs, targets = [(0, (3, 16, 16))], [(10, ())]

    def __init__(self):
        super().__init__()
        self.stem = nn.ModuleDict({"conv": conv(3, 16, 3, stride=2, padding=1), "bn": nn.BatchNorm2d(16)})
        for k in range(2):
            i = 16 << k
            setattr(self, f"block{k}", nn.ModuleDict({
                "conv1": conv(i, i, 3, stride=1 + k, padding=1, groups=i), "bn1": nn.BatchNorm2d(i),
                "conv2": conv(i, 2 * i, 1), "bn2": nn.BatchNorm2d(2 * i)}))
        self.head = nn.Linear(64, 10)

    def optimizer(self):
        return torch.optim.SGD(self.parameters(), lr=0.05, momentum=0.9, nesterov=True)

    def loss(self, x, y):
        x = F.relu6(self.stem["bn"](self.stem["conv"](x)))
        for k in range(2):
            m = getattr(self, f"block{k}")
            x = F.relu6(m["bn1"](m["conv1"](x)))
            x = F.relu6(m["bn2"](m["conv2"](x)))
        return F.cross_entropy(self.head(x.mean((2, 3))), y)


class UNet(nn.Module):
    inputs, targets = [(0, (1, 16, 16))], [(3, (16, 16))]

    def __init__(self):
        super().__init__()
        same = lambda i, o: nn.Conv2d(i, o, 3, padding=1)
        self.down1, self.down2, self.bottom = same(1, 8), same(8, 16), same(16, 32)
        self.up2, self.up1, self.head = same(48, 16), same(24, 8), nn.Conv2d(8, 3, 1)

    def optimizer(self):
        return torch.optim.Adam(self.parameters(), lr=3e-3)

    def loss(self, x, y):
        double = lambda t: F.interpolate(t, scale_factor=2)
        a = F.relu(self.down1(x))
        c = F.relu(self.down2(F.max_pool2d(a, 2)))
        d = F.relu(self.bottom(F.max_pool2d(c, 2)))
        e = F.relu(self.up2(torch.cat([double(d), c], 1)))
        f = F.relu(self.up1(torch.cat([double(e), a], 1)))
        return F.cross_entropy(self.head(f), y)


# ---- a variational autoencoder -------------------------------------------------------------------

class VAE(nn.Module):
    inputs, targets = [(0, (1, 16, 16)), (0, (6,))], []

    def __init__(self):
        super().__init__()
        self.down1, self.down2 = nn.Conv2d(1, 8, 3, 2, 1), nn.Conv2d(8, 16, 3, 2, 1)
        self.mean, self.spread = nn.Linear(256, 6), nn.Linear(256, 6)
        self.wide = nn.Linear(6, 256)
        self.up1, self.up2 = nn.Conv2d(16, 8, 3, 1, 1), nn.Conv2d(8, 1, 3, 1, 1)

    def optimizer(self):
        return torch.optim.Adam(self.parameters(), lr=2e-3)

    def loss(self, x, noise):
        double = lambda t: F.interpolate(t, scale_factor=2)
        h = F.relu(self.down2(F.relu(self.down1(x)))).flatten(1)
        mean, spread = self.mean(h), self.spread(h)
        z = mean + torch.exp(0.5 * spread) * noise
        h = double(F.relu(self.wide(z)).reshape(-1, 16, 4, 4))
        logits = self.up2(double(F.relu(self.up1(h))))
        seen = F.binary_cross_entropy_with_logits(logits, x + 0.5, reduction="none").sum((1, 2, 3)).mean()
        far = (mean ** 2 + spread.exp() - spread - 1).sum(1).mean()
        return seen + 0.5 * far


class GAN(nn.Module):
    inputs, targets = [(0, (1, 16, 16)), (0, (6,))], []

    def __init__(self):
        super().__init__()
        self.maker = nn.ModuleDict({"wide": nn.Linear(6, 256), "up1": nn.Conv2d(16, 8, 3, 1, 1),
                                    "up2": nn.Conv2d(8, 1, 3, 1, 1)})
        self.judge = nn.ModuleDict({"down1": nn.Conv2d(1, 8, 3, 2, 1), "down2": nn.Conv2d(8, 16, 3, 2, 1),
                                    "verdict": nn.Linear(256, 1)})

    def made(self, noise):
        double = lambda t: F.interpolate(t, scale_factor=2)
        m = self.maker
        h = double(F.relu(m["wide"](noise)).reshape(-1, 16, 4, 4))
        return torch.tanh(m["up2"](double(F.relu(m["up1"](h)))))

    def judged(self, images, real):
        m = self.judge
        h = F.leaky_relu(m["down2"](F.leaky_relu(m["down1"](images), 0.2)), 0.2)
        logits = m["verdict"](h.flatten(1))
        return F.binary_cross_entropy_with_logits(logits, torch.full_like(logits, real))

    def optimizer(self):
        adam = torch.optim.Adam
        return (adam(self.judge.parameters(), lr=1e-3, betas=(0.5, 0.999)),
                adam(self.maker.parameters(), lr=2e-3, betas=(0.5, 0.999)))

    def step(self, optimizers, images, noise):
        judge, maker = optimizers
        made = self.made(noise)
        apart = self.judged(images, 1) + self.judged(made.detach(), 0)
        judge.zero_grad()
        apart.backward()
        judge.step()
        fooled = self.judged(made, 1)
        maker.zero_grad()
        fooled.backward()
        maker.step()
        return apart + fooled


# ---- transformers --------------------------------------------------------------------------------

class Block(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, causal):
        n, t, c = x.shape
        q, k, v = (p.reshape(n, t, 2, c // 2).transpose(1, 2) for p in self.qkv(self.norm1(x)).split(c, 2))
        s = q @ k.transpose(2, 3) / math.sqrt(c // 2)
        if causal:
            s = s.masked_fill(torch.ones(t, t).triu(1).bool(), -1e9)
        y = (s.softmax(3) @ v).transpose(1, 2).reshape(n, t, c)
        x = x + self.out(y)
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    inputs, targets = [(67, (12,))], [(67, (12,))]

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Parameter(torch.zeros(67, 32)), nn.Parameter(torch.zeros(12, 32))
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.norm = nn.LayerNorm(32)

    def optimizer(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-3)

    def loss(self, x, y):
        x = F.embedding(x, self.words) + self.places
        for b in self.blocks:
            x = b(x, True)
        return F.cross_entropy((self.norm(x) @ self.words.T).flatten(0, 1), y.flatten())


class ViT(nn.Module):
    inputs, targets = [(0, (3, 16, 16))], [(10, ())]

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 32, 4, 4)
        self.first, self.places = nn.Parameter(torch.zeros(1, 32)), nn.Parameter(torch.zeros(17, 32))
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.norm, self.head = nn.LayerNorm(32), nn.Linear(32, 10)

    def optimizer(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-3, weight_decay=0.05)

    def loss(self, x, y):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.first.expand(len(x), 1, 32), x], 1) + self.places
        for b in self.blocks:
            x = b(x, False)
        return F.cross_entropy(self.head(self.norm(x[:, 0])), y)


# ---- recurrent networks --------------------------------------------------------------------------

class LSTM(nn.Module):
    inputs, targets = [(0, (7, 12))], [(10, ())]
    clip = 0.5

    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(12, 24, batch_first=True), nn.Linear(24, 10)

    def optimizer(self):
        return torch.optim.Adam(self.parameters(), lr=4e-3)

    def loss(self, x, y):
        return F.cross_entropy(self.head(self.lstm(x)[0][:, -1]), y)


class Translator(nn.Module):
    inputs, targets = [(19, (6,)), (19, (5,))], [(19, (5,))]

    def __init__(self):
        super().__init__()
        self.words = nn.Parameter(torch.zeros(19, 12))
        self.encoder, self.decoder = nn.GRU(12, 20, batch_first=True), nn.GRU(12, 20, batch_first=True)
        self.head = nn.Linear(20, 19)

    def optimizer(self):
        return torch.optim.Adam(self.parameters(), lr=4e-3)

    def loss(self, source, told, y):
        h = self.encoder(F.embedding(source, self.words))[1]
        out = self.decoder(F.embedding(told, self.words), h)[0]
        return F.cross_entropy(self.head(out).flatten(0, 1), y.flatten())


NETWORKS = {"mlp": MLP, "residual": Residual, "separable": Separable, "unet": UNet, "vae": VAE, "gan": GAN, "gpt": GPT, "vit": ViT,
            "lstm": LSTM, "translator": Translator}


# ---- training ------------------------------------------------------------------------------------

def usual_step(model, optimizer, *data):
    loss = model.loss(*data)
    optimizer.zero_grad()
    loss.backward()
    if hasattr(model, "clip"):
        torch.nn.utils.clip_grad_norm_(model.parameters(), model.clip)
    optimizer.step()
    return loss


def train(make, batch, dtype, shake=0):
    """The losses of each step. With a `shake` about half of the first weights are the next float32
    above or below."""
    model = make()
    fill(model)
    if shake:
        noise = torch.Generator().manual_seed(shake)
        with torch.no_grad():
            for p in model.parameters():
                p.copy_(p.double() * (1 + 2.0 ** -23 * (2 * torch.rand(p.shape, generator=noise) - 1)))
    model.to(dtype)
    optimizer = model.optimizer()
    data = [array("input", k, *a, batch * STEPS) for k, a in enumerate(make.inputs)]
    data += [array("target", k, *a, batch * STEPS) for k, a in enumerate(make.targets)]
    data = [d.to(dtype) if d.is_floating_point() else d for d in data]
    losses = []
    for step in range(STEPS):
        part = [d[step * batch:(step + 1) * batch] for d in data]
        losses.append(getattr(model, "step", lambda *a: usual_step(model, *a))(optimizer, *part).item())
    return losses


def load(model, file):
    """All parameters of a checkpoint by their names, none missing."""
    whole = Path(file).read_bytes()
    size = int.from_bytes(whole[:8], "little")
    header, data = json.loads(whole[8:8 + size]), whole[8 + size:]
    tensors = {}
    for name, h in header.items():
        if name != "__metadata__" and h["dtype"] in ("F32", "I64"):
            kind = np.float32 if h["dtype"] == "F32" else np.int64
            values = np.frombuffer(data[slice(*h["data_offsets"])], kind).reshape(h["shape"])
            tensors[name] = torch.from_numpy(values.copy())
    missing = model.load_state_dict(tensors, strict=False).missing_keys
    if missing:
        raise SystemExit(f"{file} has no {', '.join(missing)}")


def loss_of(name, batch, step, file):
    make = NETWORKS[name]
    model = make()
    load(model, file)
    data = [array("input", k, *a, batch * STEPS) for k, a in enumerate(make.inputs)]
    data += [array("target", k, *a, batch * STEPS) for k, a in enumerate(make.targets)]
    part = [d[step * batch:(step + 1) * batch] for d in data]
    # With several updates in a step the loss needs the optimizers' state, too.
    return None if hasattr(model, "step") else model.loss(*part).item()


def measure(make, batch):
    """Losses in float64, and how far float32 came from them at most so far, in any of some runs whose
    first weights differ by a unit in the last place. One run alone may be right by luck."""
    exact = train(make, batch, torch.float64)
    runs = [train(make, batch, torch.float32, shake) for shake in range(RUNS)]
    distance = [max(abs(r[s] - exact[s]) for r in runs) for s in range(STEPS)]
    return {"loss": exact, "distance": [float(f"{max(distance[:s + 1]):.3g}") for s in range(STEPS)]}


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("networks", nargs="*", default=list(NETWORKS))
    p.add_argument("--loss", nargs=4, metavar=("NETWORK", "BATCH", "STEP", "FILE"),
                   help="print the loss of a step with the weights of a checkpoint")
    o = p.parse_args()
    if o.loss:
        print(repr(loss_of(o.loss[0], int(o.loss[1]), int(o.loss[2]), o.loss[3])))
        return
    path = HERE / "losses.json"
    kept = json.loads(path.read_text()) if path.exists() else {}
    torch.use_deterministic_algorithms(True)
    for name in o.networks:
        for b in BATCHES:
            kept.setdefault(name, {}).setdefault(str(b), {}).update(measure(NETWORKS[name], b))
    write(kept)


def write(kept):
    lines = [f'"{n}": {{\n' + ",\n".join(f' "{b}": {json.dumps(r)}' for b, r in kept[n].items()) + "}"
             for n in NETWORKS if n in kept]
    (HERE / "losses.json").write_text("{" + ",\n".join(lines) + "}\n")


if __name__ == "__main__":
    main()
