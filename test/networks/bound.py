#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Bounds how far float32 may take the losses of the first steps from the exact ones, by a running error
analysis in float64, and writes the bounds into losses.json.

All of the steps, their gradients and updates, are traced into one line of operations. Each of them gets a bound
of what its own rounding may add to each element of its result (docs/numerics.md: sums in chunks of 128,
OpenCL's table for functions). A loss is then off by at most the sum of all these, each times the size of the loss's
derivative by that element: what one rounding does to a loss, through all that comes after it, gradients and
updates included. This is "bound", which holds however roundings fall.

"likely" takes roundings for independent, and their means for 0 (Higham and Mary, 2019): by Hoeffding's inequality
the error is above 7 times the root of the sum of all squares with a probability of 2 exp(-49 / 2), 5e-11.

Both are of the first order in 2^-24: what an error of an error does is left out, and so is a ReLU or a pool that
decides otherwise. Operations are those that PyTorch's formulas for gradients consist of; where Tarn's are others,
they are taken to round as often.

Run it with a Python that has PyTorch (made with 1.13)."""
import argparse
import json
import math
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn.utils import stateless

import networks as N

STEPS = 3
U = 2.0 ** -24
ULP = 2 * U
aten = torch.ops.aten


# ---- rounding ------------------------------------------------------------------------------------

likely = False


def gamma(n):
    """Of a sum of n terms: chunks on each level, lanes, blocks of a row and the tree of rows."""
    roundings = 13
    while n > 128:
        roundings += 128
        n = -(-n // 128)
    roundings += n
    return math.sqrt(roundings) * U if likely else roundings * U / (1 - roundings * U)


def magnitudes(args):
    return [a.abs() if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in args]


def times_gamma(op, n):
    """Of an operation that is linear in each of its operands: the same on magnitudes."""
    return lambda y, *args: gamma(n(y, *args)) * op(*magnitudes(args))


def of_conv(y, x, w, *rest):
    return w[0].numel() + 1


def conv_backward(ys, g, x, w, *rest):
    made = aten.convolution_backward(*magnitudes((g, x, w, *rest)))
    positions = g.numel() // g.shape[1]
    terms = (w.numel() // w.shape[1], positions, positions)
    return [None if m is None else gamma(n) * m for m, n in zip(made, terms)]


def log_softmax(y, x, dim, _):
    low = x - x.amax(dim, True)
    p = y.exp()
    return (U * low.abs() + gamma(x.shape[dim]) + 3 * ULP + (p * low.abs()).sum(dim, True) * U
            + 3 * ULP * (y - low).abs() + U * y.abs())


def softmax(y, x, dim, _):
    low = (x - x.amax(dim, True)).abs()
    return y * (2 * U * low + 2 * U * (y * low).sum(dim, True) + gamma(x.shape[dim]) + 6 * ULP + 2.5 * ULP)


def softmax_backward(y, g, out, dim, _):
    whole = (g * out).abs().sum(dim, True)
    return out * (gamma(g.shape[dim]) * whole + 2 * U * g.abs()) + 2 * U * y.abs()


def log_softmax_backward(y, g, out, dim, _):
    p = out.exp()
    return p * g.abs().sum(dim, True) * (gamma(g.shape[dim]) + 5 * ULP) + U * y.abs()


def elementwise(roundings):
    return lambda y, *args: roundings * U * y.abs()


def gelu_parts(y, *args):
    """erf within 16 units in its last place, and exp of the derivative within 3."""
    x = args[-1] if len(args) > 1 and isinstance(args[-1], torch.Tensor) else args[0]
    g = args[0].abs() if isinstance(args[-1], torch.Tensor) and len(args) > 1 else 1
    return g * (20 * ULP * x.abs() + 20 * ULP)


def term_count(y, x, *rest):
    return max(1, x.numel() // max(1, y.numel()))


def first_width(y, a, b, *rest):
    return a.shape[-1]


EXACT = """_reshape_alias _to_copy _unsafe_view abs amax cat clamp clamp_min clone copy_ embedding empty eq expand
    fill_ full full_like ge gt hardtanh hardtanh_backward le lift_fresh logical_and logical_or lt masked_fill
    masked_fill_ max_pool2d_with_indices max_pool2d_with_indices_backward maximum neg new_empty new_empty_strided
    new_zeros nll_loss2d_forward nll_loss_forward ones ones_like permute relu scalar_tensor select select_backward
    sgn sign slice slice_backward split split_with_sizes squeeze stack t threshold_backward transpose triu unbind
    unsqueeze upsample_nearest2d view where zeros zeros_like""".split()
BOUNDS = {
    "add": elementwise(1), "sub": elementwise(1), "rsub": elementwise(1), "mul": elementwise(1), "add_": elementwise(1),
    "div": elementwise(5), "sqrt": elementwise(6), "rsqrt": elementwise(6), "exp": elementwise(6),
    "log1p": elementwise(6), "tanh": elementwise(10), "sigmoid": elementwise(14), "reciprocal": elementwise(5),
    "pow": elementwise(1), "leaky_relu": elementwise(1), "leaky_relu_backward": elementwise(1),
    # g (1 - y y) and g y (1 - y): what is subtracted rounds once, beside 1.
    "tanh_backward": lambda d, g, y: g.abs() * 3 * U + d.abs() * 3 * U,
    "sigmoid_backward": lambda d, g, y: 4 * U * d.abs(),
    "mm": times_gamma(aten.mm, first_width), "bmm": times_gamma(aten.bmm, first_width),
    "addmm": times_gamma(aten.addmm, lambda y, c, a, b, *r: a.shape[-1] + 1),
    "sum": times_gamma(aten.sum, term_count), "mean": times_gamma(aten.mean, term_count),
    "convolution": times_gamma(aten.convolution, of_conv), "convolution_backward": conv_backward,
    "_log_softmax": log_softmax, "_softmax": softmax, "_softmax_backward_data": softmax_backward,
    "_log_softmax_backward_data": log_softmax_backward, "nll_loss_backward": elementwise(3),
    "nll_loss2d_backward": elementwise(3), "gelu": gelu_parts, "gelu_backward": gelu_parts,
    "embedding_dense_backward": times_gamma(aten.embedding_dense_backward, lambda y, g, i, *r: i.numel()),
    "upsample_nearest2d_backward": times_gamma(aten.upsample_nearest2d_backward, lambda *a: 4),
}


def own_rounding(name, y, args, kwargs):
    """Bounds of what each result of an operation is off by its own rounding, None where it is exact."""
    several = isinstance(y, (tuple, list))
    if name in EXACT:
        # The mean of a loss is a sum, which PyTorch takes in the operation that picks.
        if name.startswith("nll_loss"):
            return [gamma(args[1].numel()) * y[0].abs(), None]
        return [None] * (len(y) if several else 1)
    with torch.no_grad():
        made = BOUNDS[name](y, *args, **kwargs)
    return made if several else [made]


# ---- the steps in a line -------------------------------------------------------------------------

def layer_norm(x, shape, weight=None, bias=None, eps=1e-5):
    d = x - x.mean(-1, keepdim=True)
    return d * ((d * d).mean(-1, keepdim=True) + eps).rsqrt() * weight + bias


def batch_norm(self, x):
    d = x - x.mean((0, 2, 3), keepdim=True)
    r = ((d * d).mean((0, 2, 3), keepdim=True) + self.eps).rsqrt()
    return d * r * self.weight[:, None, None] + self.bias[:, None, None]


def bce(z, t, reduction="mean"):
    each = z.clamp(min=0) - z * t + (-z.abs()).exp().log1p()
    return each.mean() if reduction == "mean" else each


def gates(self, x, h):
    return x @ self.weight_ih_l0.T + self.bias_ih_l0, h @ self.weight_hh_l0.T + self.bias_hh_l0


def lstm(self, x, _=None):
    h = c = x.new_zeros(len(x), self.hidden_size)
    out = []
    for t in range(x.shape[1]):
        i, f, g, o = sum(gates(self, x[:, t], h)).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        out.append(h)
    return torch.stack(out, 1), (h[None], c[None])


def gru(self, x, first=None):
    h = x.new_zeros(len(x), self.hidden_size) if first is None else first[0]
    out = []
    for t in range(x.shape[1]):
        a, b = (g.chunk(3, 1) for g in gates(self, x[:, t], h))
        z, n = (a[1] + b[1]).sigmoid(), (a[2] + (a[0] + b[0]).sigmoid() * b[2]).tanh()
        h = n + z * (h - n)
        out.append(h)
    return torch.stack(out, 1), h[None]


PARTS = [(F, "layer_norm", layer_norm), (nn.BatchNorm2d, "forward", batch_norm), (nn.LSTM, "forward", lstm),
         (nn.GRU, "forward", gru), (F, "binary_cross_entropy_with_logits", bce)]


@contextmanager
def in_parts():
    """Layers that are one operation to PyTorch and several to Tarn."""
    kept = [getattr(place, name) for place, name, _ in PARTS]
    for place, name, part in PARTS:
        setattr(place, name, part)
    yield
    for (place, name, _), one in zip(PARTS, kept):
        setattr(place, name, one)


class Rule:
    """An optimizer's update as a function, with PyTorch's settings."""

    def __init__(self, optimizer, names):
        self.o, self.names, self.state, self.t = optimizer.defaults, names, {}, 0
        self.kind = type(optimizer).__name__

    def step(self, p, grads):
        self.t += 1
        for name, g in zip(self.names, grads):
            p[name] = (self.sgd if self.kind == "SGD" else self.adam)(name, p[name], g)

    def sgd(self, name, w, g):
        o = self.o
        g = g + o["weight_decay"] * w if o["weight_decay"] else g
        m = self.state[name] = o["momentum"] * self.state[name] + g if name in self.state else g
        return w - o["lr"] * (g + o["momentum"] * m if o["nesterov"] else m)

    def adam(self, name, w, g):
        o, (b1, b2) = self.o, self.o["betas"]
        if self.kind == "AdamW":
            w = w * (1 - o["lr"] * o["weight_decay"])
        m, v = self.state.get(name, (0 * g, 0 * g))
        m, v = self.state[name] = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * (g * g)
        # Where a gradient is 0 the root has no derivative, and the update neither.
        root = torch.where(v > 0, torch.where(v > 0, v, torch.ones_like(v)).sqrt(), torch.zeros_like(v))
        return w - o["lr"] * (m / (1 - b1 ** self.t)) / (root / math.sqrt(1 - b2 ** self.t) + o["eps"])


def clipped(grads, most):
    whole = torch.stack([(g * g).sum() for g in grads]).sum().sqrt()
    return [g * (most / (whole + 1e-6)).clamp(max=1.0) for g in grads]


def update(model, rule, p, loss):
    grads = torch.autograd.grad(loss, [p[n] for n in rule.names], create_graph=True)
    rule.step(p, clipped(grads, model.clip) if hasattr(model, "clip") else grads)


def losses_of(model, data, batch):
    """A function of the first weights that returns the losses of the steps."""
    names = [n for n, _ in model.named_parameters()]
    made = model.optimizer()
    rules = [Rule(made, names)] if not isinstance(made, tuple) else [
        Rule(o, [n for n in names if n.startswith(part)]) for o, part in zip(made, ("judge", "maker"))]

    def run(*weights):
        p, losses = dict(zip(names, weights)), []
        for step in range(STEPS):
            part = [d[step * batch:(step + 1) * batch] for d in data]
            if len(rules) == 1:
                with stateless._reparametrize_module(model, p):
                    loss = model.loss(*part)
                update(model, rules[0], p, loss)
            else:
                with stateless._reparametrize_module(model, p):
                    images = model.made(part[1])
                    loss = model.judged(part[0], 1.0) + model.judged(images.detach(), 0.0)
                update(model, rules[0], p, loss)
                with stateless._reparametrize_module(model, p):
                    fooled = model.judged(images, 1.0)
                update(model, rules[1], p, fooled)
                loss = loss + fooled
            losses.append(loss)
        return losses
    return run


class Line(torch.fx.Interpreter):
    """Runs the line, and keeps each result with its own rounding."""

    def __init__(self, line):
        super().__init__(line)
        self.kept = []

    def call_function(self, target, args, kwargs):
        name = getattr(target, "overloadpacket", target).__name__
        if name in ("detach", "detach_", "lift_fresh_copy"):
            return args[0]  # derivatives go through what backward keeps, too
        y = super().call_function(target, args, kwargs)
        if name == "getitem":
            return y
        global likely
        bounds = []
        for likely in (False, True):
            bounds.append(own_rounding(name, y, args, kwargs))
        for one, most, usual in zip(y if isinstance(y, (tuple, list)) else [y], *bounds):
            if most is not None and one is not None and one.requires_grad:
                self.kept.append((one, most, usual, name))
        return y


def measure(make, batch):
    model = make()
    N.fill(model)
    model.double()
    data = [N.array("input", k, *a, batch * N.STEPS) for k, a in enumerate(make.inputs)]
    data += [N.array("target", k, *a, batch * N.STEPS) for k, a in enumerate(make.targets)]
    data = [d.double() if d.is_floating_point() else d for d in data]
    weights = [p.detach().clone().requires_grad_() for p in model.parameters()]
    with in_parts():
        line = Line(make_fx(losses_of(model, data, batch))(*weights))
        losses = line.run(*weights)
    out = []
    for loss in losses:
        slopes = torch.autograd.grad(loss, [k[0] for k in line.kept], retain_graph=True, allow_unused=True)
        shares, squares = {}, 0.0
        for slope, (_, most, usual, name) in zip(slopes, line.kept):
            if slope is not None:
                shares[name] = shares.get(name, 0) + float((slope.abs() * most).sum())
                squares += float((slope * usual).square().sum())
        most = sum(shares.values())
        out.append((loss.item(), most, min(most, 7 * math.sqrt(squares)), shares))
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("networks", nargs="*", default=list(N.NETWORKS))
    p.add_argument("--batch", type=int, action="append", help="default: all")
    p.add_argument("--show", action="store_true", help="only print, with the operations that count most")
    o = p.parse_args()
    path = N.HERE / "losses.json"
    kept = json.loads(path.read_text())
    for name in o.networks:
        for batch in o.batch or N.BATCHES:
            known = kept[name][str(batch)]
            made = measure(N.NETWORKS[name], batch)
            for step, (loss, bound, usual, shares) in enumerate(made):
                wanted = known["loss"][step]
                if abs(loss - wanted) > 1e-9 * abs(wanted):
                    raise SystemExit(f"{name} {batch}: step {step} in parts gives {loss}, must be {wanted}")
                if o.show:
                    most = sorted(shares, key=shares.get, reverse=True)[:4]
                    print(name, batch, step, f"bound {bound:.2g}, likely {usual:.2g},",
                          f"measured {known['distance'][step]:.2g}:",
                          ", ".join(f"{m} {shares[m] / bound:.0%}" for m in most), flush=True)
            for k, key in ((1, "bound"), (2, "likely")):
                known[key] = [float(f"{m[k]:.3g}") for m in made]
    if not o.show:
        N.write(kept)


if __name__ == "__main__":
    main()
