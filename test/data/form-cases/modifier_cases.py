# ===- modifier_cases.py - a case for each modifier of a form ---------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
#
# More cases for make_form_cases.py: rounding, flushing and packed variants, comparisons
# that combine. Each modifier of a row of the form table stands in one of them or of those of
# access_cases.py at least.

import math
from fractions import Fraction

from float_cases import F_A, F_B, F_C, H_A, H_B, H_C, floatForm, flushed, flushedBits, minMax, packedForm
from form_case import BITS, CASES, LANES, REGISTER, apply, asType, load, mask, raw, register, signed
from formats import decode, encode, roundTo
from integer_cases import INT_A, INT_B


def addAll():
    integers()
    floats()
    conversions()
    comparisons()
    moves()


# --- Integers ---------------------------------------------------------------------


def integers():
    a, b, c = [-1, 1, 5, -2, 0, 7, -1, -9], [-1, 1, -5, 3, -1, 9, 2, 3], [1, -1, 26, -7, 5, -63, -3, 28]
    for t in "u32 s32 u64 s64".split():
        n, r = BITS[t], REGISTER[BITS[t]]
        columns = [[mask(v, n) for v in x] for x in (a, b, c)]
        body = "".join(load(f"{r}{k + 1}", t, k) for k in range(3))
        store = f"st.global.b{n} [%po], {r}0;"
        for part in ["lo", "hi"]:
            products = [asType(x, t) * asType(y, t) for x, y in zip(columns[0], columns[1])]
            parts = [mask(p if part == "lo" else p >> n, n) for p in products]
            total = [p + z for p, z in zip(parts, columns[2])]
            # The carry ends in the top bit of the result.
            raw(f"mad.{part}.cc.{t}", body + f"mad.{part}.cc.{t} {r}4, {r}1, {r}2, {r}3; addc.{t} {r}5, 0, 0; shl.b{n} {r}5, {r}5, {n - 1}; xor.b{n} {r}0, {r}4, {r}5;" + store,
                  columns, [mask(v, n) ^ (v >> n) << (n - 1) for v in total])
            carry = [int(x + y >> n) for x, y in zip(columns[0], columns[1])]
            total = [p + z + k for p, z, k in zip(parts, columns[2], carry)]
            raw(f"madc.{part}.{t}", body + f"add.cc.{t} {r}6, {r}1, {r}2; madc.{part}.{t} {r}0, {r}1, {r}2, {r}3;" + store, columns, [mask(v, n) for v in total])
            raw(f"madc.{part}.cc.{t}", body + f"add.cc.{t} {r}6, {r}1, {r}2; madc.{part}.cc.{t} {r}4, {r}1, {r}2, {r}3; addc.{t} {r}5, 0, 0; shl.b{n} {r}5, {r}5, {n - 1}; xor.b{n} {r}0, {r}4, {r}5;" + store,
                  columns, [mask(v, n) ^ (v >> n) << (n - 1) for v in total])
    for op, g in [("min", min), ("max", max)]:
        def relu(x, y, g=g):
            half = lambda k: mask(max(0, g(signed(x >> 16 * k, 16), signed(y >> 16 * k, 16))), 16)
            return half(0) | half(1) << 16
        apply(f"{op}.relu.s16x2", "s16x2", ["s16x2", "s16x2"], relu,
                [[0x0001FFFF, 0x80007FFF, 0x12345678, 0, 0xFFFF0001, 5, 0x7FFF8000, 9], [0x00020001, 0x7FFF8000, 0x07654321, 1, 0x00010001, 0x50007, 1, 0x90000]])


# --- Floats -------------------------------------------------------------------------


def packedMinMax(form, t, columns, largest, **flags):
    """f16x2 and bf16x2: the second half takes the lanes in reverse."""
    before = len(CASES)
    minMax(form, t, columns, largest, **flags)
    _, _, inputs, out = CASES[before]
    del CASES[before:]
    pack = lambda v: [v[i] | v[LANES - 1 - i] << 16 for i in range(LANES)]
    raw(form, f"ld.global.b32 %r1, [%pi]; ld.global.b32 %r2, [%pi+64]; {form} %r0, %r1, %r2; st.global.b32 [%po], %r0;",
          [pack(column) for column in inputs], pack(out))


