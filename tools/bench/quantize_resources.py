# ===- quantize_resources.py - what ptxas makes of kernels that quantise -------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles test/Target/PTX/quantize-mx.mlir and prints what one lane executes for its 32
# values, a block's worth: instructions, those of them that multiply and of the special
# function unit, registers; and how many bytes the test of all sequences finds wrong.
#
# ===-----------------------------------------------------------------------===#

import argparse
import pathlib
import re
import sys
import tempfile

import measure
from q4k_resources import ROOT, run

CHIPS = ["sm_90a", "sm_100a", "sm_107a"]


def instructions(sass):
    """Every instruction but the padding behind the last branch: there is no loop."""
    found = re.findall(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_]*)", sass)
    return [name for name in found if name != "NOP"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--ptxas", type=pathlib.Path, required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for chip in CHIPS:
            ptx, cubin = work / f"{chip}.ptx", work / f"{chip}.cubin"
            run(args.build / "bin" / "blockscale-translate", "--mlir-to-ptx", f"--arch={chip}",
                ROOT / "test" / "Target" / "PTX" / "quantize-mx.mlir", "-o", ptx)
            said = run(args.ptxas, f"-arch={chip}", "-v", ptx, "-o", cubin)
            names = instructions(run(args.ptxas.parent / "nvdisasm", "-c", cubin))
            measure.report(f"quantise.instructions_per_32.{chip}", len(names))
            measure.report(f"quantise.fmul_per_32.{chip}", names.count("FMUL"))
            measure.report(f"quantise.mufu_per_32.{chip}", names.count("MUFU"))
            measure.report(f"quantise.{chip}.registers", int(re.search(r"Used (\d+) registers", said)[1]))
        test = ROOT / "test" / "tools" / "blockscale-run" / "Inputs" / "quantize_mx.py"
        said = run(sys.executable, test, args.build / "bin" / "blockscale-run", work)
        pairs = re.findall(r"(\d+) elements and (\d+) scales differ", said)
        measure.report("quantise.mismatches", sum(int(a) + int(b) for a, b in pairs))


if __name__ == "__main__":
    main()
