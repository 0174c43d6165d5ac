# ===- tma.py - copies by tensor maps --------------------------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Loads of boxes inside, across and beyond the tensor's edges; stores and reductions
# at coordinates from zero on. Each box is written as it lies in shared memory.
#
# ===-----------------------------------------------------------------------===#

import itertools
import math

from block import *
from block import load as loadShared
from inputs import INPUTS
from suite import Buffer, Map

BITS = {"u8": 8, "u16": 16, "u32": 32, "s32": 32, "u64": 64, "s64": 64, "f16": 16, "bf16": 16, "f32": 32, "f64": 64,
        "f32ftz": 32, "tf32": 32, "tf32ftz": 32}
WINDOW = 4096  # of shared memory for each box
SWIZZLE_BYTES = {"b32": 32, "b64": 64, "b128": 128}


class Tensor:
    """Dense rows that start at multiples of 16 bytes, unless strides are given."""

    def __init__(self, type_, dims, strides=None):
        self.type, self.dims = type_, dims
        size = BITS[type_] // 8
        if strides is None:
            strides, pitch = [], dims[0] * size
            for dim in dims[1:]:
                pitch = (pitch + 15) // 16 * 16
                strides.append(pitch)
                pitch *= dim
        self.strides = strides
        last = dims[0] * size + sum(s * (d - 1) for s, d in zip(strides, dims[1:]))
        self.bytes = (last + 15) // 16 * 16 + 128


