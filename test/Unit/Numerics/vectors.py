# ===- vectors.py - hostile operands and the vector file format --------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Shared by the scripts that write test/data/mmasim and test/data/mma-extension.
#
# File, little-endian: "BSMMAVEC", u32 number of cases; each case is
#   char[16] kind, char[8] a, char[8] b, char[8] scale, char[32] data class,
#   u32 block, m, n, k (of all of the chain), instruction k, accumulate,
#   a:   m rows of k elements, packed densely, element 0 in the lowest bits
#   b:   n rows of k elements, likewise
#   sfa: m rows of k / block scale bytes;  sfb: n rows, likewise
#   c:   m x n f32, only if accumulate is 1
#   d:   m x n f32
#
# ===------------------------------------------------------------------------=== #

import struct

import numpy as np

M = 128
BITS = {"e2m1": 4, "e2m3": 6, "e3m2": 6, "e4m3": 8, "e5m2": 8}
NAN_CODES = {"e4m3": [0x7F, 0xFF], "e5m2": [0x7C, 0xFC, 0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF]}


def value_table(fmt):
    e_bits, m_bits = int(fmt[1]), int(fmt[3])
    bias = 2 ** (e_bits - 1) - 1
    codes = np.arange(2 ** (1 + e_bits + m_bits))
    e = (codes >> m_bits) & (2**e_bits - 1)
    s = (codes & (2**m_bits - 1)) + (e > 0) * 2**m_bits
    v = s * 2.0 ** (np.maximum(e, 1) - bias - m_bits)
    v = np.where(codes >> (e_bits + m_bits), -v, v)
    for code in NAN_CODES.get(fmt, []):
        v[code] = 0.0  # only used to choose data
    return v


def codes_without_specials(rng, fmt, shape):
    codes = rng.integers(0, 2 ** BITS[fmt], shape, dtype=np.uint8)
    for code in NAN_CODES.get(fmt, []):
        codes[codes == code] = 0x35
    return codes


def pack(codes, fmt):
    bits = BITS[fmt]
    planes = (codes[..., None] >> np.arange(bits)) & 1
    return np.packbits(planes.reshape(codes.shape[0], -1), axis=1, bitorder="little")


def unpack(rows, fmt):
    """Codes of packed rows."""
    bits = np.unpackbits(rows, axis=1, bitorder="little").reshape(rows.shape[0], -1, BITS[fmt])
    return (bits << np.arange(BITS[fmt], dtype=np.uint8)).sum(axis=2).astype(np.uint8)


def scale_value(scale, byte):
    byte = byte.astype(np.float64)
    if scale == "ue8m0":
        return 2.0 ** (byte - 127)
    if scale == "ue4m3":
        return value_table("e4m3")[byte.astype(np.int64) & 0x7F]
    byte = byte.astype(np.int64)  # ue5m3
    e, s = byte >> 3, byte & 7
    return np.where(e > 0, 8 + s, s) * 2.0 ** (np.maximum(e, 1) - 15 - 3)


def random_bits(rng, shape):
    bits = rng.integers(0, 2**32, shape, dtype=np.uint64).astype(np.uint32)
    special = (bits >> 23) & 0xFF == 0xFF
    bits[special] ^= 0x40000000  # finite; special accumulators are their own class
    return bits.view(np.float32)


def near_one_scales(rng, scale, shape):
    if scale == "ue8m0":
        return rng.integers(123, 132, shape, dtype=np.uint8)  # 2^-4 .. 2^4
    if scale == "ue5m3":
        return rng.integers(0x58, 0x99, shape, dtype=np.uint8)
    return rng.integers(0x18, 0x59, shape, dtype=np.uint8)


def any_scales(rng, scale, shape):
    if scale == "ue8m0":
        return rng.integers(0, 255, shape, dtype=np.uint8)
    if scale == "ue5m3":
        return rng.integers(0, 255, shape, dtype=np.uint8)
    return rng.integers(0, 127, shape, dtype=np.uint8)


def wide_accumulators(rng, shape):
    v = rng.standard_normal(shape) * 2.0 ** rng.integers(-30, 31, shape)
    return v.astype(np.float32)


