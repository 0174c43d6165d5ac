# ===- float_cases.py - arithmetic of every width --------------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#

import math

from form_case import LANES, apply, load, raw
from formats import CANONICAL, FORMATS, arithmetic, decode, encode


def addAll():
    floatForms()


# --- Floats -----------------------------------------------------------------------

# Arguments and what an H200 gave for them (test/Integration/silicon/mufu.py).
APPROXIMATE = {
    "rcp.approx.f32": ([0x411c76e6, 0x456d5e75, 0x389b2e00, 0xc729f519, 0xb25cc770, 0xb7a62a58, 0x14e2b6, 0x7eafbd56],
        [0x3dd16d82, 0x398a0bf4, 0x46532962, 0xb7c0cd1e, 0xcc946b7d, 0xc745337b, 0x7f800000, 0x5d3a96]),
    "rcp.approx.ftz.f32": ([0x3643f71b, 0x3346be51, 0xb2b51072, 0xbc2aa953, 0x448544b5, 0xc9fca18c, 0x82905, 0x7ef5a404],
        [0x48a7369c, 0x4ba4e03b, 0xcc34f975, 0xc2c00183, 0x3a75e139, 0xb501b4fa, 0x7f800000, 0x0]),
    "sqrt.approx.f32": ([0x42a7f66e, 0x432d9915, 0x3d87143d, 0x3addbed9, 0x4af7836b, 0x37866375, 0x6e7d12, 0x7eb84cd8],
        [0x4112a048, 0x4152cf7f, 0x3e837ded, 0x3d28794b, 0x4531fe5a, 0x3b8327c5, 0x1fedd843, 0x5f19977c]),
    "sqrt.approx.ftz.f32": ([0x3a63a50f, 0x38dfa011, 0x32d50945, 0x46802381, 0x3a5766bf, 0x3ab3b594, 0x19c676, 0x7ed772b6],
        [0x3cf1680b, 0x3c292fb7, 0x392521d6, 0x430011bf, 0x3cead32e, 0x3d17aaad, 0x0, 0x5f261077]),
    "rsqrt.approx.f32": ([0x3bee0f8e, 0x3b46d048, 0x4610a4ef, 0x496f3fd8, 0x3dee5734, 0x34c89df2, 0x7175d0, 0x7f2d9957],
        [0x413bb744, 0x41913f36, 0x3c2a4941, 0x3a8467b1, 0x403b9b0b, 0x44cc7c1f, 0x5f07f451, 0x1f9b700d]),
    "rsqrt.approx.ftz.f32": ([0x4703280c, 0x3e6d182f, 0x423190f3, 0x39fa8681, 0x37b1b3b4, 0x39ee4008, 0x3f2994, 0x7f0ffc3a],
        [0x3bb2d3ed, 0x40050161, 0x3e19b104, 0x4236fc8b, 0x43594500, 0x423ba42a, 0x7f800000, 0x1faaace7]),
    "ex2.approx.f32": ([0x3c71740d, 0xc116d4d3, 0xc1dcf961, 0xbcc58dbe, 0xc176adff, 0x3fd03f10, 0x14520, 0x7f15e922],
        [0x3f815071, 0x3abe6b82, 0x31a65e2b, 0x3f7bc1a3, 0x37bfacde, 0x4045aa9f, 0x3f800000, 0x7f800000]),
    "ex2.approx.ftz.f32": ([0xbd29cff9, 0xbf49f4cb, 0x3f80c653, 0xc19195fe, 0xc0400c10, 0xbc233b88, 0x19c676, 0x7f56398c],
        [0x3f78bf86, 0x3f142b7e, 0x400089c2, 0x365f221b, 0x3dffde90, 0x3f7e3cfa, 0x3f800000, 0x7f800000]),
    "lg2.approx.f32": ([0x448f97d2, 0x403a01af, 0x44cde661, 0x4575e12f, 0x3c2a88c0, 0x3e7a99b7, 0x29c56d, 0x7f0457f2],
        [0x4122a74a, 0x3fc504d4, 0x412af908, 0x413f11a5, 0xc0d2c130, 0xc001f7e2, 0xc2ff3b2b, 0x42fe18a6]),
    "lg2.approx.ftz.f32": ([0x3865b37b, 0x3998d00c, 0x387ff9fa, 0x45d13fc2, 0x3ffd9090, 0x479b41f1, 0x47939e, 0x7f75a9e6],
        [0xc162808e, 0xc13be8fa, 0xc160008a, 0x414b5861, 0x3f7c7844, 0x41823a68, 0xff800000, 0x42ffe18e]),
    "sin.approx.f32": ([0xbeb87b92, 0x4000b431, 0x3d553404, 0xbe49d087, 0x3e223bd4, 0x3c10d24e, 0x377e89, 0x7eeb1544],
        [0xbeb4843f, 0x3f67982b, 0x3d551b40, 0xbe4882b0, 0x3e218e49, 0x3c10d1aa, 0x0, 0x0]),
    "sin.approx.ftz.f32": ([0xbdaa90c8, 0xbda02183, 0x420ef50e, 0x3f6f22b8, 0x3df43fd0, 0x40b2d428, 0x3a72f9, 0x7f2512d9],
        [0xbdaa5e4b, 0xbd9ff7c3, 0xbf6cdf87, 0x3f4dd811, 0x3df3aba9, 0xbf23e59a, 0x0, 0x0]),
    "cos.approx.f32": ([0xbda7c2aa, 0xbc734420, 0x3e2ed3c3, 0xc1fcc796, 0x402e9b49, 0x3c9e2cea, 0x700f57, 0x7ea07409],
        [0x3f7f2440, 0x3f7ff8c8, 0x3f7c472d, 0x3f7bcb35, 0xbf6a7030, 0x3f7ff3c9, 0x3f800000, 0x3f800000]),
    "cos.approx.ftz.f32": ([0xbed7427d, 0x3eaad27f, 0x3f74164b, 0xbfc01231, 0xbcd31748, 0xbd5bafbc, 0x732293, 0x7efdcd0e],
        [0x3f69b4b8, 0x3f71e22e, 0x3f14303a, 0x3d8fbc50, 0x3f7fea3e, 0x3f7fa1c1, 0x3f800000, 0x3f800000]),
    "tanh.approx.f32": ([0x3b308a48, 0x4038377d, 0xbf299703, 0x3bd50fa0, 0x3f12db4a, 0xbfc487dc, 0xbed07ce1, 0x3fbd4725],
        [0x3b308a48, 0x3f7e62f6, 0xbf147ac3, 0x3bd50f0e, 0x3f049e11, 0xbf694d7d, 0xbec5ae44, 0x3f66b75b]),
    "ex2.approx.f16": ([0xac94, 0xb53f, 0x4ae9, 0xc4ce, 0x4790, 0x3563, 0xc89c, 0x7e01],
        [0x3b9c, 0x3a5f, 0x7310, 0x2894, 0x59e8, 0x3d0d, 0x16df, 0x7fff]),
    "tanh.approx.f16": ([0x3558, 0xb400, 0x3f29, 0x369a, 0x37a0, 0x3a8d, 0xb7af, 0x7e01],
        [0x3527, 0xb3d6, 0x3b90, 0x3640, 0x3718, 0x3965, 0xb724, 0x7fff]),
    "ex2.approx.ftz.bf16": ([0x3e52, 0x3f83, 0x3f64, 0x3ce8, 0x3c7f, 0x3d59, 0x40da, 0x7fc1],
        [0x3f93, 0x4002, 0x3fed, 0x3f82, 0x3f81, 0x3f84, 0x42e0, 0x7fff]),
    "tanh.approx.bf16": ([0xc05e, 0x40a9, 0x3e92, 0xbcfa, 0x3f46, 0x3fd2, 0xbdef, 0x7fc1],
        [0xbf7f, 0x3f7f, 0x3e8e, 0xbcf9, 0x3f26, 0x3f6d, 0xbded, 0x7fff]),
}


