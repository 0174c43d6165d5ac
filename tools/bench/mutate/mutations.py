# ===- mutations.py - one synchronising instruction changed at a time -------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# From the text of a kernel: every wait, arrival, fence, commit, barrier, group and
# allocation dropped, and every parity, byte number, count, stage, descriptor field,
# column, mask, memory order and proxy weakened, one in each mutant. Works on the PTX
# of any compiler: an operand is changed where it is used, through a register of its
# own in a scope of its own.
#
# ===-----------------------------------------------------------------------===#

import dataclasses
import re

INSTRUCTION = re.compile(r"^(?P<guard>@!?%\w+\s+)?(?P<opcode>[a-z][\w.:]*)\s*(?P<operands>[^;]*);(?P<rest>.*)$")
SCOPE_REGISTERS = {"b16": "%changed16", "b32": "%changed32", "b64": "%changed64"}
STAGE_BYTES = 8  # from one mbarrier to the next of its ring
BYTES_UNIT = 16

# Bits of an instruction descriptor and of a shared-memory descriptor: one of each field.
IDESC_FIELDS = {"sfb id": 1 << 4, "format of A": 1 << 7, "format of B": 1 << 10, "negate A": 1 << 13,
                "N": 1 << 17, "scale format": 1 << 23, "M": 1 << 27, "sfa id": 1 << 29}
SMEM_DESC_FIELDS = {"start": 2, "stride": 1 << 32, "version": 1 << 46, "base offset": 1 << 49, "swizzle": 1 << 61}


@dataclasses.dataclass(frozen=True)
class Mutant:
    kind: str  # `drop.wait`, `weaken.parity`, …: the family, for sampling
    line: int  # of the kernel's text, from 1
    what: str
    text: str  # the whole PTX


def splitOperands(text):
    """Operands at the top level of brackets and braces."""
    parts, depth, start = [], 0, 0
    for index, char in enumerate(text):
        depth += (char in "[{(") - (char in "]})")
        if char == "," and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    return [*parts, text[start:].strip()] if text.strip() else []


class Line:
    """One instruction, and ways to write it anew."""

    def __init__(self, match):
        self.guard = match["guard"] or ""
        self.opcode = match["opcode"]
        self.operands = splitOperands(match["operands"])

    def has(self, *modifiers):
        return all(modifier in self.opcode.split(".") for modifier in modifiers)

    def withOpcode(self, opcode):
        return f"{self.guard}{opcode} {', '.join(self.operands)};"

    def withOperand(self, index, operand):
        operands = [*self.operands]
        operands[index] = operand
        return f"{self.guard}{self.opcode} {', '.join(operands)};"

    def changed(self, index, operation, type_="b32"):
        """The instruction with an operand (or the register of an address) changed by one
        more instruction: `xor.b32 D, S, 1` is operation "xor.b32", "1"."""
        operand, register = self.operands[index], SCOPE_REGISTERS[type_]
        source, replacement = operand, register
        address = re.fullmatch(r"\[(%?\w+)((?:\s*\+\s*-?\d+)?)\]", operand)
        if address:
            source, replacement = address[1], f"[{register}{address[2]}]"
        opcode, value = operation
        body = self.withOperand(index, replacement).removeprefix(self.guard)
        return f"{{ .reg .{type_} {register}; {opcode} {register}, {source}, {value}; {self.guard}{body} }}"

    def moved(self, index, offset):
        """The instruction with the address operand moved by some bytes or columns."""
        address = re.fullmatch(r"\[\s*(.*?)\s*\]", self.operands[index])
        inner = address[1] if address else self.operands[index]
        match = re.fullmatch(r"(.+?)\s*\+\s*(-?\d+)", inner)
        base, old = (match[1], int(match[2])) if match else (inner, 0)
        return self.withOperand(index, f"[{base}+{old + offset}]")

    def addressOperand(self):
        return next((i for i, operand in enumerate(self.operands) if operand.startswith("[")), None)


NOTHING = "// dropped"
WARP_SYNC = "drop.warp_sync"


IDLE = (WARP_SYNC, "drop.group", "drop.barrier", "drop.tensor_wait")  # dropped, may be missed by nobody


def mayBeIdle(mutant):
    """Whether the mutant changes what may order nothing."""
    return mutant.kind in IDLE or mutant.kind == "weaken.group"


def mayPlace(ptx, mutant):
    """Whether it drops a bar.warp.sync, or a wait that leaves groups of wgmma at work."""
    if mutant.kind == WARP_SYNC:
        return True
    line = ptx.splitlines()[mutant.line - 1]
    return mutant.kind == "drop.group" and re.search(r"wgmma\.wait_group\S*\s+[1-9]", line) is not None


