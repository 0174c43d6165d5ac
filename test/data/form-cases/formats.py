# ===- formats.py - numbers of floating-point formats as bits --------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
#
# Decoded, rounded and encoded by rationals; never by the emulator.

import math
from fractions import Fraction

FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52), "tf32": (8, 10),
           "e4m3": (4, 3), "e5m2": (5, 2), "e2m3": (2, 3), "e3m2": (3, 2), "e2m1": (2, 1)}
CANONICAL = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "tf32": 0x7FFFFFFF, "e4m3": 0x7F, "e5m2": 0x7F}
LARGEST = {"e4m3": 0x7E, "e5m2": 0x7B, "e2m3": 0x1F, "e3m2": 0x1F, "e2m1": 0x7}


def decode(bits, t):
    """A float, exactly (all these formats are subsets of double)."""
    e, m = FORMATS[t]
    sign = -1.0 if bits >> (e + m) & 1 else 1.0
    exponent, fraction = bits >> m & ((1 << e) - 1), bits & ((1 << m) - 1)
    bias = (1 << (e - 1)) - 1
    if exponent == (1 << e) - 1 and t in ("f16", "bf16", "f32", "f64", "e5m2"):
        return math.nan if fraction else sign * math.inf
    if t == "e4m3" and bits & 0x7F == 0x7F:
        return math.nan
    if exponent == 0:
        return sign * math.ldexp(fraction, 1 - bias - m)
    return sign * math.ldexp(fraction + (1 << m), exponent - bias - m)


def roundTo(x, t, mode="rn", saturate=False):
    """A non-zero Fraction to the bits of a format."""
    e, m = FORMATS[t]
    bias = (1 << (e - 1)) - 1
    sign, magnitude = x < 0, abs(x)
    exponent = 0
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    while Fraction(2) ** exponent > magnitude:
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= magnitude:
        exponent += 1
    exponent = max(exponent, 1 - bias)
    unit = Fraction(2) ** (exponent - m)
    count = magnitude / unit
    down = count.numerator // count.denominator
    rest = count - down
    if mode == "rn":
        up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and down & 1)
    elif mode == "rna":
        up = rest >= Fraction(1, 2)
    else:
        up = rest > 0 and mode == ("rm" if sign else "rp")
    down += up
    if down >> (m + 1):
        down, exponent = down >> 1, exponent + 1
    code = down if down < 1 << m else ((exponent + bias) << m) + (down - (1 << m))
    special = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "f64": 0x7FF << 52, "tf32": 0x7F800000 >> 13, "e5m2": 0x7C}.get(t)
    if t in LARGEST and code > LARGEST[t]:
        code = LARGEST[t]
    elif special is not None and code >= special:
        away = mode in ("rn", "rna") or mode == ("rm" if sign else "rp")
        code = special if away and not saturate else special - 1
    return (int(sign) << (e + m)) | code


def encode(v, t, mode="rn", saturate=False):
    """A float to bits."""
    e, m = FORMATS[t]
    if v != v:
        return CANONICAL.get(t, LARGEST.get(t, 0x7FF8 << 48))
    sign = int(math.copysign(1, v) < 0)
    if v == 0:
        return sign << (e + m)
    if math.isinf(v):
        special = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "f64": 0x7FF << 52, "tf32": 0x7F800000 >> 13, "e5m2": 0x7C}.get(t)
        if t in LARGEST:
            special = LARGEST[t]
        elif saturate:
            special -= 1
        return sign << (e + m) | special
    return roundTo(Fraction(v), t, mode, saturate)


def arithmetic(op, t, mode, *values):
    """Bits of a correctly rounded result."""
    if any(v != v for v in values):
        return CANONICAL.get(t, 0x7FF8 << 48)
    try:
        if any(math.isinf(v) for v in values) or (op in ("div", "rcp") and values[-1] == 0):
            if op == "div" and values[1] == 0:
                r = math.nan if values[0] == 0 else math.copysign(math.inf, math.copysign(1, values[0]) * math.copysign(1, values[1]))
            elif op == "rcp":
                r = math.copysign(math.inf, values[0]) if values[0] == 0 else math.copysign(0.0, values[0])
            else:
                r = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
                     "div": lambda a, b: a / b, "fma": lambda a, b, c: a * b + c, "sqrt": math.sqrt}[op](*values)
            return encode(r, t)
    except (ValueError, ZeroDivisionError):
        return CANONICAL.get(t, 0x7FF8 << 48)
    x = [Fraction(v) for v in values]
    signs = [math.copysign(1, v) for v in values]
    if op in ("add", "sub"):
        if op == "sub":
            x[1], signs[1] = -x[1], -signs[1]
        exact, zero = x[0] + x[1], signs[0] if signs[0] == signs[1] else (-1 if mode == "rm" else 1)
    elif op == "mul":
        exact, zero = x[0] * x[1], signs[0] * signs[1]
    elif op == "fma":
        product = signs[0] * signs[1]
        exact, zero = x[0] * x[1] + x[2], product if product == signs[2] else (-1 if mode == "rm" else 1)
    elif op == "div":
        exact, zero = x[0] / x[1], signs[0] * signs[1]
    elif op == "rcp":
        exact, zero = 1 / x[0], signs[0]
    elif op == "sqrt":
        if x[0] < 0:
            return CANONICAL.get(t, 0x7FF8 << 48)
        scaled = x[0] * Fraction(4) ** 1200
        root = math.isqrt(scaled.numerator // scaled.denominator)
        exact = Fraction(root, 2**1200) + (0 if Fraction(root) ** 2 == scaled else Fraction(1, 2**1210))
        zero = signs[0]
    e, m = FORMATS[t]
    return (int(zero < 0) << (e + m)) if exact == 0 else roundTo(exact, t, mode)
