#!/usr/bin/env python3
# ===- make_extension_vectors.py - K modes that no public model covers -------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes test/data/mma-extension/*.bin (format: vectors.py): the natural
# extension of the published model, one sum per instruction, for K = 96 and 128
# of the FP4 kinds, K = 64 of mxf8f6f4, UE5M3, and UE4M3 with block 32. An
# implementation of its own, in exact rationals.
# NO PUBLIC HARDWARE EVIDENCE exists for any of these results.
#
#   make_extension_vectors.py OUTPUT_FOLDER [--kernels]
# kernel-*.bin hold one tile of a whole kernel each; --kernels writes only those.
#
# ===------------------------------------------------------------------------=== #

import argparse
import math
import pathlib
from fractions import Fraction

import numpy as np

from vectors import M, NAN_CODES, case_bytes, file_bytes, make, make_chain, spec, value_table

COLUMNS = 8
NAN, INF = "nan", "inf"


def exponent(value, smallest):
    """floor(log2 |value|), but at least `smallest`."""
    e = math.frexp(value)[1] - 1
    return max(e, smallest)


def element(fmt, code):
    """(value, exponent the hardware aligns by); value may be NAN or a signed INF."""
    bias = {"e2m1": 1, "e2m3": 1, "e3m2": 3, "e4m3": 7, "e5m2": 15}[fmt]
    if code in NAN_CODES.get(fmt, []):
        if fmt == "e5m2" and code & 0x7F == 0x7C:
            return (INF, -1 if code & 0x80 else 1), 0
        return NAN, 0
    value = value_table(fmt)[code]
    return Fraction(float(value)), exponent(value, 1 - bias) if value else 1 - bias


def scale_factor(fmt, byte):
    byte = int(byte)
    if fmt == "ue8m0":
        return (NAN, 0) if byte == 255 else (Fraction(2) ** (byte - 127), byte - 127)
    if byte == (0x7F if fmt == "ue4m3" else 0xFF):
        return NAN, 0
    bias = 7 if fmt == "ue4m3" else 15
    e, s = byte >> 3, byte & 7
    e, s = (e, 8 + s) if e else (1, s)
    return Fraction(s, 8) * Fraction(2) ** (e - bias), e - bias


def product(*factors):
    """Of values; NAN and (INF, sign) follow IEEE."""
    sign, infinite, value = 1, False, Fraction(1)
    for f in factors:
        if f is NAN:
            return NAN
        if isinstance(f, tuple):
            infinite, sign = True, sign * f[1]
        else:
            value *= f
    if not infinite:
        return value
    return NAN if value == 0 else (INF, sign if value > 0 else -sign)


def truncate_to_float(value):
    """Toward zero; subnormals kept, overflow to infinity, zero positive."""
    magnitude = abs(value)
    if magnitude >= Fraction(2) ** 128:
        return math.copysign(math.inf, value)
    unit = Fraction(2) ** -149
    while magnitude >= unit * 2**24:
        unit *= 2
    whole = int(magnitude / unit)
    return math.copysign(float(whole * unit), value) if whole else 0.0


def fused_sum(terms, fraction_bits, zero_exponent):
    """Terms are (value, exponent, counts as zero)."""
    if any(v is NAN for v, _, _ in terms):
        return math.nan
    signs = {v[1] for v, _, _ in terms if isinstance(v, tuple)}
    if signs:
        return math.nan if len(signs) == 2 else signs.pop() * math.inf
    largest = max(zero_exponent if zero else e for _, e, zero in terms)
    unit = Fraction(2) ** (largest - fraction_bits)
    total = sum(math.trunc(v / unit) for v, _, _ in terms if v)
    return truncate_to_float(total * unit)


