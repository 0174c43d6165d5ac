# ===- integer.py - integer, logic and carry programs ----------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#

LETTER = {16: "s", 32: "i", 64: "l"}


def bitsOf(type_):
    return int(type_[1:])


class Ints:
    """Programs of one group whose operands %a, %b, %c and result %d have one width."""

    def __init__(self, suite, group):
        self.suite, self.group = suite, group

    def op(self, name, arity, bits, body, result=None, target="sm_80"):
        letter = LETTER[bits]
        ins = [(f"%{r}", f"{letter}{arity}{r}") for r in "abc"[:arity]]
        self.suite.scalar(self.group, name, body, ins, [("%d", result or f"b{bits}")], target=target)


def build(suite):
    ints = Ints(suite, "integer")
    for bits in (16, 32, 64):
        for type_ in (f"s{bits}", f"u{bits}"):
            for op in ("add", "sub", "mul.lo", "mul.hi", "min", "max"):
                ints.op(f"{op}.{type_}", 2, bits, f"{op}.{type_} %d, %a, %b;")
            for op in ("div", "rem"):
                ints.op(f"{op}.{type_}", 2, bits,
                        f"setp.eq.b{bits} %p, %b, 0;\n@%p mov.b{bits} %b, 7;\n{op}.{type_} %d, %a, %b;")
                ints.op(f"{op}-by-zero.{type_}", 2, bits, f"{op}.{type_} %d, %a, %b;")
            ints.op(f"mad.lo.{type_}", 3, bits, f"mad.lo.{type_} %d, %a, %b, %c;")
            ints.op(f"mad.hi.{type_}", 3, bits, f"mad.hi.{type_} %d, %a, %b, %c;")
            ints.op(f"sad.{type_}", 3, bits, f"sad.{type_} %d, %a, %b, %c;")
            if bits < 64:
                ints.op(f"mul.wide.{type_}", 2, bits, f"mul.wide.{type_} %d, %a, %b;", f"b{2 * bits}")
                wide = "cvt.u32.u16 %r0, %c;" if bits == 16 else "cvt.u64.u32 %w0, %c;"
                ints.op(f"mad.wide.{type_}", 3, bits,
                        f"{wide}\nmad.wide.{type_} %d, %a, %b, {'%r0' if bits == 16 else '%w0'};", f"b{2 * bits}")
            for compare in ("eq", "ne", "lt", "le", "gt", "ge") + (("lo", "ls", "hi", "hs") if type_[0] == "u" else ()):
                ints.op(f"setp.{compare}.{type_}", 2, bits,
                        f"setp.{compare}.{type_} %p, %a, %b;\nselp.b32 %d, 1, 0, %p;", "b32")
            ints.op(f"set.lt.u32.{type_}", 2, bits, f"set.lt.u32.{type_} %d, %a, %b;", "b32")
            ints.op(f"slct.{'b'}{bits}.{type_}", 3, bits, f"cvt.s32.{type_} %r0, %c;\nslct.b{bits}.s32 %d, %a, %b, %r0;")
            ints.op(f"shr.{type_}", 2, bits, f"cvt.u32.u{bits} %r0, %b;\nshr.{type_} %d, %a, %r0;")
        ints.op(f"shl.b{bits}", 2, bits, f"cvt.u32.u{bits} %r0, %b;\nshl.b{bits} %d, %a, %r0;")
        ints.op(f"abs.s{bits}", 1, bits, f"abs.s{bits} %d, %a;")
        ints.op(f"neg.s{bits}", 1, bits, f"neg.s{bits} %d, %a;")
        ints.op(f"cnot.b{bits}", 1, bits, f"cnot.b{bits} %d, %a;")
        ints.op(f"not.b{bits}", 1, bits, f"not.b{bits} %d, %a;")
        for op in ("and", "or", "xor"):
            ints.op(f"{op}.b{bits}", 2, bits, f"{op}.b{bits} %d, %a, %b;")
    for sat in ("add.sat.s32", "sub.sat.s32"):
        ints.op(sat, 2, 32, f"{sat} %d, %a, %b;")
    ints.op("mad.hi.sat.s32", 3, 32, "mad.hi.sat.s32 %d, %a, %b, %c;")
    for type_ in ("s32", "u32"):
        for half in ("lo", "hi"):
            ints.op(f"mul24.{half}.{type_}", 2, 32, f"mul24.{half}.{type_} %d, %a, %b;")
            ints.op(f"mad24.{half}.{type_}", 3, 32, f"mad24.{half}.{type_} %d, %a, %b, %c;")
    ints.op("mad24.hi.sat.s32", 3, 32, "mad24.hi.sat.s32 %d, %a, %b, %c;")
    buildBits(suite)
    buildCarries(suite)
    buildDots(suite)


