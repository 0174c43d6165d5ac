# ===- cluster.py - clusters, distributed shared memory and multicast -------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#

from block import *
from suite import Buffer, Map

COUNT = 1024
RANK = "  mov.u32 %rank, %cluster_ctarank;\n"


def program(suite, name, code, cluster, out_bytes=COUNT, grid=None, inputs=COUNT, params=(), threads=64, group="cluster"):
    """Each block writes `out_bytes` to its place; %r60 is its number."""
    ctas = cluster if isinstance(cluster, int) else cluster[0] * cluster[1] * cluster[2]
    grid = grid or cluster
    total = grid if isinstance(grid, int) else grid[0] * grid[1] * grid[2]
    x = Buffer("x", "u8", inputs, "input", pattern(inputs, 3))
    y = Buffer("y", "u8", total * out_bytes)
    number = ("  mov.u32 %r60, %ctaid.z;\n  mov.u32 %r61, %nctaid.y;\n  mov.u32 %r62, %ctaid.y;\n  mad.lo.u32 %r60, %r60, %r61, %r62;\n"
              "  mov.u32 %r61, %nctaid.x;\n  mov.u32 %r62, %ctaid.x;\n  mad.lo.u32 %r60, %r60, %r61, %r62;\n"
              f"  mul.lo.u32 %r59, %r60, {out_bytes};\n")
    suite.add(group, name, ENTER + RANK + number + code + "  ret;\n", [x, y], [x, y, *params], grid=grid, block=threads, cluster=cluster,
              shared=DATA + 8192, declarations=SHARED)


def word(register, offset=0):
    """One word of the block's output by the first thread."""
    return f"  @%first st.global.b32 [%y+{offset}], {register};\n"


OUT = "  ld.param.u64 %y, [p1];\n  cvt.u64.u32 %off, %r59;\n  add.u64 %y, %y, %off;\n"


def buildRegisters(suite):
    names = [f"cluster_ctaid.{d}" for d in "xyz"] + [f"cluster_nctaid.{d}" for d in "xyz"] + [f"clusterid.{d}" for d in "xyz"]
    names += [f"nclusterid.{d}" for d in "xyz"] + ["cluster_ctarank", "cluster_nctarank"] + [f"ctaid.{d}" for d in "xyz"] + [f"nctaid.{d}" for d in "xyz"]
    code = OUT + "".join(f"  mov.u32 %r0, %{name};\n" + word("%r0", 4 * i) for i, name in enumerate(names))
    for cluster, grid in ((2, 6), ([2, 2, 1], [4, 2, 3]), ([1, 2, 2], [3, 4, 2]), (8, 8), ([4, 1, 2], [4, 2, 2])):
        text = "x".join(map(str, cluster)) if isinstance(cluster, list) else cluster
        program(suite, f"registers-{text}", code, cluster, 128, grid)
    # Addresses of other blocks' shared memory, and the way back.
    code = OUT
    for i in range(4):
        code += (f"  mapa.shared::cluster.u32 %r0, %data, {i};\n  getctarank.shared::cluster.u32 %r1, %r0;\n" + word("%r1", 4 * i) +
                 f"  cvt.u64.u32 %w0, %data;\n  cvta.shared.u64 %w0, %w0;\n  mapa.u64 %w1, %w0, {i};\n  getctarank.u64 %r1, %w1;\n" + word("%r1", 16 + 4 * i) +
                 "  isspacep.shared::cluster %p, %w1;\n  selp.b32 %r1, 1, 0, %p;\n" + word("%r1", 32 + 4 * i) +
                 "  isspacep.shared::cta %p, %w1;\n  selp.b32 %r1, 1, 0, %p;\n" + word("%r1", 48 + 4 * i))
    program(suite, "mapa", code, 4, 64)
    code = OUT + "".join(f"  mapa.shared::cluster.u32 %r0, %data, {i};\n" + word("%r0", 4 * i) for i in range(4))
    program(suite, "mapa-bits", code + word("%data", 16), 4, 32, group="cluster_bits")


