# ===- modifier_cases.py - a case for each modifier of a form ---------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
#
# More cases for make_form_cases.py: rounding, flushing and packed variants, comparisons
# that combine, and loads, stores and atomics with every space, order, hint and type. Each
# modifier of a row of the form table stands in one of them at least.

import math
from fractions import Fraction

LANES = 8
WORD = (1 << 64) - 1


def addAll(f):
    """f: make_form_cases, whose helpers and inputs are used."""
    integers(f)
    floats(f)
    conversions(f)
    comparisons(f)
    moves(f)
    loads(f)
    stores(f)
    atomics(f)
    control(f)


# --- Integers ---------------------------------------------------------------------


def integers(f):
    a, b, c = [-1, 1, 5, -2, 0, 7, -1, -9], [-1, 1, -5, 3, -1, 9, 2, 3], [1, -1, 26, -7, 5, -63, -3, 28]
    for t in "u32 s32 u64 s64".split():
        n, r = f.BITS[t], f.REGISTER[f.BITS[t]]
        columns = [[f.mask(v, n) for v in x] for x in (a, b, c)]
        body = "".join(f.load(f"{r}{k + 1}", t, k) for k in range(3))
        store = f"st.global.b{n} [%po], {r}0;"
        for part in ["lo", "hi"]:
            products = [f.asType(x, t) * f.asType(y, t) for x, y in zip(columns[0], columns[1])]
            parts = [f.mask(p if part == "lo" else p >> n, n) for p in products]
            total = [p + z for p, z in zip(parts, columns[2])]
            # The carry ends in the top bit of the result.
            f.raw(f"mad.{part}.cc.{t}", body + f"mad.{part}.cc.{t} {r}4, {r}1, {r}2, {r}3; addc.{t} {r}5, 0, 0; shl.b{n} {r}5, {r}5, {n - 1}; xor.b{n} {r}0, {r}4, {r}5;" + store,
                  columns, [f.mask(v, n) ^ (v >> n) << (n - 1) for v in total])
            carry = [int(x + y >> n) for x, y in zip(columns[0], columns[1])]
            total = [p + z + k for p, z, k in zip(parts, columns[2], carry)]
            f.raw(f"madc.{part}.{t}", body + f"add.cc.{t} {r}6, {r}1, {r}2; madc.{part}.{t} {r}0, {r}1, {r}2, {r}3;" + store, columns, [f.mask(v, n) for v in total])
            f.raw(f"madc.{part}.cc.{t}", body + f"add.cc.{t} {r}6, {r}1, {r}2; madc.{part}.cc.{t} {r}4, {r}1, {r}2, {r}3; addc.{t} {r}5, 0, 0; shl.b{n} {r}5, {r}5, {n - 1}; xor.b{n} {r}0, {r}4, {r}5;" + store,
                  columns, [f.mask(v, n) ^ (v >> n) << (n - 1) for v in total])
    for op, g in [("min", min), ("max", max)]:
        def relu(x, y, g=g):
            half = lambda k: f.mask(max(0, g(f.signed(x >> 16 * k, 16), f.signed(y >> 16 * k, 16))), 16)
            return half(0) | half(1) << 16
        f.apply(f"{op}.relu.s16x2", "s16x2", ["s16x2", "s16x2"], relu,
                [[0x0001FFFF, 0x80007FFF, 0x12345678, 0, 0xFFFF0001, 5, 0x7FFF8000, 9], [0x00020001, 0x7FFF8000, 0x07654321, 1, 0x00010001, 0x50007, 1, 0x90000]])


# --- Floats -------------------------------------------------------------------------


def packedMinMax(f, form, t, columns, largest, **flags):
    """f16x2 and bf16x2: the second half takes the lanes in reverse."""
    before = len(f.CASES)
    f.minMax(form, t, columns, largest, **flags)
    _, _, inputs, out = f.CASES[before]
    del f.CASES[before:]
    pack = lambda v: [v[i] | v[LANES - 1 - i] << 16 for i in range(LANES)]
    f.raw(form, f"ld.global.b32 %r1, [%pi]; ld.global.b32 %r2, [%pi+64]; {form} %r0, %r1, %r2; st.global.b32 [%po], %r0;",
          [pack(column) for column in inputs], pack(out))


def floats(f):
    two, three = [f.F_A, f.F_B], [f.F_A, f.F_B, f.F_C]
    for op, columns in [("add", two), ("sub", two), ("mul", two), ("fma", three)]:
        for mode in ["rn", "rz", "rm", "rp"]:
            for ftz in ["", "ftz"]:
                f.packedForm(".".join(x for x in [op, mode, ftz, "f32x2"] if x), "f32", op, columns, ftz=bool(ftz), mode=mode)
    for t in ["f16", "f16x2"]:
        make = f.floatForm if t == "f16" else f.packedForm
        make(f"fma.rn.ftz.relu.{t}", "f16", "fma", [f.H_A, f.H_B, f.H_C], relu=True, ftz=True)
    doubles = [[v if v == v and abs(v) < 1e38 else 7.0 for v in c] for c in three]
    for mode in ["rn", "rz", "rm", "rp"]:
        for flags in ["", "ftz", "sat"]:
            f.floatForm(".".join(x for x in ["mad", mode, flags, "f32"] if x), "f32", "fma", three, mode, flags == "ftz", flags == "sat")
        f.floatForm(f"mad.{mode}.f64", "f64", "fma", doubles, mode)
    # Divisors of powers of two: exact however they are divided.
    exact = [[3.0, -2.5, 0.1, 1e30, 2.0**-130, -0.0, 12.0, 7.0], [2.0, 0.25, -4.0, 1024.0, 1.0, 2.0, -8.0, 0.5]]
    for kind in ["approx", "full"]:
        for ftz in ["", "ftz"]:
            f.floatForm(".".join(x for x in ["div", kind, ftz, "f32"] if x), "f32", "div", exact if ftz else [[v if abs(v) > 1e-30 else 6.0 for v in exact[0]], exact[1]], "rn", bool(ftz))
    for name, largest in [("min", False), ("max", True)]:
        for t, columns in [("f32", two), ("f16", [f.H_A, f.H_B]), ("bf16", [f.H_A, f.H_B])]:
            for flags in [["NaN"]] + ([["ftz"], ["ftz", "NaN"]] if t != "bf16" else []):
                f.minMax(".".join([name, *flags, "xorsign.abs", t]), t, columns, largest, nan="NaN" in flags, ftz="ftz" in flags, xorsign=True)
            if t == "f32":
                continue
            for flags in [[], ["NaN"]]:
                packedMinMax(f, ".".join([name, *flags, t + "x2"]), t, columns, largest, nan="NaN" in flags)
                packedMinMax(f, ".".join([name, *flags, "xorsign.abs", t + "x2"]), t, columns, largest, nan="NaN" in flags, xorsign=True)
    for t, n, columns in [("f32", 32, f.F_A), ("f16", 16, f.H_A)]:
        r, top = "%f" if n == 32 else "%h", 1 << (n - 1)
        columns = [v if v == v else 5.0 for v in columns]
        bits = [f.encode(v, t) for v in columns]
        flush = [f.flushedBits(b, t) for b in bits]
        for form, out in [(f"abs.ftz.{t}", [b & ~top for b in flush]), (f"neg.ftz.{t}", [b ^ top for b in flush])]:
            f.raw(form, f"ld.global.b{n} {r}1, [%pi]; {form} {r}0, {r}1; st.global.b{n} [%po], {r}0;", [bits], out)
    values = [-1.0, 1.0, -0.0, 2.0, -5.0, 1.0, -1.0, 0.0], [2.0, 3.0, 4.0, -5.0, -6.0, 7.0, 8.0, 9.0]
    f.raw("copysign.f64", "ld.global.b64 %d1, [%pi]; ld.global.b64 %d2, [%pi+64]; copysign.f64 %d0, %d1, %d2; st.global.b64 [%po], %d0;",
          [[f.encode(v, "f64") for v in column] for column in values], [f.encode(math.copysign(m, s), "f64") for s, m in zip(*values)])
    wide = [1.0, -2.5, 0.0, 1e-310, math.inf, -math.inf, math.nan, 2.0**-1022]
    tests = {"finite": math.isfinite, "infinite": math.isinf, "number": lambda v: v == v, "notanumber": lambda v: v != v,
             "normal": lambda v: math.isfinite(v) and (v == 0 or abs(v) >= 2.0**-1022), "subnormal": lambda v: 0 < abs(v) < 2.0**-1022}
    for name, g in tests.items():
        f.raw(f"testp.{name}.f64", f"setp.ne.b32 %p3, 0, 0; ld.global.b64 %d1, [%pi]; testp.{name}.f64 %p3, %d1; selp.b32 %r0, 5, 9, %p3; st.global.b32 [%po], %r0;",
              [[f.encode(v, "f64") for v in wide]], [5 if g(v) else 9 for v in wide])


