# ===- disabled_forms.py - does a test see each handler do nothing? --------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
#
# usage: disabled_forms.py --build BUILD
#
# Forms of test/data/form-cases/cases.txt are disabled one at a time by the unit test
# that runs them. Every other form that kernels of other compilers hold (the list in
# test/data/ptx-forms/inventory.txt) is disabled here, by an environment variable that
# the tests read, and some unit test must fail. Prints the forms that no test misses,
# and how many they are. Minutes long: a bench, not a test.

import argparse
import os
import pathlib
import re
import subprocess
import sys

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"


def inventory():
    forms = []
    for line in (DATA / "ptx-forms" / "inventory.txt").read_text().splitlines():
        found = re.match(r"- \*\*(\w+)\*\*: (.*)", line)
        if found:
            for rest in re.findall(r"`([^`]*)`", found.group(2)):
                forms.append(found.group(1) + ("" if rest == "(plain)" else "." + rest))
    return forms


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    args = parser.parse_args()
    cases = {line.split()[1] for line in (DATA / "form-cases" / "cases.txt").read_text().splitlines()
             if line.startswith("case ")}
    program = args.build / "test" / "Unit" / "EmulatorTests"
    if subprocess.run([program, "--gtest_brief=1"], capture_output=True).returncode:
        sys.exit("error: the unit tests must pass first")
    unseen = []
    for form in inventory():
        if form in cases:
            continue
        environment = {**os.environ, "BLOCKSCALE_DISABLED_FORM": form}
        try:
            ran = subprocess.run([program, "--gtest_brief=1", "--gtest_filter=-All/Forms.*"], env=environment,
                                 capture_output=True, timeout=120)
            seen = ran.returncode != 0
        except subprocess.TimeoutExpired:
            seen = True
        if not seen:
            unseen.append(form)
            print(f"no test sees {form}", flush=True)
    print(f"forms.cases = {len(cases)}\nforms.unseen = {len(unseen)}")


if __name__ == "__main__":
    main()
