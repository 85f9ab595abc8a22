#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels call only what OpenCL says to the last bit: functions of Tarn's own, and the built-in ones below. Looked through are
kernels/*.cl and the golden kernels, with macros as they are written, and the texts of which the compiler makes kernels.
Another function - a driver's exp or native_exp, whose results differ from device to device - is an error that names its
file and line. So is a macro of any number of arguments, which NVIDIA's compiler does not take. What they call must stand in
kernels/declared.cl. --self-test plants some."""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# What looks like a call.
WORDS = "if for while switch return sizeof defined __attribute__ _Pragma __has_builtin"
# Attributes and hints, in brackets of the former.
WORDS += " aligned reqd_work_group_size vectorize unroll visibility min_vector_width"
# Exact, by the specification: one rounding at most, and that the right one. select() takes a whole value, as?_ its bits.
DECLARED = "fma fabs floor rint sqrt min max clamp mul_hi select"
DECLARED += " get_work_dim get_group_id get_local_id get_global_id get_num_groups barrier"
EXACT = DECLARED + " shuffle2"  # which clang has no need of
# Compilers' own, which move or convert: a lane to another place, a float16's bits to a float's.
EXACT += " __builtin_convertvector __builtin_shufflevector __builtin_prefetch"
EXACT += " __builtin_ia32_vcvtph2ps256 __builtin_ia32_vcvtph2ps512_mask"
EXACT += " __builtin_ia32_vcvtps2ph __builtin_ia32_vcvtps2ph256 __builtin_ia32_vcvtps2ph512_mask"
TYPE = r"(?:char|uchar|short|ushort|int|uint|long|ulong|float|double)(?:2|4|8|16)?"
# Loads, stores, bits seen as another type, and conversions, whose default rounding is to the nearest.
FAMILIES = re.compile(rf"(?:as_{TYPE}|convert_{TYPE}(?:_sat)?(?:_rt[ezpn])?|v(?:load|store)(?:2|4|8|16))\Z")
# In these files the named ones, too: float64 takes the driver's functions, as docs/numerics.md says.
ALSO = {"kernels/double.cl": "exp expm1 log log1p pow tanh erf sin cos atan atan2"}

# What else OpenCL C has for numbers.
OTHERS = "acos acosh acospi asin asinh asinpi atan atan2 atan2pi atanh atanpi cbrt ceil copysign cos cosh cospi degrees dot erf"
OTHERS += " erfc exp exp10 exp2 expm1 fdim fmax fmin fmod fract frexp hypot ilogb ldexp length lgamma log log10 log1p log2 logb mad"
OTHERS += " mix modf nextafter normalize pow pown powr radians remainder remquo rootn round rsqrt sign sin sincos sinh sinpi"
OTHERS += " smoothstep step tan tanh tanpi tgamma trunc abs abs_diff add_sat bitselect clz hadd isnan mad24 mad_hi mad_sat mul24"
OTHERS += " popcount rhadd rotate sub_sat upsample"
TEXT = re.compile(r'"((?:[^"\\\n]|\\.)*)"')

ALLOWED = set(WORDS.split()) | set(EXACT.split())
COMMENT_OR_TEXT = re.compile(r"/\*.*?\*/|//[^\n]*|\"[^\"\n]*\"", re.S)
INEXACT = re.compile(r"\b(?:native|half)_\w*")  # wherever they stand, as what a macro is given, too
CALL = re.compile(r"(#\s*define\s+)?(#{0,2})\b([A-Za-z_]\w*)(#{0,2})\s*\(")
DEFINED = re.compile(r"\b(?:void|char|uchar|short|ushort|bool|int|uint|long|ulong|size_t|float|double|f|i|u)(?:2|4|8|16)?\s+\**([A-Za-z_]\w*)\s*\(")


def blank(text):
    """Without comments and texts, each line where it was."""
    return COMMENT_OR_TEXT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def own_names(text):
    """Functions and macros that a text defines, and parameters of its macros, which stand for names."""
    names = set(DEFINED.findall(text)) | set(re.findall(r"#\s*define\s+(\w+)", text))
    names |= set(re.findall(r"\b(\w+_##)\w+\s*\(", text))  # the beginning of names that a macro makes
    names |= set(re.findall(r"^[A-Z_]+\((\w+),", text, flags=re.M))  # and whole ones that it is given
    for parameters in re.findall(r"#\s*define\s+\w+\(([^)]*)\)", text):
        names |= {name.strip() for name in parameters.split(",")}
    return names


