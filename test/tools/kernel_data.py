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
LONG_K = 96  # of an instruction, which no public model covers


@dataclasses.dataclass(frozen=True)
class Element:
    """An element format; the values of its codes are ml_dtypes'."""
    name: str  # PTX's
    mlir: str
    bits: int
    dtype: type

    def values(self, codes):
        """f64 of codes of `bits` bits."""
        return np.arange(1 << self.bits, dtype=np.uint8).view(self.dtype).astype(np.float64)[codes]

    def rowBytes(self, k):
        return k * self.bits // 8


ELEMENTS = {e.name: e for e in [
    Element("e4m3", "f8E4M3FN", 8, ml_dtypes.float8_e4m3fn),
    Element("e5m2", "f8E5M2", 8, ml_dtypes.float8_e5m2),
    Element("e2m3", "f6E2M3FN", 6, ml_dtypes.float6_e2m3fn),
    Element("e3m2", "f6E3M2FN", 6, ml_dtypes.float6_e3m2fn),
    Element("e2m1", "f4E2M1FN", 4, ml_dtypes.float4_e2m1fn),
]}
# byte of 1.0, bytes of a binade, and the first byte that is NaN (UE8M0: PTX ISA 9.4, 5.2.3)
SCALES = {"ue8m0": (0x7F, 1, 0xFF), "ue4m3": (0x38, 8, 0x7F), "ue5m3": (0x78, 8, 0xFF)}


@dataclasses.dataclass
class Operand:
    """A or B: element codes [rows, k], scale bytes [rows, k / block], values in f64."""
    codes: np.ndarray
    scales: np.ndarray
    values: np.ndarray


def scaleValues(scale, bytes_):
    """f64 of scale bytes; UE5M3 has a bias of 15 and subnormals."""
    if scale == "ue8m0":
        return np.where(bytes_ == 0xFF, np.nan, np.exp2(bytes_.astype(np.float64) - 127))
    if scale == "ue4m3":
        return (bytes_ & 0x7F).view(ml_dtypes.float8_e4m3fn).astype(np.float64)
    exponent, mantissa = bytes_.astype(np.int64) >> 3, bytes_.astype(np.float64) % 8
    values = np.where(exponent == 0, mantissa * 2.0**-17, (8 + mantissa) * np.exp2(exponent - 18.0))
    return np.where(bytes_ == 0xFF, np.nan, values)


def makeOperand(rng, fmt, element, rows, k, data):
    """Random codes. `integer`: whole numbers whose sums stay exact in f32."""
    scaleShape = (rows, k // fmt.block)
    one, binade, nan = SCALES[fmt.scale]
    table = element.values(np.arange(1 << element.bits))
    if data == "integer":
        allowed = np.flatnonzero((np.abs(table) <= 8) & (table == np.trunc(table)))
        codes = rng.choice(allowed.astype(np.uint8), (rows, k))
        scales = (one + binade * rng.integers(0, 2, scaleShape)).astype(np.uint8)
    else:
        codes = rng.choice(np.flatnonzero(np.isfinite(table)).astype(np.uint8), (rows, k))
        low, high = {"ue8m0": (one - 4, one + 5), "ue4m3": (0, nan), "ue5m3": (one - 64, one + 65)}[fmt.scale]
        scales = rng.integers(low, high, scaleShape).astype(np.uint8)
    values = element.values(codes) * np.repeat(scaleValues(fmt.scale, scales), fmt.block, axis=1)
    return Operand(codes, scales, values)


def packed(element, codes):
    """Bytes of the elements, low bits first: of two FP4 in a byte the first is low."""
    if element.bits == 8:
        return np.ascontiguousarray(codes)
    bits = np.unpackbits(codes[:, :, None], axis=2, count=element.bits, bitorder="little")
    return np.packbits(bits.reshape(len(codes), -1), axis=1, bitorder="little")


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


def reference(a, b, alpha, bias, addend=None):
    """The product in f64, the sum of magnitudes that the bound scales with, and the values
    that are rounded in f32 before the last one; `addend` is beta * C."""
    product = a.values @ b.values.T
    magnitude = np.abs(a.values) @ np.abs(b.values).T
    partial = alpha * product + bias
    if addend is None:
        return partial, abs(alpha) * magnitude, [alpha * product]
    return partial + addend, abs(alpha) * magnitude, [alpha * product, partial]


def bound(fmt, arch, k, exact, magnitude, partials, out):
    """What a right kernel may err by: the accumulation's bound, one rounding each of the
    product with alpha and of the sums with the bias and C in f32, half an ulp of the
    output."""
    instructionK = fmt.instructionK[arch]
    steps = math.ceil(k / instructionK)
    c = 1 + (instructionK + 1) / 4 if fmt.kind == "mxf8f6f4" else 1
    accumulated = (steps * c + 2) * 2.0**-23 * magnitude
    rounded = 2.0**-24 * sum(np.abs(value) + accumulated for value in [*partials, exact])
    mantissa, least = {"f32": (23, -126), "bf16": (7, -126), "f16": (10, -14)}[out]
    exponent = np.frexp(np.abs(exact) + accumulated + rounded)[1] - 1
    halfUlp = np.exp2(np.maximum(exponent, least) - mantissa - 1)
    return accumulated + rounded + halfUlp


def roundedTo(out, exact):
    """f64 to the output type, to nearest even; exact for the integer-valued data."""
    wide = exact.astype(np.float32)
    return wide.astype({"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}[out])


def hostileSource(arch, instK=0):
    """Folder of the vectors of a chip and K of an instruction (0: the chip's), and who says what is right."""
    return HOSTILE["sm_107a" if instK == LONG_K else arch]


def hostileTile(name, arch, instK=0):
    """The tile as `vectors.read_cases` gives it: D = 0, then all of K."""
    file = f"kernel-{name}" + f"-k{instK}" * bool(instK)
    tile, = vectors.read_cases(TEST / "data" / hostileSource(arch, instK)[0] / f"{file}.bin")
    return tile


def flipSign(fmt, tile, row):
    """a_rows with one bit changed: the sign of the largest scaled element of a row."""
    bits = fmt.a.bits
    codes = vectors.unpack(tile["a_rows"], tile["a"])[row]
    scales = np.repeat(scaleValues(fmt.scale, tile["sfa"][row]), fmt.block)
    at = int(np.argmax(np.abs(fmt.a.values(codes) * scales)))
    flipped = tile["a_rows"].copy()
    sign = at * bits + bits - 1
    flipped[row, sign // 8] ^= 1 << sign % 8
    return flipped
