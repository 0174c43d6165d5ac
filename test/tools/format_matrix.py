# ===- format_matrix.py - every kind, pair of formats and tile on every chip ===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A cell is a chip, a kind with its formats, K of an instruction, a CTA group and a tile. Each is either
# tested or refused by a rule, and docs/Matrix.md says which: the compiler is asked
# about every cell, and what it accepts must be among the cases below. CI runs the
# cases at one tile; the rest run with --full.
#
# ===-----------------------------------------------------------------------===#

import argparse
import concurrent.futures
import dataclasses
import itertools
import pathlib
import re
import subprocess
import sys
import time

import kernel_cases
import kernel_matrix

CHIPS = ["sm_100a", "sm_103a", "sm_107a"]
LONG_K = ["sm_103a", "sm_107a"]  # listed with K = 96
TILE_N = [64, 128, 192, 256]
# (CTA group, M of the tile)
GROUPS = [(1, 128), (2, 128), (2, 256), (1, 256), (2, 512)]
# Every kind, chip and N; gaps between elements, packed FP4 beside FP8, FP6.
PAIRS_IN_CI = {("sm_100a", "nvfp4", 256), ("sm_107a", "nvfp4", 192), ("sm_103a", "mxfp4", 128), ("sm_107a", "mxfp4", 256),
               ("sm_100a", "e2m1-e4m3", 64), ("sm_107a", "e2m1-e4m3", 192), ("sm_107a", "mxfp8", 64), ("sm_100a", "e4m3-e3m2", 128)}
# Two products that share B, by one CTA and by pairs: (format, CTA group, N).
REUSE_IN_CI = {("nvfp4", 1, 256), ("nvfp4", 2, 192), ("mxfp4", 2, 256), ("mxfp8", 2, 128), ("mxfp8", 1, 64), ("e2m1-e4m3", 2, 256)}
# Multicast along each side and along both, with pairs and without.
CLUSTERS_IN_CI = {("1x4", 1), ("2x2", 1), ("2x2", 2), ("4x2", 2)}


@dataclasses.dataclass(frozen=True)
class Cell:
    chip: str
    format: str
    instK: int
    group: int
    m: int
    n: int

    @property
    def tile(self):
        return f"{self.m}x{self.n}"

    @property
    def reusesB(self):
        return self.m > 128 * self.group

    @property
    def instM(self):
        return self.m // 2 if self.reusesB else self.m


