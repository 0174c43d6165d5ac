# expect.py - exits 0 only if an array is what an expression says
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: expect.py FILE EXPRESSION   with numpy as np, load, and d for the array.
# An array must be equal in type, shape and every element (NaN equals NaN); a
# truth value must be true.

import sys

import ml_dtypes
import numpy as np

load = np.load
d = np.load(sys.argv[1])
want = eval(sys.argv[2])
if isinstance(want, (bool, np.bool_)):
    if not want:
        sys.exit(f"not true of {sys.argv[1]}: {sys.argv[2]}\n{d}")
    sys.exit(0)
want = np.asarray(want)
if want.dtype != d.dtype or want.shape != d.shape:
    sys.exit(f"want {want.dtype} {want.shape}, got {d.dtype} {d.shape}")
if not np.array_equal(want, d, equal_nan=d.dtype.kind == "f"):
    sys.exit(f"differs:\n{d}")
