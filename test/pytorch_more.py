# SPDX-License-Identifier: Apache-2.0
"""PyTorch's calls for what Tarn makes of other operations; a part of against_pytorch.py."""
import torch
import torch.nn.functional as F

REDUCTIONS = ["mean", "sum", "none"]


class More:
    def op_stack(self, line, *parts):
        return torch.stack(parts, line["arg"][0])

    def op_mark_sharding(self, _, a):  # of one rank
        return a

    def op_zeros_like(self, _, a):
        return torch.zeros_like(a)

    def op_select(self, line, a):
        return a.select(*line["arg"][:2])

    def op_scan(self, line, x, h, matrix):
        axis, backwards = line["arg"][0], line["arg"][1]
        out = [None] * x.shape[axis]
        for i in range(x.shape[axis]):
            t = x.shape[axis] - 1 - i if backwards else i
            after = torch.tanh(x.select(axis, t) + h @ matrix)
            out[t], h = h * after, after
        return torch.stack(out, axis) + h.unsqueeze(axis)

    def op_einsum(self, line, a, b):
        return torch.einsum(line["text"], a, b)

    # ---- losses --------------------------------------------------------------------------------

    def op_cross_entropy_with(self, line, a, target, weight=None):
        return self.likelihood(line, F.log_softmax(a, 1), target, weight)

    def op_nll_loss_with(self, line, a, target, weight=None):
        return self.likelihood(line, a, target, weight)

    def likelihood(self, line, logp, target, weight):
        """nll_loss, of which cross_entropy is that of log_softmax; PyTorch's has no smoothing."""
        ignore, index, reduction = line["arg"][:3]
        reduction = REDUCTIONS[reduction]
        target = target.detach().long()
        known = (target >= 0) & (target < logp.shape[1])
        if not known.all():  # PyTorch refuses them; here they add nothing to the sum, but count
            target = torch.where(known, target, -100)
            if weight is None and not line["f"][0] and reduction == "mean":
                counted = (target != index).sum() if ignore else target.numel()
                taken = torch.where(target == index, -100, target) if ignore else target
                return F.nll_loss(logp, taken, reduction="sum") / counted
            raise ValueError("targets that are no class")
        index, smoothing = index if ignore else -100, line["f"][0]
        if weight is None and not smoothing:
            return F.nll_loss(logp, target, ignore_index=index, reduction=reduction)
        # PyTorch has no gradient in weights: the formula, when it gives PyTorch's value
        of_class = torch.ones(logp.shape[1]) if weight is None else weight
        of_class = of_class.reshape([-1] + [1] * (logp.dim() - 2))
        hit = F.one_hot(torch.where(target == index, 0, target), logp.shape[1]).movedim(-1, 1).double()
        counted = (target != index).unsqueeze(1)
        terms = -logp * of_class * ((1 - smoothing) * hit + smoothing / logp.shape[1]) * counted
        share = (of_class * hit * counted).sum()
        mine = {"mean": terms.sum() / share, "sum": terms.sum(), "none": terms.sum(1)}[reduction]
        given = None if weight is None else weight.detach()
        if line["op"] == "cross_entropy_with":  # a soft-max of log-probabilities is what it was
            return self.agree(mine, F.cross_entropy(
                logp, target, given, ignore_index=index, label_smoothing=smoothing, reduction=reduction))
        return mine if smoothing else self.agree(mine, F.nll_loss(
            logp, target, given, ignore_index=index, reduction=reduction))

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

    def op_bce_with_logits_with(self, line, a, target, positive=None, weight=None):
        reduction = REDUCTIONS[line["arg"][2]]
        lean = 1 if positive is None else 1 + (positive - 1) * target
        each = (1 - target) * a + lean * F.softplus(-a)
        each = each if weight is None else each * weight
        mine = {"mean": each.mean(), "sum": each.sum(), "none": each}[reduction]
        weight, positive = (None if t is None else t.detach() for t in (weight, positive))
        return self.agree(mine, F.binary_cross_entropy_with_logits(
            a, target, weight, pos_weight=positive, reduction=reduction))

    def op_mse_loss_with(self, line, a, b):
        return F.mse_loss(a, b, reduction=REDUCTIONS[line["arg"][2]])

    def op_l1_loss_with(self, line, a, b):
        return F.l1_loss(a, b, reduction=REDUCTIONS[line["arg"][2]])

    def op_smooth_l1_loss_with(self, line, a, b):
        return F.smooth_l1_loss(a, b, beta=line["f"][0], reduction=REDUCTIONS[line["arg"][2]])

    def op_huber_loss_with(self, line, a, b):
        return F.huber_loss(a, b, delta=line["f"][0], reduction=REDUCTIONS[line["arg"][2]])

    def op_smooth_l1_loss(self, line, a, b):
        return F.smooth_l1_loss(a, b, beta=line["f"][0])

    def op_l1_loss(self, _, a, b):
        return F.l1_loss(a, b)

    def op_huber_loss(self, line, a, b):
        return F.huber_loss(a, b, delta=line["f"][0])

    def op_kl_div(self, line, a, target):
        batch_mean, log_target = line["arg"][:2]
        if batch_mean:
            return F.kl_div(a, target, reduction="batchmean", log_target=bool(log_target))
        each = F.kl_div(a, target, reduction="none", log_target=bool(log_target))
        return [each.mean, each.sum, each.clone][line["arg"][2]]()

    def op_ctc_loss(self, line, logp, target, input_lengths=None, target_lengths=None):
        blank, zero_infinity, reduction, batch_first = line["arg"][:4]
        logp = logp.transpose(0, 1) if batch_first else logp
        (steps, n, classes), labels = logp.shape, target.shape[1]
        full = [torch.full((n,), k) for k in (steps, labels)]
        lengths = [f if k is None else k.detach().long() for f, k in zip(full, (input_lengths, target_lengths))]
        target = target.detach().long().clamp(0, classes - 1)
        # PyTorch has another gradient in logp, and none of that: the formula, when it gives PyTorch's value
        losses = []
        for i in range(n):
            classes_of = [blank] + [c for k in target[i].tolist() for c in (k, blank)]
            states = {0: logp.new_zeros(())}
            for t in range(lengths[0][i]):
                before, states = states, {}
                for k, c in enumerate(classes_of):
                    froms = [k, k - 1] + ([k - 2] if k >= 2 and c != classes_of[k - 2] else [])
                    ways = [before[f] for f in froms if f in before]
                    if ways:
                        states[k] = torch.logsumexp(torch.stack(ways), 0) + logp[t, i, c]
            last = 2 * int(lengths[1][i])
            ways = [states[k] for k in (last, last - 1) if k in states]
            impossible = logp.new_tensor(0.0 if zero_infinity else torch.inf)
            losses.append(-torch.logsumexp(torch.stack(ways), 0) if ways else impossible)
        loss = torch.stack(losses)
        if reduction == 0:
            loss = (loss / lengths[1].clamp(min=1)).mean()
        elif reduction == 1:
            loss = loss.sum()
        if not lengths[0].all():  # PyTorch 1.13, which Debian has, reads another sample's step there
            return loss
        return self.agree(loss, F.ctc_loss(logp.detach(), target, *lengths, blank, ("mean", "sum", "none")[reduction],
                                           bool(zero_infinity)))

    # ---- images, norms -------------------------------------------------------------------------

    def op_conv1d_op(self, line, a, w, bias=None):
        stride, padding, dilation, groups = line["arg"][:4]
        return F.conv1d(a, w, bias, stride, padding, dilation, groups)

    def op_conv_transpose2d_op(self, line, a, w, bias=None):
        o = line["arg"]
        return F.conv_transpose2d(a, w, bias, o[0:2], o[2:4], o[4:6], o[6])

    def op_conv_transpose1d_op(self, line, a, w, bias=None):
        stride, padding, more, dilation, groups = line["arg"][:5]
        return F.conv_transpose1d(a, w, bias, stride, padding, more, groups, dilation)

    def op_conv3d_op(self, line, a, w, bias=None):
        o = line["arg"]
        return F.conv3d(a, w, bias, o[0:3], o[3:6], o[6:9], o[9])

    def op_conv_transpose3d_op(self, line, a, w, bias=None):
        o = line["arg"]
        return F.conv_transpose3d(a, w, bias, o[0:3], o[3:6], o[6:9], o[9])

    @staticmethod
    def pooled(function, a, window, stride, padding, round_up, exclude, dilation):
        window = [n or window[0] for n in window]
        stride = [n or stride[0] or k for n, k in zip(stride, window)]
        if function in (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d):
            return function(a, window, stride, padding, bool(round_up), not exclude)
        dilation = [n or dilation[0] or 1 for n in dilation]
        return function(a, window, stride, padding, dilation, bool(round_up))

    def op_max_pool1d(self, line, a, function=F.max_pool1d):
        o = line["arg"]
        return self.pooled(function, a, o[0:1], o[1:2], o[2:3], o[3], o[4], o[5:6])

    def op_avg_pool1d(self, line, a):
        return self.op_max_pool1d(line, a, F.avg_pool1d)

    def op_max_pool2d_with(self, line, a, function=F.max_pool2d):
        o = line["arg"]
        return self.pooled(function, a, o[0:2], o[2:4], o[4:6], o[6], o[7], o[8:10])

    def op_avg_pool2d_with(self, line, a):
        return self.op_max_pool2d_with(line, a, F.avg_pool2d)

    def op_max_pool3d(self, line, a, function=F.max_pool3d):
        o = line["arg"]
        return self.pooled(function, a, o[0:3], o[3:6], o[6:7] * 3, o[7], o[8], o[9:10] * 3)

    def op_avg_pool3d(self, line, a):
        return self.op_max_pool3d(line, a, F.avg_pool3d)

    def op_adaptive_avg_pool2d(self, line, a):
        return F.adaptive_avg_pool2d(a, line["arg"][:2])

    def op_adaptive_max_pool2d(self, line, a):
        return F.adaptive_max_pool2d(a, line["arg"][:2])

    @staticmethod
    def pad_ends(line, a, place):
        for axis, (low, high) in enumerate(zip(line["first"], line["second"])):
            extent = a.shape[axis]
            a = a.index_select(axis, place(torch.arange(-low, extent + high), extent))
        return a

    def op_pad_reflect(self, line, a):
        return self.pad_ends(line, a, lambda k, extent: extent - 1 - (extent - 1 - k.abs()).abs())

    def op_pixel_shuffle(self, line, a):
        return F.pixel_shuffle(a, line["arg"][0])

    def op_pixel_unshuffle(self, line, a):
        return F.pixel_unshuffle(a, line["arg"][0])

    def op_logaddexp(self, line, a, b):
        return torch.logaddexp(a, b)

    def op_logsumexp(self, line, a):
        return self.reduce(torch.logsumexp, line, a)

    def op_elu(self, line, a):
        return F.elu(a, line["f"][0])

    def op_upsample_nearest2d(self, line, a):
        return F.interpolate(a, scale_factor=line["arg"][:2], mode="nearest")

    def op_upsample_bilinear2d(self, line, a):
        return F.interpolate(a, scale_factor=line["arg"][:2], mode="bilinear", align_corners=False)

    def op_resize_bilinear2d(self, line, a):
        scale = line["f"][:2] if line["f"][0] else None
        return F.interpolate(a, None if scale else line["arg"][:2], scale, "bilinear", bool(line["arg"][2]))

    def op_resize_nearest2d(self, line, a):
        scale = line["f"][:2] if line["f"][0] else None
        return F.interpolate(a, None if scale else line["arg"][:2], scale, "nearest")

    def op_global_avg_pool(self, line, a):
        return F.adaptive_avg_pool1d(a.flatten(2), 1).reshape(line["shape"])

    def op_global_max_pool(self, line, a):
        return F.adaptive_max_pool1d(a.flatten(2), 1).reshape(line["shape"])

    def op_pad_circular(self, line, a):
        return self.pad_ends(line, a, lambda k, extent: k % extent)

    def op_pad_replicate(self, line, a):
        return self.pad_ends(line, a, lambda k, extent: k.clamp(0, extent - 1))

    def op_unfold2d(self, line, a):
        window, stride, padding, dilation = (line["arg"][i:i + 2] for i in (0, 2, 4, 6))
        return F.unfold(a, window, dilation, padding, stride)

    def op_instance_norm_op(self, line, a, w=None, bias=None):
        if a[0, 0].numel() == 1:  # PyTorch refuses it
            return F.group_norm(a, a.shape[1], w, bias, line["f"][0])
        return F.instance_norm(a, None, None, w, bias, eps=line["f"][0])

    def op_group_norm_op(self, line, a, w=None, bias=None):
        return F.group_norm(a, line["arg"][0], w, bias, line["f"][0])

    def op_rms_norm_op(self, line, a, w):
        return a * torch.rsqrt((a * a).mean(-1, keepdim=True) + line["f"][0]) * w

    # ---- attention -----------------------------------------------------------------------------

    def op_attention(self, line, q, k, v, *masks):
        causal, has_keys, grouped = line["arg"][:3]
        keys, mask = masks[0] if has_keys else None, masks[has_keys] if len(masks) > has_keys else None
        flags = self.lines[line["in"][-1]]["type"] != line["type"]
        hidden = torch.zeros(q.shape[:-1] + (k.shape[-2],), dtype=q.dtype)
        if causal:
            hidden = hidden.masked_fill(~torch.ones(hidden.shape[-2:]).tril().bool(), -torch.inf)
        if has_keys:
            seen = keys.detach().reshape([keys.shape[0]] + [1] * (q.dim() - 2) + [-1]) != 0
            hidden = hidden.masked_fill(~seen, -torch.inf)
        if mask is not None:
            hidden = hidden.masked_fill(mask.detach() == 0, -torch.inf) if flags else hidden + mask
        # Spelt out: PyTorch 1.13, which Debian has, knows no scaled_dot_product_attention.
        if grouped:
            k, v = (x.repeat_interleave(q.shape[-3] // x.shape[-3], -3) for x in (k, v))
        scores = q @ k.transpose(-1, -2) * (line["f"][0] or q.shape[-1] ** -0.5) + hidden
        return torch.softmax(scores, -1) @ v

    def heads(self, x, weights, heads, causal=False, memory=None, values=None, keys=None, mask=None):
        """`mask`: what is added, or whether a key is seen."""
        in_w, in_b, out_w, out_b = weights
        memory = x if memory is None else memory
        values = memory if values is None else values
        n, t, s = x.shape[0], x.shape[1], memory.shape[1]
        hidden = torch.zeros(t, s, dtype=x.dtype)
        if causal:
            hidden = hidden.masked_fill(~torch.ones(t, s).tril().bool(), -torch.inf)
        if mask is not None:
            flags = torch.zeros(mask.shape, dtype=x.dtype)
            hidden = hidden + (flags.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else mask)
            hidden = hidden.expand(n, heads, t, s).reshape(n * heads, t, s)
        y, _ = F.multi_head_attention_forward(
            x.transpose(0, 1), memory.transpose(0, 1), values.transpose(0, 1), x.shape[2], heads, in_w,
            in_b, None, None, False, 0.0, out_w, out_b, training=False, attn_mask=hidden,
            key_padding_mask=None if keys is None else keys.detach() == 0, need_weights=False)
        return y.transpose(0, 1)

    def op_multi_head_attention_forward(self, line, x, in_w, in_b, out_w, out_b, memory=None, keys=None):
        return self.heads(x, (in_w, in_b, out_w, out_b), *line["arg"][:2], memory, None, keys)

    def op_multi_head_attention_forward_with(self, line, x, in_w, in_b, out_w, out_b, memory, values, mask=None):
        heads, causal, has_memory, has_values, kind = line["arg"][:5]
        return self.heads(x, (in_w, in_b, out_w, out_b), heads, causal, memory if has_memory else None,
                          values if has_values else None, mask if kind == 1 else None,
                          self.mask_of(line, mask) if kind == 2 else None)

    def mask_of(self, line, mask):
        """The last operand: whole numbers are doubles here, too."""
        flags = mask is not None and self.lines[line["in"][-1]]["type"] != line["type"]
        return mask.detach() != 0 if flags else mask

    def attended(self, line, x, norm, weights, causal=False, memory=None, keys=None, mask=None):
        after, place = line["arg"][2], (x.shape[-1:], norm, None, line["f"][0])
        y = x + self.heads(x if after else F.layer_norm(x, *place), (weights[0], None, weights[1], None),
                           line["arg"][0], causal, memory, None, keys, mask)
        return F.layer_norm(y, *place) if after else y

    @staticmethod
    def thought(line, x, norm, w1, w2):
        after, place = line["arg"][2], (x.shape[-1:], norm, None, line["f"][0])
        y = x + F.linear(F.gelu(F.linear(x if after else F.layer_norm(x, *place), w1)), w2)
        return F.layer_norm(y, *place) if after else y

    def op_transformer_block_forward(self, line, x, n1, in_w, out_w, n2, w1, w2, keys=None):
        y = self.attended(line, x, n1, (in_w, out_w), line["arg"][1], None, keys)
        return self.thought(line, y, n2, w1, w2)

    def op_transformer_block_forward_with(self, line, x, n1, in_w, out_w, n2, w1, w2, mask=None):
        y = self.attended(line, x, n1, (in_w, out_w), line["arg"][1], None, None, mask)
        return self.thought(line, y, n2, w1, w2)

    def op_transformer_decoder_forward(self, line, x, memory, norm, in_w, out_w, w1, w2, mask=None):
        y = self.attended(line, x, norm, (in_w, out_w), line["arg"][1])
        y = self.attended(line, y, norm, (in_w, out_w), False, memory, None, mask)
        return self.thought(line, y, norm, w1, w2)

    def op_embedding_forward(self, line, table, index):
        return self.op_embedding(line, table, index)

    op_conv1d_forward, op_conv_transpose2d_forward = op_conv1d_op, op_conv_transpose2d_op
    op_conv3d_forward, op_conv_transpose3d_forward = op_conv3d_op, op_conv_transpose3d_op
    op_conv_transpose1d_forward = op_conv_transpose1d_op
    op_group_norm_forward, op_rms_norm_forward = op_group_norm_op, op_rms_norm_op
