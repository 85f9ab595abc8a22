#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the training step of bench/step.c in PyTorch, on the CPU or with --cuda on a GPU; prints one JSON object."""
import torch
import torch.nn.functional as F
from torch import nn

import measure

o = measure.options(__doc__, ("--compile", "through torch.compile"),
                    ("--compile-update", "the optimizer's update, too"),
                    ("--cuda", "on the first GPU that CUDA has"),
                    ("--graph", "with --cuda: the step recorded once as a CUDA graph, and replayed"),
                    ("--channels-last", "images with the channels innermost"))
torch.set_num_threads(o.threads)
torch.manual_seed(0)

net = nn.Sequential(nn.Conv2d(1, 10, 5), nn.MaxPool2d(2), nn.ReLU(), nn.BatchNorm2d(10),
                    nn.Conv2d(10, 20, 5), nn.MaxPool2d(2), nn.ReLU(), nn.BatchNorm2d(20),
                    nn.Flatten(), nn.Linear(320, 50), nn.ReLU(), nn.Linear(50, 10),
                    nn.LogSoftmax(1))
x, y = torch.rand(o.batch_size, 1, 28, 28), torch.tensor(measure.labels(o.batch_size))
if o.cuda:
    net, x, y = (t.to("cuda") for t in (net, x, y))
if o.channels_last:
    net, x = (t.to(memory_format=torch.channels_last) for t in (net, x))
sgd = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.5)


def loss_of():
    return F.nll_loss(net(x), y)


forward = torch.compile(loss_of) if o.compile else loss_of
update = torch.compile(sgd.step) if o.compile_update else sgd.step


def step():
    sgd.zero_grad()
    loss = forward()
    loss.backward()
    update()
    return loss.detach()


def recorded(step):
    """Steps before it is recorded run on a stream of their own, as CUDA graphs ask for."""
    side, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    with torch.cuda.graph(graph):
        loss = step()

    def replay():
        graph.replay()
        return loss

    return replay


measure.run(o, recorded(step) if o.graph else step, float)
