# ===- run_foreign.py - other compilers' kernels on the emulator -----------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles the kernels of triton_kernels.py, runs their PTX through
# `blockscale-run --ptx --manifest` under earliest, latest and random timings, and
# compares with numpy in f64: integer-valued data exactly, other data within the
# accumulation's bound. Every timing must give the same bits. PTX, manifests and
# arrays stay in the work folder.
#
#   build/venv-foreign/bin/python test/Foreign/run_foreign.py --build build [--full] [--only TEXT]
#
# ===-----------------------------------------------------------------------===#

import argparse
import os
import pathlib
import sys
import zlib

import numpy as np

import foreign_data
from foreign_launch import Failure, Launch, Runner

CHIPS = ["sm_100a", "sm_103a", "sm_107a"]
SCALAR_CHIPS = ["sm_90a", "sm_100a"]
SKIPPED = 77  # ctest's SKIP_RETURN_CODE
TILE_M = TILE_N = 128


def allCases(kernels):
    """Every way x format x chip; then output types and tiles that differ."""
    cases = []
    for way in ["bytes", "vectors", "mn", "descriptors", "specialized"]:
        for fmt, info in kernels.FORMATS.items():
            bk = 256 if info.bits("a") == info.bits("b") == 4 else 128
            for arch in CHIPS:
                cases.append(kernels.Case(way, fmt, arch, tile=(TILE_M, TILE_N, bk), stages=1 if way == "bytes" else 3))
    for fmt in ["nvfp4", "mxfp4", "mxfp8"]:
        for arch in CHIPS:
            bk = 128 if fmt == "mxfp8" else 256
            cases.append(kernels.Case("pairs", fmt, arch, tile=(2 * TILE_M, TILE_N, bk)))
    for arch in CHIPS:
        cases.append(kernels.Case("vectors", "nvfp4", arch, out="f32", tile=(128, 256, 128), stages=2))
        cases.append(kernels.Case("descriptors", "mxfp8", arch, out="f32", tile=(128, 256, 128), stages=2))
        cases.append(kernels.Case("descriptors", "mxfp4", arch, tile=(256, 128, 256), stages=2))
    return cases


def quickCases(cases):
    """Every pair of way and format, of way and chip, and of format and chip once or more."""
    ways, formats = [list(dict.fromkeys(getattr(case, field) for case in cases)) for field in ["way", "fmt"]]
    plain = [case for case in cases if case.out == "bf16" and
             case.tile[:2] == ((2 if case.way == "pairs" else 1) * TILE_M, TILE_N)]
    chosen = [case for case in plain
              if CHIPS.index(case.arch) == (ways.index(case.way) + formats.index(case.fmt)) % len(CHIPS)]
    extra = [case for case in cases if case not in plain]
    return chosen + extra[::len(CHIPS) + 1]