def floats():
    two, three = [F_A, F_B], [F_A, F_B, F_C]
    for op, columns in [("add", two), ("sub", two), ("mul", two), ("fma", three)]:
        for mode in ["rn", "rz", "rm", "rp"]:
            for ftz in ["", "ftz"]:
                packedForm(".".join(x for x in [op, mode, ftz, "f32x2"] if x), "f32", op, columns, ftz=bool(ftz), mode=mode)
    for t in ["f16", "f16x2"]:
        make = floatForm if t == "f16" else packedForm
        make(f"fma.rn.ftz.relu.{t}", "f16", "fma", [H_A, H_B, H_C], relu=True, ftz=True)
    doubles = [[v if v == v and abs(v) < 1e38 else 7.0 for v in c] for c in three]
    for mode in ["rn", "rz", "rm", "rp"]:
        for flags in ["", "ftz", "sat"]:
            floatForm(".".join(x for x in ["mad", mode, flags, "f32"] if x), "f32", "fma", three, mode, flags == "ftz", flags == "sat")
        floatForm(f"mad.{mode}.f64", "f64", "fma", doubles, mode)
    # Divisors of powers of two: exact however they are divided.
    exact = [[3.0, -2.5, 0.1, 1e30, 2.0**-130, -0.0, 12.0, 7.0], [2.0, 0.25, -4.0, 1024.0, 1.0, 2.0, -8.0, 0.5]]
    for kind in ["approx", "full"]:
        for ftz in ["", "ftz"]:
            floatForm(".".join(x for x in ["div", kind, ftz, "f32"] if x), "f32", "div", exact if ftz else [[v if abs(v) > 1e-30 else 6.0 for v in exact[0]], exact[1]], "rn", bool(ftz))
    for name, largest in [("min", False), ("max", True)]:
        for t, columns in [("f32", two), ("f16", [H_A, H_B]), ("bf16", [H_A, H_B])]:
            for flags in [["NaN"]] + ([["ftz"], ["ftz", "NaN"]] if t != "bf16" else []):
                minMax(".".join([name, *flags, "xorsign.abs", t]), t, columns, largest, nan="NaN" in flags, ftz="ftz" in flags, xorsign=True)
            if t == "f32":
                continue
            for flags in [[], ["NaN"]]:
                packedMinMax(".".join([name, *flags, t + "x2"]), t, columns, largest, nan="NaN" in flags)
                packedMinMax(".".join([name, *flags, "xorsign.abs", t + "x2"]), t, columns, largest, nan="NaN" in flags, xorsign=True)
    for t, n, columns in [("f32", 32, F_A), ("f16", 16, H_A)]:
        r, top = "%f" if n == 32 else "%h", 1 << (n - 1)
        columns = [v if v == v else 5.0 for v in columns]
        bits = [encode(v, t) for v in columns]
        flush = [flushedBits(b, t) for b in bits]
        for form, out in [(f"abs.ftz.{t}", [b & ~top for b in flush]), (f"neg.ftz.{t}", [b ^ top for b in flush])]:
            raw(form, f"ld.global.b{n} {r}1, [%pi]; {form} {r}0, {r}1; st.global.b{n} [%po], {r}0;", [bits], out)
    values = [-1.0, 1.0, -0.0, 2.0, -5.0, 1.0, -1.0, 0.0], [2.0, 3.0, 4.0, -5.0, -6.0, 7.0, 8.0, 9.0]
    raw("copysign.f64", "ld.global.b64 %d1, [%pi]; ld.global.b64 %d2, [%pi+64]; copysign.f64 %d0, %d1, %d2; st.global.b64 [%po], %d0;",
          [[encode(v, "f64") for v in column] for column in values], [encode(math.copysign(m, s), "f64") for s, m in zip(*values)])
    wide = [1.0, -2.5, 0.0, 1e-310, math.inf, -math.inf, math.nan, 2.0**-1022]
    tests = {"finite": math.isfinite, "infinite": math.isinf, "number": lambda v: v == v, "notanumber": lambda v: v != v,
             "normal": lambda v: math.isfinite(v) and (v == 0 or abs(v) >= 2.0**-1022), "subnormal": lambda v: 0 < abs(v) < 2.0**-1022}
    for name, g in tests.items():
        raw(f"testp.{name}.f64", f"setp.ne.b32 %p3, 0, 0; ld.global.b64 %d1, [%pi]; testp.{name}.f64 %p3, %d1; selp.b32 %r0, 5, 9, %p3; st.global.b32 [%po], %r0;",
              [[encode(v, "f64") for v in wide]], [5 if g(v) else 9 for v in wide])


