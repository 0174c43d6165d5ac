# ===- integer_cases.py - integers, bits and predicates --------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#

import math

from form_case import BITS, LANES, REGISTER, apply, asType, load, mask, raw, signed
from formats import encode


def addAll():
    integerForms()
    bitForms()
    predicateForms()


# --- Integers -------------------------------------------------------------------

INT_A = [0, 1, -1, 0x7FFF, -0x8000, 0x12345678, -0x7FFFFFFFFFFFFFFF, 0x8000000080008000]
INT_B = [1, -1, 3, 0x7FFE, 2, -0x12345678, 0x7FFFFFFFFFFFFFFF, -7]
INT_C = [5, -1, 0, 1, 0x7FFFFFFF, -2, 77, 0x8000000000000000]
SMALL = [0, 1, 7, 15, 16, 31, 40, 100]


def trunc(a, b):
    q = abs(a) // abs(b)
    return -q if (a < 0) != (b < 0) else q


def integerForms():
    for t in "u16 u32 u64 s16 s32 s64".split():
        n = BITS[t]
        apply(f"add.{t}", t, [t, t], lambda a, b: a + b, [INT_A, INT_B])
        apply(f"sub.{t}", t, [t, t], lambda a, b: a - b, [INT_A, INT_B])
        apply(f"mul.lo.{t}", t, [t, t], lambda a, b: a * b, [INT_A, INT_B])
        apply(f"mul.hi.{t}", t, [t, t], lambda a, b, n=n: (a * b) >> n, [INT_A, INT_B])
        apply(f"mad.lo.{t}", t, [t, t, t], lambda a, b, c: a * b + c, [INT_A, INT_B, INT_C])
        apply(f"mad.hi.{t}", t, [t, t, t], lambda a, b, c, n=n: ((a * b) >> n) + c, [INT_A, INT_B, INT_C])
        apply(f"div.{t}", t, [t, t], trunc, [INT_A[:4] + [77, 1000, -9, 12345], INT_B])
        apply(f"rem.{t}", t, [t, t], lambda a, b: a - b * trunc(a, b), [INT_A[:4] + [77, 1000, -9, 12345], INT_B])
        apply(f"min.{t}", t, [t, t], min, [INT_A, INT_B])
        apply(f"max.{t}", t, [t, t], max, [INT_A, INT_B])
        apply(f"sad.{t}", t, [t, t, t], lambda a, b, c: c + abs(a - b), [INT_A, INT_B, INT_C])
        if n < 64:
            wide = t[0] + str(2 * n)
            apply(f"mul.wide.{t}", wide, [t, t], lambda a, b: a * b, [INT_A, INT_B])
            apply(f"mad.wide.{t}", wide, [t, t, wide], lambda a, b, c: a * b + c, [INT_A, INT_B, INT_C])
        if t[0] == "s":
            apply(f"neg.{t}", t, [t], lambda a: -a, [INT_A])
            apply(f"abs.{t}", t, [t], abs, [INT_A])
    clamp = lambda v: max(-2**31, min(2**31 - 1, v))
    edge = [2**31 - 1, -2**31, 5, -5, 2**30, -2**30, 1, 0]
    apply("add.sat.s32", "s32", ["s32", "s32"], lambda a, b: clamp(a + b), [edge, [1, -1, 3, 4, 2**30, -2**31, -1, 0]])
    apply("sub.sat.s32", "s32", ["s32", "s32"], lambda a, b: clamp(a - b), [edge, [-1, 1, 3, 4, -2**30, 2**31 - 1, -1, 0]])
    apply("mul24.lo.s32", "s32", ["s32", "s32"], lambda a, b: signed(a, 24) * signed(b, 24), [INT_A, INT_B])
    apply("mul24.lo.u32", "u32", ["u32", "u32"], lambda a, b: mask(a, 24) * mask(b, 24), [INT_A, INT_B])
    apply("mul24.hi.s32", "s32", ["s32", "s32"], lambda a, b: signed(a, 24) * signed(b, 24) >> 16, [INT_A, INT_B])
    apply("mul24.hi.u32", "u32", ["u32", "u32"], lambda a, b: mask(a, 24) * mask(b, 24) >> 16, [INT_A, INT_B])
    for half, shift in [("lo", 0), ("hi", 16)]:
        for t, cut in [("s32", signed), ("u32", mask)]:
            apply(f"mad24.{half}.{t}", t, [t, t, t],
                  lambda a, b, c, cut=cut, shift=shift: (cut(a, 24) * cut(b, 24) >> shift) + c, [INT_A, INT_B, INT_C])
    most = [2**31 - 1, -2**31, 2**31 - 1, 7, -9, -2**31, 0x7FFFFF, -0x800000]
    apply("mad24.hi.sat.s32", "s32", ["s32", "s32", "s32"],
          lambda a, b, c: clamp((signed(a, 24) * signed(b, 24) >> 16) + c),
          [[0x7FFFFF, 0x7FFFFF, -0x800000, 9, 3, 5, 0x123456, 1], [0x7FFFFF, -0x800000, -3, 1 << 20, 2, -7, 1, 1], most])
    apply("mad.hi.sat.s32", "s32", ["s32", "s32", "s32"], lambda a, b, c: clamp((a * b >> 32) + c),
          [edge, [2**31 - 1, 2**31 - 1, 3, 4, 2**30, -2**31, -1, 7], most])
    for a in "us":
        for b in "us":
            pick = lambda v, at, n, s: (signed if s == "s" else mask)(v >> at, n)
            for half, first in [("lo", 0), ("hi", 16)]:
                apply(f"dp2a.{half}.{a}32.{b}32", "s32", ["u32", "u32", "s32"],
                      lambda x, y, z, a=a, b=b, first=first: z + sum(
                          pick(x, 16 * i, 16, a) * pick(y, first + 8 * i, 8, b) for i in range(2)), [INT_A, INT_B, INT_C])
            def dot(x, y, z, a=a, b=b):
                pick = lambda v, i, s: (signed if s == "s" else mask)(v >> (8 * i), 8)
                return z + sum(pick(x, i, a) * pick(y, i, b) for i in range(4))
            apply(f"dp4a.{a}32.{b}32", "s32", ["u32", "u32", "s32"], dot, [INT_A, INT_B, INT_C])
    for op, f in [("add", lambda a, b: a + b), ("min", min), ("max", max)]:
        for t in "u16x2 s16x2".split():
            def pair(x, y, f=f, t=t):
                pick = (lambda v: signed(v, 16)) if t[0] == "s" else (lambda v: mask(v, 16))
                return mask(f(pick(x), pick(y)), 16) | mask(f(pick(x >> 16), pick(y >> 16)), 16) << 16
            apply(f"{op}.{t}", t, [t, t], pair, [[0x0001FFFF, 0x80007FFF, 0x12345678, 0, 0xFFFF0001, 5, 0x7FFF8000, 9],
                                                [0x00020001, 0x7FFF8000, 0x87654321, 1, 0x00010001, 0x50007, 1, 0x90000]])
    apply("add.sat.u32", "u32", ["u32", "u32"], lambda a, b: min(a + b, 2**32 - 1), [edge, [1, -1, 3, 4, 2**30, -2**31, -1, 0]])
    packed = [[0x0001FFFF, 0x80007FFF, 0x12345678, 0x7F80FF01, 0xFFFF0001, 5, 0x7FFF8080, 9],
              [0x00020001, 0x7FFF8000, 0x87654321, 0x01FF7F80, 0x00010001, 0x50007, 0x0180FF01, 0x90000]]
    wrapped = [("add", lambda a, b: a + b), ("sub", lambda a, b: a - b), ("min", min), ("max", max)]
    for t, names in [("u16x2", "add.sat"), ("s16x2", "add.sat"), ("u8x4", "add add.sat sub sub.sat min max"),
                     ("s8x4", "add add.sat sub sub.sat min max min.relu max.relu")]:
        width = int(t[1:].split("x")[0])
        least, most = (-2**(width - 1), 2**(width - 1) - 1) if t[0] == "s" else (0, 2**width - 1)
        for name in names.split():
            f = dict(wrapped)[name.split(".")[0]]
            def each(x, y, f=f, width=width, t=t, name=name, least=least, most=most):
                out = 0
                for at in range(0, 32, width):
                    pick = (lambda v: signed(v >> at, width)) if t[0] == "s" else (lambda v: mask(v >> at, width))
                    value = f(pick(x), pick(y))
                    value = max(0, value) if "relu" in name else max(least, min(most, value)) if "sat" in name else value
                    out |= mask(value, width) << at
                return out
            apply(f"{name}.{t}", t, [t, t], each, packed)
    apply("neg.s8x4", "s8x4", ["s8x4"], lambda x: sum(mask(-(x >> at), 8) << at for at in range(0, 32, 8)), packed[:1])
    apply("min.relu.s32", "s32", ["s32", "s32"], lambda a, b: max(0, min(a, b)), [INT_A, INT_B])
    apply("max.relu.s32", "s32", ["s32", "s32"], lambda a, b: max(0, a, b), [INT_A, INT_B])
    for t in "u32 s32 u64 s64".split():
        r, n = REGISTER[BITS[t]], BITS[t]
        a, b = [-1, 1, 5, -2, 0, 7, -1, -9], [1, 1, -5, -2, 0, 9, -1, 3]
        body = load(f"{r}1", t, 0) + load(f"{r}2", t, 1)
        carry = [int(mask(x, n) + mask(y, n) >= 1 << n) for x, y in zip(a, b)]
        borrow = [int(mask(x, n) < mask(y, n)) for x, y in zip(a, b)]
        store = f"st.global.b{n} [%po], {r}0;"
        raw(f"add.cc.{t}", body + f"add.cc.{t} {r}3, {r}1, {r}2; addc.{t} {r}4, 0, 0; shl.b{n} {r}4, {r}4, {n - 1}; xor.b{n} {r}0, {r}3, {r}4;" + store,
            [[mask(v, n) for v in a], [mask(v, n) for v in b]], [mask(x + y, n) ^ c << (n - 1) for x, y, c in zip(a, b, carry)])
        raw(f"addc.{t}", body + f"add.cc.{t} {r}3, {r}1, {r}2; addc.{t} {r}0, {r}1, 3;" + store,
            [[mask(v, n) for v in a], [mask(v, n) for v in b]], [mask(x + 3 + c, n) for x, c in zip(a, carry)])
        raw(f"sub.cc.{t}", body + f"sub.cc.{t} {r}3, {r}1, {r}2; subc.{t} {r}4, 0, 0; shl.b{n} {r}4, {r}4, {n - 1}; xor.b{n} {r}0, {r}3, {r}4;" + store,
            [[mask(v, n) for v in a], [mask(v, n) for v in b]], [mask(x - y, n) ^ mask(-c << (n - 1), n) for x, y, c in zip(a, b, borrow)])
        raw(f"subc.{t}", body + f"sub.cc.{t} {r}3, {r}1, {r}2; subc.{t} {r}0, {r}1, 3;" + store,
            [[mask(v, n) for v in a], [mask(v, n) for v in b]], [mask(x - 3 - c, n) for x, c in zip(a, borrow)])


