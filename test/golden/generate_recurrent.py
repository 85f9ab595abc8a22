#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes recurrent.safetensors: LSTM, GRU and RNN as PyTorch computes them in double, for recurrent_test.c: all
weights, an input, first states and factors; what comes out, and gradients of the sum of factors times
outputs and of all last states.

Run in this folder with a Python that has PyTorch (made with 2.15, CPU).
"""
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from generate import HERE, save

INPUT, HIDDEN, SAMPLES, STEPS = 5, 6, 9, 7


def case(out, name, make, states, samples=SAMPLES, small=1.0, lengths=None, **options):
    torch.manual_seed(len(out))
    layers = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
    first_axes = (samples, STEPS) if options.get("batch_first") else (STEPS, samples)
    net = make(INPUT, HIDDEN, **options)
    with torch.no_grad():
        for p in net.parameters():
            p *= small
    x = torch.randn(*first_axes, INPUT).requires_grad_()
    first = [(0.5 * torch.randn(layers, samples, HIDDEN)).requires_grad_() for _ in range(states)]
    first_state = tuple(first) if states > 1 else first[0]
    if lengths is None:
        y, last = net(x, first_state)
    else:
        batch_first = options.get("batch_first", False)
        y, last = net(pack_padded_sequence(x, torch.tensor(lengths), batch_first, False), first_state)
        y, _ = pad_packed_sequence(y, batch_first, 0.0, STEPS)
        out[name + ".lengths"] = torch.tensor(lengths, dtype=torch.int32)
    last = last if states > 1 else (last,)
    w = torch.randn(y.shape)
    loss = (w * y).sum() + sum((s * s).sum() for s in last)
    loss.backward()
    out[name + ".x"], out[name + ".w"], out[name + ".y"] = x, w, y
    out[name + ".gx"] = x.grad
    for i in range(states):
        out[f"{name}.first{i}"], out[f"{name}.last{i}"] = first[i], last[i]
        out[f"{name}.gfirst{i}"] = first[i].grad
    for key, p in net.named_parameters():
        out[f"{name}.{key}"], out[f"{name}.g.{key}"] = p, p.grad


def main():
    out = {}
    case(out, "lstm", torch.nn.LSTM, 2, num_layers=2, batch_first=True)
    case(out, "gru", torch.nn.GRU, 1, num_layers=2)
    case(out, "lstm_plain", torch.nn.LSTM, 2, bias=False)
    case(out, "lstm_both", torch.nn.LSTM, 2, 3, num_layers=2, batch_first=True, bidirectional=True)
    case(out, "gru_both", torch.nn.GRU, 1, 3, bidirectional=True)
    case(out, "rnn", torch.nn.RNN, 1, 3, 0.2, num_layers=2)
    case(out, "rnn_both", torch.nn.RNN, 1, 3, 0.2, num_layers=2, bias=False, bidirectional=True, nonlinearity="relu")
    # Lengths from 1 to all steps, in no order.
    lengths = [3, 7, 1, 5, 7, 2, 6, 4, 1]
    case(out, "lstm_lengths", torch.nn.LSTM, 2, lengths=lengths, num_layers=2, batch_first=True, bidirectional=True)
    case(out, "lstm_lengths_one", torch.nn.LSTM, 2, lengths=lengths, num_layers=2)
    case(out, "gru_lengths", torch.nn.GRU, 1, lengths=lengths, num_layers=2, bidirectional=True)
    case(out, "gru_lengths_short", torch.nn.GRU, 1, 3, lengths=[2, 4, 1], batch_first=True, bidirectional=True)
    case(out, "rnn_lengths", torch.nn.RNN, 1, 9, 0.2, lengths=lengths, num_layers=2, bidirectional=True)
    save(HERE / "recurrent.safetensors",
         {k: v.float() if v.is_floating_point() else v for k, v in out.items()})


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    main()
