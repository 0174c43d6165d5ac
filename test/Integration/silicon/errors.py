# ===- errors.py - what ends a kernel on the chip --------------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The emulator must report what the chip faults on. Where the chip goes on, the bytes
# are compared.
#
# ===-----------------------------------------------------------------------===#

from block import *
from suite import Buffer

COUNT = 4096
BULK = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"


def program(suite, name, code, target="sm_90a", threads=32):
    x = Buffer("x", "u8", COUNT, "input", pattern(COUNT, 31))
    y = Buffer("y", "u8", COUNT)
    suite.add("errors", name, ENTER + init(1) + "  ld.param.u64 %x, [p0];\n  ld.param.u64 %y, [p1];\n" + code + "  ret;\n", [x, y], [x, y],
              block=threads, shared=DATA + 8192, target=target, declarations=SHARED)


def build(suite):
    program(suite, "ld-misaligned", "  ld.global.b32 %r0, [%x+2];\n  st.global.b32 [%y], %r0;\n")
    program(suite, "st-misaligned", "  st.global.v4.b32 [%y+8], {%t, %t, %t, %t};\n")
    program(suite, "shared-misaligned", "  ld.shared.b64 %w0, [%data+4];\n  st.global.b64 [%y], %w0;\n")
    program(suite, "shared-outside", "  mov.u32 %r1, %dynamic_smem_size;\n  add.u32 %r1, %r1, 400000;\n  add.u32 %r1, %r1, %base;\n  st.shared.b32 [%r1], %t;\n")
    program(suite, "null", "  mov.b64 %w0, 0;\n  ld.global.b32 %r0, [%w0];\n  st.global.b32 [%y], %r0;\n")
    program(suite, "trap", "  trap;\n")
    program(suite, "mbarrier-misaligned", "  mbarrier.init.shared::cta.b64 [%base+12], 1;\n")
    program(suite, "mbarrier-too-many", "  @%first mbarrier.init.shared::cta.b64 [%base+16], 1;\n  @%first mbarrier.arrive.release.cta.shared::cta.b64 %state, [%base+16], 2;\n"
            "  bar.sync 0;\n  ld.shared.b64 %w0, [%base+16];\n  @%first st.global.b64 [%y], %w0;\n")
    program(suite, "atom-misaligned", "  atom.global.add.u32 %r0, [%y+1], %t;\n")
    program(suite, "ldmatrix-misaligned", "  mad.lo.u32 %r1, %t, 16, %data;\n  add.u32 %r1, %r1, 8;\n  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];\n"
            "  st.global.b32 [%y], %r2;\n")
    program(suite, "cp.async-misaligned", "  cp.async.ca.shared.global [%data+4], [%x], 8;\n  cp.async.wait_all;\n")
    expect = "  @%first mbarrier.arrive.expect_tx.shared::cta.b64 %state, [%base], {};\n".format
    program(suite, "bulk-target-misaligned", expect(64) + f"  add.u32 %r1, %data, 8;\n  @%first {BULK} [%r1], [%x], 64, [%base];\n" + wait(0))
    program(suite, "bulk-source-misaligned", expect(64) + f"  add.u64 %x, %x, 8;\n  @%first {BULK} [%data], [%x], 64, [%base];\n" + wait(0))
    program(suite, "bulk-size", expect(56) + f"  mov.b32 %r1, 56;\n  @%first {BULK} [%data], [%x], %r1, [%base];\n" + wait(0))
