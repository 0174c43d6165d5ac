# ===- sgemm.py - OpenBLAS sgemm of one thread, the emulator's yardstick ----===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# numpy carries an OpenBLAS. It must choose its kernel by the processor that is
# here, so the caller clears the variables that override it. Time is the process's
# own, which others on a busy machine disturb less.
#
# ===-----------------------------------------------------------------------===#

import time

import numpy as np

SIZE = 1024
rng = np.random.default_rng(1)
a = rng.standard_normal((SIZE, SIZE), dtype=np.float32)
b = rng.standard_normal((SIZE, SIZE), dtype=np.float32)
best = float("inf")
for _ in range(12):
    begin = time.process_time()
    a @ b
    best = min(best, time.process_time() - begin)
print(f"gflops = {2 * SIZE**3 / best / 1e9:.2f}")
