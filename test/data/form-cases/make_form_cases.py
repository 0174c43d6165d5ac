# ===- make_form_cases.py - one small case for each executed form ----------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
#
# usage: make_form_cases.py > cases.txt
#
# Expected values come from Python's integers and rationals, by the PTX manual, and
# never from the emulator. Each case is
#
#   case FORM
#   ptx BODY          works on eight different lanes, which repeat four times
#   in  WORD…         64 bits for each lane, operand after operand
#   out WORD…         64 bits for each lane
#
# In BODY %pi is the lane's address of operand 0, 64 bytes further lies the next one;
# %po is where the lane's result goes; %j is its number modulo 8. A scratch global
# array `g`, a shared one `s` and a local one `l` of 256 bytes are there too.

import math
import struct
import sys
from fractions import Fraction

import modifier_cases
import set_cases

LANES = 8
CASES = []


def raw(form, body, inputs, expected):
    """inputs: a list of operands, each of eight numbers; expected: eight numbers."""
    assert all(len(operand) == LANES for operand in inputs) and len(expected) == LANES, form
    CASES.append((form, " ".join(body.split()), inputs, expected))


# --- Types ---------------------------------------------------------------------

BITS = {"pred": 1}
for _t in "b8 u8 s8".split():
    BITS[_t] = 8
for _t in "b16 u16 s16 f16 bf16".split():
    BITS[_t] = 16
for _t in "b32 u32 s32 f32 f16x2 bf16x2 u16x2 s16x2 tf32".split():
    BITS[_t] = 32
for _t in "b64 u64 s64 f64 f32x2".split():
    BITS[_t] = 64
REGISTER = {8: "%h", 16: "%h", 32: "%r", 64: "%rd"}


def mask(value, bits):
    return value & ((1 << bits) - 1)


def signed(value, bits):
    value = mask(value, bits)
    return value - (1 << bits) if value >> (bits - 1) else value


def asType(value, t):
    return signed(value, BITS[t]) if t[0] == "s" and t != "s16x2" else mask(value, BITS[t])


def load(register, t, k):
    """Loads operand k; 8 and 16 bits go to a 16-bit register."""
    return f"ld.global.b{BITS[t]} {register}, [%pi+{64 * k}];"


def apply(form, dst, srcs, function, inputs):
    """A form with one register for each operand."""
    body, names = "", []
    for k, t in enumerate(srcs):
        name = REGISTER[BITS[t]] + str(k + 1)
        names.append(name)
        body += load(name, t, k)
    out = REGISTER[BITS[dst]] + "0"
    body += f"{form} {out}, {', '.join(names)}; st.global.b{BITS[dst]} [%po], {out};"
    columns = [[mask(v, BITS[t]) for v in operand] for operand, t in zip(inputs, srcs)]
    expected = [mask(function(*[asType(c[i], t) for c, t in zip(columns, srcs)]), BITS[dst]) for i in range(LANES)]
    raw(form, body, columns, expected)


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

FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52), "tf32": (8, 10),
           "e4m3": (4, 3), "e5m2": (5, 2), "e2m3": (2, 3), "e3m2": (3, 2), "e2m1": (2, 1)}
CANONICAL = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "tf32": 0x7FFFFFFF, "e4m3": 0x7F, "e5m2": 0x7F}
LARGEST = {"e4m3": 0x7E, "e5m2": 0x7B, "e2m3": 0x1F, "e3m2": 0x1F, "e2m1": 0x7}


def decode(bits, t):
    """A float, exactly (all these formats are subsets of double)."""
    e, m = FORMATS[t]
    sign = -1.0 if bits >> (e + m) & 1 else 1.0
    exponent, fraction = bits >> m & ((1 << e) - 1), bits & ((1 << m) - 1)
    bias = (1 << (e - 1)) - 1
    if exponent == (1 << e) - 1 and t in ("f16", "bf16", "f32", "f64", "e5m2"):
        return math.nan if fraction else sign * math.inf
    if t == "e4m3" and bits & 0x7F == 0x7F:
        return math.nan
    if exponent == 0:
        return sign * math.ldexp(fraction, 1 - bias - m)
    return sign * math.ldexp(fraction + (1 << m), exponent - bias - m)


