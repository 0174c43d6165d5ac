# ===- mutate.py - does anything notice a missing synchronisation? ----------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: mutate.py --build BUILD [--full | --sample N] [--list] [CASE-REGEX]
#        mutate.py --build BUILD --ptx K.ptx --manifest K.json --arg A.npy … [--list]
#        mutate.py --build BUILD --foreign [--sample N] [--list] [CASE-REGEX]
# Runs every mutant of a kernel (mutations.py), or a sample with all kinds in it, on
# the emulator with hazard checks. A mutant must be refused, be reported, or give
# other bits than the kernel; else it is equivalent for a reason below that a second
# run confirms, or it is unexplained, and the status is 1. So it is, too, when the kernel
# as it is gets a report: a false alarm. Kernels of other compilers (docs/ForeignKernels.md)
# may have warnings by documented rules; reports by these rules do not count.
#
# ===-----------------------------------------------------------------------===#

import argparse
import collections
import concurrent.futures
import functools
import itertools
import json
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
POLL_LIMIT = 100000  # a mutant that counts its polls for ever must not take long
FOREIGN_SAMPLE = 20
# Two CTAs multiply its three tiles.
SEVERAL_TILES = "wgmma-33x130x1792"
# Loads through cp.async, through TMA in a ring, a pair of CTAs with multicast, and wgmma.
FOREIGN = ("vectors-mxfp4-sm_100a-bf16-128x128x256-s3", "descriptors-nvfp4-sm_107a-bf16-128x128x256-s3",
           "pairs-mxfp8-sm_103a-bf16-256x128x128-s1", "wgmma-bf16-sm_90a")
HAZARD = ": hazard: "  # in every report of a hazard rule, warnings too
SHOWN = 160  # characters of a report

# The five reasons for which a mutant is as right as its kernel.
FENCED, EXIT_BARRIER, KERNEL_END = "fenced", "exit barrier", "end of the kernel"
SAID_AGAIN, ORDERS_NOTHING = "said again", "orders nothing"
SAYINGS = {
    SAID_AGAIN: "without the others that order nothing it is noticed",
    ORDERS_NOTHING: "without it and all others that order nothing, the same bits and no report",
}
# (reason, kinds that it is for, what else is dropped, the rule that the mutant without that must break (None: any, or
# other bits; False: none, and the same bits), why).
REASONS = [
    (FENCED, r"weaken\.order mbarrier\.try_wait", mutations.withoutFenceBehind, "[TM9]",
     "only tensor memory is used behind it, and tcgen05.fence::after_thread_sync orders that"),
    (FENCED, r"weaken\.order mbarrier\.arrive", mutations.withoutFenceAhead, "[TM9]",
     "only tensor memory was used ahead of it, and tcgen05.fence::before_thread_sync orders that"),
    (EXIT_BARRIER, r"weaken\.order barrier\.cluster\.arrive", mutations.withoutClusterBarrier, "[CL2]",
     "a CTA waits there until nobody reads its memory, and what is read is stored ahead of it"),
]

# Of compilers that place a wait with every access.
FOREIGN_REASONS = [
    (ORDERS_NOTHING, r"weaken\.order barrier\.cluster\.arrive", mutations.withoutClusterBarrier, False,
     "without the barrier, the same bits and no report"),
    (KERNEL_END, r"weaken\.read ", mutations.withoutIt, None,
     "nothing reads what was stored before the kernel's end, which completes it"),
]

# What our kernels do without, so that what they do instead is found when it is missing.
OBEYED = [f"--no-assume=A{n}" for n in (3, 4, 5, 7, 9)]
# Where one CTA's copies follow another's reads a literal reading asks for a proxy fence at each
# stage, which no kernel of a cluster that was read has, nor ours.
OBEYED_IN_CLUSTERS = [flag for flag in OBEYED if flag != "--no-assume=A7"]


