# ===- wgmma.py - products of a warpgroup from shared memory ---------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Shared memory is filled with an image as it is, and descriptors point into it, so
# that swizzles and strides are under test. Two instructions add up.
#
# ===-----------------------------------------------------------------------===#

import re

from block import *
from suite import Buffer
from values import BITS, operand

A_BYTES, B_BYTES, BLOCKS = 16384, 32768, 8
SWIZZLE = {"none": 0, "b128": 1, "b64": 2, "b32": 3}  # bits 63:62 of the descriptor
WIDTH = {"none": 16, "b128": 128, "b64": 64, "b32": 32}


def descriptor(register, base, leading, stride, swizzle):
    fixed = (leading >> 4) << 16 | (stride >> 4) << 32 | SWIZZLE[swizzle] << 62
    return (f"  and.b32 %r0, {base}, 0x3FFFF;\n  shr.b32 %r0, %r0, 4;\n  cvt.u64.u32 {register}, %r0;\n"
            f"  or.b64 {register}, {register}, 0x{fixed:016X};\n")


def strides(swizzle, isMajorK, rows):
    """Leading and stride byte offsets of tiles that lie one after the other."""
    if swizzle == "none":
        return (128, 256) if isMajorK else (128 * rows // 8, 128)
    return (16, 8 * WIDTH[swizzle]) if isMajorK else (8 * WIDTH[swizzle] * 2, 8 * WIDTH[swizzle])


def wgmma(suite, name, n, k, d, a, b, swizzle="none", trans=(0, 0), scales=(1, 1), a_in_registers=False, extra="", scale_d=True):
    regs = n // 2 if d != "f16" else n // 4
    code = ENTER + "  .reg .b32 %d<128>, %a<4>;\n" + (
        "  ld.param.u64 %x, [p0];\n  mov.u32 %r1, %ctaid.x;\n"
        f"  mul.wide.u32 %off, %r1, {A_BYTES};\n  add.u64 %w8, %x, %off;\n"
        f"  ld.param.u64 %x, [p1];\n  mul.wide.u32 %off, %r1, {B_BYTES};\n  add.u64 %w9, %x, %off;\n")
    copy = lambda source, count, at: loop(
        f"  mul.wide.u32 %off, %i, 4;\n  add.u64 %at, {source}, %off;\n  ld.global.b32 %r1, [%at];\n  shl.b32 %r0, %i, 2;\n"
        f"  add.u32 %r0, %r0, %data;\n  st.shared.b32 [%r0+{at}], %r1;\n", count // 4)
    code += copy("%w8", A_BYTES, 0) + copy("%w9", B_BYTES, A_BYTES) + PROXY + SYNC
    code += f"  add.u32 %r5, %data, {A_BYTES};\n"
    code += descriptor("%w4", "%data", *strides(swizzle, not trans[0], 64), swizzle) + descriptor("%w5", "%r5", *strides(swizzle, not trans[1], n), swizzle)
    code += (f"  mov.u32 %r1, %ctaid.x;\n  mad.lo.u32 %r1, %r1, 128, %t;\n  mul.lo.u32 %r1, %r1, {4 * regs};\n  cvt.u64.u32 %off, %r1;\n"
             "  ld.param.u64 %x, [p2];\n  add.u64 %w10, %x, %off;\n  ld.param.u64 %x, [p3];\n  add.u64 %w11, %x, %off;\n")
    code += "".join(f"  ld.global.b32 %d{r}, [%w10+{4 * r}];\n" for r in range(regs))
    if a_in_registers:
        code += "  mul.wide.u32 %off, %t, 16;\n  add.u64 %at, %w8, %off;\n  ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%at];\n"
    code += f"  setp.ne.u32 %p, {1 if scale_d else 0}, 0;\n  setp.ne.u32 %q, 1, 0;\n"
    vector = "{" + ", ".join(f"%d{r}" for r in range(regs)) + "}"
    source = "{%a0, %a1, %a2, %a3}" if a_in_registers else "%w4"
    isInteger = d == "s32"
    tail = "" if isInteger else f", {scales[0]}, {scales[1]}"
    if a in ("f16", "bf16"):
        tail += f", {trans[1]}" if a_in_registers else f", {trans[0]}, {trans[1]}"
    form = f"wgmma.mma_async.sync.aligned.m64n{n}k{k}.{d}.{a}.{b}{extra}"
    code += "  wgmma.fence.sync.aligned;\n"
    code += f"  {form}\n    {vector}, {source}, %w5, %p{tail};\n"
    # The second reads the next 32 bytes of a row, or the next tile.
    code += f"  add.u64 %w4, %w4, 2;\n  add.u64 %w5, %w5, 2;\n  {form}\n    {vector}, {source}, %w5, %q{tail};\n"
    code += "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n"
    code += "".join(f"  st.global.b32 [%w11+{4 * r}], %d{r};\n" for r in range(regs))
    words = BLOCKS * 128 * regs
    buffers = [Buffer(f"wgmma_a_{a}", "u8", BLOCKS * A_BYTES, "input", operand(a, BLOCKS * A_BYTES * 8 // BITS[a], 41), isShared=True),
               Buffer(f"wgmma_b_{b}", "u8", BLOCKS * B_BYTES, "input", operand(b, BLOCKS * B_BYTES * 8 // BITS[b], 42), isShared=True),
               Buffer(f"wgmma_c_{d}_{regs}", "b32", words, "input", operand(d, words * 32 // BITS[d], 43, True).view(np.int32), isShared=True),
               Buffer("d", "f32" if d == "f32" else "b32", words)]
    text = code + "  ret;\n"
    if d == "f32":
        text = text.replace(".reg .b32 %d<128>, %a<4>;", ".reg .f32 %d<128>;\n  .reg .b32 %a<4>;").replace("ld.global.b32 %d", "ld.global.f32 %d")
        text = re.sub(r"st\.global\.b32 (\[%w11\+\d+\], %d)", r"st.global.f32 \1", text)
    suite.add("wgmma", name, text, buffers, buffers, grid=BLOCKS, block=128, shared=DATA + A_BYTES + B_BYTES, declarations=SHARED)


def build(suite):
    for a in ("bf16", "f16"):
        for d in ("f32", "f16") if a == "f16" else ("f32",):
            for n in (8, 64, 256):
                wgmma(suite, f"n{n}.{d}.{a}", n, 16, d, a, a, "b128")
            for swizzle in SWIZZLE:
                wgmma(suite, f"n32.{d}.{a}.{swizzle}", 32, 16, d, a, a, swizzle)
                if d == "f32":
                    for trans in ((0, 1), (1, 0), (1, 1)):
                        wgmma(suite, f"n64.{d}.{a}.{swizzle}-trans{trans[0]}{trans[1]}", 64, 16, d, a, a, swizzle, trans)
            wgmma(suite, f"n16.{d}.{a}.minus", 16, 16, d, a, a, "b64", scales=(-1, 1))
            wgmma(suite, f"n16.{d}.{a}.minus-both", 16, 16, d, a, a, "b64", scales=(-1, -1))
            wgmma(suite, f"n16.{d}.{a}.from-zero", 16, 16, d, a, a, "b64", scale_d=False)
            wgmma(suite, f"n16.{d}.{a}.registers", 16, 16, d, a, a, "b64", a_in_registers=True)
            wgmma(suite, f"n16.{d}.{a}.registers-trans", 16, 16, d, a, a, "b64", (0, 1), a_in_registers=True)
    for a in ("e4m3", "e5m2"):
        for b in ("e4m3", "e5m2"):
            for d in ("f32", "f16"):
                wgmma(suite, f"n64.{d}.{a}.{b}", 64, 32, d, a, b, "b128")
        for swizzle in SWIZZLE:
            wgmma(suite, f"n24.f32.{a}.{swizzle}", 24, 32, "f32", a, a, swizzle)
        wgmma(suite, f"n256.f32.{a}", 256, 32, "f32", a, a, "b128")
        wgmma(suite, f"n8.f32.{a}.registers", 8, 32, "f32", a, a, "b32", a_in_registers=True)
        wgmma(suite, f"n8.f32.{a}.from-zero", 8, 32, "f32", a, a, "b32", scale_d=False)
    for n in (8, 128):
        wgmma(suite, f"n{n}.f32.tf32", n, 8, "f32", "tf32", "tf32", "b128")
    for a in ("s8", "u8"):
        for b in ("s8", "u8"):
            for sat in ("", ".satfinite"):
                wgmma(suite, f"n32.s32.{a}.{b}{sat}", 32, 32, "s32", a, b, "b128", extra=sat)
    wgmma(suite, "n16.s32.b1", 16, 256, "s32", "b1", "b1", "b128", extra=".and.popc")
