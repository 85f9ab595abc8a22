#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the training step of bench/step.c in tinygrad on the device of its variable DEV; prints one
JSON object."""
from tinygrad import Context, Tensor, TinyJit, nn

import measure

o = measure.options(__doc__)
Tensor.manual_seed(0)


class Net:
    def __init__(self):
        self.conv1, self.norm1 = nn.Conv2d(1, 10, 5), nn.BatchNorm(10)
        self.conv2, self.norm2 = nn.Conv2d(10, 20, 5), nn.BatchNorm(20)
        self.fc1, self.fc2 = nn.Linear(320, 50), nn.Linear(50, 10)

    def __call__(self, x):
        x = self.norm1(self.conv1(x).max_pool2d(2).relu())
        x = self.norm2(self.conv2(x).max_pool2d(2).relu())
        return self.fc2(self.fc1(x.flatten(1)).relu())


net = Net()
sgd = nn.optim.SGD(nn.state.get_parameters(net), lr=0.01, momentum=0.5)
x = Tensor.rand(o.batch_size, 1, 28, 28).realize()
y = Tensor(measure.labels(o.batch_size)).realize()


@TinyJit
def step():
    sgd.zero_grad()
    loss = net(x).sparse_categorical_crossentropy(y).backward()
    return loss.realize(*sgd.schedule_step())


with Context(TRAINING=1):
    measure.run(o, step, lambda loss: loss.item())
