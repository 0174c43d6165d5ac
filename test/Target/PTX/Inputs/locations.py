# locations.py - does each line of PTX lead to the op that it names?
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: locations.py PTX SOURCE [OP]   every .loc that names an op must point at that
# op in SOURCE, or at OP where that is given. Prints each name once, with a count.

import collections
import re
import sys

ptx = open(sys.argv[1]).read()
source = open(sys.argv[2]).read().splitlines()
files = dict(re.findall(r'^\.file\s+(\d+)\s+"(.*)"$', ptx, re.M))
names = {label: bytes(int(byte) for byte in text.split(",")[:-1]).decode()
         for label, text in re.findall(r"^(\$L__info_string\d+):.*\n\.b8 ([\d,]+)$", ptx, re.M)}

seen, plain = collections.Counter(), set()
for number, line in enumerate(ptx.splitlines(), 1):
    loc = re.match(r"\t\.loc\t(\d+) (\d+) (\d+)(?:, function_name (\S+), inlined_at (.+))?$", line)
    if line.startswith(".visible .entry"):
        plain.clear()
    if not loc:
        assert ".loc" not in line, f"{number}: {line}"
        continue
    file, row, column, label, caller = loc.groups()
    if not label:
        plain.add(f"{file} {row} {column}")
        continue
    assert files[file] == sys.argv[2], f"{number}: file {files[file]}"
    assert caller in plain, f"{number}: {caller} has no .loc of its own above"
    want = sys.argv[3] if len(sys.argv) > 3 else names[label]
    there = source[int(row) - 1][int(column) - 1:]
    assert there.startswith(want), f"{number}: {names[label]} leads to '{there}'"
    seen[names[label]] += 1
for name, count in sorted(seen.items()):
    print(name, count)
