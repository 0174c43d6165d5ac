# ===- matrix.py - mma.sync, ldmatrix, stmatrix, movmatrix -----------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Fragments go from memory to registers as they are: register r of lane l of warp w
# is word (w * registers + r) * 32 + l. So layouts are under test as well as sums. The
# target is sm_90a, as sums are those of the target's own tensor core.
#
# ===-----------------------------------------------------------------------===#

import re

from block import *
from suite import Buffer
from values import BITS, operand

WARPS = 256

FORMS = []
for m, k, kinds in ((16, 8, ("f16", "bf16")), (16, 16, ("f16", "bf16"))):
    for a in kinds:
        FORMS += [(m, 8, k, "f32", a, a, "")] + ([(m, 8, k, "f16", a, a, "")] if a == "f16" else [])
FORMS += [(16, 8, k, "f32", "tf32", "tf32", "") for k in (4, 8)]
FORMS += [(m, 8, k, "s32", a, b, sat) for m, k in ((8, 16), (16, 16), (16, 32)) for a in ("s8", "u8") for b in ("s8", "u8") for sat in ("", ".satfinite")]
FORMS += [(m, 8, k, "s32", a, b, sat) for m, k in ((8, 32), (16, 32), (16, 64)) for a in ("s4", "u4") for b in ("s4", "u4") for sat in ("", ".satfinite")]
FORMS += [(m, 8, k, "s32", "b1", "b1", op) for m, k in ((8, 128), (16, 128), (16, 256)) for op in (".xor.popc", ".and.popc")]
FORMS += [(8, 8, 4, "f64", "f64", "f64", "")] + [(16, 8, k, "f64", "f64", "f64", "") for k in (4, 8, 16)]
FORMS += [(16, 8, 32, "f32", a, b, "") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")]


def registers(rows, columns, type_):
    """Registers of a lane, of 32 bits or, for f64, 64."""
    return rows * columns * BITS[type_] // (64 if type_ == "f64" else 32) // 32


def mma(suite, m, n, k, d, a, b, extra):
    width, size = ("b64", 8) if a == "f64" else ("b32", 4)
    counts = {"a": registers(m, k, a), "b": registers(n, k, b), "c": registers(m, n, d)}
    types = {"a": a, "b": b, "c": d}
    buffers, code = [], ENTER + "  mov.u32 %r0, %ctaid.x;\n  mad.lo.u32 %t, %r0, %n, %t;\n  shr.b32 %r0, %t, 5;\n  and.b32 %r1, %t, 31;\n"
    code += "".join(f"  .reg .{width} %{name}<{count}>;\n" for name, count in {**counts, "d": counts["c"]}.items())

    def at(name, param):
        return (f"  mul.lo.u32 %r2, %r0, {32 * counts[name]};\n  add.u32 %r2, %r2, %r1;\n  mul.wide.u32 %off, %r2, {size};\n"
                f"  ld.param.u64 %x, [p{param}];\n  add.u64 %at, %x, %off;\n")

    for i, (name, count) in enumerate(counts.items()):
        words = WARPS * 32 * count
        data = operand(types[name], words * size * 8 // BITS[types[name]], 100 + i, name == "c")
        buffers.append(Buffer(f"mma_{name}_{types[name]}_{count}", width, words, "input", data.view(np.int64 if size == 8 else np.int32), isShared=True))
        code += at(name, i) + "".join(f"  ld.global.{width} %{name}{r}, [%at+{32 * size * r}];\n" for r in range(count))
    vector = lambda name, count: "{" + ", ".join(f"%{name}{r}" for r in range(count)) + "}"
    saturate, op = (extra, "") if extra.startswith(".sat") else ("", extra)
    # ptxas wants f64 operands in registers of that type
    if a == "f64":
        code = code.replace(".reg .b64 %a<", ".reg .f64 %a<").replace(".reg .b64 %b<", ".reg .f64 %b<").replace(
            ".reg .b64 %c<", ".reg .f64 %c<").replace(".reg .b64 %d<", ".reg .f64 %d<")
        code = re.sub(r"ld\.global\.b64 %([abc])", r"ld.global.f64 %\1", code)
    elif d == "f32":
        code = code.replace(f".reg .b32 %c<", ".reg .f32 %c<").replace(".reg .b32 %d<", ".reg .f32 %d<")
        code = code.replace("ld.global.b32 %c", "ld.global.f32 %c")
    form = f"mma.sync.aligned.m{m}n{n}k{k}.row.col{saturate}.{d}.{a}.{b}.{d}{op}"
    code += f"  {form}\n    {vector('d', counts['c'])}, {vector('a', counts['a'])}, {vector('b', counts['b'])}, {vector('c', counts['c'])};\n"
    kind = {"f32": "f32", "f64": "f64"}.get(d, "b32")
    code += at("c", 3) + "".join(f"  st.global.{kind} [%at+{32 * size * r}], %d{r};\n" for r in range(counts["c"]))
    y = Buffer("d", {"f32": "f32", "f64": "f64"}.get(d, "b32"), WARPS * 32 * counts["c"])
    buffers.append(y)
    suite.add("mma", f"m{m}n{n}k{k}.{d}.{a}.{b}{extra}", code + "  ret;\n", buffers, buffers, grid=WARPS // 4, block=128,
              target="sm_90a", shared=DATA, declarations=SHARED)


def buildMoves(suite):
    x = lambda: Buffer("x", "u8", 4096, "input", pattern(4096, 5))
    for count in (1, 2, 4):
        for trans in ("", ".trans"):
            names = ", ".join(f"%r{20 + i}" for i in range(count))
            rows = "  mul.lo.u32 %r2, %t, 37;\n  and.b32 %r2, %r2, 255;\n  shl.b32 %r2, %r2, 4;\n  add.u32 %r2, %r2, %data;\n"  # any row of 16 bytes
            at = f"  ld.param.u64 %y, [p1];\n  mul.wide.u32 %off, %t, {4 * count};\n  add.u64 %at, %y, %off;\n"
            y = Buffer("y", "b32", 128 * count)
            a = x()
            suite.add("ldmatrix", f"ldmatrix.x{count}{trans}", ENTER + load(0, 4096) + SYNC + rows +
                      f"  ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{names}}}, [%r2];\n" + at +
                      "".join(f"  st.global.b32 [%at+{4 * i}], %r{20 + i};\n" for i in range(count)) + "  ret;\n", [a, y], [a, y], block=128,
                      shared=DATA + 4096, target="sm_80", declarations=SHARED)
            y = Buffer("y", "u8", 4096)
            a = x()
            get = "".join(f"  ld.global.b32 %r{20 + i}, [%at+{512 * i}];\n" for i in range(count))
            suite.add("ldmatrix", f"stmatrix.x{count}{trans}", ENTER + fill(4096) + SYNC + rows +
                      "  ld.param.u64 %x, [p0];\n  mul.wide.u32 %off, %t, 4;\n  add.u64 %at, %x, %off;\n" + get +
                      f"  stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [%r2], {{{names}}};\n" + SYNC + dump(1, 4096) + "  ret;\n",
                      [a, y], [a, y], block=128, shared=DATA + 4096, declarations=SHARED)
    suite.scalar("ldmatrix", "movmatrix", "movmatrix.sync.aligned.m8n8.trans.b16 %d, %a;", [("%a", "bits")], [("%d", "b32")])


def build(suite):
    for form in FORMS:
        mma(suite, *form)
    buildMoves(suite)
