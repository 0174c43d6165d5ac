# ===- barriers.py - the words and phases of mbarriers ---------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# One thread takes a barrier through legal steps drawn from a seed; after each, the upper
# half of the returned state and whether each parity's phase is over are written. (The
# lower half of a state is left as it was by the chip, and a barrier's own word is not
# there for ordinary loads: an H200 reads zeros.)
#
# ===-----------------------------------------------------------------------===#

import random

from block import *
from suite import Buffer

STEPS = 60


class Barrier:
    """Counts as the manual defines them, to stay within what is legal."""

    def __init__(self, count):
        self.expected = self.pending = count
        self.tx = self.phase = 0

    def settle(self):
        if self.pending == 0 and self.tx == 0:
            self.pending = self.expected
            self.phase ^= 1


OBSERVE = ("  mbarrier.test_wait.parity.shared::cta.b64 %p, [%base], 0;\n  selp.b64 %x, 1, 0, %p;\n"
           "  mbarrier.test_wait.parity.shared::cta.b64 %p, [%base], 1;\n  selp.b64 %w1, 2, 0, %p;\n  or.b64 %x, %x, %w1;\n")
UPPER = "  shr.u64 %state, %state, 32;\n"


def step(rng, barrier):
    """PTX of one step; %state receives what it returns."""
    choices = ["arrive", "expect", "complete", "test", "pending"]
    if barrier.pending > 1:
        choices += ["arrive-count", "expect-arrive"]
    if barrier.pending > 0 and barrier.expected > 1:
        choices += ["drop"]
    kind = rng.choice(choices)
    b = "[%base]"
    if kind in ("arrive", "arrive-count", "expect-arrive", "drop") and barrier.pending == 0:
        kind = "complete"  # only bytes are missing
    if kind == "complete":
        if barrier.tx <= 0:
            kind = "expect"
        else:
            n = rng.choice([barrier.tx, barrier.tx, rng.randint(1, barrier.tx)])
            barrier.tx -= n
            barrier.settle()
            return f"  mov.b64 %state, 0;\n  mbarrier.complete_tx.relaxed.cta.shared::cta.b64 {b}, {n};\n"
    if kind == "expect":
        n = rng.choice([1, 16, 4096, 65535])
        barrier.tx += n
        return f"  mov.b64 %state, 0;\n  mbarrier.expect_tx.relaxed.cta.shared::cta.b64 {b}, {n};\n"
    if kind == "arrive":
        barrier.pending -= 1
        barrier.settle()
        return f"  mbarrier.arrive.shared::cta.b64 %state, {b};\n" + UPPER
    if kind == "arrive-count":
        n = rng.randint(1, barrier.pending)
        barrier.pending -= n
        barrier.settle()
        return f"  mbarrier.arrive.release.cta.shared::cta.b64 %state, {b}, {n};\n" + UPPER
    if kind == "expect-arrive":
        n = rng.choice([0, 32, 1000])
        barrier.tx += n
        barrier.pending -= 1
        barrier.settle()
        return f"  mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %state, {b}, {n};\n" + UPPER
    if kind == "drop":
        barrier.pending -= 1
        barrier.expected -= 1
        barrier.settle()
        return f"  mbarrier.arrive_drop.shared::cta.b64 %state, {b};\n" + UPPER
    if kind == "test":
        parity = rng.randint(0, 1)
        return f"  mbarrier.test_wait.parity.shared::cta.b64 %p, {b}, {parity};\n  selp.b64 %state, 1, 0, %p;\n"
    # pending_count is defined for states of .noComplete alone
    if barrier.pending > 1:
        barrier.pending -= 1
        return (f"  mbarrier.arrive.noComplete.shared::cta.b64 %w0, {b}, 1;\n  mbarrier.pending_count.b64 %r1, %w0;\n"
                f"  mbarrier.test_wait.shared::cta.b64 %p, {b}, %w0;\n  selp.b32 %r2, 1, 0, %p;\n  mov.b64 %state, {{%r1, %r2}};\n")
    return "  mov.b64 %state, 7;\n"


def build(suite):
    for seed in range(24):
        rng = random.Random(seed)
        count = [1, 2, 3, 32, 128, 1000, (1 << 20) - 1, 5][seed % 8]
        barrier = Barrier(count)
        code = ENTER + "  @!%first bra END;\n  ld.param.u64 %y, [p0];\n"
        code += f"  mbarrier.init.shared::cta.b64 [%base], {count};\n{OBSERVE}  st.global.b64 [%y], %x;\n"
        for i in range(STEPS):
            code += step(rng, barrier)
            code += OBSERVE + f"  st.global.v2.b64 [%y+{16 + 16 * i}], {{%state, %x}};\n"
        if barrier.tx:  # no bytes are left to come
            code += f"  mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%base], {barrier.tx};\n"
        y = Buffer("y", "b64", 2 + 2 * STEPS)
        suite.add("mbarrier", f"steps-{seed:02}", code + "END:\n  ret;\n", [y], [y], block=32, shared=DATA, declarations=SHARED)
    # Threads that arrive together: the phase of each one's state is over behind the wait.
    y = Buffer("y", "b64", 64)
    code = ENTER + init(1, 128) + "  @%first st.shared.b32 [%data], 0;\n  ld.param.u64 %y, [p0];\n  bar.sync 0;\n"
    for i in range(32):
        code += (f"  mbarrier.arrive.shared::cta.b64 %state, [%base];\n{wait(i % 2)}  mbarrier.test_wait.shared::cta.b64 %p, [%base], %state;\n"
                 f"  selp.b32 %r0, 1, 0, %p;\n  red.shared.add.u32 [%data], %r0;\n  bar.sync 0;\n  ld.shared.b32 %r1, [%data];\n  cvt.u64.u32 %x, %r1;\n"
                 f"  @%first st.global.b64 [%y+{8 * i}], %x;\n  bar.sync 0;\n")
    suite.add("mbarrier", "together", code + "  ret;\n", [y], [y], block=128, shared=DATA + 64, declarations=SHARED)
    # Named barriers: sums under bar.red, and arrive with sync of fewer threads.
    for op, kind in (("popc.u32", "r"), ("and.pred", "p"), ("or.pred", "p")):
        result = "%r3" if kind == "r" else "%q"
        code = ENTER + ("  ld.param.u64 %y, [p0];\n  mul.wide.u32 %off, %t, 8;\n  add.u64 %y, %y, %off;\n  and.b32 %r0, %t, 5;\n"
                        f"  setp.eq.u32 %p, %r0, 1;\n  barrier.red.{op} {result}, 3, 128, %p;\n")
        code += "" if kind == "r" else "  selp.b32 %r3, 1, 0, %q;\n"
        y = Buffer("y", "b64", 128)
        code += "  cvt.u64.u32 %x, %r3;\n  st.global.b64 [%y], %x;\n  ret;\n"
        suite.add("mbarrier", f"barrier.red.{op}", code, [y], [y], block=128, shared=DATA, declarations=SHARED)