def waitVariants(line):
    predicate = line.operands[0]
    yield "drop.wait", "does not wait", f"{line.guard}mov.pred {predicate}, -1;"
    if line.has("parity"):
        yield "weaken.parity", "the other parity", line.changed(2, ("xor.b32", "1"))
    for offset in (STAGE_BYTES, -STAGE_BYTES):
        yield "weaken.stage", f"mbarrier {offset:+d} bytes", line.moved(1, offset)
    if not line.has("relaxed"):
        opcode = line.opcode.replace(".acquire", "").replace(".cta.", ".").replace(".cluster.", ".")
        opcode = re.sub(r"(_wait(?:\.parity)?)", r"\1.relaxed.cta", opcode)
        yield "weaken.order", "relaxed", line.withOpcode(opcode)


def arriveVariants(line):
    expects = line.has("expect_tx")
    address = line.addressOperand()
    if line.has("arrive") and not expects:
        yield "drop.arrive", "does not arrive", NOTHING
    if expects:
        yield "drop.expect", "does not arrive", NOTHING
        for value, what in ((BYTES_UNIT, "16 bytes more"), (-BYTES_UNIT, "16 bytes fewer")):
            yield "weaken.bytes", what, line.changed(len(line.operands) - 1, ("add.s32", str(value)))
        yield "weaken.bytes", "half the bytes", line.changed(len(line.operands) - 1, ("shr.u32", "1"))
    for offset in (STAGE_BYTES, -STAGE_BYTES):
        yield "weaken.stage", f"mbarrier {offset:+d} bytes", line.moved(address, offset)
    if line.has("arrive") and not line.has("relaxed") and not expects:
        opcode = line.opcode.replace(".release", "").replace(".cta.", ".").replace(".cluster.", ".")
        yield "weaken.order", "relaxed", line.withOpcode(opcode.replace("arrive", "arrive.relaxed.cta", 1))


def fenceVariants(line):
    yield "drop.fence", "no fence", NOTHING
    if line.has("proxy", "async"):
        yield "weaken.proxy", "of global memory only", f"{line.guard}fence.proxy.async.global;"
    if line.opcode.startswith("fence.acq_rel."):
        yield "weaken.scope", "of the CTA only", f"{line.guard}fence.acq_rel.cta;"


def barrierVariants(line):
    family = WARP_SYNC if line.has("warp") else "drop.barrier"
    yield family, "no barrier", NOTHING
    if line.has("cluster", "arrive") and not line.has("relaxed"):
        yield "weaken.order", "relaxed", line.withOpcode(line.opcode.replace("arrive", "arrive.relaxed"))


def commitVariants(line):
    address = line.addressOperand()
    yield "drop.commit", "no commit", NOTHING
    for offset in (STAGE_BYTES, -STAGE_BYTES):
        yield "weaken.stage", f"mbarrier {offset:+d} bytes", line.moved(address, offset)
    if "multicast::cluster" in line.opcode:
        yield "weaken.mask", "the other CTA's bit", line.changed(len(line.operands) - 1, ("xor.b16", "1"), "b16")


def groupVariants(line):
    if "commit_group" in line.opcode:
        yield "drop.group", "not closed", NOTHING
        return
    yield "drop.group", "does not wait", NOTHING
    left = line.operands[0] if line.operands else "0"
    if left.isdigit():
        yield "weaken.group", "one group more in flight", line.withOperand(0, str(int(left) + 1))
    if "bulk.wait_group" in line.opcode and not line.has("read"):
        yield "weaken.read", "sources read only", line.withOpcode(line.opcode + ".read")


def initVariants(line):
    yield "drop.init", "not initialised", NOTHING
    for value in (1, -1):
        yield "weaken.count", f"count {value:+d}", line.changed(1, ("add.s32", str(value)))


def mmaVariants(line):
    operands = line.operands
    yield "weaken.column", "D one column on", line.moved(0, 1)
    for index, name in ((1, "A"), (2, "B")):
        if operands[index].startswith("["):
            yield "weaken.column", f"{name} one column on", line.moved(index, 1)
            continue
        for field, bit in SMEM_DESC_FIELDS.items():
            yield "weaken.descriptor", f"{field} of {name}'s descriptor", line.changed(index, ("xor.b64", str(bit)), "b64")
    for field, bit in IDESC_FIELDS.items():
        yield "weaken.descriptor", f"{field} of the instruction descriptor", line.changed(3, ("xor.b32", str(bit)))
    if line.has("collector::b::fill"):
        yield "weaken.collector", "B is not kept", line.withOpcode(line.opcode.replace("b::fill", "b::discard"))
    if line.has("block_scale"):
        yield "weaken.column", "scales of A four columns on", line.moved(4, 4)
        yield "weaken.column", "scales of B four columns on", line.moved(5, 4)


