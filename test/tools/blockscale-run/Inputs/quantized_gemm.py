# ===- quantized_gemm.py - epilogues that quantise, gate and scale, against NumPy -===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: quantized_gemm.py BLOCKSCALE-RUN PTXAS FOLDER [all]
# Runs products with quantised results on the emulator, hazard checks on, under several timings,
# and compares every byte of elements and scales, padding included, with NumPy and ml_dtypes.
# Operands are small integers times powers of two, so that products, alpha and bias are exact in
# f32 and results have one right byte; those behind GELU and SwiGLU have what values within 2^-20
# of the argument may become. A row and a block of columns are NaN, and the largest elements stand
# where blocks, tiles and rows end. Results of f32 and bf16 are of gates and of factors of rows
# and columns. ptxas must not spill. `all` is every format on every chip.
#
# ===-----------------------------------------------------------------------===#

import dataclasses
import itertools
import math
import os
import re
import subprocess
import sys

import ml_dtypes
import numpy as np

import quantize_rules as rules
from quantize_chunks import run
from quantize_formats import FORMATS

F32 = np.float32
WIDE = {"f32": F32, "bf16": ml_dtypes.bfloat16}
FUNCTIONS = {
    "relu": lambda x: np.maximum(x, 0),  # NaN stays
    "gelu": lambda x: 0.5 * x * np.vectorize(math.erfc)(-x / math.sqrt(2)),
    "silu": lambda x: x / (1 + np.exp(-x)),
}


@dataclasses.dataclass(frozen=True)
class Case:
    form: str
    m: int
    n: int
    chip: str
    layout: str
    parts: tuple = ()  # of the epilogue: alpha, alpha_rows, alpha_columns, bias, gate, norm_const, a function
    pins: str = ""
    k: int = 128

    @property
    def columns(self):
        return self.n // 2 if "gate" in self.parts else self.n

    @property
    def function(self):
        return next((part for part in self.parts if part in FUNCTIONS), None)


CASES = [
    Case("mxfp8", 37, 96, "sm_100a", "tiled"),
    Case("mxfp8", 130, 160, "sm_107a", "tiled", ("bias", "relu")),
    Case("mxfp8", 5, 224, "sm_103a", "linear", ("alpha",), "tile-n=256"),
    Case("mxfp8", 70, 288, "sm_107a", "linear", ("gelu", "bias"), "tile-n=64,ctas=3"),
    Case("mxfp8-e5m2", 9, 352, "sm_107a", "tiled", (), "tile-n=192,ctas=1"),
    Case("mxfp6-e2m3", 33, 96, "sm_100a", "linear", ("bias",)),
    Case("mxfp6-e3m2", 7, 352, "sm_107a", "tiled", ("gelu",)),
    Case("mxfp4", 200, 160, "sm_100a", "tiled", ("relu",), "tile-n=64,ctas=2"),
    Case("mxfp4", 300, 64, "sm_107a", "tiled", ("gelu", "bias"), "cta-group=2,cluster=2x2"),
    Case("nvfp4", 65, 208, "sm_100a", "tiled", ("bias",)),
    Case("nvfp4", 37, 272, "sm_107a", "linear", ("relu", "norm_const"), "tile-n=256,ctas=1"),
    Case("nvfp4", 70, 560, "sm_100a", "tiled", ("relu",), "tile-n=256,ctas=1"),  # overlapped accumulators
    Case("fp4-ue5m3", 33, 112, "sm_107a", "tiled", ("alpha_rows", "alpha_columns")),
    Case("fp4-ue5m3-32", 9, 352, "sm_107a", "linear", ("alpha", "alpha_rows", "bias"), "tile-n=256"),
    Case("mxfp8", 37, 384, "sm_107a", "tiled", ("gate", "bias")),
    Case("nvfp4", 50, 640, "sm_100a", "tiled", ("gate", "alpha"), "tile-n=256,ctas=1"),
    Case("f32", 37, 384, "sm_100a", "-", ("gate", "bias")),
    Case("bf16", 300, 640, "sm_107a", "-", ("gate", "alpha_columns"), "tile-m=256,tile-n=256,ctas=1"),
    Case("bf16", 37, 512, "sm_100a", "-", ("gate",), "tile-n=256,ctas=1"),  # overlapped accumulators
    Case("f32", 150, 256, "sm_103a", "-", ("gate", "alpha_rows"), "epilogue=plain_store,ctas=1"),
    Case("f32", 300, 130, "sm_107a", "-", ("alpha", "alpha_rows", "alpha_columns", "bias"), "cta-group=2,cluster=2x2"),
    Case("bf16", 133, 200, "sm_100a", "-", ("alpha_rows", "relu")),
]
ALL = [
    Case(form, 133, n, chip, layout, parts, pins)
    for (form, (element, scale, block)), chip in itertools.product(FORMATS.items(), ["sm_100a", "sm_103a", "sm_107a"])
    for n, layout, parts, pins in [
        (3 * block, "tiled", ("bias", "relu"), ""), (9 * block, "linear", ("alpha",), "tile-n=64"),
        (11 * block, "tiled", ("gelu",), "tile-n=192"), (21 * block, "tiled", ("relu",), "tile-n=256"),
        (640, "linear", ("gate",), "tile-n=256")]
    if chip == "sm_107a" or scale != "ue5m3"
]


