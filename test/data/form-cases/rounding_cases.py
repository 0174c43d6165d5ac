# ===- rounding_cases.py - cvt by random bits, without -0, to fixed point --===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#

import math
from fractions import Fraction

from form_case import raw
from formats import CANONICAL, FORMATS, LARGEST, decode, encode, roundTo

VALUES = [0.3, -1.7, 448.0, 1e6, 0.01, -0.0, math.inf, math.nan]
RANDOM = [0x00000000, 0xFFFFFFFF, 0x12345678, 0x80008000, 0xC0DE1F1F, 0x00FF00FF, 0xA5A5A5A5, 0x7FFF8001]


def addAll():
    randomForms()
    positiveZeroForms()
    positiveZeroVariants()
    fixedForms()
    widenedPairs()


def carried(v, t, random, count, saturate):
    """Towards zero, or away where the bits that go and `random` of `count` bits carry."""
    if v != v or math.isinf(v) or v == 0:
        return encode(v, t, "rz", saturate)
    e, m = FORMATS[t]
    sign, magnitude = encode(v, t, "rz", True) >> (e + m), abs(Fraction(v))
    code = encode(abs(v), t, "rz", True)
    low = Fraction(decode(code, t))
    unit = Fraction(2) ** (max(math.frexp(abs(v))[1] - 1, 2 - (1 << (e - 1))) - m)
    rest = (magnitude - low) / unit
    if rest < 1 and math.floor(rest * 2**count) + random >= 2**count:
        code += 1
    elif rest >= 1:
        code += 1  # beyond the largest
    largest = LARGEST.get(t, ((1 << e) - 1 << m) - 1)
    if code > largest and (saturate or t in LARGEST):
        code = largest
    return sign << (e + m) | min(code, largest + 1)


def reverse(bits):
    return int(format(bits, "016b")[::-1], 2)


def randomForms():
    bits = [encode(v, "f32") for v in VALUES]
    values = [decode(b, "f32") for b in bits]
    others = values[::-1]
    fetch = "ld.global.b32 %f1, [%pi]; ld.global.b32 %f2, [%pi+64]; ld.global.b32 %r3, [%pi+128];"
    clamp = lambda v, relu: 0.0 if relu and v <= 0 else v
    for t, count in [("f16", 13), ("bf16", 16)]:
        for relu in ["", "relu"]:
            for saturate in ["", "satfinite"]:
                name = ".".join(x for x in ["cvt.rs", relu, saturate, t + "x2.f32"] if x)
                field = (1 << count) - 1
                raw(name, fetch + f"{name} %r0, %f1, %f2, %r3; st.global.b32 [%po], %r0;", [bits, bits[::-1], RANDOM],
                    [carried(clamp(a, relu), t, r >> 16 & field, count, bool(saturate)) << 16
                     | carried(clamp(b, relu), t, r & field, count, bool(saturate)) for a, b, r in zip(values, others, RANDOM)])
    for t in ["e4m3", "e5m2", "e2m3", "e3m2", "e2m1"]:
        for relu in ["", "relu"]:
            name = ".".join(x for x in ["cvt.rs", relu, "satfinite", t + "x4.f32"] if x)
            out, width = ("%h0", 4) if t == "e2m1" else ("%r0", 8)
            expected = []
            for a, b, r in zip(values, others, RANDOM):
                upper, lower = r >> 16, r & 0xFFFF
                if t == "e2m1":
                    upper, lower = r >> 24 << 8 | r >> 8 & 0xFF, (r >> 16 & 0xFF) << 8 | r & 0xFF
                packed = 0
                for v, k in [(a, reverse(upper)), (b, upper), (b, reverse(lower)), (a, lower)]:
                    packed = packed << width | carried(clamp(v, relu), t, k, 16, True)
                expected.append(packed)
            raw(name, fetch + f"{name} {out}, {{%f1, %f2, %f2, %f1}}, %r3; st.global.b{8 * width // 2} [%po], {out};", [bits, bits[::-1], RANDOM], expected)


