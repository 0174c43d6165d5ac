# ===- gen_layout_vectors.py - points of every layout, from the reference --===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes test/data/layout_vectors.txt: one point a line, `function arguments =
# results`, all integers but names of shapes and swizzles. LayoutsTest.cpp compares
# the product with it. `--check` fails when the committed file is not what the
# reference gives.
#
# ===-----------------------------------------------------------------------===#

import argparse
import pathlib
import random
import sys

DATA = pathlib.Path(__file__).resolve().parents[2] / "data"
sys.path.insert(0, str(DATA))
import layouts_ref as ref  # noqa: E402

SWIZZLES = {"none": "none", "32B": "b32", "64B": "b64", "128B": "b128", "128B_32B": "b128_atom32",
            "128B_64B": "b128_atom64", "96B": "b96", "128B_32B_FLIP8": "b128_atom32_flip8"}
DESCRIPTOR_SWIZZLES = ["none", "32B", "64B", "128B", "128B_32B"]


def flat(value):
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in flat(item)]
    return [int(value)]


def points(rng):
    """Yields (function, arguments, results)."""
    pick = rng.randrange

    # Tensor memory: D, A and rows of a CTA.
    forms = [(1, 128, "dense"), (1, 64, "dense"), (2, 256, "dense"), (2, 128, "dense"),
             (2, 128, "sparse"), (1, 64, "ws"), (1, 32, "ws")]
    for group, rows, form in forms:
        for _ in range(60):
            columns = rng.choice([64, 128, 256])
            m, n = pick(rows), pick(columns)
            lane0 = 16 if form != "ws" and (rows == 64 or form == "sparse") and pick(2) else 0
            yield ("accumulator", [m, n, rows, columns, group, form, lane0],
                   [*ref.d_place(m, n, rows, columns, group, form, lane0),
                    ref.d_columns(rows, columns, group, form)])
    for group, rows in [(1, 128), (1, 64), (2, 256), (2, 128)]:
        for bits in [16, 8, 6, 4]:
            for _ in range(20):
                m, k = pick(rows), pick(64)
                places = ref.a_tmem_places(m, k, rows, bits, group)
                yield "operand_tmem", [m, k, rows, bits, group], [len(places), *flat(places)]
    for cta in range(2):
        for rows in [128, 256]:
            first = ref.ab_rows_of_cta(cta, rows, rows, 2)[0]
            yield "cta_rows", [cta, rows, 2], [first.start, first.stop]

    # Shared memory.
    for mode in ref.SWIZZLE:
        for _ in range(150):
            address = pick(1 << 18)
            yield "swizzle", [address, SWIZZLES[mode]], [ref.swizzle(address, mode)]
    for _ in range(100):
        address = pick(1 << 18)
        yield ("swizzle", [address, "b128_atom32_flip8"],
               [ref.swizzle(address, "128B_32B_FLIP8")])
    for mode in DESCRIPTOR_SWIZZLES:
        for _ in range(150):
            base = 0 if mode == "none" else pick(8)
            start = pick(1 << 12) * 16
            row, byte = pick(256), pick(64)
            lbo, sbo = 16 * pick(512), 16 * pick(512)
            yield ("kmajor", [row, byte, start, lbo, sbo, SWIZZLES[mode], base],
                   [ref.kmajor_addr(row, byte, start, lbo, sbo, mode, base)])
            es = 4 if mode == "128B_32B" else rng.choice([1, 2])
            mn, k = pick(256), pick(64)
            yield ("mnmajor", [mn, k, es, start, lbo, sbo, SWIZZLES[mode], base],
                   [ref.mnmajor_addr(mn, k, es, start, lbo, sbo, mode, base)])
    for _ in range(300):
        start, following = 1024 * pick(64) + 16 * pick(8), 1024 * pick(64)
        row, byte = pick(256), pick(48)
        yield ("k96", [row, byte, start, following, 1024],
               [ref.kmajor_addr_k96(row, byte, start, following, 1024)])
    for fmt, bits, packing in [(16, 16, "dense"), (8, 8, "dense"), ("fp4", 4, "dense"),
                               ("fp6", 6, "dense"), ("b4x16_p64", 4, "padded16"),
                               ("b6x16_p32", 6, "padded16")]:
        for k in range(128):
            yield "element_bit", [k, bits, packing], [ref.element_bits(k, fmt)]
        for _ in range(60):
            row, k, start = pick(256), pick(64), 1024 * pick(64)
            yield ("element", [row, k, bits, packing, start, 16, 1024, "b128"],
                   [*ref.smem_element(row, k, fmt, start, 16, 1024, "128B")])
    for bits in [14, 15]:
        for mode in DESCRIPTOR_SWIZZLES:
            for _ in range(30):
                start = 1024 * pick(1 << (bits - 6))
                lbo, sbo = 16 * pick(1 << 10), 16 * pick(1 << 10)
                base = 0
                word = ref.desc_encode(start, lbo, sbo, mode, base, False, bits)
                yield ("smem_desc", [bits, start, lbo, sbo, SWIZZLES[mode], base], [word])

    # TMA.
    for mode in ["none", "32B", "64B", "128B", "128B_32B", "128B_64B"]:
        span = 128 if mode == "none" else ref.SPAN[mode]
        for _ in range(120):
            row_bytes = 16 * (1 + pick(span // 16))
            counts = [1 + pick(16), 1 + pick(4)]
            index = [pick(counts[0]), pick(counts[1])]
            byte, dst = pick(row_bytes), 128 * pick(64)
            yield ("tma_shared", [*index, *counts, byte, row_bytes, SWIZZLES[mode], dst],
                   [ref.tma_smem_offset(index, counts, byte, row_bytes, mode, dst)])
    for _ in range(100):
        box, stride = [1 + pick(256) for _ in range(3)], [1 + pick(8) for _ in range(3)]
        start, index = [pick(200) - 50 for _ in range(3)], [pick(9) for _ in range(3)]
        yield ("tma_box", [*box, *stride, *start, *index],
               [*ref.tma_boxes(box, stride), *ref.tma_global_coord(start, index, stride)])
    for pack, name in [("4b_8B", "u4_align8"), ("4b_16B", "u4_align16"), ("6b_16B", "u6_align16")]:
        for box in [32, 64, 128]:
            yield "tma_row_bytes", [box, name], [*ref.tma_row_bytes(box, 0, pack)]
    for dest in range(8):
        for mbar in range(8):
            for group in (1, 2):
                yield "tma_mbarrier", [dest, mbar, group], [ref.tma_mbar_rank(dest, mbar, group)]

    # tcgen05.cp.
    names = {"128x256b": "128x256b", "4x256b": "4x256b", "128x128b": "128x128b",
             "64x128b.02_13": "64x128b.warpx2::02_13", "64x128b.01_23": "64x128b.warpx2::01_23",
             "32x128b.warpx4": "32x128b.warpx4"}
    for shape, name in names.items():
        rows, row_bytes = ref.CP_SHAPE[shape]
        for row in range(rows):
            lanes = ref.cp_lanes(shape, row)
            yield "cp_lanes", [name, row], [rows, row_bytes, len(lanes), *lanes]
    for byte in range(32):
        yield "cp_column", [byte], [*ref.cp_column(byte)]
    for fmt, bits in [("b4x16_p64", 4), ("b6x16_p32", 6)]:
        for _ in range(20):
            unit = [pick(256) for _ in range(16)]
            yield "decompress", [bits, *unit], ref.decompress_unit(unit, fmt)

    # Scales.
    for _ in range(500):
        rows = rng.choice([64, 128, 192, 256])
        row, scale, first = pick(rows), pick(8), pick(4)
        yield "scale_place", [row, scale, rows, first], [*ref.sf_place(row, scale, rows, first)]
    for _ in range(200):
        columns = rng.choice([64, 128, 256])
        n, scale, first = pick(columns), pick(8), pick(4)
        yield ("scale_place_2x2", [n, scale, columns, first],
               flat(ref.sfb_place_2x2(n, scale, columns, first)))
    for _ in range(500):
        ksf = 1 + pick(40)
        row, scale = pick(1000), pick(ksf)
        yield "scale_tile", [row, scale, ksf], [ref.sf_smem_offset(row, scale, ksf)]
    for block in (16, 32):
        for i, step in enumerate(ref.sf_ids_k96(block)):
            yield "scale_step", [i, 96 // block], [*step]

    # tcgen05.ld, mma.sync, ldmatrix.
    for shape in ref.LD_REGS:
        for thread in range(32):
            for reg in (0, 1, 2, 3, 5, 7, 14, 31):
                split = 32
                yield ("ld", [shape, thread, reg, split],
                       [*ref.ld_place(shape, 32, thread, reg, split),
                        *ref.ld_place_pack16(shape, 32, thread, reg, 1, split)])
    for bits in (4, 8, 16):
        for thread in range(32):
            for i in range(128 // bits):
                if pick(3) == 0:
                    yield "fragment_a", [thread, i, bits], [*ref.mma_a(thread, i, bits)]
            for i in range(64 // bits):
                if pick(3) == 0:
                    yield "fragment_b", [thread, i, bits], [*ref.mma_b(thread, i, bits)]
    for thread in range(32):
        for i in range(4):
            yield "fragment_c", [thread, i], [*ref.mma_c(thread, i)]
            yield ("ldmatrix", [thread, i, pick(2), pick(2)], None)
    for _ in range(150):
        vec = rng.choice([1, 2, 4])
        scale = pick(vec)
        byte = {1: pick(4), 2: 2 * pick(2), 4: 0}[vec]
        row, n = pick(16), pick(8)
        t = pick(2)
        yield "warp_scale_a", [row, scale, vec, byte, t], [*ref.sfa_source(row, scale, vec, byte, t)]
        t = pick(4)
        yield "warp_scale_b", [n, scale, vec, byte, t], [*ref.sfb_source(n, scale, vec, byte, t)]
    for rank in range(16):
        offset = pick(1 << 18)
        address = ref.cluster_addr(offset, rank)
        yield "cluster", [offset, rank], [address, ref.peer_even(address)]


def lines():
    for function, arguments, results in points(random.Random(20250107)):
        if function == "ldmatrix":
            thread, reg, half, transposed = arguments
            results = [*ref.ldmatrix_place(thread, reg, half, bool(transposed))]
        yield " ".join(map(str, [function, *arguments, "=", *results])) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    path = DATA / "layout_vectors.txt"
    text = "".join(lines())
    if not args.check:
        path.write_text(text)
        print(f"{path.name}: {text.count(chr(10))} points")
    elif path.read_text() != text:
        sys.exit(f"{path.name}: not what the reference gives; run this script without --check")


if __name__ == "__main__":
    main()