def roundTo(x, t, mode="rn", saturate=False):
    """A non-zero Fraction to the bits of a format."""
    e, m = FORMATS[t]
    bias = (1 << (e - 1)) - 1
    sign, magnitude = x < 0, abs(x)
    exponent = 0
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    while Fraction(2) ** exponent > magnitude:
        exponent -= 1
    while Fraction(2) ** (exponent + 1) <= magnitude:
        exponent += 1
    exponent = max(exponent, 1 - bias)
    unit = Fraction(2) ** (exponent - m)
    count = magnitude / unit
    down = count.numerator // count.denominator
    rest = count - down
    if mode == "rn":
        up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and down & 1)
    elif mode == "rna":
        up = rest >= Fraction(1, 2)
    else:
        up = rest > 0 and mode == ("rm" if sign else "rp")
    down += up
    if down >> (m + 1):
        down, exponent = down >> 1, exponent + 1
    code = down if down < 1 << m else ((exponent + bias) << m) + (down - (1 << m))
    special = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "f64": 0x7FF << 52, "tf32": 0x7F800000 >> 13, "e5m2": 0x7C}.get(t)
    if t in LARGEST and code > LARGEST[t]:
        code = LARGEST[t]
    elif special is not None and code >= special:
        away = mode in ("rn", "rna") or mode == ("rm" if sign else "rp")
        code = special if away and not saturate else special - 1
    return (int(sign) << (e + m)) | code


def encode(v, t, mode="rn", saturate=False):
    """A float to bits."""
    e, m = FORMATS[t]
    if v != v:
        return CANONICAL.get(t, LARGEST.get(t, 0x7FF8 << 48))
    sign = int(math.copysign(1, v) < 0)
    if v == 0:
        return sign << (e + m)
    if math.isinf(v):
        special = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "f64": 0x7FF << 52, "tf32": 0x7F800000 >> 13, "e5m2": 0x7C}.get(t)
        if t in LARGEST:
            special = LARGEST[t]
        elif saturate:
            special -= 1
        return sign << (e + m) | special
    return roundTo(Fraction(v), t, mode, saturate)


