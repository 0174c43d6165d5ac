# ===- seeded.py - tiles that Python and C++ make from a name ----------------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Operands of one tile (128 x 256 outputs) follow from the text of its name and a data
# class alone, by integer arithmetic, so that only hashes of results are committed.
# SeededTiles.h is the same in C++; a change here needs one there.
#
# ===------------------------------------------------------------------------=== #

import numpy as np

M, N, BAND = 128, 256, 16
CLASSES = ["uniform", "full-range", "cancellation", "specials"]
# exponent bits, mantissa bits, has infinity, has NaN
FORMATS = {"f16": (5, 10, 1, 1), "bf16": (8, 7, 1, 1), "tf32": (8, 23, 1, 1), "e4m3": (4, 3, 0, 1),
           "e5m2": (5, 2, 1, 1), "e2m3": (2, 3, 0, 0), "e3m2": (3, 2, 0, 0), "e2m1": (2, 1, 0, 0)}
NAN_SCALE = {"ue8m0": 0xFF, "ue4m3": 0x7F}
U64 = np.uint64


def name_hash(text):
    h = 0x811C9DC5
    for byte in text.encode():
        h = (h ^ byte) * 0x01000193 & 0xFFFFFFFF
    return h


def mix(z):
    z = z ^ (z >> U64(30))
    z = z * U64(0xBF58476D1CE4E5B9)
    z = z ^ (z >> U64(27))
    z = z * U64(0x94D049BB133111EB)
    return z ^ (z >> U64(31))


def draw(seed, stream, shape):
    index = np.arange(1, int(np.prod(shape)) + 1, dtype=U64)
    start = U64((((seed << 8) | stream) * 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF)
    return mix(start + index * U64(0xD1B54A32D192ED03)).reshape(shape)


def is_special(code, fmt):
    e, m, infinity, nan = FORMATS[fmt]
    field = (code >> U64(m)) & U64(2**e - 1)
    if infinity:
        return field == 2**e - 1
    return (code & U64(2 ** (e + m) - 1)) == 2 ** (e + m) - 1 if nan else np.zeros(code.shape, bool)


def codes(seed, stream, fmt, cls, rows, k):
    e, m, infinity, nan = FORMATS[fmt]
    h = draw(seed, stream, (rows, k))
    code = h & U64(2 ** (1 + e + m) - 1)
    if cls != "full-range" and e == 8:  # exponents near each other
        field = U64(119) + ((h >> U64(40)) & U64(15))
        code = (code & ~U64(255 << m)) | (field << U64(m))
    code = np.where(is_special(code, fmt), code ^ U64(1 << (e + m - 1)), code)
    if cls == "specials":
        h2 = draw(seed, stream + 1, (rows, k))
        pick = h2 & U64(255)
        sign = ((h2 >> U64(8)) & U64(1)) << U64(e + m)
        if infinity:
            fraction = np.where((h2 >> U64(9)) & U64(1), U64(1), U64(0)) * ((h2 >> U64(10)) & U64(2**m - 1))
            code = np.where(pick == 0, sign | U64((2**e - 1) << m) | fraction, code)
        elif nan:
            code = np.where(pick == 0, sign | U64(2 ** (e + m) - 1), code)
        code = np.where(pick == 1, U64(0), np.where(pick == 2, U64(1 << (e + m)), code))
    return code


def scales(seed, stream, scale, cls, rows, count):
    h = draw(seed, stream, (rows, count))
    if cls == "full-range":
        s = h % U64(255 if scale == "ue8m0" else 127)
    elif scale == "ue8m0":
        s = U64(123) + h % U64(9)
    else:
        s = U64(0x18) + h % U64(0x41)
    if cls == "cancellation":
        if scale == "ue4m3":  # blocks 0 and 2 large, 1 and 3 tiny
            large, tiny = U64(0x70) + h % U64(15), U64(1) + h % U64(20)
            s = np.where(np.arange(count)[None, :] % 2 == 0, large, tiny)
        half = count // 2
        if half:
            s[:, half : 2 * half] = s[:, :half]
    if cls == "specials":
        pick = draw(seed, stream + 1, (rows, count)) & U64(255)
        nan = NAN_SCALE[scale]
        s = np.where(pick == 0, U64(nan), np.where(pick == 1, U64(0), np.where(pick == 2, U64(nan - 1), s)))
    return s


def accumulators(seed, stream, half, cls):
    h = draw(seed, stream, (M, N))
    e, m = (5, 10) if half else (8, 23)
    c = h & U64(2 ** (1 + e + m) - 1)
    if cls == "cancellation":
        field = U64(1) + ((h >> U64(40)) & U64(7)) if half else U64(87) + (h >> U64(40)) % U64(41)
        c = (c & ~U64((2**e - 1) << m)) | (field << U64(m))
    elif cls != "full-range" and not half:
        field = U64(97) + (h >> U64(40)) % U64(61)
        c = (c & ~U64(255 << m)) | (field << U64(m))
    c = np.where((c >> U64(m)) & U64(2**e - 1) == 2**e - 1, c ^ U64(1 << (e + m - 1)), c)
    if cls == "specials":
        h2 = draw(seed, stream + 1, (M, N))
        top, sign = (2**e - 1) << m, 1 << (e + m)
        list_ = np.array([top, sign | top, top | 1, sign, 0, 5, sign | 3, top - 1, sign | (top - 1)], U64)
        c = np.where(h2 & U64(15) == 0, list_[((h2 >> U64(8)) % U64(9)).astype(np.int64)], c)
    return c


def tile(name, cls, fa, fb, k, scale, block, half):
    """Codes of A and B, scales or None, bits of C."""
    seed = name_hash(f"{name} {cls}")
    a, b = codes(seed, 0, fa, cls, M, k), codes(seed, 2, fb, cls, N, k)
    if cls == "cancellation":
        ea, ma = FORMATS[fa][:2]
        kh = k // 2
        whole = scale == "ue4m3"
        keep = draw(seed, 8, (1, kh)) & U64(3) == 0  # pairs that do not cancel
        if whole:
            keep = (np.arange(kh)[None, :] // block) % 2 == 1
        small = a & ~U64(1 << (ea + ma - 1))
        first = a[:, :kh]
        a[:, kh:] = np.where(keep, small[:, kh:], first ^ U64(1 << (ea + ma)))
        a[:, :kh] = np.where(keep, small[:, :kh], first)
        b[:, kh:] = np.where(keep, b[:, kh:], b[:, :kh])
    s = None
    if scale:
        s = (scales(seed, 4, scale, cls, M, k // block), scales(seed, 6, scale, cls, N, k // block))
    return a, b, s, accumulators(seed, 10, half, cls)


def band_hashes(bits):
    """One 64-bit hash for every 16 rows of result bits."""
    index = np.arange(BAND * N, dtype=U64)
    rows = bits.astype(U64).reshape(M // BAND, BAND * N)
    return mix((rows << U64(32)) + index * U64(0x9E3779B97F4A7C15)).sum(axis=1, dtype=U64)
