# ===- memory_cases.py - memory, addresses, warps and control --------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#

from form_case import BITS, LANES, REGISTER, mask, raw
from formats import encode


def addAll():
    memoryForms()
    otherForms()


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
