# ===- inputs.py - values that separate right from nearly right ------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every pair (or triple) of edge values first, then random ones. The same length for
# all of one arity, so that element i of each goes together.
#
# ===-----------------------------------------------------------------------===#

import itertools

import numpy as np

COUNT = 8192


def patterns(bits, exponent, mantissa):
    """Bit patterns of a float format that matter: zeros, subnormals, ones, integers, limits, infinities, NaN."""
    bias = (1 << (exponent - 1)) - 1
    one, top = bias << mantissa, ((1 << exponent) - 1) << mantissa
    ulp = 1
    values = [0, ulp, (1 << mantissa) - 1, 1 << mantissa, one - 1, one, one + ulp, one + (1 << (mantissa - 1)),
              one + (1 << mantissa), one + (mantissa << mantissa), one + ((mantissa + 1) << mantissa) + 1, top - 1, top - (1 << mantissa),
              one - (1 << mantissa), one - ((mantissa + 1) << mantissa), one + (3 << (mantissa - 2)), top,
              top | 1 << (mantissa - 1), top | 1, top | (1 << mantissa) - 1]
    return [v | sign << (bits - 1) for v in values for sign in (0, 1)]


def integers(bits):
    top = 1 << (bits - 1)
    values = [0, 1, 2, 3, 5, 7, 15, 16, 31, 32, 33, 63, 64, 255, 256, top - 1, top, top + 1, 2 * top - 1, 2 * top - 2,
              2 * top - 31, 0x5555555555555555 % (2 * top), 0xAAAAAAAAAAAAAAAA % (2 * top), top >> 1, top + 12345]
    return values


def columns(edges, bits, arity, random, rng, near=None):
    """`arity` columns: all pairs (of a third of the edges: triples), then random ones."""
    few = edges if arity < 3 else edges[:20]
    rows = list(itertools.islice(itertools.product(few, repeat=arity), COUNT))
    if arity == 3:  # half of it is for random values
        rng.shuffle(rows)
        rows = rows[:COUNT // 2]
    fill = [random(COUNT - len(rows)) for _ in range(arity)]
    dtype = np.dtype(f"u{bits // 8}")
    return [np.array([row[c] for row in rows] + list(fill[c]), dtype=dtype) for c in range(arity)]


def build():
    rng = np.random.default_rng(20261130)
    uniform = lambda bits: lambda n: rng.integers(0, 1 << bits, n, dtype=np.uint64)

    def moderate(bits, exponent, mantissa):
        """Signs and mantissas at random, exponents within a few of one: sums that round."""
        bias = (1 << (exponent - 1)) - 1
        return lambda n: (rng.integers(0, 2, n, dtype=np.uint64) << np.uint64(bits - 1)
                          | (rng.integers(-6, 7, n) + bias).astype(np.uint64) << np.uint64(mantissa)
                          | rng.integers(0, 1 << mantissa, n, dtype=np.uint64))

    def mixed(bits, exponent, mantissa):
        near, far = moderate(bits, exponent, mantissa), uniform(bits)
        return lambda n: np.concatenate([near(n - n // 3), far(n // 3)])

    table = {}
    formats = {"f": (32, 8, 23), "h": (16, 5, 10), "g": (16, 8, 7), "d": (64, 11, 52)}  # g: bf16
    for letter, layout in formats.items():
        for arity in (1, 2, 3):
            for name, column in zip("abc", columns(patterns(*layout), layout[0], arity, mixed(*layout), rng)):
                table[f"{letter}{arity}{name}"] = column
    for letter, bits in {"s": 16, "i": 32, "l": 64}.items():
        for arity in (1, 2, 3):
            for name, column in zip("abc", columns(integers(bits), bits, arity, uniform(bits), rng)):
                table[f"{letter}{arity}{name}"] = column
    for letter in "hg":  # pairs of 16-bit values, in another order in the upper half
        for arity in (1, 2, 3):
            order = rng.permutation(COUNT)
            for name in "abc"[:arity]:
                low = table[f"{letter}{arity}{name}"].astype(np.uint32)
                table[f"{letter}x{arity}{name}"] = low | low[order] << np.uint32(16)
    table["small"] = rng.integers(0, 70, COUNT, dtype=np.uint32)  # counts of shifts, lanes, positions
    table["few"] = rng.integers(0, 4, COUNT, dtype=np.uint32)
    table["bits"] = rng.integers(0, 1 << 32, COUNT, dtype=np.uint32)
    # Where f32 rounds to 3, 7, 10 or 13 bits of mantissa, with neighbours: all upper halves by these lower ones.
    table["lows16"] = np.array([0, 1, 0x0FFF, 0x1000, 0x1001, 0x1FFF, 0x2000, 0x2FFF, 0x3000, 0x3001, 0x7FFF, 0x8000,
                              0x8001, 0xEFFF, 0xF000, 0xFFFF], dtype=np.uint32)
    table["tf32"] = ties()
    for letter, layout in formats.items():
        for name, column in zip("abc", specials(*layout)):
            table[f"{letter}n{name}"] = column
    table.update(borders())
    return table


def ties():
    """f32 between two tf32, in even and odd places."""
    rng = np.random.default_rng(32)
    upper = rng.integers(0, 1 << 19, COUNT, dtype=np.uint32) << np.uint32(13)
    return upper | np.where(rng.integers(0, 3, COUNT) > 0, 0x1000, rng.integers(0, 0x2000, COUNT)).astype(np.uint32)


def specials(bits, exponent, mantissa):
    """Triples of NaN with signs and payloads, infinities, zeros and a number."""
    top, quiet = ((1 << exponent) - 1) << mantissa, 1 << (mantissa - 1)
    one = ((1 << (exponent - 1)) - 1) << mantissa
    values = [top | quiet | 5, top | 3, top | quiet, top, 0, one]
    values += [v | 1 << (bits - 1) for v in values]
    rows = list(itertools.islice(itertools.cycle(itertools.product(values, repeat=3)), COUNT))
    return [np.array([row[c] for row in rows], dtype=np.dtype(f"u{bits // 8}")) for c in range(3)]


def borders():
    """Operands of f32 whose exact product (b), quotient (q), or product and sum (t) lies within some units of the least
    normal number, on both sides: there .ftz has to decide."""
    rng = np.random.default_rng(126)
    number = lambda low, high: np.ldexp(1 + rng.random(COUNT), rng.integers(low, high, COUNT)) * rng.choice([-1.0, 1.0], COUNT)
    around = 1 + rng.integers(-6, 7, COUNT) * 2.0**-24
    f32 = lambda x: x.astype(np.float32)
    bits = lambda x: f32(x).view(np.uint32)
    a, q = f32(number(-60, -1)), f32(number(1, 100))
    small, c = f32(number(-80, -70)), 2.0**-126 * (1 + rng.integers(0, 3, COUNT) * 2.0**-23) * rng.choice([-1.0, 1.0], COUNT)
    return {"fba": bits(a), "fbb": bits(2.0**-126 / a.astype(float) * around), "fqa": bits(2.0**-126 * q.astype(float) * around), "fqb": bits(q),
            "fta": bits(small), "ftb": bits(np.ldexp(1 + rng.random(COUNT), -152) / small), "ftc": bits(c)}


INPUTS = build()
