# ===- fault_codes.py - every refusal of a running kernel says what lacks ---===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What the emulator refuses while a kernel runs begins with a code, `mbar_init: ...`, and
# goes on with what is missing or wrong by the code's row in Hazards/Faults.cpp. Each code
# of a message needs a row, each row a message and a test; so does each hazard rule.
#
# ===-----------------------------------------------------------------------===#

import re

# A rule that says so in its note.
UNSEEN = "not to be seen in PTX"
RULES = "lib/Emulator/Hazards/Rules.cpp"
TABLE = "lib/Emulator/Hazards/Faults.cpp"
ROW = re.compile(r'^    \{"([a-z0-9_]+)", ')
CODE = re.compile(r'"([a-z][a-z0-9]*(?:_[a-z0-9]+)*): ')
PLAIN = re.compile(r'"(deadlock|livelock|exit|trap|limit)\b')
# A barrier two generations ahead of who has not read its result: no scheduling of today
# brings it about.
UNTESTED = {"bar_reduce"}
# Refused before a kernel runs: when it is loaded, when it is launched, or by the host.
EARLY = re.compile(r"(ptx|launch)_|mem_(host|size|release)$|(wgmma_form|early)$")


def check(context):
    rows = {found.group(1): f"{TABLE}:{number}" for number, line in enumerate(context.text(TABLE).splitlines(), 1)
            if (found := ROW.match(line))}
    said = {}
    for name in context.named(".cpp", ".h"):
        if not name.startswith(("lib/Emulator/", "lib/Facts/")) or name == TABLE:
            continue
        for number, line in enumerate(context.text(name).splitlines(), 1):
            if line.lstrip().startswith("//"):
                continue
            for code in CODE.findall(line) + PLAIN.findall(line):
                # idesc_c5 has the row idesc_c; collector_ is followed by the operand's letter.
                said.setdefault(re.sub(r"_c\d+$", "_c", code), f"{name}:{number}")
            if '"collector_"' in line:
                said.update({f"collector_{letter}": f"{name}:{number}" for letter in "ab"})
    emulator = {code: where for code, where in said.items() if where.startswith("lib/Emulator/")}
    complaints = [f"{where}: refusal {code} has no row in {TABLE}"
                  for code, where in emulator.items() if code not in rows and not EARLY.match(code)]
    complaints += [f"{where}: row {code} has no message" for code, where in rows.items() if code not in said]
    tests = "\n".join(context.text(n) for n in context.files
                      if n.startswith("test/") and n.endswith((".cpp", ".h", ".mlir", ".test", ".py")))
    rules = context.text(RULES)
    for found in re.finditer(r'^    \{"([A-Z0-9s]+)", HazardLevel::(.*?)\},$', rules, re.M | re.S):
        label, row = found.groups()
        if UNSEEN not in row and not re.search(rf"\b{label}(\b|_)", tests):
            complaints.append(f"{RULES}:{rules.count(chr(10), 0, found.start()) + 1}: hazard rule {label} has no test")
    complaints += [f"{where}: row {code} has no test" for code, where in rows.items()
                   if code not in tests and code not in UNTESTED]
    return sorted(complaints)