def positiveZeroForms():
    """-0 of a source, of a value that rounds to it, and values that stay negative."""
    values = [-0.0, -1e-30, -1.0, 0.0, -3e-8, 2.5, -math.inf, math.nan]
    bits = [encode(v, "f32") for v in values]
    source = [decode(b, "f32") for b in bits]

    def convert(v, t, mode, saturate):
        e, m = FORMATS[t]
        code = encode(v, t, mode, saturate)
        return 0 if code == 1 << (e + m) else code

    two = "ld.global.b32 %f1, [%pi]; ld.global.b32 %f2, [%pi+64];"
    for mode in ["rn", "rz"]:
        for t in ["f16", "bf16"]:
            for saturate in ["", "satfinite"]:
                name = ".".join(x for x in ["cvt", mode, saturate, "pzo", t] if x)
                codes = [convert(v, t, mode, bool(saturate)) for v in source]
                raw(f"{name}.f32", f"ld.global.b32 %f1, [%pi]; {name}.f32 %h0, %f1; st.global.b16 [%po], %h0;", [bits], codes)
                raw(f"{name}x2.f32", two + f"{name}x2.f32 %r0, %f1, %f2; st.global.b32 [%po], %r0;", [bits, bits[::-1]],
                    [c << 16 | codes[7 - i] for i, c in enumerate(codes)])
        raw(f"cvt.{mode}.pzo.tf32.f32", f"ld.global.b32 %f1, [%pi]; cvt.{mode}.pzo.tf32.f32 %r0, %f1; st.global.b32 [%po], %r0;", [bits],
            [0x7FFFE000 if v != v else convert(v, "tf32", mode, False) << 13 for v in source])
        for t in ["e4m3", "e5m2", "e2m3", "e3m2", "e2m1"]:
            width, out = (4, "%q0") if t == "e2m1" else (8, "%h0")
            store = f"st.global.b{2 * width} [%po], {out};"
            codes = [convert(v, t, mode, True) for v in source]
            name = f"cvt.{mode}.satfinite.pzo.{t}x2.f32"
            raw(name, two + f"{name} {out}, %f1, %f2;" + store, [bits, bits[::-1]], [c << width | codes[7 - i] for i, c in enumerate(codes)])
            name = f"cvt.{mode}.satfinite.pzo.scaled::n1::ue8m0.{t}x2.f32"
            raw(name, two + f"ld.global.b8 %q1, [%pi+128]; {name} {out}, %f1, %f2, %q1;" + store, [bits, bits[::-1], [127] * 8],
                [c << width | codes[7 - i] for i, c in enumerate(codes)])