class Kernel:
    """A PTX with its manifest and inputs, run under hazard checks."""

    def __init__(self, build, folder, name, ptx, manifest, inputs, isForeign=False, warnings=()):
        self.program = pathlib.Path(build) / "bin" / "blockscale-run"
        self.folder = pathlib.Path(folder)
        self.name, self.ptx, self.manifest, self.inputs = name, ptx, manifest, inputs
        self.isForeign = isForeign
        self.reasons = REASONS + FOREIGN_REASONS * isForeign
        self.flags = OBEYED
        self.warnings = set(warnings)  # rules by which the kernel as it is may be warned of
        self.exchanges = False  # whether shuffles and atomics are changed, too
        self.results = 1

    def execute(self, name, text, *flags):
        """(status, stderr, output bytes)"""
        ptx, outs = self.folder / f"{name}.ptx", [self.folder / f"{name}.{i}.npy" for i in range(self.results)]
        ptx.write_text(text)
        try:
            ran = subprocess.run([self.program, f"--ptx={ptx}", f"--manifest={self.manifest}", *self.inputs,
                                  *(f"--out={out}" for out in outs), "--threads=1",
                                  f"--poll-limit={POLL_LIMIT}", *self.flags, *flags],
                                 capture_output=True, text=True, timeout=SECONDS_OF_A_RUN)
            status, said = ran.returncode, ran.stderr
        except subprocess.TimeoutExpired:
            status, said = None, f"ran for more than {SECONDS_OF_A_RUN} s"
        result = b"".join(out.read_bytes() for out in outs if out.exists())
        for path in (ptx, *outs):
            path.unlink(missing_ok=True)
        return status, said, result

    def dropFlags(self):
        """Keeps those of the flags under which the kernel as it is has no report."""
        kept = []
        for flag in OBEYED:
            self.flags = [flag]
            status, said, _ = self.execute(f"{self.name}.denied", self.ptx)
            kept += [flag] * (status == 0 and not self.reports(said))
        self.flags = kept

    def isNoticed(self, name, text, golden, seeds=1):
        status, said, result = self.execute(name, text, f"--seeds={seeds}")
        return status != 0 or bool(self.reports(said)) or result != golden

    def reports(self, said):
        """First lines of the reports by other rules than those of the kernel's own warnings."""
        lines = [line.replace(f"{self.folder}/", "") for line in said.strip().splitlines()]
        heads = [i for i, line in enumerate(lines) if not line.startswith("  ")]
        found = []
        for begin, end in zip(heads, [*heads[1:], len(lines)]):
            rules = set(re.findall(r"\[([A-Z]+\d+)s?\]", "\n".join(lines[begin:end])))
            if not rules or rules - self.warnings:
                found.append(lines[begin][:SHOWN])
        return found

    @functools.cached_property
    def idle(self):
        """Line -> reason of what may be dropped alone: it orders nothing where it, too, may be dropped behind all those
        ahead of it that were; else one of those says it again. Without them all, the same bits and no report."""
        dropped = [mutant for mutant in mutations.mutants(self.ptx) if (mutant.kind in mutations.IDLE if self.isForeign else mutations.mayPlace(self.ptx, mutant))]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            noticed = list(pool.map(lambda job: self.isNoticed(f"{self.name}.apart{job[0]}", job[1].text, self.golden),
                                    enumerate(dropped)))
        lines, found = self.ptx.split("\n"), {}
        for mutant in (mutant for mutant, seen in zip(dropped, noticed) if not seen):
            kept, lines[mutant.line - 1] = lines[mutant.line - 1], mutant.text.split("\n")[mutant.line - 1]
            found[mutant.line] = ORDERS_NOTHING
            if self.isNoticed(f"{self.name}.apart", "\n".join(lines), self.golden):
                lines[mutant.line - 1], found[mutant.line] = kept, SAID_AGAIN
        if found and self.isNoticed(f"{self.name}.apart", "\n".join(lines), self.golden, seeds=8):
            return {}
        return found

    def judge(self, number, mutant, golden):
        """(verdict, what was said)"""
        name = f"{self.name}.{number}"
        status, said, result = self.execute(name, mutant.text, "--seeds=1")
        lines = self.reports(said)
        if status == 1 and lines:
            return "reported", lines[0]
        if status != 0:
            return "unexplained", f"exit {status}: {said[:300]}"
        if any(HAZARD in line for line in lines):
            return "reported", next(line for line in lines if HAZARD in line)
        if result != golden:
            return "wrong", "other bits"
        for reason, kinds, weakened, rule, why in self.reasons:
            if re.match(kinds, f"{mutant.kind} {mutant.what}"):
                if not rule:
                    if self.isNoticed(name, weakened(mutant), golden) == (rule is None):
                        return "equivalent", f"{reason}: {why}"
                    continue
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
    if any(HAZARD in line for line in kernel.reports(said)):
        print(f"{kernel.name}: the kernel must run without a report before it is changed: {said.strip()[:500]}")
        return collections.Counter(false_alarms=1)
    kernel.golden = golden
    every = list(mutations.mutants(kernel.ptx, kernel.exchanges))
    rng = random.Random(kernel.name)
    verdicts = collections.Counter(dict.fromkeys(["reported", "wrong", "equivalent", "unexplained"], 0))

    reasons = collections.Counter()

    def judge(chosen, first):
        """Judges them; the number of those that order nothing."""
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            judged = list(pool.map(lambda job: kernel.judge(job[0], job[1], golden), enumerate(chosen, first)))
        idle = 0
        for mutant, (verdict, why) in zip(chosen, judged):
            if verdict == "unexplained" and mutations.mayBeIdle(mutant) and (reason := kernel.idle.get(mutant.line)):
                verdict, why = "equivalent", f"{reason}: {SAYINGS[reason]}"
                idle += reason == ORDERS_NOTHING
            verdicts[verdict] += 1
            if verdict == "equivalent":
                reasons[why.split(":")[0]] += 1
            if list_ or verdict == "unexplained":
                print(f"{verdict}: {kernel.name}:{mutant.line}: {mutant.kind}: {mutant.what}: {why}", flush=True)
        return idle

    chosen = sample(every, count, rng)
    idle = judge(chosen, 0)
    if idle:  # others in their stead
        others = [mutant for mutant in every
                  if mutant not in chosen and not (mutations.mayBeIdle(mutant) and mutant.line in kernel.idle)]
        judge(rng.sample(others, min(idle, len(others))), len(chosen))
    total = sum(verdicts.values())
    by = " (" + ", ".join(f"{n} {reason}" for reason, n in sorted(reasons.items())) + ")" if reasons else ""
    print(f"{kernel.name}: {total} mutants: " + ", ".join(f"{n} {what}" + (by if what == "equivalent" else "")
                                                          for what, n in verdicts.items()), flush=True)
    placed = 0 if kernel.isForeign else idle  # bar.warp.sync and waits for wgmma that only place instructions for ptxas
    if count is None and verdicts["equivalent"] - placed > MOST_EQUIVALENT * (total - placed):
        print(f"{kernel.name}: at most {MOST_EQUIVALENT:.0%} of the mutants may be equivalent, got "
              f"{verdicts['equivalent'] - placed} of {total - placed}")
        verdicts["unexplained"] += 1
    return verdicts + collections.Counter({("reason", reason): n for reason, n in reasons.items()})


