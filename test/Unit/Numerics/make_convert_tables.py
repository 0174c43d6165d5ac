#!/usr/bin/env python3
# ===- make_convert_tables.py - what every narrow code means -----------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes test/data/convert/values.txt, lines "format code bits-of-float", by
# ml_dtypes, which has every format but UE5M3 (PTX ISA 9.4, 5.2.3: exponent bias
# 15, 0xFF is NaN, no infinity). NaN is written as "nan".
#
#   make_convert_tables.py > values.txt
#
# ===------------------------------------------------------------------------=== #

import ml_dtypes
import numpy as np

TYPES = {
    "e2m1": (ml_dtypes.float4_e2m1fn, 4),
    "e2m3": (ml_dtypes.float6_e2m3fn, 6),
    "e3m2": (ml_dtypes.float6_e3m2fn, 6),
    "e4m3": (ml_dtypes.float8_e4m3fn, 8),
    "e5m2": (ml_dtypes.float8_e5m2, 8),
    "ue8m0": (ml_dtypes.float8_e8m0fnu, 8),
    "ue4m3": (ml_dtypes.float8_e4m3fn, 7),
}


def ue5m3(code):
    if code == 0xFF:
        return np.nan
    exponent, mantissa = code >> 3, code & 7
    if exponent == 0:
        return mantissa * 2.0**-17
    return (8 + mantissa) * 2.0 ** (exponent - 18)


def rows():
    for name, (dtype, bits) in TYPES.items():
        codes = np.arange(2**bits, dtype=np.uint8)
        yield from ((name, c, v) for c, v in enumerate(codes.view(dtype).astype(np.float32)))
    yield from (("ue5m3", c, np.float32(ue5m3(c))) for c in range(256))


for name, code, value in rows():
    bits = "nan" if np.isnan(value) else f"0x{value.view(np.uint32):08x}"
    print(name, f"0x{code:02x}", bits)
