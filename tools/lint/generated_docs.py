# ===- generated_docs.py - the pages under docs/ that tools write ----------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each page is committed, and made again here: `tools/dev lint` compares,
# `tools/dev docs` rewrites.
#
# ===-----------------------------------------------------------------------===#

import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def printed(*command):
    """What a command prints, or an error for the caller."""
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if ran.returncode:
        raise RuntimeError(f"{command[0]}: {ran.stderr.strip()}")
    return ran.stdout


def factsPage(build):
    return printed(build / "bin" / "blockscale-explain", "docs")


def hazardsPage(build):
    return printed(build / "bin" / "blockscale-explain", "docs", "hazards")


def coveragePage(build):
    return printed(build / "bin" / "blockscale-bench-forms", "--page")


def tableDocs(kind, *source):
    """What mlir-tblgen writes of a .td file below include/blockscale."""
    body = printed("/usr/lib/llvm-22/bin/mlir-tblgen", *kind, f"-I{ROOT / 'include'}", "-I/usr/lib/llvm-22/include",
                   ROOT / "include/blockscale" / pathlib.Path(*source))
    return "\n".join(line.rstrip() for line in body.splitlines()) + "\n"


def dialectPage(build):
    return tableDocs(["-gen-dialect-doc", "-dialect=blockscale"], "Dialect/Blockscale/IR/BlockscaleOps.td")


def passesPage(build):
    """In the order of the levels."""
    parts = [tableDocs(["-gen-pass-doc"], *source, "Passes.td")
             for source in (["Dialect", "Blockscale", "Transforms"], ["Conversion"], ["Conversion", "Host"])]
    return ("# Passes\n\nGenerated from the `Passes.td` files; do not edit. `./tools/dev docs` rewrites it, and a test fails when it is stale. "
            "`blockscale-opt --help`\nhas the pipelines that they make.\n\n" + "\n".join(parts))


def matrixPage(build):
    return printed(sys.executable, ROOT / "test/tools/format_matrix.py", "--build", build,
                   "--work", build / "matrix-page", "--page")


PAGES = {"docs/Facts.md": factsPage, "docs/Hazards.md": hazardsPage,
         "docs/PtxCoverage.md": coveragePage, "docs/Dialect.md": dialectPage,
         "docs/Passes.md": passesPage, "docs/Matrix.md": matrixPage}


def check(context):
    complaints = []
    for name, make in PAGES.items():
        path = context.root / name
        try:
            if not path.exists() or path.read_text() != make(context.build):
                complaints.append(f"{name}:1: stale, run ./tools/dev docs")
        except (RuntimeError, OSError) as error:
            complaints.append(f"{name}:1: cannot be made: {error}")
    return complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--write", action="store_true", required=True)
    args = parser.parse_args()
    for name, make in PAGES.items():
        path = ROOT / name
        path.parent.mkdir(exist_ok=True)
        text = make(args.build)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
            print(f"wrote {name}")
    sys.exit(0)


if __name__ == "__main__":
    main()
