#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the fuzzer's random programs through PyTorch in float64 and compares all results with those of
the fuzzer's own reference, which is what devices are compared with: two independent opinions on each
value, gradient, second gradient and optimizer step. Ends with 77 where PyTorch is not installed, or, if
PYTORCH_REQUIRED is set, with 1.

  test/against_pytorch.py build/release/bin/test_fuzz_plain --programs 100 --first-seed 1

A result agrees when it differs by no more than double rounding explains: the reference's bound for
float32 scaled by 2^-16 (2^-29 is the ratio of the units; PyTorch may sum in another way), or 1e-12 of
the largest value around, or of 1: terms of that size may cancel. Beyond that, but within the float32 bound, it counts as blunt: a comparison that float32
cannot decide. All else is wrong."""
import argparse
import copy
import json
import os
import subprocess
import sys

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    print("against_pytorch: PyTorch is not installed")
    sys.exit(1 if os.environ.get("PYTORCH_REQUIRED") else 77)

from pytorch_more import More

F32, I32, U8 = 0, 1, 2
ALL = None
KEPT = {"parameter", "parameter_kaiming", "parameter_with", "buffer", "keep", "find"}
LAYERS = {"linear_forward", "conv2d_forward", "batch_norm_forward", "layer_norm_forward"}
PARTS = {"make_linear": 2, "make_conv2d": 2, "make_batch_norm": 5, "make_layer_norm": 2}
EPS, MOMENTUM, REST = (torch.tensor(x, dtype=torch.float32).double().item() for x in (1e-5, 0.1, 0.9))


class Unsupported(Exception):
    """PyTorch refuses what Tarn takes."""


def single(x):
    return torch.tensor(x, dtype=torch.float32).double().item()


def doubles(values, shape):
    return torch.tensor(values, dtype=torch.float64).reshape(shape)


def pair(first, second):
    return (first, second or first)


def own(x):
    """The same value with a gradient of its own."""
    return x.detach().clone().requires_grad_(True)


class Slot:
    """A tensor that outlives a step."""

    def __init__(self, value, parameter, kept=False):
        self.value, self.parameter, self.kept = value, parameter, kept
        self.alive, self.gradient, self.accumulated = True, None, None

    def copy(self):
        other = Slot(self.value, self.parameter, self.kept)
        other.__dict__.update(self.__dict__)
        return other


class Program(More):
    def __init__(self, lines):
        self.lines, self.values, self.slots, self.before = lines, {}, [], []
        self.optimizer, self.training, self.proxies, self.state = None, True, {}, None

    # ---- operands ------------------------------------------------------------------------------

    def operand(self, line, k):
        index = line["in"][k]
        value = self.values[index]
        return self.slots[value].value if self.lines[index]["op"] in KEPT else value

    def layer(self, line):
        index = line["in"][1]
        return self.lines[index]["arg"], self.slots[self.values[index]:][:5]

    def new_slot(self, value, parameter, kept=False):
        self.slots.append(Slot(value, parameter, kept))
        return len(self.slots) - 1

    # ---- calls ---------------------------------------------------------------------------------

    def call(self, i, line):
        name = line["op"]
        if name in PARTS:
            self.make(i, line)
        elif name in KEPT:
            self.keep(i, line)
        elif hasattr(self, "do_" + name):
            getattr(self, "do_" + name)(line)
        elif name not in {"output", "eval"}:
            inputs = [] if name in LAYERS else [self.operand(line, k)
                                                          for k in range(len(line["in"]))]
            result = getattr(self, "op_" + name)(line, *inputs)
            if any(result is x for x in inputs):
                result = result.view_as(result)
            if list(result.shape) != line["shape"]:
                raise AssertionError(f"{name} has shape {list(result.shape)}, not {line['shape']}")
            if line["type"] != F32:
                result = result.detach()
            elif not result.requires_grad:
                result.requires_grad_(True)
            self.values[i] = result

    def make(self, i, line):
        self.values[i] = len(self.slots)
        a = line["arg"]
        shapes = {"make_linear": [a[1], a[0]], "make_conv2d": [a[1], a[0] // (a[6] or 1), a[2], a[2]]}
        for part in range(PARTS[line["op"]]):
            shape = shapes.get(line["op"], [a[0]]) if part == 0 else [a[1]] \
                if line["op"] in shapes else [a[0]] if part < 4 else []
            self.new_slot(own(doubles(line[f"part{part}"], shape)), part < 2)

    def keep(self, i, line):
        if line["op"] == "keep":
            self.values[i] = self.new_slot(self.operand(line, 0), False, kept=True)
        elif line["op"] == "find":
            made = self.lines[line["in"][0]]["op"]
            self.values[i] = self.values[line["in"][0]] + (line["arg"][0] if made in PARTS else 0)
        else:
            self.values[i] = self.new_slot(own(doubles(line["data"], line["shape"])),
                                           line["op"] != "buffer")

    # ---- statements ----------------------------------------------------------------------------

    def parameters(self):
        return [s for s in self.slots if s.parameter]

    def do_make_sgd(self, line):
        lr, momentum, damp, decay, _ = line["f"]
        if line["arg"][0] and momentum and damp:
            raise Unsupported("Nesterov's momentum with dampening")
        self.make_optimizer(torch.optim.SGD, lr=lr, momentum=momentum, dampening=damp,
                            weight_decay=decay, nesterov=bool(line["arg"][0] and momentum))

    def do_make_adam(self, line, kind=torch.optim.Adam):
        lr, beta1, beta2, eps, decay = line["f"]
        self.make_optimizer(kind, lr=lr, betas=(beta1, beta2), eps=eps, weight_decay=max(0, decay))

    def do_make_adamw(self, line):
        self.do_make_adam(line, torch.optim.AdamW)

    def do_make_rmsprop(self, line):
        lr, alpha, eps, decay, momentum = line["f"]
        self.make_optimizer(torch.optim.RMSprop, lr=lr, alpha=alpha, eps=eps, weight_decay=decay,
                            momentum=momentum, centered=bool(line["arg"][0]))

    def do_make_lion(self, _):
        raise Unsupported("an optimizer that PyTorch lacks")

    def do_scale_lr(self, _):
        raise Unsupported("settings of parameters by name")

    do_set_weight_decay = do_freeze = do_scale_lr

    def make_optimizer(self, kind, **options):
        self.proxies = {i: torch.nn.Parameter(s.value.detach().clone())
                        for i, s in enumerate(self.slots) if s.parameter}
        self.optimizer = kind(list(self.proxies.values()), **options)
        self.state = copy.deepcopy(self.optimizer.state_dict())

    def do_assign(self, line):
        slot, value = self.slots[self.values[line["in"][0]]], self.operand(line, 1)
        slot.value = own(value) if slot.parameter else value

    def do_drop(self, line):
        self.slots[self.values[line["in"][0]]].alive = False

    def do_train(self, line):
        self.training = bool(line["arg"][0])

    def do_backward(self, line):
        slots, loss = self.parameters(), self.operand(line, 0)
        found = torch.autograd.grad(loss.reshape(()), [s.value for s in slots], create_graph=True,
                                    allow_unused=True)
        for slot, gradient in zip(slots, found):
            if gradient is not None:
                slot.gradient = gradient if slot.gradient is None else slot.gradient + gradient

    def join(self):
        for slot in self.slots:
            if slot.accumulated is not None:
                slot.gradient = slot.accumulated if slot.gradient is None \
                    else slot.accumulated + slot.gradient
            slot.accumulated = None
        return [s for s in self.slots if s.gradient is not None]

    def do_optimizer_accumulate(self, _):
        for slot in self.join():
            slot.accumulated, slot.gradient = slot.gradient, None

    def op_clip_grad_norm(self, line):
        slots = self.join()
        norm = torch.stack([(s.gradient ** 2).sum() for s in slots]).sum().sqrt()
        scale = torch.clamp(line["f"][0] / (norm.detach() + 1e-6), max=1)
        for slot in slots:
            slot.gradient = slot.gradient * scale
        return norm

    op_optimizer_clip_grad_norm = op_clip_grad_norm

    def do_optimizer_step(self, _):
        taken = self.join()
        pairs = [(s, self.proxies[i]) for i, s in enumerate(self.slots) if s in taken]
        for slot, proxy in pairs:
            proxy.data.copy_(slot.value.detach())
            proxy.grad = slot.gradient.detach().clone()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        for slot, proxy in pairs:
            slot.value, slot.gradient = own(proxy), None

    def do_fail(self, _):
        for slot in self.slots[len(self.before):]:
            slot.alive = False
        self.slots[:len(self.before)] = [s.copy() for s in self.before]
        if self.optimizer is not None:
            self.optimizer.load_state_dict(copy.deepcopy(self.state))

    def do_step(self, _):
        for slot in self.slots:
            slot.gradient, slot.value = None, own(slot.value)
            if slot.accumulated is not None:
                slot.accumulated = slot.accumulated.detach()
        self.before = [s.copy() for s in self.slots]
        if self.optimizer is not None:
            self.state = copy.deepcopy(self.optimizer.state_dict())

    # ---- leaves and maps -----------------------------------------------------------------------

    def op_from(self, line):
        return doubles(line["data"], line["shape"])

    op_rand = op_randn = op_randn_truncated = op_from

    def op_full(self, line):
        return torch.full(line["shape"], line["f"][0], dtype=torch.float64)

    op_number = op_full

    def op_zeros(self, line):
        return torch.zeros(line["shape"], dtype=torch.float64)

    def op_ones(self, line):
        return torch.ones(line["shape"], dtype=torch.float64)

    def op_arange(self, line):
        return torch.arange(line["arg"][0], dtype=torch.float64)

    def op_grad(self, line, _):
        return self.slots[self.values[line["in"][0]]].gradient

    def op_div(self, line, a, b):
        if line["type"] == F32:
            return a / b
        return torch.where(b == 0, 0.0, torch.trunc(a / torch.where(b == 0, 1.0, b)))

    def op_cast(self, line, a):
        if line["type"] == F32:
            from_float = self.lines[line["in"][0]]["type"] == F32
            return a.view_as(a) if from_float else a.detach().clone()
        whole = torch.trunc(a.detach())
        return whole if line["type"] == I32 else (whole.clamp(-1e9, 1e9).long() & 255).double()

    def op_pow_scalar(self, line, a):
        return a ** line["f"][0]

    def op_add_scalar(self, line, a):
        return a + line["f"][0]

    def op_mul_scalar(self, line, a):
        return a * line["f"][0]

    def op_detach(self, _, a):
        return a.detach().clone()

    def op_clamp(self, line, a):
        return torch.clamp(a, line["f"][0], line["f"][1])

    def op_where(self, _, c, a, b):
        return torch.where(c != 0, a, b)

    def op_silu(self, _, a):
        return F.silu(a)

    def op_softplus(self, line, a):
        return F.softplus(a, line["f"][0], line["f"][1])

    def op_leaky_relu(self, line, a):
        return F.leaky_relu(a, line["f"][0])

    def op_gelu(self, _, a):
        return F.gelu(a)

    def op_gelu_tanh(self, _, a):
        return F.gelu(a, approximate="tanh")

    # ---- views ---------------------------------------------------------------------------------

    def op_reshape(self, line, a):
        return a.reshape(line["shape"])

    op_flatten = op_batch_axis = op_reshape

    def op_permute(self, line, a):
        return a.permute(line["first"])

    def op_transpose(self, line, a):
        return a.transpose(line["arg"][0], line["arg"][1])

    def op_broadcast_to(self, line, a):
        return a.expand(line["shape"])

    def op_slice(self, line, a):
        axis, start, end, step = line["arg"][:4]
        return a[(slice(None),) * axis + (slice(start, end, step),)]

    def op_flip(self, line, a):
        return a.flip(line["first"])

    def op_roll(self, line, a):
        return a.roll(line["arg"][1], line["arg"][0])

    def op_pad(self, line, a):
        sides = [n for both in zip(reversed(line["first"]), reversed(line["second"])) for n in both]
        return F.pad(a, sides, value=line["f"][0])

    def op_concat(self, line, *parts):
        return torch.cat(parts, line["arg"][0])

    # ---- reductions ----------------------------------------------------------------------------

    @staticmethod
    def axes(line, a):
        return list(range(a.dim())) if line["first"] is ALL else line["first"]

    def reduce(self, function, line, a, **options):
        axes = self.axes(line, a)
        return function(a, dim=axes, keepdim=bool(line["arg"][0]), **options) if axes else a * 1

    def op_sum(self, line, a):
        return self.reduce(torch.sum, line, a)

    def op_mean(self, line, a):
        return self.reduce(torch.mean, line, a)

    def op_max(self, line, a):
        return self.reduce(torch.amax, line, a)

    def op_min(self, line, a):
        return self.reduce(torch.amin, line, a)

    def op_argmin(self, line, a):
        return torch.argmin(a, line["arg"][1], keepdim=bool(line["arg"][0])).double()

    def op_argmax(self, line, a):
        return torch.argmax(a, line["arg"][1], keepdim=bool(line["arg"][0])).double()

    def op_var(self, line, a):
        if self.axes(line, a):
            return self.reduce(torch.var, line, a, correction=line["arg"][1])
        return (a - a) ** 2

    # ---- what nets are made of -----------------------------------------------------------------

    def op_matmul(self, _, a, b):
        return torch.matmul(a, b)

    def op_conv2d_op(self, line, a, w, bias=None):
        o = line["arg"]
        if a.shape[1] == 0:  # gives a result of no channels, too
            raise Unsupported("input of no channels")
        return F.conv2d(a, w, bias, pair(o[0] or 1, o[1]), (o[2], o[3]), pair(o[4] or 1, o[5]),
                        o[6] or 1)

    def op_max_pool2d(self, line, a):
        return F.max_pool2d(a, line["arg"][0])

    def op_avg_pool2d(self, line, a):
        return F.avg_pool2d(a, line["arg"][0])

    def op_embedding(self, _, table, index):
        return F.embedding(index.detach().clamp(0, table.shape[0] - 1).long(), table)

    def inside(self, a, axis, index):
        return index.detach().clamp(0, a.shape[axis] - 1).long()

    def op_gather(self, line, a, index):
        axis = line["arg"][0]
        return torch.gather(a, axis, self.inside(a, axis, index))

    def op_scatter_add(self, line, a, index, source):
        axis = line["arg"][0]
        return torch.scatter_add(a, axis, self.inside(a, axis, index), source)

    def scatter_most(self, line, a, index, source, reduce):
        axis = line["arg"][0]
        part = [slice(n) for n in index.shape]  # PyTorch takes no longer source for its gradient
        return torch.scatter_reduce(a, axis, self.inside(a, axis, index), source[tuple(part)], reduce)

    def op_scatter_max(self, *of):
        return self.scatter_most(*of, "amax")

    def op_scatter_min(self, *of):
        return self.scatter_most(*of, "amin")

    def op_index_select(self, line, a, index):
        axis = line["arg"][0]
        return torch.index_select(a, axis, self.inside(a, axis, index))

    def op_index_add(self, line, a, index, source):
        axis = line["arg"][0]
        return torch.index_add(a, axis, self.inside(a, axis, index), source)

    def op_sort(self, line, a, which=0):
        axis, descending = line["arg"][:2]
        return torch.sort(a, dim=axis, descending=bool(descending), stable=True)[which]

    def op_argsort(self, line, a):
        return self.op_sort(line, a, 1).double()

    def op_top_k(self, line, a):
        return self.op_sort(line, a).narrow(line["arg"][0], 0, line["arg"][2])

    def op_searchsorted(self, line, a, values):
        if a.dim() == 1:
            values, shape = values.reshape(-1), values.shape
            return torch.searchsorted(a.detach(), values.detach(), right=bool(line["arg"][0])).double().reshape(shape)
        return torch.searchsorted(a.detach(), values.detach(), right=bool(line["arg"][0])).double()

    def op_cumprod(self, line, a):
        return torch.cumprod(a, line["arg"][0])

    def op_cumsum(self, line, a):
        return torch.cumsum(a, line["arg"][0])

    def op_one_hot(self, line, index):
        return (index.detach()[..., None] == torch.arange(line["arg"][0])).double()

    def op_softmax(self, line, a):
        return F.softmax(a, line["arg"][0])

    def op_log_softmax(self, line, a):
        return F.log_softmax(a, line["arg"][0])

    def op_nll_loss(self, _, a, target):
        target = target.detach().long()
        inside = (target >= 0) & (target < a.shape[1])
        if inside.all():
            return F.nll_loss(a, target)
        return F.nll_loss(a, torch.where(inside, target, -100), reduction="sum") / a.shape[0]

    def op_cross_entropy(self, line, a, target):
        return self.op_nll_loss(line, F.log_softmax(a, 1), target)

    def op_mse_loss(self, _, a, b):
        return F.mse_loss(a, b)

    def op_layer_norm_op(self, line, a, w, bias=None):
        return F.layer_norm(a, w.shape, w, bias, line["f"][0])

    def op_dropout(self, line, a):
        return a * doubles(line["mask"], line["shape"]) if "mask" in line else a * 1

    def op_linear_forward(self, line):
        _, slots = self.layer(line)
        return F.linear(self.operand(line, 0), slots[0].value, slots[1].value)

    def op_conv2d_forward(self, line):
        a, slots = self.layer(line)
        return F.conv2d(self.operand(line, 0), slots[0].value, slots[1].value, a[3] or 1, a[4],
                        a[5] or 1, a[6] or 1)

    def op_layer_norm_forward(self, line):
        a, slots = self.layer(line)
        return F.layer_norm(self.operand(line, 0), a[:1], slots[0].value, slots[1].value, EPS)

    def op_batch_norm_forward(self, line):
        _, (w, bias, mean, var, count) = self.layer(line)
        x = self.operand(line, 0)
        if not self.training:
            return F.batch_norm(x, mean.value.detach(), var.value.detach(), w.value, bias.value, False,
                                0, EPS)
        axes = [d for d in range(x.dim()) if d != 1]
        mean.value = (mean.value * REST + x.mean(axes) * MOMENTUM).detach()
        var.value = (var.value * REST + x.var(axes, correction=1) * MOMENTUM).detach()
        count.value = count.value.detach() + 1
        return F.batch_norm(x, None, None, w.value, bias.value, True, 0, EPS)

    def op_gradients(self, line, loss, *inputs):
        if not loss.requires_grad:
            return torch.zeros(line["shape"], dtype=torch.float64)
        found = torch.autograd.grad(loss, inputs, create_graph=True, allow_unused=True)
        found = found[line["arg"][0]]
        return torch.zeros(line["shape"], dtype=torch.float64) if found is None else found


def simple(function):
    return lambda self, line, *inputs: function(*inputs)


for name in ("add sub mul pow maximum minimum neg abs exp log sqrt rsqrt tanh sigmoid relu "
             "erf sin cos atan atan2 log1p expm1 floor round sign").split():
    setattr(Program, "op_" + name, simple(getattr(torch, name)))
for name in "eq ne lt le gt ge".split():
    setattr(Program, "op_" + name, simple(lambda a, b, f=getattr(torch, name): f(a, b).double()))


for name in "eq ne lt le gt ge".split():
    setattr(Program, f"op_{name}_scalar", lambda self, line, a, f=getattr(torch, name): f(a, line["f"][0]).double())


class Totals:
    def __init__(self):
        self.programs = self.results = self.blunt = self.wrong = 0
        self.refused = {}

    def compare(self, seed, at, line, want, got):
        value, bound = (torch.tensor(want[k], dtype=torch.float64) for k in ("value", "bound"))
        error = torch.where(value == got, 0, (got - value).abs())
        error = torch.where(torch.isnan(value) & torch.isnan(got), 0, error)
        size = max([1.0] + value[torch.isfinite(value)].abs().tolist())
        close = error <= bound * 2 ** -16 + size * 1e-12
        self.results += 1
        if close.all():
            return True
        if (close | (error <= bound) | ~torch.isfinite(bound)).all():
            self.blunt += 1
            return True
        worst = torch.argmax(torch.where(close, 0, error.nan_to_num(nan=1e300, posinf=1e300)))
        print(f"seed {seed}, step of line {at}, {line}: PyTorch {got[worst]:.17g}, reference "
              f"{value[worst]:.17g}, bound for float32 {bound[worst]:.3g}")
        return False

    def check(self, program):
        lines = program["lines"]
        for line in lines:
            line["f"] = [single(x) for x in line["f"]]
        mine, good, at = Program(lines), True, 0
        try:
            for at, line in enumerate(lines):
                mine.call(at, line)
                for want in line.get("want", []):
                    slot = want["slot"]
                    got = mine.values[want["line"]] if slot < 0 else mine.slots[slot].value
                    what = f"line {want['line']}, {lines[want['line']]['op']}" if slot < 0 \
                        else f"owned tensor {slot}"
                    good &= self.compare(program["seed"], at, what, want,
                                         got.detach().reshape(-1))
        except (Unsupported, RuntimeError, ValueError, IndexError) as refusal:
            what = f"{lines[at]['op']}: {str(refusal).splitlines()[0]}"
            self.refused.setdefault(what, []).append(program["seed"])
        self.programs += 1
        self.wrong += not good


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fuzzer", help="the program test_fuzz_plain")
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--first-seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    totals = Totals()
    with subprocess.Popen([options.fuzzer, "--json", "--programs", str(options.programs),
                           "--first-seed", str(options.first_seed)], stdout=subprocess.PIPE) as fuzzer:
        for line in fuzzer.stdout:
            totals.check(json.loads(line))
    for what, seeds in sorted(totals.refused.items()):
        print(f"PyTorch refuses {what} (seeds {seeds[:5]}, {len(seeds)} in all)")
    refused = sum(map(len, totals.refused.values()))
    print(f"{totals.programs} programs from seed {options.first_seed}: {totals.results} results, "
          f"{totals.blunt} blunt, {refused} programs refused by PyTorch, {totals.wrong} wrong")
    sys.exit(fuzzer.returncode != 0 or totals.wrong > 0 or 4 * refused > totals.programs)


if __name__ == "__main__":
    main()
