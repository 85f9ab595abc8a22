#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs every C program that the README and the pages of docs/ show.

    programs.py LIBRARY_FOLDER [PAGE FLAG ...]

With flags, such as those that pkg-config gives, only that page's, with them in place of the tree's headers and library.
A block that is marked as C and has a main() is a program. Each runs in a folder of its own and gets
one argument: a folder with a small data set under MNIST's names. It must compile without a warning,
end with 0 and write nothing to the standard error stream.
"""
import gzip
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAMPLES, LEAST = 512, 2  # LEAST: the README's program and the page on several devices


def write_data(folder):
    """Images whose brightness tells the label, as IDX files."""
    for part in ("train", "t10k"):
        labels = bytes(i * 7 % 10 for i in range(SAMPLES))
        images = b"".join(bytes([25 * label]) * 784 for label in labels)
        for name, head, body in (("images-idx3-ubyte", struct.pack(">IIII", 0x803, SAMPLES, 28, 28), images),
                                 ("labels-idx1-ubyte", struct.pack(">II", 0x801, SAMPLES), labels)):
            with gzip.open(folder / f"{part}-{name}.gz", "wb") as file:
                file.write(head + body)


def programs(only):
    for page in [ROOT / only] if only else [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for number, block in enumerate(re.findall(r"^```c\n(.*?)^```", page.read_text(), flags=re.S | re.M), 1):
            if re.search(r"\bmain\(", block):
                yield f"{page.relative_to(ROOT)}, block {number}", block


def check(name, block, library, flags, data):
    """What is wrong with a program, or None."""
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder) / "program.c", pathlib.Path(folder) / "program"
        source.write_text(block)
        built = subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", source, "-o", program,
                                *flags, f"-Wl,-rpath,{library}", "-lm"],
                               capture_output=True, text=True)
        if built.returncode:
            return f"does not compile:\n{built.stderr}"
        run = subprocess.run([program, data], cwd=folder, capture_output=True, text=True, timeout=300,
                             env={**os.environ, "TARN_NUM_DEVICES": "2"})
    print(f"programs: {name}: {run.stdout.strip()[-200:]}")
    noise = [line for line in run.stderr.splitlines() if not re.fullmatch(r"\d+ warnings? generated\.", line)]
    if run.returncode or noise:
        return f"ends with {run.returncode}: " + "\n".join(noise)
    return None


def main():
    library, only = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None
    flags = sys.argv[3:] if only else [*(f"-I{ROOT / d}" for d in ("core", "dist", "backend")), f"-L{library}", "-ltarn"]
    with tempfile.TemporaryDirectory() as data:
        write_data(pathlib.Path(data))
        found = list(programs(only))
        failures = [(name, wrong) for name, block in found if (wrong := check(name, block, library, flags, data))]
    for name, wrong in failures:
        print(f"programs: {name} {wrong}", file=sys.stderr)
    if len(found) < (1 if only else LEAST):
        sys.exit(f"programs: found only {len(found)}: are the blocks still marked as C?")
    sys.exit(1 if failures else 0)


main()