F_A = [1.0, -2.5, 0.1, 3.0e38, 1e-40, -0.0, math.inf, math.nan]
F_B = [3.0, 0.3, -0.7, 3.0e38, 3e-39, -0.0, -1.0, 2.0]
F_C = [1e-8, -0.75, 0.07, -math.inf, 1e-41, 0.0, 2.0, 1.0]
OUT_OF_BOUNDS = 0x7FF7  # all from an H200's bits: of either sign, and an addend is a NaN like others
H_A = [1.0, -2.5, 0.1, 60000.0, 3e-6, -0.0, math.inf, math.nan]
H_B = [3.0, 0.3, -0.7, 50000.0, 5e-6, -0.0, -1.0, 2.0]
H_C = [1e-3, -0.75, 0.07, 1.0, 1e-7, 0.0, 2.0, 1.0]


def flushed(v, t):
    e, m = FORMATS[t]
    return math.copysign(0.0, v) if v == v and abs(v) < math.ldexp(1, 2 - (1 << (e - 1))) else v


def flushedBits(b, t):
    e, m = FORMATS[t]
    return b if b >> m & ((1 << e) - 1) else b & (1 << (e + m))


def saturated(b, t):
    v = decode(b, t)
    return encode(0.0 if v != v or v <= 0 else min(v, 1.0), t)


