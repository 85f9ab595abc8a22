# SPDX-License-Identifier: Apache-2.0
"""The operations of bench/single_ops.c in PyTorch: milliseconds, the least of several, one JSON object a line."""
import json
import sys
import time

import torch
import torch.nn.functional as F

WARM, STEPS = 2, 7


def indices(count, below, *shape):
    return torch.tensor([(i * 2654435761 % 2**32 >> 8) % below for i in range(count)]).view(*shape)


def distances(x, w):
    return ((x[:, None] - w[None]) ** 2).sum(2)


VERTICES = indices(32768, 3000, 32768)
TOKENS, EDGES = indices(16384, 30000, 32, 512), indices(16384, 8192, 16384)
CLASSES, PLACES = indices(2048, 32000, 2048), indices(65536, 1024, 4096, 16)
OPERATIONS = {
    "add": (lambda x, w: x+w, [4096, 4096], [4096, 4096]),
    "gelu": (lambda x: F.gelu(x), [4096, 4096]),
    "exp": (lambda x: x.exp(), [4096, 4096]),
    "sumall": (lambda x: x.sum(), [4096, 4096]),
    "sum0": (lambda x: x.sum(0), [4096, 4096]),
    "sum1": (lambda x: x.sum(1), [4096, 4096]),
    "max1": (lambda x: x.amax(1), [4096, 1024]),
    "max0": (lambda x: x.amax(0), [4096, 1024]),
    "var1": (lambda x: x.var(1), [4096, 1024]),
    "softmax1": (lambda x: x.softmax(1), [4096, 1024]),
    "softmax0": (lambda x: x.softmax(0), [1024, 4096]),
    "softmax1_wide": (lambda x: x.softmax(1), [64, 50000]),
    "logsoftmax": (lambda x: x.log_softmax(1), [4096, 1000]),
    "layernorm": (lambda x, w, b: F.layer_norm(x, [768], w, b), [8192, 768], [768], [768]),
    "rmsnorm": (lambda x, w: F.rms_norm(x, [768], w, 1e-5), [8192, 768], [768]),
    "cumsum1": (lambda x: x.cumsum(1), [1024, 4096]),
    "cumsum0": (lambda x: x.cumsum(0), [4096, 1024]),
    "transpose": (lambda x: (x.t()+1).contiguous(), [4096, 4096]),
    "permute_heads": (lambda x: (x.permute(0, 2, 1, 3)+1).contiguous(), [32, 256, 8, 64]),
    "nhwc": (lambda x: (x.permute(0, 2, 3, 1)+1).contiguous(), [32, 64, 56, 56]),
    "concat": (lambda x, w: torch.cat([x, w], 1), [32, 64, 56, 56], [32, 64, 56, 56]),
    "embedding": (lambda x: F.embedding(TOKENS, x), [30000, 512]),
    "index_add": (lambda x, w: x.index_add(0, EDGES, w), [8192, 64], [16384, 64]),
    "index_add_few": (lambda x, w: x.index_add(0, VERTICES, w), [3000, 4], [32768, 4]),
    "scatter_max": (lambda x, w: x.scatter_reduce(0, VERTICES[:, None].expand(-1, 8), w, "amax"), [3000, 8], [32768, 8]),
    "sort": (lambda x: x.sort(1)[0], [1024, 1000]),
    "topk": (lambda x: x.topk(5, 1)[0], [1024, 1000]),
    "bmm_big": (lambda x, w: x@w, [16, 512, 512], [16, 512, 512]),
    "bmm_b32": (lambda x, w: x@w, [32, 256, 256], [32, 256, 256]),
    "bmm_16": (lambda x, w: x@w, [64, 16, 16], [64, 16, 16]),
    "bmm_32": (lambda x, w: x@w, [64, 32, 32], [64, 32, 32]),
    "soft_32": (lambda x, w: (x@w).softmax(-1)@x, [64, 32, 32], [64, 32, 32]),
    "soft_64": (lambda x, w: (x@w).softmax(-1)@x, [32, 4, 64, 32], [32, 4, 32, 64]),
    "bmm_m8": (lambda x, w: x@w, [64, 8, 128], [64, 128, 128]),
    "bmm_m1": (lambda x, w: x@w, [64, 1, 128], [64, 128, 128]),
    "bmm_n1": (lambda x, w: x@w, [64, 128, 128], [64, 128, 1]),
    "qk16": (lambda x, w: torch.einsum("bhqd, bhkd->bhqk", x, w), [16, 8, 256, 64], [16, 8, 256, 64]),
    "attn16": (lambda x, w, b: F.scaled_dot_product_attention(x, w, b), [16, 8, 256, 64], [16, 8, 256, 64], [16, 8, 256, 64]),
    "linear_128": (F.linear, [128, 1024], [4096, 1024], [4096]),
    "linear_8": (F.linear, [8, 1024], [4096, 1024], [4096]),
    "linear_1": (F.linear, [1, 4096], [4096, 4096], [4096]),
    "linear_2048": (F.linear, [2048, 768], [3072, 768], [3072]),
    "linear_3d": (lambda x, w: x@w, [16, 128, 768], [768, 2304]),
    "mm": (lambda x, w: x@w, [1024, 1024], [1024, 1024]),
    "matvec": (lambda x, w: x@w, [4096, 4096], [4096, 1]),
    "conv3_c64_n8": (lambda x, w, b: F.conv2d(x, w, b, padding=1), [8, 64, 56, 56], [64, 64, 3, 3], [64]),
    "conv3_c64_n32": (lambda x, w, b: F.conv2d(x, w, b, padding=1), [32, 64, 56, 56], [64, 64, 3, 3], [64]),
    "conv3_c256_n16": (lambda x, w, b: F.conv2d(x, w, b, padding=1), [16, 256, 14, 14], [256, 256, 3, 3], [256]),
    "conv3_c512_n4": (lambda x, w, b: F.conv2d(x, w, b, padding=1), [4, 512, 7, 7], [512, 512, 3, 3], [512]),
    "conv3_c16_n128": (lambda x, w, b: F.conv2d(x, w, b, padding=1), [128, 16, 32, 32], [16, 16, 3, 3], [16]),
    "conv3s2": (lambda x, w, b: F.conv2d(x, w, b, 2, 1), [16, 64, 56, 56], [128, 64, 3, 3], [128]),
    "conv1_c256": (F.conv2d, [16, 256, 28, 28], [64, 256, 1, 1], [64]),
    "conv7s2": (lambda x, w, b: F.conv2d(x, w, b, 2, 3), [8, 3, 224, 224], [64, 3, 7, 7], [64]),
    "conv5": (lambda x, w, b: F.conv2d(x, w, b, padding=2), [64, 32, 16, 16], [64, 32, 5, 5], [64]),
    "dilated": (lambda x, w, b: F.conv2d(x, w, b, padding=2, dilation=2), [8, 128, 28, 28], [128, 128, 3, 3], [128]),
    "depthwise": (lambda x, w, b: F.conv2d(x, w, b, padding=1, groups=128), [16, 128, 28, 28], [128, 1, 3, 3], [128]),
    "depthwise7": (lambda x, w, b: F.conv2d(x, w, b, padding=3, groups=96), [8, 96, 56, 56], [96, 1, 7, 7], [96]),
    "patch16": (lambda x, w, b: F.conv2d(x, w, b, 16), [16, 3, 224, 224], [384, 3, 16, 16], [384]),
    "tconv2": (lambda x, w, b: F.conv_transpose2d(x, w, b, 2), [16, 128, 16, 16], [128, 64, 2, 2], [64]),
    "tconv4s2": (lambda x, w, b: F.conv_transpose2d(x, w, b, 2, 1), [16, 128, 16, 16], [128, 64, 4, 4], [64]),
    "tconv8s8": (lambda x, w, b: F.conv_transpose2d(x, w, b, 8), [8, 64, 16, 16], [64, 21, 8, 8], [21]),
    "tconv16s8": (lambda x, w, b: F.conv_transpose2d(x, w, b, 8, 4), [8, 21, 16, 16], [21, 21, 16, 16], [21]),
    "conv4s4": (lambda x, w, b: F.conv2d(x, w, b, 4), [16, 32, 64, 64], [64, 32, 4, 4], [64]),
    "conv2s2_n16": (lambda x, w, b: F.conv2d(x, w, b, 2), [16, 96, 32, 32], [192, 96, 2, 2], [192]),
    "mm_a": (lambda x, w: x@w, [1000, 1000], [1000, 10]),
    "mm_b": (lambda x, w: x@w, [64, 100000], [100000, 64]),
    "mm_c": (lambda x, w: x@w, [100000, 64], [64, 64]),
    "mm_d": (lambda x, w: x@w, [16, 4096], [4096, 16384]),
    "mm_e": (lambda x, w: x@w, [17, 1000], [1000, 1000]),
    "mm_f": (lambda x, w: x@w, [33, 513], [513, 257]),
    "mm_g": (lambda x, w: x@w, [512, 32000], [32000, 64]),
    "mm_h": (lambda x, w: x@w, [20000, 16], [16, 8]),
    "conv1d": (lambda x, w, b: F.conv1d(x, w, b, padding=1), [32, 128, 512], [128, 128, 3], [128]),
    "conv3d": (lambda x, w, b: F.conv3d(x, w, b, padding=1), [4, 16, 16, 32, 32], [32, 16, 3, 3, 3], [32]),
    "maxpool2": (lambda x: F.max_pool2d(x, 2), [32, 64, 56, 56]),
    "maxpool3s2": (lambda x: F.max_pool2d(x, 3, 2, 1), [16, 64, 112, 112]),
    "avgpool": (lambda x: F.avg_pool2d(x, 2), [32, 64, 56, 56]),
    "globalavg": (lambda x: x.mean((2, 3)), [32, 256, 28, 28]),
    "up_nearest": (lambda x: F.interpolate(x, scale_factor=2), [16, 64, 28, 28]),
    "up_bilinear": (lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), [16, 64, 28, 28]),
    "groupnorm": (lambda x, w, b: F.group_norm(x, 8, w, b), [16, 64, 56, 56], [64], [64]),
    "instancenorm": (lambda x, w, b: F.instance_norm(x, None, None, w, b), [16, 64, 56, 56], [64], [64]),
    "batchnorm": (lambda x, w, b: F.batch_norm(x, None, None, w, b, True), [32, 64, 56, 56], [64], [64]),
    "dropout": (lambda x: F.dropout(x, 0.1, True), [4096, 4096]),
    "cross_entropy": (lambda x: F.cross_entropy(x, CLASSES), [2048, 32000]),
    "attn_causal": (lambda x, w, b: F.scaled_dot_product_attention(x, w, b, is_causal=True), [8, 8, 512, 64], [8, 8, 512, 64], [8, 8, 512, 64]),
    "attn": (lambda x, w, b: F.scaled_dot_product_attention(x, w, b), [8, 8, 512, 64], [8, 8, 512, 64], [8, 8, 512, 64]),
    "outer": (lambda x, w: x[:, None]*w[None], [4096], [4096]),
    "cdist": (lambda x, w: ((x[:, None]-w[None])**2).sum(2), [512, 64], [512, 64]),
    "einsum_qk": (lambda x, w: torch.einsum("bhqd, bhkd->bhqk", x, w), [8, 8, 256, 64], [8, 8, 256, 64]),
    "roll": (lambda x: x.roll(7, 1)+1, [4096, 1024]),
    "flip": (lambda x: x.flip(1)+1, [4096, 1024]),
    "pad_reflect": (lambda x: F.pad(x, (1, 1, 1, 1), mode="reflect"), [16, 64, 56, 56]),
    "where": (lambda x, w: torch.where(x>w, x, w*2), [4096, 1024], [4096, 1024]),
    "pixelshuffle": (lambda x: F.pixel_shuffle(x, 2)+1, [16, 64, 28, 28]),
    "logsumexp": (lambda x: x.logsumexp(1), [4096, 1024]),
    "gather1": (lambda x: x.gather(1, PLACES), [4096, 1024]),
    "argmax": (lambda x: x.argmax(1), [4096, 1024]),
}


def least(made, parts, gradients):
    times = []
    for _ in range(WARM + STEPS):
        for x in parts:
            x.requires_grad_(gradients)
            x.grad = None
        begin = time.perf_counter()
        with torch.set_grad_enabled(gradients):
            y = made(*parts)
            if gradients:
                (y * y).sum().backward()
        times.append(1e3 * (time.perf_counter() - begin))
    return min(times[WARM:])


torch.set_num_threads(int(sys.argv[1]))
for name in sys.argv[2:] or OPERATIONS:
    made, *shapes = OPERATIONS[name]
    parts = [torch.randn(s) * (0.1 if i > 0 else 1) for i, s in enumerate(shapes)]
    both = 0 if name == "argmax" else least(made, parts, True)
    forward = least(made, [x.detach() for x in parts], False)
    print(json.dumps({"name": name, "forward": forward, "both": both}), flush=True)
