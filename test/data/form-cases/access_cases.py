# ===- access_cases.py - a case for each modifier of an access --------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
#
# More cases for make_form_cases.py: loads, stores and atomics with every space, order, hint
# and type, and control.

from form_case import BITS, LANES, mask, raw, register, signed
from formats import encode

WORD = (1 << 64) - 1


def addAll():
    loads()
    stores()
    atomics()
    control()


# --- Loads and stores -----------------------------------------------------------------------

DATA = [v & WORD for v in [0x1122334455667788, -1, 0x80FF7F0081FE0102, 5, 0xFEDCBA9876543210, 9, 7, 0x0101010101010101]]
POLICY = "createpolicy.fractional.L2::evict_last.b64 %rd30, 0f3F800000;"
TYPES = "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64".split()
EVICT1 = ["L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate"]
EVICT2 = ["L2::evict_first", "L2::evict_last", "L2::evict_normal"]
PREFETCH = ["L2::64B", "L2::128B", "L2::256B"]


def region(space):
    """PTX that makes the address of 32 bytes of the lane's own, and the address."""
    if space.startswith("shared"):
        return "cvt.u32.u64 %r38, %lane; mov.u32 %r39, s; mad.lo.u32 %r38, %r38, 32, %r39;", "%r38"
    if space == "local":
        return "mov.u64 %rd38, l; mad.lo.u64 %rd38, %jw, 4, %rd38;", "%rd38"
    return "mad.lo.u64 %rd38, %lane, 32, %g;", "%rd38"


def plain(space):
    return "shared" if space.startswith("shared") else "local" if space == "local" else "global"


def words(j):
    return [(DATA[j] + k * 0x0123456789ABCDEF) & WORD for k in range(4)]


