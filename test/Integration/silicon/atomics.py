# ===- atomics.py - atom and red -------------------------------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every thread has an element of its own, so that the old value and the new one are
# defined; sums over one address use integers, whose order does not matter.
#
# ===-----------------------------------------------------------------------===#

FORMS = [("add", t, l) for t, l in (("u32", "i"), ("s32", "i"), ("u64", "l"), ("f32", "f"), ("f64", "d"), ("noftz.f16", "h"),
                                    ("noftz.f16x2", "hx"), ("noftz.bf16", "g"), ("noftz.bf16x2", "gx"))]
FORMS += [(op, t, l) for op in ("min", "max") for t, l in (("u32", "i"), ("s32", "i"), ("u64", "l"), ("s64", "l"))]
FORMS += [(op, t, l) for op in ("and", "or", "xor", "exch") for t, l in (("b32", "i"), ("b64", "l"))]
FORMS += [(op, "u32", "i") for op in ("inc", "dec")]
KIND = {"i": "b32", "l": "b64", "f": "b32", "d": "b64", "h": "b16", "g": "b16", "hx": "b32", "gx": "b32"}


def build(suite):
    for op, type_, letter in FORMS:
        target = "sm_90a" if "bf16" in type_ else "sm_80"
        kind = KIND[letter]
        operand, memory = [("%b", f"{letter}2b")], f"{letter}2a"
        for space in ("global", "shared"):
            order = f"{op}.{type_}"
            # Shared memory: the element goes there and back.
            size = {"b16": 2, "b32": 4, "b64": 8}[kind]
            enter = leave = ""
            at = "%mem"
            if space == "shared":
                enter = (f"mov.u32 %r1, cell;\nmad.lo.u32 %r1, %t, 8, %r1;\nld.global.{kind} %d, [%mem];\nst.shared.{kind} [%r1], %d;\n")
                leave = f"\n.reg .{kind} %s;\nld.shared.{kind} %s, [%r1];\nst.global.{kind} [%mem], %s;"
                at = "%r1"
            declare = ".shared .align 8 .b8 cell[2048];\n" if space == "shared" else ""
            suite.scalar("atom", f"atom.{space}.{order}", f"{declare}{enter}atom.{space}.{order} %d, [{at}], %b;{leave}",
                         operand, [("%d", kind)], target=target, memory=memory)
            if op != "exch":
                suite.scalar("red", f"red.{space}.{order}", f"{declare}{enter.replace('%d', '%x')}red.{space}.{order} [{at}], %b;{leave}\nmov.{kind} %d, 0;"
                             if kind != "b16" else f"{declare}{enter.replace('%d', '%x')}red.{space}.{order} [{at}], %b;{leave}\nmov.u16 %d, 0;",
                             operand + [("%x", f"{letter}2b")], [("%d", kind)], target=target, memory=memory)
    for kind, letter in (("b16", "s"), ("b32", "i"), ("b64", "l")):
        # Half of the elements compare equal.
        body = (f"and.b32 %r0, %i, 1;\nsetp.eq.u32 %p, %r0, 0;\n@%p ld.global.{kind} %b, [%mem];\n"
                f"atom.global.cas.{kind} %d, [%mem], %b, %c;")
        suite.scalar("atom", f"atom.global.cas.{kind}", body, [("%b", f"{letter}3b"), ("%c", f"{letter}3c")], [("%d", kind)],
                     memory=f"{letter}3a")
    for scope in ("cta", "gpu", "sys"):
        for order in ("relaxed", "acquire", "release", "acq_rel"):
            suite.scalar("atom", f"atom.{order}.{scope}.add.u32", f"atom.{order}.{scope}.global.add.u32 %d, [%mem], %b;",
                         [("%b", "i2b")], [("%d", "b32")], memory="i2a")
    # All threads at eight addresses of the first elements.
    for op, type_ in (("add", "u32"), ("add", "u64"), ("min", "s32"), ("max", "u32"), ("and", "b32"), ("or", "b32"), ("xor", "b32"),
                      ("max", "s64")):
        wide = type_.endswith("64")
        body = (f"ld.param.u64 %mem, [p1];\nand.b32 %r0, %i, 7;\nmul.wide.u32 %w0, %r0, {8 if wide else 4};\nadd.u64 %mem, %mem, %w0;\n"
                f"red.global.{op}.{type_} [%mem], %b;\nmov.b32 %d, 0;")
        suite.scalar("red", f"contended.{op}.{type_}", body, [("%b", "l2b" if wide else "i2b")], [("%d", "b32")],
                     memory="l2a" if wide else "i2a")