def positiveZeroVariants():
    """With .relu, from pairs of halves, and tf32 with .satfinite."""
    values = [-0.0, -0.001, -1.0, 0.0, -3e-8, 2.5, 1.25, -6.0]
    bits = [encode(v, "f32") for v in values]
    source = [decode(b, "f32") for b in bits]
    two = "ld.global.b32 %f1, [%pi]; ld.global.b32 %f2, [%pi+64];"

    def convert(v, t, mode, relu, saturate=True):
        e, m = FORMATS[t]
        code = encode(0.0 if relu and v <= 0 else v, t, mode, saturate)
        return 0 if code == 1 << (e + m) else code

    for mode in ["rn", "rz"]:
        for t in ["f16", "bf16"]:
            name = f"cvt.{mode}.relu.pzo.{t}"
            codes = [convert(v, t, mode, True) for v in source]
            raw(f"{name}.f32", f"ld.global.b32 %f1, [%pi]; {name}.f32 %h0, %f1; st.global.b16 [%po], %h0;", [bits], codes)
            raw(f"{name}x2.f32", two + f"{name}x2.f32 %r0, %f1, %f2; st.global.b32 [%po], %r0;", [bits, bits[::-1]],
                [c << 16 | codes[7 - i] for i, c in enumerate(codes)])
        raw(f"cvt.{mode}.relu.pzo.tf32.f32", f"ld.global.b32 %f1, [%pi]; cvt.{mode}.relu.pzo.tf32.f32 %r0, %f1; st.global.b32 [%po], %r0;",
            [bits], [convert(v, "tf32", mode, True) << 13 for v in source])
        for t in ["e4m3", "e5m2", "e2m3", "e3m2", "e2m1"]:
            width, out = (4, "%q0") if t == "e2m1" else (8, "%h0")
            store = f"st.global.b{2 * width} [%po], {out};"
            codes = [convert(v, t, mode, True) for v in source]
            name = f"cvt.{mode}.satfinite.relu.pzo.{t}x2.f32"
            raw(name, two + f"{name} {out}, %f1, %f2;" + store, [bits, bits[::-1]], [c << width | codes[7 - i] for i, c in enumerate(codes)])
            for half in ["f16", "bf16"]:
                halves = [encode(v, half) for v in values]
                codes = [convert(decode(h, half), t, mode, False) for h in halves]
                name = f"cvt.{mode}.satfinite.pzo.{t}x2.{half}x2"
                raw(name, f"ld.global.b32 %r1, [%pi]; {name} {out}, %r1;" + store, [[h | halves[7 - i] << 16 for i, h in enumerate(halves)]],
                    [c | codes[7 - i] << width for i, c in enumerate(codes)])
    # The largest f32 is above the largest tf32.
    name = "cvt.rn.satfinite.pzo.tf32.f32"
    raw(name, f"ld.global.b32 %f1, [%pi]; {name} %r0, %f1; st.global.b32 [%po], %r0;", [[0x7F7FFFFF, 0xFF7FFFFF, 0x80000000, 0x3F800000] * 2],
        [0x7F7FE000, 0xFF7FE000, 0, 0x3F800000] * 2)


def widenedPairs():
    """.satfinite to bf16x2 of what is finite anyway."""
    for t in ["e4m3", "e2m3", "e3m2", "e2m1"]:
        width = 4 if t == "e2m1" else 8
        top = 0x7 if t == "e2m1" else 0x7E if t == "e4m3" else (1 << sum(FORMATS[t])) - 1
        sign = 1 << sum(FORMATS[t])
        codes = [0, 1, top, sign | 1, sign | top, 2, 3, sign | 2]
        out = [encode(decode(c, t), "bf16") for c in codes]
        source, load = ("%q1", "b8") if width == 4 else ("%h1", "b16")
        for relu in ["", "relu."]:
            wide = [0 if relu and o >> 15 else o for o in out]
            name = f"cvt.rn.{relu}satfinite.bf16x2.{t}x2"
            raw(name, f"ld.global.{load} {source}, [%pi]; {name} %r0, {source}; st.global.b32 [%po], %r0;",
                [[c | codes[7 - i] << width for i, c in enumerate(codes)]], [o | wide[7 - i] << 16 for i, o in enumerate(wide)])


def toFixed(v, scale, mode):
    """S2F6: units of 1/64 in two's complement."""
    if v != v or scale == 255:
        return 127
    if math.isinf(v):
        return 127 if v > 0 else 0x80
    units = Fraction(v) * Fraction(2) ** (127 - scale + 6)
    whole = round(units) if mode == "rn" else int(units)
    return max(-128, min(127, whole)) & 0xFF


