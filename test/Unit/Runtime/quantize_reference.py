# quantize_reference.py - the quantisers against a second reference
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes docs/Quantization.md's rules a second time, in NumPy with ml_dtypes, and
# compares every byte with the runtime's C functions on random, zero, NaN,
# infinite, subnormal and huge data. usage: quantize_reference.py LIBRARY

import ctypes
import sys

import ml_dtypes
import numpy as np

lib = ctypes.CDLL(sys.argv[1])
lib.bsrt_error_message.restype = ctypes.c_char_p

E2M1, E2M3, E3M2, E4M3, E5M2, F16, BF16, F32 = range(8)  # order of facts::Format
UE8M0, UE4M3, UE5M3 = 0, 1, 2
LINEAR, TILED = 0, 1
COMPUTE, GIVEN = 0, 1


class Blocks(ctypes.Structure):
    _fields_ = [("rows", ctypes.c_int64), ("cols", ctypes.c_int64)] + [
        (name, ctypes.c_int32) for name in ("element", "scale", "block", "layout")
    ]


def pointer(array):
    return array.ctypes.data_as(ctypes.c_void_p)


def ours(x, source, element, scale, block, layout, mode=COMPUTE, given=1.0):
    blocks = Blocks(x.shape[0], x.shape[1], element, scale, block, layout)
    sizes = ctypes.c_int64(), ctypes.c_int64()
    assert lib.bsrt_host_block_sizes(ctypes.byref(blocks), *map(ctypes.byref, sizes)) == 0
    elements = np.full(sizes[0].value, 0xAA, np.uint8)
    scales = np.full(sizes[1].value, 0xAA, np.uint8)
    g = ctypes.c_float(given)
    status = lib.bsrt_host_quantize(
        ctypes.byref(blocks), source, pointer(x), pointer(elements), pointer(scales), mode, ctypes.byref(g)
    )
    assert status == 0, lib.bsrt_error_message()
    back = np.empty(x.shape, np.float32)
    factor = ctypes.c_float(g.value if scale == UE4M3 else 1.0)
    assert lib.bsrt_host_dequantize(ctypes.byref(blocks), pointer(elements), pointer(scales), factor, pointer(back)) == 0
    return elements, scales, np.float32(g.value), back


def small(q, dtype, largest, bits):
    """FP4 and FP6, nearest even with saturation; NaN becomes +max. Packed, low bits first."""
    clipped = np.where(np.isnan(q), np.float32(largest), np.clip(q, -largest, largest)).astype(np.float32)
    codes = clipped.astype(dtype).view(np.uint8)
    each = (codes[..., None] >> np.arange(bits, dtype=np.uint8) & 1).reshape(len(codes), -1)
    return np.packbits(each, axis=1, bitorder="little")


def fp8(q, dtype, largest):
    """Nearest even with saturation; NaN becomes 0x7F."""
    codes = np.clip(q, -largest, largest).astype(dtype).view(np.uint8)
    return np.where(np.isnan(q), 0x7F, codes).astype(np.uint8)


def e4m3(q):
    return fp8(q, ml_dtypes.float8_e4m3fn, 448)


LARGEST = {E2M1: 6, E2M3: 7.5, E3M2: 28, E4M3: 448, E5M2: 57344}
ENCODE = {
    E2M1: lambda q: small(q, ml_dtypes.float4_e2m1fn, 6, 4),
    E2M3: lambda q: small(q, ml_dtypes.float6_e2m3fn, 7.5, 6),
    E3M2: lambda q: small(q, ml_dtypes.float6_e3m2fn, 28, 6),
    E4M3: e4m3,
    E5M2: lambda q: fp8(q, ml_dtypes.float8_e5m2, 57344),
}

# UE5M3 (PTX ISA 9.4, 5.2.3): exponent bias 15, 0xFF is NaN, no infinity.
UE5M3_VALUES = np.array([(m if e == 0 else 8 + m) * 2.0 ** (max(e, 1) - 18) for e in range(32) for m in range(8)][:255])


def ue5m3(q):
    """Nearest even with saturation, by search among all values."""
    middles = (UE5M3_VALUES[1:] + UE5M3_VALUES[:-1]) / 2
    x = np.nan_to_num(q.astype(np.float64), nan=0.0, posinf=1e9)
    code = np.searchsorted(middles, x, side="left")  # of a tie the lower
    tie = (code < 254) & (x == middles[np.minimum(code, 253)])
    code = np.where(tie & (code % 2 == 1), code + 1, code)
    return np.where(np.isnan(q), 255, code).astype(np.uint8)


