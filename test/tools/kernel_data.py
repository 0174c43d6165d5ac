# ===- kernel_data.py - operands, reference and bound, in numpy ------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Nothing here comes from the product: values are ml_dtypes', the scale tile rule
# is the PTX ISA's (512 bytes hold 128 rows x 4 scales), products are numpy's in
# f64.
#
# ===-----------------------------------------------------------------------===#

import dataclasses
import math
import pathlib
import sys

import ml_dtypes
import numpy as np

TEST = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(TEST / "Unit" / "Numerics"))
import vectors  # noqa: E402

# chip -> folder of its vectors, and who says what is right
HOSTILE = {
    "sm_100a": ("mmasim", "mmasim 2.1.1"),
    "sm_103a": ("mmasim", "mmasim 2.1.1"),  # one model for both chips, the same instructions
    "sm_107a": ("mma-extension", "a model in exact rationals, no public hardware evidence"),
}


@dataclasses.dataclass
class Operand:
    """A or B: element codes [rows, k], scale bytes [rows, k / block], values in f64."""
    codes: np.ndarray
    scales: np.ndarray
    values: np.ndarray


def elementValues(fmt, codes):
    dtype = ml_dtypes.float4_e2m1fn if fmt.bits == 4 else ml_dtypes.float8_e4m3fn
    table = np.arange(1 << fmt.bits, dtype=np.uint8).view(dtype).astype(np.float64)
    return table[codes]


def scaleValues(fmt, bytes_):
    if fmt.scale == "ue8m0":
        return np.exp2(bytes_.astype(np.float64) - 127)
    return bytes_.view(ml_dtypes.float8_e4m3fn).astype(np.float64)


def makeOperand(rng, fmt, rows, k, data):
    """Random codes. `integer`: whole numbers whose sums stay exact in f32."""
    scaleShape = (rows, k // fmt.block)
    if data == "integer":
        allowed = [c for c in range(1 << fmt.bits)
                   if (v := float(elementValues(fmt, np.uint8(c)))) == v and v == int(v) and abs(v) <= 8]
        codes = rng.choice(np.array(allowed, dtype=np.uint8), (rows, k))
        one = 0x7F if fmt.scale == "ue8m0" else 0x38
        step = 1 if fmt.scale == "ue8m0" else 8  # one binade
        scales = (one + step * rng.integers(0, 2, scaleShape)).astype(np.uint8)
    else:
        codes = rng.integers(0, 1 << fmt.bits, (rows, k)).astype(np.uint8)
        if fmt.bits == 8:
            codes = np.where((codes & 0x7F) == 0x7F, codes ^ 1, codes)  # 0x7F and 0xFF are NaN
        if fmt.scale == "ue8m0":
            scales = rng.integers(127 - 4, 127 + 5, scaleShape).astype(np.uint8)
        else:
            scales = rng.integers(0, 0x7F, scaleShape).astype(np.uint8)
    values = elementValues(fmt, codes) * np.repeat(scaleValues(fmt, scales), fmt.block, axis=1)
    return Operand(codes, scales, values)


def packed(fmt, codes):
    """Bytes of the elements [rows, rowBytes]; of two FP4 in a byte the first is low."""
    if fmt.bits == 8:
        return np.ascontiguousarray(codes)
    return np.ascontiguousarray(codes[:, 0::2] | (codes[:, 1::2] << 4))


def tiled(scales, rng):
    """The bytes of the 128x4 tiled layout. Pad rows hold anything, pad columns zero."""
    rows, columns = scales.shape
    rowTiles, columnTiles = -(-rows // 128), -(-columns // 4)
    tiles = rng.integers(0, 256, rowTiles * columnTiles * 512).astype(np.uint8)
    for row in range(rowTiles * 128):
        for column in range(columnTiles * 4):
            offset = ((row // 128 * columnTiles + column // 4) * 512
                      + row % 32 * 16 + row % 128 // 32 * 4 + column % 4)
            if column >= columns:
                tiles[offset] = 0
            elif row < rows:
                tiles[offset] = scales[row, column]
    return tiles


def reference(a, b, alpha, bias):
    """The product in f64, and the sum of magnitudes that the bound scales with."""
    product = a.values @ b.values.T
    magnitude = np.abs(a.values) @ np.abs(b.values).T
    return alpha * product + bias, abs(alpha) * magnitude, np.abs(alpha * product)


def bound(fmt, arch, k, exact, magnitude, scaled, out):
    """What a right kernel may err by: the accumulation's bound, one rounding each of the
    product with alpha and of the sum with the bias in f32, half an ulp of the output."""
    instructionK = fmt.instructionK[arch]
    steps = math.ceil(k / instructionK)
    c = 1 if fmt.bits == 4 else 1 + (instructionK + 1) / 4
    accumulated = (steps * c + 2) * 2.0**-23 * magnitude
    rounded = 2.0**-24 * (scaled + np.abs(exact) + 2 * accumulated)
    mantissa = 23 if out == "f32" else 7
    exponent = np.frexp(np.abs(exact) + accumulated + rounded)[1] - 1
    halfUlp = np.exp2(np.maximum(exponent, -126) - mantissa - 1)
    return accumulated + rounded + halfUlp


def roundedTo(out, exact):
    """f64 to the output type, to nearest even; exact for the integer-valued data."""
    wide = exact.astype(np.float32)
    return wide if out == "f32" else wide.astype(ml_dtypes.bfloat16)


def hostileTile(name, arch):
    """The tile as `vectors.read_cases` gives it: D = 0, then all of K."""
    tile, = vectors.read_cases(TEST / "data" / HOSTILE[arch][0] / f"kernel-{name}.bin")
    return tile


def flipSign(fmt, tile, row):
    """a_rows with one bit changed: the sign of the largest scaled element of a row."""
    per = 8 // fmt.bits
    codes = vectors.unpack(tile["a_rows"], tile["a"])[row]
    scales = np.repeat(scaleValues(fmt, tile["sfa"][row]), fmt.block)
    at = int(np.argmax(np.abs(elementValues(fmt, codes) * scales)))
    flipped = tile["a_rows"].copy()
    flipped[row, at // per] ^= 1 << (at % per * fmt.bits + fmt.bits - 1)
    return flipped
