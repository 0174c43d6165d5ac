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
#   build/venv-peers/bin/python test/Foreign/run_foreign.py --build build [--full] [--only TEXT]
#
# ===-----------------------------------------------------------------------===#

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import zlib

import numpy as np

import foreign_data

CHIPS = ["sm_100a", "sm_103a", "sm_107a"]
SKIPPED = 77  # ctest's SKIP_RETURN_CODE
RUN_SECONDS = 300
TILE_M = TILE_N = 128


class Failure(Exception):
    """One line that says what went wrong in a case."""


def allCases(kernels):
    """Every way x format x chip; then output types and tiles that differ."""
    cases = []
    for way in ["bytes", "vectors", "mn", "descriptors", "specialized"]:
        for fmt, info in kernels.FORMATS.items():
            bk = 256 if info.bits("a") == info.bits("b") == 4 else 128
            for arch in CHIPS:
                cases.append(kernels.Case(way, fmt, arch, tile=(TILE_M, TILE_N, bk), stages=1 if way == "bytes" else 3))
    for arch in CHIPS:
        cases.append(kernels.Case("vectors", "nvfp4", arch, out="f32", tile=(128, 256, 128), stages=2))
        cases.append(kernels.Case("descriptors", "mxfp8", arch, out="f32", tile=(128, 256, 128), stages=2))
        cases.append(kernels.Case("descriptors", "mxfp4", arch, tile=(256, 128, 256), stages=2))
    return cases


def quickCases(cases):
    """Every pair of way and format, of way and chip, and of format and chip once or more."""
    ways, formats = [list(dict.fromkeys(getattr(case, field) for case in cases)) for field in ["way", "fmt"]]
    plain = [case for case in cases if case.out == "bf16" and case.tile[:2] == (TILE_M, TILE_N)]
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


