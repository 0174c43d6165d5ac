# ===- clang_warnings.py - clang's warnings over the release build ---------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# g++ and, without MLIR, clang build the tree with warnings as errors. This pass
# lets clang parse what that build lacks with the release build's own flags. A file
# whose inputs did not change since it last passed is skipped (build/lint-stamps).
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
        elif word not in ("-c", "-MD", "-MMD", "-fpch-preprocess"):
            kept.append(word)
    # Last words win. The deprecated name is libstdc++'s own, in std::stable_sort.
    return [CLANG, "-fsyntax-only", *kept, "-Werror", "-Wall", "-Wextra", "-Wno-unused-parameter",
            "-Wno-unknown-pragmas", "-Wno-ignored-gch", "-Wno-deprecated-declarations"]


def digestOf(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def isUnchanged(stamp):
    """True when every input of the last passing run has the same bytes."""
    try:
        return all(digestOf(path) == digest for path, digest in json.loads(stamp.read_text()).items())
    except (OSError, ValueError):
        return False


def checkOne(entry, stamps):
    command = syntaxCommand(entry)
    stamp = stamps / hashlib.sha256(" ".join(command).encode()).hexdigest()
    if isUnchanged(stamp):
        return ""
    stamp.unlink(missing_ok=True)
    inputs = stamp.with_suffix(".d")
    ran = subprocess.run([*command, "-MMD", "-MF", str(inputs)], cwd=entry["directory"], capture_output=True,
                         text=True)
    if ran.returncode:
        return ran.stderr
    words = inputs.read_text().replace("\\\n", " ").split()
    stamp.write_text(json.dumps({path: digestOf(path) for path in
                                 (str(pathlib.Path(entry["directory"], word)) for word in words[1:])}))
    return ""


def readCommands(build):
    return json.loads((build / "compile_commands.json").read_text())


def check(context):
    try:
        entries = readCommands(context.build)
        judged = {e["file"] for e in readCommands(context.clangBuild)} if context.clangBuild else set()
    except OSError as error:
        return [f"no compile commands: {error}"]
    entries = [e for e in entries
               if e["file"].startswith(str(context.root)) and e["file"].endswith(".cpp")
               and not e["file"].startswith(str(context.build)) and e["file"] not in judged]
    stamps = context.build / "lint-stamps"
    stamps.mkdir(exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        outputs = list(pool.map(lambda entry: checkOne(entry, stamps), entries))
    complaints = []
    for output in outputs:
        complaints += [line.replace(f"{context.root}/", "") for line in output.splitlines()
                       if " error: " in line or " warning: " in line]
    return complaints