def fixedForms():
    values = [0.3, -1.7, 1.984375, 5.0, -0.0078125, -2.0, -math.inf, math.nan]
    bits = [encode(v, "f32") for v in values]
    source = [decode(b, "f32") for b in bits]
    scales = [127, 128, 120, 130, 126, 127, 254, 255]
    packed = [s | scales[7 - i] << 8 for i, s in enumerate(scales)]
    fetch = "ld.global.b32 %f1, [%pi]; ld.global.b32 %f2, [%pi+64]; ld.global.b16 %h2, [%pi+128];"
    clamp = lambda v, relu: 0.0 if relu and v <= 0 else v
    halves = [encode(v, "bf16") for v in values]
    pairs = [h | halves[7 - i] << 16 for i, h in enumerate(halves)]
    ones = [127] * 8
    for mode in ["rn", "rz"]:
        for relu in ["", "relu"]:
            for scaled in ["", "scaled::n2::ue8m0"]:
                low, high = (scales, scales[::-1]) if scaled else (ones, ones)
                name = ".".join(x for x in ["cvt", mode, "satfinite", relu, scaled, "s2f6x2"] if x)
                extra = ", %h2" if scaled else ""
                raw(f"{name}.f32", fetch + f"{name}.f32 %h0, %f1, %f2{extra}; st.global.b16 [%po], %h0;", [bits, bits[::-1], packed],
                    [toFixed(clamp(v, relu), high[i], mode) << 8 | toFixed(clamp(source[7 - i], relu), low[i], mode) for i, v in enumerate(source)])
                raw(f"{name}.bf16x2", f"ld.global.b32 %r1, [%pi]; ld.global.b16 %h2, [%pi+64]; {name}.bf16x2 %h0, %r1{extra}; st.global.b16 [%po], %h0;",
                    [pairs, packed],
                    [toFixed(clamp(decode(h, "bf16"), relu), low[i], mode) | toFixed(clamp(decode(halves[7 - i], "bf16"), relu), high[i], mode) << 8
                     for i, h in enumerate(halves)])
    codes = [0x00, 0x01, 0x7F, 0x80, 0xFF, 0x40, 0xC0, 0x35]

    def widen(code, scale, relu):
        if scale == 255:
            return CANONICAL["bf16"]
        units = code - 256 if code >= 128 else code
        if units == 0 or (relu and units < 0):
            return 0
        return roundTo(Fraction(units, 64) * Fraction(2) ** (scale - 127), "bf16")

    for relu in ["", "relu"]:
        for scaled in ["", "scaled::n2::ue8m0"]:
            name = ".".join(x for x in ["cvt.rn", relu, scaled, "bf16x2.s2f6x2"] if x)
            extra = ", %h2" if scaled else ""
            low, high = (scales, scales[::-1]) if scaled else (ones, ones)
            raw(name, f"ld.global.b16 %h1, [%pi]; ld.global.b16 %h2, [%pi+64]; {name} %r0, %h1{extra}; st.global.b32 [%po], %r0;",
                [[c | codes[7 - i] << 8 for i, c in enumerate(codes)], packed],
                [widen(c, low[i], relu) | widen(codes[7 - i], high[i], relu) << 16 for i, c in enumerate(codes)])
    # .satfinite changes what leaves the range of bf16.
    top = "cvt.rn.satfinite.scaled::n2::ue8m0.bf16x2.s2f6x2"
    raw(top, f"ld.global.b16 %h1, [%pi]; ld.global.b16 %h2, [%pi+64]; {top} %r0, %h1, %h2; st.global.b32 [%po], %r0;",
        [[0x7F80] * 8, [0xFEFE] * 8], [0x7F7EFF7F] * 8)
    narrow = "cvt.rn.satfinite.bf16x2.e5m2x2"
    raw(narrow, f"ld.global.b16 %h1, [%pi]; {narrow} %r0, %h1; st.global.b32 [%po], %r0;", [[0x7CFC, 0x3C3C, 0x7BFB, 0, 1, 2, 3, 4]],
        [0x7F7FFF7F, 0x3F803F80] + [encode(decode(h, "e5m2"), "bf16") << 16 | encode(decode(l, "e5m2"), "bf16")
                                    for h, l in [(0x7B, 0xFB), (0, 0), (0, 1), (0, 2), (0, 3), (0, 4)]])
