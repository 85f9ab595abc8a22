# SPDX-License-Identifier: Apache-2.0
"""The networks of bench/networks/timed_odd.c in PyTorch, but its transformer, for pytorch_networks.py."""
import torch
import torch.nn.functional as F
from torch import nn

import measure
from pytorch_fresh import layers
from pytorch_net import Net


class Words650(Net):
    shape, clip = (20, 35), 5.0

    def __init__(self):
        super().__init__()
        self.words, self.head = nn.Embedding(10000, 650), nn.Linear(650, 10000)
        self.lstm = nn.LSTM(650, 650, batch_first=True)

    def batch(self, n):
        x = torch.tensor(measure.labels(n * 35, 10000))
        return x.reshape(n, 35), x

    def forward(self, x):
        return self.head(self.lstm(self.words(x))[0]).reshape(-1, 10000)


class FiveLayers(Net):
    shape = (16, 3, 227, 227)

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 48, 11, 4), nn.Conv2d(48, 100, 5, padding=2)
        self.third, self.fourth = nn.Conv2d(100, 150, 3, padding=1), nn.Conv2d(150, 150, 3, padding=1)
        self.fifth, self.wide, self.head = nn.Conv2d(150, 100, 3, padding=1), nn.Linear(3600, 1000), nn.Linear(1000, 101)

    def batch(self, n):
        return torch.rand(n, *self.shape[1:]), torch.tensor(measure.labels(n, 101))

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.first(x)), 3, 2)
        x = F.max_pool2d(F.relu(self.second(x)), 3, 2)
        x = F.relu(self.fourth(F.relu(self.third(x))))
        x = F.max_pool2d(F.relu(self.fifth(x)), 3, 2).flatten(1)
        return self.head(F.dropout(F.relu(self.wide(x)), training=self.training))


class Table37(Net):
    shape = (100, 37)

    def __init__(self):
        super().__init__()
        self.layers = layers(4, lambda i: nn.Linear(300 if i else 37, 300))
        self.norms, self.head = layers(4, lambda i: nn.LayerNorm(300)), nn.Linear(300, 43)

    def batch(self, n):
        return torch.rand(n, 37), torch.tensor(measure.labels(n, 43))

    def forward(self, x):
        for layer, norm in zip(self.layers, self.norms):
            x = F.relu(norm(layer(x)))
        return self.head(x)


class Names(Net):
    shape = (31, 19, 57)

    def __init__(self):
        super().__init__()
        self.letters, self.head = nn.GRU(57, 150, batch_first=True), nn.Linear(150, 18)

    def batch(self, n):
        return torch.rand(n, 19, 57), torch.tensor(measure.labels(n, 18))

    def forward(self, x):
        return self.head(self.letters(x)[0][:, -1])


NETWORKS = {"words-650": Words650, "five-layers": FiveLayers, "table-37": Table37, "names": Names}
