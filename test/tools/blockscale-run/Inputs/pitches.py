# pitches.py - operands of gemm-pitches.mlir and what numpy makes of them
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: pitches.py ENTRY PREFIX FORMAT M N K   writes PREFIX.a, .sa, .b, .sb and .d.npy;
# for k48 also tiled scales with a byte in the columns that no block has. Data are whole
# numbers whose sums are exact in f32, so that the product must be equal to `d`.

import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2]))
import kernel_cases  # noqa: E402
import kernel_data  # noqa: E402

entry, prefix, name = sys.argv[1:4]
m, n, k = map(int, sys.argv[4:])
fmt = kernel_cases.ALL_FORMATS[name]
rng = np.random.default_rng(list(entry.encode()))
a = kernel_data.makeOperand(rng, fmt, fmt.a, m, k, "integer")
b = kernel_data.makeOperand(rng, fmt, fmt.b, n, k, "integer")
bytesOfA = kernel_data.packed(fmt.a, a.codes.T if entry == "mn" else a.codes)
bytesOfB = kernel_data.packed(fmt.b, b.codes)


def apart(rows, pitch):
    """Rows `pitch` bytes apart with NaN of E4M3 behind them."""
    wide = np.full((len(rows), pitch), 0x7F, np.uint8)
    wide[:, :rows.shape[1]] = rows
    return wide


if entry == "apart":
    bytesOfA, bytesOfB = apart(bytesOfA, 112), apart(bytesOfB, 128)
arrays = {"a": bytesOfA, "sa": a.scales, "b": bytesOfB, "sb": b.scales,
          "d": (a.values @ b.values.T).astype(np.float32)}
if entry == "k48":
    for key, operand in (("ta", a), ("tb", b)):
        tiles = kernel_data.tiled(operand.scales, rng)  # one tile: 4 scales of a row follow each other
        for byte in (0x00, 0x7E, 0x7F):
            hostile = tiles.copy()
            hostile[3::4] = byte
            arrays[f"{key}{byte:02X}"] = hostile
for key, array in arrays.items():
    np.save(f"{prefix}.{key}.npy", array)