def buildBits(suite):
    ints = Ints(suite, "bits")
    for bits in (32, 64):
        for op in ("popc", "clz"):
            ints.op(f"{op}.b{bits}", 1, bits, f"{op}.b{bits} %d, %a;", "b32")
        ints.op(f"brev.b{bits}", 1, bits, f"brev.b{bits} %d, %a;")
        for type_ in (f"s{bits}", f"u{bits}"):
            for amount in ("", ".shiftamt"):
                ints.op(f"bfind{amount}.{type_}", 1, bits, f"bfind{amount}.{type_} %d, %a;", "b32")
            # Positions and lengths: whole bytes of the operands count.
            for name, mask in (("", 0x3F), ("-big", 0x1FF)):
                ints.op(f"bfe{name}.{type_}", 3, bits, f"cvt.u32.u{bits} %r0, %b;\ncvt.u32.u{bits} %r1, %c;\n"
                        f"and.b32 %r0, %r0, {mask};\nand.b32 %r1, %r1, {mask};\nbfe.{type_} %d, %a, %r0, %r1;")
        for name, mask in (("", 0x3F), ("-big", 0x1FF)):
            ints.op(f"bfi{name}.b{bits}", 3, bits, f"cvt.u32.u{bits} %r0, %c;\nshr.b32 %r1, %r0, 3;\n"
                    f"and.b32 %r0, %r0, {mask};\nand.b32 %r1, %r1, {mask};\nbfi.b{bits} %d, %a, %b, %r0, %r1;")
    for mode in ("wrap", "clamp"):
        for side in ("l", "r"):
            ints.op(f"shf.{side}.{mode}.b32", 3, 32, f"shf.{side}.{mode}.b32 %d, %a, %b, %c;")
        ints.op(f"bmsk.{mode}.b32", 2, 32, f"bmsk.{mode}.b32 %d, %a, %b;")
        for type_ in ("s32", "u32"):
            ints.op(f"szext.{mode}.{type_}", 2, 32, f"szext.{mode}.{type_} %d, %a, %b;")
    for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
        ints.op(f"prmt.b32{mode}", 3, 32, f"prmt.b32{mode} %d, %a, %b, %c;")
    for lut in (0x80, 0x96, 0xE8, 0xCA, 0x1B, 0xFE):
        ints.op(f"lop3.b32-{lut:02x}", 3, 32, f"lop3.b32 %d, %a, %b, %c, {lut};")
    ints.op("fns.b32", 3, 32, "and.b32 %b, %b, 31;\nrem.s32 %c, %c, 8;\nfns.b32 %d, %a, %b, %c;")
    ints.op("fns-far.b32", 3, 32, "and.b32 %b, %b, 63;\nrem.s32 %c, %c, 40;\nfns.b32 %d, %a, %b, %c;")
    ints.op("selp.b32", 3, 32, "setp.gt.s32 %p, %c, 5;\nselp.b32 %d, %a, %b, %p;")
    ints.op("slct.b32.f32", 3, 32, "slct.b32.f32 %d, %a, %b, %c;")
    ints.op("slct.ftz.b32.f32", 3, 32, "slct.ftz.b32.f32 %d, %a, %b, %c;")


def buildCarries(suite):
    ints = Ints(suite, "carry")
    for bits in (32, 64):
        t = "%r0" if bits == 32 else "%w0"
        for first, second in (("add.cc", "addc"), ("sub.cc", "subc")):
            ints.op(f"{first}-{second}.u{bits}", 3, bits,
                    f"{first}.u{bits} {t}, %a, %b;\n{second}.cc.u{bits} %d, %c, %b;\n{second}.u{bits} {t}, {t}, %a;\n"
                    f"xor.b{bits} %d, %d, {t};")
        for type_ in (f"u{bits}", f"s{bits}"):
            ints.op(f"mad.cc.{type_}", 3, bits,
                    f"mad.lo.cc.{type_} {t}, %a, %b, %c;\nmadc.hi.cc.{type_} %d, %a, %b, %c;\n"
                    f"madc.lo.{type_} {t}, {t}, %c, %d;\nxor.b{bits} %d, %d, {t};")


def buildDots(suite):
    ints = Ints(suite, "dot")
    for a in ("s32", "u32"):
        for b in ("s32", "u32"):
            ints.op(f"dp4a.{a}.{b}", 3, 32, f"dp4a.{a}.{b} %d, %a, %b, %c;")
            for half in ("lo", "hi"):
                ints.op(f"dp2a.{half}.{a}.{b}", 3, 32, f"dp2a.{half}.{a}.{b} %d, %a, %b, %c;")