def make(rng, cls, spec, n, k):
    fa, fb, scale, block = spec["a"], spec["b"], spec["scale"], spec["block"]
    a = codes_without_specials(rng, fa, (M, k))
    b = codes_without_specials(rng, fb, (n, k))
    sfa = near_one_scales(rng, scale, (M, k // block))
    sfb = near_one_scales(rng, scale, (n, k // block))
    c = None
    if cls == "uniform":
        c = wide_accumulators(rng, (M, n))
    elif cls == "full-range":
        sfa, sfb = any_scales(rng, scale, sfa.shape), any_scales(rng, scale, sfb.shape)
        c = random_bits(rng, (M, n))
    elif cls == "cancellation":
        # The first part of K is cancelled by the accumulator (to float's
        # precision); what is left are terms far below the largest exponent.
        half = k // 2 if k == block else k // (k // min(block, 16))
        if scale == "ue8m0":
            base = rng.integers(100, 140, (M, 1), dtype=np.uint8)
            sfa = np.repeat(base, sfa.shape[1], axis=1)
            if sfa.shape[1] > 1:
                sfa[:, 1:] -= rng.integers(10, 40, sfa[:, 1:].shape, dtype=np.uint8)
            sfb = np.full_like(sfb, 127)
        else:
            sfa[:, 0] = rng.integers(0x70, 0x7F, M)
            sfb[:, 0] = rng.integers(0x70, 0x7F, n)
            sfa[:, 1:] = rng.integers(0x01, 0x14, sfa[:, 1:].shape)
            sfb[:, 1:] = rng.integers(0x01, 0x14, sfb[:, 1:].shape)
        va, vb = value_table(fa)[a], value_table(fb)[b]
        head = va[:, :half] @ vb[:, :half].T
        c = -(head * scale_value(scale, sfa[:, :1]) * scale_value(scale, sfb[:, 0])[None, :])
        c = c.astype(np.float32)
    elif cls == "specials":
        c = wide_accumulators(rng, (M, n))
        for fmt, codes in ((fa, a), (fb, b)):
            if fmt in NAN_CODES:  # a few rows each, so that most outputs stay finite
                for _ in range(6):
                    codes[rng.integers(codes.shape[0]), rng.integers(k)] = rng.choice(
                        NAN_CODES[fmt])
        nan = 0x7F if scale == "ue4m3" else 0xFF
        for s in (sfa, sfb):
            for _ in range(2):
                s[rng.integers(s.shape[0]), rng.integers(s.shape[1])] = nan
        sfa[rng.integers(0, M, 4)] = 0
        a[rng.integers(0, M, 4)] = 0  # all-zero rows
        a[rng.integers(0, M, 4)] = 1 << (BITS[fa] - 1)  # minus zero
        flat = c.reshape(-1)
        pick = rng.integers(0, flat.size, 256)
        flat[pick] = rng.choice(
            np.array([np.inf, -np.inf, np.nan, -0.0, 0.0, 1e-40, -1e-45, 3e38, -3e38],
                     np.float32), 256)
        sfa[7] = 0xFE if scale == "ue8m0" else 0x7E  # overflow to infinity
        sfb[:16] = 0xFD if scale == "ue8m0" else 0x7E
    elif cls != "zero-d":
        raise ValueError(cls)
    return a, b, sfa, sfb, c


def make_chain(rng, spec, n, k):
    """Operands of a whole chain of instructions from D = 0, as a kernel runs it: one tile
    with several kinds of hostile data.

    Rows 0-95, columns 0-95: in each instruction two large parts cancel, and what is left
    lies around the last bit that the alignment keeps; so D of the instruction before
    counts, too. Other columns, and rows 96-111: any codes and any scales. Rows 112-127:
    NaN and largest scales, zero and minus zero elements; NaN elements where there are any.
    """
    fmt, scale, block, step = spec["a"], spec["scale"], spec["block"], spec["k"]
    a, b = codes_without_specials(rng, fmt, (M, k)), codes_without_specials(rng, fmt, (n, k))
    sfa, sfb = (any_scales(rng, scale, (rows, k // block)) for rows in (M, n))
    tame_a, tame_b = slice(0, 96), slice(0, n * 3 // 4)
    sign = 1 << (BITS[fmt] - 1)
    part = min(16, step // 4)  # one group of the FP4 kinds
    for k0 in range(0, k, step):
        one, two = slice(k0, k0 + part), slice(k0 + part, k0 + 2 * part)
        rest = slice(k0 + 2 * part, k0 + step)
        a[tame_a, two] = a[tame_a, one] ^ sign
        b[tame_b, two] = b[tame_b, one]
        large, small = k0 // block, slice(k0 // block + max(1, 2 * part // block), (k0 + step) // block)
        if scale == "ue8m0":
            base = rng.integers(110, 130, (96, 1), dtype=np.uint8)
            sfa[tame_a, large] = base[:, 0]
            below = (0, 8) if fmt == "e4m3" else (20, 45)
            sfa[tame_a, small] = base - rng.integers(*below, sfa[tame_a, small].shape, dtype=np.uint8)
            sfb[tame_b, k0 // block : (k0 + step) // block] = 127
        else:
            both = slice(large, small.start)
            for s, tame in ((sfa, tame_a), (sfb, tame_b)):
                s[tame, both] = rng.integers(0x68, 0x7F, s[tame, :1].shape)
                s[tame, small] = rng.integers(0x01, 0x0C, s[tame, small].shape)
        if fmt == "e4m3":  # one scale for all: the elements' own exponents differ
            for codes, tame in ((a, tame_a), (b, tame_b)):
                codes[tame, rest] &= 0x9F
                for sliced in (one, two):
                    codes[tame, sliced] |= 0x40
                    codes[tame, sliced] &= 0xFB  # no NaN
    nan, largest = (0x7F, 0x7E) if scale == "ue4m3" else (0xFF, 0xFE)
    sfa[112, k // block // 2] = nan
    sfb[n - 1, 0] = nan
    sfa[113:116] = largest
    sfa[116:118] = 0
    a[118] = 0
    a[119] = sign
    if fmt in NAN_CODES:
        a[120, k // 3] = rng.choice(NAN_CODES[fmt])
        b[n - 2, k - 1] = rng.choice(NAN_CODES[fmt])
    return a, b, sfa, sfb, None


def read_cases(path):
    """The cases of a file, as dictionaries: rows of a and b as packed bytes."""
    data, at = path.read_bytes(), 12
    magic, count = data[:8], struct.unpack_from("<I", data, 8)[0]
    if magic != b"BSMMAVEC":
        raise ValueError(f"{path.name}: not a vector file")

    def take(shape, dtype=np.uint8):
        nonlocal at
        array = np.frombuffer(data, dtype, int(np.prod(shape)), at).reshape(shape)
        at += array.nbytes
        return array

    for _ in range(count):
        texts = [take(width).tobytes().rstrip(b"\0").decode() for width in (16, 8, 8, 8, 32)]
        case = dict(zip(["kind", "a", "b", "scale", "class"], texts))
        words = ["block", "m", "n", "k", "instruction_k", "accumulate"]
        case |= zip(words, (int(word) for word in take(6, "<u4")))
        m, n, k, scales = case["m"], case["n"], case["k"], case["k"] // case["block"]
        case |= {"a_rows": take((m, k * BITS[case["a"]] // 8)), "b_rows": take((n, k * BITS[case["b"]] // 8)),
                 "sfa": take((m, scales)), "sfb": take((n, scales)),
                 "c": take((m, n), "<f4") if case["accumulate"] else None, "d": take((m, n), "<f4")}
        yield case


def spec(kind, a, b, scale, block, k):
    return {"kind": kind, "a": a, "b": b, "scale": scale, "block": block, "k": k}


def field(text, width):
    return text.encode().ljust(width, b"\0")


def case_bytes(s, cls, a, b, sfa, sfb, c, d):
    n, k = b.shape
    out = field(s["kind"], 16) + field(s["a"], 8) + field(s["b"], 8)
    out += field(s["scale"], 8) + field(cls, 32)
    out += struct.pack("<6I", s["block"], a.shape[0], n, k, s["k"], int(c is not None))
    out += pack(a, s["a"]).tobytes() + pack(b, s["b"]).tobytes()
    out += sfa.tobytes() + sfb.tobytes()
    if c is not None:
        out += c.astype("<f4").tobytes()
    return out + d.astype("<f4").tobytes()


def file_bytes(cases):
    return b"BSMMAVEC" + struct.pack("<I", len(cases)) + b"".join(cases)