# --- Conversions ---------------------------------------------------------------------


def conversions():
    small = [1.0, -2.5, 2.0**-130, 3.75, -(2.0**-140), 100.0, 7.0, 0.5]
    bits = [encode(v, "f32") for v in small]
    raw("cvt.rzi.ftz.s32.f32", "ld.global.b32 %f1, [%pi]; cvt.rzi.ftz.s32.f32 %r0, %f1; st.global.b32 [%po], %r0;", [bits], [mask(int(v), 32) for v in small])
    raw("cvt.rpi.ftz.s32.f32", "ld.global.b32 %f1, [%pi]; cvt.rpi.ftz.s32.f32 %r0, %f1; st.global.b32 [%po], %r0;", [bits],
          [mask(math.ceil(flushed(v, "f32")), 32) for v in small])
    raw("cvt.rn.ftz.f16.f32", "ld.global.b32 %f1, [%pi]; cvt.rn.ftz.f16.f32 %h0, %f1; st.global.b16 [%po], %h0;", [bits],
          [encode(flushed(v, "f32"), "f16") for v in small])
    inside = [0.5, -1.0, 2.0, 0.25, 1.0, 0.0, 7.5, -0.25]
    raw("cvt.rn.sat.f16.f32", "ld.global.b32 %f1, [%pi]; cvt.rn.sat.f16.f32 %h0, %f1; st.global.b16 [%po], %h0;", [[encode(v, "f32") for v in inside]],
          [encode(min(1.0, max(0.0, v)), "f16") for v in inside])
    for s, values in [("u16", [0, 1, 65535, 4097, 300, 12, 2, 9]), ("s8", [0, 1, -1, 127, -128, 5, -77, 9])]:
        raw(f"cvt.rn.f32.{s}", f"ld.global.b{BITS[s]} %h1, [%pi]; cvt.rn.f32.{s} %f0, %h1; st.global.b32 [%po], %f0;", [[mask(v, BITS[s]) for v in values]],
              [encode(float(v), "f32") for v in values])
    hard = [1.0 + 2.0**-12, -1.0 - 2.0**-9, 0.1, 3.4028234663852886e38, 3e-8, 2.0, -5.5, 1e30]
    source = [decode(encode(v, "f32"), "f32") for v in hard]
    for flags in ["satfinite", "relu", "satfinite.relu"]:
        for mode in ["rn", "rz"]:
            name = f"cvt.{mode}.{flags}.tf32.f32"
            out = [encode(0.0 if "relu" in flags and v < 0 else v, "tf32", mode, "satfinite" in flags) << 13 for v in source]
            raw(name, f"ld.global.b32 %f1, [%pi]; {name} %r0, %f1; st.global.b32 [%po], %r0;", [[encode(v, "f32") for v in hard]], out)
    unsigned()
    narrowScaled()
    packs = [1000, -1000, 5, -5, 1, 2, -2, 7]
    for d in ["u4", "s4", "u2", "s2"]:
        n = int(d[1])
        low, high = (-(1 << (n - 1)), (1 << (n - 1)) - 1) if d[0] == "s" else (0, (1 << n) - 1)
        part = lambda v: mask(max(low, min(high, v)), n)
        raw(f"cvt.pack.sat.{d}.s32.b32", load("%r1", "b32", 0) + load("%r2", "b32", 1) + load("%r3", "b32", 2) + f"cvt.pack.sat.{d}.s32.b32 %r0, %r1, %r2, %r3; st.global.b32 [%po], %r0;",
              [[mask(v, 32) for v in packs], [mask(v, 32) for v in packs[::-1]], [mask(v, 32) for v in INT_A]],
              [mask(c << 2 * n | part(a) << n | part(b), 32) for a, b, c in zip(packs, packs[::-1], INT_A)])


