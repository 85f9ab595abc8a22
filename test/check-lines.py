#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the lines of each network of test/networks, in C and in PyTorch, and fails when one has more than
twice PyTorch's in C.

Both sides are counted alike: what a network's loss, its optimizer and its training step are made of, and all
of the same file that these name (functions, structs and constants in C, functions and classes in Python),
without blank lines, comments and documentation. What describes the data to main.c and to networks.py,
and the norm of clipping, counts on neither side; the loop around is theirs. C is as clang-format leaves it."""
import ast
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent / "networks"
MOST = 2.0
BY_HAND = {"vit", "translator"}  # attention and cells of a GRU of single operations: counted, but without a limit


# ---- C: pieces between lines that begin in the first column -----------------------------------------

def c_lines(text):
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)
    return [line for line in text.splitlines() if line.strip()]


def c_pieces(text):
    """Definitions of a file: (the names that each makes, its lines)."""
    pieces, now = [], []
    for line in c_lines(text):
        if line.startswith("#"):
            continue
        now.append(line)
        if re.match(r"\}.*;?$|[^ {}].*;$", line):
            pieces.append((c_names(now), now))
            now = []
    return pieces


def c_names(lines):
    first = lines[0]
    if first.startswith("enum"):
        return set(re.findall(r"[{,]\s*(\w+)", " ".join(lines)))
    struct = re.match(r"struct (\w+) \{", first)
    if struct:
        return {"struct " + struct.group(1)}
    named = re.search(r"(\w+)(\[\])? ?(\(|=)", first)
    return {named.group(1)} if named else set()


def c_uses(lines):
    text = re.sub(r'"[^"]*"|\.\w+|->\w+', "", "\n".join(lines))
    return set(re.findall(r"\bstruct \w+", text)) | set(re.findall(r"\w+", text))


def c_count(name, text):
    pieces = c_pieces(text)
    roots = {f"{name}_{part}" for part in ("loss", "optimizer", "make", "optimize", "train")}
    return closure([(names, c_uses(lines), len(lines)) for names, lines in pieces], roots)


def closure(pieces, wanted):
    """Lines of the pieces that `wanted` leads to; a piece is (its names, what it uses, its lines)."""
    counted = set()
    while True:
        more = [i for i, (names, _, _) in enumerate(pieces) if i not in counted and names & wanted]
        if not more:
            return sum(pieces[i][2] for i in counted)
        for i in more:
            counted.add(i)
            wanted = wanted | pieces[i][1]


# ---- Python ----------------------------------------------------------------------------------------

DATA = {"inputs", "targets", "clip"}


def py_count(name, tree, source):
    def lines_of(node):
        skipped = set()
        for inner in ast.walk(node):
            body = getattr(inner, "body", None)
            if isinstance(body, list) and body and isinstance(body[0], ast.Expr) \
                    and isinstance(body[0].value, ast.Constant) and isinstance(body[0].value.value, str):
                skipped |= set(range(body[0].lineno, body[0].end_lineno + 1))
            if isinstance(inner, ast.Assign) and DATA & {n.id for t in inner.targets for n in ast.walk(t)
                                                         if isinstance(n, ast.Name)}:
                skipped |= set(range(inner.lineno, inner.end_lineno + 1))
        return [n for n in range(node.lineno, node.end_lineno + 1) if n not in skipped
                and source[n - 1].strip() and not source[n - 1].strip().startswith("#")]

    tops = [n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))]
    pieces = [({n.name}, {x.id for x in ast.walk(n) if isinstance(x, ast.Name)}, len(lines_of(n))) for n in tops]
    return closure(pieces, {name})


def main():
    text = (HERE / "networks.py").read_text()
    tree = ast.parse(text)
    table = next(n.value for n in tree.body if isinstance(n, ast.Assign) and n.targets[0].id == "NETWORKS")
    classes = {k.value: v.id for k, v in zip(table.keys, table.values)}
    files = [f.read_text() for f in sorted(HERE.glob("*_nets.c"))]
    failed = 0
    for name, made in classes.items():
        own = next(t for t in files if f'.name = "{name}"' in t)
        c, py = c_count(name, own), py_count(made, tree, text.splitlines())
        if c == 0 or py == 0:
            sys.exit(f"{name}: found {c} lines in C and {py} in Python")
        print(f"{name:12}{c:4} lines in C,{py:4} in PyTorch: {c / py:.2f}")
        failed += name not in BY_HAND and c > MOST * py
    if failed:
        print(f"{failed} more than {MOST} times as long as PyTorch's")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