def floatForm(form, t, op, columns, mode="rn", ftz=False, sat=False, relu=False):
    e, m = FORMATS[t]
    n = 1 + e + m
    values = [[decode(encode(v, t), t) for v in column] for column in columns]
    expected = []
    for i in range(LANES):
        operands = [flushed(c[i], t) if ftz else c[i] for c in values]
        bits = arithmetic(op, t, mode, *operands)
        if ftz:
            bits = flushedBits(bits, t)
        if sat:
            bits = saturated(bits, t)
        if relu and not decode(bits, t) != decode(bits, t):
            bits = bits if decode(bits, t) > 0 else 0
        expected.append(bits)
    r = {16: "%h", 32: "%f", 64: "%d"}[n]
    body = "".join(f"ld.global.b{n} {r}{k + 1}, [%pi+{64 * k}];" for k in range(len(columns)))
    names = ", ".join(f"{r}{k + 1}" for k in range(len(columns)))
    raw(form, body + f"{form} {r}0, {names}; st.global.b{n} [%po], {r}0;", [[encode(v, t) for v in c] for c in columns], expected)


def packedForm(form, t, op, columns, relu=False, ftz=False, sat=False, mode="rn"):
    """f16x2, bf16x2 and f32x2: the second half takes the lanes in reverse."""
    e, m = FORMATS[t]
    n = 1 + e + m
    bits = [[encode(v, t) for v in column] for column in columns]
    expected = []
    for i in range(LANES):
        parts = []
        for j in (i, LANES - 1 - i):
            operands = [decode(c[j], t) for c in bits]
            operands = [flushed(v, t) for v in operands] if ftz else operands
            b = arithmetic(op, t, mode, *operands)
            b = flushedBits(b, t) if ftz else b
            b = saturated(b, t) if sat else b
            if relu and decode(b, t) == decode(b, t):
                b = b if decode(b, t) > 0 else 0
            parts.append(b)
        expected.append(parts[0] | parts[1] << n)
    packed = [[c[i] | c[LANES - 1 - i] << n for i in range(LANES)] for c in bits]
    r = "%r" if n == 16 else "%rd"
    body = "".join(f"ld.global.b{2 * n} {r}{k + 1}, [%pi+{64 * k}];" for k in range(len(columns)))
    names = ", ".join(f"{r}{k + 1}" for k in range(len(columns)))
    raw(form, body + f"{form} {r}0, {names}; st.global.b{2 * n} [%po], {r}0;", packed, expected)