def arithmetic(op, t, mode, *values):
    """Bits of a correctly rounded result."""
    if any(v != v for v in values):
        return CANONICAL.get(t, 0x7FF8 << 48)
    try:
        if any(math.isinf(v) for v in values) or (op in ("div", "rcp") and values[-1] == 0):
            if op == "div" and values[1] == 0:
                r = math.nan if values[0] == 0 else math.copysign(math.inf, math.copysign(1, values[0]) * math.copysign(1, values[1]))
            elif op == "rcp":
                r = math.copysign(math.inf, values[0]) if values[0] == 0 else math.copysign(0.0, values[0])
            else:
                r = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
                     "div": lambda a, b: a / b, "fma": lambda a, b, c: a * b + c, "sqrt": math.sqrt}[op](*values)
            return encode(r, t)
    except (ValueError, ZeroDivisionError):
        return CANONICAL.get(t, 0x7FF8 << 48)
    x = [Fraction(v) for v in values]
    signs = [math.copysign(1, v) for v in values]
    if op in ("add", "sub"):
        if op == "sub":
            x[1], signs[1] = -x[1], -signs[1]
        exact, zero = x[0] + x[1], signs[0] if signs[0] == signs[1] else (-1 if mode == "rm" else 1)
    elif op == "mul":
        exact, zero = x[0] * x[1], signs[0] * signs[1]
    elif op == "fma":
        product = signs[0] * signs[1]
        exact, zero = x[0] * x[1] + x[2], product if product == signs[2] else (-1 if mode == "rm" else 1)
    elif op == "div":
        exact, zero = x[0] / x[1], signs[0] * signs[1]
    elif op == "rcp":
        exact, zero = 1 / x[0], signs[0]
    elif op == "sqrt":
        if x[0] < 0:
            return CANONICAL.get(t, 0x7FF8 << 48)
        scaled = x[0] * Fraction(4) ** 1200
        root = math.isqrt(scaled.numerator // scaled.denominator)
        exact = Fraction(root, 2**1200) + (0 if Fraction(root) ** 2 == scaled else Fraction(1, 2**1210))
        zero = signs[0]
    e, m = FORMATS[t]
    return (int(zero < 0) << (e + m)) if exact == 0 else roundTo(exact, t, mode)


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


# --- Memory -------------------------------------------------------------------------

def memoryForms():
    data = [mask(v, 64) for v in [0x1122334455667788, -1, 0x80FF7F0081FE0102, 5, 0xFEDCBA9876543210, 0, 7, 0x0101010101010101]]
    # ld.SPACE.TYPE: put the number there, read it back.
    place = {"global": ("mul.lo.u64 %rd7, %lane, 8; add.u64 %rd9, %g, %rd7;", "[%rd9]"), "shared": ("mul.lo.u64 %rd7, %lane, 8; cvt.u32.u64 %r9, %rd7; mov.u32 %r8, s; add.u32 %r9, %r9, %r8;", "[%r9]"),
             "local": ("mov.u64 %rd8, l; add.u64 %rd9, %rd8, %jw;", "[%rd9]")}
    for space, (prepare, address) in place.items():
        for t in "b8 u8 s8 b16 u16 s16 b32 u32 s32 f32 b64 u64 s64 f64".split():
            n = BITS[t]
            r = "%f" if t == "f32" else "%d" if t == "f64" else REGISTER[n]
            fill = f"ld.global.b64 %rd1, [%pi]; {prepare} st.{space}.b64 {address}, %rd1;"
            raw(f"ld.{space}.{t}", fill + f"ld.{space}.{t} {r}0, {address}; st.global.b{n} [%po], {r}0;", [data], [mask(v, n) for v in data])
            back = f"ld.{space}.b64 %rd0, {address}; st.global.b64 [%po], %rd0;"
            raw(f"st.{space}.{t}", f"{prepare} mov.b64 %rd2, 0; st.{space}.b64 {address}, %rd2; ld.global.b{n} {r}1, [%pi]; st.{space}.{t} {address}, {r}1;" + back,
                [data], [mask(v, n) for v in data])
        for vec, t in [(2, "b8"), (4, "b8"), (2, "b16"), (4, "b16"), (2, "b32"), (4, "b32"), (2, "b64"), (2, "u64"), (4, "u64"), (8, "b32")]:
            if BITS[t] * vec > (256 if space == "global" else 128):
                continue
            n = BITS[t]
            r = REGISTER[n]
            base = {"global": "mad.lo.u64 %rd9, %lane, 32, %g;", "shared": "cvt.u32.u64 %r9, %lane; mov.u32 %r8, s; mad.lo.u32 %r9, %r9, 32, %r8;",
                    "local": "mov.u64 %rd8, l; mad.lo.u64 %rd9, %jw, 1, %rd8;"}[space]
            registers = "{" + ", ".join(f"{r}{10 + i}" for i in range(vec)) + "}"
            words = n * vec // 8
            # Elements i of a lane: the low bits of data rotated by i.
            element = lambda j, i: mask((data[j] >> (i % 8 * 8)) + i, n)
            if space == "local" and words > 8:
                base = "mov.u64 %rd9, l;"
            make = "".join(f"ld.global.b64 %rd1, [%pi]; shr.u64 %rd1, %rd1, {i % 8 * 8}; add.u64 %rd1, %rd1, {i};" +
                           (f"mov.b64 {r}{10 + i}, %rd1;" if n == 64 else f"cvt.u32.u64 {r}{10 + i}, %rd1;" if n == 32 else f"cvt.u16.u64 {r}{10 + i}, %rd1;")
                           for i in range(vec))
            where = "[%r9" if space == "shared" else "[%rd9"
            single = "".join(f"ld.{space}.b{n} {r}0, {where}+{i * n // 8}];" +
                             (f"mov.b64 %rd2, {r}0;" if n == 64 else f"cvt.u64.u{n} %rd2, {r}0;") +
                             "mul.lo.u64 %rd3, %rd3, 31; add.u64 %rd3, %rd3, %rd2;" for i in range(vec))
            stores = "".join(f"st.{space}.b{n} {where}+{i * n // 8}], {r}{10 + i};" for i in range(vec))
            mix = "".join((f"mov.b64 %rd2, {r}{20 + i};" if n == 64 else f"cvt.u64.u{n} %rd2, {r}{20 + i};") +
                          "mul.lo.u64 %rd3, %rd3, 31; add.u64 %rd3, %rd3, %rd2;" for i in range(vec))
            out = "st.global.b64 [%po], %rd3;"
            expected = []
            for j in range(LANES):
                h = 0
                for i in range(vec):
                    h = mask(h * 31 + element(j, i), 64)
                expected.append(h)
            zero = "".join(f"st.{space}.b{n} {where}+{i * n // 8}], {r}30;" for i in range(vec))
            clear = f"mov.b{max(n, 16)} {r}30, 0;"
            raw(f"st.{space}.v{vec}.{t}", base + "mov.b64 %rd3, 0;" + clear + zero + make + f"st.{space}.v{vec}.{t} {where}], {registers};" + single + out, [data], expected)
            targets = "{" + ", ".join(f"{r}{20 + i}" for i in range(vec)) + "}"
            raw(f"ld.{space}.v{vec}.{t}", base + "mov.b64 %rd3, 0;" + make + stores + f"ld.{space}.v{vec}.{t} {targets}, {where}];" + mix + out, [data], expected)
    read = "ld.global.b{n} {r}0, [%pi];"
    for form, n in [("ld.acquire.gpu.global.b32", 32), ("ld.acquire.sys.global.b32", 32), ("ld.global.nc.b32", 32), ("ld.relaxed.gpu.global.b32", 32),
                    ("ld.relaxed.gpu.global.b64", 64), ("ld.volatile.global.b32", 32), ("ld.global.L1::no_allocate.b32", 32), ("ld.b32", 32), ("ld.b64", 64)]:
        r = REGISTER[n]
        raw(form, f"{form} {r}0, [%pi]; st.global.b{n} [%po], {r}0;", [data], [mask(v, n) for v in data])
    for form, n in [("st.release.gpu.global.b32", 32), ("st.relaxed.sys.global.b32", 32), ("st.volatile.global.b32", 32), ("st.b32", 32), ("st.b64", 64)]:
        r = REGISTER[n]
        raw(form, f"ld.global.b{n} {r}0, [%pi]; {form} [%po], {r}0;", [data], [mask(v, n) for v in data])
    raw("ld.const.b32", "mov.u64 %rd8, c; add.u64 %rd9, %rd8, %jw; ld.const.b32 %r0, [%rd9]; st.global.b32 [%po], %r0;", [data], [1000 + 2 * j for j in range(LANES)])
    raw("ld.param.b64", "ld.param.b64 %rd1, [in]; mad.lo.u64 %rd1, %jw, 1, %rd1; ld.global.b64 %rd0, [%rd1]; st.global.b64 [%po], %rd0;", [data], data)
    sums = [3, 5, 7, 11, 13, 17, 19, 23]
    add = {"global": ("mov.b64 %rd9, %g;", "[%rd9]"), "shared": ("mov.u32 %r9, s;", "[%r9]"), "shared::cta": ("mov.u32 %r9, s;", "[%r9]")}

    def atomic(form, space, n, operand, expected, start, sequence=None):
        """All lanes of the first eight hit one word; the result is what is left there."""
        prepare, address = add[space]
        r, plain = REGISTER[n], "shared" if space.startswith("shared") else space
        opcode = form.split(".")[0]
        target = f"{r}20, " if opcode == "atom" else ""
        raw(form, prepare + f"ld.global.b{n} {r}1, [%pi]; mov.b{n} {r}2, {start}; st.{plain}.b{n} {address}, {r}2; bar.warp.sync 0xFFFFFFFF; setp.eq.u32 %p1, %jj, %j;"
            f"@%p1 {form} {target}{address}, {r}1; bar.warp.sync 0xFFFFFFFF; ld.{plain}.b{n} {r}0, {address}; st.global.b{n} [%po], {r}0;",
            [operand], [mask(expected, n)] * LANES)

    total = sum(sums)
    for form, space, n in [("atom.global.add.u32", "global", 32), ("atom.global.add.u64", "global", 64), ("atom.release.gpu.global.add.u32", "global", 32),
                           ("atom.shared.cta.add.u32", "shared", 32), ("atom.shared::cta.add.u32", "shared::cta", 32), ("red.relaxed.sys.global.add.u64", "global", 64),
                           ("red.release.gpu.global.add.s32", "global", 32), ("red.release.sys.global.add.s32", "global", 32), ("red.global.add.u32", "global", 32),
                           ("red.shared.add.u32", "shared", 32), ("atom.acq_rel.gpu.global.add.s32", "global", 32)]:
        atomic(form, space, n, sums, total + 100, 100)
    for form, expected, start in [("atom.global.min.s32", -5, 4), ("atom.global.max.s32", 23, 4), ("atom.global.min.u32", 3, 4), ("atom.global.max.u32", 0xFFFFFFFB, 4),
                                  ("atom.global.and.b32", 0x10, 0xFF), ("atom.global.or.b32", 0x3F, 0x20), ("atom.global.xor.b32", 0x11, 0x10)]:
        op = form.split(".")[2]
        operand = {"min": [3, 5, 7, 11, 13, 17, 19, -5] if "s32" in form else sums, "max": sums if "s32" in form else [3, 5, 7, 11, 13, 17, 19, -5],
                   "and": [0x13, 0x31, 0x15, 0x51, 0x17, 0x71, 0x19, 0x91], "or": [1, 2, 4, 8, 16, 1, 2, 4], "xor": [1, 2, 4, 8, 1, 2, 4, 9]}[op]
        value = {"and": lambda: __import__("functools").reduce(lambda a, b: a & b, operand, start), "or": lambda: __import__("functools").reduce(lambda a, b: a | b, operand, start),
                 "xor": lambda: __import__("functools").reduce(lambda a, b: a ^ b, operand, start)}.get(op, lambda: expected)()
        atomic(form, "global", 32, [mask(v, 32) for v in operand], value, start)
        atomic(form.replace("atom", "red"), "global", 32, [mask(v, 32) for v in operand], value, start)
    # Each lane its own word: old value comes back, new one stays.
    def own(form, n, first, second, start, old, new):
        r = REGISTER[n]
        extra = f", {r}3" if second else ""
        loads = f"ld.global.b{n} {r}1, [%pi];" + (f"ld.global.b{n} {r}2, [%pi+64];") + (f"ld.global.b{n} {r}3, [%pi+128];" if second else "")
        raw(form, loads + f"mul.lo.u64 %rd8, %lane, 8; add.u64 %rd9, %g, %rd8; st.global.b{n} [%rd9], {r}1; {form} {r}4, [%rd9], {r}2{extra}; ld.global.b{n} {r}5, [%rd9];"
            f"mul.lo.u{n} {r}4, {r}4, 3; add.u{n} {r}0, {r}4, {r}5; st.global.b{n} [%po], {r}0;",
            [start, first] + ([second] if second else []), [mask(3 * o + w, n) for o, w in zip(old, new)])
    start, first, second = [1, 2, 3, 4, 5, 6, 7, 8], [9, 2, 4, 4, 0, 6, 3, 1], [11, 12, 13, 14, 15, 16, 17, 18]
    for n in [32, 64]:
        own(f"atom.global.exch.b{n}", n, first, None, start, start, first)
        own(f"atom.global.cas.b{n}", n, first, second, start, start, [s if s != f else t for s, f, t in zip(start, first, second)])
    own("atom.global.inc.u32", 32, first, None, start, start, [0 if s >= f else s + 1 for s, f in zip(start, first)])
    own("atom.global.dec.u32", 32, first, None, start, start, [f if s == 0 or s > f else s - 1 for s, f in zip(start, first)])
    atomic("atom.global.add.f32", "global", 32, [encode(float(v), "f32") for v in sums], encode(float(total) + 0.5, "f32"), encode(0.5, "f32"))
    atomic("red.global.add.f32", "global", 32, [encode(float(v), "f32") for v in sums], encode(float(total) + 0.5, "f32"), encode(0.5, "f32"))
    atomic("atom.global.add.f64", "global", 64, [encode(float(v), "f64") for v in sums], encode(float(total) + 0.5, "f64"), encode(0.5, "f64"))
    for t in ["f16x2", "bf16x2"]:
        h = t[:-2]
        pairs = [encode(1.0, h) | encode(2.0, h) << 16] * LANES
        atomic(f"atom.global.add.noftz.{t}", "global", 32, pairs, encode(8.5, h) | encode(16.0, h) << 16, encode(0.5, h))
        atomic(f"red.global.add.noftz.{t}", "global", 32, pairs, encode(8.5, h) | encode(16.0, h) << 16, encode(0.5, h))
    raw("red.global.add.v4.f32", "mul.lo.u64 %rd8, %lane, 16; and.b64 %rd8, %rd8, 127; add.u64 %rd9, %g, %rd8; mov.b32 %f1, 0f3F800000; mov.b32 %f2, 0f40000000; mov.b32 %f3, 0f40400000;"
        "ld.global.b32 %f4, [%pi]; mov.b32 %r5, 0; st.global.v4.b32 [%rd9], {%r5, %r5, %r5, %r5}; bar.warp.sync 0xFFFFFFFF; setp.eq.u32 %p1, %jj, %j;"
        "@%p1 red.global.add.v4.f32 [%rd9], {%f1, %f2, %f3, %f4}; bar.warp.sync 0xFFFFFFFF; ld.global.v2.b32 {%r6, %r7}, [%rd9+8]; mov.b64 %rd0, {%r6, %r7}; st.global.b64 [%po], %rd0;",
        [[encode(float(v), "f32") for v in sums]], [encode(float(v), "f32") << 32 | encode(3.0, "f32") for v in sums])
    raw("ld.shared.b128", "mov.u32 %r9, s; ld.global.b64 %rd1, [%pi]; st.shared.b64 [%r9], %rd1; st.shared.b64 [%r9+8], 77; bar.warp.sync 0xFFFFFFFF; ld.shared.b128 %x0, [%r9]; mov.b128 {%rd2, %rd3}, %x0;"
        "add.u64 %rd0, %rd2, %rd3; st.global.b64 [%po], %rd0;", [[5] * LANES], [82] * LANES)
    raw("mov.b128", "ld.global.b64 %rd1, [%pi]; mov.b128 %x0, {%rd1, %jw}; mov.b128 {%rd2, %rd3}, %x0; add.u64 %rd0, %rd2, %rd3; st.global.b64 [%po], %rd0;", [data],
        [mask(v + 8 * j, 64) for j, v in enumerate(data)])


# --- Addresses, warps, control ---------------------------------------------------------

def otherForms():
    data = [5, 6, 7, 8, 9, 10, 11, 12]
    for space in ["global", "shared", "shared::cta", "local", "const"]:
        base = {"global": "mov.b64 %rd1, %g;", "local": "mov.u64 %rd1, l;", "const": "mov.u64 %rd1, c;"}.get(space, "mov.u64 %rd1, s;")
        put = "" if space == "const" else f"ld.global.b32 %r1, [%pi]; mul.lo.u64 %rd8, %lane, 4; add.u64 %rd1, %rd1, %rd8; st.{'shared' if 'shared' in space else space}.b32 [%rd1], %r1;"
        step = "add.u64 %rd1, %rd1, %jw;" if space == "const" else ""
        raw(f"cvta.{space}.u64", base + put + step + f"mov.b64 %rd2, 0; cvta.{space}.u64 %rd2, %rd1; ld.b32 %r0, [%rd2]; st.global.b32 [%po], %r0;", [data],
            [1000 + 2 * j for j in range(LANES)] if space == "const" else data) if space not in ("global", "const") else \
            raw(f"cvta.{space}.u64", base + put + step + f"mov.b64 %rd2, 0; cvta.{space}.u64 %rd2, %rd1; ld.b32 %r0, [%rd2]; st.global.b32 [%po], %r0;", [data],
                [1000 + 2 * j for j in range(LANES)] if space == "const" else data)
    for space in ["global", "shared", "shared::cta", "shared::cluster", "local"]:
        plain = "shared" if "shared" in space else space
        base = {"global": "mov.b64 %rd1, %g;", "local": "mov.u64 %rd1, l;"}.get(space, "mov.u64 %rd1, s;")
        raw(f"cvta.to.{space}.u64", base + f"ld.global.b32 %r1, [%pi]; mul.lo.u64 %rd8, %lane, 4; add.u64 %rd1, %rd1, %rd8; st.{plain}.b32 [%rd1], %r1; cvta.{plain}.u64 %rd2, %rd1; mov.b64 %rd3, 0;"
            f"cvta.to.{space}.u64 %rd3, %rd2; ld.{plain}.b32 %r0, [%rd3]; st.global.b32 [%po], %r0;", [data], data)
    raw("cvta.param.u64", "mov.b64 %rd1, in; mov.b64 %rd2, 0; cvta.param.u64 %rd2, %rd1; ld.b64 %rd3, [%rd2]; add.u64 %rd3, %rd3, %jw; ld.global.b32 %r0, [%rd3]; st.global.b32 [%po], %r0;", [data], data)
    for space, yes in [("global", "mov.b64 %rd1, %pi;"), ("shared", "mov.u64 %rd2, s; cvta.shared.u64 %rd1, %rd2;"), ("local", "mov.u64 %rd2, l; cvta.local.u64 %rd1, %rd2;")]:
        raw(f"isspacep.{space}", yes + f"setp.ne.b32 %p1, 0, 0; isspacep.{space} %p1, %rd1; selp.b32 %r0, 5, 9, %p1; st.global.b32 [%po], %r0;", [data], [5] * LANES)
    raw("shfl.sync.idx.b32", "ld.global.b32 %r1, [%pi]; mov.b32 %r0, 0; shfl.sync.idx.b32 %r0, %r1, 3, 0x181F, 0xFFFFFFFF; st.global.b32 [%po], %r0;", [data], [8] * LANES)
    raw("shfl.sync.up.b32", "ld.global.b32 %r1, [%pi]; mov.b32 %r0, 0; shfl.sync.up.b32 %r0, %r1, 1, 0x1800, 0xFFFFFFFF; st.global.b32 [%po], %r0;", [data], [5, 5, 6, 7, 8, 9, 10, 11])
    raw("shfl.sync.down.b32", "ld.global.b32 %r1, [%pi]; mov.b32 %r0, 0; shfl.sync.down.b32 %r0, %r1, 1, 0x181F, 0xFFFFFFFF; st.global.b32 [%po], %r0;", [data], [6, 7, 8, 9, 10, 11, 12, 12])
    raw("shfl.sync.bfly.b32", "ld.global.b32 %r1, [%pi]; mov.b32 %r0, 0; shfl.sync.bfly.b32 %r0, %r1, 1, 0x181F, 0xFFFFFFFF; st.global.b32 [%po], %r0;", [data], [6, 5, 8, 7, 10, 9, 12, 11])
    odd = "ld.global.b32 %r1, [%pi]; and.b32 %r2, %r1, 1; setp.ne.b32 %p1, %r2, 0; setp.ne.b32 %p3, 0, 0;"
    raw("vote.sync.ballot.b32", odd + "mov.b32 %r0, 0; vote.sync.ballot.b32 %r0, %p1, 0xFFFFFFFF; st.global.b32 [%po], %r0;", [data], [0x55555555] * LANES)
    raw("vote.sync.any.pred", odd + "vote.sync.any.pred %p3, %p1, 0xFFFFFFFF; selp.b32 %r0, 5, 9, %p3; st.global.b32 [%po], %r0;", [data], [5] * LANES)
    raw("vote.sync.all.pred", odd + "mov.pred %p3, %p1; vote.sync.all.pred %p3, %p1, 0xFFFFFFFF; selp.b32 %r0, 5, 9, %p3; st.global.b32 [%po], %r0;", [data], [9] * LANES)
    raw("vote.sync.uni.pred", odd + "mov.pred %p3, %p1; vote.sync.uni.pred %p3, %p1, 0xFFFFFFFF; selp.b32 %r0, 5, 9, %p3; st.global.b32 [%po], %r0;", [data], [9] * LANES)
    for op, f in [("add", sum), ("min", min), ("max", max)]:
        for t in ["u32", "s32"]:
            values = data if t == "u32" else [-3, 5, 7, -9, 2, 0, 1, 4]
            result = f(values) * (4 if op == "add" else 1)
            raw(f"redux.sync.{op}.{t}", f"ld.global.b32 %r1, [%pi]; mov.b32 %r0, 0; redux.sync.{op}.{t} %r0, %r1, 0xFFFFFFFF; st.global.b32 [%po], %r0;",
                [[mask(v, 32) for v in values]], [mask(result, 32)] * LANES)
    for op, f in [("and", lambda a, b: a & b), ("or", lambda a, b: a | b), ("xor", lambda a, b: a ^ b)]:
        import functools
        values = [0x1F, 0x3D, 0x7C, 0x15, 0xF4, 0x14, 0x1C, 0x16]
        lanes = values * 4 if op != "xor" else values
        body = "redux.sync.xor.b32 %r0, %r1, 0xFF;" if op == "xor" else f"redux.sync.{op}.b32 %r0, %r1, 0xFFFFFFFF;"
        guard = "setp.lt.u32 %p1, %jj, 8; @!%p1 bra skip;" if op == "xor" else ""
        raw(f"redux.sync.{op}.b32", f"ld.global.b32 %r1, [%pi]; mov.b32 %r0, 0; mov.b32 %r5, {functools.reduce(f, lanes)}; mov.b32 %r0, %r5;" if False else
            f"ld.global.b32 %r1, [%pi]; mov.b32 %r0, 0; {guard} {body} skip: " + ("shfl.sync.idx.b32 %r0, %r0, 0, 0x1F, 0xFFFFFFFF;" if op == "xor" else "") + " st.global.b32 [%po], %r0;",
            [values], [functools.reduce(f, lanes)] * LANES)
    floats = [1.0, -7.5, 3.25, 2.0, -0.5, 6.0, 0.25, -2.0]
    for form, result in [("redux.sync.min.f32", -7.5), ("redux.sync.max.f32", 6.0), ("redux.sync.max.abs.f32", 7.5), ("redux.sync.min.NaN.f32", -7.5), ("redux.sync.max.abs.NaN.f32", 7.5)]:
        raw(form, f"ld.global.b32 %f1, [%pi]; mov.b32 %f0, 0f00000000; {form} %f0, %f1, 0xFFFFFFFF; st.global.b32 [%po], %f0;",
            [[encode(v, "f32") for v in floats]], [encode(result, "f32")] * LANES)
    raw("elect.sync", "setp.ne.b32 %p1, 0, 0; mov.b32 %r1, 99; elect.sync %r1|%p1, 0xFFFFFFFF; st.global.b32 [%po], %r1;", [data], [0] * LANES)
    raw("activemask.b32", "mov.b32 %r0, 0; activemask.b32 %r0; st.global.b32 [%po], %r0;", [data], [0xFFFFFFFF] * LANES)
    raw("match.any.sync.b32", "mov.b32 %r0, 0; match.any.sync.b32 %r0, %j, 0xFFFFFFFF; st.global.b32 [%po], %r0;", [data], [0x01010101 << j for j in range(LANES)])
    raw("match.all.sync.b32", "mov.b32 %r0, 77; match.all.sync.b32 %r0|%p1, %j, 0xFFFFFFFF; st.global.b32 [%po], %r0;", [data], [0] * LANES)
    raw("mapa.shared::cluster.u32", "mov.u32 %r1, s; ld.global.b32 %r2, [%pi]; st.shared.b32 [%r1], 41; bar.warp.sync 0xFFFFFFFF; mov.b32 %r3, 0; mapa.shared::cluster.u32 %r3, %r1, 0;"
        "ld.shared::cluster.b32 %r0, [%r3]; st.global.b32 [%po], %r0;", [data], [41] * LANES)
    raw("bra", "mov.b32 %r0, 1; bra over; mov.b32 %r0, 2; over: st.global.b32 [%po], %r0;", [data], [1] * LANES)
    raw("bra.uni", "mov.b32 %r0, 1; bra.uni over; mov.b32 %r0, 2; over: st.global.b32 [%po], %r0;", [data], [1] * LANES)
    raw("brx.idx", "mov.b32 %r0, 9; and.b32 %r1, %j, 1; ts: .branchtargets even, odd; brx.idx %r1, ts; even: mov.b32 %r0, 4; bra done; odd: mov.b32 %r0, 5; done: st.global.b32 [%po], %r0;",
        [data], [4, 5] * 4)
    raw("exit", "st.global.b32 [%po], 1; setp.gt.u32 %p1, %j, 3; @%p1 exit; st.global.b32 [%po], 2;", [data], [2] * 4 + [1] * 4)
    raw("ret", "st.global.b32 [%po], 1; setp.gt.u32 %p1, %j, 3; @%p1 ret; st.global.b32 [%po], 2;", [data], [2] * 4 + [1] * 4)
    raw("call.uni", "mov.b32 %r0, 1; { .param .b32 a; .param .b32 b; st.param.b32 [a], %j; call.uni (b), twice, (a); ld.param.b32 %r0, [b]; } st.global.b32 [%po], %r0;",
        [data], [2 * j for j in range(LANES)])
    raw("call", "mov.b32 %r0, 1; call (%r0), triple, (%j); st.global.b32 [%po], %r0;", [data], [3 * j for j in range(LANES)])
    for n, values in [(8, [0x12, 0xFF] * 4), (16, [0x1234, 0xFFFF] * 4), (32, [0x12345678, 0xFFFFFFFF] * 4), (64, [0x123456789ABCDEF0, 3] * 4)]:
        r = REGISTER[n]
        raw(f"st.param.b{n}", f"{{ .param .b64 a; .param .b64 b; st.param.b64 [a], 0; ld.global.b{n} {r}1, [%pi]; st.param.b{n} [a], {r}1; call.uni (b), same, (a); ld.param.b64 %rd0, [b]; }} st.global.b64 [%po], %rd0;",
            [values], values)
        raw(f"ld.param.b{n}", f"mov.b64 %rd2, 0; {{ .param .b64 a; .param .b64 b; ld.global.b64 %rd1, [%pi]; st.param.b64 [a], %rd1; call.uni (b), same, (a); ld.param.b{n} {r}0, [b]; }} st.global.b{n} [%po], {r}0;",
            [values], values) if n != 64 else None
    for op, yes in [("popc.u32", None), ("and.pred", 0), ("or.pred", 1)]:
        out = "mov.b32 %r0, 0; barrier.red.popc.u32 %r0, 1, %p1;" if yes is None else f"setp.{'eq' if not yes else 'ne'}.b32 %p2, 0, 0; barrier.red.{op} %p2, 1, %p1; selp.b32 %r0, 5, 9, %p2;"
        raw(f"barrier.red.{op}", f"setp.gt.u32 %p1, %j, 2; {out} st.global.b32 [%po], %r0;", [data], [20 if yes is None else 5 if yes else 9] * LANES)
        raw(f"bar.red.{op}", f"setp.gt.u32 %p1, %j, 2; {out.replace('barrier.red', 'bar.red')} st.global.b32 [%po], %r0;", [data], [20 if yes is None else 5 if yes else 9] * LANES)


def dropRepeated(first):
    """Of the cases from `first` on those stay whose form has none yet."""
    seen = {case[0] for case in CASES[:first]}
    CASES[first:] = [case for case in CASES[first:] if not (case[0] in seen or seen.add(case[0]))]


def main():
    integerForms()
    bitForms()
    predicateForms()
    floatForms()
    conversionForms()
    memoryForms()
    otherForms()
    first = len(CASES)
    modifier_cases.addAll(sys.modules[__name__])
    set_cases.addAll(sys.modules[__name__])
    dropRepeated(first)
    print("# Made by make_form_cases.py.")
    for form, body, inputs, expected in CASES:
        print(f"case {form}\nptx {body}")
        print("in " + " ".join(format(v, "x") for operand in inputs for v in operand))
        print("out " + " ".join(format(v, "x") for v in expected))


if __name__ == "__main__":
    main()