def ue5m3(v, mode, saturate):
    """UE5M3: exponent bias 15, 3 bits of mantissa, no sign; 0xFF is NaN, 0xFE the largest."""
    if v != v:
        return 0xFF
    if v <= 0:
        return 0
    exponent = max(math.frexp(v)[1] - 1, -14)
    unit = Fraction(2) ** (exponent - 3)
    count, rest = divmod(Fraction(v), unit)
    count = int(count)
    up = mode == "rp" and rest > 0 or mode == "rn" and (rest * 2 > unit or rest * 2 == unit and count & 1)
    count += int(up)
    code = count if exponent == -14 and count < 8 else ((exponent + 15) << 3) + count - 8
    return min(code, 0xFE) if saturate else code


def ue5m3Value(code):
    return math.ldexp(code & 7, -17) if code < 8 else math.ldexp(8 + (code & 7), (code >> 3) - 18)


def unsigned():
    values = [0.3, 1.0, 448.0, 5700.0, 0.01, 3.3, 2.0**-16, 77.7]
    for source in ["f32", "f16x2", "bf16x2"]:
        t = source.replace("x2", "")
        exact = [decode(encode(v, t), t) for v in values]
        bits = [encode(v, t) for v in values]
        for mode in ["rn", "rz", "rp"]:
            for flags in ["", "satfinite"]:
                name = ".".join(x for x in ["cvt", mode, flags, "ue5m3x2", source] if x)
                codes = [ue5m3(v, mode, "satfinite" in flags) for v in exact]
                fetch, operand, inputs = ("ld.global.b32 %f1, [%pi]; ld.global.b32 %f2, [%pi+64];", "%f1, %f2", [bits, bits[::-1]]) if source == "f32" else \
                    ("ld.global.b32 %r1, [%pi];", "%r1", [[bits[7 - i] | b << 16 for i, b in enumerate(bits)]])
                raw(name, fetch + f"{name} %h0, {operand}; st.global.b16 [%po], %h0;", inputs, [c << 8 | codes[7 - i] for i, c in enumerate(codes)])
    codes = [0, 1, 0x78, 0x79, 0xA5, 0x3C, 0xC8, 0x47]
    packed = [c | codes[7 - i] << 8 for i, c in enumerate(codes)]
    for t in ["f16", "bf16"]:
        for flags in [""] + (["satfinite"] if t == "bf16" else []):
            name = ".".join(x for x in ["cvt.rn", flags, t + "x2", "ue5m3x2"] if x)
            out = [encode(ue5m3Value(c), t) for c in codes]
            raw(name, f"ld.global.b16 %h1, [%pi]; {name} %r0, %h1; st.global.b32 [%po], %r0;", [packed], [o | out[7 - i] << 16 for i, o in enumerate(out)])
    scales = [127, 128, 120, 130, 125, 126, 129, 127]
    for flags in ["", "satfinite"]:
        name = ".".join(x for x in ["cvt.rn", flags, "scaled::n2::ue8m0.bf16x2.ue5m3x2"] if x)
        out = lambda i, s: encode(math.ldexp(ue5m3Value(codes[i]), s - 127), "bf16")
        raw(name, f"ld.global.b16 %h1, [%pi]; ld.global.b16 %h2, [%pi+64]; {name} %r0, %h1, %h2; st.global.b32 [%po], %r0;",
              [packed, [s | scales[7 - i] << 8 for i, s in enumerate(scales)]], [out(i, s) | out(7 - i, scales[7 - i]) << 16 for i, s in enumerate(scales)])
    for source in ["f32", "f16x2", "bf16x2"]:
        t = source.replace("x2", "")
        exact, bits = [decode(encode(v, t), t) for v in values], [encode(v, t) for v in values]
        for mode in ["rn", "rz"]:
            for flags in ["", "satfinite"]:
                name = ".".join(x for x in ["cvt", mode, flags, "scaled::n1::ue8m0.ue5m3x2", source] if x)
                code = lambda i, s: ue5m3(math.ldexp(exact[i], 127 - s), mode, True)
                two = source == "f32"
                fetch = "ld.global.b32 %f1, [%pi]; ld.global.b32 %f2, [%pi+64]; ld.global.b8 %q1, [%pi+128];" if two else "ld.global.b32 %r1, [%pi]; ld.global.b8 %q1, [%pi+64];"
                inputs = [bits, bits[::-1], scales] if two else [[bits[7 - i] | b << 16 for i, b in enumerate(bits)], scales]
                raw(name, fetch + f"{name} %h0, {'%f1, %f2' if two else '%r1'}, %q1; st.global.b16 [%po], %h0;", inputs, [code(i, s) << 8 | code(7 - i, s) for i, s in enumerate(scales)])


