# ===- gguf_product.py - a product beside one of gguf's own weights ---------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   gguf_product.py FILE.gguf NAME X.npy D.npy
#
# D beside X times the tensor as PyPI gguf decodes it, in f64.
#
# ===-----------------------------------------------------------------------===#

import sys

import gguf
import numpy as np

path, name, x, d = sys.argv[1:]
tensor = next(t for t in gguf.GGUFReader(path).tensors if t.name == name)
weights = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float64)
want = np.load(x).astype(np.float64) @ weights.T
print(f"relative error {np.linalg.norm(np.load(d) - want) / np.linalg.norm(want):.4f}")
