# ===- convert.py - cvt programs -------------------------------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Sources of 8 and 16 bits are complete. Sources of 32 bits that become narrower
# floats are all upper halves with sixteen lower ones, among them every rounding
# boundary of the target with both neighbours.
#
# ===-----------------------------------------------------------------------===#

INTEGERS = [s + str(b) for b in (8, 16, 32, 64) for s in ("u", "s")]
FLOAT_BITS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
LETTER = {"f16": "h1a", "bf16": "g1a", "f32": "f1a", "f64": "d1a", 16: "s1a", 32: "i1a", 64: "l1a"}
SWEEP = 65536 * 16


def bits(type_):
    return FLOAT_BITS.get(type_) or int(type_[1:])


def convert(suite, group, form, source, result, load=None, target="sm_80"):
    """`form` without its registers; %d is `result` bits wide."""
    register = {8: "b16", 16: "b16", 32: "b32", 64: "b64"}
    kind = {8: "b8", 16: "b16", 32: "b32", 64: "b64"}[result]
    if source <= 16:  # complete, from the element's number
        body = f".reg .{register[source]} %s;\ncvt.u16.u32 %s, %i;\n{form} %d, %s;"
        suite.scalar(group, form, body, [("%b", "few")], [("%d", kind)], target=target, count=65536)
    else:
        suite.scalar(group, form, f"{form} %d, %a;", [("%a", load)], [("%d", kind)], target=target)


def sweep(suite, group, form, result, sources=1, target="sm_80"):
    """From f32: the upper half is the number's upper 16 bits, the lower one of `lows16`. A quick suite has one in sixteen."""
    suite.sweeps += 1
    if suite.isQuick and suite.sweeps % 16:
        return
    body = ["and.b32 %r0, %i, 15;", "mul.wide.u32 %off, %r0, 4;", "ld.param.u64 %at, [p0];", "add.u64 %at, %at, %off;",
            "ld.global.b32 %r1, [%at];", "shr.b32 %r2, %i, 4;", "shl.b32 %r2, %r2, 16;", "or.b32 %r2, %r2, %r1;"]
    operands = "%r2"
    if sources == 2:  # the other source comes from another element
        body += ["xor.b32 %r3, %r2, 0x92345000;"]
        operands = "%r3, %r2"
    body.append(f"{form} %d, {operands};")
    kind = {8: "b8", 16: "b16", 32: "b32", 64: "b64"}[result]
    suite.scalar(group, form, "\n".join(body), [("%b", "lows16")], [("%d", kind)], target=target, count=SWEEP)


def build(suite):
    for to in INTEGERS:
        for source in INTEGERS:
            for sat in ("", ".sat"):
                if to == source or (sat and bits(to) > bits(source) and (to[0] == source[0] or source[0] == "u")):
                    continue  # nothing to saturate, which ptxas refuses or takes as a move
                convert(suite, "cvt_int", f"cvt{sat}.{to}.{source}", bits(source), bits(to), LETTER.get(bits(source)))
    for to in ("f16", "bf16", "f32", "f64"):
        for source in INTEGERS:
            for rounding in ("rn", "rz", "rm", "rp"):
                if to == "bf16" and bits(source) == 8:
                    continue  # ptxas has none between bf16 and bytes
                convert(suite, "cvt_to_float", f"cvt.{rounding}.{to}.{source}", bits(source), bits(to),
                        LETTER.get(bits(source)), target="sm_90a" if to == "bf16" else "sm_80")
    for source in ("f16", "bf16", "f32", "f64"):
        for to in INTEGERS:
            for rounding in ("rni", "rzi", "rmi", "rpi"):
                if source == "bf16" and bits(to) == 8:
                    continue
                for mods in ("",) + ((".sat",) if source != "bf16" else ()) + ((".ftz",) if source == "f32" else ()):
                    convert(suite, "cvt_to_int", f"cvt.{rounding}{mods}.{to}.{source}", bits(source), bits(to),
                            LETTER[source], target="sm_90a" if source == "bf16" else "sm_80")
    buildFloats(suite)
    buildNarrow(suite)


