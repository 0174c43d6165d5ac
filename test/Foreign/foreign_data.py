# ===- foreign_data.py - operands and references, in numpy -----------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Written from the formats' definitions (OCP MX 1.0; PTX ISA 9.4, 5.2.3), in plain
# numpy, because the environment of the peers has nothing else.
#
# ===-----------------------------------------------------------------------===#

import dataclasses
import math

import numpy as np


def codeValues(exponentBits, mantissaBits, bias):
    """Values of all codes of a signed format, subnormals included, no specials."""
    codes = np.arange(1 << (1 + exponentBits + mantissaBits))
    mantissa = codes & ((1 << mantissaBits) - 1)
    exponent = (codes >> mantissaBits) & ((1 << exponentBits) - 1)
    normal = np.ldexp(1 + mantissa / (1 << mantissaBits), exponent - bias)
    subnormal = np.ldexp(mantissa / (1 << mantissaBits), np.full_like(exponent, 1 - bias))
    sign = np.where(codes >> (exponentBits + mantissaBits), -1.0, 1.0)
    return sign * np.where(exponent == 0, subnormal, normal)


ELEMENTS = {"e2m1": codeValues(2, 1, 1), "e4m3": codeValues(4, 3, 7), "e5m2": codeValues(5, 2, 15)}
# Codes that are numbers: E4M3 has one NaN per sign, E5M2 its top exponent.
FINITE = {"e2m1": np.arange(16), "e4m3": np.array([c for c in range(256) if c & 0x7F != 0x7F]),
          "e5m2": np.array([c for c in range(256) if (c >> 2) & 31 != 31])}
BF16_MANTISSA, F32_MANTISSA = 7, 23


@dataclasses.dataclass
class Operand:
    """Codes [rows, k], scale bytes [rows, k / block], values in f64."""
    element: str
    codes: np.ndarray
    scales: np.ndarray
    values: np.ndarray


def makeOperand(rng, element, scale, block, rows, k, data):
    """`integer`: whole numbers whose sums stay exact in f32; `random`: any finite codes."""
    shape = (rows, k // block)
    values = ELEMENTS[element]
    if data == "integer":
        allowed = [c for c in FINITE[element] if values[c] == int(values[c]) and abs(values[c]) <= 8]
        one, step = (0x7F, 1) if scale == "ue8m0" else (0x38, 8)
        scales = one + step * rng.integers(0, 2, shape)
    else:
        allowed = FINITE[element]
        scales = rng.integers(127 - 4, 127 + 5, shape) if scale == "ue8m0" else rng.integers(0, 0x7F, shape)
    codes = rng.choice(np.array(allowed, dtype=np.uint8), (rows, k))
    scaleValues = np.exp2(scales - 127.0) if scale == "ue8m0" else ELEMENTS["e4m3"][scales]
    return Operand(element, codes, scales.astype(np.uint8), values[codes] * np.repeat(scaleValues, block, axis=1))


def packed(operand):
    """Bytes [rows, row bytes]; of two FP4 in a byte the first is low."""
    if operand.element != "e2m1":
        return np.ascontiguousarray(operand.codes)
    return np.ascontiguousarray(operand.codes[:, 0::2] | (operand.codes[:, 1::2] << 4))


def tiled(scales):
    """Tiles of 128 rows x 4 scales in 512 bytes (PTX ISA 9.4, 9.7.18.4), K innermost; rows and columns must fill them."""
    rows, columns = scales.shape
    return np.ascontiguousarray(scales.reshape(rows // 128, 4, 32, columns // 4, 4).transpose(0, 3, 2, 1, 4))


def reference(a, b):
    return a.values @ b.values.T, np.abs(a.values) @ np.abs(b.values).T


def roundedTo(out, exact):
    """f64 to the output type to nearest even, as f64. Exact for integers below 2^24."""
    wide = exact.astype(np.float32)
    if out == "f32":
        return wide.astype(np.float64)
    bits = wide.view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return fromBits("bf16", bits.astype(np.uint16))


def fromBits(out, bytes_):
    """What a kernel stored, as f64."""
    if out == "f32":
        return bytes_.view(np.float32).astype(np.float64)
    return (bytes_.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def bound(out, oneByte, instructionK, k, exact, magnitude):
    """(ceil(K/Kinst) c + 2) 2^-23 sum|ab| plus half an ulp of the output; c = 1 where both
    operands are FP4 of an FP4 kind, else 1 + (Kinst + 1)/4 (fewer fraction bits are kept)."""
    c = 1 + (instructionK + 1) / 4 if oneByte else 1
    accumulated = (math.ceil(k / instructionK) * c + 2) * 2.0**-23 * magnitude
    exponent = np.frexp(np.abs(exact) + accumulated)[1] - 1
    mantissa = BF16_MANTISSA if out == "bf16" else F32_MANTISSA
    return accumulated + np.exp2(np.maximum(exponent, -126) - mantissa - 1.0)