def buildDistributed(suite):
    own = "  shl.b32 %r0, %t, 2;\n  add.u32 %r1, %r0, %data;\n  mad.lo.u32 %r2, %rank, 1000, %t;\n"
    store = OUT + "  cvt.u64.u32 %off, %r0;\n  add.u64 %at, %y, %off;\n"
    peer = "  mov.u32 %r5, %cluster_nctarank;\n  add.u32 %r4, %rank, 1;\n  rem.u32 %r4, %r4, %r5;\n  mapa.shared::cluster.u32 %r3, %r1, %r4;\n"
    for size in (2, 4, 8):
        program(suite, f"ld-{size}", own + "  st.shared.b32 [%r1], %r2;\n" + CLUSTER_SYNC + peer + "  ld.shared::cluster.b32 %r6, [%r3];\n" +
                store + "  st.global.b32 [%at], %r6;\n" + CLUSTER_SYNC, size, 256)
        program(suite, f"st-{size}", own + CLUSTER_SYNC + peer + "  st.shared::cluster.b32 [%r3], %r2;\n" + CLUSTER_SYNC +
                "  ld.shared.b32 %r6, [%r1];\n" + store + "  st.global.b32 [%at], %r6;\n", size, 256)
        program(suite, f"generic-{size}", own + CLUSTER_SYNC + peer + "  cvt.u64.u32 %w0, %r3;\n  cvta.shared::cluster.u64 %w0, %w0;\n  st.b32 [%w0], %r2;\n" + CLUSTER_SYNC +
                "  ld.shared.b32 %r6, [%r1];\n" + store + "  st.global.b32 [%at], %r6;\n", size, 256)
        program(suite, f"atom-{size}", own + "  st.shared.b32 [%r1], %r2;\n" + CLUSTER_SYNC +
                "  mapa.shared::cluster.u32 %r3, %r1, 0;\n  red.relaxed.cluster.shared::cluster.add.u32 [%r3], %r2;\n" + CLUSTER_SYNC +
                "  ld.shared.b32 %r6, [%r1];\n" + store + "  st.global.b32 [%at], %r6;\n", size, 256)
        # Every block arrives on the barrier of the first.
        program(suite, f"arrive-{size}", init(1, size) + own + CLUSTER_SYNC + "  mapa.shared::cluster.u32 %r3, %r1, 0;\n"
                "  mad.lo.u32 %r7, %rank, 256, %r3;\n  st.shared::cluster.b32 [%r7], %r2;\n" + SYNC +
                "  mapa.shared::cluster.u32 %r8, %base, 0;\n  @%first mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8];\n"
                "  setp.ne.u32 %q, %rank, 0;\n  @%q bra OVER;\nTRY:\n"
                "  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %done, [%base], 0;\n  @!%done bra TRY;\n" +
                dump(1, 256 * size) + "  mbarrier.test_wait.parity.shared::cta.b64 %p, [%base], 1;\n  selp.b64 %x, 1, 0, %p;\n  ld.param.u64 %y, [p1];\n" +
                f"  @%first st.global.b64 [%y+{256 * size}], %x;\nOVER:\n" + CLUSTER_SYNC, size, 256 * size + 64, threads=64)
        # st.async counts its bytes on the receiver's barrier.
        program(suite, f"st.async-{size}", init(1) + own + "  @%first mbarrier.arrive.expect_tx.shared::cta.b64 %state, [%base], 256;\n" + CLUSTER_SYNC + peer +
                "  mapa.shared::cluster.u32 %r8, %base, %r4;\n"
                "  st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r3], %r2, [%r8];\n" + wait(0) +
                "  ld.shared.b32 %r6, [%r1];\n" + store + "  st.global.b32 [%at], %r6;\n" + CLUSTER_SYNC, size, 256)
        for op, type_ in (("add", "u32"), ("max", "s32"), ("xor", "b32"), ("inc", "u32"), ("add", "u64")):
            wide = type_ == "u64"
            program(suite, f"red.async.{op}.{type_}-{size}", init(1) + own + ("  shl.b32 %r1, %t, 3;\n  add.u32 %r1, %r1, %data;\n  cvt.u64.u32 %w2, %r2;\n"
                    "  mul.lo.u64 %w3, %w2, 0x100000003;\n  st.shared.b64 [%r1], %w3;\n" if wide else "  st.shared.b32 [%r1], %r2;\n") +
                    f"  @%first mbarrier.arrive.expect_tx.shared::cta.b64 %state, [%base], {512 if wide else 256};\n" + CLUSTER_SYNC + peer +
                    "  mapa.shared::cluster.u32 %r8, %base, %r4;\n  mul.lo.u32 %r2, %r2, 77;\n  cvt.u64.u32 %w2, %r2;\n"
                    f"  red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{op}.{type_} [%r3], {'%w2' if wide else '%r2'}, [%r8];\n" +
                    wait(0) + dump(1, 512 if wide else 256, add="%r59") + CLUSTER_SYNC, size, 512)
        # A bulk copy from a block's shared memory to its neighbour's.
        program(suite, f"bulk-{size}", init(1) + load(0, COUNT) + "  shl.b32 %r0, %t, 2;\n  add.u32 %r1, %r0, %data;\n  st.shared.b32 [%r1], %rank;\n" +
                "  @%first mbarrier.arrive.expect_tx.shared::cta.b64 %state, [%base], 1024;\n  fence.proxy.async;\n" + CLUSTER_SYNC +
                "  add.u32 %r1, %data, 2048;\n" + peer + "  mapa.shared::cluster.u32 %r8, %base, %r4;\n"
                "  @%first cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r3], [%data], 1024, [%r8];\n" + wait(0) +
                dump(1, COUNT, 0, 2048, add="%r59") + CLUSTER_SYNC, size)


