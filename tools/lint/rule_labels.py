# ===- rule_labels.py - every rule has text, code, message and a test ------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A rule is named by a label, `gemm_c2`. Labels of ops and attributes are read
# from the ODS descriptions; the code names the label in the message it prints,
# and a test checks that message. Labels outside ODS (facts, emulator, tools)
# need code and a test.
#
# ===-----------------------------------------------------------------------===#

import re

LABEL = re.compile(r"\b[a-z][a-z0-9]*(?:_[a-z0-9]+)*_c\d+\b")
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')


# Code shared by several ops adds the number to their name: label("_c2: ...").
SUFFIX = re.compile(r'^"(_c\d+)\b')


def sharedLabels(text):
    """Labels that a file composes: each number for each op that the file names."""
    strings = STRING.findall(text)
    prefixes = {label.rsplit("_c", 1)[0] for string in strings for label in LABEL.findall(string)}
    return [prefix + suffix for string in strings for suffix in SUFFIX.findall(string) for prefix in sorted(prefixes)]


def labelsOf(context, names, onlyStrings=False):
    """label -> first `file:line` where it stands."""
    found = {}
    for name in names:
        for number, line in enumerate(context.text(name).splitlines(), 1):
            texts = STRING.findall(line) if onlyStrings else [line]
            for text in texts:
                for label in LABEL.findall(text):
                    found.setdefault(label, f"{name}:{number}")
    return found


def check(context):
    inOds = labelsOf(context, [n for n in context.named(".td") if n.startswith("include/")])
    inCode = labelsOf(context, [n for n in context.named(".cpp", ".h")
                                if n.startswith(("lib/", "include/", "tools/"))], onlyStrings=True)
    shared = {label for name in context.named(".cpp") if name.startswith("lib/")
              for label in sharedLabels(context.text(name))}
    inTests = labelsOf(context, [n for n in context.files
                                 if n.startswith("test/") and not n.startswith("test/data/")])
    complaints = [f"{where}: rule {label} has no message in the code"
                  for label, where in inOds.items() if label not in inCode and label not in shared]
    complaints += [f"{where}: rule {label} has no text in ODS"
                   for label, where in inCode.items()
                   if where.startswith("lib/Dialect/Blockscale/IR/") and label not in inOds]
    complaints += [f"{where}: rule {label} has no test"
                   for label, where in {**inCode, **inOds}.items() if label not in inTests]
    return sorted(complaints)