def simulate(s, a, b, sfa, sfb, c):
    fp4 = s["kind"] != "mxf8f6f4"
    bits, zero = (35, -139) if fp4 else (25, -133)
    codes_a = [element(s["a"], x) for x in range(len(value_table(s["a"])))]
    codes_b = [element(s["b"], x) for x in range(len(value_table(s["b"])))]
    if fp4:  # whole quarters: sums of a group stay integers
        products = [[int(4 * va * vb) for vb, _ in codes_b] for va, _ in codes_a]
    else:
        products = [[product(va, vb) for vb, _ in codes_b] for va, _ in codes_a]
    scales_a = [[scale_factor(s["scale"], x) for x in row] for row in sfa]
    scales_b = [[scale_factor(s["scale"], x) for x in row] for row in sfb]
    d = np.zeros((a.shape[0], b.shape[0]), np.float32)
    step = 16 if fp4 else 1
    for m in range(a.shape[0]):
        rows = [products[x] for x in a[m]]
        for n in range(b.shape[0]):
            column = b[n].tolist()
            terms = []
            for k in range(0, s["k"], step):
                va, ea = scales_a[m][k // s["block"]]
                vb, eb = scales_b[n][k // s["block"]]
                scale = product(va, vb)
                if fp4:
                    group = [rows[j][column[j]] for j in range(k, k + 16)]
                    value = product(Fraction(sum(group), 4), scale)
                    terms.append((value, ea + eb, not any(group) or scale == 0))
                else:
                    value = product(rows[k][column[k]], scale)
                    terms.append((value, codes_a[a[m, k]][1] + codes_b[column[k]][1] + ea + eb, value == 0))
            acc = 0.0 if c is None else float(c[m, n])
            if math.isnan(acc):
                terms.append((NAN, 0, False))
            elif math.isinf(acc):
                terms.append(((INF, 1 if acc > 0 else -1), 0, False))
            else:
                terms.append((Fraction(acc), exponent(acc, -126) if acc else 0, acc == 0))
            d[m, n] = fused_sum(terms, bits, zero)
    bits32 = d.view(np.uint32)
    bits32[np.isnan(d)] = 0x7FFFFFFF
    return d


CLASSES = ["uniform", "full-range", "cancellation", "specials"]
FILES = {
    "mxf4nvf4-ue4m3-block16-k96": spec("mxf4nvf4", "e2m1", "e2m1", "ue4m3", 16, 96),
    "mxf4nvf4-ue4m3-block16-k128": spec("mxf4nvf4", "e2m1", "e2m1", "ue4m3", 16, 128),
    "mxf4nvf4-ue5m3-block16-k128": spec("mxf4nvf4", "e2m1", "e2m1", "ue5m3", 16, 128),
    "mxf4nvf4-ue4m3-block32-k128": spec("mxf4nvf4", "e2m1", "e2m1", "ue4m3", 32, 128),
    "mxf4-ue8m0-block32-k96": spec("mxf4", "e2m1", "e2m1", "ue8m0", 32, 96),
    "mxf4-ue8m0-block32-k128": spec("mxf4", "e2m1", "e2m1", "ue8m0", 32, 128),
    "mxf8f6f4-e4m3-k64": spec("mxf8f6f4", "e4m3", "e4m3", "ue8m0", 32, 64),
    "mxf8f6f4-e5m2-e3m2-k64": spec("mxf8f6f4", "e5m2", "e3m2", "ue8m0", 32, 64),
}

KERNEL_STEPS = 3  # one K tile of our kernels and half of the next
KERNELS = {
    "kernel-nvfp4": FILES["mxf4nvf4-ue4m3-block16-k128"],
    "kernel-mxfp4": FILES["mxf4-ue8m0-block32-k128"],
    "kernel-mxfp8": FILES["mxf8f6f4-e4m3-k64"],
    "kernel-mxf4nvf4-ue5m3-16": FILES["mxf4nvf4-ue5m3-block16-k128"],
    "kernel-mxf4nvf4-ue4m3-32": FILES["mxf4nvf4-ue4m3-block32-k128"],
    "kernel-e2m1-e5m2": spec("mxf8f6f4", "e2m1", "e5m2", "ue8m0", 32, 64),
    "kernel-nvfp4-k96": FILES["mxf4nvf4-ue4m3-block16-k96"],
    "kernel-mxfp4-k96": FILES["mxf4-ue8m0-block32-k96"],
}


def simulate_chain(s, a, b, sfa, sfb):
    d = None
    for k in range(0, a.shape[1], s["k"]):
        ks, ss = slice(k, k + s["k"]), slice(k // s["block"], (k + s["k"]) // s["block"])
        d = simulate(s, a[:, ks], b[:, ks], sfa[:, ss], sfb[:, ss], d)
    return d


def write_kernels(folder):
    for number, (name, s) in enumerate(KERNELS.items()):
        operands = make_chain(np.random.default_rng([20261, 100 + number]), s, M, KERNEL_STEPS * s["k"])
        case = case_bytes(s, "chain", *operands, simulate_chain(s, *operands[:4]))
        (folder / f"{name}.bin").write_bytes(file_bytes([case]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--kernels", action="store_true")
    args = parser.parse_args()
    folder = args.folder
    write_kernels(folder)
    if args.kernels:
        return
    for number, (name, s) in enumerate(FILES.items()):
        rng = np.random.default_rng([20261, number])
        cases = []
        for cls in CLASSES:
            operands = make(rng, cls, s, COLUMNS, s["k"])
            cases.append(case_bytes(s, cls, *operands, simulate(s, *operands)))
        (folder / f"{name}.bin").write_bytes(file_bytes(cases))


if __name__ == "__main__":
    main()