# --- Conversions ---------------------------------------------------------------------


def conversions(f):
    small = [1.0, -2.5, 2.0**-130, 3.75, -(2.0**-140), 100.0, 7.0, 0.5]
    bits = [f.encode(v, "f32") for v in small]
    f.raw("cvt.rzi.ftz.s32.f32", "ld.global.b32 %f1, [%pi]; cvt.rzi.ftz.s32.f32 %r0, %f1; st.global.b32 [%po], %r0;", [bits], [f.mask(int(v), 32) for v in small])
    f.raw("cvt.rpi.ftz.s32.f32", "ld.global.b32 %f1, [%pi]; cvt.rpi.ftz.s32.f32 %r0, %f1; st.global.b32 [%po], %r0;", [bits],
          [f.mask(math.ceil(f.flushed(v, "f32")), 32) for v in small])
    f.raw("cvt.rn.ftz.f16.f32", "ld.global.b32 %f1, [%pi]; cvt.rn.ftz.f16.f32 %h0, %f1; st.global.b16 [%po], %h0;", [bits],
          [f.encode(f.flushed(v, "f32"), "f16") for v in small])
    inside = [0.5, -1.0, 2.0, 0.25, 1.0, 0.0, 7.5, -0.25]
    f.raw("cvt.rn.sat.f16.f32", "ld.global.b32 %f1, [%pi]; cvt.rn.sat.f16.f32 %h0, %f1; st.global.b16 [%po], %h0;", [[f.encode(v, "f32") for v in inside]],
          [f.encode(min(1.0, max(0.0, v)), "f16") for v in inside])
    for s, values in [("u16", [0, 1, 65535, 4097, 300, 12, 2, 9]), ("s8", [0, 1, -1, 127, -128, 5, -77, 9])]:
        f.raw(f"cvt.rn.f32.{s}", f"ld.global.b{f.BITS[s]} %h1, [%pi]; cvt.rn.f32.{s} %f0, %h1; st.global.b32 [%po], %f0;", [[f.mask(v, f.BITS[s]) for v in values]],
              [f.encode(float(v), "f32") for v in values])
    hard = [1.0 + 2.0**-12, -1.0 - 2.0**-9, 0.1, 3.4028234663852886e38, 3e-8, 2.0, -5.5, 1e30]
    source = [f.decode(f.encode(v, "f32"), "f32") for v in hard]
    for flags in ["satfinite", "relu", "satfinite.relu"]:
        for mode in ["rn", "rz"]:
            name = f"cvt.{mode}.{flags}.tf32.f32"
            out = [f.encode(0.0 if "relu" in flags and v < 0 else v, "tf32", mode, "satfinite" in flags) << 13 for v in source]
            f.raw(name, f"ld.global.b32 %f1, [%pi]; {name} %r0, %f1; st.global.b32 [%po], %r0;", [[f.encode(v, "f32") for v in hard]], out)
    unsigned(f)
    narrowScaled(f)
    packs = [1000, -1000, 5, -5, 1, 2, -2, 7]
    for d in ["u4", "s4", "u2", "s2"]:
        n = int(d[1])
        low, high = (-(1 << (n - 1)), (1 << (n - 1)) - 1) if d[0] == "s" else (0, (1 << n) - 1)
        part = lambda v: f.mask(max(low, min(high, v)), n)
        f.raw(f"cvt.pack.sat.{d}.s32.b32", f.load("%r1", "b32", 0) + f.load("%r2", "b32", 1) + f.load("%r3", "b32", 2) + f"cvt.pack.sat.{d}.s32.b32 %r0, %r1, %r2, %r3; st.global.b32 [%po], %r0;",
              [[f.mask(v, 32) for v in packs], [f.mask(v, 32) for v in packs[::-1]], [f.mask(v, 32) for v in f.INT_A]],
              [f.mask(c << 2 * n | part(a) << n | part(b), 32) for a, b, c in zip(packs, packs[::-1], f.INT_A)])


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


