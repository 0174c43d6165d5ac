# ===- mutate.py - does anything notice a missing synchronisation? ----------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: mutate.py --build BUILD [--full | --sample N] [--list] [CASE-REGEX]
#        mutate.py --build BUILD --ptx K.ptx --manifest K.json --arg A.npy … [--list]
# Runs every mutant of a kernel (mutations.py), or a sample with all kinds in it, on
# the emulator with hazard checks. A mutant must be refused, be reported, or give
# other bits than the kernel; else it is equivalent for a reason below that a second
# run confirms, or it is unexplained, and the status is 1. So it is, too, when the kernel
# as it is gets a report: a false alarm.
#
# ===-----------------------------------------------------------------------===#

import argparse
import collections
import concurrent.futures
import itertools
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import mutations

ROOT = pathlib.Path(__file__).resolve().parents[3]
SAMPLE = 40
MOST_EQUIVALENT = 0.02
SECONDS_OF_A_RUN = 120
HAZARD = ": hazard: "  # in every report of a hazard rule, warnings too
SHOWN = 160  # characters of a report

# Reason -> kinds that it is for, what else is dropped, the rule that the mutant without that
# must break, why the mutant is as right as the kernel.
REASONS = {
    "fenced wait": (r"weaken\.order mbarrier\.try_wait", mutations.withoutFenceBehind, "[TM9]",
                    "only tensor memory is used behind it, and tcgen05.fence::after_thread_sync orders that"),
    "fenced arrival": (r"weaken\.order mbarrier\.arrive", mutations.withoutFenceAhead, "[TM9]",
                       "only tensor memory was used ahead of it, and tcgen05.fence::before_thread_sync orders that"),
}

# What our kernels do without, so that what they do instead is found when it is missing.
OBEYED = [f"--no-assume=A{n}" for n in (3, 4, 5, 7, 9)]


class Kernel:
    """A PTX with its manifest and inputs, run under hazard checks."""

    def __init__(self, build, folder, name, ptx, manifest, inputs):
        self.program = pathlib.Path(build) / "bin" / "blockscale-run"
        self.folder = pathlib.Path(folder)
        self.name, self.ptx, self.manifest, self.inputs = name, ptx, manifest, inputs

    def execute(self, name, text, *flags):
        """(status, stderr, output bytes)"""
        ptx, out = self.folder / f"{name}.ptx", self.folder / f"{name}.npy"
        ptx.write_text(text)
        try:
            ran = subprocess.run([self.program, f"--ptx={ptx}", f"--manifest={self.manifest}", *self.inputs, f"--out={out}",
                                  "--threads=1", *OBEYED, *flags], capture_output=True, text=True, timeout=SECONDS_OF_A_RUN)
            status, said = ran.returncode, ran.stderr
        except subprocess.TimeoutExpired:
            status, said = None, f"ran for more than {SECONDS_OF_A_RUN} s"
        result = out.read_bytes() if out.exists() else b""
        for path in (ptx, out):
            path.unlink(missing_ok=True)
        return status, said, result

    def isSilentWithoutWarpSyncs(self, golden):
        """Whether the kernel has bar.warp.sync, and all of them together order nothing."""
        text = mutations.withoutWarpSyncs(self.ptx)
        if text == self.ptx:
            return False
        status, said, result = self.execute(f"{self.name}.apart", text, "--seeds=1")
        return status == 0 and HAZARD not in said and result == golden

    def judge(self, number, mutant, golden):
        """(verdict, what was said)"""
        name = f"{self.name}.{number}"
        status, said, result = self.execute(name, mutant.text, "--seeds=1")
        lines = [line.replace(f"{self.folder}/", "") for line in said.strip().splitlines()]
        if status == 1 and lines:
            return "reported", lines[0][:SHOWN]
        if status != 0:
            return "unexplained", f"exit {status}: {said[:300]}"
        if HAZARD in said:
            return "reported", lines[0][:SHOWN]
        if result != golden:
            return "wrong", "other bits"
        for reason, (kinds, weakened, rule, why) in REASONS.items():
            if re.match(kinds, f"{mutant.kind} {mutant.what}"):
                _, said, _ = self.execute(name, weakened(mutant), "--seeds=1")
                if rule in said:
                    return "equivalent", f"{reason}: {why}"
        return "unexplained", "same bits, no report"


def sample(all_, count, rng):
    """Some of every kind first, then any others, in the order of lines."""
    if count is None or count >= len(all_):
        return all_
    kinds = collections.defaultdict(list)
    for mutant in all_:
        kinds[mutant.kind].append(mutant)
    chosen = [rng.choice(group) for group in kinds.values()]
    others = [mutant for mutant in all_ if mutant not in chosen]
    chosen += rng.sample(others, max(0, count - len(chosen)))
    return sorted(chosen, key=lambda mutant: mutant.line)


