# ===- form_case.py - what a case of a form is made of ---------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#

LANES = 8
CASES = []


def raw(form, body, inputs, expected):
    """inputs: a list of operands, each of eight numbers; expected: eight numbers."""
    assert all(len(operand) == LANES for operand in inputs) and len(expected) == LANES, form
    CASES.append((form, " ".join(body.split()), inputs, expected))


# --- Types ---------------------------------------------------------------------

BITS = {"pred": 1}
for _t in "b8 u8 s8".split():
    BITS[_t] = 8
for _t in "b16 u16 s16 f16 bf16".split():
    BITS[_t] = 16
for _t in "b32 u32 s32 f32 f16x2 bf16x2 u16x2 s16x2 u8x4 s8x4 tf32".split():
    BITS[_t] = 32
for _t in "b64 u64 s64 f64 f32x2".split():
    BITS[_t] = 64
REGISTER = {8: "%h", 16: "%h", 32: "%r", 64: "%rd"}


def mask(value, bits):
    return value & ((1 << bits) - 1)


def signed(value, bits):
    value = mask(value, bits)
    return value - (1 << bits) if value >> (bits - 1) else value


def asType(value, t):
    return signed(value, BITS[t]) if t[0] == "s" and t != "s16x2" else mask(value, BITS[t])


def register(t):
    """The prefix of registers that hold a type."""
    return {"f32": "%f", "f64": "%d"}.get(t, REGISTER[BITS[t]])


def load(register, t, k):
    """Loads operand k; 8 and 16 bits go to a 16-bit register."""
    return f"ld.global.b{BITS[t]} {register}, [%pi+{64 * k}];"


def apply(form, dst, srcs, function, inputs):
    """A form with one register for each operand."""
    body, names = "", []
    for k, t in enumerate(srcs):
        name = REGISTER[BITS[t]] + str(k + 1)
        names.append(name)
        body += load(name, t, k)
    out = REGISTER[BITS[dst]] + "0"
    body += f"{form} {out}, {', '.join(names)}; st.global.b{BITS[dst]} [%po], {out};"
    columns = [[mask(v, BITS[t]) for v in operand] for operand, t in zip(inputs, srcs)]
    expected = [mask(function(*[asType(c[i], t) for c, t in zip(columns, srcs)]), BITS[dst]) for i in range(LANES)]
    raw(form, body, columns, expected)