def unsigned(f):
    values = [0.3, 1.0, 448.0, 5700.0, 0.01, 3.3, 2.0**-16, 77.7]
    for source in ["f32", "f16x2", "bf16x2"]:
        t = source.replace("x2", "")
        exact = [f.decode(f.encode(v, t), t) for v in values]
        bits = [f.encode(v, t) for v in values]
        for mode in ["rn", "rz", "rp"]:
            for flags in ["", "satfinite", "relu", "satfinite.relu"]:
                name = ".".join(x for x in ["cvt", mode, flags, "ue5m3x2", source] if x)
                codes = [ue5m3(v, mode, "satfinite" in flags) for v in exact]
                fetch, operand, inputs = ("ld.global.b32 %f1, [%pi]; ld.global.b32 %f2, [%pi+64];", "%f1, %f2", [bits, bits[::-1]]) if source == "f32" else \
                    ("ld.global.b32 %r1, [%pi];", "%r1", [[bits[7 - i] | b << 16 for i, b in enumerate(bits)]])
                f.raw(name, fetch + f"{name} %h0, {operand}; st.global.b16 [%po], %h0;", inputs, [c << 8 | codes[7 - i] for i, c in enumerate(codes)])
    codes = [0, 1, 0x78, 0x79, 0xA5, 0x3C, 0xC8, 0x47]
    packed = [c | codes[7 - i] << 8 for i, c in enumerate(codes)]
    for t in ["f16", "bf16"]:
        for flags in ["", "relu"] + (["satfinite", "relu.satfinite"] if t == "bf16" else []):
            name = ".".join(x for x in ["cvt.rn", flags, t + "x2", "ue5m3x2"] if x)
            out = [f.encode(ue5m3Value(c), t) for c in codes]
            f.raw(name, f"ld.global.b16 %h1, [%pi]; {name} %r0, %h1; st.global.b32 [%po], %r0;", [packed], [o | out[7 - i] << 16 for i, o in enumerate(out)])
    scales = [127, 128, 120, 130, 125, 126, 129, 127]
    for flags in ["", "relu", "satfinite", "relu.satfinite"]:
        name = ".".join(x for x in ["cvt.rn", flags, "scaled::n2::ue8m0.bf16x2.ue5m3x2"] if x)
        out = lambda i, s: f.encode(math.ldexp(ue5m3Value(codes[i]), s - 127), "bf16")
        f.raw(name, f"ld.global.b16 %h1, [%pi]; ld.global.b16 %h2, [%pi+64]; {name} %r0, %h1, %h2; st.global.b32 [%po], %r0;",
              [packed, [s | scales[7 - i] << 8 for i, s in enumerate(scales)]], [out(i, s) | out(7 - i, scales[7 - i]) << 16 for i, s in enumerate(scales)])
    for source in ["f32", "f16x2", "bf16x2"]:
        t = source.replace("x2", "")
        exact, bits = [f.decode(f.encode(v, t), t) for v in values], [f.encode(v, t) for v in values]
        for mode in ["rn", "rz"]:
            for flags in ["", "satfinite", "relu"]:
                name = ".".join(x for x in ["cvt", mode, flags, "scaled::n1::ue8m0.ue5m3x2", source] if x)
                code = lambda i, s: ue5m3(math.ldexp(exact[i], 127 - s), mode, True)
                two = source == "f32"
                fetch = "ld.global.b32 %f1, [%pi]; ld.global.b32 %f2, [%pi+64]; ld.global.b8 %q1, [%pi+128];" if two else "ld.global.b32 %r1, [%pi]; ld.global.b8 %q1, [%pi+64];"
                inputs = [bits, bits[::-1], scales] if two else [[bits[7 - i] | b << 16 for i, b in enumerate(bits)], scales]
                f.raw(name, fetch + f"{name} %h0, {'%f1, %f2' if two else '%r1'}, %q1; st.global.b16 [%po], %h0;", inputs, [code(i, s) << 8 | code(7 - i, s) for i, s in enumerate(scales)])