def mutateKernel(kernel, count, list_):
    """Verdict -> number; prints what nobody noticed."""
    status, said, golden = kernel.execute(f"{kernel.name}.golden", kernel.ptx, "--seeds=8")
    if status != 0 and HAZARD not in said:
        sys.exit(f"{kernel.name}: the kernel must run before it is changed: {said.strip()[:500]}")
    if HAZARD in said:
        print(f"{kernel.name}: the kernel must run without a report before it is changed: {said.strip()[:500]}")
        return collections.Counter(false_alarms=1)
    mutants = list(mutations.mutants(kernel.ptx))
    if kernel.isSilentWithoutWarpSyncs(golden):
        placing = [mutant for mutant in mutants if mutant.kind == mutations.WARP_SYNC]
        print(f"{kernel.name}: its {len(placing)} bar.warp.sync order nothing, they hold instructions in place for ptxas: "
              "without them all, the same bits and no report")
        mutants = [mutant for mutant in mutants if mutant not in placing]
    chosen = sample(mutants, count, random.Random(kernel.name))
    verdicts = collections.Counter(dict.fromkeys(["reported", "wrong", "equivalent", "unexplained"], 0))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        judged = pool.map(lambda job: kernel.judge(job[0], job[1], golden), enumerate(chosen))
        for mutant, (verdict, why) in zip(chosen, judged):
            verdicts[verdict] += 1
            if list_ or verdict == "unexplained":
                print(f"{verdict}: {kernel.name}:{mutant.line}: {mutant.kind}: {mutant.what}: {why}", flush=True)
    total = sum(verdicts.values())
    print(f"{kernel.name}: {total} mutants: " + ", ".join(f"{n} {what}" for what, n in verdicts.items()), flush=True)
    if count is None and verdicts["equivalent"] > MOST_EQUIVALENT * total:
        print(f"{kernel.name}: at most {MOST_EQUIVALENT:.0%} of the mutants may be equivalent, got {verdicts['equivalent']}")
        verdicts["unexplained"] += 1
    return verdicts


def emittedKernels(build, folder, pattern):
    """A kernel of each format, chip and epilogue that we emit, with several tiles for each
    CTA, ragged edges, and more K tiles than stages."""
    sys.path.insert(0, str(ROOT / "test" / "tools"))
    import kernel_cases
    import kernel_matrix

    edges = [("bf16", 384), ("f32", 300), ("bf16", 301)]
    kinds = [*itertools.product(kernel_cases.FORMATS, kernel_cases.ARCHS, edges), ("nvfp4", "sm_103a", edges[0])]
    for name, arch, (out, n) in kinds:
        case = kernel_cases.Case(name, arch, out, 300, n, 1536, alpha=True, bias=True, data="random", ctas=2)
        if not re.search(pattern, case.name):
            continue
        work = pathlib.Path(folder) / case.name
        work.mkdir()
        matrix = kernel_matrix.Matrix(argparse.Namespace(build=build, work=pathlib.Path(folder), ptxas=None))
        _, status, message = matrix.translate(case, work)
        if status:
            sys.exit(f"{case.name}: {message}")
        inputs, _, _ = matrix.operands(case, work)
        yield Kernel(build, work, case.name, (work / "k.ptx").read_text(), work / "k.json", [f"--arg={path}" for path in inputs])
    yield from blockKernels(build, folder, pattern)


def blockKernels(build, folder, pattern):
    """The kernels of ggml's blocks, ragged, with two K tiles."""
    sys.path.insert(0, str(ROOT / "test" / "tools" / "blockscale-run" / "Inputs"))
    import numpy
    import q4k

    for kind in ("raw_nibble", "wide", "narrow"):
        name = f"q4_K-sm_90a-{kind}-63x130x512"
        if not re.search(pattern, name):
            continue
        work = pathlib.Path(folder) / name
        work.mkdir()
        chunks, blocks = q4k.make(63, 130, 512, 1)
        (work / "k.mlir").write_text(q4k.module(chunks, blocks))
        for path, array in (("a.npy", chunks), ("w.npy", blocks)):
            numpy.save(work / path, array.reshape(len(array), -1))
        subprocess.run([pathlib.Path(build) / "bin" / "blockscale-translate", "--mlir-to-ptx", "--arch=sm_90a", f"--pin=kernel={kind}",
                        work / "k.mlir", "-o", work / "k.ptx", f"--manifest={work / 'k.json'}"], check=True)
        yield Kernel(build, work, name, (work / "k.ptx").read_text(), work / "k.json", [f"--arg={work / path}" for path in ("a.npy", "w.npy")])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--full", action="store_true", help="every mutant")
    parser.add_argument("--sample", type=int, default=SAMPLE, help="mutants of each kernel")
    parser.add_argument("--list", action="store_true", help="print every mutant")
    parser.add_argument("--ptx", type=pathlib.Path, help="a kernel of your own, every mutant")
    parser.add_argument("--manifest", type=pathlib.Path)
    parser.add_argument("--arg", action="append", default=[])
    parser.add_argument("pattern", nargs="?", default="", help="names of kernels, as a regular expression")
    args = parser.parse_args()
    totals = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        if args.ptx:
            kernels = [Kernel(args.build, folder, args.ptx.stem, args.ptx.read_text(), args.manifest, [f"--arg={arg}" for arg in args.arg])]
        else:
            kernels = emittedKernels(args.build, folder, args.pattern)
        for kernel in kernels:
            totals += collections.Counter({**mutateKernel(kernel, None if args.full or args.ptx else args.sample, args.list), "kernels": 1})
    if not totals["kernels"]:
        sys.exit(f"no kernel is named '{args.pattern}'")
    print(f"mutants.sampled = {sum(totals[v] for v in ('reported', 'wrong', 'equivalent', 'unexplained'))}")
    print(f"mutants.unexplained = {totals['unexplained']}")
    print(f"mutants.equivalent = {totals['equivalent']}")
    print(f"false_alarms = {totals['false_alarms']}")
    sys.exit(1 if totals["unexplained"] or totals["false_alarms"] else 0)


if __name__ == "__main__":
    main()