def emittedKernels(build, folder, pattern):
    """A kernel of each format, chip and epilogue that we emit, with several tiles for each
    CTA, ragged edges, and more K tiles than stages."""
    sys.path.insert(0, str(ROOT / "test" / "tools"))
    import kernel_cases
    import kernel_matrix

    edges = [("bf16", 384), ("f32", 300), ("bf16", 301)]
    chips = [arch for arch in kernel_cases.ARCHS if arch not in kernel_cases.ALIKE]
    kinds = [*itertools.product(kernel_cases.FORMATS, chips, edges), ("nvfp4", "sm_103a", edges[0])]
    cases = [kernel_cases.Case(name, arch, out, 300, n, 1536, alpha=True, bias=True, data="random", ctas=2)
             for name, arch, (out, n) in kinds]
    # Half scale tiles, gaps between elements, three boxes of B a stage, and C.
    cases.append(kernel_cases.Case("e2m1-e4m3", "sm_100a", "f32", 300, 400, 512, data="random", ctas=2, stages=2,
                                   tileN=192, majorB="mn", c=True))
    # Pairs alone, on sm_107a with the exclusive allocation, and in a cluster with multicast both ways.
    cases.append(kernel_cases.Case("nvfp4", "sm_107a", "bf16", 300, 384, 768, data="random", ctas=2, stages=2, tileN=256, group=2))
    cases.append(kernel_cases.Case("mxfp8", "sm_100a", "f32", 300, 1000, 512, data="random", ctas=8, stages=2, group=2, cluster="4x2"))
    cases.append(kernel_cases.Case("mxfp4", "sm_100a", "f32", 300, 300, 768, data="random", ctas=4, stages=2, cluster="2x2"))
    # Two products that share B.
    cases.append(kernel_cases.Case("nvfp4", "sm_107a", "f32", 700, 384, 768, data="random", ctas=2, stages=2, tileM=512, tileN=256, group=2))
    # K = 96: instructions that cross from one stage into the next, scales with a ring of their own, a tail.
    cases.append(kernel_cases.Case("nvfp4", "sm_103a", "bf16", 300, 384, 2624, alpha=True, bias=True, data="random", ctas=2,
                                   stages=3, instK=96))
    cases.append(kernel_cases.Case("mxfp4", "sm_103a", "f32", 800, 200, 1120, data="random", ctas=4, stages=3, instK=96, group=2, cluster="2x2"))
    # Rows that a launch says: the ends of loops, and the places of tiles, come from a parameter.
    cases.append(kernel_cases.Case("mxfp8", "sm_107a", "f32", 300, 300, 512, data="random", ctas=2, stages=2, c=True, isDynamic=True))
    cases.append(kernel_cases.Case("nvfp4", "sm_100a", "bf16", 600, 264, 768, data="random", ctas=4, stages=2, group=2, cluster="2x2",
                                   isDynamic=True))
    # A batch of which some CTA computes tiles of several products; C, and direct stores.
    cases.append(kernel_cases.Case("mxfp8", "sm_107a", "f32", 140, 301, 512, data="random", ctas=4, stages=2, group=2, cluster="2x2", c=True,
                                   batches=3))
    # Two accumulators of 256 columns that overlap.
    cases.append(kernel_cases.Case("nvfp4", "sm_100a", "bf16", 300, 512, 768, alpha=True, data="random", ctas=1, stages=2, tileN=256))
    for case in cases:
        if not re.search(pattern, case.name):
            continue
        work = pathlib.Path(folder) / case.name
        work.mkdir()
        matrix = kernel_matrix.Matrix(argparse.Namespace(build=build, work=pathlib.Path(folder), ptxas=None))
        _, status, message = matrix.translate(case, work)
        if status:
            sys.exit(f"{case.name}: {message}")
        inputs, _, _ = matrix.operands(case, work)
        kernel = Kernel(build, work, case.name, (work / "k.ptx").read_text(), work / "k.json", [f"--arg={path}" for path in inputs])
        if case.group > 1 or case.cluster:
            kernel.flags = OBEYED_IN_CLUSTERS
        yield kernel
    yield from blockKernels(build, folder, pattern)
    yield from quantizeKernels(build, folder, pattern)
    yield from quantizedProducts(build, folder, pattern)


