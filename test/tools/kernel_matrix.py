# ===- kernel_matrix.py - compiles, checks and runs many kernels -----------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# For each case: MLIR text, blockscale-translate, ptxas (accepted, no spills),
# then blockscale-run under earliest, latest and eight random timings, and the
# result against numpy. Tiled scales go the way of a foreign frontend (PTX and
# manifest), linear ones through the MLIR program. One hostile tile of each format
# and chip is compared bit for bit, and must differ with one bit of A flipped.
# Prints what it checked.
#
# ===-----------------------------------------------------------------------===#

import argparse
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys
import time

import ml_dtypes
import numpy as np

import kernel_cases
import kernel_data

ALPHA = {"integer": 0.5, "random": 0.37}
BETA = {"integer": 2.0, "random": -1.3}
RANDOM_SEEDS = 8
THREADS_OF_A_BLOCK = 192
REGISTER_FILE = 65536


class Failure(Exception):
    """One line that says what went wrong in a case."""


def mlirText(case):
    """The program: one function with one product."""
    fmt = kernel_cases.ALL_FORMATS[case.format]

    def operand(rows, element, major, batch):
        shape = f"{rows}x{case.k}" if major == "k" else f"{case.k}x{rows}"
        return (f"tensor<{batch}{shape}x{element.mlir}>",
                f"tensor<{batch}{rows}x{case.k // fmt.block}xi8, #blockscale.scales<{fmt.scale}, {case.layout}>>")

    m = "?" if case.isDynamic else case.m
    batch = f"{case.batches}x" if case.batches else ""
    (a, sfa), (b, sfb) = operand(m, fmt.a, case.majorA, batch), operand(case.n, fmt.b, case.majorB, "" if case.sharesB else batch)
    out = f"tensor<{batch}{m}x{case.n}x{case.out}>"
    parameters = [f"%a: {a}", f"%sfa: {sfa}", f"%b: {b}", f"%sfb: {sfb}"]
    lines, extra = [], ""
    if case.isDynamic:
        lines += [f"    %rows = arith.constant {(case.majorA == 'mn') + bool(case.batches)} : index", f"    %m = tensor.dim %a, %rows : {a}"]
    if case.alpha:
        lines.append(f"    %alpha = arith.constant {ALPHA[case.data]:e} : f32")
        extra += " alpha(%alpha : f32)"
    if case.bias:
        parameters.append(f"%bias: tensor<{case.n}xf32>")
        extra += f" bias(%bias : tensor<{case.n}xf32>)"
    if case.c:
        parameters.append(f"%old: {out}")
        lines.append(f"    %beta = arith.constant {BETA[case.data]:e} : f32")
        extra += f" beta(%beta : f32) c(%old : {out})"
    majors = [f"major_{x} = #blockscale.major<mn>" for x, major in (("a", case.majorA), ("b", case.majorB)) if major == "mn"]
    attributes = f" {{{', '.join(majors)}}}" if majors else ""
    return "\n".join([
        f"func.func @gemm({', '.join(parameters)}) -> {out} {{",
        *lines,
        f"    %c = tensor.empty({'%m' * case.isDynamic}) : {out}",
        f"    %d = blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb : {a}, {sfa}, {b}, {sfb}){extra}"
        f" outs(%c : {out}){attributes} -> {out}",
        f"    return %d : {out}",
        "}", ""])


def call(*command):
    """(status, stdout, stderr) of a program."""
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=600)
    return ran.returncode, ran.stdout, ran.stderr


def pins(case):
    kind = kernel_cases.ALL_FORMATS[case.format].kind
    fields = [f"ctas={case.ctas}"] * bool(case.ctas) + [f"stages={case.stages}"] * bool(case.stages)
    fields += [f"inst-k={case.instK}"] * bool(case.instK)
    fields += [f"tile-n={case.tileN}"] * (case.tileN != 128) + [f"tile-m={case.tileM}"] * bool(case.tileM)
    fields += [f"cta-group={case.group}"] * (case.group != 1) + [f"cluster={case.cluster}"] * bool(case.cluster)
    fields += [f"mma={kind}"] * (case.format not in kernel_cases.FORMATS)
    return [f"--pin={','.join(fields)}"] * bool(fields)


