# ===- release_early.py - gives an accumulator back one load too early ------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: release_early.py DUMP.mlir
# Prints the dump of a kernel, at the kernel or the machine level, in which the last
# load ahead of the first release of an accumulator stands behind it.
#
# ===-----------------------------------------------------------------------===#

import re
import sys

lines = open(sys.argv[1]).read().splitlines(keepends=True)
epilogue = next(i for i, line in enumerate(lines) if re.search(r"load_accumulator|tcgen05_ld ", line))
# At the machine level a release is a wait for loads up to the arrival's closing brace.
start = next(i for i in range(epilogue, len(lines)) if re.search(r"consumer_release|tcgen05_wait_ld", lines[i]))
end = start
if "tcgen05_wait_ld" in lines[start]:
    arrive = next(i for i in range(start, len(lines)) if "mbarrier_arrive" in lines[i])
    end = next(i for i in range(arrive, len(lines)) if lines[i].strip() == "}")
load = max(i for i in range(start) if re.search(r"load_accumulator|tcgen05_ld ", lines[i]))
behind = max(i for i in range(load, start) if i == load or "arith.bitcast" in lines[i]) + 1
print("".join(lines[:load] + lines[behind:end + 1] + lines[load:behind] + lines[end + 1:]), end="")
