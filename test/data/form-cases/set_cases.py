# ===- set_cases.py - set with results of 16 bits and of pairs --------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
#
# More cases for make_form_cases.py. PTX ISA 9.4, 9.7.7.1: true is ones or 1.0 of the
# result's type; pairs are compared by halves, and an integer result holds 0xFFFF for each.

from float_cases import flushed
from form_case import BITS, REGISTER, asType, load, mask, raw, register
from formats import decode, encode

TRUTH = {"u16": 0xFFFF, "s16": 0xFFFF, "f16": 0x3C00, "bf16": 0x3F80, "u32": 0xFFFFFFFF, "s32": 0xFFFFFFFF, "f32": 0x3F800000}
HALF = {"u32": 0xFFFF, "s32": 0xFFFF, "f16x2": 0x3C00, "bf16x2": 0x3F80}
LEFT = [5, -3, 7, 0, -1, 9, 2, -8]
RIGHT = [5, 3, -7, 1, -1, 8, 3, -9]
THIRD = [0, 1, 1, 0, 1, 0, 1, 1]
NAN, INF = float("nan"), float("inf")
FLOAT_LEFT = [1.0, 2.0, -1.0, NAN, 0.0, INF, 3.5, NAN]
FLOAT_RIGHT = [1.0, 1.0, 1.0, 1.0, -0.0, INF, 4.5, NAN]
COMBINE = {"and": lambda p, c: p and c, "or": lambda p, c: p or c, "xor": lambda p, c: bool(p) != bool(c)}
ORDER = {"eq": lambda x, y: x == y, "ne": lambda x, y: x != y, "lt": lambda x, y: x < y,
         "le": lambda x, y: x <= y, "gt": lambda x, y: x > y, "ge": lambda x, y: x >= y}
UNSIGNED = {**ORDER, "lo": ORDER["lt"], "ls": ORDER["le"], "hi": ORDER["gt"], "hs": ORDER["ge"]}


def floatOrder():
    ordered = lambda g: lambda x, y: x == x and y == y and g(x, y)
    out = {name: ordered(g) for name, g in ORDER.items()}
    out.update({name + "u": (lambda x, y, g=g: x != x or y != y or g(x, y)) for name, g in ORDER.items()})
    out["num"], out["nan"] = lambda x, y: x == x and y == y, lambda x, y: x != x or y != y
    return out


def addAll():
    scalars()
    pairs()
    flushedOperands()


def variants(tests, results):
    """Of a row of the form table: results and operators take turns over the comparisons."""
    operators = list(COMBINE)
    for k, name in enumerate(tests):
        yield name, "", results[k % len(results)]
        yield name, operators[k % 3], results[(k + 1) % len(results)]
    for k in range(max(3, len(results))):
        yield "ne", "", results[k % len(results)]
        yield "ne", operators[k % 3], results[k % len(results)]


def one(form, compared, result, columns, out, combined):
    n, width = BITS[compared], BITS[result]
    r, d = register(compared), register(result)
    body = "".join(f"ld.global.b{n} {r}{k + 1}, [%pi+{64 * k}];" for k in range(2))
    if combined:
        body += load("%r9", "b32", 2) + "setp.ne.b32 %p1, %r9, 0;"
        columns = [*columns, THIRD]
    # What was there before is neither true nor false.
    before = {"%f": "mov.b32 %f0, 0f40000000;"}.get(d, f"mov.b{width} {d}0, 7;")
    raw(form, body + before + f"{form} {d}0, {r}1, {r}2{', %p1' if combined else ''}; st.global.b{width} [%po], {d}0;", columns, out)


