#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes optim.safetensors: five steps of each optimizer on a small vector, of parameter groups and
averages on two, of Adafactor on a vector and a pile of matrices; the running statistics of a batch
norm and a clipped gradient, as PyTorch computes them, for golden_optim_test.c and
golden_groups_test.c.

Run in this folder with a Python that has PyTorch (made with 1.13, CPU).
"""
import torch
from torch.optim.swa_utils import AveragedModel

from generate import HERE, save

STEPS, SIZE = 5, 7


def vectors():
    """Start, curvature and targets: the targets stay so far off that no gradient nears zero."""
    start = torch.rand(SIZE) * 2 - 1
    curvature = torch.rand(SIZE) + 0.5
    sign = torch.where(torch.rand(SIZE) < 0.5, -1.0, 1.0)
    target = (3 + torch.rand(STEPS, SIZE)) * sign
    return start, curvature, target


def trajectory(out, name, make):
    start, curvature, target = out["start"], out["curvature"], out["target"]
    p = start.clone().requires_grad_()
    optimizer = make([p])
    path = []
    for step in range(STEPS):
        optimizer.zero_grad()
        (curvature * (p - target[step]) ** 2).sum().backward()
        optimizer.step()
        path.append(p.detach().clone())
    out[f"{name}.path"] = torch.stack(path)


def optimizers(out):
    sgd, adam, adamw = torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW
    lr = 0.0625
    trajectory(out, "sgd", lambda p: sgd(p, lr=lr))
    trajectory(out, "sgd_momentum", lambda p: sgd(p, lr=lr, momentum=0.5))
    trajectory(out, "sgd_dampening", lambda p: sgd(p, lr=lr, momentum=0.5, dampening=0.25))
    trajectory(out, "sgd_decay", lambda p: sgd(p, lr=lr, momentum=0.5, weight_decay=0.125))
    trajectory(out, "sgd_nesterov",
               lambda p: sgd(p, lr=lr, momentum=0.5, weight_decay=0.125, nesterov=True))
    trajectory(out, "adam", lambda p: adam(p, lr=lr))
    trajectory(out, "adam_decay", lambda p: adam(p, lr=lr, weight_decay=0.125))
    trajectory(out, "adamw", lambda p: adamw(p, lr=lr))
    trajectory(out, "adamw_decay", lambda p: adamw(p, lr=lr, betas=(0.5, 0.75), weight_decay=0.125))
    trajectory(out, "adam_amsgrad",
               lambda p: adam(p, lr=lr, betas=(0.5, 0.5), weight_decay=0.125, amsgrad=True))
    trajectory(out, "adamw_amsgrad", lambda p: adamw(p, lr=lr, betas=(0.5, 0.5), amsgrad=True))


class Lion(torch.optim.Optimizer):
    """After the authors' definition (google/automl, lion/lion_pytorch.py): PyTorch has none."""

    def __init__(self, params, lr, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                m = self.state[p].setdefault("exp_avg", torch.zeros_like(p))
                p.mul_(1 - group["lr"] * group["weight_decay"])
                p.sub_(group["lr"] * (m * beta1 + p.grad * (1 - beta1)).sign())
                m.copy_(m * beta2 + p.grad * (1 - beta2))


class Adafactor(torch.optim.Optimizer):
    """After torch.optim.Adafactor of PyTorch 2.5, which is taken where there is one."""

    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0):
        super().__init__(params, {"lr": lr, "tau": beta2_decay, "eps": eps, "d": d,
                                  "weight_decay": weight_decay})

    @staticmethod
    def square(state, g, part, eps):
        """The estimate of the mean square, from means over rows and columns or of each element."""
        def towards(name, value):
            return state.setdefault(name, torch.zeros_like(value)).lerp_(value, part)
        if g.dim() < 2:
            return towards("variance", g * g)
        row = towards("row_var", (g * g).mean(-1, keepdim=True))
        column = towards("col_var", (g * g).mean(-2, keepdim=True))
        return row @ column / row.mean(-2, keepdim=True).clamp(min=eps)

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            eps = group["eps"][0] or torch.finfo(group["params"][0].dtype).eps
            for p in group["params"]:
                state = self.state[p]
                t = state["step"] = state.get("step", 0) + 1
                size = max(group["eps"][1], p.norm(2).item() / p.numel() ** 0.5)
                size *= min(group["lr"], t ** -0.5)
                p.mul_(1 - group["lr"] * group["weight_decay"])
                square = self.square(state, p.grad, t ** group["tau"], eps)
                way = p.grad * square.clamp(min=eps * eps).rsqrt()
                over = max(1.0, way.norm(2).item() / (p.numel() ** 0.5 * group["d"]))
                p.sub_(way * (size / over))


