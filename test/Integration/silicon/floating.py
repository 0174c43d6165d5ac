# ===- floating.py - f32, f64, f16 and bf16 arithmetic programs ------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#

ROUNDINGS = ("rn", "rz", "rm", "rp")


class Floats:
    def __init__(self, suite, group, letter, kind):
        self.suite, self.group, self.letter, self.kind = suite, group, letter, kind

    def op(self, name, arity, body, result=None, target="sm_80"):
        ins = [(f"%{r}", f"{self.letter}{arity}{r}") for r in "abc"[:arity]]
        self.suite.scalar(self.group, name, body, ins, [("%d", result or self.kind)], target=target)

    def plain(self, op, arity, target="sm_80", result=None):
        self.op(op, arity, f"{op} %d, {', '.join(['%a', '%b', '%c'][:arity])};", target=target, result=result)


COMPARES = ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")


def buildSingle(suite):
    f = Floats(suite, "f32", "f", "f32")
    for rounding in ROUNDINGS:
        for op, arity in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3)):
            for ftz in ("", ".ftz"):
                for sat in ("", ".sat"):
                    f.plain(f"{op}.{rounding}{ftz}{sat}.f32", arity)
        for ftz in ("", ".ftz"):
            f.plain(f"div.{rounding}{ftz}.f32", 2)
            f.plain(f"rcp.{rounding}{ftz}.f32", 1)
            f.plain(f"sqrt.{rounding}{ftz}.f32", 1)
    for ftz in ("", ".ftz"):
        for op in ("div.full", "div.approx"):
            f.plain(f"{op}{ftz}.f32", 2)
        for op in ("rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2"):
            f.plain(f"{op}.approx{ftz}.f32", 1)
        for op in ("abs", "neg"):
            f.plain(f"{op}{ftz}.f32", 1)
        for op in ("min", "max"):
            for nan in ("", ".NaN"):
                for xorsign in ("", ".xorsign.abs"):
                    f.plain(f"{op}{ftz}{nan}{xorsign}.f32", 2, "sm_86" if xorsign else "sm_80")
        for compare in COMPARES:
            f.op(f"setp.{compare}{ftz}.f32", 2, f"setp.{compare}{ftz}.f32 %p, %a, %b;\nselp.b32 %d, 1, 0, %p;", "b32")
        f.op(f"set.lt{ftz}.f32.f32", 2, f"set.lt{ftz}.f32.f32 %d, %a, %b;")
        f.op(f"set.gtu.and{ftz}.u32.f32", 2, f"setp.gt.f32 %p, %b, 0f3F800000;\nset.gtu.and{ftz}.u32.f32 %d, %a, %b, %p;", "b32")
    f.plain("tanh.approx.f32", 1)
    f.plain("copysign.f32", 2)
    for test in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
        f.op(f"testp.{test}.f32", 1, f"testp.{test}.f32 %p, %a;\nselp.b32 %d, 1, 0, %p;", "b32")


def buildDouble(suite):
    f = Floats(suite, "f64", "d", "f64")
    for rounding in ROUNDINGS:
        for op, arity in (("add", 2), ("sub", 2), ("mul", 2), ("fma", 3), ("div", 2), ("rcp", 1), ("sqrt", 1)):
            f.plain(f"{op}.{rounding}.f64", arity)
    for op, arity in (("rcp.approx.ftz", 1), ("rsqrt.approx", 1), ("rsqrt.approx.ftz", 1), ("abs", 1), ("neg", 1),
                      ("min", 2), ("max", 2), ("copysign", 2)):
        f.plain(f"{op}.f64", arity)
    for compare in COMPARES:
        f.op(f"setp.{compare}.f64", 2, f"setp.{compare}.f64 %p, %a, %b;\nselp.b32 %d, 1, 0, %p;", "b32")


