# ===- block.py - pieces of programs of one block or cluster ---------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Shared memory: barriers in its first 1024 bytes, data from 1024 on.
#
# ===-----------------------------------------------------------------------===#

import numpy as np

DATA = 1024
SHARED = ".extern .shared .align 1024 .b8 smem[];\n"
ENTER = """  .reg .pred %p, %q, %first, %done;
  .reg .b16 %h<8>;
  .reg .b32 %t, %n, %i, %end, %base, %data, %rank, %r<64>;
  .reg .b64 %x, %y, %at, %off, %state, %w<16>;
  mov.u32 %t, %tid.x;
  mov.u32 %n, %ntid.x;
  mov.u32 %base, smem;
  add.u32 %data, %base, 1024;
  setp.eq.u32 %first, %t, 0;
"""
labels = iter(range(1 << 30))


def pattern(count, seed, kind="u8"):
    """Bytes at random, the same ones every time."""
    data = np.random.default_rng(seed).integers(0, 256, count, dtype=np.uint8)
    return data if kind == "u8" else data.view(kind)


def loop(body, count):
    """`body` for %i = thread, thread + threads … below `count`."""
    n = next(labels)
    return f"  mov.u32 %i, %t;\nL{n}:\n  setp.ge.u32 %p, %i, {count};\n  @%p bra E{n};\n{body}  add.u32 %i, %i, %n;\n  bra L{n};\nE{n}:\n"


def fill(count, value=0xEE, start=0):
    """Bytes of the data in shared memory, a value that shows what is not written."""
    word = value * 0x01010101
    return loop(f"  shl.b32 %r0, %i, 2;\n  add.u32 %r0, %r0, %data;\n  mov.b32 %r1, 0x{word:08X};\n  st.shared.b32 [%r0+{start}], %r1;\n",
                count // 4)


def load(param, count, offset=0, at=0):
    """Global to shared memory by plain copies of 4 bytes."""
    return (f"  ld.param.u64 %x, [p{param}];\n" + loop(
        f"  mul.wide.u32 %off, %i, 4;\n  add.u64 %at, %x, %off;\n  ld.global.b32 %r1, [%at+{offset}];\n  shl.b32 %r0, %i, 2;\n"
        f"  add.u32 %r0, %r0, %data;\n  st.shared.b32 [%r0+{at}], %r1;\n", count // 4))


def dump(param, count, offset=0, at=0, add=None):
    """Shared to global memory likewise; `add` is a register with an offset more."""
    more = f"  cvt.u64.u32 %off, {add};\n  add.u64 %x, %x, %off;\n" if add else ""
    return (f"  ld.param.u64 %x, [p{param}];\n{more}" + loop(
        f"  mul.wide.u32 %off, %i, 4;\n  add.u64 %at, %x, %off;\n  shl.b32 %r0, %i, 2;\n  add.u32 %r0, %r0, %data;\n"
        f"  ld.shared.b32 %r1, [%r0+{at}];\n  st.global.b32 [%at+{offset}], %r1;\n", count // 4))


def init(barriers, count=1):
    """mbarriers at 0, 8, … by the first thread; ends with a barrier of the block."""
    code = "".join(f"  @%first mbarrier.init.shared::cta.b64 [%base+{8 * i}], {count};\n" for i in range(barriers))
    return code + "  @%first fence.mbarrier_init.release.cluster;\n" + SYNC


SYNC = "  bar.sync 0;\n"
CLUSTER_SYNC = "  barrier.cluster.arrive.release.aligned;\n  barrier.cluster.wait.acquire.aligned;\n"
PROXY = "  fence.proxy.async.shared::cta;\n"


def wait(parity, barrier=0):
    n = next(labels)
    return (f"W{n}:\n  mbarrier.try_wait.parity.shared::cta.b64 %done, [%base+{8 * barrier}], {parity};\n  @!%done bra W{n};\n")
