# linalg.py - operands of linalg.mlir and what numpy makes of them
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: linalg.py ENTRY PREFIX   writes PREFIX.a, .sa, .b, .sb, .c and .d.npy. Data are
# whole numbers whose sums are exact in f32, so that the product must be equal to `d`.

import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2]))
import kernel_cases  # noqa: E402
import kernel_data  # noqa: E402

# entry -> format, batches, m, n, k
SHAPES = {
    "nvfp4": ("nvfp4", 1, 5, 24, 384),
    "transposed_bytes": ("e4m3-e5m2", 1, 130, 16, 128),
    "batches": ("mxfp4", 3, 5, 8, 64),
    "shared_weights": ("mxfp8", 3, 5, 8, 64),
}

entry, prefix = sys.argv[1:]
name, batches, m, n, k = SHAPES[entry]
fmt = kernel_cases.ALL_FORMATS[name]
rng = np.random.default_rng(list(entry.encode()))
parts = {key: [] for key in ("a", "sa", "b", "sb", "c", "d")}
for batch in range(batches):
    a = kernel_data.makeOperand(rng, fmt, fmt.a, m, k, "integer")
    if batch == 0 or entry != "shared_weights":
        b = kernel_data.makeOperand(rng, fmt, fmt.b, n, k, "integer")
    c = rng.integers(-32, 33, (m, n)).astype(np.float32)
    rowsOfB = b.codes.T if entry == "transposed_bytes" else b.codes
    for key, value in (("a", kernel_data.packed(fmt.a, a.codes)), ("sa", a.scales), ("c", c),
                       ("b", kernel_data.packed(fmt.b, rowsOfB)), ("sb", b.scales),
                       ("d", (a.values @ b.values.T + c).astype(np.float32))):
        parts[key].append(value)

# The shapes of the entry's arguments: blocks apart, bytes of them innermost.
for key, values in parts.items():
    array = np.stack(values)
    if key in ("b", "sb") and entry == "shared_weights" or batches == 1:
        array = array[0]
    if key in ("a", "b") and entry != "transposed_bytes":
        bits = (fmt.a if key == "a" else fmt.b).bits
        array = array.reshape(*array.shape[:-1], k // fmt.block, fmt.block * bits // 8)
    elif key == "b":
        array = array.reshape(k // fmt.block, fmt.block, n)
    np.save(f"{prefix}.{key}.npy", array)