def narrowScaled():
    """.scaled::n1 with .relu and from pairs, .scaled::n2 with .relu and .satfinite: E4M3."""
    values = [0.3, -1.7, 448.0, 12.0, -0.01, 3.3, 96.0, -77.0]
    scales = [127, 128, 120, 130, 125, 126, 129, 127]
    for source in ["f32", "f16x2", "bf16x2"]:
        t = source.replace("x2", "")
        exact, bits = [decode(encode(v, t), t) for v in values], [encode(v, t) for v in values]
        for relu in ["", "relu"]:
            name = ".".join(x for x in ["cvt.rn.satfinite", relu, "scaled::n1::ue8m0.e4m3x2", source] if x)
            def code(i, s, relu=relu, exact=exact):
                return 0 if relu and exact[i] < 0 else roundTo(Fraction(exact[i]) * Fraction(2) ** (127 - s), "e4m3")
            two = source == "f32"
            if two and not relu:
                continue
            fetch = "ld.global.b32 %f1, [%pi]; ld.global.b32 %f2, [%pi+64]; ld.global.b8 %q1, [%pi+128];" if two else "ld.global.b32 %r1, [%pi]; ld.global.b8 %q1, [%pi+64];"
            inputs = [bits, bits[::-1], scales] if two else [[bits[7 - i] | b << 16 for i, b in enumerate(bits)], scales]
            raw(name, fetch + f"{name} %h0, {'%f1, %f2' if two else '%r1'}, %q1; st.global.b16 [%po], %h0;", inputs, [code(i, s) << 8 | code(7 - i, s) for i, s in enumerate(scales)])
    codes = [0x01, 0x35, 0x81, 0x7E, 0x22, 0xC9, 0x13, 0x40]
    for flags in ["relu", "satfinite", "relu.satfinite"]:
        name = f"cvt.rn.{flags}.scaled::n2::ue8m0.bf16x2.e4m3x2"
        def up(i, s, flags=flags):
            v = decode(codes[i], "e4m3")
            return 0 if "relu" in flags and v < 0 else roundTo(Fraction(v) * Fraction(2) ** (s - 127), "bf16")
        raw(name, f"ld.global.b16 %h1, [%pi]; ld.global.b16 %h2, [%pi+64]; {name} %r0, %h1, %h2; st.global.b32 [%po], %r0;",
              [[c | codes[7 - i] << 8 for i, c in enumerate(codes)], [s | scales[7 - i] << 8 for i, s in enumerate(scales)]],
              [up(i, s) | up(7 - i, scales[7 - i]) << 16 for i, s in enumerate(scales)])


