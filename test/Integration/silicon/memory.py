# ===- memory.py - loads, stores, address spaces and control ---------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#

from block import *
from suite import Buffer

COUNT = 4096
OWN = ("  ld.param.u64 %x, [p0];\n  ld.param.u64 %y, [p1];\n  mul.wide.u32 %off, %t, 32;\n  add.u64 %x, %x, %off;\n  add.u64 %y, %y, %off;\n")


def program(suite, name, code, declarations="", target="sm_80"):
    x = Buffer("x", "u8", COUNT, "input", pattern(COUNT, 21))
    y = Buffer("y", "u8", COUNT)
    suite.add("memory", name, ENTER + OWN + code + "  ret;\n", [x, y], [x, y], block=128, shared=DATA + 8192, target=target,
              declarations=SHARED + declarations)


def buildLoads(suite):
    # Narrow loads fill wider registers by their sign; narrow stores cut.
    for type_ in ("u8", "s8", "b8", "u16", "s16", "b16"):
        for bits in (16, 32, 64):
            if int(type_[1:]) > bits:
                continue
            register = {16: "%h0", 32: "%r0", 64: "%w0"}[bits]
            program(suite, f"ld.{type_}-{bits}", f"  ld.global.{type_} {register}, [%x+6];\n  st.global.b{bits} [%y], {register};\n"
                    f"  st.global.{type_} [%y+16], {register};\n")
    for type_ in ("u32", "s32"):
        program(suite, f"ld.{type_}-64", f"  ld.global.{type_} %w0, [%x+4];\n  st.global.b64 [%y], %w0;\n  st.global.{type_} [%y+16], %w0;\n")
    for type_, registers in (("b8", "%h"), ("b16", "%h"), ("b32", "%r"), ("b64", "%w")):
        for count in (2, 4):
            size = int(type_[1:]) // 8
            if size * count > 16:
                continue
            names = "{" + ", ".join(f"{registers}{i}" for i in range(count)) + "}"
            back = "{" + ", ".join(f"{registers}{count - 1 - i}" for i in range(count)) + "}"
            for space in ("global", "shared", "generic"):
                ld, st = ("ld.global", "st.global") if space == "global" else ("ld", "st")
                code = f"  {ld}.v{count}.{type_} {names}, [%x];\n  {st}.v{count}.{type_} [%y], {back};\n"
                if space == "shared":
                    code = (f"  mad.lo.u32 %r20, %t, 16, %data;\n  ld.global.v{count}.{type_} {names}, [%x];\n  st.shared.v{count}.{type_} [%r20], {back};\n"
                            f"  ld.shared.v{count}.{type_} {names}, [%r20];\n  st.global.v{count}.{type_} [%y], {names};\n")
                program(suite, f"v{count}.{type_}-{space}", code)
    for mods in ("nc", "ca", "cg", "cs", "lu", "cv", "volatile", "relaxed.gpu", "acquire.sys", "nc.L1::no_allocate.L2::128B"):
        form = f"ld.volatile.global.b32" if mods == "volatile" else f"ld.{mods}.global.b32" if "." in mods and "nc" not in mods else f"ld.global.{mods}.b32"
        program(suite, f"ld-{mods.replace('::', '-')}", f"  {form} %r0, [%x];\n  st.global.b32 [%y], %r0;\n")
    for mods in ("wb", "cg", "cs", "wt"):
        program(suite, f"st-{mods}", f"  ld.global.b32 %r0, [%x];\n  st.global.{mods}.b32 [%y], %r0;\n")