def copyVariants(line):
    yield "drop.copy", "not copied", NOTHING
    yield "weaken.column", "four columns on", line.moved(0, 4)
    for field, bit in SMEM_DESC_FIELDS.items():
        if field != "base offset":  # of swizzled rows, which scales do not have
            yield "weaken.descriptor", f"{field} of the descriptor", line.changed(1, ("xor.b64", str(bit)), "b64")


def bulkVariants(line):
    if "mbarrier::complete_tx::bytes" in line.opcode:
        barrier = max(i for i, operand in enumerate(line.operands) if operand.startswith("["))
        yield "drop.load", "not loaded", NOTHING
        for offset in (STAGE_BYTES, -STAGE_BYTES):
            yield "weaken.stage", f"mbarrier {offset:+d} bytes", line.moved(barrier, offset)
        if "multicast::cluster" in line.opcode:
            mask = max(i for i, operand in enumerate(line.operands[:4]) if not operand.startswith("["))
            yield "weaken.mask", "the other CTA's bit", line.changed(mask, ("xor.b16", "1"), "b16")
    elif "bulk_group" in line.opcode:
        yield "drop.store", "not stored", NOTHING


def allocVariants(line):
    if "alloc" in line.opcode.split(".")[1] and "dealloc" not in line.opcode:
        yield "weaken.columns", "twice the columns", line.changed(1, ("shl.b32", "1"))
        yield "weaken.columns", "half the columns", line.changed(1, ("shr.u32", "1"))
    else:
        yield "drop.dealloc", "not freed", NOTHING
        yield "weaken.columns", "half the columns", line.changed(1, ("shr.u32", "1"))


def wgmmaVariants(line):
    if "wait_group" in line.opcode:
        yield "drop.group", "does not wait", NOTHING
        yield "weaken.group", "one group more in flight", line.withOperand(0, str(int(line.operands[0]) + 1))
    else:
        yield "drop.wgmma", "dropped", NOTHING


def copyArriveVariants(line):
    yield "drop.arrive", "does not arrive", NOTHING
    if line.has("noinc"):
        yield "weaken.count", "counted for itself", line.withOpcode(line.opcode.replace(".noinc", ""))


def plainCopyVariants(line):
    yield "drop.copy", "not copied", NOTHING


# Rows are swizzled, so the leading offset is not read.
WGMMA_DESC_FIELDS = {"start": 1, "stride": 1 << 32, "swizzle": 1 << 62}


def wgmmaProductVariants(line):
    yield "drop.product", "not multiplied", NOTHING
    descriptor = next((i for i, operand in enumerate(line.operands) if i and not operand.startswith("{")), None)
    if descriptor is not None:
        for field, bit in WGMMA_DESC_FIELDS.items():
            yield "weaken.descriptor", f"{field} of the descriptor", line.changed(descriptor, ("xor.b64", str(bit)), "b64")


def strongVariants(line):
    opcode = re.sub(r"\.(acquire|release|acq_rel)\b", ".relaxed", line.opcode)
    yield "weaken.order", "relaxed", line.withOpcode(opcode)
    for scope in (".gpu", ".sys", ".cluster"):
        if scope in line.opcode:
            yield "weaken.scope", "of the CTA only", line.withOpcode(line.opcode.replace(scope, ".cta", 1))


def exchangeVariants(line):
    """What lanes, warps and blocks of threads tell each other without a barrier."""
    result, source = line.operands[:2]
    if line.opcode.startswith(("shfl.sync", "redux.sync")):
        yield "drop.exchange", "its own value", f"{line.guard}mov.b32 {result.split('|')[0]}, {source};"
    if line.opcode.startswith("shfl.sync"):
        # Lanes beside each other reduce the same, in whichever order.
        bit, what = (16, "of the warp's other half") if "bfly" in line.opcode else (1, "of the lane beside it")
        yield "weaken.lane", what, line.changed(2, ("xor.b32", str(bit)))
    if line.opcode.startswith("atom."):
        yield "drop.atomic", "dropped", NOTHING
        yield "weaken.atomic", "a plain store", f"{line.guard}st.global.b32 {source}, {line.operands[2]};"