def adagrad(out):
    trajectory(out, "adagrad", lambda p: torch.optim.Adagrad(p, lr=0.0625))
    trajectory(out, "adagrad_decay",
               lambda p: torch.optim.Adagrad(p, lr=0.0625, lr_decay=0.25, weight_decay=0.125))
    trajectory(out, "adagrad_initial",
               lambda p: torch.optim.Adagrad(p, lr=0.0625, initial_accumulator_value=0.5))


def more_optimizers(out):
    rmsprop, lr = torch.optim.RMSprop, 0.015625
    trajectory(out, "rmsprop", lambda p: rmsprop(p, lr=lr))
    trajectory(out, "rmsprop_momentum",
               lambda p: rmsprop(p, lr=lr, alpha=0.75, momentum=0.5, weight_decay=0.125))
    trajectory(out, "rmsprop_centered", lambda p: rmsprop(p, lr=lr, centered=True))
    trajectory(out, "rmsprop_both", lambda p: rmsprop(p, lr=lr, centered=True, momentum=0.5))
    trajectory(out, "lion", lambda p: Lion(p, lr=0.0625))
    trajectory(out, "lion_decay", lambda p: Lion(p, lr=0.0625, betas=(0.5, 0.75), weight_decay=0.125))
    adafactor = getattr(torch.optim, "Adafactor", Adafactor)
    trajectory(out, "adafactor", lambda p: adafactor(p, lr=0.25))
    shape = (2, 3, 4)
    p = torch.nn.Parameter(torch.rand(shape) * 2 - 1)
    target = 3 + torch.rand(STEPS, *shape)
    out["matrices.start"], out["matrices.target"] = p.detach().clone(), target
    optimizer, path = adafactor([p], lr=0.25, d=1.25, weight_decay=0.125), []
    for step in range(STEPS):
        optimizer.zero_grad()
        ((p - target[step]) ** 2).sum().backward()
        optimizer.step()
        path.append(p.detach().clone())
    out["adafactor_matrices.path"] = torch.stack(path)


class Two(torch.nn.Module):
    def __init__(self, start):
        super().__init__()
        self.a = torch.nn.Parameter(start.clone())
        self.b = torch.nn.Parameter(start.clone())
        self.c = torch.nn.Parameter(start.clone())


def groups(out, name, make, factor, decay):
    """a as the optimizer has it, b with a factor of the learning rate, c with another decay; the
    learning rate halves after three steps."""
    net = Two(out["start"])
    lr, target = 0.0625, out["target"]
    optimizer = make([{"params": [net.a]}, {"params": [net.b], "lr": lr * factor},
                      {"params": [net.c], "weight_decay": decay}], lr)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 3, 0.5)
    average = AveragedModel(net, avg_fn=lambda mean, p, _: mean + (1 - 0.9) * (p - mean))
    average.update_parameters(net)
    path, means = [], []
    for step in range(STEPS):
        optimizer.zero_grad()
        for p in net.parameters():
            (out["curvature"] * (p - target[step]) ** 2).sum().backward()
        optimizer.step()
        schedule.step()
        average.update_parameters(net)
        path.append(torch.cat([p.detach() for p in net.parameters()]))
        means.append(torch.cat([p.detach() for p in average.module.parameters()]))
    out[f"{name}.groups"] = torch.stack(path)
    out[f"{name}.means"] = torch.stack(means)


def all_groups(out):
    optim = torch.optim
    groups(out, "sgd", lambda p, lr: optim.SGD(p, lr=lr, momentum=0.5, weight_decay=0.125), 0.1, 0)
    groups(out, "adam", lambda p, lr: optim.Adam(p, lr=lr, weight_decay=0.125), 0.3, 0.7)
    groups(out, "adamw", lambda p, lr: optim.AdamW(p, lr=lr, weight_decay=0.125), 0.1, 0)
    groups(out, "lion", lambda p, lr: Lion(p, lr=lr), 0.3, 0.7)


def clip(out):
    p = out["start"].clone().requires_grad_()
    (out["curvature"] * (p - out["target"][0]) ** 2).sum().backward()
    out["clip.norm"] = torch.nn.utils.clip_grad_norm_([p], 1.0)
    out["clip.grad"] = p.grad


def batch_norm(out):
    layer = torch.nn.BatchNorm2d(3)
    x = torch.rand(4, 5, 3, 4, 4) * 4 - 2
    for step in range(3):
        layer(x[step])
    layer.eval()
    out["bn.x"] = x
    out["bn.mean"] = layer.running_mean
    out["bn.var"] = layer.running_var
    out["bn.y"] = layer(x[3]).detach()


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(11)
    OUT = dict(zip(("start", "curvature", "target"), vectors()))
    optimizers(OUT)
    clip(OUT)
    batch_norm(OUT)
    more_optimizers(OUT)
    all_groups(OUT)
    adagrad(OUT)
    save(HERE / "optim.safetensors", OUT)
