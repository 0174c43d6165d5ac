# ===- copies.py - cp.async and bulk copies --------------------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#

from block import *
from suite import Buffer, BYTES

COUNT = 4096


def program(suite, name, code, target="sm_80", out=COUNT, group="cp_async", threads=128, **more):
    x = Buffer("x", "u8", COUNT, "input", pattern(COUNT, 1))
    y = Buffer("y", "u8", out)
    suite.add(group, name, ENTER + code + "  ret;\n", [x, y], [x, y], block=threads, shared=DATA + 16384,
              target=target, declarations=SHARED, **more)


def buildAsync(suite):
    address = lambda size: (f"  ld.param.u64 %x, [p0];\n  mul.wide.u32 %off, %t, {size};\n  add.u64 %at, %x, %off;\n"
                            f"  mad.lo.u32 %r2, %t, {size}, %data;\n")
    for size in (4, 8, 16):
        for cache in ("ca", "cg") if size == 16 else ("ca",):
            form = f"cp.async.{cache}.shared.global"
            # The whole, a source size of its own for each thread, and none where ignored.
            variants = {
                "": f"  {form} [%r2], [%at], {size};\n",
                "-source": f"  rem.u32 %r3, %t, {size + 1};\n  {form} [%r2], [%at], {size}, %r3;\n",
                "-ignore": f"  and.b32 %r3, %t, 3;\n  setp.eq.u32 %p, %r3, 1;\n  {form} [%r2], [%at], {size}, %p;\n",
            }
            for suffix, issue in variants.items():
                program(suite, f"{cache}.{size}{suffix}", fill(COUNT) + SYNC + address(size) + issue +
                        "  cp.async.commit_group;\n  cp.async.wait_group 0;\n" + SYNC + dump(1, COUNT))
    stages = "".join(f"  cp.async.ca.shared.global [%r2+{k * 1024}], [%at+{(3 - k) * 1024}], 8;\n  cp.async.commit_group;\n" for k in range(4))
    program(suite, "groups", fill(COUNT) + SYNC + address(8) + stages + "  cp.async.wait_group 2;\n" + SYNC + dump(1, 2048) +
            "  cp.async.wait_all;\n" + SYNC + dump(1, 2048, 2048, 2048))
    for noinc, count in (("", 1), (".noinc", 129)):
        program(suite, f"mbarrier{noinc}", fill(COUNT) + init(1, count) + address(16) + "  cp.async.ca.shared.global [%r2], [%at], 16;\n"
                f"  cp.async.mbarrier.arrive{noinc}.shared.b64 [%base];\n" + SYNC +
                "  @%first mbarrier.arrive.shared.b64 %state, [%base];\n" + wait(0) + dump(1, COUNT), target="sm_90a")


def buildBulk(suite):
    for size, source, target in ((16, 0, 0), (32, 48, 16), (1024, 16, 512), (4096, 0, 0), (2000, 1040, 96)):
        program(suite, f"load-{size}", fill(COUNT) + init(1) + "  fence.proxy.async;\n" + SYNC +
                "  @!%first bra GO;\n  ld.param.u64 %x, [p0];\n"
                f"  mbarrier.arrive.expect_tx.shared::cta.b64 %state, [%base], {size};\n"
                f"  add.u64 %x, %x, {source};\n  add.u32 %r2, %data, {target};\n"
                f"  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%x], {size}, [%base];\nGO:\n" +
                wait(0) + dump(1, COUNT), target="sm_90a", group="bulk")
        program(suite, f"store-{size}", load(0, COUNT) + PROXY + SYNC + "  @!%first bra GO;\n  ld.param.u64 %y, [p1];\n"
                f"  add.u64 %y, %y, {target};\n  add.u32 %r2, %data, {source};\n"
                f"  cp.async.bulk.global.shared::cta.bulk_group [%y], [%r2], {size};\n"
                "  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group 0;\nGO:\n", target="sm_90a", group="bulk")


REDUCTIONS = [("add", t, l) for t, l in (("u32", "i"), ("s32", "i"), ("u64", "l"), ("f32", "f"), ("f64", "d"), ("noftz.f16", "h"), ("noftz.bf16", "g"))]
REDUCTIONS += [(op, t, l) for op in ("min", "max") for t, l in (("u32", "i"), ("s32", "i"), ("u64", "l"), ("s64", "l"), ("f16", "h"), ("bf16", "g"))]
REDUCTIONS += [(op, t, l) for op in ("and", "or", "xor") for t, l in (("b32", "i"), ("b64", "l"))]
REDUCTIONS += [(op, "u32", "i") for op in ("inc", "dec")]
KIND = {"i": "b32", "l": "b64", "f": "f32", "d": "f64", "h": "b16", "g": "b16"}


def buildReductions(suite):
    """Pairs of edge values, the second in memory."""
    from inputs import INPUTS
    for op, type_, letter in REDUCTIONS:
        kind = KIND[letter]
        count = 8192 // BYTES[kind]
        a = Buffer("a", kind, count, "input", INPUTS[f"{letter}2a"][:count])
        b = Buffer("b", kind, count, "inout", INPUTS[f"{letter}2b"][:count])
        code = ENTER + load(0, 8192) + PROXY + SYNC + ("  @!%first bra GO;\n  ld.param.u64 %y, [p1];\n"
               f"  cp.reduce.async.bulk.global.shared::cta.bulk_group.{op}.{type_} [%y], [%data], 8192;\n"
               "  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group 0;\nGO:\n  ret;\n")
        suite.add("bulk_reduce", f"{op}.{type_}", code, [a, b], [a, b], block=128, shared=DATA + 8192, declarations=SHARED)


def build(suite):
    buildAsync(suite)
    buildBulk(suite)
    buildReductions(suite)