def buildHalf(suite):
    for group, letter, types in (("f16", "h", ("f16", "f16x2")), ("bf16", "g", ("bf16", "bf16x2"))):
        isHalf = group == "f16"
        for type_ in types:
            packed = type_.endswith("x2")
            f = Floats(suite, group, letter + ("x" if packed else ""), "b32" if packed else "b16")
            add = lambda op, arity, target="sm_80": f.plain(f"{op}.{type_}", arity, target)
            for op in ("add", "sub", "mul"):
                if isHalf:
                    for mods in ("", ".rn", ".ftz", ".sat", ".ftz.sat"):
                        add(op + mods, 2)
                else:
                    add(op, 2, "sm_90a")
                    add(op + ".rn", 2, "sm_90a")
            for mods in ("", ".relu") + ((".ftz", ".sat", ".ftz.sat", ".ftz.relu") if isHalf else ()):
                add("fma.rn" + mods, 3)
            for mods in (".oob", ".oob.relu"):
                add("fma.rn" + mods, 3, "sm_90a")
            for op in ("min", "max"):
                for ftz in ("", ".ftz") if isHalf else ("",):
                    for nan in ("", ".NaN"):
                        for xorsign in ("", ".xorsign.abs"):
                            add(f"{op}{ftz}{nan}{xorsign}", 2, "sm_86" if xorsign else "sm_80")
            for op in ("abs", "neg"):
                for ftz in ("", ".ftz") if isHalf else ("",):
                    add(op + ftz, 1)
            add("tanh.approx", 1, "sm_80" if isHalf else "sm_90a")
            add("ex2.approx" if isHalf else "ex2.approx.ftz", 1, "sm_80" if isHalf else "sm_90a")
        f = Floats(suite, group, letter, "b32")
        for compare in COMPARES:
            for ftz in ("", ".ftz") if isHalf else ("",):
                f.op(f"setp.{compare}{ftz}.{group}", 2,
                     f"setp.{compare}{ftz}.{group} %p, %a, %b;\nselp.b32 %d, 1, 0, %p;", target="sm_80" if isHalf else "sm_90a")
        f = Floats(suite, group, letter + "x", "b32")
        for compare in ("lt", "geu", "nan"):
            f.op(f"setp.{compare}.{group}x2", 2, f"setp.{compare}.{group}x2 %p|%q, %a, %b;\nselp.b32 %d, 1, 0, %p;\n"
                 "selp.b32 %r0, 2, 0, %q;\nor.b32 %d, %d, %r0;", target="sm_80" if isHalf else "sm_90a")


def buildBorders(suite):
    """.ftz where rounding decides whether a result is subnormal; NaN among three operands."""
    for rounding in ROUNDINGS:
        for mods in ("", ".ftz", ".ftz.sat"):
            suite.scalar("border", f"mul.{rounding}{mods}.f32", f"mul.{rounding}{mods}.f32 %d, %a, %b;", [("%a", "fba"), ("%b", "fbb")], [("%d", "f32")])
            suite.scalar("border", f"fma.{rounding}{mods}.f32", f"fma.{rounding}{mods}.f32 %d, %a, %b, %c;",
                         [("%a", "fta"), ("%b", "ftb"), ("%c", "ftc")], [("%d", "f32")])
            if not mods.endswith("sat"):
                suite.scalar("border", f"div.{rounding}{mods}.f32", f"div.{rounding}{mods}.f32 %d, %a, %b;", [("%a", "fqa"), ("%b", "fqb")], [("%d", "f32")])
    for type_, letter, kind in (("f32", "f", "f32"), ("f64", "d", "f64"), ("f16", "h", "b16"), ("bf16", "g", "b16")):
        names = [(f"%{c}", f"{letter}n{c}") for c in "abc"]
        suite.scalar("border", f"fma-nan.{type_}", f"fma.rn.{type_} %d, %a, %b, %c;", names, [("%d", kind)])
    for rounding in ("rz", "rm"):
        suite.scalar("border", f"fma-nan.{rounding}.f64", f"fma.{rounding}.f64 %d, %a, %b, %c;", [(f"%{c}", f"dn{c}") for c in "abc"], [("%d", "f64")])
    suite.scalar("border", "cvt.rn.tf32.f32", "cvt.rn.tf32.f32 %d, %a;", [("%a", "tf32")], [("%d", "f32")], target="sm_90a")


def build(suite):
    buildBorders(suite)
    buildSingle(suite)
    buildDouble(suite)
    buildHalf(suite)
