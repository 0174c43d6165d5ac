#!/usr/bin/env python3
"""Compiles products with the compiler of BUILD and describes them for the comparison.

    generate.py BUILD PTXAS FOLDER [--quick] [--arch=sm_90a]

Writes cubins and FOLDER/generated.txt, and prints registers, spilled bytes and shared bytes of each. Names are the
fields that differ from the planner's choice. --quick leaves those out.

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

# Shapes of the recorded baselines; experiments run on the first.
SHAPES = [(2048, 18944, 3584), (512, 18944, 3584), (512, 3584, 18944), (2048, 3584, 3584)]
TILE_BYTES = {"q8_1_tile": 20480, "q8_1_tile_parts": 21504}

# name, format of A, pins, on all shapes
KERNELS = [
    ("gen-chunks", "q8_1_chunk", "", True),
    ("gen-tiles", "q8_1_tile", "", True),
    ("gen-parts", "q8_1_tile_parts", "", True),
    ("gen-tiles-s2", "q8_1_tile", "stages=2", False),
    ("gen-tiles-offset", "q8_1_tile", "convert=offset", False),
    ("gen-tiles-g1", "q8_1_tile", "flight=1", False),
    ("gen-tiles-g4", "q8_1_tile", "flight=4", False),
    ("gen-tiles-g8", "q8_1_tile", "flight=8", False),
    ("gen-parts-s2", "q8_1_tile_parts", "stages=2", False),
    ("gen-parts-s1", "q8_1_tile_parts", "stages=1", False),
    ("gen-parts-offset", "q8_1_tile_parts", "convert=offset", False),
    ("gen-parts-g2", "q8_1_tile_parts", "flight=2", False),
    ("gen-parts-g4", "q8_1_tile_parts", "flight=4", False),
]
ARGUMENTS = {"q8_1_chunk": "chunks", "q8_1_tile": "tiles", "q8_1_tile_parts": "parts"}


def module(shape, form):
    tokens, rows, depth = shape
    if form == "q8_1_chunk":
        a = f"tensor<{tokens}x{depth // 32 * 40}xi8, #blockscale.blocks<q8_1_chunk>>"
    else:
        a = f"tensor<{-(-tokens // 64)}x{depth // 256 * TILE_BYTES[form]}xi8, #blockscale.blocks<{form}>>"
    w = f"tensor<{rows}x{depth // 256 * 144}xi8, #blockscale.blocks<q4_K>>"
    d = f"tensor<{tokens}x{rows}xf32>"
    contract = " {contract = #blockscale.contract<bounded>}" if form == "q8_1_tile_parts" else ""
    return f"""func.func @f(%a: {a}, %w: {w}) -> {d} {{
  %c = tensor.empty() : {d}
  %d = blockscale.gemm ins(%a, %w : {a}, {w}) outs(%c : {d}){contract} -> {d}
  return %d : {d}
}}
"""


def run(*command):
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if ran.returncode:
        sys.exit(f"{command[0]}: {ran.stderr.strip()}")
    return ran.stdout + ran.stderr


def compile(args, name, form, pins, shape, out):
    folder, stem = args.folder, f"{name}-{'x'.join(map(str, shape))}"
    source, ptx, manifest = (folder / f"{stem}.{end}" for end in ("mlir", "ptx", "json"))
    source.write_text(module(shape, form))
    run(args.build / "bin" / "blockscale-translate", "--mlir-to-ptx", f"--arch={args.arch}", source, "-o", ptx,
        f"--manifest={manifest}", *([f"--pin={pins}"] if pins else []))
    said = run(args.ptxas, f"-arch={args.arch}", "-v", ptx, "-o", folder / f"{stem}.cubin")
    kernel = json.loads(manifest.read_text())["kernels"][0]
    registers = re.search(r"Used (\d+) registers", said)[1]
    spilled = sum(map(int, re.findall(r"(\d+) bytes spill", said)))
    print(f"{stem}: {registers} registers, {spilled} bytes spilled, {kernel['shared_bytes']} bytes shared", flush=True)
    out.write(f"""kernel {name}
module {stem}.cubin
shape {' '.join(map(str, shape))}
check contract
entry {kernel['name']}
grid {' '.join(map(str, kernel['grid']))}
block {' '.join(map(str, kernel['block']))}
shared {kernel['shared_bytes']}
args {ARGUMENTS[form]} weights out tokens
""")
    for file in (source, manifest) if not args.keep else ():
        file.unlink()
    if not args.keep:
        ptx.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("ptxas", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--keep", action="store_true", help="keep MLIR, PTX and manifests, too")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    with open(args.folder / "generated.txt", "w") as out:
        for name, form, pins, everywhere in KERNELS:
            for shape in SHAPES if everywhere else SHAPES[:1]:
                if everywhere or not args.quick:
                    compile(args, name, form, pins, shape, out)


if __name__ == "__main__":
    main()