# --- Comparisons ------------------------------------------------------------------------

ORDER = {"eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "lt": lambda x, y: x < y, "le": lambda x, y: x <= y, "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y}
UNSIGNED = {**ORDER, "lo": ORDER["lt"], "ls": ORDER["le"], "hi": ORDER["gt"], "hs": ORDER["ge"]}
COMBINE = {"": lambda p, c: p, "and": lambda p, c: p and c, "or": lambda p, c: p or c, "xor": lambda p, c: bool(p) != bool(c)}
LEFT, RIGHT, THIRD = [0, 1, -1, 0x7FFF, 5, 0x1234, -9, -32768], [0, -1, 1, 0x7FFF, 6, 0x1234, -8, 7], [0, 1, 1, 0, 1, 0, 1, 1]
FLOAT_LEFT, FLOAT_RIGHT = [1.0, 2.0, -1.0, math.nan, 0.0, math.inf, 3.5, math.nan], [1.0, 1.0, 1.0, 1.0, -0.0, math.inf, 4.5, math.nan]


def floatTests():
    out = {name: (lambda x, y, g=g: x == x and y == y and g(x, y)) for name, g in ORDER.items()}
    out.update({name + "u": (lambda x, y, g=g: x != x or y != y or g(x, y)) for name, g in ORDER.items()})
    out["num"], out["nan"] = lambda x, y: x == x and y == y, lambda x, y: x != x or y != y
    return out


def compare(form, t, columns, expected, isSet, out="u32", third=False, start=0):
    """setp through selp of 5 and 9, or set. Predicate %p1 is the third operand."""
    n, r = BITS[t], register(t)
    body = "".join(f"ld.global.b{n} {r}{k + 1}, [%pi+{64 * k}];" for k in range(2))
    if third:
        body += load("%r9", "b32", 2) + "setp.ne.b32 %p1, %r9, 0;"
        columns = [*columns, THIRD]
    extra = ", %p1" if third else ""
    if isSet:
        width, d = BITS[out], register(out)
        raw(form, body + f"mov.b{width} {d}0, 7; {form} {d}0, {r}1, {r}2{extra}; st.global.b{width} [%po], {d}0;".replace("mov.b32 %f0, 7", "mov.b32 %f0, 0f40000000"), columns, expected)
    else:
        # Starts as the opposite of what most lanes give.
        raw(form, body + f"setp.{'eq' if start else 'ne'}.b32 %p3, 0, 0; {form} %p3, {r}1, {r}2{extra}; selp.b32 %r0, 5, 9, %p3; st.global.b32 [%po], %r0;", columns, expected)


def truth(results, form):
    out = [5 if x else 9 for x in results]
    return out, 1 if 9 in out else 0


