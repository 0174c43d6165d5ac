# ===- lint.py - every check of the sources, one line each -----------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A check is a function from the context to a list of complaints, each with file
# and line. All checks run; the last line counts them. Clang's warnings are the
# build's: it takes them for errors.
#
# ===-----------------------------------------------------------------------===#

import argparse
import pathlib
import subprocess
import sys
import time

import fault_codes
import generated_docs
import rule_labels
import sources


class Context:
    """The checkout, its tracked files, and the release build."""

    def __init__(self, build):
        self.root = pathlib.Path(__file__).resolve().parents[2]
        self.build = build
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                cwd=self.root, check=True, capture_output=True, text=True)
        self.files = [name for name in sorted(listed.stdout.split("\0"))
                      if name and (self.root / name).is_file()]

    def named(self, *suffixes):
        return [name for name in self.files if name.endswith(suffixes)]

    def text(self, name):
        return (self.root / name).read_text(encoding="utf-8", errors="replace")


CHECKS = [
    ("format", sources.checkFormat),
    ("banner", sources.checkBanners),
    ("absolute paths", sources.checkAbsolutePaths),
    ("chips compared by number", sources.checkChipOrder),
    ("namespaces in headers", sources.checkHeaders),
    ("shell syntax", sources.checkShell),
    ("python syntax", sources.checkPython),
    ("rule labels", rule_labels.check),
    ("fault codes", fault_codes.check),
    ("generated docs", generated_docs.check),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--only", help="run the checks whose name holds this")
    args = parser.parse_args()

    context = Context(args.build.resolve())
    failed, ran = 0, 0
    for name, check in CHECKS:
        if args.only and args.only not in name:
            continue
        begin = time.monotonic()
        complaints = check(context)
        ran += 1
        failed += bool(complaints)
        for complaint in complaints:
            print(f"  {complaint}")
        verdict = f"{len(complaints)} complaint(s)" if complaints else "ok"
        print(f"lint {name}: {verdict} ({time.monotonic() - begin:.1f} s)", flush=True)

    for name in sources.longFiles(context):
        print(f"note: {name}")
    reports = context.build / "reports"
    reports.mkdir(exist_ok=True)
    (reports / "lint.txt").write_text(f"{ran - failed} {failed}\n")
    print(f"lint: {ran - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
