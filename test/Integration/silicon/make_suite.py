# ===- make_suite.py - the programs that emulator and GPU are compared on --===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes PTX, manifests and inputs for tools/bench/silicon. With --ptxas each
# program is assembled for sm_90a; one that is refused is a fault of this script.
#
# ===-----------------------------------------------------------------------===#

import argparse
import concurrent.futures
import importlib
import shutil
import subprocess
import sys

from suite import Suite

MODULES = ["integer", "floating", "convert", "mufu", "warp", "atomics", "copies", "barriers", "tma", "cluster",
           "matrix", "wgmma", "memory", "errors"]


def refusal(ptxas, folder, name):
    ran = subprocess.run([ptxas, "-arch=sm_90a", "-o", "/dev/null", f"{folder}/{name}.ptx"], capture_output=True, text=True)
    return None if ran.returncode == 0 else f"{name}: " + ran.stderr.strip().split("\n")[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--only", nargs="*", default=MODULES, choices=MODULES)
    parser.add_argument("--quick", action="store_true", help="without the large sweeps")
    parser.add_argument("--ptxas")
    args = parser.parse_args()
    shutil.rmtree(args.folder, ignore_errors=True)
    suite = Suite(args.folder, isQuick=args.quick)
    for module in args.only:
        importlib.import_module(module).build(suite)
    suite.writeInputs()
    print(f"{len(suite.names)} programs")
    if not args.ptxas:
        return 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        refused = [r for r in pool.map(lambda name: refusal(args.ptxas, args.folder, name), suite.names) if r]
    print("\n".join(refused))
    print(f"{len(refused)} refused by ptxas")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