def buildFloats(suite):
    group = "cvt_float"
    convert(suite, group, "cvt.f32.f16", 16, 32)
    convert(suite, group, "cvt.f32.bf16", 16, 32, target="sm_90a")
    convert(suite, group, "cvt.f64.f16", 16, 64)
    convert(suite, group, "cvt.f64.bf16", 16, 64, target="sm_90a")
    convert(suite, group, "cvt.ftz.f32.f16", 16, 32)
    convert(suite, group, "cvt.sat.f32.f16", 16, 32)
    convert(suite, group, "cvt.f64.f32", 32, 64, "f1a")
    convert(suite, group, "cvt.ftz.f64.f32", 32, 64, "f1a")
    for type_ in ("f16", "f32", "f64"):
        for rounding in ("rni", "rzi", "rmi", "rpi"):
            convert(suite, group, f"cvt.{rounding}.{type_}.{type_}", bits(type_), bits(type_), LETTER[type_])
    for rounding in ("rni", "rzi", "rmi", "rpi"):
        convert(suite, group, f"cvt.{rounding}.bf16.bf16", 16, 16, target="sm_90a")
        convert(suite, group, f"cvt.{rounding}.ftz.f32.f32", 32, 32, "f1a")
    for rounding in ("rn", "rz", "rm", "rp"):
        convert(suite, group, f"cvt.{rounding}.f32.f64", 64, 32, "d1a")
        convert(suite, group, f"cvt.{rounding}.ftz.f32.f64", 64, 32, "d1a")
        convert(suite, group, f"cvt.{rounding}.sat.f32.f64", 64, 32, "d1a")
        convert(suite, group, f"cvt.{rounding}.f16.f64", 64, 16, "d1a")
        convert(suite, group, f"cvt.{rounding}.bf16.f64", 64, 16, "d1a", target="sm_90a")
        convert(suite, group, f"cvt.{rounding}.bf16.f16", 16, 16, target="sm_90a")
        convert(suite, group, f"cvt.{rounding}.f16.bf16", 16, 16, target="sm_90a")
        sweep(suite, group, f"cvt.{rounding}.f16.f32", 16)
        sweep(suite, group, f"cvt.{rounding}.sat.f16.f32", 16)
        sweep(suite, group, f"cvt.{rounding}.ftz.f16.f32", 16)
        sweep(suite, group, f"cvt.{rounding}.bf16.f32", 16, target="sm_80" if rounding in ("rn", "rz") else "sm_90a")


def buildNarrow(suite):
    group = "cvt_narrow"
    for rounding in ("rn", "rz"):
        for relu in ("", ".relu"):
            for satfinite in ("", ".satfinite"):
                for to in ("f16", "bf16"):
                    sweep(suite, group, f"cvt.{rounding}{relu}{satfinite}.{to}x2.f32", 32, sources=2)
                    if relu or satfinite:
                        sweep(suite, group, f"cvt.{rounding}{relu}{satfinite}.{to}.f32", 16)
    for mods in ("rna", "rna.satfinite"):
        sweep(suite, group, f"cvt.{mods}.tf32.f32", 32)
    for rounding in ("rn", "rz"):
        for mods in ("", ".relu"):
            sweep(suite, group, f"cvt.{rounding}{mods}.tf32.f32", 32, target="sm_90a")
    for to in ("e4m3x2", "e5m2x2"):
        for relu in ("", ".relu"):
            sweep(suite, group, f"cvt.rn.satfinite{relu}.{to}.f32", 16, sources=2, target="sm_90a")
            form = f"cvt.rn.satfinite{relu}.{to}.f16x2"
            suite.scalar(group, form, "mul.lo.u32 %r0, %i, 0x9E3779B1;\nand.b32 %r0, %r0, 0xFFFF0000;\nor.b32 %r0, %r0, %i;\n"
                         f"{form} %d, %r0;", [("%b", "few")], [("%d", "b16")], target="sm_90a", count=65536)
            form = f"cvt.rn{relu}.f16x2.{to}"
            suite.scalar(group, form, f"cvt.u16.u32 %h0, %i;\n{form} %d, %h0;", [("%b", "few")], [("%d", "b32")],
                         target="sm_90a", count=65536)
