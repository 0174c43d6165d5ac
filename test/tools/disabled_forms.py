# ===- disabled_forms.py - does a test see each handler do nothing? --------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
#
# usage: disabled_forms.py --build BUILD [--only TEXT] [--inventory]
#
# Disables each executed form in turn - every row of docs/PtxCoverage.md with every one of
# its modifiers - and runs the unit tests whose PTX uses it: one of them must fail. Forms
# that kernels of other compilers hold (test/data/ptx-forms/inventory.txt) are disabled by
# their spelling, too, and so would be a form without a row. Prints the
# forms that no test misses, and how many they are; hints do nothing anyway and are counted
# only. One build: an environment variable names the form, and a first run of all tests
# says which tests use which. Minutes long: a bench,
# not a test. --only takes forms that contain TEXT, --inventory the spellings alone.

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
# Tests that disable forms themselves.
OWN = "*GoesWrongWithoutItsHandler*"
# A kernel that lacks a form may poll for long: then the form is missed.
TIMEOUT = 120
ROWLESS = "rowless "
FIRST_BATCH, BATCH = 4, 60


def inventory():
    """Spellings in kernels of other compilers."""
    forms = []
    for line in (DATA / "ptx-forms" / "inventory.txt").read_text().splitlines():
        found = re.match(r"- \*\*(\w+)\*\*: (.*)", line)
        if found:
            for rest in re.findall(r"`([^`]*)`", found.group(2)):
                forms.append(found.group(1) + ("" if rest == "(plain)" else "." + rest))
    return forms


class Tests:
    """The unit tests, with the forms and the time of each."""

    def __init__(self, program):
        self.program = program
        self.uses = collections.defaultdict(set)
        self.seconds = {}
        self.rowless = set()
        with tempfile.TemporaryDirectory() as folder:
            used, report = pathlib.Path(folder) / "used", pathlib.Path(folder) / "report.xml"
            environment = {**os.environ, "BLOCKSCALE_USED_FORMS": str(used)}
            ran = subprocess.run([program, "--gtest_brief=1", f"--gtest_filter=-{OWN}",
                                  f"--gtest_output=xml:{report}"], env=environment, capture_output=True)
            if ran.returncode:
                sys.exit("error: the unit tests must pass first")
            for line in used.read_text().splitlines():
                test, form = line.split("\t", 1)
                self.uses[form.removeprefix(ROWLESS)].add(test)
                if form.startswith(ROWLESS):
                    self.rowless.add(form.removeprefix(ROWLESS))
            for case in xml.etree.ElementTree.parse(report).iter("testcase"):
                self.seconds[f"{case.get('classname')}.{case.get('name')}"] = float(case.get("time"))

    def fail(self, form, tests):
        """Does one of these tests fail without the form?"""
        tests = sorted(tests, key=lambda test: self.seconds[test])
        size = FIRST_BATCH
        while tests:
            batch, tests = tests[:size], tests[size:]
            size = BATCH
            try:
                ran = subprocess.run([self.program, "--gtest_brief=1", "--gtest_fail_fast",
                                      "--gtest_filter=" + ":".join(batch)],
                                     env={**os.environ, "BLOCKSCALE_DISABLED_FORM": form},
                                     capture_output=True, timeout=TIMEOUT)
            except subprocess.TimeoutExpired:
                return True
            if ran.returncode:
                return True
        return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--inventory", action="store_true")
    args = parser.parse_args()
    tests = Tests(args.build / "test" / "Unit" / "EmulatorTests")
    forms = sorted({*inventory(), *tests.rowless})
    if not args.inventory:
        listed = subprocess.run([args.build / "bin" / "blockscale-bench-forms", "--forms"], check=True,
                                capture_output=True, text=True).stdout.splitlines()
        forms = listed + forms
    forms = [form for form in forms if args.only in form]
    executed = [form for form in forms if not tests.uses["hint " + form]]
    unseen = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for form, seen in zip(executed, pool.map(lambda form: tests.fail(form, tests.uses[form]), executed)):
            if not seen:
                print(f"no test {'sees' if tests.uses[form] else 'uses'} {form!r}", flush=True)
            unseen += not seen
    print(f"forms.disabled = {len(executed)}\nforms.hints = {len(forms) - len(executed)}\nforms.unseen = {unseen}")


if __name__ == "__main__":
    main()