def variants(line, exchanges=False):
    """(kind, what, text) of every change of an instruction; also of exchanges, where a kernel
    has them for its data."""
    opcode = line.opcode
    if exchanges and re.match(r"(shfl|redux)\.sync|atom\.", opcode):
        return exchangeVariants(line)
    if re.match(r"mbarrier\.(try|test)_wait", opcode):
        return waitVariants(line)
    if re.match(r"mbarrier\.(arrive|expect_tx|complete_tx)", opcode):
        return arriveVariants(line)
    if opcode.startswith("mbarrier.init"):
        return initVariants(line)
    if opcode.startswith(("fence.", "membar", "tcgen05.fence")):
        return fenceVariants(line)
    if opcode.startswith(("bar.sync", "bar.warp.sync", "bar.arrive", "barrier.")):
        return barrierVariants(line)
    if opcode.startswith("tcgen05.wait"):
        return iter([("drop.tensor_wait", "does not wait", NOTHING)])
    if opcode.startswith("tcgen05.commit"):
        return commitVariants(line)
    if opcode.startswith("tcgen05.mma"):
        return mmaVariants(line)
    if opcode.startswith("tcgen05.cp"):
        return copyVariants(line)
    if opcode.startswith(("tcgen05.alloc", "tcgen05.dealloc")):
        return allocVariants(line)
    if re.match(r"cp\.async\.(bulk\.)?(commit|wait)_(group|all)", opcode):
        return groupVariants(line)
    if re.match(r"wgmma\.(fence|commit_group|wait_group)", opcode):
        return wgmmaVariants(line)
    if opcode.startswith("wgmma.mma_async"):
        return wgmmaProductVariants(line)
    if re.match(r"cp\.async\.(ca|cg)\.", opcode):
        return plainCopyVariants(line)
    if opcode.startswith("cp.async.mbarrier.arrive"):
        return copyArriveVariants(line)
    if re.match(r"(ld|st|atom|red)\..*(acquire|release|acq_rel)", opcode):
        return strongVariants(line)
    if opcode.startswith("clusterlaunchcontrol.try_cancel"):
        return iter([("drop.cancel", "no request", NOTHING)])
    if opcode.startswith("cp.async.bulk") and "prefetch" not in opcode:
        return bulkVariants(line)
    if opcode.startswith("griddepcontrol.wait"):
        return iter([("drop.grid", "does not wait for the earlier grid", NOTHING)])
    return iter(())


def statements(text):
    """(index of the line, instruction) of each line that holds one instruction."""
    for index, line in enumerate(text):
        match = INSTRUCTION.match(line.strip())
        if match:
            yield index, Line(match)


def mutants(ptx, exchanges=False):
    """Every mutant of a PTX text, in the order of its lines."""
    lines = ptx.split("\n")
    for index, line in statements(lines):
        for kind, what, text in variants(line, exchanges):
            changed = "\n".join([*lines[:index], "\t" + text, *lines[index + 1:]])
            yield Mutant(kind, index + 1, f"{line.opcode}: {what}", changed)


def withoutFenceBehind(mutant):
    """The mutant's text without the next tcgen05.fence::after_thread_sync."""
    return withoutFence(mutant, "after", lambda lines: range(mutant.line, len(lines)))


def withoutFenceAhead(mutant):
    """The mutant's text without the last tcgen05.fence::before_thread_sync in front of it."""
    return withoutFence(mutant, "before", lambda lines: range(mutant.line - 2, -1, -1))


def withoutIt(mutant):
    """The mutant's text without the instruction that it weakened."""
    lines = mutant.text.split("\n")
    return "\n".join([*lines[:mutant.line - 1], "\t" + NOTHING, *lines[mutant.line:]])


def withoutClusterBarrier(mutant):
    """The mutant's text without an arrival at the cluster's barrier and the next wait there."""
    lines = withoutIt(mutant).split("\n")
    for index in range(mutant.line, len(lines)):
        if lines[index].strip().startswith("barrier.cluster.wait"):
            return "\n".join([*lines[:index], "\t" + NOTHING, *lines[index + 1:]])
    return mutant.text


def withoutFence(mutant, half, places):
    lines = mutant.text.split("\n")
    for index in places(lines):
        if lines[index].strip() == f"tcgen05.fence::{half}_thread_sync;":
            return "\n".join([*lines[:index], "\t" + NOTHING, *lines[index + 1:]])
    return mutant.text