def narrowScaled(f):
    """.scaled::n1 with .relu and from pairs, .scaled::n2 with .relu and .satfinite: E4M3."""
    values = [0.3, -1.7, 448.0, 12.0, -0.01, 3.3, 96.0, -77.0]
    scales = [127, 128, 120, 130, 125, 126, 129, 127]
    for source in ["f32", "f16x2", "bf16x2"]:
        t = source.replace("x2", "")
        exact, bits = [f.decode(f.encode(v, t), t) for v in values], [f.encode(v, t) for v in values]
        for relu in ["", "relu"]:
            name = ".".join(x for x in ["cvt.rn.satfinite", relu, "scaled::n1::ue8m0.e4m3x2", source] if x)
            def code(i, s, relu=relu, exact=exact):
                return 0 if relu and exact[i] < 0 else f.roundTo(Fraction(exact[i]) * Fraction(2) ** (127 - s), "e4m3")
            two = source == "f32"
            if two and not relu:
                continue
            fetch = "ld.global.b32 %f1, [%pi]; ld.global.b32 %f2, [%pi+64]; ld.global.b8 %q1, [%pi+128];" if two else "ld.global.b32 %r1, [%pi]; ld.global.b8 %q1, [%pi+64];"
            inputs = [bits, bits[::-1], scales] if two else [[bits[7 - i] | b << 16 for i, b in enumerate(bits)], scales]
            f.raw(name, fetch + f"{name} %h0, {'%f1, %f2' if two else '%r1'}, %q1; st.global.b16 [%po], %h0;", inputs, [code(i, s) << 8 | code(7 - i, s) for i, s in enumerate(scales)])
    codes = [0x01, 0x35, 0x81, 0x7E, 0x22, 0xC9, 0x13, 0x40]
    for flags in ["relu", "satfinite", "relu.satfinite"]:
        name = f"cvt.rn.{flags}.scaled::n2::ue8m0.bf16x2.e4m3x2"
        def up(i, s, flags=flags):
            v = f.decode(codes[i], "e4m3")
            return 0 if "relu" in flags and v < 0 else f.roundTo(Fraction(v) * Fraction(2) ** (s - 127), "bf16")
        f.raw(name, f"ld.global.b16 %h1, [%pi]; ld.global.b16 %h2, [%pi+64]; {name} %r0, %h1, %h2; st.global.b32 [%po], %r0;",
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


def register(f, t):
    return {"f32": "%f", "f64": "%d"}.get(t, f.REGISTER[f.BITS[t]])


def compare(f, form, t, columns, expected, isSet, out="u32", third=False, start=0):
    """setp through selp of 5 and 9, or set. Predicate %p1 is the third operand."""
    n, r = f.BITS[t], register(f, t)
    body = "".join(f"ld.global.b{n} {r}{k + 1}, [%pi+{64 * k}];" for k in range(2))
    if third:
        body += f.load("%r9", "b32", 2) + "setp.ne.b32 %p1, %r9, 0;"
        columns = [*columns, THIRD]
    extra = ", %p1" if third else ""
    if isSet:
        width, d = f.BITS[out], register(f, out)
        f.raw(form, body + f"mov.b{width} {d}0, 7; {form} {d}0, {r}1, {r}2{extra}; st.global.b{width} [%po], {d}0;".replace("mov.b32 %f0, 7", "mov.b32 %f0, 0f40000000"), columns, expected)
    else:
        # Starts as the opposite of what most lanes give.
        f.raw(form, body + f"setp.{'eq' if start else 'ne'}.b32 %p3, 0, 0; {form} %p3, {r}1, {r}2{extra}; selp.b32 %r0, 5, 9, %p3; st.global.b32 [%po], %r0;", columns, expected)


def truth(results, form):
    out = [5 if x else 9 for x in results]
    return out, 1 if 9 in out else 0


def comparisons(f):
    for kind, tests in [("b", {k: UNSIGNED[k] for k in ("eq", "ne")}), ("u", UNSIGNED), ("s", ORDER)]:
        for n in [16, 32, 64]:
            t = f"{kind}{n}"
            columns = [[f.mask(v, n) for v in LEFT], [f.mask(v, n) for v in RIGHT]]
            values = [[f.asType(v, t) for v in column] for column in columns]
            for name, g in tests.items():
                for combine, h in COMBINE.items():
                    results = [h(g(x, y), c) for x, y, c in zip(*values, THIRD)]
                    if combine:
                        expected, start = truth(results, name)
                        compare(f, f"setp.{name}.{combine}.{t}", t, columns, expected, False, third=True, start=start)
                    if n == 32 or name in ("ne", "lt"):
                        for d, yes in [("u32", 0xFFFFFFFF), ("s32", 0xFFFFFFFF), ("f32", 0x3F800000)]:
                            if d == "u32" or n == 32 and combine == "":
                                compare(f, ".".join(x for x in ["set", name, combine, d, t] if x), t, columns, [yes if x else 0 for x in results], True, d, third=bool(combine))
    for t in ["f32", "f64", "f16", "bf16"]:
        columns = [[f.encode(v, t) for v in FLOAT_LEFT], [f.encode(v, t) for v in FLOAT_RIGHT]]
        for name, g in floatTests().items():
            for combine, h in COMBINE.items():
                results = [h(g(x, y), c) for x, y, c in zip(FLOAT_LEFT, FLOAT_RIGHT, THIRD)]
                if combine:
                    expected, start = truth(results, name)
                    compare(f, f"setp.{name}.{combine}.{t}", t, columns, expected, False, third=True, start=start)
                if t in ("f32", "f64") or not combine:
                    compare(f, ".".join(x for x in ["set", name, combine, "u32", t] if x), t, columns, [0xFFFFFFFF if x else 0 for x in results], True, third=bool(combine))
        for d, yes in [("s32", 0xFFFFFFFF), ("f32", 0x3F800000)][:2 if t in ("f32", "f64") else 1]:
            for combine in ["", "xor"] if t in ("f32", "f64") else [""]:
                results = [COMBINE[combine](x < y, c) for x, y, c in zip(FLOAT_LEFT, FLOAT_RIGHT, THIRD)]
                compare(f, ".".join(x for x in ["set.lt", combine, d, t] if x), t, columns, [yes if x else 0 for x in results], True, d, third=bool(combine))
    tiny = [[f.encode(v, "f32") for v in [2.0**-130, 1.0, -(2.0**-140), 2.0, 0.0, 1.0, 3.0, 2.0**-127]], [f.encode(v, "f32") for v in [0.0, 2.0, 0.0, 1.0, -0.0, 1.0, 4.0, 2.0**-128]]]
    flush = [[f.flushed(f.decode(b, "f32"), "f32") for b in column] for column in tiny]
    expected, start = truth([x > y for x, y in zip(*flush)], "gt")
    compare(f, "setp.gt.ftz.f32", "f32", tiny, expected, False, start=start)
    expected, start = truth([x > y and c for x, y, c in zip(*flush, THIRD)], "gt")
    compare(f, "setp.gt.and.ftz.f32", "f32", tiny, expected, False, third=True, start=start)
    compare(f, "set.gt.ftz.u32.f32", "f32", tiny, [0xFFFFFFFF if x > y else 0 for x, y in zip(*flush)], True)
    compare(f, "set.gt.or.ftz.u32.f32", "f32", tiny, [0xFFFFFFFF if x > y or c else 0 for x, y, c in zip(*flush, THIRD)], True, third=True)
    halves = [[f.encode(v, "f16") for v in [2.0**-20, 1.0, -(2.0**-16), 2.0, 0.0, 1.0, 3.0, 2.0**-18]], [f.encode(v, "f16") for v in [0.0, 2.0, 0.0, 1.0, -0.0, 1.0, 4.0, 2.0**-19]]]
    flush = [[f.flushed(f.decode(b, "f16"), "f16") for b in column] for column in halves]
    expected, start = truth([x > y for x, y in zip(*flush)], "gt")
    compare(f, "setp.gt.ftz.f16", "f16", halves, expected, False, start=start)
    selections(f)


def selections(f):
    left = [0, 1, -1, 0x7FFF, -5, 0x12345678, -9, 7]
    signs = [1.0, -1.0, 0.0, -0.0, 3.5, -7.25, 2.0**-130, -(2.0**-130)]
    for t in ["f32", "f64"]:
        r, n = register(f, t), f.BITS[t]
        a, b = [f.encode(float(v + 2), t) for v in range(LANES)], [f.encode(-1.5 * (v + 1), t) for v in range(LANES)]
        f.raw(f"selp.{t}", f"ld.global.b{n} {r}1, [%pi]; ld.global.b{n} {r}2, [%pi+64]; setp.gt.u32 %p1, %j, 3; selp.{t} {r}0, {r}1, {r}2, %p1; st.global.b{n} [%po], {r}0;", [a, b], b[:4] + a[4:])
    for t in "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64".split():
        r, n = register(f, t), f.BITS[t]
        a, b = ([f.mask(v, n) for v in f.INT_A], [f.mask(v, n) for v in f.INT_B]) if t[0] != "f" else ([f.encode(float(v + 2), t) for v in range(LANES)], [f.encode(-1.5 * (v + 1), t) for v in range(LANES)])
        fetch = f"ld.global.b{n} {r}1, [%pi]; ld.global.b{n} {r}2, [%pi+64];"
        f.raw(f"slct.{t}.s32", fetch + f"ld.global.b32 %r9, [%pi+128]; slct.{t}.s32 {r}0, {r}1, {r}2, %r9; st.global.b{n} [%po], {r}0;", [a, b, [f.mask(v, 32) for v in left]],
              [x if v >= 0 else y for x, y, v in zip(a, b, left)])
        # Minus zero chooses the first.
        f.raw(f"slct.{t}.f32", fetch + f"ld.global.b32 %f9, [%pi+128]; slct.{t}.f32 {r}0, {r}1, {r}2, %f9; st.global.b{n} [%po], {r}0;", [a, b, [f.encode(v, "f32") for v in signs]],
              [x if v >= 0 else y for x, y, v in zip(a, b, signs)])
    a, b = [10 + i for i in range(LANES)], [30 + i for i in range(LANES)]
    f.raw("slct.ftz.u32.f32", "ld.global.b32 %r1, [%pi]; ld.global.b32 %r2, [%pi+64]; ld.global.b32 %f9, [%pi+128]; slct.ftz.u32.f32 %r0, %r1, %r2, %f9; st.global.b32 [%po], %r0;",
          [a, b, [f.encode(v, "f32") for v in signs]], [x if f.flushed(v, "f32") >= 0 else y for x, y, v in zip(a, b, signs)])


# --- Moves and addresses -----------------------------------------------------------------


def moves(f):
    data = [5, 6, 7, 8, 9, 10, 11, 12]
    for t in ["f32", "f64"]:
        r, n = register(f, t), f.BITS[t]
        bits = [f.encode(1.5 * v, t) for v in data]
        f.raw(f"mov.{t}", f"ld.global.b{n} {r}1, [%pi]; mov.{t} {r}0, {r}1; st.global.b{n} [%po], {r}0;", [bits], bits)
    f.raw("cvta.param::entry.u64", "mov.b64 %rd2, 0; mov.b64 %rd1, in; cvta.param::entry.u64 %rd2, %rd1; ld.b64 %rd3, [%rd2]; add.u64 %rd3, %rd3, %jw; ld.global.b32 %r0, [%rd3]; st.global.b32 [%po], %r0;", [data], data)
    # Where each generic address lies: bit s of the answer stands for the space s of the list.
    spaces = ["global", "shared", "shared::cta", "shared::cluster", "local", "param", "param::entry", "const"]
    places = {"global": "mov.b64 %rd1, %g;", "shared": "mov.u64 %rd1, s; cvta.shared.u64 %rd1, %rd1;", "local": "mov.u64 %rd1, l; cvta.local.u64 %rd1, %rd1;", "param": "mov.b64 %rd1, in; cvta.param.u64 %rd1, %rd1;",
              "const": "mov.u64 %rd1, c; cvta.const.u64 %rd1, %rd1;"}
    for space in spaces:
        body, expected = "mov.b32 %r0, 0;", 0
        for i, (place, address) in enumerate(places.items()):
            body += address + f"setp.{'eq' if i else 'ne'}.b32 %p3, 0, 0; isspacep.{space} %p3, %rd1; selp.b32 %r1, {1 << i}, 0, %p3; or.b32 %r0, %r0, %r1;"
            expected |= (space.split("::")[0] == place) << i
        f.raw(f"isspacep.{space}", body + "st.global.b32 [%po], %r0;", [data], [expected] * LANES)
    f.raw("getctarank.u64", "mov.u64 %rd1, s; cvta.shared.u64 %rd1, %rd1; mov.b32 %r0, 9; getctarank.u64 %r0, %rd1; st.global.b32 [%po], %r0;", [data], [0] * LANES)


# --- Loads and stores -----------------------------------------------------------------------

DATA = [v & WORD for v in [0x1122334455667788, -1, 0x80FF7F0081FE0102, 5, 0xFEDCBA9876543210, 9, 7, 0x0101010101010101]]
POLICY = "createpolicy.fractional.L2::evict_last.b64 %rd30, 0f3F800000;"
TYPES = "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64".split()
EVICT1 = ["L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate"]
EVICT2 = ["L2::evict_first", "L2::evict_last", "L2::evict_normal"]
PREFETCH = ["L2::64B", "L2::128B", "L2::256B"]


def region(space):
    """PTX that makes the address of 32 bytes of the lane's own, and the address."""
    if space.startswith("shared"):
        return "cvt.u32.u64 %r38, %lane; mov.u32 %r39, s; mad.lo.u32 %r38, %r38, 32, %r39;", "%r38"
    if space == "local":
        return "mov.u64 %rd38, l; mad.lo.u64 %rd38, %jw, 4, %rd38;", "%rd38"
    return "mad.lo.u64 %rd38, %lane, 32, %g;", "%rd38"


def plain(space):
    return "shared" if space.startswith("shared") else "local" if space == "local" else "global"


def words(j):
    return [(DATA[j] + k * 0x0123456789ABCDEF) & WORD for k in range(4)]


def elementsOf(j, n, count):
    data = b"".join(w.to_bytes(8, "little") for w in words(j))
    return [int.from_bytes(data[i * n // 8:(i + 1) * n // 8], "little") for i in range(count)]


def mixed(values):
    h = 0
    for v in values:
        h = (h * 31 + v) & WORD
    return h


def fold(f, register, t):
    """PTX that adds the unsigned bits of a register to the mix in %rd29."""
    n = f.BITS[t]
    move = f"mov.b64 %rd28, {register};" if n == 64 else f"mov.b32 %r37, {register}; cvt.u64.u32 %rd28, %r37;" if n == 32 else \
        f"and.b16 {register}, {register}, 255; cvt.u64.u16 %rd28, {register};" if n == 8 else f"cvt.u64.u16 %rd28, {register};"
    return move + "mul.lo.u64 %rd29, %rd29, 31; add.u64 %rd29, %rd29, %rd28;"


FILL = "".join(f"add.u64 %rd2{k}, %rd20, {k * 0x0123456789ABCDEF};" for k in range(1, 4))


def load(f, form, space, t, vec=1, hint=False):
    prepare, base = region(space)
    body = prepare + (POLICY if hint else "") + "ld.global.b64 %rd20, [%pi];" + FILL
    body += "".join(f"st.{plain(space)}.b64 [{base}+{8 * k}], %rd2{k};" for k in range(4)) + "mov.b64 %rd29, 0;"
    tail = f", [{base}]" + (", %rd30" if hint else "") + ";"
    if t == "b128":
        body += f"mov.b128 %x0, {{%jw, %jw}}; {form} %x0{tail} mov.b128 {{%rd10, %rd11}}, %x0;" + fold(f, "%rd10", "b64") + fold(f, "%rd11", "b64")
        expected = [mixed(elementsOf(j, 64, 2)) for j in range(LANES)]
    else:
        r = register(f, t)
        names = [f"{r}{8 + i}" for i in range(vec)]
        body += f"{form} " + (names[0] if vec == 1 else "{" + ", ".join(names) + "}") + tail + "".join(fold(f, name, t) for name in names)
        expected = [mixed(elementsOf(j, f.BITS[t], vec)) for j in range(LANES)]
    f.raw(form, body + "st.global.b64 [%po], %rd29;", [DATA], expected)


def store(f, form, space, t, vec=1, hint=False):
    prepare, base = region(space)
    body = prepare + (POLICY if hint else "") + "ld.global.b64 %rd20, [%pi];" + FILL + "mov.b64 %rd29, 0; mov.b64 %rd27, 0;"
    body += "".join(f"st.{plain(space)}.b64 [{base}+{8 * k}], %rd27;" for k in range(4))
    scratch = "mad.lo.u64 %rd37, %lane, 32, %g; add.u64 %rd37, %rd37, 2048;" + "".join(f"st.global.b64 [%rd37+{8 * k}], %rd2{k};" for k in range(4))
    count, n = (2, 64) if t == "b128" else (vec, f.BITS[t])
    tail = ", %rd30;" if hint else ";"
    if t == "b128":
        body += f"mov.b128 %x0, {{%rd20, %rd21}}; {form} [{base}], %x0{tail}"
    else:
        r = register(f, t)
        names = [f"{r}{8 + i}" for i in range(vec)]
        body += scratch + "".join(f"ld.global.b{n} {name}, [%rd37+{i * n // 8}];" for i, name in enumerate(names))
        body += f"{form} [{base}], " + (names[0] if vec == 1 else "{" + ", ".join(names) + "}") + tail
    body += "".join(f"ld.{plain(space)}.b64 %rd1{k}, [{base}+{8 * k}];" + fold(f, f"%rd1{k}", "b64") for k in range(4))
    expected = []
    for j in range(LANES):
        data = b"".join(v.to_bytes(n // 8, "little") for v in elementsOf(j, n, count)).ljust(32, b"\0")
        expected.append(mixed([int.from_bytes(data[8 * k:8 * k + 8], "little") for k in range(4)]))
    f.raw(form, body + "st.global.b64 [%po], %rd29;", [DATA], expected)


def loads(f):
    for cache in ["ca", "cg", "cs", "lu", "cv"]:
        load(f, f"ld.global.{cache}.b32", "global", "b32")
    load(f, "ld.weak.global.b32", "global", "b32")
    load(f, "ld.weak.b64", "global", "b64")
    for space in ["shared::cta", "shared::cluster"]:
        load(f, f"ld.{space}.b32", space, "b32")
    f.raw("ld.param::entry.b64", "ld.param::entry.b64 %rd1, [in]; add.u64 %rd1, %rd1, %jw; ld.global.b64 %rd0, [%rd1]; st.global.b64 [%po], %rd0;", [DATA], DATA)
    load(f, "ld.global.b128", "global", "b128")
    for prefix, kinds in [("ld.global", ""), ("ld.relaxed.gpu.global", ""), ("ld.global.nc", "")]:
        for e in EVICT1 + PREFETCH:
            load(f, f"{prefix}.{e}.b32", "global", "b32")
        for e in EVICT2:
            load(f, f"{prefix}.{e}.v4.b64", "global", "b64", 4)
        load(f, f"{prefix}.L2::cache_hint.b32", "global", "b32", hint=True)
    for order in ["relaxed", "acquire"]:
        for scope in ["cta", "cluster", "gpu", "sys"]:
            load(f, f"ld.{order}.{scope}.global.u32", "global", "u32")
            for space in ["shared", "shared::cta", "shared::cluster"]:
                load(f, f"ld.{order}.{scope}.{space}.u32", space, "u32")
        load(f, f"ld.{order}.gpu.b32", "global", "b32")
    for prefix, space in [("ld.relaxed.gpu.global", "global"), ("ld.volatile.global", "global"), ("ld.global.nc", "global")]:
        for t in TYPES:
            load(f, f"{prefix}.{t}", space, t)
        for vec, t in [(2, "b32"), (4, "b32"), (8, "b32"), (2, "b64"), (4, "b16")]:
            load(f, f"{prefix}.v{vec}.{t}", space, t, vec)
    for space in ["shared", "shared::cta", "shared::cluster", "local"]:
        load(f, f"ld.volatile.{space}.b32", space, "b32")
    load(f, "ld.volatile.b32", "global", "b32")
    for p in PREFETCH:
        load(f, f"ld.volatile.global.{p}.b32", "global", "b32")
    for t in TYPES:
        load(f, f"ld.mmio.relaxed.sys.global.{t}", "global", t)
    load(f, "ld.mmio.relaxed.sys.b32", "global", "b32")
    for cache in ["ca", "cg", "cs"]:
        load(f, f"ld.global.{cache}.nc.b32", "global", "b32")
    # Results of functions, by parts.
    call = "{{ .param .b64 a; .param .b64 b; ld.global.b64 %rd1, [%pi]; st.param.b64 [a], %rd1; call.uni (b), same, (a); {} }}"
    f.raw("ld.param.v2.b32", "mov.b64 %rd29, 0;" + call.format("ld.param.v2.b32 {%r8, %r9}, [b];") + fold(f, "%r8", "b32") + fold(f, "%r9", "b32") + "st.global.b64 [%po], %rd29;", [DATA],
          [mixed(elementsOf(j, 32, 2)) for j in range(LANES)])
    f.raw("ld.param.v2.b8", "mov.b64 %rd29, 0;" + call.format("ld.param.v2.b8 {%h8, %h9}, [b];") + fold(f, "%h8", "b8") + fold(f, "%h9", "b8") + "st.global.b64 [%po], %rd29;", [DATA],
          [mixed(elementsOf(j, 8, 2)) for j in range(LANES)])
    f.raw("ld.param.v4.b32", "mov.b64 %rd29, 0; ld.global.b64 %rd20, [%pi];" + FILL + "{ .param .align 16 .b8 a[16]; .param .align 16 .b8 b[16]; st.param.v2.b64 [a], {%rd20, %rd21};"
          "call.uni (b), same16, (a); ld.param.v4.b32 {%r8, %r9, %r10, %r11}, [b]; }" + "".join(fold(f, f"%r{8 + i}", "b32") for i in range(4)) + "st.global.b64 [%po], %rd29;", [DATA],
          [mixed(elementsOf(j, 32, 4)) for j in range(LANES)])


def stores(f):
    for cache in ["wb", "cg", "cs", "wt"]:
        store(f, f"st.global.{cache}.b32", "global", "b32")
    store(f, "st.weak.global.b32", "global", "b32")
    store(f, "st.weak.b64", "global", "b64")
    store(f, "st.global.b128", "global", "b128")
    for space in ["shared::cta", "shared::cluster"]:
        store(f, f"st.{space}.b32", space, "b32")
    for prefix in ["st.global", "st.relaxed.gpu.global"]:
        for e in EVICT1:
            store(f, f"{prefix}.{e}.b32", "global", "b32")
        for e in EVICT2:
            store(f, f"{prefix}.{e}.v4.b64", "global", "b64", 4)
        store(f, f"{prefix}.L2::cache_hint.b32", "global", "b32", hint=True)
    for order in ["relaxed", "release"]:
        for scope in ["cta", "cluster", "gpu", "sys"]:
            store(f, f"st.{order}.{scope}.global.u32", "global", "u32")
            for space in ["shared", "shared::cta", "shared::cluster"]:
                store(f, f"st.{order}.{scope}.{space}.u32", space, "u32")
        store(f, f"st.{order}.gpu.b32", "global", "b32")
    for prefix in ["st.relaxed.gpu.global", "st.volatile.global"]:
        for t in TYPES:
            store(f, f"{prefix}.{t}", "global", t)
        for vec, t in [(2, "b32"), (4, "b32"), (8, "b32"), (2, "b64"), (4, "b16")]:
            store(f, f"{prefix}.v{vec}.{t}", "global", t, vec)
    for space in ["shared", "shared::cta", "shared::cluster", "local"]:
        store(f, f"st.volatile.{space}.b32", space, "b32")
    store(f, "st.volatile.b32", "global", "b32")
    for t in TYPES:
        store(f, f"st.mmio.relaxed.sys.global.{t}", "global", t)
    store(f, "st.mmio.relaxed.sys.b32", "global", "b32")


# --- Atomics ---------------------------------------------------------------------------------


def atomic(f, form, space, t, start, operand, expected, vec=1, hint=False, other=None):
    """Each lane has its own words: three times what came back plus what is there."""
    prepare, base = region(space)
    isAtom, n = form.startswith("atom"), f.BITS.get(t, 128)
    r = register(f, t)
    body = prepare + (POLICY if hint else "") + "mov.b64 %rd29, 0;"
    for i in range(vec):
        body += f"ld.global.b{n} {r}{8 + i}, [%pi+{64 * i}]; st.{plain(space)}.b{n} [{base}+{i * n // 8}], {r}{8 + i}; ld.global.b{n} {r}{16 + i}, [%pi+{64 * (vec + i)}];"
    inputs = [*start, *operand]
    group = lambda at: f"{r}{at}" if vec == 1 and ".v" not in form else "{" + ", ".join(f"{r}{at + i}" for i in range(vec)) + "}"
    tail = ""
    if other:
        body += f"ld.global.b{n} {r}34, [%pi+{64 * 2 * vec}];"
        inputs.append(other)
        tail = f", {r}34"
    clear = "".join(f"mov.b{n} {r}{24 + i}, {'0f00000000' if r == '%f' else '0'};" if n != 64 or r != "%d" else f"mov.b64 {r}{24 + i}, 0d0000000000000000;" for i in range(vec))
    body += clear + f"{form} " + (f"{group(24)}, " if isAtom else "") + f"[{base}], {group(16)}{tail}" + (", %rd30;" if hint else ";")
    for i in range(vec):
        if isAtom:
            body += fold(f, f"{r}{24 + i}", t)
        body += f"ld.{plain(space)}.b{n} {r}{8 + i}, [{base}+{i * n // 8}];" + fold(f, f"{r}{8 + i}", t)
    out = []
    for j in range(LANES):
        h = []
        for i in range(vec):
            h += ([start[i][j]] if isAtom else []) + [expected[i][j]]
        out.append(mixed(h))
    f.raw(form, body + "st.global.b64 [%po], %rd29;", inputs, out)


def atomics(f):
    a, b = [1, 2, 3, 4, 5, 6, 7, 8], [9, 2, 4, 4, 0, 6, 3, 1]
    total = [x + y for x, y in zip(a, b)]
    single = lambda form, space="global", t="u32", hint=False: atomic(f, form, space, t, [a], [b], [total], hint=hint)
    for op, orders in [("atom", ["relaxed", "acquire", "release", "acq_rel"]), ("red", ["relaxed", "release"])]:
        for order in orders:
            for scope in ["cta", "cluster", "gpu", "sys"]:
                single(f"{op}.{order}.{scope}.global.add.u32")
        for space in ["shared", "shared::cta", "shared::cluster"]:
            single(f"{op}.{space}.add.u32", space)
            single(f"{op}.relaxed.cta.{space}.add.u32", space)
        single(f"{op}.add.u32")
        single(f"{op}.global.add.L2::cache_hint.u32", hint=True)
        wide = [[f.mask(v, 64) for v in c] for c in ([-5, 7, 1 << 40, 0, 3, -1, 9, 2], [4, -8, 1 << 39, -1, 3, 1, 9, 5])]
        atomic(f, f"{op}.global.min.s64", "global", "s64", [wide[0]], [wide[1]], [[f.mask(min(f.signed(x, 64), f.signed(y, 64)), 64) for x, y in zip(*wide)]])
        atomic(f, f"{op}.global.max.u64", "global", "u64", [wide[0]], [wide[1]], [[max(x, y) for x, y in zip(*wide)]])
        for name, g in [("and", lambda x, y: x & y), ("or", lambda x, y: x | y), ("xor", lambda x, y: x ^ y)]:
            atomic(f, f"{op}.global.{name}.b64", "global", "b64", [wide[0]], [wide[1]], [[g(x, y) for x, y in zip(*wide)]])
        atomic(f, f"{op}.global.inc.u32", "global", "u32", [a], [b], [[0 if x >= y else x + 1 for x, y in zip(a, b)]])
        atomic(f, f"{op}.global.dec.u32", "global", "u32", [a], [b], [[y if x == 0 or x > y else x - 1 for x, y in zip(a, b)]])
        doubles = [[f.encode(1.5 * v, "f64") for v in c] for c in (a, b, total)]
        atomic(f, f"{op}.global.add.f64", "global", "f64", [doubles[0]], [doubles[1]], [doubles[2]])
        for t in ["f16", "bf16", "f16x2", "bf16x2"]:
            h = t.replace("x2", "")
            pair = lambda c, k=0.5: [f.encode(k * v, h) | (f.encode(2 * k * v, h) << 16 if t != h else 0) for v in c]
            at = lambda form, space="global", hint=False, t=t, pair=pair: atomic(f, form, space, t, [pair(a)], [pair(b)], [pair(total)], hint=hint)
            at(f"{op}.global.add.noftz.{t}")
            if t in ("f16x2", "bf16"):
                for space in ["shared", "shared::cta", "shared::cluster"]:
                    at(f"{op}.{space}.add.noftz.{t}", space)
            if t == "bf16x2":
                for order in orders:
                    for scope in ["cta", "cluster", "gpu", "sys"]:
                        at(f"{op}.{order}.{scope}.global.add.noftz.{t}")
                at(f"{op}.global.add.noftz.L2::cache_hint.{t}", hint=True)
            for vec in [2, 4, 8]:
                if vec * f.BITS[t] > 128:
                    continue
                rotate = lambda c, i: c[i:] + c[:i]
                starts, operands = [rotate(a, i) for i in range(vec)], [rotate(b, i) for i in range(vec)]
                for name, g in [("add", lambda x, y: x + y), ("min", min), ("max", max)]:
                    atomic(f, f"{op}.global.{name}.noftz.v{vec}.{t}", "global", t, [pair(c) for c in starts], [pair(c) for c in operands],
                           [pair([g(x, y) for x, y in zip(p, q)]) for p, q in zip(starts, operands)], vec)
                if t == "f16x2" and vec == 2:
                    sums = [pair([x + y for x, y in zip(p, q)]) for p, q in zip(starts, operands)]
                    for order in orders:
                        for scope in ["cta", "cluster", "gpu", "sys"]:
                            atomic(f, f"{op}.{order}.{scope}.global.add.noftz.v2.{t}", "global", t, [pair(c) for c in starts], [pair(c) for c in operands], sums, vec)
                    atomic(f, f"{op}.global.add.noftz.L2::cache_hint.v2.{t}", "global", t, [pair(c) for c in starts], [pair(c) for c in operands], sums, vec, hint=True)
        floats = lambda c: [f.encode(0.25 * v, "f32") for v in c]
        for vec in [2, 4]:
            starts, operands = [a[i:] + a[:i] for i in range(vec)], [b[i:] + b[:i] for i in range(vec)]
            sums = [floats([x + y for x, y in zip(p, q)]) for p, q in zip(starts, operands)]
            make = lambda form, hint=False: atomic(f, form, "global", "f32", [floats(c) for c in starts], [floats(c) for c in operands], sums, vec, hint=hint)
            make(f"{op}.global.add.v{vec}.f32")
            if vec == 2:
                for order in orders:
                    for scope in ["cta", "cluster", "gpu", "sys"]:
                        make(f"{op}.{order}.{scope}.global.add.v2.f32")
                make(f"{op}.global.add.L2::cache_hint.v2.f32", hint=True)
    wideAtomics(f)
    swap = [21, 22, 23, 24, 25, 26, 27, 28]
    atomic(f, "atom.global.cas.b16", "global", "b16", [a], [b], [[s if x == y else x for x, y, s in zip(a, b, swap)]], other=swap)


def wideAtomics(f):
    """Exchanges of 16 bytes: three times what came back plus what is there, low halves."""
    a, b, c = [1, 2, 3, 4, 5, 6, 7, 8], [9, 2, 4, 4, 0, 6, 3, 1], [21, 22, 23, 24, 25, 26, 27, 28]
    start = "mad.lo.u64 %rd38, %lane, 32, %g; ld.global.b64 %rd1, [%pi]; ld.global.b64 %rd2, [%pi+64]; ld.global.b64 %rd3, [%pi+128]; st.global.b64 [%rd38], %rd1; mov.b64 %rd9, 5; st.global.b64 [%rd38+8], %rd9;"
    end = "mov.b128 {%rd4, %rd5}, %x0; ld.global.b64 %rd6, [%rd38]; mad.lo.u64 %rd0, %rd4, 3, %rd6; st.global.b64 [%po], %rd0;"
    f.raw("atom.global.exch.b128", start + "mov.b128 %x0, {%rd9, %rd9}; mov.b128 %x1, {%rd2, %rd3}; atom.global.exch.b128 %x0, [%rd38], %x1;" + end, [a, b, c], [3 * x + y for x, y in zip(a, b)])
    f.raw("atom.global.cas.b128", start + ".reg .b128 %old, %new; mov.b128 %x0, {%rd9, %rd9}; mov.b128 %old, {%rd2, %rd9}; mov.b128 %new, {%rd3, %rd9}; atom.global.cas.b128 %x0, [%rd38], %old, %new;" + end,
          [a, b, c], [3 * x + (z if x == y else x) for x, y, z in zip(a, b, c)])


# --- Control -----------------------------------------------------------------------------------


def control(f):
    data = [5, 6, 7, 8, 9, 10, 11, 12]
    for t, r in [("u64", "%rd"), ("u32", "%r")]:
        # Two allocations lie apart; what was given back is given again.
        f.raw(f"alloca.{t}", f"mov.{t} {r}11, 0; mov.{t} {r}12, 0; alloca.{t} {r}11, 16, 16; ld.global.b32 %r1, [%pi]; st.local.b32 [{r}11+4], %r1; alloca.{t} {r}12, 16;"
              f"st.local.b32 [{r}12+4], 99; ld.local.b32 %r0, [{r}11+4]; st.global.b32 [%po], %r0;", [data], data)
        for form, used in [("stacksave", "stackrestore"), ("stackrestore", "stacksave")]:
            f.raw(f"{form}.{t}", f"mov.{t} {r}11, 0; alloca.{t} {r}14, 8; stacksave.{t} {r}11; alloca.{t} {r}12, 32; stackrestore.{t} {r}11; alloca.{t} {r}13, 32;"
                  f"sub.{t} {r}14, {r}12, {r}13; st.global.{t} [%po], {r}14;", [data], [0] * LANES)
    f.raw("brx.idx.uni", "mov.b32 %r0, 9; mov.b32 %r1, 1; ts: .branchtargets even, odd; brx.idx.uni %r1, ts; even: mov.b32 %r0, 4; bra done; odd: mov.b32 %r0, 5; done: st.global.b32 [%po], %r0;", [data], [5] * LANES)
    f.raw("ret.uni", "st.global.b32 [%po], 1; ret.uni; st.global.b32 [%po], 2;", [data], [1] * LANES)
    # Two halves of the warp arrive apart from each other: only with the barrier is the store seen.
    late = "mov.u32 %r9, s; setp.lt.u32 %p1, %jj, 16; mov.b32 %r1, 0; st.shared.b32 [%r9], %r1; bar.warp.sync 0xFFFFFFFF; @%p1 bra join; mov.b32 %r1, 40; wait: sub.u32 %r1, %r1, 1; setp.ne.u32 %p2, %r1, 0;"\
        "@%p2 bra wait; st.shared.b32 [%r9], 77; join: "
    for form in ["bar.cta.sync", "barrier.cta.sync", "barrier.sync", "barrier.sync.aligned", "barrier.cta.sync.aligned"]:
        f.raw(form, late + f"{form} 0; ld.shared.b32 %r0, [%r9]; st.global.b32 [%po], %r0;", [data], [77] * LANES)
    for op, text, value in [("popc.aligned.u32", "mov.b32 %r0, 0; {} %r0, 1, %p1;", 20), ("and.aligned.pred", "setp.eq.b32 %p2, 0, 0; {} %p2, 1, %p1; selp.b32 %r0, 5, 9, %p2;", 9),
                            ("or.aligned.pred", "setp.ne.b32 %p2, 0, 0; {} %p2, 1, %p1; selp.b32 %r0, 5, 9, %p2;", 5)]:
        for prefix in ["barrier.red", "barrier.cta.red"]:
            form = f"{prefix}.{op}"
            f.raw(form, "setp.gt.u32 %p1, %j, 2;" + text.format(form) + "st.global.b32 [%po], %r0;", [data], [value] * LANES)
    f.raw("match.any.sync.b64", "mov.b32 %r0, 0; match.any.sync.b64 %r0, %jw, 0xFFFFFFFF; st.global.b32 [%po], %r0;", [data], [0x01010101 << j for j in range(LANES)])
    f.raw("match.all.sync.b64", "mov.b32 %r0, 77; mov.b64 %rd1, 5; match.all.sync.b64 %r0|%p1, %rd1, 0xFFFFFFFF; st.global.b32 [%po], %r0;", [data], [0xFFFFFFFF] * LANES)