class Matrix:
    def __init__(self, args):
        self.bin = args.build.resolve() / "bin"
        self.work = args.work.resolve()
        self.ptxas = args.ptxas
        self.seeds = getattr(args, "seeds", RANDOM_SEEDS)
        self.spillBytes = 0  # of all kernels
        self.bitEqual = self.flipsReported = 0

    def translate(self, case, folder):
        source = folder / "gemm.mlir"
        source.write_text(mlirText(case))
        status, out, err = call(self.bin / "blockscale-translate", "--mlir-to-ptx", f"--arch={case.arch}", *pins(case), source,
                                "-o", folder / "k.ptx", f"--manifest={folder / 'k.json'}")
        return source, status, (out + err).strip()

    def assemble(self, case, folder):
        """Registers; refuses what ptxas refuses and what spills."""
        status, out, err = call(self.ptxas, "-v", f"-arch={case.arch}", folder / "k.ptx", "-o", folder / "k.cubin")
        text = out + err
        if status:
            raise Failure(f"ptxas refuses: {text.strip()[:300]}")
        spills = [int(n) for n in re.findall(r"(\d+) bytes spill", text)]
        registers = [int(n) for n in re.findall(r"Used (\d+) registers", text)]
        if not spills or not registers:
            raise Failure("ptxas -v printed no register count")
        self.spillBytes += sum(spills)
        if sum(spills):
            raise Failure(f"{sum(spills)} bytes of spills")
        if max(registers) * THREADS_OF_A_BLOCK > REGISTER_FILE:
            raise Failure(f"{max(registers)} registers do not fit a block")
        return max(registers)

    def operands(self, case, folder):
        """Writes the .npy files; returns their paths and the reference."""
        fmt = kernel_cases.ALL_FORMATS[case.format]
        rng = np.random.default_rng(list(case.name.encode()))
        products = []
        for _ in range(max(1, case.batches)):
            a = kernel_data.makeOperand(rng, fmt, fmt.a, case.m, case.k, case.data)
            isOld = products and case.sharesB
            products.append((a, products[0][1] if isOld else kernel_data.makeOperand(rng, fmt, fmt.b, case.n, case.k, case.data)))

        def joined(arrays, isShared):
            """Of all batches one behind the other, or the matrix that they share."""
            isMatrix = not case.batches or isShared
            return arrays[0] if isMatrix else np.concatenate(arrays) if arrays[0].ndim == 1 else np.stack(arrays)

        alpha = float(np.float32(ALPHA[case.data])) if case.alpha else 1.0
        bias = np.zeros(case.n, dtype=np.float32)
        if case.bias:
            bias = (rng.integers(-64, 65, case.n).astype(np.float32) if case.data == "integer"
                    else (rng.standard_normal(case.n) * 8).astype(np.float32))
        arrays = []
        for side, element, major in ((0, fmt.a, case.majorA), (1, fmt.b, case.majorB)):
            operands = [product[side] for product in products]
            isShared = side == 1 and case.sharesB
            arrays.append(joined([kernel_data.packed(element, each.codes if major == "k" else each.codes.T)
                                  for each in operands], isShared))
            arrays.append(joined([kernel_data.tiled(each.scales, rng) if case.layout == "tiled" else each.scales
                                  for each in operands], isShared))
        arrays += [bias] * case.bias
        addend = None
        if case.c:
            shape = (case.batches, case.m, case.n) if case.batches else (case.m, case.n)
            old = kernel_data.roundedTo(case.out, rng.integers(-32, 33, shape).astype(np.float64)
                                        if case.data == "integer" else rng.standard_normal(shape) * 8)
            arrays.append(old.view(np.uint16) if case.out == "bf16" else old)
            addend = float(np.float32(BETA[case.data])) * old.astype(np.float64)
        paths = []
        for index, array in enumerate(arrays):
            paths.append(folder / f"in{index}.npy")
            np.save(paths[-1], array)
        addends = [None] * len(products) if addend is None else addend.reshape(-1, case.m, case.n)
        references = [kernel_data.reference(a, b, alpha, bias.astype(np.float64), each)
                      for (a, b), each in zip(products, addends)]
        # Rows of all batches, one below the other.
        exact, magnitude = (np.concatenate([each[i] for each in references]) for i in (0, 1))
        partials = [np.concatenate(parts) for parts in zip(*(each[2] for each in references))]
        if case.data == "integer":
            allowed = None
            exact = kernel_data.roundedTo(case.out, exact).astype(np.float64)
        else:
            allowed = kernel_data.bound(fmt, case.arch, case.k, exact, magnitude, partials, case.out)
        return paths, exact, allowed

    def checkBits(self, case, folder, source):
        """All of D must be the vector's; with one bit of A flipped, one row must not."""
        tile = kernel_data.hostileTile(case.format, case.arch, case.instK)
        rng = np.random.default_rng(list(case.name.encode()))
        flippedRow = 1
        flipped = kernel_data.flipSign(kernel_cases.ALL_FORMATS[case.format], tile, flippedRow)
        paths = [folder / f"in{index}.npy" for index in range(4)]
        for a in (tile["a_rows"], flipped):
            arrays = [a, kernel_data.tiled(tile["sfa"], rng), tile["b_rows"], kernel_data.tiled(tile["sfb"], rng)]
            for path, array in zip(paths, arrays):
                np.save(path, array)
            d = self.execute(case, folder, source, paths)
            wrong = d.view(np.uint32) != tile["d"].view(np.uint32)
            if a is flipped:
                if set(np.flatnonzero(wrong.any(axis=1))) != {flippedRow}:
                    raise Failure(f"one bit of A[{flippedRow}] flipped, rows that differ: "
                                  f"{np.flatnonzero(wrong.any(axis=1)).tolist()}")
                self.flipsReported += 1
            elif wrong.any():
                row, column = np.argwhere(wrong)[0]
                raise Failure(f"hostile data: D[{row},{column}] is {float(d[row, column]).hex()}, "
                              f"must be {float(tile['d'][row, column]).hex()} ({np.count_nonzero(wrong)} differ)")
        self.bitEqual += 1

    def execute(self, case, folder, source, inputs):
        """D; blockscale-run refuses when a timing changes a bit."""
        result = folder / "d.npy"
        program = ([f"--ptx={folder / 'k.ptx'}", f"--manifest={folder / 'k.json'}"] if case.layout == "tiled"
                   else [source, "--entry=gemm", f"--arch={case.arch}", *pins(case)])
        status, out, err = call(self.bin / "blockscale-run", *program, *[f"--arg={path}" for path in inputs],
                                f"--out={result}", f"--seeds={self.seeds}")
        if status:
            raise Failure(f"blockscale-run: {(out + err).strip()[:300]}")
        d = np.load(result)
        if case.out == "bf16":  # comes as its bits
            d = d.view(ml_dtypes.bfloat16)
        return d.reshape(-1, case.n)

    def check(self, case):
        """Registers and largest error in units of the bound; raises Failure."""
        folder = self.work / case.name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        source, status, message = self.translate(case, folder)
        if status:
            raise Failure(f"blockscale-translate: {message[:300]}")
        registers = self.assemble(case, folder)
        if case.data == "hostile":
            self.checkBits(case, folder, source)
            shutil.rmtree(folder)
            return registers, 0.0
        inputs, exact, allowed = self.operands(case, folder)
        worst = self.compare(exact, allowed, self.execute(case, folder, source, inputs).astype(np.float64))
        shutil.rmtree(folder)
        return registers, worst

    def compare(self, exact, allowed, d):
        if np.isnan(d).any():
            raise Failure("the result has a NaN")
        error = np.abs(d - exact)
        if allowed is None:
            if error.max() > 0:
                row, column = np.unravel_index(error.argmax(), error.shape)
                raise Failure(f"integer data: D[{row},{column}] is {d[row, column]}, "
                              f"must be {exact[row, column]} ({np.count_nonzero(error)} differ)")
            return 0.0
        ratio = error / np.maximum(allowed, 1e-300)
        if ratio.max() > 1:
            row, column = np.unravel_index(ratio.argmax(), ratio.shape)
            raise Failure(f"D[{row},{column}] is {d[row, column]}, must be {exact[row, column]} "
                          f"within {allowed[row, column]}")
        return float(ratio.max())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--ptxas", required=True)
    parser.add_argument("--full", action="store_true", help="every combination instead of every pair")
    parser.add_argument("--limit", type=int, help="only the first so many cases")
    parser.add_argument("--only", help="cases whose name matches this regular expression")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()

    matrix = Matrix(args)
    work = [(case, matrix.check) for case in kernel_cases.cases(args.full)]
    work += [(case, matrix.check) for case in kernel_cases.hostileCases()]
    work += [(case, matrix.check) for case in kernel_cases.repitchedCases()]
    if args.only:
        work = [(case, check) for case, check in work if re.search(args.only, case.name)]
    work = work[:args.limit]

    def one(item):
        case, check = item
        begin = time.monotonic()
        try:
            return case, check(case), None, time.monotonic() - begin
        except (Failure, subprocess.TimeoutExpired, OSError, ValueError) as failure:
            return case, None, str(failure), time.monotonic() - begin

    checked = failed = 0
    worst, registers = 0.0, 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for case, result, failure, seconds in pool.map(one, work):
            if failure:
                failed += 1
                print(f"FAILED {case.name}: {failure}", flush=True)
            else:
                checked += 1
                registers, worst = max(registers, result[0]), max(worst, result[1])
                verdict = (f"every bit is that of {kernel_data.hostileSource(case.arch, case.instK)[1]}" if case.data == "hostile"
                           else f"error {result[1]:.3f} of the bound")
                print(f"ok {case.name}: {result[0]} registers, {verdict}, {seconds:.1f} s", flush=True)
    print(f"kernels.checked = {checked}")
    print(f"kernels.failed = {failed}")
    print(f"kernels.bit_equal = {matrix.bitEqual}")
    print(f"kernels.flipped_bits_reported = {matrix.flipsReported}")
    print(f"kernels.spill_bytes = {matrix.spillBytes}")
    print(f"kernels.most_registers = {registers}")
    print(f"kernels.largest_error_of_bound = {worst:.3f}")
    sys.exit(1 if failed or not checked else 0)


if __name__ == "__main__":
    main()
