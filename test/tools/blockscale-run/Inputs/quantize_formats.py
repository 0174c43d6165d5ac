# ===- quantize_formats.py - every format made on the device, against NumPy -----===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: quantize_formats.py BLOCKSCALE-RUN FOLDER [all]
# Quantises ragged matrices on the emulator, hazard checks on, under several timings, with
# each chip's sequence, and compares every byte of elements and scales, padding included,
# and the global scale with the rules, and with the sequence where the two may differ: there,
# and nowhere else. `all` is every format from every source on every chip.
#
# ===-----------------------------------------------------------------------===#

import itertools
import os
import sys

import numpy as np

import quantize_rules as rules
from quantize_chunks import TYPES, make, run

# element, scale, block
FORMATS = {
    "mxfp8": ("e4m3", "ue8m0", 32),
    "mxfp8-e5m2": ("e5m2", "ue8m0", 32),
    "mxfp6-e2m3": ("e2m3", "ue8m0", 32),
    "mxfp6-e3m2": ("e3m2", "ue8m0", 32),
    "mxfp4": ("e2m1", "ue8m0", 32),
    "nvfp4": ("e2m1", "ue4m3", 16),
    "fp4-ue5m3": ("e2m1", "ue5m3", 16),
    "fp4-ue5m3-32": ("e2m1", "ue5m3", 32),
}
SEQUENCES = {"sm_89": "integer", "sm_90a": "integer", "sm_107a": "scaled"}  # reciprocal elsewhere

# format, rows, k, source, chip, layout, global scale
CASES = [
    ("mxfp8", 65, 96, "f32", "sm_90a", "tiled", None),
    ("mxfp8", 33, 160, "f16", "sm_100a", "tiled", None),
    ("mxfp8", 5, 416, "f32", "sm_100a", "linear", None),
    ("mxfp8", 130, 64, "f32", "sm_107a", "tiled", None),
    ("mxfp8", 3, 224, "bf16", "sm_107a", "linear", None),
    ("mxfp8-e5m2", 9, 352, "f32", "sm_107a", "tiled", None),
    ("mxfp8-e5m2", 7, 160, "bf16", "sm_103a", "linear", None),
    ("mxfp6-e2m3", 3, 352, "f32", "sm_90a", "linear", None),
    ("mxfp6-e2m3", 5, 160, "f16", "sm_107a", "tiled", None),
    ("mxfp6-e3m2", 7, 352, "f32", "sm_100a", "tiled", None),
    ("mxfp6-e3m2", 3, 416, "bf16", "sm_89", "linear", None),
    ("mxfp4", 65, 96, "f32", "sm_107a", "tiled", None),
    ("mxfp4", 5, 352, "f32", "sm_90a", "linear", None),
    ("mxfp4", 33, 160, "f16", "sm_120a", "tiled", None),
    ("nvfp4", 65, 80, "f32", "sm_100a", "tiled", "computed"),
    ("nvfp4", 5, 368, "f16", "sm_90a", "linear", "computed"),
    ("nvfp4", 7, 176, "f32", "sm_107a", "linear", 0.0123),
    ("nvfp4", 3, 160, "f32", "sm_100a", "tiled", 1e-44),  # subnormal
    ("nvfp4", 3, 160, "bf16", "sm_90a", "linear", 3e38),
    ("fp4-ue5m3", 33, 112, "f32", "sm_107a", "tiled", None),
    ("fp4-ue5m3-32", 9, 352, "f16", "sm_107a", "linear", None),
]
ALL = [
    (form, 5, 352, dtype, chip, layout, "computed" if form == "nvfp4" else None)
    for form, (dtype, layout), chip in itertools.product(
        FORMATS, [("f32", "tiled"), ("f16", "linear"), ("bf16", "tiled")],
        ["sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_107a", "sm_120a", "sm_121a"])
    if chip == "sm_107a" or "ue5m3" not in form
]


