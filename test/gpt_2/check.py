#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the example gpt, begun with weights in GPT-2's layout, to the package transformers: logits of random
weights, and weights after some steps of fine-tuning with groups of parameters. At most 4 times as far from
float64 as PyTorch's own float32 is; where that is nearly nothing, as far as the last bit of the largest value.
Frozen tensors keep every byte.

    check.py GPT [WORDS]

Exits with 77 where PyTorch or transformers are not installed."""
import json
import math
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.update(TRANSFORMERS_OFFLINE="1", HF_HUB_OFFLINE="1")
try:
    import numpy as np
    import torch
    from safetensors.torch import load_file, save_file
    from transformers import GPT2Config, GPT2LMHeadModel
except ImportError as error:
    print(f"gpt-2: SKIPPED: {error}; scripts/common.sh: need_transformers")
    sys.exit(77)

HERE = Path(__file__).resolve().parent
FACTOR, EPS = 4, 2.0 ** -24
BATCH, CONTEXT, STEPS, LR = 4, 24, 5, 3e-3
gpt, words = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 300
failures = 0


def expect(good, text):
    global failures
    print(("" if good else "FAILED ") + text, flush=True)
    failures += not good


def run(*options, code=0):
    done = subprocess.run([gpt, *map(str, options)], capture_output=True, text=True)
    if done.returncode != code:
        expect(False, f"gpt {' '.join(map(str, options))}: exit status {done.returncode}, must be {code}: {done.stderr}")
    return done.stdout + done.stderr


def model(**changes):
    """Random weights, of which all matter: also biases and norms."""
    torch.manual_seed(1)
    sizes = {"n_layer": 3, "n_embd": 48, "n_head": 4, "vocab_size": words, "n_positions": 32}
    config = GPT2Config(**{**sizes, "resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0, **changes})
    m = GPT2LMHeadModel(config)
    with torch.no_grad():
        for name, p in m.named_parameters():
            p.add_(torch.randn(p.shape) * (0.1 if p.dim() == 1 else 0.15))
    return m.eval()


def save(m, folder, prefix=True, masks=False, head=False, config=True, dtype=None):
    folder.mkdir()
    state = {k: v.clone() for k, v in m.named_parameters()} # newer files have no masks, older ones do
    for i in range(m.config.n_layer if masks else 0):
        state[f"transformer.h.{i}.attn.bias"] = torch.ones(32, 32, dtype=torch.uint8).tril().reshape(1, 1, 32, 32)
        state[f"transformer.h.{i}.attn.masked_bias"] = torch.tensor(-1e4)
    if not prefix:
        state = {k.removeprefix("transformer."): v for k, v in state.items()}
    if head:
        state["lm_head.weight"] = m.lm_head.weight.detach().clone()
    if dtype:
        state = {k: v.to(dtype) if v.is_floating_point() else v for k, v in state.items()}
    save_file({k: v.contiguous() for k, v in state.items()}, folder / "model.safetensors", {"format": "pt"})
    if config:
        m.config.save_pretrained(folder)
    return folder / "model.safetensors"


def distances(got, exact, single, what):
    """Whether `got` is as near to `exact` as `single` is, but for a factor."""
    got, single = (np.asarray(v, np.float64) - exact for v in (got, single))
    own = max(np.abs(single).max(), EPS * np.abs(exact).max())
    ratio = np.abs(got).max() / own
    expect(ratio <= FACTOR, f"{what}: {np.abs(got).max():.3g} off, PyTorch's float32 {np.abs(single).max():.3g}: {ratio:.2f} of {FACTOR}")


def precise(m):
    other = GPT2LMHeadModel(m.config)
    other.load_state_dict(m.state_dict())
    return other.double().eval()


# ---- logits --------------------------------------------------------------------------------------

def check_logits(folder, tokens, file, what, *options):
    out = folder / "logits"
    said = run("--load", file, "--tokens", folder / "tokens", "--context", CONTEXT, "--batch-size", BATCH, "--logits", out,
               *options)
    x = torch.tensor(tokens[:BATCH * CONTEXT].astype(np.int64)).reshape(BATCH, CONTEXT)
    got = np.fromfile(out, "<f4")
    if got.size != BATCH * CONTEXT * words:
        sys.exit(f"FAILED {what}: {got.size} logits")
    return x, got.reshape(BATCH, CONTEXT, words), said


def all_logits(folder, tokens):
    m = model()
    wide = precise(m)
    for what, changes in (("with prefix", {}), ("bare, with masks", {"prefix": False, "masks": True}),
                          ("prefix, masks, head", {"masks": True, "head": True}),
                          ("without config.json", {"config": False})):
        file = save(m, folder / what.replace(" ", "_"), **changes)
        more = ["--heads", 4] if what == "without config.json" else []
        x, got, said = check_logits(folder, tokens, file, what, *more)
        with torch.no_grad():
            distances(got, wide(x).logits.numpy(), m(x).logits.numpy(), f"logits, {what}")
        left = [line for line in said.splitlines() if line.startswith("left: ")]
        expect(len(left) == (6 if changes.get("masks") else 0), f"{what}: tells of {len(left)} tensors that are left")
    for activation in ("gelu", "relu"):
        m = model(activation_function=activation)
        x, got, _ = check_logits(folder, tokens, save(m, folder / activation), activation)
        with torch.no_grad():
            distances(got, precise(m)(x).logits.numpy(), m(x).logits.numpy(), f"logits, {activation}")
    m = model()
    half = save(m, folder / "half", dtype=torch.float16)
    with torch.no_grad():
        for p in m.parameters():
            p.copy_(p.half().float())
    x, got, _ = check_logits(folder, tokens, half, "float16")
    with torch.no_grad():
        distances(got, precise(m)(x).logits.numpy(), m(x).logits.numpy(), "logits, a file of float16")


# ---- what is refused -----------------------------------------------------------------------------

def refused(folder, code, line, file, *options):
    few = ("--tokens", folder / "tokens", "--context", 8, "--batch-size", 4)
    out = run("--load", file, *(options or few), code=code)
    told = [text for text in out.splitlines() if text.startswith("gpt: ")]
    expect(len(told) == 1 and line in told[0], f"refused: {' '.join(told)}")


def all_refused(folder):
    m = model()
    plain = save(m, folder / "plain")
    refused(folder, 2, "give --tokens", plain, "--context", 8)
    refused(folder, 2, "--context: 64 are more than the 32", plain, "--tokens", folder / "tokens", "--context", 64)
    refused(folder, 2, "the file says --layers", plain, "--tokens", folder / "tokens", "--layers", 2)
    refused(folder, 3, "5 heads do not divide", plain, "--tokens", folder / "tokens", "--heads", 5)
    refused(folder, 3, "give --heads", save(m, folder / "alone", config=False))
    (folder / "large").write_bytes(np.array([1, 2, words, 4], "<u2").tobytes())
    refused(folder, 3, f"number 2 is {words}", plain, "--tokens", folder / "large")
    untied = {**load_file(plain), "lm_head.weight": m.lm_head.weight.detach() + 1}
    save_file(untied, folder / "plain" / "untied")
    refused(folder, 3, "lm_head.weight is not wte.weight", folder / "plain" / "untied")
    part = load_file(plain)
    part.pop("transformer.h.1.ln_2.bias")
    save_file(part, folder / "plain" / "part")
    refused(folder, 3, "blocks.1.norm2.bias is missing", folder / "plain" / "part")
    save_file({"weight": torch.zeros(2, 2)}, folder / "plain" / "other")
    refused(folder, 3, "not a GPT-2", folder / "plain" / "other")
    odd = save(m, folder / "odd")
    (folder / "odd" / "config.json").write_text(json.dumps({"n_head": 4, "activation_function": "mish"}))
    refused(folder, 3, "no activation_function mish", odd)


# ---- fine-tuning ---------------------------------------------------------------------------------

PAGE = (HERE.parent.parent / "docs" / "fine-tuning.md").read_text()
exec(next(block for block in re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.S | re.M) if "def gpt_2_state" in block))


def saved(file):
    """A checkpoint's parameters under GPT-2's names, as the page says."""
    return {name: value.numpy() for name, value in gpt_2_state(file).items() if name != "lm_head.weight"}


FROZEN = ("transformer.wte.", "transformer.wpe.", "transformer.h.0.")
OPTIONS = ("--freeze", "words.*,places.*,blocks.0.*", "--scale-lr", "blocks.1.*=0.25", "--weight-decay", "*weight=0.2",
           "--weight-decay", "*norm*=0", "--weight-decay", "blocks.2.linear1.weight=0.05")


def groups(m):
    """PyTorch's groups for OPTIONS."""
    for name, p in m.named_parameters():
        p.requires_grad_(not name.startswith(FROZEN))
        if p.requires_grad:
            decay = 0.2 if name.endswith(".weight") and ".ln_" not in name else 0
            decay = 0.05 if name == "transformer.h.2.mlp.c_fc.weight" else decay
            yield {"params": [p], "weight_decay": decay, "factor": 0.25 if ".h.1." in name else 1}


