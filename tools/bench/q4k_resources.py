# ===- q4k_resources.py - what ptxas makes of the kernels of ggml's blocks -----===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles examples/q4k.mlir and prints registers, spilled bytes, blocks of an SM, and
# the instructions of one warp in one pass over k, counted in the loop of the SASS;
# and how many words of the raw plane's fragments differ from the expanded plane's.
# With --ptxas130 the kernels of sm_90a are assembled by that one too.
#
# ===-----------------------------------------------------------------------===#

import argparse
import pathlib
import re
import sys
import tempfile
import xml.etree.ElementTree

import measure

ROOT = pathlib.Path(__file__).resolve().parents[2]
REGISTERS_PER_SM, REGISTER_STEP, THREADS = 65536, 8, 256


def loopOf(sass):
    """The instructions of the longest backward branch, without predicates."""
    instructions, labels, longest = [], {}, []
    for line in sass.splitlines():
        if label := re.match(r"\s*(\.L_x_\d+):", line):
            labels[label[1]] = len(instructions)
        elif found := re.search(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][^;]*);", line):
            instructions.append(found[1])
    for index, instruction in enumerate(instructions):
        target = re.search(r"^BRA.*?(\.L_x_\d+)", instruction)
        if target and labels.get(target[1], index + 1) <= index:
            longest = max(longest, instructions[labels[target[1]]:index + 1], key=len)
    return longest


def kernel(build, ptxas, arch, work, pins=(), disassembler=None, source=ROOT / "examples" / "q4k.mlir"):
    """Registers, spilled bytes, instructions and IMMA of raw_nibble, or as pinned."""
    ptx, cubin = work / f"{arch}.ptx", work / f"{arch}.cubin"
    pinned = [f"--pin={pins}"] if pins else []
    measure.run(build / "bin" / "blockscale-translate", "--mlir-to-ptx", f"--arch={arch}", *pinned,
        source, "-o", ptx)
    said = measure.run(ptxas, f"-arch={arch}", "-v", ptx, "-o", cubin)
    loop = loopOf(measure.run(disassembler or ptxas.parent / "nvdisasm", "-c", cubin))
    spilled = sum(int(count) for count in re.findall(r"(\d+) bytes spill", said))
    return int(re.search(r"Used (\d+) registers", said)[1]), spilled, len(loop), sum(i.startswith("IMMA") for i in loop)


def other(build, ptxas, work, disassembler):
    """What an assembler of another release makes of every kernel of sm_90a."""
    release = re.search(r"release (\d+\.\d+)", measure.run(ptxas, "--version"))[1].replace(".", "_")
    sys.path.insert(0, str(ROOT / "tools" / "bench" / "q4k"))
    import generate

    for name, pins, form in (("raw_nibble", "", ""), ("packed", "sums=packed", ""), ("wide", "kernel=wide", ""), ("narrow", "kernel=narrow", ""),
                             ("tiles", "", "q8_1_tile"), ("tiles_rows32", "warp-rows=32", "q8_1_tile"), ("parts", "", "q8_1_tile_parts"),
                             ("halves", "", "f16"), ("halves_split", "split=2", "f16")):
        chosen = {}
        if form:
            (work / "form.mlir").write_text(generate.module((512, 3584, 18944) if pins == "split=2" else generate.SHAPES[0], form))
            chosen["source"] = work / "form.mlir"
        registers, spilled, instructions, _ = kernel(build, ptxas, "sm_90a", work, pins, disassembler, **chosen)
        key = f"q4k.sm_90a.ptxas_{release}.{name}"
        measure.report(f"{key}.registers", registers)
        measure.report(f"{key}.spill_bytes", spilled)
        measure.report(f"{key}.instructions_per_warp_ktile", instructions)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--ptxas", type=pathlib.Path, required=True)
    parser.add_argument("--ptxas130", type=pathlib.Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        registers, spilled, instructions, mma = kernel(args.build, args.ptxas, "sm_90a", work)
        rounded = -(-registers // REGISTER_STEP) * REGISTER_STEP
        measure.report("q4k.sm_90a.registers", registers)
        measure.report("q4k.sm_90a.spill_bytes", spilled)
        measure.report("q4k.sm_90a.blocks_per_sm", REGISTERS_PER_SM // (rounded * THREADS))
        measure.report("q4k.instructions_per_warp_ktile", instructions)
        measure.report("q4k.imma_per_warp_ktile", mma)
        registers, spilled, _, _ = kernel(args.build, args.ptxas, "sm_121a", work)
        measure.report("q4k.sm_121a.registers", registers)
        measure.report("q4k.sm_121a.spill_bytes", spilled)
        if args.ptxas130:
            other(args.build, args.ptxas130, work, args.ptxas.parent / "nvdisasm")
        facts, seen = args.build / "test" / "Unit" / "FactsTests", work / "facts.xml"
        if facts.exists():
            measure.run(facts, "--gtest_filter=NibbleFragments.*", f"--gtest_output=xml:{seen}")
            values = [int(p.get("value")) for p in xml.etree.ElementTree.parse(seen).iter("property")
                      if p.get("name") == "fragment_map_mismatches"]
            measure.report("q4k.fragment_map_mismatches", sum(values))
        else:
            measure.report("q4k.fragment_map_mismatches", "not counted: this build has no test/Unit/FactsTests")


if __name__ == "__main__":
    main()