def quantizedProducts(build, folder, pattern):
    """Products whose epilogue quantises: with GELU and half words of scales, and of gates from accumulators that overlap;
    several tiles for each pair of CTAs, and more K tiles than stages."""
    sys.path.insert(0, str(ROOT / "test" / "tools" / "blockscale-run" / "Inputs"))
    import numpy
    import quantized_gemm

    for case in (quantized_gemm.Case("mxfp8", 400, 160, "sm_107a", "tiled", ("gelu", "bias"), "tile-n=64,ctas=2,cta-group=2,stages=2", 512),
                 quantized_gemm.Case("nvfp4", 300, 512, "sm_100a", "tiled", ("gate", "alpha"), "tile-n=256,ctas=2,cta-group=2,stages=2", 512)):
        name = f"quantised-{case.form}-{case.chip}-{case.m}x{case.n}x{case.k}"
        if not re.search(pattern, name):
            continue
        work = pathlib.Path(folder) / name
        work.mkdir()
        operands, made = quantized_gemm.operands(case, 1), quantized_gemm.factors(case, 1)
        (work / "k.mlir").write_text(quantized_gemm.module(case, made).replace(", linear>>", ", tiled>>"))
        subprocess.run([pathlib.Path(build) / "bin" / "blockscale-translate", "--mlir-to-ptx", f"--arch={case.chip}",
                        f"--pin={case.pins}", work / "k.mlir", "-o", work / "k.ptx", f"--manifest={work / 'k.json'}"], check=True)
        tiled = quantized_gemm.rules.tiled
        inputs = dict(zip(("a", "sfa", "b", "sfb"), (operands[0], tiled(operands[1]), operands[2], tiled(operands[3]))))
        inputs |= {part: value for part, value in made.items() if value.shape}
        arguments = []
        for part, value in inputs.items():
            numpy.save(work / f"{part}.npy", value)
            arguments.append(f"--arg={part}={work / f'{part}.npy'}")
        arguments += [f"--arg={part}={float(value)}" for part, value in made.items() if not value.shape]
        kernel = Kernel(build, work, name, (work / "k.ptx").read_text(), work / "k.json", arguments)
        kernel.results = 2
        kernel.flags = OBEYED_IN_CLUSTERS
        yield kernel