def buildMulticast(suite):
    for size, masks in ((2, (3, 1, 2)), (4, (15, 5, 10, 8)), (8, (255, 129))):
        for mask in masks:
            for kind in ("bulk", "tensor"):
                count = 512
                mine = f"  mov.b16 %h0, {mask};\n  mov.b32 %r20, {mask};\n  shr.b32 %r20, %r20, %rank;\n  and.b32 %r20, %r20, 1;\n  setp.eq.u32 %q, %r20, 1;\n"
                issue = ("  setp.ne.u32 %p, %rank, 0;\n  @%p bra SENT;\n  @!%first bra SENT;\n" + (
                    "  ld.param.u64 %x, [p0];\n  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                    f"[%data], [%x], {count}, [%base], %h0;\n" if kind == "bulk" else
                    "  mov.u64 %x, p2;\n  cvta.param.u64 %x, %x;\n  mov.b32 %r10, 16;\n  mov.b32 %r11, -1;\n"
                    "  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
                    "[%data], [%x, {%r10, %r11}], [%base], %h0;\n") + "SENT:\n")
                params = () if kind == "bulk" else (Map("x", "u8", [64, 16], [64], [64, 8], None, "b64"),)
                program(suite, f"{kind}-{size}-{mask}", init(1) + fill(COUNT) + mine +
                        f"  @!%first bra READY;\n  @%q mbarrier.arrive.expect_tx.shared::cta.b64 %state, [%base], {count};\nREADY:\n  fence.proxy.async;\n" +
                        CLUSTER_SYNC + issue + "  @!%q bra DONE;\n" + wait(0) + "DONE:\n" + dump(1, COUNT, add="%r59") + CLUSTER_SYNC, size,
                        params=params, group="multicast")
    # Each block sends its quarter to all; all wait for the whole.
    for size in (2, 4):
        program(suite, f"slices-{size}", init(1) + fill(COUNT) + f"  @%first mbarrier.arrive.expect_tx.shared::cta.b64 %state, [%base], {256 * size};\n"
                "  fence.proxy.async;\n" + CLUSTER_SYNC + f"  @!%first bra SENT;\n  ld.param.u64 %x, [p0];\n  mul.lo.u32 %r0, %rank, 256;\n"
                "  cvt.u64.u32 %off, %r0;\n  add.u64 %x, %x, %off;\n  add.u32 %r0, %r0, %data;\n"
                f"  mov.b16 %h0, {(1 << size) - 1};\n"
                "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r0], [%x], 256, [%base], %h0;\nSENT:\n" +
                wait(0) + dump(1, COUNT, add="%r59") + CLUSTER_SYNC, size, group="multicast")


def build(suite):
    buildRegisters(suite)
    buildDistributed(suite)
    buildMulticast(suite)