def buildSpaces(suite):
    program(suite, "local", "  .local .align 16 .b8 room[256];\n  mov.u32 %r1, room;\n  and.b32 %r2, %t, 15;\n  shl.b32 %r2, %r2, 4;\n  add.u32 %r1, %r1, %r2;\n"
            "  ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%x];\n  st.local.v4.b32 [%r1], {%r7, %r6, %r5, %r4};\n  ld.local.b64 %w0, [%r1+8];\n"
            "  ld.local.b8 %h0, [%r1+3];\n  st.global.b64 [%y], %w0;\n  st.global.b8 [%y+8], %h0;\n  cvt.u64.u32 %w1, %r1;\n  cvta.local.u64 %w1, %w1;\n"
            "  ld.b32 %r8, [%w1+4];\n  st.global.b32 [%y+12], %r8;\n")
    program(suite, "const", "  mov.u64 %w0, table;\n  and.b32 %r1, %t, 7;\n  mul.wide.u32 %w1, %r1, 4;\n  add.u64 %w0, %w0, %w1;\n  ld.const.b32 %r0, [%w0];\n"
            "  st.global.b32 [%y], %r0;\n  ld.const.b32 %r0, [table+20];\n  st.global.b32 [%y+4], %r0;\n  ld.const.f32 %r0, [floats+4];\n"
            "  st.global.b32 [%y+8], %r0;\n  ld.const.b8 %h0, [bytes+2];\n  st.global.b8 [%y+12], %h0;\n",
            ".const .align 4 .b32 table[8] = {1, -2, 0x30, 4000000000, 5, 6, 7, 8};\n.const .align 4 .f32 floats[2] = {1.5, 0f40490FDB};\n"
            ".const .align 1 .b8 bytes[4] = {1, 255, 0x7F, 4};\n")
    program(suite, "global-variable", "  mov.u64 %w0, cells;\n  mul.wide.u32 %w1, %t, 4;\n  add.u64 %w0, %w0, %w1;\n  ld.global.b32 %r0, [%w0];\n"
            "  add.u32 %r0, %r0, %t;\n  st.global.b32 [%w0], %r0;\n  ld.global.b32 %r1, [%w0];\n  st.global.b32 [%y], %r1;\n",
            ".global .align 8 .b32 cells[128] = {9, 8, 7};\n")
    program(suite, "isspacep", "".join(
        f"  {move}\n" + "".join(f"  isspacep.{space} %p, %w0;\n  selp.b32 %r1, 1, 0, %p;\n  st.global.b8 [%y+{4 * i + j}], %r1;\n"
                                for j, space in enumerate(("global", "shared", "local", "const")))
        for i, move in enumerate(("mov.u64 %w0, %x;", "cvt.u64.u32 %w0, %data;\n  cvta.shared.u64 %w0, %w0;"))))