def outOfBounds(form, t, relu):
    """fma.oob, whole and of pairs: as factor, what TMA writes beyond a tensor's edge makes the result zero."""
    columns = [[encode(v, t) for v in c] for c in (H_A, H_B, H_C)]
    columns[0][0], columns[1][3], columns[2][4], columns[0][5] = OUT_OF_BOUNDS, OUT_OF_BOUNDS | 1 << 15, OUT_OF_BOUNDS, OUT_OF_BOUNDS - 1
    expected = []
    for lane in zip(*columns):
        r = arithmetic("fma", t, "rn", *[decode(b, t) for b in lane])
        negative = decode(r, t) < 0 or r == 1 << 15
        filled = any(v & 0x7FFF == OUT_OF_BOUNDS for v in lane[:2])
        expected.append(0 if filled or relu and negative else r)
    load = "".join(f"ld.global.b16 %h{k + 1}, [%pi+{64 * k}];" for k in range(3))
    raw(form, load + f"{form} %h0, %h1, %h2, %h3; st.global.b16 [%po], %h0;", columns, expected)
    pair = lambda values: [v | w << 16 for v, w in zip(values, values[::-1])]
    load = "".join(f"ld.global.b32 %r{k + 1}, [%pi+{64 * k}];" for k in range(3))
    raw(form + "x2", load + f"{form}x2 %r0, %r1, %r2, %r3; st.global.b32 [%po], %r0;", [pair(c) for c in columns], pair(expected))


def minMax(form, t, columns, largest, nan=False, xorsign=False, absolute=False, ftz=False):
    e, m = FORMATS[t]
    n = 1 + e + m
    expected = []
    for i in range(LANES):
        v = [decode(encode(c[i], t), t) for c in columns]
        v = [flushed(x, t) for x in v] if ftz else v
        negative = math.copysign(1, v[0]) * math.copysign(1, v[1]) < 0
        if xorsign or absolute:
            v = [abs(x) for x in v]
        if nan and any(x != x for x in v):
            expected.append(CANONICAL[t])
            continue
        real = [x for x in v if x == x]
        if not real:
            expected.append(CANONICAL[t])
            continue
        order = lambda x: (x, math.copysign(1, x))
        r = max(real, key=order) if largest else min(real, key=order)
        expected.append(encode(-r if xorsign and negative else r, t))
    r = {16: "%h", 32: "%f", 64: "%d"}[n]
    body = "".join(f"ld.global.b{n} {r}{k + 1}, [%pi+{64 * k}];" for k in range(len(columns)))
    names = ", ".join(f"{r}{k + 1}" for k in range(len(columns)))
    raw(form, body + f"{form} {r}0, {names}; st.global.b{n} [%po], {r}0;", [[encode(v, t) for v in c] for c in columns], expected)


