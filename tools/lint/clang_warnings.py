# ===- clang_warnings.py - clang's warnings over the release build ---------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# g++ and, without MLIR, clang build the tree with warnings as errors. This pass
# lets clang parse what is left with the release build's own flags. A file whose
# inputs did not change since it last passed is skipped (build/lint-stamps).
#
# ===-----------------------------------------------------------------------===#

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess

CLANG = "clang++-22"
DROPPED = ("-o", "-MF", "-MT", "-MQ")


def syntaxCommand(entry):
    """The compile command of one file as a clang -fsyntax-only command."""
    words = shlex.split(entry["command"])
    words = words[next(i for i, w in enumerate(words) if os.path.basename(w).startswith(("c++", "g++", "clang++"))) + 1:]
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in DROPPED:
            skip = True
        elif word not in ("-c", "-MD", "-MMD"):
            kept.append(word)
    return [CLANG, "-fsyntax-only", "-Werror", "-Wall", "-Wextra", "-Wno-unused-parameter",
            "-Wno-unknown-pragmas", *kept]


def inputsOf(command, directory):
    """The file itself and every header of ours that it reads, by clang's own word."""
    ran = subprocess.run([*command, "-MM", "-MF", "-"], cwd=directory, capture_output=True, text=True)
    words = ran.stdout.replace("\\\n", " ").split()
    return [pathlib.Path(directory, word) for word in words[1:]]


def checkOne(entry, stamps):
    command = syntaxCommand(entry)
    digest = hashlib.sha256(" ".join(command).encode())
    try:
        for path in inputsOf(command, entry["directory"]):
            digest.update(path.read_bytes())
        stamp = stamps / digest.hexdigest()
        if stamp.exists():
            return ""
    except OSError:
        stamp = None
    ran = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True)
    if ran.returncode == 0 and stamp:
        stamp.touch()
    return ran.stderr if ran.returncode else ""


def check(context):
    try:
        entries = json.loads((context.build / "compile_commands.json").read_text())
    except OSError as error:
        return [f"no compile commands: {error}"]
    entries = [e for e in entries
               if e["file"].startswith(str(context.root)) and e["file"].endswith(".cpp")
               and not e["file"].startswith(str(context.build))]
    stamps = context.build / "lint-stamps"
    stamps.mkdir(exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        outputs = list(pool.map(lambda entry: checkOne(entry, stamps), entries))
    complaints = []
    for output in outputs:
        complaints += [line.replace(f"{context.root}/", "") for line in output.splitlines()
                       if " error: " in line or " warning: " in line]
    return complaints
