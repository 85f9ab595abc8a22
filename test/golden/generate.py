#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes ops.safetensors and mnist20.safetensors: what PyTorch computes, for golden_test.c.

Run in this folder with a Python that has PyTorch (made with 1.13, CPU). The same version writes
the same bytes.
"""
import json
import struct
from pathlib import Path

import torch
import torch.nn.functional as F

HERE = Path(__file__).resolve().parent
TYPES = {torch.float32: "F32", torch.int32: "I32", torch.uint8: "U8", torch.float64: "F64",
         torch.int64: "I64"}


def save(path, tensors):
    """The safetensors format: length of the header, header in JSON, data; wide elements first, so that
    all are aligned."""
    header, data = {"__metadata__": {"torch": torch.__version__}}, b""
    for name, t in sorted(tensors.items(), key=lambda item: -item[1].element_size()):
        raw = t.detach().contiguous().numpy().tobytes()
        header[name] = {"dtype": TYPES[t.dtype], "shape": list(t.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    print(f"{path.name}: {len(tensors)} tensors, {8 + len(text) + len(data)} bytes")


# ---- ops: every case has inputs x0, x1, ..., a weight w for the sum, y, and gradients g0, ... ------

OUT = {}


def case(name, f, *inputs):
    leaves = [x.clone().requires_grad_(x.dtype == torch.float32) for x in inputs]
    y = f(*leaves)
    if not y.dtype.is_floating_point:
        y = y.to(torch.int32)
    for i, x in enumerate(inputs):
        OUT[f"{name}.x{i}"] = x
    OUT[f"{name}.y"] = y
    if y.requires_grad:
        w = torch.rand(y.shape) * 2 - 1
        OUT[f"{name}.w"] = w
        (y * w).sum().backward()
        for i, x in enumerate(leaves):
            if x.grad is not None:
                OUT[f"{name}.g{i}"] = x.grad


def rand(*shape):
    return torch.rand(shape) * 4 - 2


def index(high, *shape):
    return torch.randint(0, high, shape, dtype=torch.int32)


def ops():
    torch.manual_seed(7)
    nan, inf = float("nan"), float("inf")
    special = torch.tensor([nan, inf, -inf, -0.0, 0.0, 1.5, -1.5, 3e38])
    coarse = torch.randint(-1, 2, (3, 2, 6, 6)).float()
    a, b = rand(7, 5), rand(5)
    positive = rand(17, 3).abs() + 0.5

    case("add", torch.add, a, b)
    case("mul", torch.mul, rand(3, 1, 5), rand(4, 1))
    case("div", torch.div, a, b.abs() + 0.5)
    case("pow", torch.pow, positive, rand(3))
    case("maximum_ties", torch.maximum, coarse[0, 0], coarse[0, 1])
    case("minimum_ties", torch.minimum, coarse[1, 0], coarse[1, 1])
    case("maximum_special", torch.maximum, special, torch.ones(1))
    case("minimum_special", torch.minimum, special, torch.ones(1))
    case("relu", F.relu, a)
    case("relu_special", F.relu, special)
    case("clamp_special", lambda x: torch.clamp(x, -1.5, 1.5), special)
    case("gelu", F.gelu, rand(33))
    case("erf", torch.erf, rand(33))
    case("tanh", torch.tanh, rand(33))
    case("sigmoid", torch.sigmoid, rand(33))
    case("rsqrt", torch.rsqrt, positive)
    case("abs_zero", torch.abs, torch.tensor([-1.0, 0.0, 2.0]))
    case("where", lambda c, x, y: torch.where(c != 0, x, y),
         torch.randint(0, 2, (7, 5), dtype=torch.uint8), a, b)
    case("sum", lambda x: x.sum((0, 2)), rand(3, 5, 7))
    case("mean", lambda x: x.mean((1,), True), rand(5, 17))
    case("amax_ties", lambda x: torch.amax(x, (2, 3)), coarse)
    case("amin_ties", lambda x: torch.amin(x, (0, 2)), coarse)
    case("amax_special", lambda x: torch.amax(x, (0,)), special)
    case("argmax", lambda x: x.argmax(1), rand(16, 10))
    case("argmax_special", lambda x: x.argmax(0), special)
    case("var", lambda x: x.var((0, 2), unbiased=True), rand(5, 3, 7))
    case("matmul", torch.matmul, rand(16, 33), rand(33, 5))
    case("matmul_batch", torch.matmul, rand(2, 1, 3, 5), rand(3, 5, 2))
    case("matmul_vector", torch.matmul, rand(2, 3, 5), rand(5))
    case("conv", F.conv2d, rand(3, 2, 7, 7), rand(4, 2, 3, 3), rand(4))
    case("conv_padding", lambda x, w: F.conv2d(x, w, padding=(1, 2)), rand(2, 2, 5, 6),
         rand(3, 2, 3, 3))
    case("conv_stride", lambda x, w: F.conv2d(x, w, stride=(2, 3)), rand(2, 2, 8, 9),
         rand(3, 2, 3, 2))
    case("conv_dilation", lambda x, w: F.conv2d(x, w, dilation=(2, 1)), rand(2, 2, 7, 5),
         rand(3, 2, 3, 3))
    case("conv_groups", lambda x, w, c: F.conv2d(x, w, c, groups=2), rand(2, 4, 5, 5),
         rand(6, 2, 3, 3), rand(6))
    case("max_pool_ties", lambda x: F.max_pool2d(x, 2), coarse)
    case("max_pool_padding", lambda x: F.max_pool2d(x, 3, 2, 1), rand(2, 3, 7, 8) - 3)
    case("max_pool_nan", lambda x: F.max_pool2d(x, 2), special.reshape(1, 1, 2, 4))
    case("avg_pool_padding", lambda x: F.avg_pool2d(x, 3, 2, 1), rand(2, 2, 7, 7))
    case("pad", lambda x: F.pad(x, (1, 2, 0, 3), value=1.5), rand(3, 5))
    case("embedding", lambda t, i: F.embedding(i.long(), t), rand(7, 5), index(7, 4, 3))
    case("softmax", lambda x: F.softmax(x, 1), rand(5, 10) * 5)
    case("log_softmax", lambda x: F.log_softmax(x, 1), rand(5, 10) * 5)
    case("nll_loss", lambda x, t: F.nll_loss(x, t.long()), rand(16, 10), index(10, 16))
    case("cross_entropy", lambda x, t: F.cross_entropy(x, t.long()), rand(17, 10), index(10, 17))
    case("mse_loss", F.mse_loss, rand(7, 3), rand(7, 3))
    case("layer_norm", lambda x, w, c: F.layer_norm(x, (16,), w, c), rand(3, 5, 16), rand(16),
         rand(16))
    case("batch_norm_train", lambda x, w, c: F.batch_norm(x, None, None, w, c, True),
         rand(5, 3, 4, 4), rand(3), rand(3))
    case("batch_norm_eval",
         lambda x, w, c, m, v: F.batch_norm(x, m.detach(), v.detach(), w, c, False),
         rand(5, 3, 4, 4), rand(3), rand(3), rand(3), rand(3).abs() + 0.5)
    case("atan", torch.atan, rand(33) * 4)
    case("atan2", torch.atan2, rand(7, 5), rand(5))
    ends = torch.tensor([nan, inf, -inf, -0.0, 0.0, 1.5, -1.5, 3e38, -1e-40])
    case("atan_special", lambda x: torch.atan(x.detach()), ends)
    case("atan2_special", lambda y, x: torch.atan2(y.detach(), x.detach()), ends.reshape(-1, 1), ends)
    losses()
    save(HERE / "ops.safetensors", OUT)


def losses():
    """Reductions other than the mean, and weights."""
    bce = F.binary_cross_entropy_with_logits
    case("bce_sum", lambda x, y: bce(x, y, reduction="sum"), rand(7, 3), torch.rand(7, 3))
    case("bce_none", lambda x, y, p, w: bce(x, y, w.detach(), pos_weight=p.detach(), reduction="none"),
         rand(5, 3), torch.rand(5, 3), torch.rand(3) + 0.5, torch.rand(5, 1))
    case("bce_weighted", lambda x, y, p, w: bce(x, y, w.detach(), pos_weight=p.detach()),
         rand(17, 3), torch.rand(17, 3), torch.rand(3) + 0.5, torch.rand(3))
    case("kl_div_sum", lambda x, y: F.kl_div(x, y, reduction="sum"), rand(5, 3), torch.rand(5, 3) + 0.1)
    case("kl_div_none", lambda x, y: F.kl_div(x, y, reduction="none", log_target=True), rand(5, 3), rand(5, 3))
    case("mse_none", lambda a, b: F.mse_loss(a, b, reduction="none"), rand(7, 3), rand(7, 3))
    case("mse_sum", lambda a, b: F.mse_loss(a, b, reduction="sum"), rand(7, 3), rand(7, 3))
    case("l1_none", lambda a, b: F.l1_loss(a, b, reduction="none"), rand(7, 3), rand(7, 3))
    case("smooth_l1_sum", lambda a, b: F.smooth_l1_loss(a, b, reduction="sum", beta=0.75), rand(7, 3), rand(7, 3))
    case("huber_none", lambda a, b: F.huber_loss(a, b, reduction="none", delta=0.75), rand(7, 3), rand(7, 3))
    weight = torch.rand(4) + 0.5
    for how in "mean", "sum", "none":
        case(f"nll_{how}", lambda x, t, w: F.nll_loss(x, t.long(), w.detach(), ignore_index=2, reduction=how),
             rand(17, 4, 3), index(4, 17, 3), weight)


# ---- twenty steps of training ------------------------------------------------------------------------


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(1, 10, 5)
        self.bn1 = torch.nn.BatchNorm2d(10)
        self.conv2 = torch.nn.Conv2d(10, 20, 5)
        self.bn2 = torch.nn.BatchNorm2d(20)
        self.fc1 = torch.nn.Linear(320, 50)
        self.fc2 = torch.nn.Linear(50, 10)

    def forward(self, x):
        x = self.bn1(F.relu(F.max_pool2d(self.conv1(x), 2)))
        x = self.bn2(F.relu(F.max_pool2d(self.conv2(x), 2)))
        x = F.relu(self.fc1(torch.flatten(x, 1)))
        return F.log_softmax(self.fc2(x), 1)


def mix(z):
    """A hash of 32 bits, the same as golden_hash() in C."""
    z &= 0xFFFFFFFF
    z = ((z ^ (z >> 16)) * 0x7FEB352D) & 0xFFFFFFFF
    z = ((z ^ (z >> 15)) * 0x846CA68B) & 0xFFFFFFFF
    return z ^ (z >> 16)


def batch(step, size):
    """Pixels are k / 256 - 0.5 of a hash, with a bright stripe that tells the label."""
    first = torch.arange(size * 784, dtype=torch.int64) + step * size * 784
    noise = (mix(first) >> 24).reshape(size, 28, 28)
    label = mix(torch.arange(size, dtype=torch.int64) + step * size + 0x40000000) % 10
    row = torch.arange(28).reshape(1, 28, 1)
    stripe = (row >= 2 * label.reshape(-1, 1, 1) + 4) & (row < 2 * label.reshape(-1, 1, 1) + 6)
    pixel = torch.where(stripe, noise // 2 + 128, noise // 2)
    return (pixel.float() / 256 - 0.5).reshape(size, 1, 28, 28), label


def train(dtype, seed, nudge=0.0):
    torch.manual_seed(seed)
    net = Net().to(dtype)
    with torch.no_grad():
        for p in net.parameters():
            p.mul_(1 + nudge * (2 * torch.rand_like(p) - 1))
    out = {f"before.{k}": v.clone() for k, v in net.state_dict().items()}
    sgd = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.5)
    losses = []
    for step in range(20):
        x, y = batch(step, 128)
        sgd.zero_grad()
        loss = F.nll_loss(net(x.to(dtype)), y)
        loss.backward()
        sgd.step()
        losses.append(loss.item())
    out.update({f"after.{k}": v.clone() for k, v in net.state_dict().items()})
    return out, losses


def distance(a, b):
    return max(abs(x - y) / abs(y) for x, y in zip(a, b))


def stable_seed():
    """A seed from which rounding does not grow: at others, one max-pool or ReLU decision on a
    near-tie falls the other way and moves the losses by more than the test's limit, in PyTorch
    against itself too."""
    for seed in range(1, 100):
        exact = train(torch.float64, seed)[1]
        nudged = [train(torch.float32, seed, 3e-7)[1] for _ in range(3)]
        if max(distance(n, exact) for n in nudged) < 2e-6:
            return seed
    raise SystemExit("no stable seed")


def mnist20():
    seed = stable_seed()
    out, losses = train(torch.float32, seed)
    out = {k: v for k, v in out.items() if not k.endswith("num_batches_tracked")}
    out["losses"] = torch.tensor(losses)
    worst = distance(losses, train(torch.float64, seed)[1])
    print(f"seed {seed}, losses {losses[0]:.4f} to {losses[-1]:.4f}; float32 against float64: {worst:.1e}")
    save(HERE / "mnist20.safetensors", out)


if __name__ == "__main__":
    torch.set_num_threads(1)
    ops()
    mnist20()
