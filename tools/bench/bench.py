# ===- bench.py - the figures the project tracks ---------------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Prints one `key = value` line for each figure; keys, once printed, stay. With
# --quick only our own, in under a minute; else the full kernel matrix, too, and
# the compile times of CuTe DSL and Triton beside ours. Nothing here is a test:
# no figure fails the run, but a wrong kernel does.
#
# ===-----------------------------------------------------------------------===#

import argparse
import itertools
import os
import pathlib
import subprocess
import sys

import measure

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHIPS = ["sm_107a", "sm_100a"]
# The tiles whose compile time is measured, and what pins them.
COMPILE_TILES = {"": ["--pin=tile-n=128,cta-group=1"], ".256x256": ["--pin=tile-n=256,cta-group=2"]}
COMPILE_INPUT = ROOT / "tools" / "bench" / "compile" / "nvfp4.mlir"
QUICK_KERNELS = 10
QUICK_MUTANTS = "bf16-300x384"  # of a kernel of each format and chip
QUICK_FOREIGN = "specialized-nvfp4"  # one kernel of Triton's for each chip


def translateCommand(build, arch, tile=""):
    return [build / "bin" / "blockscale-translate", "--mlir-to-ptx", f"--arch={arch}", *COMPILE_TILES[tile],
            COMPILE_INPUT, "-o", os.devnull]


def benchCompile(build):
    """Chip -> ms of user and system time of a whole blockscale-translate process; tiles of 128x128, then of
    256x256 by a pair."""
    ours = {}
    for tile, arch in itertools.product(COMPILE_TILES, CHIPS):
        spent = measure.cpuMilliseconds(translateCommand(build, arch, tile))
        ours.setdefault(arch, spent)
        measure.report(f"compile.nvfp4{tile}.{arch}.cpu_ms", spent)
    for tile in COMPILE_TILES:
        twice = measure.figuresOf([*translateCommand(build, "sm_107a", tile), "--repeat=2"])
        measure.report(f"compile.second_in_process{tile}.ms", twice["compile 2 cpu_ms"])
    phases = measure.figuresOf([*translateCommand(build, "sm_107a"), "--time"])
    for phase, value in phases.items():
        measure.report(f"compile.phase.{phase}", value)
    return ours


def benchEmulator(build):
    for key, value in measure.figuresOf([build / "bin" / "blockscale-bench-mma"]).items():
        measure.report(key if key.startswith("emulator.") else f"emulator.{key}", value)
    measure.report("host.sgemm.gflops", measure.sgemm())


def benchWholeKernels(build, quick):
    """Whole products and scalar code in the emulator (emulator.py)."""
    command = [sys.executable, ROOT / "tools" / "bench" / "emulator.py", "--build", build]
    for key, value in measure.figuresOf(command + ["--quick"] * quick).items():
        measure.report(key, value)


def benchForms(build):
    """PTX forms that ptxas takes or refuses, and how many of them we do alike."""
    command = [build / "bin" / "blockscale-bench-forms", ROOT / "test" / "data" / "ptx-forms" / "forms.txt"]
    for key, value in measure.figuresOf(command).items():
        measure.report(key, value)


def findPtxas(venv):
    return sorted(venv.glob("lib/python3*/site-packages/nvidia/cu13/bin/ptxas"))


def benchBlocks(build, ptxas, quick):
    """What ptxas makes of the kernels of ggml's blocks, and the map of their nibbles."""
    command = [sys.executable, ROOT / "tools" / "bench" / "q4k_resources.py", "--build", build, "--ptxas", ptxas]
    older = [] if quick else findPtxas(build / "venv-ptxas130")
    command += ["--ptxas130", older[0]] if older else []
    for key, value in measure.figuresOf(command).items():
        measure.report(key, value)


def benchQuantizers(build, ptxas, quick):
    """What ptxas makes of kernels that quantise, and their bytes against NumPy."""
    command = [sys.executable, ROOT / "tools" / "bench" / "quantize_resources.py", "--build", build, "--ptxas", ptxas]
    command += [] if quick else ["--full"]
    for key, value in measure.figuresOf(command).items():
        measure.report(key, value)
    share = [sys.executable, ROOT / "tools" / "bench" / "quantize_share.py", "--build", build]
    measure.runThrough(share + ["--quick"] * quick)


