# ===- no_halves.py - no f16 between an mma of bytes and a store --------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: no_halves.py KERNEL.ptx
# Follows the sums of every mma.sync of s8 from register to register, round loops too, and fails
# where an instruction of f16 or bf16 reads one. The f32 accumulators of an mma of bf16 are none.
#
# ===-----------------------------------------------------------------------===#

import pathlib
import re
import sys

REGISTER = re.compile(r"%\w+")


def instructions(text):
    """Opcode, registers that are written, and groups of those that are read, of each statement."""
    for statement in re.sub(r"//.*", "", text).split(";"):
        found = re.search(r"(?:^|\s)([a-z][\w.:]*)\s+([%\[{].*)$", " ".join(statement.split()))
        if not found:
            continue
        opcode, operands = found[1], found[2]
        groups = [REGISTER.findall(g) for g in re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,{}\[\]]+", operands)]
        groups = [g for g in groups if g]
        writes = [] if opcode.startswith(("st.", "bra", "bar", "cp.", "red.", "mbarrier")) else groups[:1]
        yield opcode, sum(writes, []), groups[len(writes):]


def main():
    text = pathlib.Path(sys.argv[1]).read_text()
    program = list(instructions(text))
    sums = {r for opcode, writes, _ in program if re.match(r"mma\.sync.*\.s32\.s8\.s8\.s32", opcode) for r in writes}
    if not sums:
        sys.exit("must hold an mma of s8, got none")
    size = stores = -1
    while size != len(sums):
        size, stores = len(sums), 0
        for opcode, writes, reads in program:
            isMma = opcode.startswith("mma.sync") and ".f32.bf16.bf16.f32" in opcode
            seen = reads[-1:] if isMma else reads
            if isMma and any(r in sums for group in reads[:-1] for r in group):
                sys.exit(f"a sum is a factor of {opcode}")
            if not any(r in sums for group in seen for r in group):
                continue
            if "f16" in opcode and not isMma:
                sys.exit(f"no f16 may lie between an mma and a store, got {opcode} of a sum")
            stores += opcode.startswith("st.")
            sums.update(writes)
    if not stores:
        sys.exit("sums must reach a store, got none")
    print(f"{len(sums)} registers of sums, {stores} stores, no f16")


if __name__ == "__main__":
    main()
