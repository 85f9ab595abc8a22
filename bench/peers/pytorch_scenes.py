# SPDX-License-Identifier: Apache-2.0
"""The networks of bench/networks/timed_scenes.c in PyTorch, for pytorch_networks.py: the same names of parameters."""
import torch
import torch.nn.functional as F
from torch import nn

import measure
from pytorch_fresh import layers
from pytorch_net import Net


class Scene(Net):
    """Pictures, and labels in some shape."""
    classes, label_shape = 10, ()

    def batch(self, n):
        y = torch.tensor(measure.labels(n * torch.Size(self.label_shape).numel(), self.classes))
        return torch.rand(n, *self.shape[1:]), y.reshape(n, *self.label_shape)

    def optimizer(self):
        return torch.optim.SGD(self.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)


class Unit(nn.Module):
    def __init__(self, i, o, window, stride=1, dilation=1):
        super().__init__()
        self.conv = nn.Conv2d(i, o, window, stride, window // 2 * dilation, dilation, bias=False)
        self.norm = nn.BatchNorm2d(o)

    def forward(self, x):
        return self.norm(self.conv(x))


class Block(nn.Module):
    def __init__(self, i, o, stride=1, dilation=1):
        super().__init__()
        self.first, self.second = Unit(i, o, 3, stride, dilation), Unit(o, o, 3, 1, dilation)
        self.beside = Unit(i, o, 1, stride) if stride > 1 or i != o else nn.Identity()

    def forward(self, x):
        return F.relu(self.beside(x) + self.second(F.relu(self.first(x))))


def resized(x, size):
    return F.interpolate(x, size, mode="bilinear", align_corners=False)


class Atrous(Scene):
    shape, classes, label_shape = (4, 3, 97, 97), 22, (97, 97)

    def __init__(self):
        super().__init__()
        self.stem, self.layer1, self.layer2 = Unit(3, 32, 3, 2), Block(32, 32), Block(32, 64, 2)
        self.layer3, self.layer4 = Block(64, 128, 1, 2), Block(128, 128, 1, 4)
        self.sides = nn.ModuleList([Unit(128, 64, 1), *(Unit(128, 64, 3, 1, d) for d in (3, 6, 9)), nn.Conv2d(128, 64, 1)])
        self.joined, self.head = Unit(320, 128, 1), nn.Conv2d(128, 21, 1)

    def forward(self, x):
        size = x.shape[2:]
        x = self.layer4(self.layer3(self.layer2(self.layer1(F.relu(self.stem(x))))))
        sides = [F.relu(side(x)) for side in self.sides[:4]]
        sides.append(resized(F.relu(self.sides[4](F.adaptive_avg_pool2d(x, 1))), x.shape[2:]))
        return resized(self.head(F.relu(self.joined(torch.cat(sides, 1)))), size)

    def loss(self, x, y):
        return F.cross_entropy(self(x), torch.where(y == 21, 255, y), ignore_index=255)


class Tower(nn.Module):
    """Of convolutions that look at each scale; at first nearly everything is background."""
    def __init__(self, out, bias):
        super().__init__()
        self.convs = layers(2, lambda i: nn.Conv2d(64, 64, 3, padding=1))
        self.norms = layers(2, lambda i: nn.GroupNorm(8, 64))
        self.last = nn.Conv2d(64, 3 * out, 3, padding=1)
        nn.init.normal_(self.last.weight, std=0.01)
        nn.init.constant_(self.last.bias, bias)
        self.out = out

    def forward(self, x):
        for conv, norm in zip(self.convs, self.norms):
            x = F.relu(norm(conv(x)))
        x = self.last(x)
        n, _, h, w = x.shape
        return x.reshape(n, 3, self.out, h, w).permute(0, 3, 4, 1, 2).reshape(n, -1, self.out)


def focal(x, y, counts):
    """As torchvision's sigmoid_focal_loss, without what does not count."""
    p = x.sigmoid()
    right = p * y + (1 - p) * (1 - y)
    loss = F.binary_cross_entropy_with_logits(x, y, reduction="none") * (1 - right) ** 2
    return ((0.25 * y + 0.75 * (1 - y)) * loss * counts).sum()


class Pyramid(Scene):
    shape, classes, label_shape = (4, 3, 120, 136), 40, (3 * (30 * 34 + 15 * 17 + 8 * 9),)

    def __init__(self):
        super().__init__()
        self.stem, self.layer1 = Unit(3, 32, 3, 2), Block(32, 32)
        self.layer2, self.layer3, self.layer4 = Block(32, 64, 2), Block(64, 128, 2), Block(128, 256, 2)
        self.across = layers(3, lambda i: nn.Conv2d(64 << i, 64, 1))
        self.out = layers(3, lambda i: nn.Conv2d(64, 64, 3, padding=1))
        self.kinds, self.sides = Tower(8, -4.59512), Tower(4, 0.0)

    def find(self, x):
        x, fine = self.layer1(F.relu(self.stem(x))), []
        for layer, across in zip((self.layer2, self.layer3, self.layer4), self.across):
            x = layer(x)
            fine.append(across(x))
        for i in 1, 0:
            fine[i] = fine[i] + F.interpolate(fine[i + 1], fine[i].shape[2:])
        fine = [out(x) for out, x in zip(self.out, fine)]
        return torch.cat([self.kinds(x) for x in fine], 1), torch.cat([self.sides(x) for x in fine], 1)

    def forward(self, x):
        return torch.cat(self.find(x), 2)

    def loss(self, x, y):
        kinds, sides = self.find(x)
        counts, positive = y != 8, y < 8
        place = torch.sin(y[..., None] * torch.arange(1, 5))
        boxes = F.smooth_l1_loss(sides[positive], place[positive], beta=1 / 9, reduction="sum")
        classes = focal(kinds, F.one_hot(y, 40)[..., :8].float(), counts[..., None])
        return (classes + boxes) / positive.sum().clamp(min=1)


class Go(Scene):
    shape, classes, label_shape = (32, 17, 19, 19), 64, (363,)

    def __init__(self):
        super().__init__()
        self.stem, self.blocks = Unit(17, 96, 3), layers(6, lambda i: Block(96, 96))
        self.policy = nn.ModuleDict({"thin": Unit(96, 2, 1), "head": nn.Linear(722, 362)})
        self.value = nn.ModuleDict({"thin": Unit(96, 1, 1), "wide": nn.Linear(361, 128), "head": nn.Linear(128, 1)})

    def play(self, x):
        x = F.relu(self.stem(x))
        for block in self.blocks:
            x = block(x)
        p, v = F.relu(self.policy.thin(x)).flatten(1), F.relu(self.value.thin(x)).flatten(1)
        return self.policy.head(p), torch.tanh(self.value.head(F.relu(self.value.wide(v))))

    def forward(self, x):
        return torch.cat(self.play(x), 1)

    def loss(self, x, y):
        moves, worth = self.play(x)
        visits, won = y[:, :362].float(), y[:, 362:] >= 32
        return F.cross_entropy(moves, visits / visits.sum(1, keepdim=True)) + F.mse_loss(worth, 2 * won.float() - 1)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(128, 32, 3, padding=1), nn.Conv2d(32, 128, 1)

    def forward(self, x):
        return x + self.second(F.relu(self.first(F.relu(x))))


class Codes(Scene):
    shape = (32, 3, 32, 32)

    def __init__(self):
        super().__init__()
        self.down1, self.down2 = nn.Conv2d(3, 64, 4, 2, 1), nn.Conv2d(64, 128, 4, 2, 1)
        self.before, self.encoder = nn.Conv2d(128, 128, 3, padding=1), nn.Sequential(Residual(), Residual())
        self.thin, self.codes = nn.Conv2d(128, 64, 1), nn.Embedding(256, 64)
        nn.init.uniform_(self.codes.weight, -1 / 256, 1 / 256)
        self.after, self.decoder = nn.Conv2d(64, 128, 3, padding=1), nn.Sequential(Residual(), Residual())
        self.up1, self.up2 = nn.ConvTranspose2d(128, 64, 4, 2, 1), nn.ConvTranspose2d(64, 3, 4, 2, 1)

    def encode(self, x):
        x = self.before(F.relu(self.down2(F.relu(self.down1(x)))))
        return self.thin(F.relu(self.encoder(x))).permute(0, 2, 3, 1)

    def nearest(self, z):
        flat, codes = z.reshape(-1, 64), self.codes.weight
        far = (flat ** 2).sum(1, keepdim=True) + (codes ** 2).sum(1) - 2 * flat @ codes.t()
        return self.codes(far.argmin(1)).view(z.shape)

    def decode(self, q):
        x = F.relu(self.decoder(self.after(q.permute(0, 3, 1, 2))))
        return self.up2(F.relu(self.up1(x)))

    def forward(self, x):
        return self.decode(self.nearest(self.encode(x)))

    def loss(self, x, y):
        z = self.encode(x)
        q = self.nearest(z)
        back = self.decode(z + (q - z).detach())
        return F.mse_loss(back, x) + F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(q.detach(), z)

    def optimizer(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def moved(i, j):
    """Branch j as branch i has it."""
    if j > i:
        return Unit(18 << j, 18 << i, 1)
    return nn.ModuleList(Unit(18 << j, 18 << (j if k + 1 < i else i), 3, 2) for k in range(j, i))


class Round(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.branches = layers(count, lambda i: nn.Sequential(Block(18 << i, 18 << i), Block(18 << i, 18 << i)))
        self.fuse = layers(count, lambda i: layers(count, lambda j: moved(i, j)))

    def move(self, x, i, j):
        if j > i:
            return F.interpolate(self.fuse[i][j](x), scale_factor=2 ** (j - i))
        for k, unit in enumerate(self.fuse[i][j]):
            x = unit(x) if j + k + 1 == i else F.relu(unit(x))
        return x

    def forward(self, all_x):
        all_x = [branch(x) for branch, x in zip(self.branches, all_x)]
        return [F.relu(sum(self.move(x, i, j) for j, x in enumerate(all_x))) for i in range(len(all_x))]


class Branches(Scene):
    shape = (8, 3, 64, 64)

    def __init__(self):
        super().__init__()
        self.stem = Unit(3, 32, 3, 2)
        self.down = nn.ModuleList([Unit(32, 18, 3), Unit(18, 36, 3, 2), Unit(36, 72, 3, 2)])
        self.rounds = nn.ModuleList(Round(count) for count in (2, 3, 3))
        self.joined, self.fc = Unit(126, 126, 1), nn.Linear(126, 10)

    def forward(self, x):
        all_x = [F.relu(self.down[0](F.relu(self.stem(x))))]
        for i, fused in enumerate(self.rounds):
            if i < 2:
                all_x.append(F.relu(self.down[i + 1](all_x[-1])))
            all_x = fused(all_x)
        all_x[1:] = [resized(x, all_x[0].shape[2:]) for x in all_x[1:]]
        return self.fc(F.adaptive_avg_pool2d(F.relu(self.joined(torch.cat(all_x, 1))), 1).flatten(1))


class Clips(Scene):
    shape = (3, 12, 3, 64, 64)

    def __init__(self):
        super().__init__()
        self.stem, self.layer1 = Unit(3, 32, 3, 2), Block(32, 32)
        self.layer2, self.layer3 = Block(32, 64, 2), Block(64, 128, 2)
        self.gru, self.fc = nn.GRU(128, 128, batch_first=True), nn.Linear(128, 10)

    def forward(self, x):
        h = self.layer3(self.layer2(self.layer1(F.relu(self.stem(x.flatten(0, 1))))))
        return self.fc(self.gru(F.adaptive_avg_pool2d(h, 1).reshape(*x.shape[:2], 128))[0][:, -1])


NETWORKS = {"atrous": Atrous, "pyramid": Pyramid, "go": Go, "codes": Codes, "branches": Branches, "clips": Clips}