def comparisons():
    for kind, tests in [("b", {k: UNSIGNED[k] for k in ("eq", "ne")}), ("u", UNSIGNED), ("s", ORDER)]:
        for n in [16, 32, 64]:
            t = f"{kind}{n}"
            columns = [[mask(v, n) for v in LEFT], [mask(v, n) for v in RIGHT]]
            values = [[asType(v, t) for v in column] for column in columns]
            for name, g in tests.items():
                for combine, h in COMBINE.items():
                    results = [h(g(x, y), c) for x, y, c in zip(*values, THIRD)]
                    if combine:
                        expected, start = truth(results, name)
                        compare(f"setp.{name}.{combine}.{t}", t, columns, expected, False, third=True, start=start)
                    if n == 32 or name in ("ne", "lt"):
                        for d, yes in [("u32", 0xFFFFFFFF), ("s32", 0xFFFFFFFF), ("f32", 0x3F800000)]:
                            if d == "u32" or n == 32 and combine == "":
                                compare(".".join(x for x in ["set", name, combine, d, t] if x), t, columns, [yes if x else 0 for x in results], True, d, third=bool(combine))
    for t in ["f32", "f64", "f16", "bf16"]:
        columns = [[encode(v, t) for v in FLOAT_LEFT], [encode(v, t) for v in FLOAT_RIGHT]]
        for name, g in floatTests().items():
            for combine, h in COMBINE.items():
                results = [h(g(x, y), c) for x, y, c in zip(FLOAT_LEFT, FLOAT_RIGHT, THIRD)]
                if combine:
                    expected, start = truth(results, name)
                    compare(f"setp.{name}.{combine}.{t}", t, columns, expected, False, third=True, start=start)
                if t in ("f32", "f64") or not combine:
                    compare(".".join(x for x in ["set", name, combine, "u32", t] if x), t, columns, [0xFFFFFFFF if x else 0 for x in results], True, third=bool(combine))
        for d, yes in [("s32", 0xFFFFFFFF), ("f32", 0x3F800000)][:2 if t in ("f32", "f64") else 1]:
            for combine in ["", "xor"] if t in ("f32", "f64") else [""]:
                results = [COMBINE[combine](x < y, c) for x, y, c in zip(FLOAT_LEFT, FLOAT_RIGHT, THIRD)]
                compare(".".join(x for x in ["set.lt", combine, d, t] if x), t, columns, [yes if x else 0 for x in results], True, d, third=bool(combine))
    tiny = [[encode(v, "f32") for v in [2.0**-130, 1.0, -(2.0**-140), 2.0, 0.0, 1.0, 3.0, 2.0**-127]], [encode(v, "f32") for v in [0.0, 2.0, 0.0, 1.0, -0.0, 1.0, 4.0, 2.0**-128]]]
    flush = [[flushed(decode(b, "f32"), "f32") for b in column] for column in tiny]
    expected, start = truth([x > y for x, y in zip(*flush)], "gt")
    compare("setp.gt.ftz.f32", "f32", tiny, expected, False, start=start)
    expected, start = truth([x > y and c for x, y, c in zip(*flush, THIRD)], "gt")
    compare("setp.gt.and.ftz.f32", "f32", tiny, expected, False, third=True, start=start)
    compare("set.gt.ftz.u32.f32", "f32", tiny, [0xFFFFFFFF if x > y else 0 for x, y in zip(*flush)], True)
    compare("set.gt.or.ftz.u32.f32", "f32", tiny, [0xFFFFFFFF if x > y or c else 0 for x, y, c in zip(*flush, THIRD)], True, third=True)
    halves = [[encode(v, "f16") for v in [2.0**-20, 1.0, -(2.0**-16), 2.0, 0.0, 1.0, 3.0, 2.0**-18]], [encode(v, "f16") for v in [0.0, 2.0, 0.0, 1.0, -0.0, 1.0, 4.0, 2.0**-19]]]
    flush = [[flushed(decode(b, "f16"), "f16") for b in column] for column in halves]
    expected, start = truth([x > y for x, y in zip(*flush)], "gt")
    compare("setp.gt.ftz.f16", "f16", halves, expected, False, start=start)
    selections()