def floatForms():
    two, three = [F_A, F_B], [F_A, F_B, F_C]
    for op, columns in [("add", two), ("sub", two), ("mul", two), ("fma", three)]:
        modes = ["", "rn", "rz", "rm", "rp"] if op != "fma" else ["rn", "rz", "rm", "rp"]
        for mode in modes:
            for flags in ["", "ftz", "sat", "ftz.sat"]:
                name = ".".join(x for x in [op, mode, flags, "f32"] if x)
                floatForm(name, "f32", op, columns, mode or "rn", "ftz" in flags, "sat" in flags)
            finite = [[v if abs(v) < 1e38 or v != v else 7.0 for v in c] for c in columns]
            floatForm(".".join(x for x in [op, mode, "f64"] if x), "f64", op, [[v if v == v else 9.0 for v in c] for c in finite], mode or "rn")
    for mode in ["rn", "rz", "rm", "rp"]:
        for ftz in ["", "ftz"]:
            floatForm(".".join(x for x in ["div", mode, ftz, "f32"] if x), "f32", "div", two, mode, bool(ftz))
            floatForm(".".join(x for x in ["rcp", mode, ftz, "f32"] if x), "f32", "rcp", [[3.0, -7.0, 0.1, 1e30, 9e-39, -0.0, math.inf, math.nan]], mode, bool(ftz))
            floatForm(".".join(x for x in ["sqrt", mode, ftz, "f32"] if x), "f32", "sqrt", [[2.0, 3.0, 0.1, 1e30, 9e-39, -0.0, math.inf, -1.0]], mode, bool(ftz))
        floatForm(f"div.{mode}.f64", "f64", "div", [[1.0, -2.5, 0.1, 5.0, 7.0, -0.0, 2.0, 9.0], [3.0, 0.3, -0.7, 11.0, 3e-39, 1.0, -1.0, 2.0]], mode)
        floatForm(f"rcp.{mode}.f64", "f64", "rcp", [[3.0, -7.0, 0.1, 1e30, 11.0, 13.0, 17.0, 19.0]], mode)
        floatForm(f"sqrt.{mode}.f64", "f64", "sqrt", [[3.0, 7.0, 0.1, 1e30, 11.0, 13.0, 17.0, 19.0]], mode)
    for t in ["f16", "bf16"]:
        flagged = ["", "ftz", "sat", "ftz.sat"] if t == "f16" else [""]
        for op, columns in [("add", [H_A, H_B]), ("sub", [H_A, H_B]), ("mul", [H_A, H_B]), ("fma", [H_A, H_B, H_C])]:
            for mode in (["rn"] if op == "fma" else ["", "rn"]):
                for flags in flagged:
                    name = [x for x in [op, mode, flags] if x]
                    floatForm(".".join(name + [t]), t, op, columns, "rn", "ftz" in flags, "sat" in flags)
                    packedForm(".".join(name + [t + "x2"]), t, op, columns, ftz="ftz" in flags, sat="sat" in flags)
        floatForm(f"fma.rn.relu.{t}", t, "fma", [H_A, H_B, H_C], relu=True)
        packedForm(f"fma.rn.relu.{t}x2", t, "fma", [H_A, H_B, H_C], relu=True)
        for relu in ["", ".relu"]:
            outOfBounds(f"fma.rn.oob{relu}.{t}", t, bool(relu))
    for op, columns in [("add", two), ("sub", two), ("mul", two), ("fma", three)]:
        packedForm(f"{op}.rn.f32x2", "f32", op, columns)
        if op != "fma":
            packedForm(f"{op}.f32x2", "f32", op, columns)
    for t, a, b in [("f32", F_A, F_B), ("f16", H_A, H_B), ("bf16", H_A, H_B)]:
        for name, largest in [("min", False), ("max", True)]:
            minMax(f"{name}.{t}", t, [a, b], largest)
            minMax(f"{name}.NaN.{t}", t, [a, b], largest, nan=True)
            minMax(f"{name}.xorsign.abs.{t}", t, [a, b], largest, xorsign=True)
            if t != "bf16":
                minMax(f"{name}.ftz.{t}", t, [a, b], largest, ftz=True)
    for name, largest in [("min", False), ("max", True)]:
        minMax(f"{name}.f32", "f32", [F_A, F_B, F_C], largest)
        minMax(f"{name}.NaN.f32", "f32", [F_A, F_B, F_C], largest, nan=True)
        minMax(f"{name}.NaN.abs.f32", "f32", [F_A, F_B, F_C], largest, nan=True, absolute=True)
        finite = [[v if v == v else 9.0 for v in c] for c in (F_A, F_B)]
        minMax(f"{name}.f64", "f64", finite, largest)
    for t, n, columns in [("f32", 32, F_A), ("f16", 16, H_A), ("bf16", 16, H_A)]:
        r = "%f" if n == 32 else "%h"
        bits = [encode(v, t) for v in columns]
        top = 1 << (n - 1)
        move = lambda form: f"ld.global.b{n} {r}1, [%pi]; {form} {r}0, {r}1; st.global.b{n} [%po], {r}0;"
        canonical = lambda values: [CANONICAL[t] if decode(b, t) != decode(b, t) else b for b in values]
        raw(f"abs.{t}", move(f"abs.{t}"), [bits], canonical([b & ~top for b in bits]))
        raw(f"neg.{t}", move(f"neg.{t}"), [bits], canonical([b ^ top for b in bits]))
    # NaN of f64 becomes quiet and keeps its sign (an H200's bits; the manual leaves them open).
    quiet = lambda b: b | 1 << 51
    nans = [0x7FF8000000000001, 0xFFF0000000000123, 0xFFF8000000000000, 0x7FF4000000000000] * 2
    for op in ["abs", "neg"]:
        raw(f"{op}.f64", f"ld.global.b64 %d1, [%pi]; {op}.f64 %d0, %d1; st.global.b64 [%po], %d0;", [nans], [quiet(b) for b in nans])
    raw("add.f64", "ld.global.b64 %d1, [%pi]; ld.global.b64 %d2, [%pi+64]; add.f64 %d0, %d1, %d2; st.global.b64 [%po], %d0;",
        [nans, [encode(1.0, "f64")] * 4 + [0xFFF0000000000001] * 4], [quiet(b) for b in nans[:4]] + [0xFFF8000000000001] * 4)
    finite = [encode(v if v == v else 9.0, "f64") for v in F_A]
    raw("abs.f64", "ld.global.b64 %d1, [%pi]; abs.f64 %d0, %d1; st.global.b64 [%po], %d0;", [finite], [b & ~(1 << 63) for b in finite])
    raw("neg.f64", "ld.global.b64 %d1, [%pi]; neg.f64 %d0, %d1; st.global.b64 [%po], %d0;", [finite], [b ^ 1 << 63 for b in finite])
    for t in ["f16x2", "bf16x2"]:
        bits = [0x3C00BC00, 0x80000001, 0x7BFFFBFF, 0x12345678, 0, 0xFFFF0000 & 0x7BFF7BFF, 0x84000400, 0x3555B555]
        apply(f"neg.{t}", t, [t], lambda a: a ^ 0x80008000, [bits])
        apply(f"abs.{t}", t, [t], lambda a: a & 0x7FFF7FFF, [bits])
    for name, (values, out) in APPROXIMATE.items():
        if name.endswith("f32"):
            raw(name, f"ld.global.b32 %f1, [%pi]; {name} %f0, %f1; st.global.b32 [%po], %f0;", [values], out)
            continue
        raw(name, f"ld.global.b16 %h1, [%pi]; {name} %h0, %h1; st.global.b16 [%po], %h0;", [values], out)
        raw(f"{name}x2", f"ld.global.b32 %r1, [%pi]; {name}x2 %r0, %r1; st.global.b32 [%po], %r0;",
            [[b | values[7 - i] << 16 for i, b in enumerate(values)]], [b | out[7 - i] << 16 for i, b in enumerate(out)])
    raw("copysign.f32", "ld.global.b32 %f1, [%pi]; ld.global.b32 %f2, [%pi+64]; copysign.f32 %f0, %f1, %f2; st.global.b32 [%po], %f0;",
        [[encode(v, "f32") for v in [-1.0, 1.0, -0.0, 2.0, -5.0, 1.0, -1.0, 0.0]], [encode(v, "f32") for v in [2.0, 3.0, 4.0, -5.0, -6.0, 7.0, 8.0, 9.0]]],
        [encode(v, "f32") for v in [-2.0, 3.0, -4.0, 5.0, -6.0, 7.0, -8.0, 9.0]])
    tests = {"finite": lambda v: math.isfinite(v), "infinite": math.isinf, "number": lambda v: v == v, "notanumber": lambda v: v != v,
             "normal": lambda v: math.isfinite(v) and (v == 0 or abs(v) >= 2.0**-126), "subnormal": lambda v: 0 < abs(v) < 2.0**-126}
    for name, f in tests.items():
        raw(f"testp.{name}.f32", f"setp.ne.b32 %p3, 0, 0; ld.global.b32 %f1, [%pi]; testp.{name}.f32 %p3, %f1; selp.b32 %r0, 5, 9, %p3; st.global.b32 [%po], %r0;",
            [[encode(v, "f32") for v in F_A]], [5 if f(decode(encode(v, "f32"), "f32")) else 9 for v in F_A])