def rate(step):
    lowest, warm = LR / 10, STEPS // 20 + 1
    value = lowest + 0.5 * (LR - lowest) * (1 + math.cos(math.pi * step / STEPS))
    return value * (step + 1) / warm if step < warm else value


def train(m, tokens):
    optimizer = torch.optim.AdamW(list(groups(m)), betas=(0.9, 0.99), eps=1e-8)
    m.train()
    for step in range(STEPS):
        for group in optimizer.param_groups:
            group["lr"] = rate(step) * group["factor"]
        at = step * BATCH * CONTEXT
        x, y = (torch.tensor(tokens[at + k:at + k + BATCH * CONTEXT].astype(np.int64)).reshape(BATCH, CONTEXT) for k in (0, 1))
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(m(x).logits.reshape(-1, words), y.reshape(-1)).backward()
        torch.nn.utils.clip_grad_norm_([p for p in m.parameters() if p.requires_grad], 1.0)
        optimizer.step()
    return {name: p.detach().numpy() for name, p in m.named_parameters()}


def parts(name, value):
    """Keys' biases change no output: their gradient is rounding, of which Adam makes steps of full size."""
    if name.endswith("attn.c_attn.bias"):
        third = value.shape[0] // 3
        return {"queries": value[:third], "keys": value[third:2 * third], "values": value[2 * third:]}
    return {"": value}


