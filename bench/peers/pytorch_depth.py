# SPDX-License-Identifier: Apache-2.0
"""The networks of bench/networks/timed_depth.c: images with depth."""
import torch
import torch.nn.functional as F
from torch import nn

import measure
from pytorch_net import Net


def unit(i, o, window=3, stride=1):
    around = tuple(w // 2 for w in window) if isinstance(window, tuple) else window // 2
    return nn.Sequential(nn.Conv3d(i, o, window, stride, around, bias=False), nn.BatchNorm3d(o))


def twice(i, o):
    return nn.Sequential(unit(i, o), nn.ReLU(), unit(o, o), nn.ReLU())


class Depth(Net):
    def optimizer(self):
        return torch.optim.SGD(self.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)


class Volume(Net):
    shape = (2, 1, 32, 32, 32)

    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.bottom = twice(1, 16), twice(16, 32), twice(32, 64)
        self.wider2, self.wider1 = nn.ConvTranspose3d(64, 32, 2, 2), nn.ConvTranspose3d(32, 16, 2, 2)
        self.up2, self.up1, self.head = twice(64, 32), twice(32, 16), nn.Conv3d(16, 10, 1)

    def batch(self, n):
        return torch.rand(n, *self.shape[1:]), torch.tensor(measure.labels(n * 32 ** 3)).reshape(n, 32, 32, 32)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool3d(a, 2))
        c = self.bottom(F.max_pool3d(b, 2))
        d = self.up2(torch.cat([self.wider2(c), b], 1))
        return self.head(self.up1(torch.cat([self.wider1(d), a], 1)))


class Voxels(Net):
    shape = (32, 1, 32, 32, 32)

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(unit(1, 32, 5, 2), nn.ReLU(), unit(32, 32), nn.ReLU(), nn.MaxPool3d(2), nn.Flatten(),
                                 nn.Linear(32 * 8 ** 3, 128), nn.ReLU(), nn.Linear(128, 10))

    def forward(self, x):
        return self.net(x)


class Video(Depth):
    shape = (8, 3, 8, 48, 48)

    def __init__(self):
        super().__init__()
        widths = [(32, 32, 1), (32, 64, 2), (64, 128, 2)]
        self.stem = unit(3, 32, (3, 7, 7), (1, 2, 2))
        self.first = nn.ModuleList(unit(i, o, 3, s) for i, o, s in widths)
        self.second = nn.ModuleList(unit(o, o) for _, o, _ in widths)
        self.beside = nn.ModuleList(unit(i, o, 1, s) if s > 1 else nn.Identity() for i, o, s in widths)
        self.fc = nn.Linear(128, 10)

    def forward(self, x):
        x = F.relu(self.stem(x))
        for first, second, beside in zip(self.first, self.second, self.beside):
            x = F.relu(beside(x) + second(F.relu(first(x))))
        return self.fc(x.mean((2, 3, 4)))


class Moments(Depth):
    shape = (16, 3, 8, 32, 32)

    def __init__(self):
        super().__init__()
        layers, last = [], 3
        for i in range(4):
            out = 16 << i
            layers += [unit(last, out, (1, 3, 3), 1 if i % 2 else (1, 2, 2)), nn.ReLU(),
                       unit(out, out, (3, 1, 1), (2, 1, 1) if i % 2 else 1), nn.ReLU()]
            last = out
        self.net, self.fc = nn.Sequential(*layers), nn.Linear(last, 10)

    def forward(self, x):
        return self.fc(self.net(x).mean((2, 3, 4)))


NETWORKS = {"volume": Volume, "voxels": Voxels, "video": Video, "moments": Moments}
