# ===- quantize_resources.py - what ptxas makes of kernels that quantise -------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles kernels that quantise f32 to each format, scales tiled, and prints what one lane
# executes for its 32 values: instructions, those of them that multiply and of the special
# function unit, registers; what the launches read and write, over the bytes of source and
# result; and how many bytes the test of all formats and sequences finds wrong.
#
# ===-----------------------------------------------------------------------===#

import argparse
import pathlib
import re
import sys
import tempfile

import measure
from measure import run

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "tools" / "blockscale-run" / "Inputs"))
import quantize_formats  # noqa: E402
import quantize_rules  # noqa: E402

CHIPS = ["sm_90a", "sm_100a", "sm_107a"]
ROWS, K, LANE_VALUES = 4096, 4096, 32  # whole warps, whole tiles of scales


def instructions(sass):
    """Every instruction that ordinary values pass: there is no loop. Behind the last EXIT is
    padding, and what divisions call for the others."""
    found = re.findall(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_]*)", sass)
    return found[: len(found) - found[::-1].index("EXIT")]


def moved(ptx):
    """Bytes that the text of a kernel loads and stores, each instruction once a lane."""
    total = 0
    for vector, bits in re.findall(r"\b(?:ld|st)\.global(?:\.nc)?(?:\.v([24]))?\.b(\d+)", ptx):
        total += int(vector or 1) * int(bits) // 8
    return total


def functions(text, pattern):
    """Name -> body, split where each begins."""
    parts = re.split(pattern, text)
    return dict(zip(parts[1::2], parts[2::2]))


def measureKernels(args, work, form, chip):
    ptx, cubin = work / f"{form}.ptx", work / f"{form}.cubin"
    (work / f"{form}.mlir").write_text(quantize_formats.module(ROWS, K, "f32", form, "tiled", "computed"))
    run(args.build / "bin" / "blockscale-translate", "--mlir-to-ptx", f"--arch={chip}", work / f"{form}.mlir", "-o", ptx)
    said = run(args.ptxas, f"-arch={chip}", "-v", ptx, "-o", cubin)
    sass = functions(run(args.ptxas.parent / "nvdisasm", "-c", cubin), r"\.text\.(\w+):")
    registers = dict(re.findall(r"Compiling entry function '(\w+)'.*?Used (\d+) registers", said, re.S))
    spilled = sum(int(n) for n in re.findall(r"(\d+) bytes spill", said))
    names = instructions(sass["quantize_0"])
    key = f"quantise.{form}"
    if form == "mxfp8":  # the keys that are followed from one revision to the next
        measure.report(f"quantise.instructions_per_32.{chip}", len(names))
        measure.report(f"quantise.fmul_per_32.{chip}", names.count("FMUL"))
        measure.report(f"quantise.mufu_per_32.{chip}", names.count("MUFU"))
        measure.report(f"quantise.{chip}.registers", int(registers["quantize_0"]))
    else:
        measure.report(f"{key}.instructions_per_32.{chip}", len(names))
        measure.report(f"{key}.fmul_per_32.{chip}", names.count("FMUL") + names.count("FFMA"))
        measure.report(f"{key}.mufu_per_32.{chip}", names.count("MUFU"))
        measure.report(f"{key}.{chip}.registers", int(registers["quantize_0"]))
    if spilled:
        measure.report(f"{key}.{chip}.spilled", spilled)
    if chip == CHIPS[-1]:
        element, _, block = quantize_formats.FORMATS[form]
        least = LANE_VALUES * 4 + LANE_VALUES * quantize_rules.ELEMENTS[element].bits // 8 + LANE_VALUES // block
        kernels = functions(ptx.read_text(), r"\.entry (\w+)\(")
        measure.report(f"{key}.traffic_over_bound", round(sum(moved(body) for body in kernels.values()) / least, 4))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--ptxas", type=pathlib.Path, required=True)
    parser.add_argument("--full", action="store_true", help="every format on every chip, from every source")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for form, (_, scale, _) in quantize_formats.FORMATS.items():
            for chip in CHIPS:
                if chip == "sm_107a" or args.full and scale != "ue5m3" or form == "mxfp8":
                    measureKernels(args, work, form, chip)
        test = ROOT / "test" / "tools" / "blockscale-run" / "Inputs" / "quantize_formats.py"
        said = run(sys.executable, test, args.build / "bin" / "blockscale-run", work, *(["all"] if args.full else []))
        counts = re.findall(r"(\d+) bytes of elements, (\d+) scales(?: and (\d+) global)? differ", said)
        measure.report("quantise.mismatches", sum(int(n or 0) for each in counts for n in each))


if __name__ == "__main__":
    main()