def fine_tuning(folder, tokens):
    m = model()
    file = save(m, folder / "before")
    before = {name: p.detach().numpy().copy() for name, p in m.named_parameters()}
    wide = precise(m)
    common = ("--load", file, "--tokens", folder / "tokens", "--context", CONTEXT, "--batch-size", BATCH, "--in-order",
              "--steps", STEPS, "--lr", LR)
    said = run(*common, *OPTIONS, "--save", folder / "after")
    expect("of them trained" in said, said.splitlines()[-2])
    got, exact, single = saved(folder / "after"), train(wide, tokens), train(m, tokens)
    expect(set(got) == set(before), f"{len(got)} parameters")
    worst = 0
    for name in before:
        if name.startswith(FROZEN):
            if got[name].tobytes() != before[name].tobytes():
                expect(False, f"{name} is frozen and changed")
            continue
        if (got[name] == before[name]).all():
            expect(False, f"{name} is not frozen and stayed")
        # The mean of a tensor: Adam divides a gradient by itself, so where one is nearly 0 its rounding is as large as
        # the step, and the largest distance is that element's luck.
        for part, value in parts(name, got[name]).items():
            e, s = parts(name, exact[name])[part], parts(name, single[name])[part]
            own = max(np.abs(s - e).mean(), EPS * np.abs(e).mean())
            ratio = np.abs(value - e).mean() / own
            if part != "keys":
                worst = max(worst, ratio)
                if not ratio <= FACTOR:
                    expect(False, f"{name} {part}: {np.abs(value - e).mean():.3g} off, PyTorch's float32 {own:.3g}")
    expect(True, f"fine-tuning: {worst:.2f} of {FACTOR}; of {len(before)} tensors "
                 f"{sum(n.startswith(FROZEN) for n in before)} are frozen")
    out = run(*common, "--freeze", "nothing.*", code=2)
    expect('freeze: no parameter has a name that matches "nothing.*"' in out, out.splitlines()[-1])
    run(*common, "--train-only", "norm.*,blocks.2.linear2.*", "--save", folder / "only")
    changed = {n for n, v in saved(folder / "only").items() if v.tobytes() != before[n].tobytes()}
    expect(changed == {f"transformer.{n}" for n in ("ln_f.weight", "ln_f.bias", "h.2.mlp.c_proj.weight", "h.2.mlp.c_proj.bias")},
           f"--train-only changes {len(changed)} tensors")


def the_page(folder):
    """The command that the page shows, on a model of as many layers; its result is one of transformers again."""
    m = model(n_layer=12, n_positions=128)
    save(m, folder / "gpt2")
    np.random.RandomState(2).randint(0, words, 128 * 60).astype("<u2").tofile(folder / "text.tokens")
    command = re.search(r"^    build/release/bin/gpt (--load gpt2/.*?[^\\])\n", PAGE, flags=re.S | re.M)[1].replace("\\\n", " ")
    os.chdir(folder)
    run(*shlex.split(command), "--steps", 2)
    before = {name: p.detach().numpy().copy() for name, p in m.named_parameters()}
    m.load_state_dict(gpt_2_state("tuned"), strict=False)
    changed = {name for name, p in m.named_parameters() if p.detach().numpy().tobytes() != before[name].tobytes()}
    wanted = {name for name in before if re.match(r"transformer\.(h\.1[01]|ln_f)\.", name)}
    expect(changed == wanted, f"the page's command changes {len(changed)} tensors of {len(before)}, must be {len(wanted)}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tokens = np.random.RandomState(1).randint(0, words, 12 * BATCH * CONTEXT * STEPS).astype("<u2")
        (folder / "tokens").write_bytes(tokens.tobytes())
        all_logits(folder, tokens)
        all_refused(folder)
        fine_tuning(folder, tokens)
        the_page(folder)
    sys.exit(failures > 0)


main()