def bitForms():
    for n in [16, 32, 64]:
        t = f"b{n}"
        apply(f"and.{t}", t, [t, t], lambda a, b: a & b, [INT_A, INT_B])
        apply(f"or.{t}", t, [t, t], lambda a, b: a | b, [INT_A, INT_B])
        apply(f"xor.{t}", t, [t, t], lambda a, b: a ^ b, [INT_A, INT_B])
        apply(f"not.{t}", t, [t], lambda a: ~a, [INT_A])
        apply(f"cnot.{t}", t, [t], lambda a: int(a == 0), [INT_A])
        apply(f"shl.{t}", t, [t, "u32"], lambda a, s: a << s, [INT_A, SMALL])
        for k in "bus":
            apply(f"shr.{k}{n}", f"{k}{n}", [f"{k}{n}", "u32"], lambda a, s: a >> s, [INT_A, SMALL])
        apply(f"mov.{t}", t, [t], lambda a: a, [INT_A])
        apply(f"mov.u{n}", f"u{n}", [f"u{n}"], lambda a: a, [INT_A])
        apply(f"mov.s{n}", f"s{n}", [f"s{n}"], lambda a: a, [INT_A])
    for n in [32, 64]:
        apply(f"popc.b{n}", "u32", [f"b{n}"], lambda a: bin(a).count("1"), [INT_A])
        apply(f"clz.b{n}", "u32", [f"b{n}"], lambda a, n=n: n - a.bit_length(), [INT_A])
        apply(f"brev.b{n}", f"b{n}", [f"b{n}"], lambda a, n=n: int(format(a, f"0{n}b")[::-1], 2), [INT_A])
        for k in "us":
            def find(a, n=n):
                a = ~a if a < 0 else a
                return a.bit_length() - 1
            apply(f"bfind.{k}{n}", "u32", [f"{k}{n}"], find, [INT_A])
            apply(f"bfind.shiftamt.{k}{n}", "u32", [f"{k}{n}"],
                  lambda a, n=n: -1 if find(a) < 0 else n - 1 - find(a), [INT_A])

            def extract(a, pos, length, k=k, n=n):
                bitsOf = [(mask(a, n) >> i) & 1 for i in range(n)]
                sign = bitsOf[min(pos + length - 1, n - 1)] if k == "s" and length else 0
                return sum((bitsOf[pos + i] if i < length and pos + i < n else sign) << i for i in range(n))
            apply(f"bfe.{k}{n}", f"{k}{n}", [f"{k}{n}", "u32", "u32"], extract, [INT_A[::-1], SMALL, [4, 8, 0, 3, 40, 5, 12, 9]])

        def insert(a, b, pos, length, n=n):
            field = ((1 << length) - 1) << pos
            return (b & ~field) | ((a << pos) & field)
        apply(f"bfi.b{n}", f"b{n}", [f"b{n}", f"b{n}", "u32", "u32"], insert, [INT_A, INT_B, SMALL, [4, 8, 0, 3, 40, 5, 12, 9]])

    def permute(a, b, c):
        data = [(b << 32 | a) >> (8 * i) & 0xFF for i in range(8)]
        out = 0
        for i in range(4):
            sel = c >> (4 * i) & 15
            byte = data[sel & 7]
            out |= (0xFF if byte & 0x80 else 0) << (8 * i) if sel & 8 else byte << (8 * i)
        return out
    control = [0x3210, 0x7654, 0x0246, 0xFEDC, 0x1357, 0x89AB, 0x5410, 0x7632]
    apply("prmt.b32", "b32", ["b32", "b32", "b32"], permute, [INT_A, INT_B, control])
    modes = {"f4e": [0x3210, 0x4321, 0x5432, 0x6543], "b4e": [0x5670, 0x6701, 0x7012, 0x0123],
             "rc8": [0x0000, 0x1111, 0x2222, 0x3333], "ecl": [0x3210, 0x3211, 0x3222, 0x3333],
             "ecr": [0x0000, 0x1110, 0x2210, 0x3210], "rc16": [0x1010, 0x3232, 0x1010, 0x3232]}
    for mode, table in modes.items():
        apply(f"prmt.b32.{mode}", "b32", ["b32", "b32", "b32"], lambda a, b, c, t=table: permute(a, b, t[c & 3]),
              [[0x03020100] * 8, [0x87868584] * 8, SMALL])
    raw("lop3.b32", load("%r1", "b32", 0) + load("%r2", "b32", 1) + load("%r3", "b32", 2) +
        "lop3.b32 %r0, %r1, %r2, %r3, 0xE2; st.global.b32 [%po], %r0;",
        [[mask(v, 32) for v in x] for x in (INT_A, INT_B, INT_C)],
        [mask(sum((0xE2 >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i for i in range(32)), 32)
         for a, b, c in zip(INT_A, INT_B, INT_C)])
    for side in "lr":
        for mode in ["clamp", "wrap"]:
            def funnel(a, b, c, side=side, mode=mode):
                n = min(c, 32) if mode == "clamp" else c & 31
                both = b << 32 | a
                return (both << n) >> 32 if side == "l" else both >> n
            apply(f"shf.{side}.{mode}.b32", "b32", ["b32", "b32", "u32"], funnel, [INT_A, INT_B, SMALL])

    def nth(m, base, offset):
        step, left = (1, offset) if offset >= 0 else (-1, -offset)
        if offset == 0:
            return base if m >> base & 1 else -1
        pos = base
        while 0 <= pos < 32:
            if m >> pos & 1:
                left -= 1
                if left == 0:
                    return pos
            pos += step
        return -1
    apply("fns.b32", "b32", ["b32", "b32", "s32"], nth, [[0x88, 0xFF, 0x0F0F, 1, 0x80000000, 0, 0xAAAA, 0xFFFF],
                                                       [0, 7, 3, 0, 31, 4, 6, 9], [2, -2, 1, 0, 1, 1, 2, -3]])
    apply("bmsk.clamp.b32", "b32", ["b32", "b32"], lambda p, n: 0 if p >= 32 else ((1 << min(n, 32)) - 1) << p,
          [SMALL, [4, 8, 0, 3, 40, 5, 12, 9]])
    apply("bmsk.wrap.b32", "b32", ["b32", "b32"], lambda p, n: ((1 << n % 32) - 1) << p % 32,
          [SMALL, [4, 8, 0, 3, 40, 5, 12, 9]])
    for t, extend in [("s32", signed), ("u32", mask)]:
        for mode, width in [("clamp", lambda n: min(n, 32)), ("wrap", lambda n: n % 32)]:
            apply(f"szext.{mode}.{t}", t, [t, "u32"], lambda a, n, e=extend, w=width: e(a, w(n)) if w(n) else 0,
                  [[0x12345678, -1, 0x80, 0x8000, 0x18000, 0x40000000, -0x70000001, 0xFFFFF], SMALL[:4] + [17, 31, 32, 40]])


# --- Predicates and comparisons --------------------------------------------------


def predicateForms():
    a, b = [0, 1, 0, 1, 1, 0, 1, 0], [0, 0, 1, 1, 0, 1, 1, 0]
    setup = (load("%r1", "b32", 0) + load("%r2", "b32", 1) +
             "setp.ne.b32 %p1, %r1, 0; setp.ne.b32 %p2, %r2, 0; setp.ne.b32 %p3, 0, 0;")
    store = "selp.b32 %r0, 5, 9, %p3; st.global.b32 [%po], %r0;"
    pick = lambda values: [5 if v else 9 for v in values]
    raw("and.pred", setup + "and.pred %p3, %p1, %p2;" + store, [a, b], pick([x & y for x, y in zip(a, b)]))
    raw("or.pred", setup + "or.pred %p3, %p1, %p2;" + store, [a, b], pick([x | y for x, y in zip(a, b)]))
    raw("xor.pred", setup + "xor.pred %p3, %p1, %p2;" + store, [a, b], pick([x ^ y for x, y in zip(a, b)]))
    raw("not.pred", setup + "not.pred %p3, %p1;" + store, [a, b], pick([1 - x for x in a]))
    raw("mov.pred", setup + "mov.pred %p3, %p1;" + store, [a, b], pick(a))
    compare = {"eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "lt": lambda x, y: x < y,
               "le": lambda x, y: x <= y, "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y,
               "lo": lambda x, y: x < y, "ls": lambda x, y: x <= y, "hi": lambda x, y: x > y, "hs": lambda x, y: x >= y}
    left = [0, 1, -1, 0x7FFF, 5, 0x12345678, -9, 0x80000000]
    right = [0, -1, 1, 0x7FFF, 6, 0x12345678, -8, 7]
    for n in [16, 32, 64]:
        for kind, names in [("b", ["eq", "ne"]), ("u", list(compare)), ("s", ["eq", "ne", "lt", "le", "gt", "ge"])]:
            for name in names:
                t = f"{kind}{n}"
                r = REGISTER[n]
                x, y = [asType(v, t) for v in left], [asType(v, t) for v in right]
                body = load(f"{r}1", t, 0) + load(f"{r}2", t, 1) + "setp.ne.b32 %p3, 0, 0;"
                if not any(compare[name](p, q) for p, q in zip(x, y)):
                    sys.exit(f"setp.{name}.{t} tests nothing")
                raw(f"setp.{name}.{t}", body + f"setp.{name}.{t} %p3, {r}1, {r}2;" + store,
                    [[mask(v, n) for v in left], [mask(v, n) for v in right]],
                    pick([compare[name](p, q) for p, q in zip(x, y)]))
    nan = float("nan")
    fl, fr = [1.0, 2.0, -1.0, nan, 0.0, math.inf, 3.5, nan], [1.0, 1.0, 1.0, 1.0, -0.0, math.inf, 4.5, nan]
    ordered = {"eq": lambda x, y: x == y, "ne": lambda x, y: x != y and x == x and y == y, "lt": lambda x, y: x < y,
               "le": lambda x, y: x <= y, "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y}
    floats = dict(ordered)
    for name, f in ordered.items():
        floats[name + "u"] = lambda x, y, f=f: x != x or y != y or f(x, y)
    floats["num"] = lambda x, y: x == x and y == y
    floats["nan"] = lambda x, y: x != x or y != y
    for t, r in [("f32", "%r"), ("f64", "%rd"), ("f16", "%h"), ("bf16", "%h")]:
        for name, f in floats.items():
            move = "mov.b32 %f1, %r1; mov.b32 %f2, %r2;" if t == "f32" else "mov.b64 %d1, %rd1; mov.b64 %d2, %rd2;" if t == "f64" else ""
            q = "%f" if t == "f32" else "%d" if t == "f64" else r
            raw(f"setp.{name}.{t}", load(f"{r}1", t, 0) + load(f"{r}2", t, 1) + move + "setp.ne.b32 %p3, 0, 0;" +
                f"setp.{name}.{t} %p3, {q}1, {q}2;" + store,
                [[encode(v, t) for v in fl], [encode(v, t) for v in fr]], pick([f(x, y) for x, y in zip(fl, fr)]))
    # Pairs: the second half takes the lanes in reverse, and the second predicate its result.
    both = "selp.b32 %r0, 1, 4, %p3; selp.b32 %r5, 2, 8, %p4; add.u32 %r0, %r0, %r5; st.global.b32 [%po], %r0;"
    clear = "setp.ne.b32 %p3, 0, 0; setp.ne.b32 %p4, 0, 0;"
    for t in ["f16", "bf16"]:
        pair = lambda values: [encode(v, t) | encode(w, t) << 16 for v, w in zip(values, values[::-1])]
        two = lambda f: [(1 if f(i) else 4) + (2 if f(LANES - 1 - i) else 8) for i in range(LANES)]
        for name, f in floats.items():
            raw(f"setp.{name}.{t}x2", load("%r1", "b32", 0) + load("%r2", "b32", 1) + clear +
                f"setp.{name}.{t}x2 %p3|%p4, %r1, %r2;" + both, [pair(fl), pair(fr)], two(lambda i: f(fl[i], fr[i])))
        combined = [("and", lambda p, c: p and c), ("or", lambda p, c: p or c), ("xor", lambda p, c: p != c)]
        for k, (name, f) in enumerate(floats.items()):
            combine, g = combined[k % 3]
            c = [0, 1, 1, 0, 1, 0, 0, 1]
            raw(f"setp.{name}.{combine}.{t}x2", load("%r1", "b32", 0) + load("%r2", "b32", 1) + load("%r3", "b32", 2) + clear +
                f"setp.ne.b32 %p1, %r3, 0; setp.{name}.{combine}.{t}x2 %p3|%p4, %r1, %r2, %p1;" + both, [pair(fl), pair(fr), c],
                [(1 if g(f(x, y), bool(z)) else 4) + (2 if g(f(v, w), bool(z)) else 8)
                 for x, y, v, w, z in zip(fl, fr, fl[::-1], fr[::-1], c)])
    for name, mods in [("eq", ""), ("ge", ".and")]:  # the second half is 1 against 0
        tiny, also = [0x3C000001, 0x3C008001, 0x3C000400, 0x3C000000] * 2, [0] * 8
        raw(f"setp.{name}{mods}.ftz.f16x2", load("%r1", "b32", 0) + load("%r2", "b32", 1) + clear + "setp.eq.b32 %p1, 0, 0;" +
            f"setp.{name}{mods}.ftz.f16x2 %p3|%p4, %r1, %r2{', %p1' if mods else ''};" + both, [tiny, also],
            [(1 if name == "ge" or v & 0x7C00 == 0 else 4) + (2 if name == "ge" else 8) for v in tiny])
    for combine, g in [("and", lambda p, c: p and c), ("or", lambda p, c: p or c), ("xor", lambda p, c: bool(p) != bool(c))]:
        c = [0, 1, 1, 0, 1, 0, 1, 1]
        raw(f"setp.lt.{combine}.s32", load("%r1", "b32", 0) + load("%r2", "b32", 1) + load("%r3", "b32", 2) +
            f"setp.ne.b32 %p1, %r3, 0; setp.ne.b32 %p3, 0, 0; setp.lt.{combine}.s32 %p3, %r1, %r2, %p1;" + store,
            [[mask(v, 32) for v in left], [mask(v, 32) for v in right], c],
            pick([g(signed(x, 32) < signed(y, 32), z) for x, y, z in zip(left, right, c)]))
    for t in "b16 b32 b64 u16 u32 u64 s16 s32 s64".split():
        r, n = REGISTER[BITS[t]], BITS[t]
        raw(f"selp.{t}", load(f"{r}1", t, 0) + load(f"{r}2", t, 1) + f"setp.gt.u32 %p1, %j, 3; selp.{t} {r}0, {r}1, {r}2, %p1; st.global.b{n} [%po], {r}0;",
            [[mask(v, n) for v in INT_A], [mask(v, n) for v in INT_B]],
            [mask((INT_A if i > 3 else INT_B)[i], n) for i in range(LANES)])
    raw("set.lt.u32.s32", load("%r1", "b32", 0) + load("%r2", "b32", 1) + "set.lt.u32.s32 %r0, %r1, %r2; st.global.b32 [%po], %r0;",
        [[mask(v, 32) for v in left], [mask(v, 32) for v in right]],
        [0xFFFFFFFF if signed(x, 32) < signed(y, 32) else 0 for x, y in zip(left, right)])
    raw("slct.u32.s32", load("%r1", "b32", 0) + load("%r2", "b32", 1) + load("%r3", "b32", 2) +
        "slct.u32.s32 %r0, %r1, %r2, %r3; st.global.b32 [%po], %r0;",
        [[mask(v, 32) for v in INT_A], [mask(v, 32) for v in INT_B], [mask(v, 32) for v in left]],
        [mask(a if signed(c, 32) >= 0 else b, 32) for a, b, c in zip(INT_A, INT_B, left)])
