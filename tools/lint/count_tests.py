# ===- count_tests.py - counts the cases of JUnit reports ------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ctest and lit write JUnit files; a step that died before it wrote one, or that
# ran nothing, counts as a failure. A program of unit tests is one test of ctest, and
# its cases are counted instead, from the report that it writes itself. The last line
# is `N passed, N failed`.
#
# ===-----------------------------------------------------------------------===#

import argparse
import pathlib
import sys
import xml.etree.ElementTree as ET


def countReport(path, programs):
    """(passed, skipped, [names of failed]) of one JUnit file; `programs` has the reports
    of the tests that are whole programs of unit tests."""
    passed, skipped, failed = 0, 0, []
    for case in ET.parse(path).iter("testcase"):
        name = f"{case.get('classname') or ''} {case.get('name')}".strip()
        program = programs / f"{case.get('name')}.xml"
        if program.exists():
            inner = countReport(program, programs / "none")
            passed, skipped, failed = passed + inner[0], skipped + inner[1], failed + inner[2]
            # It may have died after its last case, too.
            if inner[2] or case.find("failure") is None and case.get("status") != "fail":
                continue
        status = case.get("status", "")
        skip = case.find("skipped")
        # ctest reports a test whose program is missing as skipped, too.
        missing = skip is not None and "Unable to find executable" in skip.get("message", "")
        if case.find("failure") is not None or case.find("error") is not None or status == "fail":
            failed.append(name)
        elif missing or (status == "notrun" and skip is None):
            failed.append(name)
        elif skip is not None or status == "disabled":
            skipped += 1
        else:
            passed += 1
    return passed, skipped, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=pathlib.Path, required=True)
    parser.add_argument("--programs", type=pathlib.Path, nargs="+", required=True,
                        help="for each of --expect the folder of its programs' reports")
    parser.add_argument("--expect", nargs="+", required=True, help="reports that must be there")
    args = parser.parse_args()

    allPassed, allFailed = 0, []
    for name, programs in zip(args.expect, args.programs, strict=True):
        path = args.reports / f"{name}.xml"
        try:
            passed, skipped, failed = countReport(path, programs)
        except (OSError, ET.ParseError) as error:
            passed, skipped, failed = 0, 0, [f"{name}: no report ({error})"]
        if passed + len(failed) == 0:
            failed = [f"{name}: ran no test"]
        print(f"{name}: {passed} passed, {len(failed)} failed, {skipped} skipped")
        allPassed += passed
        allFailed += [f"{name}: {case}" for case in failed]

    for case in allFailed:
        print(f"FAILED {case}")
    (args.reports / "tests.txt").write_text(f"{allPassed} {len(allFailed)}\n")
    print(f"{allPassed} passed, {len(allFailed)} failed")
    sys.exit(1 if allFailed else 0)


if __name__ == "__main__":
    main()