def buildControl(suite):
    program(suite, "brx", "  ld.global.b32 %r0, [%x];\n  and.b32 %r0, %r0, 3;\n  ts: .branchtargets A, B, C, D;\n  brx.idx %r0, ts;\n"
            "A:\n  mov.b32 %r1, 11;\n  bra OUT;\nB:\n  mov.b32 %r1, 22;\n  bra OUT;\nC:\n  mov.b32 %r1, 33;\nD:\n  mov.b32 %r1, 44;\nOUT:\n  st.global.b32 [%y], %r1;\n")
    program(suite, "loop", "  ld.global.b32 %r0, [%x];\n  and.b32 %r0, %r0, 63;\n  mov.b32 %r1, 1;\nNEXT:\n  setp.eq.u32 %p, %r0, 0;\n  @%p bra OUT;\n"
            "  mad.lo.u32 %r1, %r1, 3, %r0;\n  and.b32 %r2, %r1, 1;\n  setp.eq.u32 %q, %r2, 0;\n  @%q add.u32 %r1, %r1, 5;\n  sub.u32 %r0, %r0, 1;\n  bra NEXT;\n"
            "OUT:\n  st.global.b32 [%y], %r1;\n")
    program(suite, "call", "  {\n  .param .b32 a;\n  .param .align 8 .b8 s[16];\n  .param .b32 back;\n  ld.global.b32 %r0, [%x];\n  st.param.b32 [a], %r0;\n"
            "  st.param.b64 [s], %y;\n  st.param.b32 [s+8], %t;\n  call.uni (back), helper, (a, s);\n  ld.param.b32 %r1, [back];\n  st.global.b32 [%y], %r1;\n  }\n",
            ".func (.param .b32 back) helper(.param .b32 a, .param .align 8 .b8 s[16])\n{\n  .reg .b32 %u, %v;\n  .reg .b64 %z;\n  ld.param.b32 %u, [a];\n"
            "  ld.param.b32 %v, [s+8];\n  ld.param.b64 %z, [s];\n  add.u32 %u, %u, %v;\n  st.global.b32 [%z+8], %u;\n  mul.lo.u32 %u, %u, 7;\n"
            "  st.param.b32 [back], %u;\n  ret;\n}\n")
    program(suite, "call-recursive", "  {\n  .param .b32 a;\n  .param .b32 back;\n  and.b32 %r0, %t, 15;\n  st.param.b32 [a], %r0;\n"
            "  call (back), fold, (a);\n  ld.param.b32 %r1, [back];\n  st.global.b32 [%y], %r1;\n  }\n",
            ".func (.param .b32 back) fold(.param .b32 a)\n{\n  .reg .b32 %u, %v;\n  .reg .pred %p;\n  ld.param.b32 %u, [a];\n  setp.eq.u32 %p, %u, 0;\n"
            "  @%p bra END;\n  {\n  .param .b32 b;\n  .param .b32 c;\n  sub.u32 %v, %u, 1;\n  st.param.b32 [b], %v;\n  call (c), fold, (b);\n  ld.param.b32 %v, [c];\n"
            "  mad.lo.u32 %u, %v, 3, %u;\n  }\nEND:\n  st.param.b32 [back], %u;\n  ret;\n}\n")
    # Recursion of two functions that call each other, to another depth in each lane.
    half = (".func (.param .b32 back) {name}(.param .b32 a)\n{{\n  .reg .b32 %u, %v;\n  .reg .pred %p;\n  ld.param.b32 %u, [a];\n  setp.lt.s32 %p, %u, 1;\n"
            "  @%p bra END;\n  {{\n  .param .b32 b;\n  .param .b32 c;\n  sub.u32 %v, %u, {step};\n  st.param.b32 [b], %v;\n  call (c), {other}, (b);\n"
            "  ld.param.b32 %v, [c];\n  mad.lo.u32 %u, %v, {step}, %u;\n  }}\nEND:\n  st.param.b32 [back], %u;\n  ret;\n}}\n")
    program(suite, "call-mutual", "  {\n  .param .b32 a;\n  .param .b32 back;\n  ld.global.b32 %r0, [%x];\n  and.b32 %r0, %r0, 31;\n  st.param.b32 [a], %r0;\n"
            "  call (back), left, (a);\n  ld.param.b32 %r1, [back];\n  st.global.b32 [%y], %r1;\n  }\n",
            ".func (.param .b32 back) right(.param .b32 a);\n" + half.format(name="left", other="right", step=3) + half.format(name="right", other="left", step=2))
    # Lanes of a warp call different functions of a table.
    each = ".func (.param .b32 back) {name}(.param .b32 a)\n{{\n  .reg .b32 %u;\n  ld.param.b32 %u, [a];\n  {code}\n  st.param.b32 [back], %u;\n  ret;\n}}\n"
    program(suite, "call-table", "  {\n  .param .b32 a;\n  .param .b32 back;\n  ld.global.b32 %r0, [%x];\n  st.param.b32 [a], %r0;\n  and.b32 %r1, %t, 3;\n"
            "  mul.wide.u32 %w0, %r1, 8;\n  mov.u64 %w1, table;\n  add.u64 %w0, %w0, %w1;\n  ld.global.b64 %w1, [%w0];\n"
            "  proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n  call (back), %w1, (a), proto;\n  ld.param.b32 %r2, [back];\n  st.global.b32 [%y], %r2;\n  }\n",
            "".join(each.format(name=name, code=code) for name, code in (("twice", "add.u32 %u, %u, %u;"), ("flip", "not.b32 %u, %u;"), ("count", "popc.b32 %u, %u;")))
            + ".global .align 8 .u64 table[4] = {twice, flip, count, flip};\n")
    program(suite, "scopes", "  mov.b32 %r0, 1;\n  {\n  .reg .b32 %r0;\n  mov.b32 %r0, 2;\n  st.global.b32 [%y], %r0;\n  {\n  .reg .b32 %r0;\n  mov.b32 %r0, 3;\n"
            "  st.global.b32 [%y+4], %r0;\n  bra IN;\nIN:\n  }\n  st.global.b32 [%y+8], %r0;\n  }\n  st.global.b32 [%y+12], %r0;\n")
    program(suite, "vectors", "  ld.global.v2.b32 {%r0, %r1}, [%x];\n  mov.b64 %w0, {%r1, %r0};\n  mov.b64 {%r2, %r3}, %w0;\n  mov.b32 {%h0, %h1}, %r2;\n"
            "  mov.b32 %r4, {%h1, %h0};\n  st.global.v2.b32 [%y], {%r4, %r3};\n  st.global.b64 [%y+8], %w0;\n")
    program(suite, "exit", "  ld.global.b32 %r0, [%x];\n  and.b32 %r1, %r0, 1;\n  setp.eq.u32 %p, %r1, 0;\n  @%p exit;\n  st.global.b32 [%y], %r0;\n")


def build(suite):
    buildLoads(suite)
    buildSpaces(suite)
    buildControl(suite)
