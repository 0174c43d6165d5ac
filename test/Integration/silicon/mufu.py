# ===- mufu.py - approximate functions -------------------------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# `approx`: every exponent and sign with 128 mantissas. `mufu`: all 2^23 mantissas
# of an exponent; their differences from correct rounding are what --tables writes.
#
# ===-----------------------------------------------------------------------===#

FUNCTIONS = ("rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh")
# Biased exponents, and the sign: where another table or another reduction is used.
SWEEPS = {"rcp": (127,), "sqrt": (127, 128), "rsqrt": (127, 128), "ex2": (126, 127, 128, 122, 127 | 256),
          "lg2": (126, 127, 128), "sin": (124, 126, 127, 128), "cos": (124, 126, 127, 128),
          "tanh": (118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129)}


def build(suite):
    for function in FUNCTIONS:
        for ftz in ("", ".ftz") if function != "tanh" else ("",):
            form = f"{function}.approx{ftz}.f32"
            suite.scalar("approx", form,
                         "shr.b32 %r0, %i, 7;\nshl.b32 %r0, %r0, 23;\nand.b32 %r1, %i, 127;\nmul.lo.u32 %r1, %r1, 0x10A3B;\n"
                         f"mul.lo.u32 %r2, %i, 0x9E3779B1;\nshr.b32 %r2, %r2, 17;\nxor.b32 %r1, %r1, %r2;\nand.b32 %r1, %r1, 0x7FFFFF;\n"
                         f"or.b32 %r0, %r0, %r1;\n{form} %d, %r0;", [], [("%d", "f32")], count=65536)
    for type_ in ("f16", "bf16"):
        for form in (f"tanh.approx.{type_}", "ex2.approx.f16" if type_ == "f16" else "ex2.approx.ftz.bf16"):
            suite.scalar("approx", form, f"cvt.u16.u32 %h0, %i;\n{form} %d, %h0;", [], [("%d", "b16")], count=65536,
                         target="sm_80" if type_ == "f16" else "sm_90a")
            pair = form + "x2"
            suite.scalar("approx", pair, f"mul.lo.u32 %r0, %i, 0x9E3779B1;\nand.b32 %r0, %r0, 0xFFFF0000;\nor.b32 %r0, %r0, %i;\n"
                         f"{pair} %d, %r0;", [], [("%d", "b32")], count=65536, target="sm_80" if type_ == "f16" else "sm_90a")
    if suite.isQuick:
        return
    for function, exponents in SWEEPS.items():
        for exponent in exponents:
            form = f"{function}.approx{'' if function == 'tanh' else '.ftz'}.f32"
            suite.scalar("mufu", f"{form}-{exponent}", f"add.u32 %r0, %c0, %i;\n{form} %d, %r0;", [], [("%d", "f32")],
                         count=1 << 23, constants=[exponent << 23])