def operands(case, seed):
    """Codes of E4M3, scales of E8M0, and what they are."""
    random = np.random.default_rng(seed)
    def integers(rows):
        values = random.integers(-3, 4, (rows, case.k)).astype(np.float64)
        values[random.random((rows, case.k)) < 0.6] = 0
        return values
    a, b = integers(case.m), integers(case.n)
    b[31::32] *= 5  # the largest of a block is its last
    sa, sb = (random.integers(low, high, (rows, 1)) + random.integers(0, 3, (rows, case.k // 32))
              for rows, low, high in ((case.m, 117, 138), (case.n, 124, 131)))
    b[: case.n // 5 // 16 * 16] *= random.random() < 0.5  # blocks of zeroes
    codes = [x.astype(ml_dtypes.float8_e4m3fn).view(np.uint8) for x in (a, b)]
    exact = (a * np.exp2(np.repeat(sa, 32, 1) - 127.0)) @ (b * np.exp2(np.repeat(sb, 32, 1) - 127.0)).T
    # NaN: a row, and where 16 or 32 columns share a scale, those.
    if case.m > 3:
        sa[3, 1], exact[3] = 255, np.nan
    sb[case.n - 5, 2], exact[:, case.n - 5] = 255, np.nan
    return codes[0], sa.astype(np.uint8), codes[1], sb.astype(np.uint8), exact


def factors(case, seed):
    """Of the epilogue, as arguments in order: powers of two, and a bias that keeps sums exact or nearly so."""
    random = np.random.default_rng(seed + 1)
    made = {}
    for part in ("alpha", "alpha_rows", "alpha_columns", "bias"):
        shape = {"alpha": (), "alpha_rows": (case.m,), "alpha_columns": (case.n,), "bias": (case.n,)}[part]
        if part in case.parts and part == "bias":
            made[part] = (random.integers(-8, 9, shape) * 0.25).astype(F32)
        elif part in case.parts:
            made[part] = np.asarray(2.0 ** random.integers(-3, 4, shape), F32)
    if case.form not in WIDE and FORMATS[case.form][1] == "ue4m3":
        g = F32(0.0123)
        made["norm_const" if "norm_const" in case.parts else "global"] = np.asarray(F32(81.3) if "norm_const" in case.parts else g)
    return made


def module(case, made):
    t = {"a": f"tensor<{case.m}x{case.k}xf8E4M3FN>", "b": f"tensor<{case.n}x{case.k}xf8E4M3FN>"}
    for x, rows in (("a", case.m), ("b", case.n)):
        t["s" + x] = f"tensor<{rows}x{case.k // 32}xi8, #blockscale.scales<ue8m0, linear>>"
    if case.form in WIDE:
        types = [f"tensor<{case.m}x{case.columns}x{case.form}>"]
    else:
        element, scale, block = FORMATS[case.form]
        types = [f"tensor<{case.m}x{case.columns}x{rules.ELEMENTS[element].mlir}>",
                 f"tensor<{case.m}x{case.columns // block}xi8, #blockscale.scales<{scale}, {case.layout}>>"]
    outs, results, made_ = ", ".join(types), ", ".join(["%q", "%s"][: len(types)]), ["%c", "%cs"][: len(types)]
    empty = "\n  ".join(f"{name} = tensor.empty() : {type_}" for name, type_ in zip(made_, types))
    given = {name: f"tensor<{'x'.join(map(str, value.shape + ('f32',)))}>" for name, value in made.items()}
    order = ["alpha", "alpha_rows", "alpha_columns", "bias", "global", "norm_const"]
    clauses = " ".join(f"{name}(%{name} : {given[name]})" for name in order if name in made)
    attributes = ""
    if "gate" in case.parts:
        attributes = " {gate = #blockscale.gate<function = silu, interleave = 64>}"
    elif case.function:
        attributes = f" {{activation = #blockscale.activation<{case.function}>}}"
    arguments = ", ".join([f"%{x} : {t[x]}".replace(" :", ":") for x in ("a", "sa", "b", "sb")]
                          + [f"%{name}: {given[name]}" for name in order if name in made])
    return f"""func.func @f({arguments}) -> ({outs}) {{
  {empty}
  {results} = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : {t['a']}, {t['sa']}, {t['b']}, {t['sb']})
    {clauses} outs({', '.join(made_)} : {outs}){attributes} -> {outs}
  return {results} : {outs}
}}
"""


def wanted(case, exact, made):
    """f64 values behind the epilogue, and how far a kernel may be from each."""
    with np.errstate(all="ignore"):
        x = exact * made.get("alpha", F32(1)).astype(np.float64)
        x = x * made.get("alpha_rows", np.ones(case.m)).astype(np.float64)[:, None]
        x = x * made.get("alpha_columns", np.ones(case.n)).astype(np.float64)
        x = x + made.get("bias", np.zeros(case.n)).astype(np.float64)
        slack = np.abs(x) * 2.0**-24  # of a sum with bias that is not exact
        if (x.astype(F32) == x)[~np.isnan(x)].all():
            slack = np.zeros(x.shape)
        if "gate" in case.parts:
            pairs = x.reshape(case.m, -1, 2, 64)
            gates, values = pairs[:, :, 0].reshape(case.m, -1), pairs[:, :, 1].reshape(case.m, -1)
            return FUNCTIONS["silu"](gates) * values, np.abs(gates * values) * 2.0**-20
        if case.function:
            f = FUNCTIONS[case.function](x)
            return f, slack if case.function == "relu" else np.abs(x) * 2.0**-20 + slack
        return x, slack


def codesBetween(case, low, high, scales, sequence, g):
    """Codes of both ends by the scales that are there."""
    element, scale, block = FORMATS[case.form]
    ends = []
    for x in (low, high):
        x = x.astype(F32)
        if scale == "ue8m0":
            given = rules.Quantized(None, scales, None, F32(1))
            ends.append(rules.sequenceCodes(x, given, element, sequence))
            continue
        values = rules.ue5m3Values(scales) if scale == "ue5m3" else scales.view(ml_dtypes.float8_e4m3fn).astype(F32)
        divisors = np.repeat((values * g).astype(F32), block, 1)
        with np.errstate(all="ignore"):
            quotients = np.where(divisors == 0, np.copysign(F32(0), x), x / np.where(divisors == 0, F32(1), divisors))
        ends.append(rules.ELEMENTS[element].encode(quotients.astype(F32)))
    return ends


def inOrder(codes, bits):
    """Codes as numbers that have the order of their values, both zeroes in one place."""
    sign = 1 << (bits - 1)
    magnitude = (codes & (sign - 1)).astype(np.int64)
    return np.where(codes & sign, -magnitude, magnitude)


def compare(case, values, slack, q, s, sequence, g):
    """How many scales, elements and bytes of padding are wrong; and elements with one right byte."""
    element, scale, block = FORMATS[case.form]
    form, rows, cols = rules.ELEMENTS[element], case.m, case.columns // block
    if case.layout == "tiled":
        scales, padding = untile(s, rows, cols)
    else:
        scales, padding = s.reshape(rows, cols), np.zeros(0, np.uint8)
    bits = np.unpackbits(q.reshape(rows, -1), axis=1, bitorder="little").reshape(rows, case.columns, form.bits)
    codes = (bits << np.arange(form.bits, dtype=np.uint8)).sum(-1).astype(np.uint8)
    low, high = values - slack, values + slack
    # The largest magnitude of a block is between those of the nearest and the farthest ends.
    nearest = np.maximum(np.abs(values) - slack, 0)
    farthest = np.abs(values) + slack
    least = rules.quantize(nearest.astype(F32), element, scale, block, g).scales
    most = rules.quantize(farthest.astype(F32), element, scale, block, g).scales
    isNan = np.isnan(values).reshape(rows, cols, block).any(-1)
    wrongScales = np.where(isNan, scales != most, (scales < least) | (scales > most))
    lower, upper = codesBetween(case, low, high, scales, sequence, g)
    if not slack.any():
        wrong = codes != lower  # of zeroes, too
    else:
        wrong = (inOrder(codes, form.bits) < inOrder(lower, form.bits)) | (inOrder(codes, form.bits) > inOrder(upper, form.bits))
    wrong &= ~np.repeat(isNan, block, 1)  # whose scale says it
    exactly = int((lower == upper).sum())
    return int(wrongScales.sum()), int(wrong.sum()), int((padding != 0).sum()), exactly


def compareWide(case, values, slack, d):
    """How many elements are wrong, and those with one right value."""
    dtype = WIDE[case.form]
    info = ml_dtypes.finfo(dtype)
    got = d.view(dtype).reshape(values.shape).astype(np.float64)
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.frexp(np.abs(values))[1] - 1, info.minexp)
        ends = [(values + sign * slack).astype(dtype).astype(np.float64) for sign in (-1, 1)]
    ulp = np.exp2(exponent - info.nmant) if slack.any() else 0
    wrong = ~((ends[0] - ulp <= got) & (got <= ends[1] + ulp) | np.isnan(values) & np.isnan(got))
    return int(wrong.sum()), int((ends[0] == ends[1]).sum())


def untile(s, rows, cols):
    """Scales of tiles of 128 rows x 4, and the bytes that are none."""
    r, c = np.arange(rows)[:, None], np.arange(cols)[None, :]
    at = (r // 128 * -(-cols // 4) + c // 4) * 512 + r % 32 * 16 + r % 128 // 32 * 4 + c % 4
    rest = np.ones(len(s), bool)
    rest[at.ravel()] = False
    if len(s) != -(-rows // 128) * -(-cols // 4) * 512:
        sys.exit(f"bytes of tiled scales: {len(s)}")
    return s[at], s[rest]


def spills(ptxas, chip, ptx):
    done = subprocess.run([ptxas, "-v", f"-arch={chip}", ptx, "-o", ptx + ".cubin"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return sum(map(int, re.findall(r"(\d+) bytes spill", done.stdout + done.stderr)))


def check(program, ptxas, folder, case, seed):
    at = lambda name: os.path.join(folder, name)
    a, sa, b, sb, exact = operands(case, seed)
    made = factors(case, seed)
    with open(at("k.mlir"), "w") as file:
        file.write(module(case, made))
    order = ["alpha", "alpha_rows", "alpha_columns", "bias", "global", "norm_const"]
    arguments = {"a": a, "sa": sa, "b": b, "sb": sb, **{name: made[name] for name in order if name in made}}
    call = [program, at("k.mlir"), "--entry=f", f"--arch={case.chip}", "--check", "--seeds=1", f"--emit-ptx={at('k.ptx')}"]
    for name, value in arguments.items():
        np.save(at(name + ".npy"), value)
        call.append(f"--arg={at(name + '.npy')}")
    call += [f"--pin={case.pins}"] if case.pins else []
    if case.form in WIDE:
        said = run(*call, f"--out={at('q.npy')}")
        if "same bits under earliest, latest, seed 0" not in said or "; error" not in said:
            sys.exit(said)
        values, slack = wanted(case, exact, made)
        d = np.load(at("q.npy"))
        wrong, exactly = compareWide(case, values, slack, d)
        # A changed sign of one that is far from zero is seen.
        place = int(np.nanargmax(np.abs(values) - 64 * slack))
        bits = d.copy().reshape(-1)
        bits.view(np.uint32 if d.itemsize == 4 else np.uint16)[place] ^= np.uint32(1 << (8 * d.itemsize - 1))
        if compareWide(case, values, slack, bits)[0] != wrong + 1:
            sys.exit(f"{case}: a changed element is not seen")
        return 0, wrong, 0, spills(ptxas, case.chip, at("k.ptx")), exactly, values.size, "-"
    call += [f"--out={at(name + '.npy')}" for name in ("q", "s")]
    said = run(*call)
    scale = FORMATS[case.form][1]
    sequence = "remainder" if scale != "ue8m0" else "scaled" if case.chip == "sm_107a" else "reciprocal"
    if f" by {sequence}, " not in said or "same bits under earliest, latest, seed 0" not in said or "; error" not in said:
        sys.exit(said)
    g = F32(1)
    if "global" in made:
        g = made["global"][()]
    elif "norm_const" in made:
        g = F32(F32(1) / made["norm_const"][()])
    values, slack = wanted(case, exact, made)
    q, s = (np.load(at(name + ".npy")).view(np.uint8).ravel() for name in ("q", "s"))
    scales, elements, padding, exactly = compare(case, values, slack, q, s, sequence, g)
    spilled = spills(ptxas, case.chip, at("k.ptx"))
    # The comparison sees one changed element, scale and byte of padding.
    for changed, what in ((q, 0), (s, 1)):
        place = int(np.random.default_rng(seed).integers(len(changed)))
        before, changed[place] = changed[place], changed[place] ^ 0x11
        after = compare(case, values, slack, q, s, sequence, g)
        changed[place] = before
        if what == 1 and after[:3] == (scales, elements, padding):
            sys.exit(f"{case}: a changed scale at {place} is not seen")
    return scales, elements, padding, spilled, exactly, values.size, sequence


def main():
    program, ptxas, folder = sys.argv[1:4]
    os.makedirs(folder, exist_ok=True)
    failed = False
    for seed, case in enumerate(ALL if sys.argv[4:] == ["all"] else CASES):
        scales, elements, padding, spilled, exactly, count, sequence = check(program, ptxas, folder, case, seed)
        print(f"{case.form} {case.m}x{case.n} {case.chip} {case.layout} {sequence} [{' '.join(case.parts)}] {case.pins}: "
              f"{scales} scales, {elements} elements and {padding} bytes of padding differ, {spilled} bytes spilled; "
              f"{exactly} of {count} have one right code", flush=True)
        failed |= bool(scales or elements or padding or spilled)
    sys.exit(failed)


if __name__ == "__main__":
    main()