class Launch:
    """Buffers and parameters of one kernel, in the manifest's terms."""

    def __init__(self, case, compiled, shape):
        self.m, self.n, self.k = shape
        self.case, self.compiled = case, compiled
        self.buffers, self.params = [], []
        self.scratch = []

    def addBuffer(self, name, bytes_, role):
        self.buffers.append({"name": name, "bytes": bytes_, "role": role})

    def addScalar(self, type_, value):
        self.params.append({"kind": "scalar", "type": type_, "value": value})

    def addPointer(self, name):
        self.params.append({"kind": "buffer", "buffer": name})

    def addDescriptor(self, name, meta, shape):
        """A tensor map as Triton's launcher encodes it, then the shape and the strides in elements."""
        strides = [int(np.prod(shape[i + 1:])) for i in range(len(shape))]
        dims = list(shape)
        if meta["fp4_padded"]:
            dims[-1] *= 2
        types = {0: "u8", 7: "f32", 10: "bf16", 14: "u4_align16"}  # codes of the device's tensormap instructions
        self.params.append({
            "kind": "tensor_map", "buffer": name, "type": types[meta["elem_type"]], "dims": dims[::-1],
            "strides": [s * meta["elem_size"] for s in strides[-2::-1]], "box": list(meta["block_size"])[::-1],
            "element_strides": [1] * len(dims), "swizzle": ["none", "b32", "b64", "b128"][meta["swizzle"]],
            "fill": "zero", "l2": "b128"})
        for extent in shape:
            self.addScalar("i32", extent)
        for stride in strides:
            self.addScalar("i64", stride)

    def addScratch(self):
        """The two pointers that end every parameter list: scratch of the kernel and of a profiler."""
        if self.compiled.scratch:
            self.addBuffer("scratch", self.compiled.scratch * self.blocks, "scratch")
            self.addPointer("scratch")
        else:
            self.addScalar("u64", 0)
        self.addScalar("u64", 0)

    @property
    def grid(self):
        return [-(-self.m // self.case.tile[0]), -(-self.n // self.case.tile[1]), 1]

    @property
    def blocks(self):
        return int(np.prod(self.grid))

    def manifest(self):
        if len(self.params) != len(self.compiled.params):
            raise Failure(f"the kernel has {len(self.compiled.params)} parameters, the launch {len(self.params)}")
        return {"version": 1, "arch": self.case.arch, "buffers": self.buffers, "kernels": [{
            "name": self.compiled.name, "grid": self.grid, "block": [32 * self.compiled.warps, 1, 1],
            "cluster": [1, 1, 1], "shared_bytes": self.compiled.shared, "shared_mode": "default",
            "params": self.params}]}


def makeLaunch(case, fmt, compiled, shape, operands):
    """The launch and its input bytes by buffer name."""
    a, b = operands
    m, n, k = shape
    launch = Launch(case, compiled, shape)
    ways = {"mn": lambda x: np.ascontiguousarray(foreign_data.packed(x).T)}
    place = ways.get(case.way, foreign_data.packed)
    scales = foreign_data.tiled if case.usesDescriptors else (lambda x: x)
    inputs = {"a": place(a), "sfa": scales(a.scales), "b": place(b), "sfb": scales(b.scales)}
    for name, array in inputs.items():
        launch.addBuffer(name, array.nbytes, "input")
    launch.addBuffer("d", m * n * (2 if case.out == "bf16" else 4), "output")
    if case.usesDescriptors:
        columns = k // fmt.block // 4
        shapes = {"a": inputs["a"].shape, "sfa": (1, m // 128, columns, 2, 256), "b": inputs["b"].shape,
                  "sfb": (1, n // 128, columns, 2, 256), "d": (m, n)}
        for (name, dims), meta in zip(shapes.items(), compiled.descriptors):
            launch.addDescriptor(name, meta, dims)
    else:
        for name in [*inputs, "d"]:
            launch.addPointer(name)
    for extent in shape:
        launch.addScalar("i32", extent)
    launch.addScratch()
    return launch, inputs


class Runner:
    def __init__(self, build, work, seeds):
        self.tool = build.resolve() / "bin" / "blockscale-run"
        self.work = work.resolve()
        self.seeds = seeds

    def execute(self, folder, inputs):
        """The output's bytes; blockscale-run itself refuses results that a timing changes."""
        result = folder / "d.npy"
        result.unlink(missing_ok=True)
        command = [self.tool, "--ptx", folder / "k.ptx", "--manifest", folder / "k.json",
                   *[f"--arg={folder / name}.npy" for name in inputs], f"--out={result}", f"--seeds={self.seeds}"]
        try:
            ran = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=RUN_SECONDS)
        except subprocess.TimeoutExpired:
            raise Failure(f"blockscale-run: not done after {RUN_SECONDS} s")
        if ran.returncode:
            text = (ran.stdout + ran.stderr).replace(f"{folder}/", "").strip()
            raise Failure(f"blockscale-run: status {ran.returncode}: {text[-300:]}")
        return np.load(result).reshape(-1).view(np.uint8)

    def check(self, case, fmt, compiled):
        """The largest error in units of the bound; raises Failure."""
        folder = self.work / case.name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "k.ptx").write_text(compiled.ptx)
        shape = shapeOf(case)
        m, n, k = shape
        worst = 0.0
        for data in ["integer", "random"]:
            rng = np.random.default_rng(zlib.crc32(f"{case.name} {data}".encode()))
            operands = [foreign_data.makeOperand(rng, element, fmt.scale, fmt.block, rows, k, data)
                        for element, rows in [(fmt.a, m), (fmt.b, n)]]
            launch, inputs = makeLaunch(case, fmt, compiled, shape, operands)
            (folder / "k.json").write_text(json.dumps(launch.manifest(), indent=1))
            for name, array in inputs.items():
                np.save(folder / f"{name}.npy", array.reshape(-1))
            exact, magnitude = foreign_data.reference(*operands)
            allowed = None
            if data == "random":
                oneByte = not fmt.bits("a") == fmt.bits("b") == 4
                allowed = foreign_data.bound(case.out, oneByte, instructionK(case, fmt), k, exact, magnitude)
            d = foreign_data.fromBits(case.out, self.execute(folder, inputs)).reshape(m, n)
            worst = max(worst, compare(case, data, exact, allowed, d))
        return worst


def compare(case, data, exact, allowed, d):
    if data == "integer":
        exact, allowed = foreign_data.roundedTo(case.out, exact), np.zeros_like(exact)
    error = np.where(np.isnan(d), np.inf, np.abs(d - exact))
    wrong = error > allowed
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise Failure(f"{data} data: D[{row},{column}] is {d[row, column]}, must be {exact[row, column]} within "
                      f"{allowed[row, column]:.3g} ({np.count_nonzero(wrong)} of {wrong.size} are wrong)")
    return 0.0 if data == "integer" else float((error / allowed).max())


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
    except ImportError as error:
        peers = args.build.resolve() / "venv-peers" / "bin" / "python"
        if peers.exists() and pathlib.Path(sys.prefix) != peers.parent.parent:
            os.execv(peers, [str(peers), *sys.argv])
        print(f"skipped: no Triton in build/venv-peers ({error}); `./tools/dev bench` installs it")
        sys.exit(SKIPPED)

    cases = allCases(kernels)
    cases = [case for case in (cases if args.full or args.only else quickCases(cases)) if args.only in case.name]
    seeds = args.seeds if args.seeds is not None else 8 if args.full else 3
    runner = Runner(args.build, args.work or args.build / "foreign", seeds)
    ran = right = 0
    reasons = collections.Counter()
    for case in cases:
        try:
            compiled = kernels.compileCase(case)
            if "tcgen05.mma" not in compiled.ptx or "block_scale" not in compiled.ptx:
                raise Failure("Triton used no block-scaled tensor core instruction")
            ran += 1
            worst = runner.check(case, kernels.FORMATS[case.fmt], compiled)
            right += 1
            print(f"ok    {case.name}: earliest, latest and {seeds} seeds, error {worst:.3f} of the bound", flush=True)
        except Failure as failure:
            reasons[str(failure).split(": ")[-1][:80]] += 1
            print(f"WRONG {case.name}: {failure}", flush=True)
    print(f"foreign.kernels_run = {ran}\nforeign.kernels_right = {right}")
    sys.exit(0 if ran and ran == right == len(cases) else 1)


if __name__ == "__main__":
    main()