def benchKernels(build, ptxas, full):
    command = [sys.executable, ROOT / "test" / "tools" / "kernel_matrix.py", "--build", build,
               "--work", build / "bench" / "kernels", "--ptxas", ptxas]
    command += ["--full"] if full else [f"--limit={QUICK_KERNELS}"]
    for key, value in measure.figuresOf(command).items():
        measure.report(key, value)


def benchFormats(build, ptxas, full):
    """Cells of the matrix of formats and tiles; all that are supported run with `full`."""
    command = [sys.executable, ROOT / "test" / "tools" / "format_matrix.py", "--build", build,
               "--work", build / "bench" / "formats", "--ptxas", ptxas]
    for key, value in measure.figuresOf(command + (["--full", "--seeds=8"] if full else ["--count"])).items():
        measure.report(key, value)


def benchMutants(build, quick):
    """Kernels with one synchronising instruction changed (mutate.py): how many nobody noticed;
    and reports of kernels that are right."""
    command = [sys.executable, ROOT / "tools" / "bench" / "mutate" / "mutate.py", "--build", build]
    for key, value in measure.figuresOf(command + ([QUICK_MUTANTS] if quick else ["--full"])).items():
        measure.report(key, value)
    if not quick:
        for key, value in measure.figuresOf(command + ["--foreign"]).items():
            measure.report(f"foreign.{key}", value)


def benchResources(build, ptxas):
    """What our kernels take, beside the peers' of the same tile."""
    command = [sys.executable, ROOT / "tools" / "bench" / "peers.py", "--build", build, "--ptxas", ptxas]
    for key, value in measure.figuresOf(command).items():
        measure.report(key, value)


def peersPython(build):
    """The environment with the peers' compilers, made at first use."""
    venv = build / "venv-peers"
    wanted = (ROOT / "tools" / "bench" / "compile" / "requirements.txt").read_text()
    stamp = venv / ".stamp"
    if not stamp.exists() or stamp.read_text() != wanted:
        print("==> installing CuTe DSL and Triton into build/venv-peers ...", flush=True)
        subprocess.run(["/usr/bin/python3", "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin" / "python", "-m", "pip", "install", "-q", "--no-cache-dir",
                        "--disable-pip-version-check", "-r",
                        ROOT / "tools" / "bench" / "compile" / "requirements.txt"], check=True)
        stamp.write_text(wanted)
    return venv / "bin" / "python"


def benchForeign(build, quick):
    """Other compilers' kernels on the emulator: how many ran, and how many were right."""
    command = [sys.executable, ROOT / "test" / "Foreign" / "run_foreign.py", "--build", build]
    command += ["--only", QUICK_FOREIGN, "--seeds=1"] if quick else ["--full"]
    figures = measure.figuresOf(command)
    for key in ["foreign.kernels_run", "foreign.kernels_right"]:
        measure.report(key, figures[key])


def benchPeers(build, ours):
    """Compile time of the same tile in the peers, and how many times ours it is."""
    python = peersPython(build)
    for peer in ["cute", "triton"]:
        for arch in CHIPS:
            command = [python, ROOT / "tools" / "bench" / "compile" / f"{peer}_gemm.py", arch]
            wall = measure.figuresOf(command)
            cpu = measure.cpuMilliseconds([*command, "--once"], runs=3)
            for phase, value in wall.items():
                measure.report(f"peer.{peer}.nvfp4.{arch}.{phase}_ms", value)
            measure.report(f"peer.{peer}.nvfp4.{arch}.cpu_ms", cpu)
            measure.report(f"compile.nvfp4.{arch}.{peer}_over_ours", cpu / ours[arch])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--quick", action="store_true", help="our own figures only, under a minute")
    args = parser.parse_args()
    build = args.build.resolve()
    found = findPtxas(build / "venv")
    if not found:
        measure.fail("no ptxas in build/venv, run ./tools/dev setup")

    ours = benchCompile(build)
    benchForms(build)
    benchBlocks(build, found[0], quick=args.quick)
    benchQuantizers(build, found[0], quick=args.quick)
    benchEmulator(build)
    benchWholeKernels(build, quick=args.quick)
    benchKernels(build, found[0], full=not args.quick)
    benchFormats(build, found[0], full=not args.quick)
    benchResources(build, found[0])
    benchMutants(build, quick=args.quick)
    if not args.quick:
        benchPeers(build, ours)
    benchForeign(build, quick=args.quick)


if __name__ == "__main__":
    main()