def shape(box, element_strides):
    """Elements of each dimension that arrive: every so many of the box; dimension 0 knows no step."""
    return [box[0]] + [(b + e - 1) // e for b, e in zip(box[1:], element_strides[1:])]


def boxBytes(type_, box, element_strides):
    return math.prod(shape(box, element_strides)) * BITS[type_] // 8


def coordinates(values):
    return "{" + ", ".join(f"%r{10 + i}" for i in range(len(values))) + "}", "".join(
        f"  mov.b32 %r{10 + i}, {v};\n" for i, v in enumerate(values))


def loadBoxes(suite, name, tensor, box, places, swizzle="none", fill_="zero", element_strides=None, data=None, count=None):
    steps = element_strides or [1] * len(box)
    size = count or boxBytes(tensor.type, box, steps)
    assert size <= WINDOW, name
    x = Buffer("x", "u8", tensor.bytes, "input", pattern(tensor.bytes, 7) if data is None else np.resize(data, tensor.bytes))
    y = Buffer("y", "u8", len(places) * WINDOW)
    code = ENTER + init(1) + "  mov.u64 %w0, p0;\n  cvta.param.u64 %w0, %w0;\n"
    for n, place in enumerate(places):
        operand, moves = coordinates(place)
        code += fill(WINDOW) + "  fence.proxy.async.shared::cta;\n" + SYNC + moves
        code += (f"  @%first mbarrier.arrive.expect_tx.shared::cta.b64 %state, [%base], {size};\n  @%first "
                 f"cp.async.bulk.tensor.{len(box)}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%data], [%w0, {operand}], [%base];\n")
        code += wait(n % 2) + dump(1, WINDOW, n * WINDOW) + SYNC
    suite.add("tma_load", name, code + "  ret;\n", [x, y],
              [Map("x", tensor.type, tensor.dims, tensor.strides, box, steps, swizzle, fill_), y], block=128,
              shared=DATA + WINDOW, declarations=SHARED)


def storeBoxes(suite, name, tensor, box, places, swizzle="none", op=None, memory=None, data=None, group=None, element_strides=None):
    """`op`: a reduction. The tensor is what comes back."""
    steps = element_strides or [1] * len(box)
    size = boxBytes(tensor.type, box, steps)
    assert size <= WINDOW, name
    source = Buffer("x", "u8", len(places) * WINDOW, "input", pattern(len(places) * WINDOW, 9) if data is None else np.resize(data, len(places) * WINDOW))
    y = Buffer("y", "u8", tensor.bytes, "inout", pattern(tensor.bytes, 11) if memory is None else np.resize(memory, tensor.bytes))
    verb = f"cp.reduce.async.bulk.tensor.{len(box)}d.global.shared::cta.{op}" if op else f"cp.async.bulk.tensor.{len(box)}d.global.shared::cta"
    code = ENTER + "  mov.u64 %w0, p1;\n  cvta.param.u64 %w0, %w0;\n"
    for n, place in enumerate(places):
        operand, moves = coordinates(place)
        code += loadShared(0, WINDOW, n * WINDOW) + "  fence.proxy.async.shared::cta;\n" + SYNC + moves
        code += (f"  @%first {verb}.tile.bulk_group [%w0, {operand}], [%data];\n  @%first cp.async.bulk.commit_group;\n"
                 "  @%first cp.async.bulk.wait_group 0;\n") + SYNC
    suite.add(group or ("tma_reduce" if op else "tma_store"), name, code + "  ret;\n", [source, y],
              [source, Map("y", tensor.type, tensor.dims, tensor.strides, box, steps, swizzle)], block=128,
              shared=DATA + WINDOW, declarations=SHARED)


def buildLoads(suite):
    # Rank by rank, odd sizes; the step of coordinate 0 is 16 bytes.
    dims = {1: [200], 2: [72, 13], 3: [40, 9, 5], 4: [24, 5, 4, 3], 5: [24, 4, 3, 3, 2]}
    boxes = {1: [96], 2: [48, 6], 3: [32, 4, 3], 4: [16, 3, 2, 2], 5: [16, 2, 2, 2, 2]}
    for rank in range(1, 6):
        for type_ in ("u8", "u16", "f32") if rank > 2 else ("u8", "u16", "u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64"):
            step = 128 // BITS[type_]
            box = [max(step, boxes[rank][0] * 8 // BITS[type_] // step * step)] + boxes[rank][1:]
            size = [dims[rank][0]] + dims[rank][1:]
            middle = [step] + [1] * (rank - 1)
            before = [-step] + [-1] * (rank - 1)
            after = [(size[0] - 1) // step * step] + [d - 1 for d in size[1:]]
            beyond = [(size[0] // step + 2) * step] + [d + 2 for d in size[1:]]
            partly = [0] + [d - 1 for d in size[1:]]
            loadBoxes(suite, f"{rank}d-{type_}", Tensor(type_, size), box, [[0] * rank, middle, before, after, beyond, partly])
    # Swizzles, of every row width that they take.
    for swizzle, width in SWIZZLE_BYTES.items():
        for type_ in ("u8", "u16", "f32", "u64"):
            size = BITS[type_] // 8
            for part in {width, width // 2, 16}:
                tensor = Tensor(type_, [256 // size + 3, 20])
                loadBoxes(suite, f"2d-{swizzle}-{type_}-{part}", tensor, [part // size, 17], [[0, 0], [16 // size, 5], [-16 // size, -3], [240 // size, 12]],
                     swizzle)
        loadBoxes(suite, f"3d-{swizzle}", Tensor("u8", [160, 5, 6]), [width, 3, 4], [[0, 0, 0], [32, 3, 4], [-16, -1, -1]], swizzle)
        loadBoxes(suite, f"5d-{swizzle}", Tensor("u8", [160, 3, 3, 3, 3]), [16, 2, 2, 3, 2], [[0] * 5, [144, 2, 2, 1, 2], [-16, -1, -1, -1, -1]], swizzle)
    # NaN fill, by type.
    for type_ in ("f16", "bf16", "f32", "f64", "f32ftz", "tf32", "tf32ftz"):
        step = 128 // BITS[type_]
        loadBoxes(suite, f"2d-nan-{type_}", Tensor(type_, [3 * step + 1, 5]), [2 * step, 4], [[0, 0], [-step, -2], [2 * step, 3], [8 * step, 9]], fill_="nan")
    # Types that change their values on the way: f32 patterns.
    edges = INPUTS["f1a"].view(np.uint8)
    for type_ in ("f32", "f32ftz", "tf32", "tf32ftz"):
        loadBoxes(suite, f"2d-values-{type_}", Tensor(type_, [64, 128]), [64, 16], [[0, 0], [0, 16], [0, 64], [0, 120]], data=edges)
    for type_ in ("tf32", "tf32ftz"):
        loadBoxes(suite, f"2d-ties-{type_}", Tensor(type_, [64, 128]), [64, 16], [[0, 0], [0, 16], [0, 64], [0, 120]], data=INPUTS["tf32"].view(np.uint8))
    # Strides of zero and below a row, padding between rows.
    loadBoxes(suite, "2d-stride-0", Tensor("u8", [64, 6], [0]), [32, 8], [[0, 0], [16, 3]])
    loadBoxes(suite, "2d-stride-16", Tensor("u8", [64, 40], [16]), [64, 8], [[0, 0], [16, 30], [32, 36]])
    loadBoxes(suite, "2d-pitch", Tensor("u16", [21, 9], [144]), [24, 5], [[0, 0], [8, 6], [-8, -2]])
    # Element strides; dimension 0 ignores its own.
    for steps in ([1, 2], [1, 3], [2, 1], [1, 8], [4, 5]):
        loadBoxes(suite, f"2d-step-{steps[0]}{steps[1]}", Tensor("u8", [96, 40]), [32, 16], [[0, 0], [16, 5], [-16, -3], [80, 30]], element_strides=steps)
    loadBoxes(suite, "3d-step-123", Tensor("u16", [40, 11, 13]), [16, 6, 7], [[0, 0, 0], [8, 3, 2], [-8, -1, -2]], element_strides=[1, 2, 3])
    loadBoxes(suite, "5d-step", Tensor("u8", [48, 5, 5, 5, 4]), [16, 4, 4, 4, 2], [[0] * 5, [32, 2, 3, 1, 3], [-16, -1, -2, -3, -1]],
         element_strides=[1, 2, 3, 2, 1])
    loadBoxes(suite, "2d-step-b64", Tensor("u8", [96, 40]), [64, 16], [[0, 0], [16, 5], [-16, -3], [48, 30]], "b64", element_strides=[1, 3])


def buildStores(suite):
    for type_, width in (("u8", 64), ("u8", 17), ("u8", 1), ("u16", 5), ("bf16", 13), ("f32", 5), ("u64", 3), ("f64", 8)):
        step = 128 // BITS[type_]
        box0 = (width + step - 1) // step * step
        for swizzle in ("none", "b128"):
            if swizzle == "b128" and box0 * BITS[type_] // 8 > 128:
                continue
            tensor = Tensor(type_, [width, 11], [(box0 * BITS[type_] // 8 + 31) // 16 * 16])
            storeBoxes(suite, f"2d-{type_}-{width}-{swizzle}", tensor, [box0, 4], [[0, 0], [0, 6], [0, 9]], swizzle)
    for swizzle in SWIZZLE_BYTES:
        storeBoxes(suite, f"2d-{swizzle}", Tensor("u16", [96, 24]), [SWIZZLE_BYTES[swizzle] // 2, 9], [[0, 0], [8, 14], [80, 20]], swizzle)
    for rank in (1, 3, 4, 5):
        size = [48, 5, 4, 3, 3][:rank]
        storeBoxes(suite, f"{rank}d", Tensor("u8", size), [32, 3, 2, 2, 2][:rank], [[0] * rank, [16] + [1] * (rank - 1), [32] + [d - 1 for d in size[1:]],
                                                                               [64] + [0] * (rank - 1)])
    storeBoxes(suite, "2d-step-12", Tensor("u8", [64, 40]), [32, 16], [[0, 0], [16, 21], [48, 33]], element_strides=[1, 2])
    # What the chip ends with an error: another step of coordinate 0, a store that starts before the tensor.
    storeBoxes(suite, "error-negative", Tensor("u8", [64, 8]), [16, 2], [[0, -1]], group="tma_error")
    storeBoxes(suite, "error-step", Tensor("u8", [64, 8]), [16, 2], [[8, 0]], group="tma_error")


def buildReductions(suite):
    types = [("add", t) for t in ("u32", "s32", "u64", "f16", "bf16", "f32")]
    types += [(op, t) for op in ("min", "max") for t in ("u32", "s32", "u64", "s64", "f16", "bf16")]
    types += [(op, t) for op in ("and", "or", "xor") for t in ("u32", "s32", "u64", "s64")]
    types += [(op, t) for op in ("inc", "dec") for t in ("u32",)]
    letters = {"u32": "i", "s32": "i", "u64": "l", "s64": "l", "f16": "h", "bf16": "g", "f32": "f"}
    for op, type_ in types:
        letter, size = letters[type_], BITS[type_] // 8
        width = 64 // size
        a, b = (INPUTS[f"{letter}2{c}"].view(np.uint8) for c in "ab")
        tensor = Tensor(type_, [width, 128])
        storeBoxes(suite, f"{op}.{type_}", tensor, [width, 64], [[0, 0], [0, 64]], op=op, data=a[:2 * WINDOW],
              memory=b[:tensor.bytes])
    storeBoxes(suite, "edge-add.u32", Tensor("u32", [5, 9], [48]), [8, 6], [[0, 0], [4, 5]], op="add")
    storeBoxes(suite, "edge-add.f16", Tensor("f16", [5, 9], [48]), [8, 6], [[0, 0], [0, 5]], op="add",
          data=INPUTS["h2a"].view(np.uint8)[:2 * WINDOW], memory=INPUTS["h2b"].view(np.uint8)[:512])


def build(suite):
    buildLoads(suite)
    buildStores(suite)
    buildReductions(suite)