def quantizeKernels(build, folder, pattern):
    """Kernels that quantise, which only exchange: amax among the lanes of a block; elements of less than a word; the
    largest magnitude of a matrix, by redux and an atomic, and the kernel behind that."""
    sys.path.insert(0, str(ROOT / "test" / "tools" / "blockscale-run" / "Inputs"))
    import numpy
    import quantize_formats

    for form, rows, k, arch, layout in (("nvfp4", 65, 80, "sm_100a", "tiled"), ("mxfp6-e3m2", 9, 352, "sm_107a", "tiled"),
                                        ("mxfp4", 5, 352, "sm_90a", "linear")):
        name = f"quantize-{form}-{arch}-{layout}-{rows}x{k}"
        if not re.search(pattern, name):
            continue
        work = pathlib.Path(folder) / name
        work.mkdir()
        (work / "k.mlir").write_text(quantize_formats.module(rows, k, "f32", form, layout, "computed"))
        # One value of each block gives its scale alone, wherever it is; the largest of all is not the first lane's.
        random = numpy.random.default_rng(7)
        x = random.uniform(0.1, 1, (rows * k // 16, 16)) * 2.0 ** random.integers(-4, 5, (rows * k // 16, 1))
        x[numpy.arange(len(x)), random.integers(0, 16, len(x))] *= 2.0 ** random.integers(4, 12, len(x))
        x = x.reshape(rows, k)
        x[rows // 2, 21] = 2e5
        numpy.save(work / "x.npy", x.astype(numpy.float32))
        subprocess.run([pathlib.Path(build) / "bin" / "blockscale-translate", "--mlir-to-ptx", f"--arch={arch}", work / "k.mlir",
                        "-o", work / "k.ptx", f"--manifest={work / 'k.json'}"], check=True)
        kernel = Kernel(build, work, name, (work / "k.ptx").read_text(), work / "k.json", [f"--arg={work / 'x.npy'}"])
        kernel.exchanges = True
        yield kernel


def blockKernels(build, folder, pattern):
    """The kernels of ggml's blocks, ragged: on chunks with two K tiles; on f32 activations, so behind the kernel that
    quantises to tiles, with more K tiles than the ring has stages; and on f16 ones, k split over a cluster, too."""
    sys.path.insert(0, str(ROOT / "test" / "tools" / "blockscale-run" / "Inputs"))
    import halves
    import numpy
    import q4k

    chunks, blocks = q4k.make(63, 130, 512, 1)
    given = [(f"{kind}-63x130x512", q4k.module(chunks, blocks), (chunks, blocks), f"--pin=kernel={kind}")
             for kind in ("raw_nibble", "wide", "narrow")]
    tiles = halves.make(33, 130, 1792, 1)
    given.append((SEVERAL_TILES, halves.module(*tiles, "halves", None), tiles, None))
    deep = halves.make(33, 70, 3584, 1)
    given.append(("wgmma-split-33x70x3584", halves.module(*deep, "halves", None), deep, "--pin=split=2"))
    # Deep enough that each stage is filled again, with k split, too.
    for name, k in (("ordered", 1792), ("bounded", 3584)):
        x, blocks = halves.make(33, 70, k, 1)
        single = x.astype(numpy.float32)
        text = halves.module(x, blocks, name, None).replace("xf16>", "xf32>")
        given.append((f"ring-{name}-33x70x{k}", text, (single, blocks), "--pin=split=2" if name == "bounded" else None))
        if name == "ordered":
            given.append(("ring-plane-33x70x1792", text, (single, q4k.planes(blocks)), "--pin=weights=plane"))
            given.append(("ring-rows32-33x70x1792", text, (single, blocks), "--pin=activations=transposed,warp-rows=32"))
    # One stage, as chips without bulk copies have it; its fill and its products take turns behind barriers.
    # Tiles are full enough that no instruction copies padding alone.
    given.append(("sm_80-raw_nibble-63x130x512", *given[0][1:]))
    x, blocks = halves.make(63, 130, 512, 1)
    given.append(("sm_80-tiles-63x130x512", halves.module(x, blocks, "ordered", None).replace("xf16>", "xf32>"),
                  (x.astype(numpy.float32), blocks), None))
    given.append(("sm_80-raw_nibble-packed-63x130x512", given[0][1], given[0][2], "--pin=kernel=raw_nibble,sums=packed"))
    for name, text, arrays, pin in given:
        arch, name = ("sm_80", name.removeprefix("sm_80-")) if name.startswith("sm_80") else ("sm_90a", name)
        name = f"q4_K-{arch}-{name}"
        if not re.search(pattern, name):
            continue
        work = pathlib.Path(folder) / name
        work.mkdir()
        (work / "k.mlir").write_text(text)
        for path, array in zip(("a.npy", "w.npy"), arrays):
            numpy.save(work / path, array.reshape(len(array), -1))
        subprocess.run([pathlib.Path(build) / "bin" / "blockscale-translate", "--mlir-to-ptx", f"--arch={arch}",
                        *([pin] if pin else []), work / "k.mlir", "-o", work / "k.ptx",
                        f"--manifest={work / 'k.json'}"], check=True)
        if name.endswith(SEVERAL_TILES):
            manifest = json.loads((work / "k.json").read_text())
            manifest["kernels"][0]["grid"] = [2, 1, 1]  # for three tiles
            (work / "k.json").write_text(json.dumps(manifest))
        yield Kernel(build, work, name, (work / "k.ptx").read_text(), work / "k.json", [f"--arg={work / path}" for path in ("a.npy", "w.npy")])


def foreignKernels(build, folder, pattern):
    """Kernels of another compiler as its test leaves them: PTX, manifest, inputs."""
    sys.path.insert(0, str(ROOT / "test" / "Foreign"))
    import foreign_launch

    for name in FOREIGN:
        if not re.search(pattern, name):
            continue
        ran = subprocess.run([sys.executable, ROOT / "test" / "Foreign" / "run_foreign.py", "--build", build, "--work", folder,
                              "--only", name, "--seeds=1"], capture_output=True, text=True)
        if ran.returncode:
            sys.exit(f"{name}: the kernel must run before it is changed: {ran.stdout.strip()[:500]}")
        work = pathlib.Path(folder) / name
        inputs = [f"--arg={path.stem}={path}" for path in sorted(work.glob("*.npy")) if not path.stem.startswith("out-")]
        kernel = Kernel(build, work, name, (work / "k.ptx").read_text(), work / "k.json", inputs,
                        True, foreign_launch.DOCUMENTED_WARNINGS.get(name.split("-")[0], ()))
        kernel.dropFlags()
        print(f"{name}: right without the assumptions of {' '.join(kernel.flags) or 'none'}", flush=True)
        yield kernel


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--full", action="store_true", help="every mutant")
    parser.add_argument("--foreign", action="store_true", help="kernels of another compiler (needs build/venv-foreign)")
    parser.add_argument("--sample", type=int, help=f"mutants of each kernel; {SAMPLE}, of another compiler's {FOREIGN_SAMPLE}")
    parser.add_argument("--list", action="store_true", help="print every mutant")
    parser.add_argument("--ptx", type=pathlib.Path, help="a kernel of your own, every mutant")
    parser.add_argument("--manifest", type=pathlib.Path)
    parser.add_argument("--arg", action="append", default=[])
    parser.add_argument("pattern", nargs="?", default="", help="names of kernels, as a regular expression")
    args = parser.parse_args()
    count = None if args.full or args.ptx else args.sample or (FOREIGN_SAMPLE if args.foreign else SAMPLE)
    totals = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        if args.ptx:
            kernels = [Kernel(args.build, folder, args.ptx.stem, args.ptx.read_text(), args.manifest, [f"--arg={arg}" for arg in args.arg])]
        elif args.foreign:
            kernels = foreignKernels(args.build, folder, args.pattern)
        else:
            kernels = emittedKernels(args.build, folder, args.pattern)
        for kernel in kernels:
            totals += collections.Counter({**mutateKernel(kernel, count, args.list), "kernels": 1})
    if not totals["kernels"]:
        sys.exit(f"no kernel is named '{args.pattern}'")
    print(f"mutants.sampled = {sum(totals[v] for v in ('reported', 'wrong', 'equivalent', 'unexplained'))}")
    print(f"mutants.unexplained = {totals['unexplained']}")
    print(f"mutants.equivalent = {totals['equivalent']}")
    for reason in (FENCED, EXIT_BARRIER, KERNEL_END, SAID_AGAIN, ORDERS_NOTHING):
        if totals["reason", reason]:
            print(f"  {reason}: {totals['reason', reason]}")
    print(f"false_alarms = {totals['false_alarms']}")
    sys.exit(1 if totals["unexplained"] or totals["false_alarms"] else 0)


if __name__ == "__main__":
    main()
