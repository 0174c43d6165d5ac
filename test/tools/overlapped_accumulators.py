# ===- overlapped_accumulators.py - when an accumulator may be given back ---===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: overlapped_accumulators.py BUILD PRODUCT.mlir
# A scheduled product with overlapped accumulators gives the bits that it gives with one;
# its machine-level dump with a release one load too early is reported.
#
# ===-----------------------------------------------------------------------===#

import pathlib
import re
import subprocess
import sys
import tempfile

from ir_mutations import Runner

ROOT = pathlib.Path(__file__).resolve().parents[2]
RELEASE_EARLY = ROOT / "test" / "Dialect" / "Blockscale" / "Inputs" / "release_early.py"


def lower(build, text, *passes):
    ran = subprocess.run([f"{build}/bin/blockscale-opt", "-", *passes], input=text, capture_output=True, text=True)
    if ran.returncode:
        sys.exit(ran.stderr)
    return ran.stdout


def execute(runner, name, text):
    for step in (runner.translate(name, text), runner.run(name)):
        if step.returncode:
            sys.exit(f"{name} must run, got {step.stderr}")
    return runner.result(name)


def main():
    build, path = sys.argv[1:]
    product = pathlib.Path(path).read_text()
    levels = ("--blockscale-lower-gemm-to-kernel", "--blockscale-lower-kernel-to-machine")
    machine = lower(build, product, *levels)
    single = re.sub(r",\s*accumulator_columns = overlapped", "", product).replace("accumulators = 2", "accumulators = 1")
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(build, folder)
        runner.makeInputs(machine)
        if execute(runner, "overlapped", machine) != execute(runner, "single", lower(build, single, *levels)):
            sys.exit("overlapped accumulators must give the bits of one, got others")
        print("the bits of one accumulator")
        dump = pathlib.Path(folder) / "machine.mlir"
        dump.write_text(machine)
        early = subprocess.run([sys.executable, RELEASE_EARLY, dump], capture_output=True, text=True, check=True).stdout
        if (ran := runner.translate("early", early)).returncode:
            sys.exit(f"the mutant must compile, got {ran.stderr}")
        ran = runner.run("early")
        report = next((line for line in ran.stderr.splitlines() if ": hazard: " in line), None)
        if ran.returncode != 1 or report is None:
            sys.exit(f"the mutant must be reported, got status {ran.returncode} and {ran.stderr}")
        print(f"released early: {report}")


if __name__ == "__main__":
    main()
