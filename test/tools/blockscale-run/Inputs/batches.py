# batches.py - operands of gemm-batches.mlir and what numpy makes of them
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: batches.py ENTRY PREFIX FORMAT BATCHES M N K   writes PREFIX.a, .sa, .b, .sb, .bias
# and .d.npy. Scales are tiles whose padding is NaN, of @dense, @copied and @transposed linear. Data are whole numbers
# whose sums are exact in f32, so that the product must be equal to `d`.

import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2]))
import kernel_cases  # noqa: E402
import kernel_data  # noqa: E402

entry, prefix, name = sys.argv[1:4]
batches, m, n, k = map(int, sys.argv[4:])
fmt = kernel_cases.ALL_FORMATS[name]
rng = np.random.default_rng(list(entry.encode()))
nan = kernel_data.SCALES[fmt.scale][2]
isLinear = entry in ("dense", "copied", "transposed")
isShared = entry in ("shared", "dense")  # B of all batches


def tiled(scales):
    """Tiles of 128 rows x 4 scales (PTX ISA), all else NaN."""
    if isLinear:
        return scales
    rows, columns = scales.shape
    tiles = np.full(-(-rows // 128) * -(-columns // 4) * 512, nan, np.uint8)
    for row in range(rows):
        for column in range(columns):
            tile = row // 128 * -(-columns // 4) + column // 4
            tiles[tile * 512 + row % 32 * 16 + row % 128 // 32 * 4 + column % 4] = scales[row, column]
    return tiles


bias = rng.integers(-64, 65, n).astype(np.float32) if entry in ("tiled", "gated") else np.zeros(n, np.float32)
parts = {key: [] for key in ("a", "sa", "b", "sb", "d")}
for batch in range(batches):
    a = kernel_data.makeOperand(rng, fmt, fmt.a, m, k, "integer")
    if batch == 0 or not isShared:
        b = kernel_data.makeOperand(rng, fmt, fmt.b, n, k, "integer")
    parts["a"].append(kernel_data.packed(fmt.a, a.codes.T if entry == "transposed" else a.codes))
    parts["sa"].append(tiled(a.scales))
    parts["b"].append(kernel_data.packed(fmt.b, b.codes.T if entry == "shared" else b.codes))
    parts["sb"].append(tiled(b.scales))
    parts["d"].append((a.values @ b.values.T + bias).astype(np.float32))
for key, values in parts.items():
    array = np.stack(values)
    if key in ("b", "sb") and isShared:
        array = array[0]
    # All tiles are one list of bytes.
    isTiled = key in ("sa", "sb") and not isLinear
    np.save(f"{prefix}.{key}.npy", array.reshape(-1) if isTiled else array)
np.save(f"{prefix}.bias.npy", bias)
