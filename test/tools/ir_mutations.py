# ===- ir_mutations.py - changes one number of a dump at a time, and runs it ===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: ir_mutations.py BUILD DUMP.mlir LEVEL [--list] [--every=N]
# Every number of every op of a kernel's dump (level 3 or 4) and of its host code is
# changed, by one up, by one down and to its double. A mutant must be refused, be
# reported when it runs, or give another result; else it must be one of the fields
# named below, in which another value is as right. Operands are random, made here.
#
# ===-----------------------------------------------------------------------===#

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

# (level, what stands before the number and the change, why another value is as right)
EQUIVALENT = [
    (3, r"alloc_warp = \[", "any warp of the block may allocate tensor memory"),
    (3, r"slot = \[", "the last 128 bytes of the plan have room for the slot elsewhere"),
    (4, r"bar_sync \[", "a block has sixteen barriers, and all of its threads name the same"),
    (4, r"smem_desc<leading = \[", "one core matrix along K, or a swizzled K-major tile: the offset is not read"),
    (4, r"%c2_i32 = arith.constant \[2 -> 1\]", "one constant for both rings: all sides step through one stage of two"),
]

NUMBER = re.compile(r"(?<![\w.%#-])-?\d+(?![\w.])")
SHAPE = re.compile(r"(?:inst|tile) = (\d+)x(\d+)x(\d+)")


def numbers(line):
    """(start, end) of the numbers of a line; SSA names and types hold none."""
    body = re.sub(r"%[\w#:]+|(?:memref|tensor)<[^>]*>|@\w+|blockscale\.type = \S+", lambda m: " " * len(m.group()), line)
    found = [match.span() for match in NUMBER.finditer(body)]
    for match in SHAPE.finditer(body):
        found += [match.span(group) for group in (1, 2, 3)]
    return sorted(found)


def mutants(lines):
    """(line number, changed line, text before the number, what changed)"""
    for index, line in enumerate(lines):
        if "blockscale." not in line and "arith.constant" not in line:
            continue
        for start, end in numbers(line):
            value = int(line[start:end])
            for other in dict.fromkeys((value + 1, value - 1, value * 2)):
                if other != value:
                    before = line[:start]
                    yield index, before + str(other) + line[end:], before, f"{value} -> {other}"


class Runner:
    def __init__(self, build, folder):
        self.tools = pathlib.Path(build) / "bin"
        self.folder = pathlib.Path(folder)
        self.inputs = []

    def tool(self, name, *args):
        return subprocess.run([self.tools / name, *map(str, args)], capture_output=True, text=True, timeout=120)

    def translate(self, name, text):
        source = self.folder / f"{name}.mlir"
        source.write_text(text)
        chip = re.search(r'blockscale\.arch = "(\w+)"', text).group(1)
        return self.tool("blockscale-translate", "--mlir-to-ptx", f"--arch={chip}", source, "-o",
                         self.folder / f"{name}.ptx", f"--manifest={self.folder / f'{name}.json'}")

    def run(self, name):
        return self.tool("blockscale-run", f"--ptx={self.folder / f'{name}.ptx'}",
                         f"--manifest={self.folder / f'{name}.json'}", *self.inputs,
                         f"--out={self.folder / f'{name}.npy'}", "--seeds=2", "--threads=1",
                         "--poll-limit=100000")  # mutants that count their polls for ever

    def result(self, name):
        return (self.folder / f"{name}.npy").read_bytes()

    def makeInputs(self, text):
        """Random bytes for every buffer that the host fills: elements of any code, scales
        of moderate size, f32 by its type."""
        rng = np.random.default_rng(1)
        for count, name in re.findall(r'blockscale\.alloc (\d+) \{blockscale\.name = "(\w+)"\}', text):
            bytes_ = int(count)
            if name == "d":
                continue
            if name == "c":
                m, n = (int(re.search(rf"\b{x} = (\d+)", text).group(1)) for x in "mn")
                data = rng.standard_normal((m, n)).astype(np.float32)
            elif name == "bias":
                data = rng.standard_normal(bytes_ // 4).astype(np.float32)
            elif name.startswith("sf"):
                data = rng.integers(0x30, 0x48, bytes_).astype(np.uint8)
            else:
                data = rng.integers(0, 256, bytes_).astype(np.uint8)
            path = self.folder / f"input.{name}.npy"
            np.save(path, data)
            self.inputs.append(f"--arg={path}")


def judge(runner, name, text, golden):
    """What becomes of a mutant: refused, reported, wrong or same; and what was said."""
    ran = runner.translate(name, text)
    outcome = "refused"
    if ran.returncode == 0:
        ran = runner.run(name)
        outcome = "reported"
    errors = [line for line in ran.stderr.splitlines() if "error" in line or "blockscale-" in line]
    # One line says why; hazards of a run, and what it ends with, are lines of their own.
    hazards = any(": hazard: " in error for error in errors)
    if ran.returncode == 1 and (len(errors) == 1 or hazards and all("error: " in error for error in errors)):
        return outcome, errors[0]
    warnings = [line for line in ran.stderr.splitlines() if "warning: " in line and ": hazard: " in line]
    if ran.returncode == 0 and warnings:  # the kernel as it is has none
        return outcome, warnings[0]
    if ran.returncode != 0:
        return "bad", f"exit {ran.returncode}: {ran.stderr[:300]}"
    return ("same" if runner.result(name) == golden else "wrong"), ""


def main():
    build, path, level = sys.argv[1], sys.argv[2], int(sys.argv[3])
    every = next((int(word[8:]) for word in sys.argv if word.startswith("--every=")), 1)
    text = pathlib.Path(path).read_text()
    lines = text.splitlines(keepends=True)
    counts = dict.fromkeys(["refused", "reported", "wrong", "equivalent", "bad"], 0)
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(build, folder)
        runner.makeInputs(text)
        for step in (runner.translate("golden", text), runner.run("golden")):
            if step.returncode:
                sys.exit(f"the dump must run before it is changed, got {step.stderr}")
        if ": hazard: " in step.stderr:
            sys.exit(f"the dump must have no hazard before it is changed, got {step.stderr}")
        golden = runner.result("golden")

        def one(job):
            number, (index, line, before, change) = job
            name = f"m{number}"
            outcome, said = judge(runner, name, "".join(lines[:index] + [line] + lines[index + 1:]), golden)
            for file in pathlib.Path(folder).glob(f"{name}.*"):
                file.unlink()
            if outcome == "same":
                named = any(level == l and re.search(pattern, f"{before}[{change}]") for l, pattern, _ in EQUIVALENT)
                outcome = "equivalent" if named else "bad"
                said = "runs with the same result"
            return outcome, f"line {index + 1}: {before.strip()[-90:]}[{change}]: {said}"

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for outcome, what in pool.map(one, list(enumerate(mutants(lines)))[::every]):
                counts[outcome] += 1
                if outcome == "bad":
                    bad.append(what)
                if "--list" in sys.argv:
                    print(outcome, what, flush=True)
    print(f"{sum(counts.values())} mutants: " + ", ".join(f"{n} {k}" for k, n in counts.items()))
    sys.exit("\n".join(bad) if bad else 0)


if __name__ == "__main__":
    main()