def instructionKs(chip, name):
    """K of the instructions of a format on a chip: the one that is chosen, 96 of FP4 where the chip has it, and the
    shorter one of sm_107a."""
    fmt = kernel_cases.ALL_FORMATS[name]
    chosen = fmt.instructionK[chip]
    hasShorter = chip == "sm_107a" and chosen != 32
    return [chosen, *([96] if fmt.kind != "mxf8f6f4" and chip in LONG_K else []), *([chosen // 2] if hasShorter else [])]


def cells():
    for chip, name, (group, m), n in itertools.product(CHIPS, kernel_cases.ALL_FORMATS, GROUPS, TILE_N):
        for instK in instructionKs(chip, name):
            yield Cell(chip, name, instK, group, m, n)


# ===-----------------------------------------------------------------------===#
# What the compiler says
# ===-----------------------------------------------------------------------===#


def cellText(cell):
    """A function with one product and a schedule for the cell, as small as can be."""
    fmt = kernel_cases.ALL_FORMATS[cell.format]
    case = kernel_cases.Case(cell.format, cell.chip, "f32", 8, 8, 128)
    tileK = 768 if cell.instK == 96 else 128 if fmt.kind == "mxf8f6f4" else 256
    stages, scales = (2, ", scale_stages = 1") if cell.instK == 96 else (1, "")
    schedule = (f"#blockscale.schedule<arch = {cell.chip}, mma = {fmt.kind}, inst = {cell.instM}x{cell.n}x{cell.instK}, "
                f"cta_group = {cell.group}, tile = {cell.m}x{cell.n}x{tileK}, stages = {stages}, accumulators = 1, "
                f"epilogue = plain_store, staging = 0, ctas = {cell.group}, cluster = {cell.group}x1{scales}>")
    return kernel_matrix.mlirText(case).replace(
        " -> tensor<8x8xf32>\n    return", f" {{schedule = {schedule}}} -> tensor<8x8xf32>\n    return")


def askCompiler(build, folder):
    """Cell -> label of the rule that refuses it, or None. One process asks about all."""
    separator = "// -----\n"
    asked, starts, line, text = list(cells()), [], 1, []
    for cell in asked:
        body = cellText(cell)
        starts.append(line)
        line += body.count("\n") + 1
        text.append(body)
    source = folder / "cells.mlir"
    source.write_text(separator.join(text))
    ran = subprocess.run([build / "bin" / "blockscale-opt", source, "--split-input-file", "-o", "/dev/null"],
                         capture_output=True, text=True)
    answers = dict.fromkeys(asked)
    for number, label in re.findall(r"cells\.mlir:(\d+):\d+: error: .*?\b((?:gemm|schedule)_c\d+): ", ran.stderr):
        index = max(i for i, start in enumerate(starts) if start <= int(number))
        detail = re.search(rf"cells\.mlir:{number}:\d+: error: .*", ran.stderr).group()
        inner = re.search(r"\b(idesc_c\d+): ", detail)
        answers[asked[index]] = answers[asked[index]] or (inner.group(1) if inner else label)
    if not any(answers.values()) or ran.stderr.count("error: ") != sum(label is not None for label in answers.values()):
        sys.exit(f"every error must be one cell's, got {ran.stderr[:500]}")
    return answers


# ===-----------------------------------------------------------------------===#
# What is tested
# ===-----------------------------------------------------------------------===#


def caseOf(cell):
    """A ragged product for a cell: two tiles of N, so that odd ones occur, and of M for one
    CTA; a pair's second CTA has two rows. One CTA or pair for all of them, and more K
    tiles than stages of the ring."""
    fmt = kernel_cases.ALL_FORMATS[cell.format]
    padded = cell.instK == 32 and any(e.bits < 8 for e in (fmt.a, fmt.b))
    # A whole K tile of 96s, and a tail with one of 64.
    k = 1120 if cell.instK == 96 else {"mxf8f6f4": 256 if padded else 288}.get(fmt.kind, 544)
    m, n = 130, cell.n + cell.n // 2 + 5
    if cell.reusesB:  # two rows are the last product's
        m = cell.m - 126
    return kernel_cases.Case(cell.format, cell.chip, "f32", m, n, k, data="random", ctas=cell.group, tileN=cell.n,
                             stages=3 if cell.instK == 96 else 2, layout="linear" if fmt.a.name == "e5m2" else "tiled",
                             instK=cell.instK if cell.instK != fmt.instructionK[cell.chip] else 0, group=cell.group,
                             tileM=cell.m if cell.reusesB else 0)


def isInCi(cell):
    """Every kind and pair of formats at one tile of sm_107a; what shared memory holds with
    gaps elsewhere, and the other tiles, of some."""
    fmt = kernel_cases.ALL_FORMATS[cell.format]
    if cell.instK < fmt.instructionK[cell.chip]:
        return False  # some are extra cases
    if cell.reusesB:
        return (cell.format, cell.group, cell.n) in REUSE_IN_CI
    if cell.instK == 96:
        return (cell.format, cell.group, cell.n) in (("nvfp4", 1, 128), ("mxfp4", 1, 128), ("nvfp4", 1, 192), ("nvfp4", 2, 256))
    if cell.group == 2:
        return (cell.chip, cell.format, cell.n) in PAIRS_IN_CI
    if cell.n != 128:
        return cell.chip == "sm_107a" and cell.format in ("nvfp4", "mxfp4", "e2m1-e4m3")
    # The kernels of sm_103a differ from those of sm_100a in their target only.
    return {"sm_107a": True, "sm_103a": cell.format in kernel_cases.FORMATS,
            "sm_100a": fmt.kind != "mxf8f6f4" or fmt.a.name == "e4m3" or fmt.b.name == "e2m1"}[cell.chip]


def extraCases():
    """Beside the cells: MN-major operands, C, f16, and the smallest sizes."""
    Case = kernel_cases.Case
    for chip, widths in (("sm_100a", (64, 192)), ("sm_107a", (128, 256))):
        for n in widths:
            yield Case("e4m3-e5m2", chip, "f32", 144, n + 32, 160, data="random", ctas=1, stages=2, tileN=n, majorA="mn", majorB="mn")
    yield Case("mxfp8", "sm_107a", "bf16", 144, 80, 288, data="random", majorA="mn", isDynamic=True, c=True)
    # Accumulators of 256 columns that overlap: several tiles for one CTA, both ways to store.
    yield Case("nvfp4", "sm_100a", "bf16", 130, 520, 544, alpha=True, bias=True, data="random", ctas=1, stages=2, tileN=256)
    yield Case("mxfp8", "sm_103a", "f32", 130, 517, 160, data="random", ctas=1, stages=2, tileN=256, c=True, isDynamic=True)
    yield Case("e5m2-e4m3", "sm_100a", "f32", 144, 160, 160, data="random", majorA="mn")
    yield Case("e4m3-e3m2", "sm_107a", "bf16", 144, 80, 256, data="random", majorA="mn")
    yield Case("mxfp8", "sm_100a", "f16", 130, 72, 160, alpha=True, bias=True, c=True)
    yield Case("e5m2-e4m3", "sm_107a", "bf16", 5, 13, 96, data="random", bias=True, c=True)
    yield Case("nvfp4", "sm_107a", "f32", 129, 136, 32, c=True)
    yield Case("nvfp4", "sm_100a", "f16", 1, 1, 32)
    yield Case("mxfp4", "sm_107a", "f16", 3, 8, 32, alpha=True)
    yield Case("e2m1-e4m3", "sm_100a", "f32", 1, 8, 128, data="random", tileN=64)
    # K = 96: two of 64 in the tail; no whole K tile; no tail; overlapped accumulators.
    for name, n, k, other in (("nvfp4", 80, 992, {}), ("mxfp4", 80, 2016, {"layout": "linear"}), ("mxfp4", 136, 160, {}),
                              ("nvfp4", 136, 32, {}), ("nvfp4", 136, 1536, {"isDynamic": True}),
                              ("nvfp4", 520, 832, {"tileN": 256, "isDynamic": True})):
        yield Case(name, "sm_103a", "bf16", 130, n, k, data="random", ctas=1, stages=2, instK=96, **other)
    # Two products of a tile share its bias and the places of C.
    yield Case("nvfp4", "sm_107a", "bf16", 300, 127, 256, data="random", tileM=256, bias=True, c=True)
    yield Case("nvfp4", "sm_107a", "bf16", 600, 264, 256, data="random", tileM=512, tileN=256, stages=2, ctas=2, group=2, bias=True, c=True,
               isDynamic=True)
    # Large enough for the model to choose: pairs of 256x192, with K = 96 where the chip has it.
    yield Case("nvfp4", "sm_100a", "bf16", 1600, 1560, 288, data="random", bias=True)
    yield Case("nvfp4", "sm_103a", "f32", 1600, 1552, 416, data="random")
    # The shorter K of sm_107a, where FP4 beside FP8 has its gaps again.
    for name, k in (("e2m1-e4m3", 32), ("e5m2-e4m3", 32), ("mxf4nvf4-ue5m3-16", 64), ("mxf4nvf4-ue4m3-32", 64)):
        yield Case(name, "sm_107a", "f32", 130, 136, 384, instK=k)


def clusterCases():
    """Every shape of a cluster, with pairs and without, over all kinds, every other one with an m that
    only the launch says; tiles of a cluster beyond the last one each way, several for some CTA,
    and more K tiles than stages."""
    formats = itertools.cycle(["nvfp4", "mxfp8", "mxfp4", "e2m1-e4m3"])
    chips = itertools.cycle(["sm_107a", "sm_100a", "sm_103a"])
    tileNs = itertools.cycle([64, 128, 192, 256, 128])
    dynamic = itertools.cycle([False, True])
    for (rows, columns), group in itertools.product(itertools.product((1, 2, 4), repeat=2), (1, 2)):
        if rows % group or rows * columns == 1:
            continue
        tileN, chip = next(tileNs), next(chips)
        size = rows * columns
        yield kernel_cases.Case(next(formats), chip, "f32", 300, tileN + tileN // 2 + 5, 512, data="random", tileN=tileN,
                                stages=2, ctas=size, group=group, cluster=f"{rows}x{columns}", isDynamic=next(dynamic))
    yield from spanClusterCases()
    # MN-major operands in boxes of 64 and of 32 rows, C, bf16 and a TMA store of each CTA's rows.
    yield kernel_cases.Case("e4m3-e5m2", "sm_107a", "bf16", 400, 192, 384, data="random", tileN=64, stages=2, ctas=8, group=2,
                            cluster="4x2", majorA="mn", majorB="mn", c=True)
    yield kernel_cases.Case("e4m3-e5m2", "sm_107a", "bf16", 720, 192, 384, data="random", tileM=512, tileN=64, stages=2, ctas=8,
                            group=2, cluster="4x2", majorA="mn", majorB="mn", c=True, alpha=True)
    yield kernel_cases.Case("e5m2-e4m3", "sm_100a", "bf16", 144, 416, 384, data="random", tileN=192, stages=2, ctas=4,
                            cluster="2x2", majorA="mn", majorB="mn", bias=True, alpha=True)


def spanClusterCases():
    """The same with K = 96, whose scales come through a ring of their own: tails of one and of two 64s,
    of both blocks, every width of a tile."""
    kinds = itertools.cycle([("nvfp4", 832), ("mxfp4", 992), ("nvfp4", 1696)])
    tileNs = itertools.cycle([64, 256, 128, 192])
    dynamic = itertools.cycle([True, False, False])
    for (rows, columns), group in itertools.product(itertools.product((1, 2, 4), repeat=2), (1, 2)):
        if rows % group or rows * columns == 1:
            continue
        tileN, (name, k) = next(tileNs), next(kinds)
        yield kernel_cases.Case(name, "sm_103a", "f32", 300, tileN + tileN // 2 + 5, k, data="random", tileN=tileN,
                                stages=3, ctas=rows * columns, group=group, cluster=f"{rows}x{columns}", instK=96,
                                isDynamic=next(dynamic))


def batchCases():
    """A batch in one launch, with all that a kernel has: ragged tiles whose next rows are another product's, several
    tiles and batches for some CTA, operands of their own and shared ones, pairs, clusters, K = 96, two products that share
    B, accumulators that overlap, both ways to store, C, MN-major operands, and an m that only the launch says."""
    def Case(name, chip, out, m, n, k, batches, **others):
        return kernel_cases.Case(name, chip, out, m, n, k, data="random", batches=batches, **{"ctas": others.get("group", 1), **others})

    yield Case("nvfp4", "sm_107a", "bf16", 130, 136, 544, 3, stages=2, bias=True, alpha=True)
    yield Case("nvfp4", "sm_100a", "f32", 5, 13, 288, 4, ctas=2, c=True)
    yield Case("mxfp8", "sm_100a", "bf16", 129, 80, 288, 2, layout="linear", isDynamic=True, c=True, alpha=True)
    yield Case("mxfp4", "sm_103a", "f32", 1, 8, 64, 5, layout="linear", sharesB=True, majorA="k", ctas=0)
    yield Case("mxfp8", "sm_107a", "bf16", 260, 136, 160, 2, sharesB=True, isDynamic=True, tileN=64, stages=2)
    yield Case("e2m1-e4m3", "sm_100a", "f32", 130, 293, 256, 2, tileN=192, stages=2, isDynamic=True)
    yield Case("e4m3-e5m2", "sm_107a", "f32", 144, 80, 288, 3, majorA="mn", majorB="mn", isDynamic=True, stages=2)
    yield Case("e5m2-e4m3", "sm_100a", "bf16", 144, 160, 160, 2, majorA="mn", sharesB=True, layout="linear", stages=2)
    yield Case("e3m2-e2m3", "sm_107a", "f32", 130, 72, 128, 2, stages=2)
    # Pairs and clusters, in which some CTA's tiles lie beyond a matrix.
    yield Case("nvfp4", "sm_107a", "f32", 300, 200, 512, 2, group=2, stages=2, tileN=128)
    yield Case("mxfp8", "sm_100a", "f32", 300, 389, 384, 2, group=2, cluster="4x2", ctas=8, tileN=256, stages=2, isDynamic=True)
    yield Case("mxfp4", "sm_100a", "bf16", 140, 288, 512, 3, cluster="2x2", ctas=4, tileN=192, stages=2, sharesB=True, c=True)
    yield Case("nvfp4", "sm_107a", "bf16", 600, 264, 256, 2, tileM=512, tileN=256, stages=2, group=2, bias=True, c=True, isDynamic=True)
    yield Case("mxfp8", "sm_107a", "f32", 200, 140, 256, 3, tileM=256, tileN=128, stages=2)
    # K = 96, alone, overlapped and in a cluster.
    yield Case("nvfp4", "sm_103a", "bf16", 130, 264, 992, 3, instK=96, stages=3, tileN=256)
    yield Case("mxfp4", "sm_103a", "f32", 300, 101, 1696, 2, instK=96, stages=3, tileN=64, group=2, cluster="2x2", ctas=4, isDynamic=True)
    # Overlapped accumulators that cross from one product to the next, both ways to store.
    yield Case("nvfp4", "sm_100a", "f32", 130, 517, 544, 3, tileN=256, stages=2, alpha=True)
    # Large enough for the model to choose, and rows that are copied for a loop of launches.
    yield Case("nvfp4", "sm_100a", "bf16", 400, 1560, 288, 4, bias=True, ctas=0)
    yield Case("nvfp4", "sm_107a", "f32", 130, 24, 48, 2, layout="linear", ctas=0)
    yield Case("mxfp8", "sm_100a", "f32", 70, 16, 64, 2, layout="linear", sharesB=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--ptxas")
    parser.add_argument("--full", action="store_true", help="every cell instead of CI's")
    parser.add_argument("--page", action="store_true", help="print docs/Matrix.md and run nothing")
    parser.add_argument("--count", action="store_true", help="count the cells and run nothing")
    parser.add_argument("--only", default="", help="cases whose name matches this regular expression")
    parser.add_argument("--seeds", type=int, default=1, help="random timings besides earliest and latest")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    answers = askCompiler(args.build.resolve(), args.work)
    if args.page:
        return print(page(answers), end="")
    supported = [cell for cell, label in answers.items() if label is None]
    counts = {"cells": len(answers), "supported": len(supported), "refused_by_rule": len(answers) - len(supported),
              "silent": sum(not tests(cell) for cell in supported)}
    failed = 0
    if not args.count:
        failed = runCases(args, supported)
    for key, value in counts.items():
        print(f"matrix.{key} = {value}")
    sys.exit(1 if failed or counts["silent"] else 0)


def runCases(args, supported):
    """Compiles, assembles and runs the cases; how many failed."""
    matrix = kernel_matrix.Matrix(args)
    work = [caseOf(cell) for cell in supported if args.full or isInCi(cell)] + list(extraCases())
    work += [case for case in clusterCases() if args.full or case.instK == 96 or (case.cluster, case.group) in CLUSTERS_IN_CI]
    work += list(batchCases())
    work = [case for case in dict.fromkeys(work) if re.search(args.only, case.name)]

    def one(case):
        begin = time.monotonic()
        try:
            return case, matrix.check(case), None, time.monotonic() - begin
        except (kernel_matrix.Failure, subprocess.TimeoutExpired, OSError, ValueError) as failure:
            return case, None, str(failure), time.monotonic() - begin

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for case, result, failure, seconds in pool.map(one, work):
            failed += failure is not None
            print(f"FAILED {case.name}: {failure}" if failure else
                  f"ok {case.name}: {result[0]} registers, error {result[1]:.3f} of the bound, {seconds:.1f} s", flush=True)
    print(f"matrix.cases_run = {len(work)}")
    print(f"matrix.cases_failed = {failed}")
    print(f"matrix.spill_bytes = {matrix.spillBytes}")
    return failed or not work


# ===-----------------------------------------------------------------------===#
# The page
# ===-----------------------------------------------------------------------===#


def tests(cell):
    """Who tests a cell: CI, or the bench; empty where nobody does."""
    if (cell.group, cell.m) == (2, 128):
        return ""
    return "CI" if isInCi(cell) else "bench"


def page(answers):
    """docs/Matrix.md."""
    lines = ["# Matrix", "",
             "Which dense block-scaled products are built. A cell is a chip, a kind with its formats, K of an instruction, a CTA group and a tile. `CI` and `bench`",
             "cells are compiled, taken by ptxas 13.5 without spills, executed over a ragged shape under several timings with hazard checks, and",
             "compared with numpy in f64 (`test/tools/format_matrix.py`); the bench runs all of them. Every other cell is refused, by the rule that",
             "the cell names: [Dialect](Dialect.md) has the text of `schedule_cN` and `gemm_cN`, and `idesc_cN` are the rules of the instruction",
             "descriptor, which `blockscale-explain idesc` states. MN-major operands, beta * C, f16, the smallest sizes, batches and every shape",
             "of a cluster are cases beside the cells. This page is generated: `./tools/dev docs`.", ""]
    columns = [(group, m, n) for group, m in GROUPS for n in TILE_N]
    for chip in CHIPS:
        lines += [f"## {chip}", "", "| kind | A | B | scales | K | " + " | ".join(f"{m}x{n}{' pair' * (g == 2)}" for g, m, n in columns) + " |",
                  "|---" * (5 + len(columns)) + "|"]
        for name, fmt in kernel_cases.ALL_FORMATS.items():
            for instK in instructionKs(chip, name):
                row = [Cell(chip, name, instK, *column) for column in columns]
                said = [answers[cell] or tests(cell) or "silent" for cell in row]
                lines.append(f"| {fmt.kind} | {fmt.a.name} | {fmt.b.name} | {fmt.scale} by {fmt.block} | {instK} | " + " | ".join(said) + " |")
        lines.append("")
    counted = [label for label in answers.values()]
    lines.append(f"{len(counted)} cells: {counted.count(None)} supported and tested, {len(counted) - counted.count(None)} refused by a rule.")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
