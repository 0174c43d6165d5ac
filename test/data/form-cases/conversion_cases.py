# ===- conversion_cases.py - cvt and packed narrow formats -----------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#

import math
from fractions import Fraction

from float_cases import flushed
from form_case import BITS, REGISTER, apply, asType, load, mask, raw
from formats import CANONICAL, FORMATS, LARGEST, decode, encode, roundTo
from integer_cases import INT_A


def addAll():
    conversionForms()


# --- Conversions --------------------------------------------------------------------


def conversionForms():
    ints = "u8 s8 u16 s16 u32 s32 u64 s64".split()
    for d in ints:
        for s in ints:
            if d != s:
                values = [0, 1, -1, 0x7F, 0x80, 0x12345678, -0x80, 0x8000000080008081]
                apply(f"cvt.{d}.{s}", d, [s], lambda a: a, [values])
    low = lambda t: -(1 << (BITS[t] - 1)) if t[0] == "s" else 0
    high = lambda t: (1 << (BITS[t] - 1)) - 1 if t[0] == "s" else (1 << BITS[t]) - 1
    for d, s in [("u8", "s32"), ("s8", "s32"), ("u16", "s32"), ("s16", "s64"), ("u32", "s64"), ("s32", "u64")]:
        apply(f"cvt.sat.{d}.{s}", d, [s], lambda a, d=d: max(low(d), min(high(d), a)), [INT_A])
    floors = {"rni": lambda v: round(v), "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}
    for t, r in [("f32", "%f"), ("f16", "%h"), ("bf16", "%h"), ("f64", "%d")]:
        n = sum(FORMATS[t]) + 1
        source = [decode(encode(v, t), t) for v in [0.5, 1.5, -2.5, 2.7, -3.2, 100.0, 0.0, 7.0]]
        bits = [encode(v, t) for v in source]
        for d in ["s32", "u32", "s64", "u16", "s16"] + (["u8", "s8"] if t != "bf16" else []):
            for mode, f in floors.items():
                q = REGISTER[BITS[d]]
                raw(f"cvt.{mode}.{d}.{t}", f"ld.global.b{n} {r}1, [%pi]; cvt.{mode}.{d}.{t} {q}0, {r}1; st.global.b{BITS[d]} [%po], {q}0;",
                    [bits], [mask(max(low(d), min(high(d), f(v))), BITS[d]) for v in source])
        for mode, f in floors.items():
            if t != "bf16":
                raw(f"cvt.{mode}.{t}.{t}", f"ld.global.b{n} {r}1, [%pi]; cvt.{mode}.{t}.{t} {r}0, {r}1; st.global.b{n} [%po], {r}0;",
                    [bits], [encode(math.copysign(float(f(v)), v), t) for v in source])
        for s in ["s32", "u32", "u64", "s64", "s16"] + (["u8"] if t != "bf16" else []):
            for mode in ["rn", "rz", "rm", "rp"]:
                values = [mask(v, BITS[s]) for v in [0, 1, -1, 16777217, -16777219, 0x7FFFFFFF, 12345, 0x123456789ABCDEF1]]
                q = REGISTER[BITS[s]]
                raw(f"cvt.{mode}.{t}.{s}", f"ld.global.b{BITS[s]} {q}1, [%pi]; cvt.{mode}.{t}.{s} {r}0, {q}1; st.global.b{n} [%po], {r}0;",
                    [values], [encode(0.0, t) if asType(v, s) == 0 else roundTo(Fraction(asType(v, s)), t, mode) for v in values])
    hard = [1.0 + 2.0**-12, -1.0 - 2.0**-9, 0.1, 65519.9, 3e-8, -0.0, math.inf, math.nan]
    bits = [encode(v, "f32") for v in hard]
    source = [decode(b, "f32") for b in bits]
    for d in ["f16", "bf16"]:
        for mode in ["rn", "rz"]:
            for flags in ["", "relu", "satfinite", "relu.satfinite"] if mode == "rn" else [""]:
                name = ".".join(x for x in ["cvt", mode, flags, d, "f32"] if x)
                expected = [encode(v, d, mode, "satfinite" in flags) for v in source]
                if "relu" in flags:
                    expected = [b if source[i] != source[i] else b if source[i] > 0 else 0 for i, b in enumerate(expected)]
                raw(name, f"ld.global.b32 %f1, [%pi]; {name} %h0, %f1; st.global.b16 [%po], %h0;", [bits], expected)
                name = ".".join(x for x in ["cvt", mode, flags, d + "x2", "f32"] if x)
                raw(name, f"ld.global.b32 %f1, [%pi]; ld.global.b32 %f2, [%pi+64]; {name} %r0, %f1, %f2; st.global.b32 [%po], %r0;",
                    [bits, bits[::-1]], [b << 16 | expected[7 - i] for i, b in enumerate(expected)])
        back = [encode(v, d) for v in hard]
        raw(f"cvt.f32.{d}", f"ld.global.b16 %h1, [%pi]; cvt.f32.{d} %f0, %h1; st.global.b32 [%po], %f0;", [back],
            [b << 16 if d == "bf16" else encode(decode(b, d), "f32") for b in back])  # bf16 is shifted, NaN too
    raw("cvt.f64.f32", "ld.global.b32 %f1, [%pi]; cvt.f64.f32 %d0, %f1; st.global.b64 [%po], %d0;", [[encode(v if v == v else 2.0, "f32") for v in hard]],
        [encode(decode(encode(v if v == v else 2.0, "f32"), "f32"), "f64") for v in hard])
    wide = [1.0 + 2.0**-30, -1.0 - 2.0**-24, 0.1, 1e300, 1e-300, -0.0, math.inf, 2.0**-140 + 2.0**-170]
    for mode in ["rn", "rz", "rm", "rp"]:
        raw(f"cvt.{mode}.f32.f64", f"ld.global.b64 %d1, [%pi]; cvt.{mode}.f32.f64 %f0, %d1; st.global.b32 [%po], %f0;",
            [[encode(v, "f64") for v in wide]], [encode(v, "f32", mode) for v in wide])
    halves = [encode(v, "f16") for v in hard]
    raw("cvt.bf16.f16", "ld.global.b16 %h1, [%pi]; cvt.bf16.f16 %h0, %h1; st.global.b16 [%po], %h0;", [halves], [encode(decode(b, "f16"), "bf16") for b in halves])
    for mode in ["rn", "rz", "rna"]:
        raw(f"cvt.{mode}.tf32.f32", f"ld.global.b32 %f1, [%pi]; cvt.{mode}.tf32.f32 %r0, %f1; st.global.b32 [%po], %r0;",
            [bits], [0x7FFFE000 if v != v else encode(v, "tf32", mode) << 13 for v in source])
    raw("cvt.sat.f32.f32", "ld.global.b32 %f1, [%pi]; cvt.sat.f32.f32 %f0, %f1; st.global.b32 [%po], %f0;",
        [[encode(v, "f32") for v in [0.5, -1.0, 2.0, math.nan, 1.0, 0.0, math.inf, -0.25]]],
        [encode(v, "f32") for v in [0.5, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0]])
    narrowForms()
    packs = [1000, -1000, 5, -5, 127, 255, -128, 300]
    for d in ["u8", "s8"]:
        raw(f"cvt.pack.sat.{d}.s32.b32", load("%r1", "b32", 0) + load("%r2", "b32", 1) + load("%r3", "b32", 2) +
            f"cvt.pack.sat.{d}.s32.b32 %r0, %r1, %r2, %r3; st.global.b32 [%po], %r0;",
            [[mask(v, 32) for v in packs], [mask(v, 32) for v in packs[::-1]], [mask(v, 32) for v in INT_A]],
            [mask(mask(c, 16) << 16 | mask(max(low(d), min(high(d), a)), 8) << 8 | mask(max(low(d), min(high(d), b)), 8), 32)
             for a, b, c in zip(packs, packs[::-1], INT_A)])
    for d in ["u16", "s16"]:
        big = [100000, -100000, 5, -5, 32767, 65535, -32768, 70000]
        raw(f"cvt.pack.sat.{d}.s32", load("%r1", "b32", 0) + load("%r2", "b32", 1) + f"cvt.pack.sat.{d}.s32 %r0, %r1, %r2; st.global.b32 [%po], %r0;",
            [[mask(v, 32) for v in big], [mask(v, 32) for v in big[::-1]]],
            [mask(max(low(d), min(high(d), a)), 16) << 16 | mask(max(low(d), min(high(d), b)), 16) for a, b in zip(big, big[::-1])])


def narrowStore(d, out):
    """e2m1x2 lives in a .b8 register, the others in .b16."""
    return f"st.global.b8 [%po], {out};" if d == "e2m1" else f"st.global.b16 [%po], {out};"


def narrowForms():
    values = [0.3, -1.7, 448.0, 1e6, 0.01, -0.0, math.inf, math.nan]
    bits = [encode(v, "f32") for v in values]
    source = [decode(b, "f32") for b in bits]
    for d in ["e4m3", "e5m2", "e2m3", "e3m2", "e2m1"]:
        width, register = (4, "%q0") if d == "e2m1" else (8, "%h0")
        for mode in ["rn", "rz"]:
            for relu in ["", "relu"]:
                def convert(v):
                    b = encode(v, d, mode, True)
                    return b if not relu or v != v or v > 0 else 0
                name = ".".join(x for x in ["cvt", mode, "satfinite", relu, d + "x2"] if x)
                raw(f"{name}.f32", f"ld.global.b32 %f1, [%pi]; ld.global.b32 %f2, [%pi+64]; {name}.f32 {register}, %f1, %f2;" + narrowStore(d, register),
                    [bits, bits[::-1]], [convert(v) << width | convert(source[7 - i]) for i, v in enumerate(source)])
                for h in ["f16", "bf16"]:
                    pairs = [encode(v, h) for v in values]
                    pair = [p | pairs[7 - i] << 16 for i, p in enumerate(pairs)]
                    raw(f"{name}.{h}x2", f"ld.global.b32 %r1, [%pi]; {name}.{h}x2 {register}, %r1;" + narrowStore(d, register), [pair],
                        [convert(decode(p, h)) | convert(decode(pairs[7 - i], h)) << width for i, p in enumerate(pairs)])
        codes = [0x00, 0x35, 0x81, 0x7E, 0x22, 0xC9, 0x13, 0xFF]
        limit = {"e4m3": 0xFF, "e5m2": 0xFF, "e2m3": 0x3F, "e3m2": 0x3F, "e2m1": 0xF}[d]
        low, high = [c & limit for c in codes], [c & limit for c in codes[::-1]]
        packed = [l | h << width for l, h in zip(low, high)]
        fetch = "ld.global.b8 %q1, [%pi];" if d == "e2m1" else "ld.global.b16 %h1, [%pi];"
        q = "%q1" if d == "e2m1" else "%h1"
        for h in ["f16", "bf16"]:
            for relu in ["", "relu"]:
                def widen(c):
                    v = decode(c, d)
                    b = encode(v, h)
                    return b if not relu or v != v or v > 0 else 0
                name = ".".join(x for x in ["cvt.rn", relu, h + "x2", d + "x2"] if x)
                raw(name, fetch + f"{name} %r0, {q}; st.global.b32 [%po], %r0;", [packed], [widen(l) | widen(k) << 16 for l, k in zip(low, high)])
        scales = [127, 128, 120, 130, 0, 254, 255, 125]
        def scaledUp(c, s):
            v = decode(c, d)
            return CANONICAL["bf16"] if v != v or s == 255 else encode(0.0 if v == 0 else v, "bf16") if v == 0 or math.isinf(v) else roundTo(Fraction(v) * Fraction(2) ** (s - 127), "bf16")
        zero = lambda c, b: b | (0x8000 if math.copysign(1, decode(c, d)) < 0 and decode(c, d) == 0 and b == 0 else 0)
        raw(f"cvt.rn.scaled::n2::ue8m0.bf16x2.{d}x2", fetch + f"ld.global.b16 %h2, [%pi+64]; cvt.rn.scaled::n2::ue8m0.bf16x2.{d}x2 %r0, {q}, %h2; st.global.b32 [%po], %r0;",
            [packed, [s | scales[7 - i] << 8 for i, s in enumerate(scales)]],
            [zero(l, scaledUp(l, s)) | zero(k, scaledUp(k, scales[7 - i])) << 16 for i, (l, k, s) in enumerate(zip(low, high, scales))])

        def scaledDown(v, s, mode):
            if s == 255 or v != v:
                return CANONICAL.get(d, LARGEST[d])
            if math.isinf(v) or flushed(v, "f32") == 0:
                return encode(flushed(v, "f32"), d, "rn", True)
            return roundTo(Fraction(v) * Fraction(2) ** (127 - s), d, mode)
        for mode in ["rn", "rz"]:
            name = f"cvt.{mode}.satfinite.scaled::n1::ue8m0.{d}x2"
            raw(f"{name}.f32", f"ld.global.b32 %f1, [%pi]; ld.global.b32 %f2, [%pi+64]; ld.global.b8 %q1, [%pi+128]; {name}.f32 {register}, %f1, %f2, %q1;" + narrowStore(d, register),
                [bits, bits[::-1], scales], [scaledDown(v, s, mode) << width | scaledDown(source[7 - i], s, mode) for i, (v, s) in enumerate(zip(source, scales))])
    powers = [1.0, 3.0, 0.7, 2.0**-126, 2.0**127, 1.5 * 2.0**127, 0.0, math.nan]
    def toE8m0(v, mode):
        if v != v:
            return 0xFF
        if v == 0:
            return 0
        e = math.frexp(v)[1] - 1
        e += int(mode == "rp" and v > math.ldexp(1.0, e))
        return max(0, min(254, e + 127))
    pbits = [encode(v, "f32") for v in powers]
    for mode in ["rz", "rp"]:
        name = f"cvt.{mode}.satfinite.ue8m0x2.f32"
        raw(name, f"ld.global.b32 %f1, [%pi]; ld.global.b32 %f2, [%pi+64]; {name} %h0, %f1, %f2; st.global.b16 [%po], %h0;", [pbits, pbits[::-1]],
            [toE8m0(v, mode) << 8 | toE8m0(powers[7 - i], mode) for i, v in enumerate(powers)])
        sane = [1.0, 3.0, 0.75, 2.0**-126, 2.0**120, 1.5 * 2.0**100, 0.0, math.nan]
        name = f"cvt.{mode}.ue8m0x2.f32"
        sbits = [encode(v, "f32") for v in sane]
        raw(name, f"ld.global.b32 %f1, [%pi]; ld.global.b32 %f2, [%pi+64]; {name} %h0, %f1, %f2; st.global.b16 [%po], %h0;", [sbits, sbits[::-1]],
            [toE8m0(v, mode) << 8 | toE8m0(sane[7 - i], mode) for i, v in enumerate(sane)])
        name = f"cvt.{mode}.satfinite.ue8m0x2.bf16x2"
        bbits = [encode(v, "bf16") for v in sane]
        raw(name, f"ld.global.b32 %r1, [%pi]; {name} %h0, %r1; st.global.b16 [%po], %h0;", [[b | bbits[7 - i] << 16 for i, b in enumerate(bbits)]],
            [toE8m0(v, mode) | toE8m0(sane[7 - i], mode) << 8 for i, v in enumerate(sane)])
    codes = [0, 1, 127, 128, 200, 254, 255, 64]
    up = lambda c: 0x7FFF if c == 255 else encode(math.ldexp(1.0, c - 127), "bf16")
    raw("cvt.rn.bf16x2.ue8m0x2", "ld.global.b16 %h1, [%pi]; cvt.rn.bf16x2.ue8m0x2 %r0, %h1; st.global.b32 [%po], %r0;",
        [[c | codes[7 - i] << 8 for i, c in enumerate(codes)]], [up(c) | up(codes[7 - i]) << 16 for i, c in enumerate(codes)])