def ue8m0_up(q):
    """Smallest power of two that is not below q, as exponent byte; from 2^-127."""
    mantissa, exponent = np.frexp(q.astype(np.float64))  # q = mantissa * 2^exponent, mantissa in [.5, 1)
    power = np.where(mantissa == 0.5, exponent - 1, exponent)
    byte = np.clip(np.where(q == 0, -127, power) + 127, 0, 254)
    byte = np.where(np.isinf(q), 254, byte)
    return np.where(np.isnan(q), 255, byte).astype(np.uint8)


def reference(x, element, scale, block, given=None):
    """Elements, linear scales and the global scale."""
    x = x.astype(np.float32)
    rows, cols = x.shape
    blocks = x.reshape(rows, cols // block, block)
    largest = np.float32(LARGEST[element])
    amax = np.abs(blocks).max(axis=2)  # NaN wins
    if scale == UE8M0:
        g = np.float32(1)
        scales = ue8m0_up(amax / largest)
        # 2^-127 and NaN made from the exponent by hand, not by ml_dtypes
        divisor = np.where(scales == 255, np.nan, np.ldexp(1.0, scales.astype(int) - 127)).astype(np.float32)
    elif scale == UE5M3:
        g = np.float32(1)
        scales = ue5m3(amax / largest)
        divisor = np.append(UE5M3_VALUES, np.nan)[scales].astype(np.float32)
    else:
        if given is None:
            magnitude = np.abs(x)
            finite = magnitude[np.isfinite(magnitude)]
            g = np.float32(finite.max() if finite.size else 0) / np.float32(448 * 6)
            g = np.float32(1) if g == 0 else g
        else:
            g = np.float32(given)
        quotient = amax / (largest * g)
        scales = e4m3(quotient)
        divisor = scales.view(ml_dtypes.float8_e4m3fn).astype(np.float32) * g
    zero = divisor == 0
    q = blocks / np.where(zero, np.float32(1), divisor)[:, :, None]
    q = np.where(zero[:, :, None], np.copysign(np.float32(0), blocks), q).astype(np.float32)
    q = q.reshape(rows, cols)
    return ENCODE[element](q).reshape(-1), scales, g


def tiled(scales):
    """The 128x4 layout by reshapes: [row tile, K tile, row % 32, row / 32 % 4, scale % 4]."""
    rows, cols = scales.shape
    padded = np.zeros((-(-rows // 128) * 128, -(-cols // 4) * 4), np.uint8)
    padded[:rows, :cols] = scales
    parts = padded.reshape(padded.shape[0] // 128, 4, 32, padded.shape[1] // 4, 4)
    return parts.transpose(0, 3, 2, 1, 4).reshape(-1)


FORMATS = {
    "nvfp4": (E2M1, UE4M3, 16),
    "mxfp4": (E2M1, UE8M0, 32),
    "mxfp8": (E4M3, UE8M0, 32),
    "mxfp8 e5m2": (E5M2, UE8M0, 32),
    "mxfp6 e2m3": (E2M3, UE8M0, 32),
    "mxfp6 e3m2": (E3M2, UE8M0, 32),
    "fp4 ue5m3": (E2M1, UE5M3, 16),
    "fp4 ue5m3 by 32": (E2M1, UE5M3, 32),
}
# Half a step, of the block's largest magnitude.
STEPS = {"nvfp4": 0.25, "mxfp4": 0.5, "mxfp8": 0.08, "mxfp8 e5m2": 0.16, "mxfp6 e2m3": 0.08, "mxfp6 e3m2": 0.16,
         "fp4 ue5m3": 0.25, "fp4 ue5m3 by 32": 0.25}
SOURCES = {F32: np.float32, F16: np.float16, BF16: ml_dtypes.bfloat16}
checked = 0


def compare(name, x, source=F32, given=None):
    global checked
    x = np.ascontiguousarray(x.astype(SOURCES[source]))
    for kind, (element, scale, block) in FORMATS.items():
        want = reference(x, element, scale, block, given if scale == UE4M3 else None)
        mode = COMPUTE if given is None else GIVEN
        for layout in (LINEAR, TILED):
            elements, scales, g, back = ours(x, source, element, scale, block, layout, mode, given or 1.0)
            where = f"{name}, {kind}, layout {layout}"
            assert np.array_equal(elements, want[0]), f"elements differ: {where}"
            want_scales = tiled(want[1]) if layout == TILED else want[1].reshape(-1)
            assert np.array_equal(scales, want_scales), f"scales differ: {where}"
            if scale == UE4M3:
                assert g.view(np.uint32) == want[2].view(np.uint32), f"global differs: {where}: {g} {want[2]}"
            # Finite data comes back within half a step of its block (what rounds up
            # to 2^128 is infinite in f32).
            back = np.clip(back, -np.finfo(np.float32).max, np.finfo(np.float32).max)
            if np.isfinite(x.astype(np.float64)).all() and given is None:
                error = np.abs(back.astype(np.float64) - x.astype(np.float64))
                amax = np.abs(x.astype(np.float64)).reshape(x.shape[0], -1, block).max(axis=2).repeat(block, axis=1)
                tiny = {UE8M0: 0, UE4M3: np.abs(x.astype(np.float64)).max() / 2**12, UE5M3: 2.0**-15}[scale]
                # What exceeds UE5M3's range saturates.
                fits = (amax < 6 * 114688) | (scale != UE5M3)
                assert (error <= STEPS[kind] * amax + tiny + 2.0**-126)[fits].all(), f"too far from the data: {where}"
            checked += elements.size + scales.size


rng = np.random.default_rng(7)
random = rng.standard_normal((133, 160)).astype(np.float32)
with np.errstate(all="ignore"):
    compare("random", random)
    compare("random f16", random, F16)
    compare("random bf16", random, BF16)
    compare("wide range", random * np.exp2(rng.integers(-40, 40, random.shape)).astype(np.float32))
    compare("rows of different size", random * np.exp2(rng.integers(-90, 90, (133, 1))).astype(np.float32))
    compare("zeros", np.zeros((3, 64)))
    compare("negative zeros", -np.zeros((3, 64)))
    holes = random.copy()
    holes[::2, 32:64] = 0
    compare("zero blocks", holes)
    compare("ties", np.tile(np.arange(-64, 64, dtype=np.float32) / 8, (5, 5)))
    compare("D17: powers of two and their neighbours", np.repeat(
        np.nextafter(np.exp2(np.arange(-20, 20)).astype(np.float32)[:, None] * np.float32([[6, 448, 1.5, 9]]),
                     np.float32([[0, np.inf, 0, np.inf]])), 32, axis=1))
    compare("huge", np.float32(3.0e38) * rng.uniform(-1, 1, (4, 64)).astype(np.float32))
    compare("largest", np.full((2, 64), np.finfo(np.float32).max))
    compare("subnormal", rng.integers(0, 1 << 23, (4, 64)).astype(np.uint32).view(np.float32))
    compare("smallest", np.full((2, 64), 1e-45, np.float32))
    compare("smallest and one", np.where(rng.random((4, 64)) < 0.5, 1e-45, 1).astype(np.float32))
    for bad in (np.nan, np.inf, -np.inf):
        some = random.copy()
        some[rng.random(some.shape) < 0.005] = bad
        compare(f"some {bad}", some)
        compare(f"only {bad}", np.full((2, 64), bad, np.float32))
    bits = rng.integers(0, 1 << 32, (64, 320), dtype=np.uint64).astype(np.uint32).view(np.float32)
    compare("random bits", bits)
    compare("random f16 bits", rng.integers(0, 1 << 16, (64, 320)).astype(np.uint16).view(np.float16), F16)
    compare("given global", random, given=0.0123)
    compare("bytes of UE5M3", np.repeat(np.append(UE5M3_VALUES, [2e5, 3e6])[:, None] * np.float32([[6, 5.999, 6.001, 6.19]]), 32, axis=1))

# D21: 384 x 64 of 3.0 with a global of 1: every scale 0x30, every nibble 0x7, and 3.0 back.
elements, scales, g, back = ours(np.full((384, 64), 3, np.float32), F32, E2M1, UE4M3, 16, LINEAR, GIVEN, 1.0)
assert (scales == 0x30).all() and (elements == 0x77).all() and (back == 3).all() and g == 1

# D13: all 256 codes of UE8M0 as f32 bits, through dequantise of ones.
blocks = Blocks(256, 32, E4M3, UE8M0, 32, LINEAR)
codes = np.arange(256, dtype=np.uint8)
back = np.empty((256, 32), np.float32)
ones = np.full(256 * 32, 0x38, np.uint8)
assert lib.bsrt_host_dequantize(ctypes.byref(blocks), pointer(ones), pointer(codes), ctypes.c_float(1), pointer(back)) == 0
bits = back[:, 0].view(np.uint32)
assert bits[0] == 0x00400000 and bits[1] == 0x00800000 and bits[0x7F] == 0x3F800000 and bits[0xFE] == 0x7F000000
assert np.isnan(back[255]).all() and (bits[1:255] == np.arange(1, 255) << 23).all()

print(f"{checked} bytes equal")