def selections():
    left = [0, 1, -1, 0x7FFF, -5, 0x12345678, -9, 7]
    signs = [1.0, -1.0, 0.0, -0.0, 3.5, -7.25, 2.0**-130, -(2.0**-130)]
    for t in ["f32", "f64"]:
        r, n = register(t), BITS[t]
        a, b = [encode(float(v + 2), t) for v in range(LANES)], [encode(-1.5 * (v + 1), t) for v in range(LANES)]
        raw(f"selp.{t}", f"ld.global.b{n} {r}1, [%pi]; ld.global.b{n} {r}2, [%pi+64]; setp.gt.u32 %p1, %j, 3; selp.{t} {r}0, {r}1, {r}2, %p1; st.global.b{n} [%po], {r}0;", [a, b], b[:4] + a[4:])
    for t in "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64".split():
        r, n = register(t), BITS[t]
        a, b = ([mask(v, n) for v in INT_A], [mask(v, n) for v in INT_B]) if t[0] != "f" else ([encode(float(v + 2), t) for v in range(LANES)], [encode(-1.5 * (v + 1), t) for v in range(LANES)])
        fetch = f"ld.global.b{n} {r}1, [%pi]; ld.global.b{n} {r}2, [%pi+64];"
        raw(f"slct.{t}.s32", fetch + f"ld.global.b32 %r9, [%pi+128]; slct.{t}.s32 {r}0, {r}1, {r}2, %r9; st.global.b{n} [%po], {r}0;", [a, b, [mask(v, 32) for v in left]],
              [x if v >= 0 else y for x, y, v in zip(a, b, left)])
        # Minus zero chooses the first.
        raw(f"slct.{t}.f32", fetch + f"ld.global.b32 %f9, [%pi+128]; slct.{t}.f32 {r}0, {r}1, {r}2, %f9; st.global.b{n} [%po], {r}0;", [a, b, [encode(v, "f32") for v in signs]],
              [x if v >= 0 else y for x, y, v in zip(a, b, signs)])
    a, b = [10 + i for i in range(LANES)], [30 + i for i in range(LANES)]
    raw("slct.ftz.u32.f32", "ld.global.b32 %r1, [%pi]; ld.global.b32 %r2, [%pi+64]; ld.global.b32 %f9, [%pi+128]; slct.ftz.u32.f32 %r0, %r1, %r2, %f9; st.global.b32 [%po], %r0;",
          [a, b, [encode(v, "f32") for v in signs]], [x if flushed(v, "f32") >= 0 else y for x, y, v in zip(a, b, signs)])


# --- Moves and addresses -----------------------------------------------------------------


def moves():
    data = [5, 6, 7, 8, 9, 10, 11, 12]
    for t in ["f32", "f64"]:
        r, n = register(t), BITS[t]
        bits = [encode(1.5 * v, t) for v in data]
        raw(f"mov.{t}", f"ld.global.b{n} {r}1, [%pi]; mov.{t} {r}0, {r}1; st.global.b{n} [%po], {r}0;", [bits], bits)
    raw("cvta.param::entry.u64", "mov.b64 %rd2, 0; mov.b64 %rd1, in; cvta.param::entry.u64 %rd2, %rd1; ld.b64 %rd3, [%rd2]; add.u64 %rd3, %rd3, %jw; ld.global.b32 %r0, [%rd3]; st.global.b32 [%po], %r0;", [data], data)
    # Where each generic address lies: bit s of the answer stands for the space s of the list.
    spaces = ["global", "shared", "shared::cta", "shared::cluster", "local", "param", "param::entry", "const"]
    places = {"global": "mov.b64 %rd1, %g;", "shared": "mov.u64 %rd1, s; cvta.shared.u64 %rd1, %rd1;", "local": "mov.u64 %rd1, l; cvta.local.u64 %rd1, %rd1;", "param": "mov.b64 %rd1, in; cvta.param.u64 %rd1, %rd1;",
              "const": "mov.u64 %rd1, c; cvta.const.u64 %rd1, %rd1;"}
    for space in spaces:
        body, expected = "mov.b32 %r0, 0;", 0
        for i, (place, address) in enumerate(places.items()):
            body += address + f"setp.{'eq' if i else 'ne'}.b32 %p3, 0, 0; isspacep.{space} %p3, %rd1; selp.b32 %r1, {1 << i}, 0, %p3; or.b32 %r0, %r0, %r1;"
            expected |= (space.split("::")[0] == place) << i
        raw(f"isspacep.{space}", body + "st.global.b32 [%po], %r0;", [data], [expected] * LANES)
    raw("getctarank.u64", "mov.u64 %rd1, s; cvta.shared.u64 %rd1, %rd1; mov.b32 %r0, 9; getctarank.u64 %r0, %rd1; st.global.b32 [%po], %r0;", [data], [0] * LANES)