def prefixes(known):
    return tuple(name[:-2] for name in known if name.endswith("##"))


def strange_calls(name, text, known):
    """(line, function) of each call of what is neither known nor allowed."""
    allowed = ALLOWED | known | set(ALSO.get(name, "").split())
    found = [(text.count("\n", 0, m.start()) + 1, m.group()) for m in INEXACT.finditer(text)]
    for m in CALL.finditer(text):
        called = m.group(3)
        if INEXACT.match(called):
            continue  # is there already
        glued = m.group(2) or m.group(4)  # to what a macro is given: as_##u(x), tarn_sum##_16(x)
        if m.group(1) or glued or called in allowed or FAMILIES.match(called) or called.startswith(prefixes(known)):
            continue
        found.append((text.count("\n", 0, m.start(3)) + 1, called))
    return found


def kernels():
    """(name, text) of all; the heads first."""
    for path in sorted((ROOT / "kernels").glob("*.cl")) + sorted((ROOT / "test/golden/kernels").glob("*.cl")):
        if path.name != "declared.cl":
            yield str(path.relative_to(ROOT)), blank(path.read_text())


def printed_calls(name, text):
    """The same in texts of C."""
    others = set(OTHERS.split())
    return [f"{name}:{text.count(chr(10), 0, m.start()) + 1}: prints {called}()" for m in TEXT.finditer(text)
            for called in re.findall(r"\b([a-z]\w*)\(", m.group(1)) if called in others or INEXACT.match(called)]


def printers():
    for folder in "core/op", "core/compile/6_source":
        for path in sorted((ROOT / folder).glob("**/*.c")):
            yield str(path.relative_to(ROOT)), path.read_text()


def undeclared(text):
    wanted = DECLARED.split() + ALSO["kernels/double.cl"].split()
    return [f"kernels/declared.cl: does not have {name}()" for name in wanted if not re.search(rf"\b{name}\b", text)]


def variadic(name, text):
    return [f"{name}:{text.count(chr(10), 0, m.start()) + 1}: a macro of any number of arguments"
            for m in re.finditer(r"#\s*define\s+\w+\([^)]*\.\.\.|__VA_ARGS__", text)]


def check(texts):
    """What every generated kernel has before it is known in all files; other files know their own."""
    shared = set().union(*(own_names(text) for name, text in texts if name.startswith("kernels/") and "gemm" not in name))
    calls = [f"{name}:{line}: calls {called}()" for name, text in texts
             for line, called in strange_calls(name, text, shared | own_names(text))]
    return calls + [line for name, text in texts for line in variadic(name, text)]


def self_test(texts):
    """Each planted call is found, in every kind of file."""
    for number, (name, text) in enumerate(texts):
        planted = ["native_exp", "exp2", "half_rsqrt", "dot"][number % 4]
        changed = [(n, t + f"\nfloat planted(float x) {{ return {planted}(x); }}\n" if n == name else t) for n, t in texts]
        if not any(line.startswith(name + ":") and f" {planted}()" in line for line in check(changed)):
            sys.exit(f"check-builtins: {planted}() in {name} was not found")
    if printed_calls("planted", 'text_add(t, "%d * mad(%s, 2)", 1);') != ["planted:1: prints mad()"]:
        sys.exit("check-builtins: a printed mad() was not found")
    if len(variadic("planted", "#define ALL(x, ...) f(x, __VA_ARGS__)")) != 2:
        sys.exit("check-builtins: a macro of any number of arguments was not found")
    if len(undeclared("")) < 20:
        sys.exit("check-builtins: what is not declared was not found")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    texts = list(kernels())
    if len(texts) < 10:
        sys.exit("check-builtins: no kernels found")
    if options.self_test:
        self_test(texts)
    wrong = check(texts) + [line for name, text in printers() for line in printed_calls(name, text)]
    wrong += undeclared((ROOT / "kernels/declared.cl").read_text())
    if wrong:
        sys.exit("check-builtins: what OpenCL does not fix, or not all drivers take:\n" + "\n".join(wrong))
    print(f"check-builtins: {len(texts)} files call what is exact")


main()
