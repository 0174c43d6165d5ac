# ===- clang_warnings.py - clang's warnings over the release build ---------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# g++ and, without MLIR, clang build the tree with warnings as errors. This pass
# lets clang parse what that build lacks with the release build's own flags, behind a
# precompiled header of its own where that build has one. A file whose inputs did not
# change since it last passed is skipped (build/lint-stamps).
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


# Last words win. The deprecated name is libstdc++'s own, in std::stable_sort.
WARNINGS = ["-Werror", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Wno-unknown-pragmas",
            "-Wno-deprecated-declarations"]


def flagsOf(entry):
    """The flags and the source of one compile command, and the header that it precompiles."""
    words = shlex.split(entry["command"])
    words = words[next(i for i, w in enumerate(words) if os.path.basename(w).startswith(("c++", "g++", "clang++"))) + 1:]
    kept, header = [], None
    words = iter(words)
    for word in words:
        if word in DROPPED:
            next(words)
        elif word == "-include":
            header = next(words)
        elif word not in ("-c", "-MD", "-MMD", "-fpch-preprocess"):
            kept.append(word)
    return kept, header


def digestOf(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def isUnchanged(stamp):
    """True when every input of the last passing run has the same bytes."""
    try:
        return all(digestOf(path) == digest for path, digest in json.loads(stamp.read_text()).items())
    except (OSError, ValueError):
        return False


def stampOf(command, stamps):
    return stamps / hashlib.sha256(" ".join(command).encode()).hexdigest()


def runClang(command, directory, stamp, listing):
    """Runs a command of clang unless its inputs are those of the last passing run; what it complains about."""
    if isUnchanged(stamp):
        return ""
    stamp.unlink(missing_ok=True)
    inputs = stamp.with_suffix(".d")
    ran = subprocess.run([*command, listing, "-MF", str(inputs)], cwd=directory, capture_output=True, text=True)
    if ran.returncode:
        return ran.stderr
    words = inputs.read_text().replace("\\\n", " ").split()
    stamp.write_text(json.dumps({path: digestOf(path) for path in
                                 (str(pathlib.Path(directory, word)) for word in words[1:])}))
    return ""


def precompile(entries, stamps):
    """Clang's form of each header that the release build precompiles: paths, and what it complains about."""
    paths, complaints = {}, ""
    for entry in entries:
        flags, header = flagsOf(entry)
        if header and header not in paths:
            flags.remove(entry["file"])
            command = [CLANG, "-x", "c++-header", *flags, *WARNINGS, "-Wno-pragma-system-header-outside-header", header]
            stamp = stampOf(command, stamps)
            paths[header] = str(stamp.with_suffix(".pch"))
            # Headers of the system, too: a newer one makes the form useless.
            complaints += runClang([*command, "-o", paths[header]], entry["directory"], stamp, "-MD")
    return paths, complaints


def checkOne(entry, paths, stamps):
    flags, header = flagsOf(entry)
    command = [CLANG, "-fsyntax-only", *(["-include-pch", paths[header]] if header else []), *flags, *WARNINGS]
    return runClang(command, entry["directory"], stampOf(command, stamps), "-MMD")


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
    paths, output = precompile(entries, stamps)
    outputs = [output]
    if not output:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            outputs = list(pool.map(lambda entry: checkOne(entry, paths, stamps), entries))
    complaints = []
    for output in filter(None, outputs):
        lines = output.replace(f"{context.root}/", "").splitlines()
        complaints += [line for line in lines if " error: " in line or " warning: " in line] or lines[:1]
    return complaints
