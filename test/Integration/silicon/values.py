# ===- values.py - operands of matrix products that separate models ---------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Four regimes by quarter: exponents near one; all finite values; sums that cancel;
# all bits, with infinities and NaN now and then.
#
# ===-----------------------------------------------------------------------===#

import numpy as np

# bits, exponent bits, mantissa bits; all-ones exponents are special
FLOATS = {"f16": (16, 5, 10), "bf16": (16, 8, 7), "tf32": (32, 8, 23), "f32": (32, 8, 23), "f64": (64, 11, 52), "e5m2": (8, 5, 2), "e4m3": (8, 4, 3)}
BITS = {"s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1, "s32": 32, **{name: row[0] for name, row in FLOATS.items()}}


def near(rng, type_, count, spread):
    bits, exponent, mantissa = FLOATS[type_]
    bias, top = (1 << (exponent - 1)) - 1, (1 << exponent) - 2
    e = np.clip(bias + rng.integers(-spread, spread + 1, count), 0, top).astype(np.uint64)
    return (rng.integers(0, 2, count, dtype=np.uint64) << np.uint64(bits - 1) | e << np.uint64(mantissa)
            | rng.integers(0, 1 << mantissa, count, dtype=np.uint64))


def operand(type_, count, seed, isAddend=False):
    """`count` elements (a multiple of 4) as packed bytes."""
    rng = np.random.default_rng(seed)
    if type_ not in FLOATS:
        if type_ == "s32":  # some near the limits, for saturation
            values = rng.integers(-(1 << 31), 1 << 31, count, dtype=np.int64)
            values[::3] = rng.choice([2**31 - 1, -2**31, 2**31 - 50, 0, 1000], len(values[::3]))
            return values.astype(np.int32).view(np.uint8)
        return rng.integers(0, 256, count * BITS[type_] // 8, dtype=np.uint8)
    bits, exponent, mantissa = FLOATS[type_]
    quarter = count // 4
    wide = max(2, (1 << (exponent - 1)) - 2)
    parts = [near(rng, type_, quarter, 3 if not isAddend else 8), near(rng, type_, quarter, min(wide, 40) if type_ != "e4m3" else 7)]
    cancel = near(rng, type_, quarter, 1)
    half = quarter // 2  # the same magnitudes again with another sign, in another place
    cancel[half:2 * half] = rng.permutation(cancel[:half]) ^ np.uint64(1 << (bits - 1))
    parts.append(rng.permutation(cancel))
    raw = near(rng, type_, count - 3 * quarter, 6)
    special = rng.random(len(raw)) < 1 / 80
    raw[special] = rng.integers(0, 1 << (bits - 1), int(special.sum()), dtype=np.uint64) * np.uint64(2) | np.uint64(1)
    exact = rng.random(len(raw)) < 1 / 200
    raw[exact] = np.uint64(((1 << exponent) - 1) << mantissa)  # infinity, where the format has one
    parts.append(raw)
    return np.concatenate(parts).astype(np.dtype(f"u{bits // 8}")).view(np.uint8)
