# SPDX-License-Identifier: Apache-2.0
"""PyTorch's calls for what Tarn makes of other operations; a part of against_pytorch.py."""
import torch
import torch.nn.functional as F


class More:
    def op_stack(self, line, *parts):
        return torch.stack(parts, line["arg"][0])

    def op_einsum(self, line, a, b):
        return torch.einsum(line["text"], a, b)

    # ---- losses --------------------------------------------------------------------------------

    def op_cross_entropy_with(self, line, a, target, weight=None):
        ignore, index = line["arg"][:2]
        target = target.detach().long()
        known = (target >= 0) & (target < a.shape[1])
        if not known.all():  # PyTorch refuses them; here they add nothing to the sum, but count
            target = torch.where(known, target, -100)
            if weight is None and not line["f"][0]:
                counted = (target != index).sum() if ignore else target.numel()
                taken = torch.where(target == index, -100, target) if ignore else target
                return F.cross_entropy(a, taken, reduction="sum") / counted
            raise ValueError("targets that are no class")
        index, smoothing = index if ignore else -100, line["f"][0]
        if weight is None:
            return F.cross_entropy(a, target, ignore_index=index, label_smoothing=smoothing)
        # PyTorch has no gradient in weights: the formula, when it gives PyTorch's value
        logp = F.log_softmax(a, 1) * weight.reshape([-1] + [1] * (a.dim() - 2))
        hit = F.one_hot(torch.where(target == index, 0, target), a.shape[1]).movedim(-1, 1)
        counted = (target != index).unsqueeze(1)
        terms = logp * ((1 - smoothing) * hit + smoothing / a.shape[1]) * counted
        share = (weight.reshape([-1] + [1] * (a.dim() - 2)) * hit * counted).sum()
        return self.agree(-terms.sum() / share, F.cross_entropy(
            a, target, weight.detach(), ignore_index=index, label_smoothing=smoothing))

    @staticmethod
    def agree(mine, theirs):
        if not torch.allclose(mine, theirs, rtol=1e-10, atol=1e-12, equal_nan=True):
            raise AssertionError(f"the formula gives {mine}, PyTorch {theirs}")
        return mine

    def op_bce_with_logits(self, _, a, target, weight=None):
        if weight is None:
            return F.binary_cross_entropy_with_logits(a, target)
        rest = (1 + (weight - 1) * target) * F.softplus(-a)
        return self.agree(((1 - target) * a + rest).mean(), F.binary_cross_entropy_with_logits(
            a, target, pos_weight=weight.detach()))

    def op_smooth_l1_loss(self, line, a, b):
        return F.smooth_l1_loss(a, b, beta=line["f"][0])

    def op_huber_loss(self, line, a, b):
        return F.huber_loss(a, b, delta=line["f"][0])

    def op_kl_div(self, line, a, target):
        batch_mean, log_target = line["arg"][:2]
        return F.kl_div(a, target, reduction="batchmean" if batch_mean else "mean",
                        log_target=bool(log_target))
