# activations.py - products with a function behind them, against NumPy
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: activations.py FOLDER make            writes the operands: a, sa, b, sb, bias and c
#        activations.py FOLDER check F D.npy   compares D with F of the product in f64
# The operands make arguments of every size from 2^-20 to 2^20, both signs, so that functions are
# compared where they are linear, where they bend and where they are flat.

import math
import pathlib
import sys

import numpy as np

M, N, K = 37, 72, 128
ERROR = 2.0 ** -20  # for each unit of the argument: that of the function and of the product

folder, verb, *rest = sys.argv[1:]
folder = pathlib.Path(folder)
folder.mkdir(exist_ok=True)
FUNCTIONS = {
    "relu": lambda x: max(x, 0.0),
    "gelu": lambda x: 0.5 * x * math.erfc(-x / math.sqrt(2)),
    "gelu_tanh": lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))),
    "silu": lambda x: x / (1 + math.exp(-x)) if x > -700 else 0.0,
}
if verb == "make":
    random = np.random.default_rng(7)
    # One element a row of A is not zero, a power of two: the product is exact.
    a, b = np.zeros((M, K), np.uint8), np.zeros((N, K), np.uint8)
    a[:, 0] = 0x38 + random.integers(0, 8, M)  # 1 to 1.875 of E4M3
    b[:, 0] = 0x38 | random.integers(0, 2, N) << 7
    np.save(folder / "a.npy", a)
    np.save(folder / "b.npy", b)
    np.save(folder / "sa.npy", random.integers(117, 138, (M, K // 32)).astype(np.uint8))
    np.save(folder / "sb.npy", random.integers(117, 138, (N, K // 32)).astype(np.uint8))
    np.save(folder / "bias.npy", random.choice([0.0, 0.5, -0.125], N).astype(np.float32))
    sys.exit()
name, path = rest
a, b, sa, sb, bias = (np.load(folder / f"{x}.npy") for x in ("a", "b", "sa", "sb", "bias"))
left = (1 + (a[:, 0] & 7) / 8) * 2.0 ** (sa[:, 0].astype(int) - 127)
right = np.where(b[:, 0] >> 7, -1.0, 1.0) * 2.0 ** (sb[:, 0].astype(int) - 127)
x = np.outer(left, right) + bias
want = np.vectorize(FUNCTIONS[name])(x)
got = np.load(path).astype(np.float64)
wrong = int((~(np.abs(got - want) <= ERROR * np.abs(x) + 2.0 ** -126)).sum())
print(f"{name}: {wrong} of {x.size} wrong, largest error {np.max(np.abs(got - want) / np.abs(x)):.1e} of the argument")
sys.exit(wrong != 0)