def shapeOf(case):
    """m, n, k: ragged where the way allows it."""
    bk = case.tile[2]
    if case.way == "bytes":
        return 130, 133, bk + 96  # the last K tile is cut, too
    if case.way in ("vectors", "mn"):
        return 208, 144, 3 * bk + 64
    return 2 * case.tile[0], 128 * (case.tile[1] // 128), 5 * bk


def instructionK(case, fmt):
    if fmt.bits("a") == fmt.bits("b") == 4:
        return 128 if case.arch == "sm_107a" else 64
    return 64 if case.arch == "sm_107a" else 32


def makeLaunch(case, fmt, compiled, shape, operands):
    a, b = operands
    m, n, k = shape
    launch = Launch(case.arch, compiled, [-(-m // case.tile[0]), -(-n // case.tile[1]), 1])
    packed = foreign_data.packed
    place = (lambda x: np.ascontiguousarray(packed(x).T)) if case.way == "mn" else packed
    scales = foreign_data.tiled if case.usesDescriptors else (lambda x: x)
    arrays = {"a": place(a), "sfa": scales(a.scales), "b": place(b), "sfb": scales(b.scales)}
    for name, array in arrays.items():
        launch.addBuffer(name, array)
    launch.addBuffer("d", m * n * (2 if case.out == "bf16" else 4))
    if case.usesDescriptors:
        tiles = k // fmt.block // 4
        shapes = {"a": arrays["a"].shape, "sfa": (1, m // 128, tiles, 2, 256), "b": arrays["b"].shape,
                  "sfb": (1, n // 128, tiles, 2, 256), "d": (m, n)}
        for (name, dims), meta in zip(shapes.items(), compiled.descriptors):
            launch.addDescriptor(name, meta, dims)
    else:
        for name in [*arrays, "d"]:
            launch.addPointer(name)
    for extent in shape:
        launch.addScalar("i32", extent)
    launch.addScratch()
    return launch


def checkProduct(runner, case, fmt, compiled):
    """What came out right; raises Failure."""
    if "tcgen05.mma" not in compiled.ptx or "block_scale" not in compiled.ptx:
        raise Failure("Triton used no block-scaled tensor core instruction")
    shape = shapeOf(case)
    m, n, k = shape
    worst = 0.0
    for data in ["integer", "random"]:
        rng = np.random.default_rng(zlib.crc32(f"{case.name} {data}".encode()))
        operands = [foreign_data.makeOperand(rng, element, fmt.scale, fmt.block, rows, k, data)
                    for element, rows in [(fmt.a, m), (fmt.b, n)]]
        launch = makeLaunch(case, fmt, compiled, shape, operands)
        exact, magnitude = foreign_data.reference(*operands)
        if data == "integer":
            exact, allowed = foreign_data.roundedTo(case.out, exact), np.zeros_like(exact)
        else:
            oneByte = not fmt.bits("a") == fmt.bits("b") == 4
            allowed = foreign_data.bound(case.out, oneByte, instructionK(case, fmt), k, exact, magnitude)
        d = foreign_data.fromBits(case.out, runner.run(case.name, launch)["d"]).reshape(m, n)
        worst = max(worst, compare(f"{data} data: D", exact, allowed, d))
    return f"error {worst:.3f} of the bound"


def checkScalar(runner, case, compiled):
    """What came out right; raises Failure."""
    launch = Launch(case.arch, compiled, case.grid)
    for name, (type_, content) in case.arguments.items():
        if type_[0] == "*":
            launch.addBuffer(name, content)
            launch.addPointer(name)
            if name in case.expected and not isinstance(content, int):
                launch.makeInOut(name)
        else:
            launch.addScalar(type_, content)
    launch.addScratch()
    outputs = runner.run(f"{case.name}-{case.arch}", launch)
    for name, (dtype, expected, allowed) in case.expected.items():
        compare(name, expected, allowed, outputs[name].view(dtype).reshape(expected.shape))
    return "outputs " + ", ".join(case.expected)


def compare(what, exact, allowed, got):
    """The largest error in units of what is allowed."""
    got, exact = got.astype(np.float64), exact.astype(np.float64)
    error = np.where(np.isnan(got), np.inf, np.abs(got - exact))
    wrong = error > allowed
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise Failure(f"{what}{list(at)} is {got[at]}, must be {exact[at]} within {allowed[at]:.3g} "
                      f"({np.count_nonzero(wrong)} of {wrong.size} are wrong)")
    return float((error / np.maximum(allowed, 1e-300)).max())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, help="default: foreign in the build folder")
    parser.add_argument("--full", action="store_true", help="every combination, eight seeds")
    parser.add_argument("--seeds", type=int, help="random timings of each kernel")
    parser.add_argument("--only", default="", help="cases whose name has this text")
    args = parser.parse_args()
    try:
        import triton_kernels as kernels
        import triton_scalar
        import triton_wgmma
    except ImportError as error:
        foreign = args.build.resolve() / "venv-foreign" / "bin" / "python"
        if foreign.exists() and pathlib.Path(sys.prefix) != foreign.parent.parent:
            os.execv(foreign, [str(foreign), *sys.argv])
        print(f"skipped: no Triton in build/venv-foreign ({error}); `./tools/dev test` installs it")
        sys.exit(SKIPPED)

    products = allCases(kernels)
    if not args.full and not args.only:
        products = quickCases(products)
    # A case is its name, what compiles it and what checks it.
    cases = [(case.name, lambda case=case: kernels.compileCase(case),
              lambda compiled, case=case: checkProduct(runner, case, kernels.FORMATS[case.fmt], compiled))
             for case in products]
    scalar = triton_scalar.makeCases(SCALAR_CHIPS if args.full or args.only else SCALAR_CHIPS[:1])
    for case in scalar + triton_wgmma.makeCases():
        types = {name: type_ for name, (type_, _) in case.arguments.items()}
        cases.append((f"{case.name}-{case.arch}",
                      lambda case=case, types=types: kernels.compileKernel(case.function, types, case.constants,
                                                                           case.arch, case.aligned, case.warps,
                                                                           case.ctas),
                      lambda compiled, case=case: checkScalar(runner, case, compiled)))

    seeds = args.seeds if args.seeds is not None else 8 if args.full else 3
    runner = Runner(args.build, args.work or args.build / "foreign", seeds)
    chosen = [case for case in cases if args.only in case[0]]
    right = 0
    for name, compile_, check in chosen:
        try:
            message = check(compile_())
            right += 1
            print(f"ok    {name}: {message}", flush=True)
        except Failure as failure:
            print(f"WRONG {name}: {failure}", flush=True)
    print(f"earliest, latest and {seeds} random timings each")
    print(f"foreign.kernels_run = {len(chosen)}\nforeign.kernels_right = {right}")
    sys.exit(0 if chosen and right == len(chosen) else 1)


if __name__ == "__main__":
    main()