def elementsOf(j, n, count):
    data = b"".join(w.to_bytes(8, "little") for w in words(j))
    return [int.from_bytes(data[i * n // 8:(i + 1) * n // 8], "little") for i in range(count)]


def mixed(values):
    h = 0
    for v in values:
        h = (h * 31 + v) & WORD
    return h


def fold(register, t):
    """PTX that adds the unsigned bits of a register to the mix in %rd29."""
    n = BITS[t]
    move = f"mov.b64 %rd28, {register};" if n == 64 else f"mov.b32 %r37, {register}; cvt.u64.u32 %rd28, %r37;" if n == 32 else \
        f"and.b16 {register}, {register}, 255; cvt.u64.u16 %rd28, {register};" if n == 8 else f"cvt.u64.u16 %rd28, {register};"
    return move + "mul.lo.u64 %rd29, %rd29, 31; add.u64 %rd29, %rd29, %rd28;"


FILL = "".join(f"add.u64 %rd2{k}, %rd20, {k * 0x0123456789ABCDEF};" for k in range(1, 4))


def loadCase(form, space, t, vec=1, hint=False):
    prepare, base = region(space)
    body = prepare + (POLICY if hint else "") + "ld.global.b64 %rd20, [%pi];" + FILL
    body += "".join(f"st.{plain(space)}.b64 [{base}+{8 * k}], %rd2{k};" for k in range(4)) + "mov.b64 %rd29, 0;"
    tail = f", [{base}]" + (", %rd30" if hint else "") + ";"
    if t == "b128":
        body += f"mov.b128 %x0, {{%jw, %jw}}; {form} %x0{tail} mov.b128 {{%rd10, %rd11}}, %x0;" + fold("%rd10", "b64") + fold("%rd11", "b64")
        expected = [mixed(elementsOf(j, 64, 2)) for j in range(LANES)]
    else:
        r = register(t)
        names = [f"{r}{8 + i}" for i in range(vec)]
        body += f"{form} " + (names[0] if vec == 1 else "{" + ", ".join(names) + "}") + tail + "".join(fold(name, t) for name in names)
        expected = [mixed(elementsOf(j, BITS[t], vec)) for j in range(LANES)]
    raw(form, body + "st.global.b64 [%po], %rd29;", [DATA], expected)


def store(form, space, t, vec=1, hint=False):
    prepare, base = region(space)
    body = prepare + (POLICY if hint else "") + "ld.global.b64 %rd20, [%pi];" + FILL + "mov.b64 %rd29, 0; mov.b64 %rd27, 0;"
    body += "".join(f"st.{plain(space)}.b64 [{base}+{8 * k}], %rd27;" for k in range(4))
    scratch = "mad.lo.u64 %rd37, %lane, 32, %g; add.u64 %rd37, %rd37, 2048;" + "".join(f"st.global.b64 [%rd37+{8 * k}], %rd2{k};" for k in range(4))
    count, n = (2, 64) if t == "b128" else (vec, BITS[t])
    tail = ", %rd30;" if hint else ";"
    if t == "b128":
        body += f"mov.b128 %x0, {{%rd20, %rd21}}; {form} [{base}], %x0{tail}"
    else:
        r = register(t)
        names = [f"{r}{8 + i}" for i in range(vec)]
        body += scratch + "".join(f"ld.global.b{n} {name}, [%rd37+{i * n // 8}];" for i, name in enumerate(names))
        body += f"{form} [{base}], " + (names[0] if vec == 1 else "{" + ", ".join(names) + "}") + tail
    body += "".join(f"ld.{plain(space)}.b64 %rd1{k}, [{base}+{8 * k}];" + fold(f"%rd1{k}", "b64") for k in range(4))
    expected = []
    for j in range(LANES):
        data = b"".join(v.to_bytes(n // 8, "little") for v in elementsOf(j, n, count)).ljust(32, b"\0")
        expected.append(mixed([int.from_bytes(data[8 * k:8 * k + 8], "little") for k in range(4)]))
    raw(form, body + "st.global.b64 [%po], %rd29;", [DATA], expected)


def loads():
    for cache in ["ca", "cg", "cs", "lu", "cv"]:
        loadCase(f"ld.global.{cache}.b32", "global", "b32")
    loadCase("ld.weak.global.b32", "global", "b32")
    loadCase("ld.weak.b64", "global", "b64")
    for space in ["shared::cta", "shared::cluster"]:
        loadCase(f"ld.{space}.b32", space, "b32")
    raw("ld.param::entry.b64", "ld.param::entry.b64 %rd1, [in]; add.u64 %rd1, %rd1, %jw; ld.global.b64 %rd0, [%rd1]; st.global.b64 [%po], %rd0;", [DATA], DATA)
    loadCase("ld.global.b128", "global", "b128")
    for prefix, kinds in [("ld.global", ""), ("ld.relaxed.gpu.global", ""), ("ld.global.nc", "")]:
        for e in EVICT1 + PREFETCH:
            loadCase(f"{prefix}.{e}.b32", "global", "b32")
        for e in EVICT2:
            loadCase(f"{prefix}.{e}.v4.b64", "global", "b64", 4)
        loadCase(f"{prefix}.L2::cache_hint.b32", "global", "b32", hint=True)
    for order in ["relaxed", "acquire"]:
        for scope in ["cta", "cluster", "gpu", "sys"]:
            loadCase(f"ld.{order}.{scope}.global.u32", "global", "u32")
            for space in ["shared", "shared::cta", "shared::cluster"]:
                loadCase(f"ld.{order}.{scope}.{space}.u32", space, "u32")
        loadCase(f"ld.{order}.gpu.b32", "global", "b32")
    for prefix, space in [("ld.relaxed.gpu.global", "global"), ("ld.volatile.global", "global"), ("ld.global.nc", "global")]:
        for t in TYPES:
            loadCase(f"{prefix}.{t}", space, t)
        for vec, t in [(2, "b32"), (4, "b32"), (8, "b32"), (2, "b64"), (4, "b16")]:
            loadCase(f"{prefix}.v{vec}.{t}", space, t, vec)
    for space in ["shared", "shared::cta", "shared::cluster", "local"]:
        loadCase(f"ld.volatile.{space}.b32", space, "b32")
    loadCase("ld.volatile.b32", "global", "b32")
    for p in PREFETCH:
        loadCase(f"ld.volatile.global.{p}.b32", "global", "b32")
    for t in TYPES:
        loadCase(f"ld.mmio.relaxed.sys.global.{t}", "global", t)
    loadCase("ld.mmio.relaxed.sys.b32", "global", "b32")
    for cache in ["ca", "cg", "cs"]:
        loadCase(f"ld.global.{cache}.nc.b32", "global", "b32")
    # Results of functions, by parts.
    call = "{{ .param .b64 a; .param .b64 b; ld.global.b64 %rd1, [%pi]; st.param.b64 [a], %rd1; call.uni (b), same, (a); {} }}"
    raw("ld.param.v2.b32", "mov.b64 %rd29, 0;" + call.format("ld.param.v2.b32 {%r8, %r9}, [b];") + fold("%r8", "b32") + fold("%r9", "b32") + "st.global.b64 [%po], %rd29;", [DATA],
          [mixed(elementsOf(j, 32, 2)) for j in range(LANES)])
    raw("ld.param.v2.b8", "mov.b64 %rd29, 0;" + call.format("ld.param.v2.b8 {%h8, %h9}, [b];") + fold("%h8", "b8") + fold("%h9", "b8") + "st.global.b64 [%po], %rd29;", [DATA],
          [mixed(elementsOf(j, 8, 2)) for j in range(LANES)])
    raw("ld.param.v4.b32", "mov.b64 %rd29, 0; ld.global.b64 %rd20, [%pi];" + FILL + "{ .param .align 16 .b8 a[16]; .param .align 16 .b8 b[16]; st.param.v2.b64 [a], {%rd20, %rd21};"
          "call.uni (b), same16, (a); ld.param.v4.b32 {%r8, %r9, %r10, %r11}, [b]; }" + "".join(fold(f"%r{8 + i}", "b32") for i in range(4)) + "st.global.b64 [%po], %rd29;", [DATA],
          [mixed(elementsOf(j, 32, 4)) for j in range(LANES)])


def stores():
    for cache in ["wb", "cg", "cs", "wt"]:
        store(f"st.global.{cache}.b32", "global", "b32")
    store("st.weak.global.b32", "global", "b32")
    store("st.weak.b64", "global", "b64")
    store("st.global.b128", "global", "b128")
    for space in ["shared::cta", "shared::cluster"]:
        store(f"st.{space}.b32", space, "b32")
    for prefix in ["st.global", "st.relaxed.gpu.global"]:
        for e in EVICT1:
            store(f"{prefix}.{e}.b32", "global", "b32")
        for e in EVICT2:
            store(f"{prefix}.{e}.v4.b64", "global", "b64", 4)
        store(f"{prefix}.L2::cache_hint.b32", "global", "b32", hint=True)
    for order in ["relaxed", "release"]:
        for scope in ["cta", "cluster", "gpu", "sys"]:
            store(f"st.{order}.{scope}.global.u32", "global", "u32")
            for space in ["shared", "shared::cta", "shared::cluster"]:
                store(f"st.{order}.{scope}.{space}.u32", space, "u32")
        store(f"st.{order}.gpu.b32", "global", "b32")
    for prefix in ["st.relaxed.gpu.global", "st.volatile.global"]:
        for t in TYPES:
            store(f"{prefix}.{t}", "global", t)
        for vec, t in [(2, "b32"), (4, "b32"), (8, "b32"), (2, "b64"), (4, "b16")]:
            store(f"{prefix}.v{vec}.{t}", "global", t, vec)
    for space in ["shared", "shared::cta", "shared::cluster", "local"]:
        store(f"st.volatile.{space}.b32", space, "b32")
    store("st.volatile.b32", "global", "b32")
    for t in TYPES:
        store(f"st.mmio.relaxed.sys.global.{t}", "global", t)
    store("st.mmio.relaxed.sys.b32", "global", "b32")


# --- Atomics ---------------------------------------------------------------------------------


def atomic(form, space, t, start, operand, expected, vec=1, hint=False, other=None):
    """Each lane has its own words: three times what came back plus what is there."""
    prepare, base = region(space)
    isAtom, n = form.startswith("atom"), BITS.get(t, 128)
    r = register(t)
    body = prepare + (POLICY if hint else "") + "mov.b64 %rd29, 0;"
    for i in range(vec):
        body += f"ld.global.b{n} {r}{8 + i}, [%pi+{64 * i}]; st.{plain(space)}.b{n} [{base}+{i * n // 8}], {r}{8 + i}; ld.global.b{n} {r}{16 + i}, [%pi+{64 * (vec + i)}];"
    inputs = [*start, *operand]
    group = lambda at: f"{r}{at}" if vec == 1 and ".v" not in form else "{" + ", ".join(f"{r}{at + i}" for i in range(vec)) + "}"
    tail = ""
    if other:
        body += f"ld.global.b{n} {r}34, [%pi+{64 * 2 * vec}];"
        inputs.append(other)
        tail = f", {r}34"
    clear = "".join(f"mov.b{n} {r}{24 + i}, {'0f00000000' if r == '%f' else '0'};" if n != 64 or r != "%d" else f"mov.b64 {r}{24 + i}, 0d0000000000000000;" for i in range(vec))
    body += clear + f"{form} " + (f"{group(24)}, " if isAtom else "") + f"[{base}], {group(16)}{tail}" + (", %rd30;" if hint else ";")
    for i in range(vec):
        if isAtom:
            body += fold(f"{r}{24 + i}", t)
        body += f"ld.{plain(space)}.b{n} {r}{8 + i}, [{base}+{i * n // 8}];" + fold(f"{r}{8 + i}", t)
    out = []
    for j in range(LANES):
        h = []
        for i in range(vec):
            h += ([start[i][j]] if isAtom else []) + [expected[i][j]]
        out.append(mixed(h))
    raw(form, body + "st.global.b64 [%po], %rd29;", inputs, out)


def atomics():
    a, b = [1, 2, 3, 4, 5, 6, 7, 8], [9, 2, 4, 4, 0, 6, 3, 1]
    total = [x + y for x, y in zip(a, b)]
    single = lambda form, space="global", t="u32", hint=False: atomic(form, space, t, [a], [b], [total], hint=hint)
    for op, orders in [("atom", ["relaxed", "acquire", "release", "acq_rel"]), ("red", ["relaxed", "release"])]:
        for order in orders:
            for scope in ["cta", "cluster", "gpu", "sys"]:
                single(f"{op}.{order}.{scope}.global.add.u32")
        for space in ["shared", "shared::cta", "shared::cluster"]:
            single(f"{op}.{space}.add.u32", space)
            single(f"{op}.relaxed.cta.{space}.add.u32", space)
        single(f"{op}.add.u32")
        single(f"{op}.global.add.L2::cache_hint.u32", hint=True)
        wide = [[mask(v, 64) for v in c] for c in ([-5, 7, 1 << 40, 0, 3, -1, 9, 2], [4, -8, 1 << 39, -1, 3, 1, 9, 5])]
        atomic(f"{op}.global.min.s64", "global", "s64", [wide[0]], [wide[1]], [[mask(min(signed(x, 64), signed(y, 64)), 64) for x, y in zip(*wide)]])
        atomic(f"{op}.global.max.u64", "global", "u64", [wide[0]], [wide[1]], [[max(x, y) for x, y in zip(*wide)]])
        for name, g in [("and", lambda x, y: x & y), ("or", lambda x, y: x | y), ("xor", lambda x, y: x ^ y)]:
            atomic(f"{op}.global.{name}.b64", "global", "b64", [wide[0]], [wide[1]], [[g(x, y) for x, y in zip(*wide)]])
        atomic(f"{op}.global.inc.u32", "global", "u32", [a], [b], [[0 if x >= y else x + 1 for x, y in zip(a, b)]])
        atomic(f"{op}.global.dec.u32", "global", "u32", [a], [b], [[y if x == 0 or x > y else x - 1 for x, y in zip(a, b)]])
        doubles = [[encode(1.5 * v, "f64") for v in c] for c in (a, b, total)]
        atomic(f"{op}.global.add.f64", "global", "f64", [doubles[0]], [doubles[1]], [doubles[2]])
        for t in ["f16", "bf16", "f16x2", "bf16x2"]:
            h = t.replace("x2", "")
            pair = lambda c, k=0.5: [encode(k * v, h) | (encode(2 * k * v, h) << 16 if t != h else 0) for v in c]
            at = lambda form, space="global", hint=False, t=t, pair=pair: atomic(form, space, t, [pair(a)], [pair(b)], [pair(total)], hint=hint)
            at(f"{op}.global.add.noftz.{t}")
            if t in ("f16x2", "bf16"):
                for space in ["shared", "shared::cta", "shared::cluster"]:
                    at(f"{op}.{space}.add.noftz.{t}", space)
            if t == "bf16x2":
                for order in orders:
                    for scope in ["cta", "cluster", "gpu", "sys"]:
                        at(f"{op}.{order}.{scope}.global.add.noftz.{t}")
                at(f"{op}.global.add.noftz.L2::cache_hint.{t}", hint=True)
            for vec in [2, 4, 8]:
                if vec * BITS[t] > 128:
                    continue
                rotate = lambda c, i: c[i:] + c[:i]
                starts, operands = [rotate(a, i) for i in range(vec)], [rotate(b, i) for i in range(vec)]
                for name, g in [("add", lambda x, y: x + y), ("min", min), ("max", max)]:
                    atomic(f"{op}.global.{name}.noftz.v{vec}.{t}", "global", t, [pair(c) for c in starts], [pair(c) for c in operands],
                           [pair([g(x, y) for x, y in zip(p, q)]) for p, q in zip(starts, operands)], vec)
                if t == "f16x2" and vec == 2:
                    sums = [pair([x + y for x, y in zip(p, q)]) for p, q in zip(starts, operands)]
                    for order in orders:
                        for scope in ["cta", "cluster", "gpu", "sys"]:
                            atomic(f"{op}.{order}.{scope}.global.add.noftz.v2.{t}", "global", t, [pair(c) for c in starts], [pair(c) for c in operands], sums, vec)
                    atomic(f"{op}.global.add.noftz.L2::cache_hint.v2.{t}", "global", t, [pair(c) for c in starts], [pair(c) for c in operands], sums, vec, hint=True)
        floats = lambda c: [encode(0.25 * v, "f32") for v in c]
        for vec in [2, 4]:
            starts, operands = [a[i:] + a[:i] for i in range(vec)], [b[i:] + b[:i] for i in range(vec)]
            sums = [floats([x + y for x, y in zip(p, q)]) for p, q in zip(starts, operands)]
            make = lambda form, hint=False: atomic(form, "global", "f32", [floats(c) for c in starts], [floats(c) for c in operands], sums, vec, hint=hint)
            make(f"{op}.global.add.v{vec}.f32")
            if vec == 2:
                for order in orders:
                    for scope in ["cta", "cluster", "gpu", "sys"]:
                        make(f"{op}.{order}.{scope}.global.add.v2.f32")
                make(f"{op}.global.add.L2::cache_hint.v2.f32", hint=True)
    wideAtomics()
    swap = [21, 22, 23, 24, 25, 26, 27, 28]
    atomic("atom.global.cas.b16", "global", "b16", [a], [b], [[s if x == y else x for x, y, s in zip(a, b, swap)]], other=swap)


def wideAtomics():
    """Exchanges of 16 bytes: three times what came back plus what is there, low halves."""
    a, b, c = [1, 2, 3, 4, 5, 6, 7, 8], [9, 2, 4, 4, 0, 6, 3, 1], [21, 22, 23, 24, 25, 26, 27, 28]
    start = "mad.lo.u64 %rd38, %lane, 32, %g; ld.global.b64 %rd1, [%pi]; ld.global.b64 %rd2, [%pi+64]; ld.global.b64 %rd3, [%pi+128]; st.global.b64 [%rd38], %rd1; mov.b64 %rd9, 5; st.global.b64 [%rd38+8], %rd9;"
    end = "mov.b128 {%rd4, %rd5}, %x0; ld.global.b64 %rd6, [%rd38]; mad.lo.u64 %rd0, %rd4, 3, %rd6; st.global.b64 [%po], %rd0;"
    raw("atom.global.exch.b128", start + "mov.b128 %x0, {%rd9, %rd9}; mov.b128 %x1, {%rd2, %rd3}; atom.global.exch.b128 %x0, [%rd38], %x1;" + end, [a, b, c], [3 * x + y for x, y in zip(a, b)])
    raw("atom.global.cas.b128", start + ".reg .b128 %old, %new; mov.b128 %x0, {%rd9, %rd9}; mov.b128 %old, {%rd2, %rd9}; mov.b128 %new, {%rd3, %rd9}; atom.global.cas.b128 %x0, [%rd38], %old, %new;" + end,
          [a, b, c], [3 * x + (z if x == y else x) for x, y, z in zip(a, b, c)])


# --- Control -----------------------------------------------------------------------------------


def control():
    data = [5, 6, 7, 8, 9, 10, 11, 12]
    for t, r in [("u64", "%rd"), ("u32", "%r")]:
        # Two allocations lie apart; what was given back is given again.
        raw(f"alloca.{t}", f"mov.{t} {r}11, 0; mov.{t} {r}12, 0; alloca.{t} {r}11, 16, 16; ld.global.b32 %r1, [%pi]; st.local.b32 [{r}11+4], %r1; alloca.{t} {r}12, 16;"
              f"st.local.b32 [{r}12+4], 99; ld.local.b32 %r0, [{r}11+4]; st.global.b32 [%po], %r0;", [data], data)
        for form, used in [("stacksave", "stackrestore"), ("stackrestore", "stacksave")]:
            raw(f"{form}.{t}", f"mov.{t} {r}11, 0; alloca.{t} {r}14, 8; stacksave.{t} {r}11; alloca.{t} {r}12, 32; stackrestore.{t} {r}11; alloca.{t} {r}13, 32;"
                  f"sub.{t} {r}14, {r}12, {r}13; st.global.{t} [%po], {r}14;", [data], [0] * LANES)
    raw("brx.idx.uni", "mov.b32 %r0, 9; mov.b32 %r1, 1; ts: .branchtargets even, odd; brx.idx.uni %r1, ts; even: mov.b32 %r0, 4; bra done; odd: mov.b32 %r0, 5; done: st.global.b32 [%po], %r0;", [data], [5] * LANES)
    raw("ret.uni", "st.global.b32 [%po], 1; ret.uni; st.global.b32 [%po], 2;", [data], [1] * LANES)
    # Two halves of the warp arrive apart from each other: only with the barrier is the store seen.
    late = "mov.u32 %r9, s; setp.lt.u32 %p1, %jj, 16; mov.b32 %r1, 0; st.shared.b32 [%r9], %r1; bar.warp.sync 0xFFFFFFFF; @%p1 bra join; mov.b32 %r1, 40; wait: sub.u32 %r1, %r1, 1; setp.ne.u32 %p2, %r1, 0;"\
        "@%p2 bra wait; st.shared.b32 [%r9], 77; join: "
    for form in ["bar.cta.sync", "barrier.cta.sync", "barrier.sync", "barrier.sync.aligned", "barrier.cta.sync.aligned"]:
        raw(form, late + f"{form} 0; ld.shared.b32 %r0, [%r9]; st.global.b32 [%po], %r0;", [data], [77] * LANES)
    for op, text, value in [("popc.aligned.u32", "mov.b32 %r0, 0; {} %r0, 1, %p1;", 20), ("and.aligned.pred", "setp.eq.b32 %p2, 0, 0; {} %p2, 1, %p1; selp.b32 %r0, 5, 9, %p2;", 9),
                            ("or.aligned.pred", "setp.ne.b32 %p2, 0, 0; {} %p2, 1, %p1; selp.b32 %r0, 5, 9, %p2;", 5)]:
        for prefix in ["barrier.red", "barrier.cta.red"]:
            form = f"{prefix}.{op}"
            raw(form, "setp.gt.u32 %p1, %j, 2;" + text.format(form) + "st.global.b32 [%po], %r0;", [data], [value] * LANES)
    raw("match.any.sync.b64", "mov.b32 %r0, 0; match.any.sync.b64 %r0, %jw, 0xFFFFFFFF; st.global.b32 [%po], %r0;", [data], [0x01010101 << j for j in range(LANES)])
    raw("match.all.sync.b64", "mov.b32 %r0, 77; mov.b64 %rd1, 5; match.all.sync.b64 %r0|%p1, %rd1, 0xFFFFFFFF; st.global.b32 [%po], %r0;", [data], [0xFFFFFFFF] * LANES)
