#!/usr/bin/env python3
"""Compiles products with the compiler of BUILD and describes them for the comparison.

    generate.py BUILD PTXAS FOLDER [--quick | --split | --levers] [--arch=sm_90a]

Writes cubins and FOLDER/generated.txt, and prints registers, spilled and shared bytes of each. Names are the fields that
differ from the planner's choice, --quick leaves those out. --split writes products of f16 activations instead, whose k
is split in ways of each kind; --levers pragma, planes of weights and 32 rows a warp, ragged ones to compare, too.

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
# Beside the first three of KERNELS. Two blocks of an SM leave a thread 128 registers, 255 where it is one of 128.
LEVERS = [
    ("gen-chunks-throughput", "q8_1_chunk", "pragma=mma_throughput"),
    ("gen-tiles-throughput", "q8_1_tile", "pragma=mma_throughput"),
    ("gen-tiles-throughput-g1", "q8_1_tile", "pragma=mma_throughput,flight=1"),
    ("gen-parts-throughput", "q8_1_tile_parts", "pragma=mma_throughput"),
    ("gen-chunks-plane", "q8_1_chunk", "weights=plane"),
    ("gen-tiles-plane", "q8_1_tile", "weights=plane"),
    ("gen-tiles-plane-g1", "q8_1_tile", "weights=plane,flight=1"),
    ("gen-tiles-plane-throughput", "q8_1_tile", "weights=plane,pragma=mma_throughput"),
    ("gen-tiles-rows32", "q8_1_tile", "warp-rows=32"),
    ("gen-tiles-rows32-g1", "q8_1_tile", "warp-rows=32,flight=1"),
    ("gen-tiles-rows32-g4", "q8_1_tile", "warp-rows=32,flight=4"),
    ("gen-parts-rows32", "q8_1_tile_parts", "warp-rows=32"),
    ("gen-parts-rows32-g2", "q8_1_tile_parts", "warp-rows=32,flight=2"),
    ("gen-parts-rows32-g4", "q8_1_tile_parts", "warp-rows=32,flight=4"),
    ("gen-tiles-rows32-plane", "q8_1_tile", "warp-rows=32,weights=plane"),
    ("gen-tiles-rows32-throughput", "q8_1_tile", "warp-rows=32,pragma=mma_throughput"),
    ("gen-parts-rows32-throughput", "q8_1_tile_parts", "warp-rows=32,pragma=mma_throughput"),
]
LEVER_CHECKS = [(65, 129, 512), (130, 127, 2048)]
# Products of f16 activations with few rows: shapes; and name, pins, fields of a whole schedule.
SPLIT_SHAPES = [(1, 3584, 18944), (1, 18944, 3584), (16, 3584, 18944), (128, 3584, 18944), (512, 3584, 18944), (16, 3584, 3584), (128, 3584, 3584)]
SPLIT_KERNELS = [
    ("gen-halves", "", ""),
    ("gen-halves-split1", "split=1", ""),
    ("gen-halves-split2", "split=2", ""),
    ("gen-halves-split4", "split=4", ""),
    # The tiles of the hand-written kernels with a split k.
    ("gen-halves-128x128-split4", "",
     "tile = 128x128x256, groups = 2, block_stages = 3, token_stages = 6, blocks = 1, split = 4"),
    ("gen-halves-128x256-split2", "",
     "tile = 128x256x256, groups = 2, block_stages = 2, token_stages = 8, blocks = 1, split = 2"),
]
# Ragged ones of which every output is compared, and nothing timed.
SPLIT_CHECKS = [("split=2", (65, 129, 512)), ("split=2", (3, 200, 768)), ("split=4", (130, 127, 2048))]
# Products of chunks and tiles with few blocks: shapes, and name, form, pins. All of one contract, bounded.
BLOCK_SPLIT_SHAPES = [(1, 3584, 18944), (16, 3584, 18944), (64, 3584, 18944), (16, 3584, 3584), (64, 3584, 3584), (128, 3584, 18944), (256, 3584, 18944),
                      (320, 3584, 18944), (384, 3584, 18944), (16, 18944, 3584), (64, 18944, 3584)]
BLOCK_SPLIT_KERNELS = [(f"gen-{kind}-split{split}", form, f"split={split}") for split in (1, 2, 4, 8)
                       for kind, form in (("chunks", "q8_1_chunk"), ("tiles", "q8_1_tile"), ("parts", "q8_1_tile_parts"))]
BLOCK_SPLIT_CHECKS = [(65, 129, 6144), (3, 127, 6656)]
ARGUMENTS = {"q8_1_chunk": "chunks", "q8_1_tile": "tiles", "q8_1_tile_parts": "parts"}


def module(shape, form, schedule="", isPlane=False, isBounded=False):
    tokens, rows, depth = shape
    attributes = {"q8_1_tile_parts": "contract = #blockscale.contract<bounded>",
                  "f16": "contract = #blockscale.contract<halves>"}.get(form, "")
    if isBounded:
        attributes = "contract = #blockscale.contract<bounded>"
    if schedule:
        attributes += f", wgmma_schedule = #blockscale.wgmma_schedule<arch = sm_90a, {schedule}>"
    attributes = f" {{{attributes}}}" if attributes else ""
    if form == "f16":
        a = f"tensor<{tokens}x{depth}xf16>"
    elif form == "q8_1_chunk":
        a = f"tensor<{tokens}x{depth // 32 * 40}xi8, #blockscale.blocks<q8_1_chunk>>"
    else:
        a = f"tensor<{-(-tokens // 64)}x{depth // 256 * TILE_BYTES[form]}xi8, #blockscale.blocks<{form}>>"
    w = f"tensor<{rows}x{depth // 256 * 144}xi8, #blockscale.blocks<q4_K>>"
    if isPlane:
        w = f"tensor<{-(-rows // 16)}x{depth // 256 * 3072}xi8, #blockscale.blocks<q4_K_plane>>"
    d = f"tensor<{tokens}x{rows}xf32>"
    return f"""func.func @f(%a: {a}, %w: {w}) -> {d} {{
  %c = tensor.empty() : {d}
  %d = blockscale.gemm ins(%a, %w : {a}, {w}) outs(%c : {d}){attributes} -> {d}
  return %d : {d}
}}
"""


def argumentsOf(form, kernel, isPlane):
    if form != "f16":
        return f"{ARGUMENTS[form]} {'planes' if isPlane else 'weights'} out tokens"
    tokens, rows = (param["box"][1] for param in kernel["params"][:2])
    return f"token-map:{tokens} block-map:{rows} out"


def run(*command):
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if ran.returncode:
        sys.exit(f"{command[0]}: {ran.stderr.strip()}")
    return ran.stdout + ran.stderr


def compile(args, name, form, pins, shape, out, schedule=""):
    folder, stem = args.folder, f"{name}-{'x'.join(map(str, shape))}"
    source, ptx, manifest = (folder / f"{stem}.{end}" for end in ("mlir", "ptx", "json"))
    isPlane = "weights=plane" in pins
    source.write_text(module(shape, form, schedule, isPlane, isBounded="split" in pins and form != "f16"))
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
check {'halves' if form == 'f16' else 'contract'}
entry {kernel['name']}
grid {' '.join(map(str, kernel['grid']))}
block {' '.join(map(str, kernel['block']))}
shared {kernel['shared_bytes']}
args {argumentsOf(form, kernel, isPlane)}
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
    parser.add_argument("--split", action="store_true")
    parser.add_argument("--block-split", action="store_true")
    parser.add_argument("--levers", action="store_true")
    parser.add_argument("--keep", action="store_true", help="keep MLIR, PTX and manifests, too")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    with open(args.folder / "generated.txt", "w") as out:
        for name, pins, schedule in SPLIT_KERNELS if args.split else []:
            for shape in SPLIT_SHAPES:
                compile(args, name, "f16", pins, shape, out, schedule)
        for pins, shape in SPLIT_CHECKS if args.split else []:
            compile(args, f"gen-halves-{pins.replace('=', '')}", "f16", pins, shape, out)
        for name, form, pins in BLOCK_SPLIT_KERNELS if args.block_split else []:
            for shape in BLOCK_SPLIT_SHAPES + BLOCK_SPLIT_CHECKS:
                if int(pins[-1]) * 3 * 256 <= shape[2]:  # a part has a block for each stage
                    compile(args, name, form, pins, shape, out)
        for name, form, pins in LEVERS if args.levers else []:
            for shape in SHAPES + LEVER_CHECKS:
                compile(args, name, form, pins, shape, out)
        for name, form, pins, everywhere in KERNELS if not (args.split or args.block_split) else []:
            for shape in SHAPES if everywhere else SHAPES[:1]:
                if everywhere or not (args.quick or args.levers):
                    compile(args, name, form, pins, shape, out)


if __name__ == "__main__":
    main()
