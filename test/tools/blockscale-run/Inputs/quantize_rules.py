# ===- quantize_rules.py - what quantisers compute, in NumPy --------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The rules of docs/Quantization.md, and what the sequences of instructions make where
# they differ from them, by NumPy and ml_dtypes. All arithmetic is f32, each operation
# rounded once.
#
# ===-----------------------------------------------------------------------===#

import dataclasses

import ml_dtypes
import numpy as np

F32 = np.float32
LARGEST_F32 = np.finfo(F32).max


@dataclasses.dataclass(frozen=True)
class Element:
    dtype: type
    mlir: str
    bits: int
    largest: float
    nan: int  # the code of a NaN

    def encode(self, values):
        """Nearest even, saturating; the sign of zero is kept."""
        largest = values.dtype.type(self.largest)
        codes = np.clip(values, -largest, largest).astype(self.dtype).view(np.uint8)
        return np.where(np.isnan(values), np.uint8(self.nan), codes & (2**self.bits - 1)).astype(np.uint8)


ELEMENTS = {
    "e2m1": Element(ml_dtypes.float4_e2m1fn, "f4E2M1FN", 4, 6.0, 0x7),
    "e2m3": Element(ml_dtypes.float6_e2m3fn, "f6E2M3FN", 6, 7.5, 0x1F),
    "e3m2": Element(ml_dtypes.float6_e3m2fn, "f6E3M2FN", 6, 28.0, 0x1F),
    "e4m3": Element(ml_dtypes.float8_e4m3fn, "f8E4M3FN", 8, 448.0, 0x7F),
    "e5m2": Element(ml_dtypes.float8_e5m2, "f8E5M2", 8, 57344.0, 0x7F),
}


@dataclasses.dataclass(frozen=True)
class Quantized:
    codes: np.ndarray  # of elements, one a byte
    scales: np.ndarray  # rows x blocks
    divisors: np.ndarray  # f32, rows x blocks
    globalScale: np.float32


def ue8m0(amax, largest):
    """Rounded up; 0xFE of an infinity, 0xFF of a NaN."""
    bits = (amax / F32(largest)).astype(F32).view(np.uint32).astype(np.uint64)
    up = np.where(bits <= 0x400000, 0, np.minimum((bits + 0x7FFFFF) >> 23, 254))
    return np.where(np.isnan(amax), 255, up).astype(np.uint8)


def ue5m3(values):
    """Nearest even, saturating, of magnitudes; 0xFF of a NaN. Values are m / 8 x 2^(e - 15)."""
    x = np.minimum(np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=114688.0), 114688.0)
    exponent = np.where(x == 0, -14, np.maximum(np.frexp(x)[1] - 1, -14))
    steps = np.rint(x * 2.0 ** (3 - exponent)).astype(np.int64)  # rint: to the nearest even
    return np.where(np.isnan(values), 255, steps + (exponent + 14) * 8).astype(np.uint8)


def ue5m3Values(codes):
    exponent, mantissa = codes.astype(np.int64) >> 3, codes & 7
    values = np.where(exponent == 0, mantissa * 2.0**-17, (8 + mantissa) * 2.0 ** (exponent - 18.0))
    return np.where(codes == 255, np.nan, values).astype(F32)


def powers(scales):
    """2^(127 - byte)'s exponents, of ue8m0; NaN of 0xFF."""
    return np.where(scales == 255, np.nan, 2.0 ** (scales.astype(np.int64) - 127.0)).astype(F32)


def computedGlobal(x, largest):
    magnitudes = np.abs(x)
    finite = magnitudes[np.isfinite(magnitudes)]
    g = F32(F32(finite.max() if finite.size else 0) / F32(448 * largest))
    return F32(1) if g == 0 else g


def quantize(x, element, scale, block, given=None):
    """By the rules, from f32."""
    form, (rows, k) = ELEMENTS[element], x.shape
    blocks = x.reshape(rows, k // block, block)
    with np.errstate(all="ignore"):
        amax, g = np.abs(blocks).max(-1), F32(1)  # NaN wins
        if scale == "ue8m0":
            scales = ue8m0(amax, form.largest)
            divisors = powers(scales)
        elif scale == "ue5m3":
            scales = ue5m3((amax / F32(form.largest)).astype(F32))
            divisors = ue5m3Values(scales)
        else:
            g = computedGlobal(x, form.largest) if given is None else F32(given)
            scales = ELEMENTS["e4m3"].encode((amax / (F32(form.largest) * g)).astype(F32))
            divisors = (scales.view(ml_dtypes.float8_e4m3fn).astype(F32) * g).astype(F32)
        each = divisors[..., None]
        quotients = np.where(each == 0, np.copysign(F32(0), blocks), blocks / np.where(each == 0, F32(1), each))
        return Quantized(form.encode(quotients.astype(F32)).reshape(rows, k), scales, divisors, g)


def sequenceCodes(x, quantized, element, sequence):
    """The elements that a sequence for ue8m0 makes with those scales."""
    form, (rows, k) = ELEMENTS[element], x.shape
    exponents = quantized.scales.astype(np.int64)[..., None]
    blocks = x.reshape(rows, exponents.shape[1], -1)
    with np.errstate(all="ignore"):
        if sequence == "scaled":
            flushed = np.where(np.abs(blocks) < 2.0**-126, np.copysign(0, blocks), blocks).astype(np.float64)
            codes = form.encode(flushed * 2.0 ** (127.0 - exponents))
            return np.where(exponents == 255, np.uint8(form.nan), codes).reshape(rows, k)
        scales = powers(quantized.scales)[..., None]
        flushed = np.where(np.abs(scales) < 2.0**-126, 0, scales).astype(F32)  # of rcp.approx.ftz
        reciprocal = (F32(1) / flushed).astype(F32)
        reciprocal = np.where(np.abs(reciprocal) < 2.0**-126, 0, reciprocal).astype(F32)
        reciprocal = np.fmin(reciprocal, LARGEST_F32)
        factor = (reciprocal * np.fmin((scales * F32(1e30)).astype(F32), F32(1))).astype(F32)
        return form.encode((blocks * factor).astype(F32)).reshape(rows, k)


def mayDiffer(x, quantized, sequence):
    """Elements where docs/Quantization.md lets a sequence differ from the rules."""
    exponents = np.repeat(quantized.scales, x.shape[1] // quantized.scales.shape[1], axis=1)
    if sequence == "reciprocal":
        return (exponents <= 27) | (exponents >= 254)
    if sequence == "scaled":
        return (np.abs(x) < 2.0**-126) & (x != 0)
    return np.zeros(x.shape, bool)


def packed(codes, bits):
    """Low bits first, each row in whole bytes."""
    each = codes[..., None] >> np.arange(bits, dtype=np.uint8) & 1
    return np.packbits(each.reshape(len(codes), -1), axis=1, bitorder="little")


def tiled(scales):
    rows, cols = scales.shape
    out = np.zeros(-(-rows // 128) * -(-cols // 4) * 512, np.uint8)
    for r in range(rows):
        for k in range(cols):
            out[(r // 128 * -(-cols // 4) + k // 4) * 512 + r % 32 * 16 + r % 128 // 32 * 4 + k % 4] = scales[r, k]
    return out