def matrix(rows, k, dtype, seed, element, scale):
    """quantize_chunks.make's blocks, and some where every quotient is a tie or a value."""
    rounded = -(-rows * k // 32) * 32
    x = make(rounded // 32, 32, dtype, seed)
    form = rules.ELEMENTS[element]
    codes = np.arange(2 ** (form.bits - 1), dtype=np.uint8)
    values = codes.view(form.dtype).astype(np.float64)
    values = values[np.isfinite(values)]
    middles = (values[1:] + values[:-1]) / 2
    random = np.random.default_rng(seed + 100)
    for i in range(2, len(x), 5):
        ties = random.choice(np.concatenate([middles, values]), 32) * random.choice([-1, 1], 32)
        ties[[3, 19]] = form.largest  # so that the scale is 1
        shift = random.integers(-6, 5) if scale == "ue8m0" else 0
        if dtype != "f16" or form.largest < 1e3:
            x[i] = (ties * 2.0**shift).astype(TYPES[dtype])
    return x.reshape(-1)[: rows * k].reshape(rows, k)


def scaleEdges(element):
    """Blocks whose amax / max is a power of two, or the f32 beside one: every exponent."""
    powers = rules.F32(rules.ELEMENTS[element].largest) * np.exp2(np.arange(-149.0, 128.0))
    with np.errstate(over="ignore"):
        powers = powers[(powers > 0) & (powers <= rules.LARGEST_F32)].astype(np.float32)
    edges = np.concatenate([powers, np.nextafter(powers, rules.F32(0)), np.nextafter(powers, rules.F32(np.inf))])
    x = edges[:, None] * np.random.default_rng(5).uniform(-1, 1, (len(edges), 32)).astype(np.float32)
    x[:, 13] = edges
    return x.astype(np.float32)


def quotientEdges(g):
    """Blocks of each scale of NVFP4 with values whose quotients are ties of E2M1 or a few f32 beside one."""
    scales = np.arange(1, 0x7F, dtype=np.uint8).view(rules.ELEMENTS["e4m3"].dtype).astype(np.float32)
    divisors = (scales * rules.F32(g)).astype(np.float32)
    middles = np.float32([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5])
    blocks = []
    for steps in range(3):
        block = np.empty((len(divisors), 16), np.float32)
        ties = divisors[:, None] * middles
        below, above = ties, ties
        for _ in range(steps):
            below, above = np.nextafter(below, rules.F32(0)), np.nextafter(above, rules.F32(np.inf))
        block[:, 0:14:2], block[:, 1:14:2], block[:, 14], block[:, 15] = below, -above, 6 * divisors, -divisors
        blocks.append(block)
    return np.concatenate(blocks).reshape(63, -1)


# format, chip; and global scales, the second of which makes divisors subnormal
SCALE_EDGES = [("mxfp8", "sm_90a"), ("mxfp8", "sm_100a"), ("mxfp8", "sm_107a"), ("mxfp8-e5m2", "sm_107a"),
               ("mxfp6-e2m3", "sm_107a"), ("mxfp6-e3m2", "sm_90a"), ("mxfp4", "sm_107a")]
QUOTIENT_EDGES = [(0.0123, "sm_100a"), (3e-39, "sm_107a"), (1e-43, "sm_90a"), (7e33, "sm_107a")]


def module(rows, k, dtype, form, layout, globalScale):
    element, scale, block = FORMATS[form]
    x = f"tensor<{rows}x{k}x{dtype}>"
    q = f"tensor<{rows}x{k}x{rules.ELEMENTS[element].mlir}>"
    s = f"tensor<{rows}x{k // block}xi8, #blockscale.scales<{scale}, {layout}>>"
    if scale != "ue4m3":
        return f"""func.func @f(%x: {x}) -> ({q}, {s}) {{
  %q, %s = blockscale.quantize %x : {x} -> {q}, {s}
  return %q, %s : {q}, {s}
}}
"""
    if globalScale == "computed":
        return f"""func.func @f(%x: {x}) -> ({q}, {s}, tensor<f32>) {{
  %q, %s, %g = blockscale.quantize %x : {x} -> {q}, {s}, tensor<f32>
  return %q, %s, %g : {q}, {s}, tensor<f32>
}}
"""
    return f"""func.func @f(%x: {x}, %g: tensor<f32>) -> ({q}, {s}) {{
  %q, %s = blockscale.quantize %x global(%g : tensor<f32>) : {x} -> {q}, {s}
  return %q, %s : {q}, {s}
}}
"""


class Runner:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        os.makedirs(folder, exist_ok=True)

    def at(self, name):
        return os.path.join(self.folder, name)

    def quantize(self, x, form, dtype, chip, layout, globalScale, *options):
        """What was said, bytes of elements and scales, and the global scale."""
        rows, k = x.shape
        np.save(self.at("x.npy"), x.view(np.uint16) if dtype == "bf16" else x)
        with open(self.at("k.mlir"), "w") as file:
            file.write(module(rows, k, dtype, form, layout, globalScale))
        call = [self.program, self.at("k.mlir"), "--entry=f", f"--arch={chip}", f"--arg={self.at('x.npy')}"]
        call += [f"--out={self.at(name + '.npy')}" for name in "qs"]
        if globalScale == "computed":
            call.append(f"--out={self.at('g.npy')}")
        elif globalScale is not None:
            np.save(self.at("g.npy"), np.array(globalScale, np.float32))
            call.append(f"--arg={self.at('g.npy')}")
        said = run(*call, *options)
        g = np.load(self.at("g.npy")).ravel()[0] if globalScale is not None else np.float32(1)
        q = np.load(self.at("q.npy")).view(np.uint8)
        return said, q.reshape(rows, -1), np.load(self.at("s.npy")).view(np.uint8).ravel(), g


def check(runner, x, form, dtype, chip, layout, globalScale):
    """Bytes of elements, of scales and of the global scale that differ; elements where the
    sequence's differ from the rules', as they may; and what was said."""
    element, scale, block = FORMATS[form]
    wide = x.astype(np.float32)
    given = globalScale if isinstance(globalScale, float) else None
    want = rules.quantize(wide, element, scale, block, given)
    sequence = SEQUENCES.get(chip, "reciprocal") if scale == "ue8m0" else "remainder"
    codes = want.codes
    if sequence in ("reciprocal", "scaled"):
        codes = rules.sequenceCodes(wide, want, element, sequence)
    apart = codes != want.codes
    if (apart & ~rules.mayDiffer(wide, want, sequence)).any():
        sys.exit("sequences differ where they must not")
    said, q, s, g = runner.quantize(x, form, dtype, chip, layout, globalScale, "--seeds=1")
    if f", {sequence}, " not in said or "same bits under earliest, latest, seed 0" not in said:
        sys.exit(said)
    scales = rules.tiled(want.scales) if layout == "tiled" else want.scales.ravel()
    wrong = q != rules.packed(codes, rules.ELEMENTS[element].bits)
    if wrong.any():
        print(np.argwhere(wrong)[:4].tolist(), file=sys.stderr)
    return (int(wrong.sum()), int((s != scales).sum()), int(g.view(np.uint32) != want.globalScale.view(np.uint32)),
            int(apart.sum()), sequence)


def main():
    program, folder = sys.argv[1:3]
    runner = Runner(program, folder)
    failed = False
    for number, (form, rows, k, dtype, chip, layout, globalScale) in enumerate(ALL if "all" in sys.argv else CASES):
        element, scale, _ = FORMATS[form]
        x = matrix(rows, k, dtype, number, element, scale)
        elements, scales, wrong, apart, sequence = check(runner, x, form, dtype, chip, layout, globalScale)
        print(f"{form} {rows}x{k} {dtype} {chip} {layout} {sequence}: {elements} bytes of elements, {scales} scales and "
              f"{wrong} global differ; {apart} elements are not those of the rules")
        failed |= bool(elements or scales or wrong)

    for form, chip in SCALE_EDGES:
        counts = check(runner, scaleEdges(FORMATS[form][0]), form, "f32", chip, "linear", None)
        print(f"{form} edges of scales {chip}: {counts[0]} bytes of elements, {counts[1]} scales differ")
        failed |= any(counts[:2])
    for g, chip in QUOTIENT_EDGES:
        counts = check(runner, quotientEdges(g), "nvfp4", "f32", chip, "linear", g)
        print(f"nvfp4 edges of quotients {g} {chip}: {counts[0]} bytes of elements, {counts[1]} scales differ")
        failed |= any(counts[:2])

    # D21: 384 x 64 of 3.0 with a global of 1: every scale 0x30, every nibble 0x7.
    threes = np.full((384, 64), 3, np.float32)
    _, q, s, _ = runner.quantize(threes, "nvfp4", "f32", "sm_120a", "linear", 1.0)
    print(f"D21: {np.unique(s).tolist()} {np.unique(q).tolist()}")
    # D17: a scale of 1.5 is rounded up, and never down.
    x = np.full((1, 32), 1.5 * 448, np.float32)
    print(f"D17: {[runner.quantize(x, 'mxfp8', 'f32', chip, 'linear', None)[2].tolist() for chip in ('sm_90a', 'sm_100a', 'sm_107a')]}")
    # D13: byte 0 is 2^-127, not zero: what lies there keeps its value.
    x = np.full((1, 32), 2.0**-127, np.float32)
    _, q, s, _ = runner.quantize(x, "mxfp4", "f32", "sm_90a", "linear", None)
    print(f"D13: {s.tolist()} {np.unique(q).tolist()}")
    if failed:
        sys.exit("bytes differ")


if __name__ == "__main__":
    main()
