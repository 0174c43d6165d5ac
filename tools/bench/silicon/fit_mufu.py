#!/usr/bin/env python3
# ===- fit_mufu.py - coefficients of the chip's approximate functions -------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: fit_mufu.py FOLDER > rows
#
# FOLDER/FUNCTION-EXPONENT.npy holds what a GPU gave for all 2^23 mantissas of a biased
# exponent: u32 bits of the results of FUNCTION.approx.ftz.f32, those of the programs in
# test/Integration/silicon/mufu.py. Prints rows of lib/Emulator/Numerics/MufuTables.h.
#
# A segment's results are floor(c0 + c1 x + c2 s(x)), s being the square without its
# partial products below 2^19 of 34 bits. The coefficients come from the polynomial that
# is nearest in the largest error; at the right structure that error is below half a
# unit, at any other it is not, which is how the structure was found. They are rounded
# to the coarsest quantum at which one choice reproduces every result of the segment.
#
# ===-----------------------------------------------------------------------===#

import sys

import numpy as np

WIDTH, CUT = 17, 19
QUANTA = [2.0**k for k in range(6, -4, -1)]


def cutSquares():
    x = np.arange(1 << WIDTH, dtype=np.int64)
    total = np.zeros_like(x)
    for i in range(WIDTH):
        for j in range(i + 1):
            weight = 2 * i if i == j else i + j + 1
            if weight >= CUT:
                total += (x >> i & x >> j & 1) << weight
    return total / 2.0**(2 * WIDTH)


SQUARES = cutSquares()


def nearest(basis, target):
    """Coefficients that make the largest difference least: exchange of references (Remez)."""
    n = len(basis)
    chosen = np.linspace(0, len(target) - 1, n + 1).astype(int)
    for _ in range(60):
        system = np.concatenate([basis[:, chosen].T, ((-1.0)**np.arange(n + 1))[:, None]], axis=1)
        solution = np.linalg.lstsq(system, target[chosen], rcond=None)[0]
        rest = target - solution[:n] @ basis
        worst = int(np.argmax(np.abs(rest)))
        if abs(rest[worst]) <= abs(solution[n]) * (1 + 1e-9) + 1e-12 or worst in chosen:
            break
        at, sign = int(np.searchsorted(chosen, worst)), np.sign(rest[worst])
        if at == 0:
            chosen = np.concatenate([[worst], chosen[1:] if np.sign(rest[chosen[0]]) == sign else chosen[:-1]])
        elif at > n:
            chosen = np.concatenate([chosen[:-1] if np.sign(rest[chosen[-1]]) == sign else chosen[1:], [worst]])
        else:
            chosen[at - 1 if np.sign(rest[chosen[at - 1]]) == sign else at] = worst
    return solution[:n]


def fit(x, value):
    """(lowest c0, what it stays below, c1, c2) for results `value` at `x` of 17 bits; None if there is none."""
    unit = np.maximum(2.0**(np.floor(np.log2(np.where(value > 0, value, 1))) - 23), 2.0**-13)
    linear, square = x / 2.0**WIDTH, SQUARES[x]
    c = nearest(np.stack([np.ones(len(x)), linear, square]) * (2 / unit), (value + unit / 2) * (2 / unit))
    for q2 in QUANTA:
        for q1 in QUANTA:
            for k in (0, 1, -1):
                c1, c2 = (np.round(c[1] / q1) + k) * q1, np.round(c[2] / q2) * q2
                rest = value - c1 * linear - c2 * square
                if rest.max() < (rest + unit).min():
                    return rest.max(), (rest + unit).min(), c1, c2
    return None


def segments(value, count, first=0):
    """Fits of `count` equal parts; the first `first` results are special ones."""
    part = len(value) // count
    x = np.arange(part) * ((1 << WIDTH) // part)
    return [fit(x[first if s == 0 else 0:], value[s * part + (first if s == 0 else 0):(s + 1) * part]) for s in range(count)]


def rows(name, fits):
    """The quantum of c0 and the constant that all segments share, then rows: c0 in eighths, c1, c2 in halves."""
    assert all(fits), f"{name}: no polynomial for segments {[i for i, f in enumerate(fits) if not f]}"
    quanta = (8, 4, 2, 1, 0.5, 0.25, 0.125)
    for quantum, step in [(q, q) for q in quanta] + [(q, 2.0**-18) for q in quanta]:  # without a constant, then with one
        biases = np.arange(0, quantum, step)
        good = np.ones(len(biases), bool)
        for low, high, _, _ in fits:
            good &= np.ceil((low - biases) / quantum) * quantum + biases < high
        if good.any():
            bias = (biases[good].min() + biases[good].max()) / 2
            break
    print(f"// {name}: c0 in {quantum}, constant {round(bias * 2**18)} / 2^18")
    for low, _, c1, c2 in fits:
        print("{%d, %d, %d}," % (np.ceil((low - bias) / quantum) * quantum * 8, c1, c2 * 2))


def quarter(load):
    """sin of a quarter turn by 23 bits: what sin and cos programs of the same 2^-25 turns gave, odd quarters backwards."""
    value, known = np.zeros(1 << 23), np.zeros(1 << 23, bool)
    for name, first in (("sin", 0), ("cos", 1)):
        for exponent in (124, 126, 127, 128):
            x = (np.arange(1 << 23, dtype=np.uint32) + np.uint32(exponent << 23)).view(np.float32).astype(np.float64)
            turns = (x * float.fromhex("0x1.45F306p-3")).view(np.uint64) & ~np.uint64((1 << 29) - 1)  # cut to 24 bits
            fixed = np.floor(turns.view(np.float64) * 2.0**25).astype(np.int64)
            at = np.where((fixed >> 23) + first & 1, (1 << 23) - 1 - (fixed & (1 << 23) - 1), fixed & (1 << 23) - 1)
            value[at], known[at] = np.abs(load(f"{name}-{exponent}", 24)), True
    part = np.arange(1 << WIDTH)
    return [fit(part[known[s << WIDTH:(s + 1) << WIDTH]], value[s << WIDTH:(s + 1) << WIDTH][known[s << WIDTH:(s + 1) << WIDTH]])
            for s in range(64)]


def main():
    folder = sys.argv[1]
    load = lambda name, scale: np.load(f"{folder}/{name}.npy").view(np.float32).astype(np.float64) * 2.0**scale
    rows("rcp", segments(load("rcp-127", 24), 128))
    rows("rsqrt", segments(load("rsqrt-127", 24), 64, first=1) + segments(load("rsqrt-128", 24), 64))
    rows("sqrt", segments(load("sqrt-127", 23), 64) + segments(load("sqrt-128", 23), 64))
    rows("ex2", segments(load("ex2-127", 22), 64))
    rows("lg2", segments(load("lg2-128", 23), 64))
    rows("sin", quarter(load))
    # tanh: how many of the upper bits of a mantissa count, by binade.
    for exponent, count in {119: 1, 120: 1, 121: 1, 122: 2, 123: 2, 124: 4, 125: 4, 126: 4, 127: 8, 128: 16, 129: 8}.items():
        value = load(f"tanh-{exponent}", 24)
        rows(f"tanh-{exponent}", segments(value[::len(value) // (count << WIDTH)] if count << WIDTH < len(value) else value, count))


if __name__ == "__main__":
    main()