def scalars():
    seen = set()
    kinds = [(f"{kind}{n}", tests, results) for n in (16, 32, 64) for results in (["f16", "f32", "s32", "u32"], ["bf16"])
             for kind, tests in [("b", {k: ORDER[k] for k in ("eq", "ne")}), ("u", UNSIGNED), ("s", ORDER)]]
    kinds += [(t, floatOrder(), results) for t, results in [
        ("f32", ["f16", "f32", "s32", "u32"]), ("f64", ["f16", "f32", "s32", "u32"]), ("f16", ["u16", "s16", "f16", "s32", "u32"]),
        ("f32", ["bf16"]), ("f64", ["bf16"]), ("f16", ["bf16"]), ("bf16", ["u16", "s16", "bf16", "s32", "u32"])]]
    for t, tests, results in kinds:
        isFloat = "f" in t
        left, right = (FLOAT_LEFT, FLOAT_RIGHT) if isFloat else (LEFT, RIGHT)
        code = (lambda v: encode(v, t)) if isFloat else (lambda v: mask(v, BITS[t]))
        value = (lambda v: v) if isFloat else (lambda v: asType(v, t))
        for name, combine, result in variants(tests, results):
            form = ".".join(x for x in ["set", name, combine, result, t] if x)
            if form in seen:
                continue
            seen.add(form)
            truth = [tests[name](value(x), value(y)) for x, y in zip(left, right)]
            if combine:
                truth = [COMBINE[combine](p, c) for p, c in zip(truth, THIRD)]
            one(form, t, result, [[code(v) for v in left], [code(v) for v in right]], [TRUTH[result] if p else 0 for p in truth], bool(combine))


def both(low, high, combine, truth):
    """Half results: the predicate goes with each."""
    g = COMBINE.get(combine, lambda p, _: p)
    return [(truth if g(p, c) else 0) | (truth if g(q, c) else 0) << 16 for p, q, c in zip(low, high, THIRD)]


def pairs():
    for t in ("f16", "bf16"):
        # The second half takes the lanes in reverse.
        columns = [[encode(v, t) | encode(w, t) << 16 for v, w in zip(values, values[::-1])] for values in (FLOAT_LEFT, FLOAT_RIGHT)]
        seen = set()
        for name, combine, result in variants(floatOrder(), ["u32", "s32", t + "x2"]):
            form = ".".join(x for x in ["set", name, combine, result, t + "x2"] if x)
            if form in seen:
                continue
            seen.add(form)
            low = [floatOrder()[name](x, y) for x, y in zip(FLOAT_LEFT, FLOAT_RIGHT)]
            one(form, "b32", "b32", columns, both(low, low[::-1], combine, HALF[result]), bool(combine))


def flushedOperands():
    """Subnormals count as zeros, by .ftz."""
    small = {"f32": [2.0**-130, 1.0, -(2.0**-140), 2.0, 0.0, 1.0, 3.0, 2.0**-127], "f16": [2.0**-20, 1.0, -(2.0**-16), 2.0, 0.0, 1.0, 3.0, 2.0**-18]}
    also = {"f32": [0.0, 2.0, 0.0, 1.0, -0.0, 1.0, 4.0, 2.0**-128], "f16": [0.0, 2.0, 0.0, 1.0, -0.0, 1.0, 4.0, 2.0**-19]}
    for t, results in [("f32", ["f16", "s32", "f32"]), ("f16", ["u16", "s16", "f16", "u32", "s32"])]:
        columns = [[encode(v, t) for v in values[t]] for values in (small, also)]
        values = [[flushed(decode(b, t), t) for b in column] for column in columns]
        truth = [x > y for x, y in zip(*values)]
        for k, result in enumerate(results):
            one(f"set.gt.ftz.{result}.{t}", t, result, columns, [TRUTH[result] if p else 0 for p in truth], False)
            combine = list(COMBINE)[k % 3]
            one(f"set.gt.{combine}.ftz.{result}.{t}", t, result, columns,
                [TRUTH[result] if COMBINE[combine](p, c) else 0 for p, c in zip(truth, THIRD)], True)
    columns = [[encode(v, "f16") | encode(w, "f16") << 16 for v, w in zip(values["f16"], values["f16"][::-1])] for values in (small, also)]
    values = [[flushed(decode(encode(v, "f16"), "f16"), "f16") for v in x["f16"]] for x in (small, also)]
    truth = [x > y for x, y in zip(*values)]
    for k, result in enumerate(("u32", "s32", "f16x2")):
        combine = ["", "or", "xor"][k]
        form = ".".join(x for x in ["set.gt", combine, "ftz", result, "f16x2"] if x)
        one(form, "b32", "b32", columns, both(truth, truth[::-1], combine, HALF[result]), bool(combine))
