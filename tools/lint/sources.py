# ===- sources.py - checks that need nothing but the sources ---------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#

import ast
import re
import subprocess

CXX = (".h", ".cpp")
BANNERED = (".h", ".cpp", ".td", ".py", ".cfg.py")
SPDX = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
SOFT_CAP = 400


def matches(context, names, pattern, message):
    """One complaint for each line of `names` that `pattern` finds."""
    complaints = []
    for name in names:
        for number, line in enumerate(context.text(name).splitlines(), 1):
            found = pattern.search(line)
            if found:
                complaints.append(f"{name}:{number}: {message}: {found.group(0).strip()}")
    return complaints


def checkFormat(context):
    files = context.named(*CXX)
    ran = subprocess.run(["clang-format-22", "--dry-run", "-Werror", "--ferror-limit=1", *files],
                         cwd=context.root, capture_output=True, text=True)
    lines = [line for line in ran.stderr.splitlines() if "error:" in line]
    return lines or (["clang-format-22 failed"] if ran.returncode else [])


def checkBanners(context):
    return [f"{name}:1: no SPDX line in the first ten lines"
            for name in context.named(*BANNERED)
            if SPDX not in "\n".join(context.text(name).splitlines()[:10])]


def checkAbsolutePaths(context):
    # Where Debian keeps LLVM is a fact of the platform; everything else is somebody's machine.
    pattern = re.compile(r"""(?<![\w.}$)\]/-])/(?:work|home|root|tmp|mnt|opt|usr(?!/bin/env\b|/lib/llvm-22\b|/bin/python3\b))/[\w.-]+""")
    skipped = ("LICENSE", "tools/lint/sources.py")
    names = [n for n in context.files
             if not n.startswith("test/data/") and not n.endswith(skipped)]
    return matches(context, names, pattern, "absolute path")


def checkChipOrder(context):
    # Chips are a partial order: covers(have, need), never sm >= 100.
    pattern = re.compile(r"\b(?:sm|arch|chip)\w*\s*(?:>=|<=|<|>)\s*\d{2,3}\b")
    return matches(context, [n for n in context.named(*CXX) if n.startswith(("include/", "lib/", "tools/"))],
                   pattern, "chips compared by number")


def checkHeaders(context):
    return matches(context, [n for n in context.named(".h") if not n.startswith("test/")], re.compile(r"^\s*using namespace\b.*"),
                   "using namespace in a header")


def checkShell(context):
    complaints = []
    for name in context.files:
        if not context.text(name).startswith(("#!/usr/bin/env bash", "#!/bin/bash", "#!/bin/sh")):
            continue
        ran = subprocess.run(["bash", "-n", name], cwd=context.root, capture_output=True, text=True)
        complaints += ran.stderr.splitlines()
    return complaints


def checkPython(context):
    complaints = []
    for name in context.named(".py"):
        try:
            ast.parse(context.text(name), filename=name)
        except SyntaxError as error:
            complaints.append(f"{name}:{error.lineno}: {error.msg}")
    return complaints


def longFiles(context):
    """Files over the soft cap: worth a look, not a failure."""
    for name in context.named(".h", ".cpp", ".td", ".py"):
        lines = context.text(name).count("\n")
        if lines > SOFT_CAP and not name.startswith("test/"):
            yield f"{name} has {lines} lines (soft cap {SOFT_CAP})"
