# ===- q4k_resources.py - what ptxas gives a kernel ---------------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: q4k_resources.py PTXAS ARCH KERNEL.ptx registers=MOST
# Fails when ptxas spills or takes more registers.
#
# ===-----------------------------------------------------------------------===#

import re
import subprocess
import sys


def main():
    ptxas, arch, path, limit = sys.argv[1:]
    most = int(limit.split("=")[1])
    ran = subprocess.run([ptxas, f"-arch={arch}", "-v", path, "-o", path + ".cubin"], capture_output=True, text=True)
    if ran.returncode:
        sys.exit(ran.stderr)
    spilled = sum(int(n) for n in re.findall(r"(\d+) bytes spill", ran.stderr))
    registers = max(int(n) for n in re.findall(r"Used (\d+) registers", ran.stderr))
    print(f"{arch}: {registers} registers, {spilled} bytes spilled")
    if spilled or registers > most:
        sys.exit(f"{arch}: must take at most {most} registers and spill nothing, got {registers} and {spilled} bytes")


if __name__ == "__main__":
    main()
