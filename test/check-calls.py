#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every call that the tree's PyTorch programs make - of nn, F, torch and of tensors - has a row in
docs/from-pytorch.md, whose tables name it in the first column."""
import argparse
import ast
import io
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/from-pytorch.md"
PROGRAMS = ["test/networks/networks.py", "bench/peers/pytorch_mnist.py", "bench/peers/pytorch_step.py",
            "bench/peers/pytorch_examples.py"]
OF_TORCH = {"torch", "nn", "F", "datasets", "transforms", "DataLoader"}
# Methods of what is no tensor.
PYTHON = {name for kind in (str, bytes, list, dict, set, int, float, pathlib.Path, argparse.ArgumentParser, subprocess, json, sys,
                            io.TextIOWrapper) for name in dir(kind)} | {"astype"}


def full_name(node):
    """"nn.utils.clip" of an attribute, or None where it begins with no plain name."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def calls_of(text):
    """(what a program calls, of what kind): "nn.Linear", or ".flatten" of some value."""
    tree = ast.parse(text)
    modules = {a.asname or a.name.split(".")[0] for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom))
               for a in n.names}
    own = {n.name for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    own |= {t.attr for n in ast.walk(tree) if isinstance(n, ast.Assign) for t in ast.walk(n) if isinstance(t, ast.Attribute)
            and isinstance(t.ctx, ast.Store)}  # self.head(x)
    found = {full_name(b) for n in ast.walk(tree) if isinstance(n, ast.ClassDef) for b in n.bases}
    # Anything of torch's, called or handed on, such as torch.optim.Adam.
    for n in ast.walk(tree):
        if isinstance(n, ast.Attribute) and (full_name(n) or "").split(".")[0] in OF_TORCH & modules:
            found.add(full_name(n))
        elif isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in OF_TORCH & modules:
            found.add(n.func.id)
        elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute):
            first = (full_name(n.func) or "").split(".")[0]
            if first not in modules and n.func.attr not in own | PYTHON:
                found.add("." + n.func.attr)
    prefixes = {part for name in found if name for part in (name.rsplit(".", 1)[0],) if name[0] != "."}
    return {name for name in found if name and name not in prefixes | modules - OF_TORCH
            and name.split(".")[0] in OF_TORCH | {""} and name not in {"torch", "nn", "F", "datasets", "transforms"}}


def rows_of(page):
    """All names in code of first columns."""
    names = set()
    for row in re.findall(r"^\|([^|]*)\|", page, flags=re.M):
        for code in re.findall(r"`([^`]*)`", row):
            names |= set(re.findall(r"\w+", code))
    return names


def main():
    page = PAGE.read_text()
    rows, missing, count = rows_of(page), set(), 0
    blocks = re.findall(r"^```python\n(.*?)^```", page, flags=re.M | re.S)
    for where, text in [(p, (ROOT / p).read_text()) for p in PROGRAMS] + [(PAGE.name, b) for b in blocks]:
        calls = calls_of(text)
        count += len(calls)
        missing |= {f"{where}: {c}" for c in calls if c.rsplit(".", 1)[-1] not in rows}
    if count < 50:
        missing.add(f"only {count} calls were found in all programs")
    for line in sorted(missing):
        print(f"check-calls: no row in docs/from-pytorch.md: {line}", file=sys.stderr)
    print(f"check-calls: {count} calls, {len(missing)} without a row")
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
