# ===- emulator.py - speed of whole kernels in the emulator ----------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Prints `key = value` lines: GFLOP/s of whole products of 2048 x 2048 x 4096 on one
# core, through blockscale-translate and blockscale-run (CPU time of some launches;
# quantised normal data, and random bits with --hostile), the rate of scalar code in
# million thread instructions per second, both also over the rate of OpenBLAS's sgemm that
# ran in turn (a busy or another machine changes both), how much slower the hazard checks
# make a kernel, whether several cores give the same bits, memory against touched pages, and
# mmasim's rate beside ours on the same instruction, with a Python that has it: that of
# --mmasim, or build/venv-mmasim, which `./tools/dev bench` makes.
#
# ===-----------------------------------------------------------------------===#

import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys

import numpy as np

import measure

M, N, K = 2048, 2048, 4096
# The same kernel whatever the compiler would choose, so that figures can be compared.
TILE = "--pin=tile-n=128,cta-group=1"
MIB = 1 << 20


@dataclasses.dataclass(frozen=True)
class Format:
    element: str  # as in MLIR
    bits: int
    scale: str
    block: int
    values: tuple  # of the non-negative codes, ascending
    largest: float


E2M1 = (0, 0.5, 1, 1.5, 2, 3, 4, 6)
E4M3 = tuple((8 + code % 8 if code >= 8 else code % 8) * 2.0 ** (max(code // 8, 1) - 10) for code in range(127))
FORMATS = {"nvfp4": Format("f4E2M1FN", 4, "ue4m3", 16, E2M1, 6.0),
           "mxfp4": Format("f4E2M1FN", 4, "ue8m0", 32, E2M1, 6.0),
           "mxfp8": Format("f8E4M3FN", 8, "ue8m0", 32, E4M3, 448.0)}


def nearest(values, x):
    """Codes of the nearest values; ties do not matter here."""
    table = np.array(values)
    return np.searchsorted((table[1:] + table[:-1]) / 2, x).astype(np.uint8)


def benign(rng, fmt, rows, k):
    """Packed elements and scale bytes of a quantised normal matrix."""
    x = rng.standard_normal((rows, k // fmt.block, fmt.block), dtype=np.float32)
    most = np.abs(x).max(axis=2)
    if fmt.scale == "ue8m0":
        exponent = np.ceil(np.log2(most / fmt.largest)).astype(np.int32)
        scales, step = (exponent + 127).astype(np.uint8), 2.0**exponent
    else:  # the tensor's own scale makes the largest 448
        unit = most.max() / fmt.largest / 448.0
        scales = nearest(E4M3, most / fmt.largest / unit)
        step = np.array(E4M3)[scales] * unit
    codes = nearest(fmt.values, np.abs(x) / np.maximum(step, 1e-30)[..., None])
    codes |= (x < 0).astype(np.uint8) << (fmt.bits - 1)
    return pack(fmt, codes.reshape(rows, k)), scales


def hostile(rng, fmt, rows, k):
    codes = rng.integers(0, 256, (rows, k * fmt.bits // 8), dtype=np.uint8)
    if fmt.bits == 8:
        codes[codes & 0x7F == 0x7F] ^= 1  # no NaN
        return codes, rng.integers(123, 132, (rows, k // fmt.block), dtype=np.uint8)
    return codes, rng.integers(0, 127 if fmt.scale == "ue4m3" else 255, (rows, k // fmt.block), dtype=np.uint8)


def pack(fmt, codes):
    return codes if fmt.bits == 8 else codes[:, 0::2] | codes[:, 1::2] << 4


def tiled(scales):
    """Rows of scales as tiles of 128 x 4; sizes here are whole tiles."""
    rows, count = scales.shape
    tiles = scales.reshape(rows // 128, 4, 32, count // 4, 4)  # r / 128, r / 32, r % 32, k / 4, k % 4
    return np.ascontiguousarray(tiles.transpose(0, 3, 2, 1, 4)).reshape(rows, count)


def program(fmt, m, n, k):
    def operand(rows):
        return (f"tensor<{rows}x{k}x{fmt.element}>",
                f"tensor<{rows}x{k // fmt.block}xi8, #blockscale.scales<{fmt.scale}, tiled>>")

    (a, sfa), (b, sfb), d = operand(m), operand(n), f"tensor<{m}x{n}xbf16>"
    return (f"func.func @gemm(%a: {a}, %sfa: {sfa}, %b: {b}, %sfb: {sfb}) -> {d} {{\n"
            f"  %c = tensor.empty() : {d}\n"
            f"  %d = blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb : {a}, {sfa}, {b}, {sfb})"
            f" outs(%c : {d}) -> {d}\n  return %d : {d}\n}}\n")


PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print("peak =", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


class Bench:
    def __init__(self, translate, run, work, launches, runs):
        self.translate, self.run, self.work, self.launches, self.runs = translate, run, work, launches, runs
        work.mkdir(parents=True, exist_ok=True)

    def kernel(self, name, m=M, n=N, k=K):
        """PTX and manifest of a product."""
        stem = self.work / f"{name}-{m}x{n}x{k}"
        stem.with_suffix(".mlir").write_text(program(FORMATS[name], m, n, k))
        subprocess.run([self.translate, "--mlir-to-ptx", "--arch=sm_100a", TILE, stem.with_suffix(".mlir"), "-o",
                        stem.with_suffix(".ptx"), f"--manifest={stem.with_suffix('.json')}"], check=True)
        return stem

    def operands(self, name, make, m=M, n=N, k=K):
        fmt, rng, paths = FORMATS[name], np.random.default_rng(7), []
        for which, rows in (("a", m), ("b", n)):
            codes, scales = make(rng, fmt, rows, k)
            for suffix, array in (("", codes), ("s", tiled(scales))):
                paths.append(self.work / f"{name}-{which}{suffix}.npy")
                np.save(paths[-1], array)
        return paths

    def peak(self, stem, args=()):
        """Peak memory in bytes of a process that launches once. A process inherits the peak of
        the one that starts it, which therefore is a small one."""
        command = [self.run, "--ptx", stem.with_suffix(".ptx"), "--manifest", stem.with_suffix(".json"),
                   "--hazards=off", *[f"--arg={path}" for path in args]]
        return int(measure.figuresOf([sys.executable, "-c", PEAK, *command])["peak"]) * 1024

    def launch(self, stem, args=(), repeat=0, flags=()):
        """The report of the last launch and the process's CPU seconds."""
        report = self.work / "report.json"
        command = [self.run, "--ptx", stem.with_suffix(".ptx"), "--manifest", stem.with_suffix(".json"),
                   f"--report={report}", *flags]
        if not any(flag.startswith("--hazards") for flag in flags):
            command.append("--hazards=off")
        command += [f"--repeat={repeat}"] * bool(repeat) + [f"--arg={path}" for path in args]
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        errors = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            measure.fail(f"{command[0]}: {errors.strip()}")
        launch = json.loads(report.read_text())["launches"][-1]
        return launch, usage.ru_utime + usage.ru_stime

    def time(self, stem, args=(), flags=(), launches=0):
        """A launch and its CPU seconds: what further launches add to a process, so that neither
        reading files nor other processes of a busy machine count."""
        launches = launches or self.launches
        _, alone = self.launch(stem, args, 0, flags)
        launch, several = self.launch(stem, args, launches, flags)
        return launch, max(several - alone, 1e-9) / launches

    def best(self, stem, args=(), launches=0):
        """The quickest of some runs, and GFLOP/s of the quickest sgemm between them."""
        runs, sgemms = [], []
        for _ in range(self.runs):
            runs.append(self.time(stem, args, launches=launches))
            sgemms.append(measure.sgemm())
        return min(runs, key=lambda run: run[1]), max(sgemms)


def benchKernels(bench, hostileToo):
    for name in FORMATS:
        stem = bench.kernel(name)
        for make in (benign, hostile) if hostileToo else (benign,):
            (launch, seconds), sgemm = bench.best(stem, bench.operands(name, make))
            rate = launch["mma_flops"] / seconds / 1e9
            suffix = "" if make is benign else ".hostile"
            measure.report(f"emulator.kernel.{name}{suffix}.gflops", rate)
            measure.report(f"emulator.kernel.{name}{suffix}.over_sgemm", rate / sgemm)


SCALAR_LOOPS = 20000
SCALAR_UNROLL = 8
# A mixture as in address and epilogue code; every value feeds the next turn.
SCALAR_STEP = """mad.lo.s32 %r1, %r1, %r2, %r3;
xor.b32 %r2, %r2, %r1;
shl.b32 %r4, %r1, 3;
add.s32 %r3, %r3, %r4;
fma.rn.f32 %f1, %f1, %f2, %f3;
and.b32 %r5, %r3, 1023;
add.f32 %f3, %f3, %f1;
selp.b32 %r2, %r2, %r5, %p1;
"""


def scalarKernel(bench):
    stem = bench.work / "scalar"
    body = SCALAR_STEP * SCALAR_UNROLL
    stem.with_suffix(".ptx").write_text(f""".version 9.4
.target sm_100a
.address_size 64
.visible .entry scalar(.param .u64 out) {{
.reg .pred %p<2>; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %rd<4>;
mov.u32 %r1, %tid.x; mov.u32 %r2, 12345; mov.u32 %r3, 7; mov.u32 %r7, 0;
mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f3F000000; mov.f32 %f3, 0f3E000000;
setp.lt.u32 %p1, %r1, 16;
LOOP:
{body}add.s32 %r7, %r7, 1;
setp.lt.s32 %p0, %r7, {SCALAR_LOOPS};
@%p0 bra LOOP;
ld.param.u64 %rd0, [out]; mov.u32 %r6, %tid.x; mul.wide.u32 %rd1, %r6, 4; add.s64 %rd0, %rd0, %rd1;
cvt.rzi.s32.f32 %r4, %f3; add.s32 %r3, %r3, %r4; add.s32 %r3, %r3, %r2;
st.global.b32 [%rd0], %r3;
ret;
}}
""")
    manifest = {"version": 1, "arch": "sm_100a",
                "buffers": [{"name": "out", "bytes": 4096, "role": "output"}],
                "kernels": [{"name": "scalar", "grid": [1, 1, 1], "block": [256, 1, 1], "cluster": [1, 1, 1],
                             "shared_bytes": 0, "shared_mode": "default",
                             "params": [{"kind": "buffer", "buffer": "out"}]}]}
    stem.with_suffix(".json").write_text(json.dumps(manifest))
    return stem


def benchScalar(bench):
    (launch, seconds), sgemm = bench.best(scalarKernel(bench), launches=8)
    rate = launch["thread_instructions"] / seconds
    measure.report("emulator.scalar.minstr_per_s", rate / 1e6)
    measure.report("emulator.scalar.minstr_per_sgemm_gflop", rate / 1e6 / sgemm)


def benchHazards(bench):
    stem = bench.kernel("nvfp4", 512, 512, K)
    args = bench.operands("nvfp4", benign, 512, 512, K)
    # Launches of some 20 ms: many, so that the differences stand out.
    (_, off), (_, on) = (bench.time(stem, args, [f"--hazards={value}"], launches=12) for value in ("off", "on"))
    measure.report("emulator.hazards.slowdown", on / off)


def benchCores(bench):
    stem, args = bench.kernel("mxfp8", 1024, 1024, 1024), bench.operands("mxfp8", hostile, 1024, 1024, 1024)
    outs = []
    for threads in (1, 2):
        outs.append(bench.work / f"d{threads}.npy")
        bench.launch(stem, args, flags=[f"--threads={threads}", f"--out={outs[-1]}"])
    same = all(out.read_bytes() == outs[0].read_bytes() for out in outs)
    measure.report("emulator.cores.same_bits", int(same))
    if not same:
        measure.fail("several host threads must give the bits of one")


def benchMemory(bench):
    """Peak memory beyond an idle process, over the bytes of all buffers: the emulator's pages and
    the files' bytes, so 2 where nothing else grows with the product."""
    idle = bench.peak(scalarKernel(bench))
    stem, args = bench.kernel("nvfp4"), bench.operands("nvfp4", benign)
    peak = bench.peak(stem, args)
    touched = (M + N) * K * 9 // 16 + 2 * M * N  # elements of 4 bits with scales of 16; bf16 results
    measure.report("emulator.memory.peak_mib", peak / MIB)
    measure.report("emulator.memory.over_touched", (peak - idle) / touched)


MMASIM = """
import time, torch
from mmasim.nv_ptx.sim import TCGen05MMABlockScale
op = TCGen05MMABlockScale("Blackwell", "m128n64k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3")
a, b = (torch.randint(0, 256, (rows, 32), dtype=torch.uint8) for rows in (128, 64))
s, t = (torch.randint(8, 80, (rows, 4), dtype=torch.uint8).view(torch.float8_e4m3fn) for rows in (128, 64))
c = torch.zeros(128, 64)
op(a, b.T, c, s, t.T)
begin = time.perf_counter()
for _ in range(5):
    op(a, b.T, c, s, t.T)
print("gflops =", 5 * 2e-9 * 128 * 64 * 64 / (time.perf_counter() - begin))
"""


def benchMmasim(build, python):
    if not python.exists():
        print(f"note: no {python.parents[1].name} beside the build (./tools/dev bench makes it), so no rate of mmasim", flush=True)
        return
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    figures = measure.figuresOf([python, "-c", MMASIM], environment)
    rate = float(figures["gflops"])
    print(f"peer.mmasim.nvfp4.gflops = {rate:.4f}", flush=True)
    ours = measure.figuresOf([build / "bin" / "blockscale-bench-mma", "--only=nvfp4"])
    measure.report("emulator.nvfp4.hostile.over_mmasim", float(ours["emulator.nvfp4.hostile.gflops"]) / rate)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--translate", type=pathlib.Path, help="another blockscale-translate than the build's")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--hostile", action="store_true")
    parser.add_argument("--mmasim", type=pathlib.Path, help="a Python that has mmasim and torch")
    args = parser.parse_args()
    build = args.build.resolve()
    bench = Bench(args.translate or build / "bin" / "blockscale-translate", build / "bin" / "blockscale-run",
                  build / "bench" / "emulator", launches=2 if args.quick else 3, runs=1 if args.quick else 3)
    benchKernels(bench, args.hostile or not args.quick)
    benchScalar(bench)
    benchHazards(bench)
    benchCores(bench)
    benchMemory(bench)
    if not args.quick:
        benchMmasim(build, args.mmasim or build / "venv-mmasim" / "bin" / "python")


if __name__ == "__main__":
    main()
