# ===- warp.py - programs whose lanes talk to each other -------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#

FULL = "0xFFFFFFFF"


def build(suite):
    flag = "selp.b32 %e, 1, 0, %p;"
    for mode in ("idx", "up", "down", "bfly"):
        for name, segment in (("whole", 0x1F), ("zero", 0), ("half", 0x101F), ("eight", 0x1807), ("odd", 0x0A15)):
            suite.scalar("shfl", f"shfl.{mode}-{name}", f"shfl.sync.{mode}.b32 %d|%p, %a, %b, {segment}, {FULL};\n{flag}",
                         [("%a", "bits"), ("%b", "small")], [("%d", "b32"), ("%e", "b32")])
        suite.scalar("shfl", f"shfl.{mode}-raw", f"shfl.sync.{mode}.b32 %d|%p, %a, %b, %a, {FULL};\n{flag}",
                     [("%a", "bits"), ("%b", "i2b")], [("%d", "b32"), ("%e", "b32")])
    odd = "and.b32 %r0, %a, 1;\nsetp.eq.u32 %p, %r0, 1;"
    for mode, result in (("all", "pred"), ("any", "pred"), ("uni", "pred"), ("ballot", "b32")):
        body = (f"vote.sync.ballot.b32 %d, %p, {FULL};" if result == "b32" else
                f"vote.sync.{mode}.pred %q, %p, {FULL};\nselp.b32 %d, 1, 0, %q;")
        suite.scalar("vote", f"vote.{mode}", f"{odd}\n{body}", [("%a", "bits")], [("%d", "b32")])
        # Warps that agree, all for or all against.
        suite.scalar("vote", f"vote.{mode}-agreed", f"shr.b32 %r0, %i, 5;\nand.b32 %r0, %r0, 1;\nsetp.eq.u32 %p, %r0, 1;\n{body}",
                     [("%a", "bits")], [("%d", "b32")])
    suite.scalar("vote", "vote.part", f"{odd}\nmov.b32 %d, 77;\nand.b32 %r1, %t, 31;\nsetp.lt.u32 %q, %r1, 12;\n"
                 "@%q vote.sync.ballot.b32 %d, %p, 0xFFF;", [("%a", "bits")], [("%d", "b32")])
    suite.scalar("vote", "activemask", "mov.b32 %d, 0;\nand.b32 %r0, %a, 3;\nsetp.eq.u32 %p, %r0, 0;\n@!%p bra OUT;\n"
                 "activemask.b32 %d;\nOUT:\nbar.warp.sync 0xFFFFFFFF;", [("%a", "bits")], [("%d", "b32")])
    suite.scalar("vote", "elect", f"elect.sync %d|%p, {FULL};\n{flag}", [("%a", "bits")], [("%d", "b32"), ("%e", "b32")],
                 target="sm_90a")
    suite.scalar("vote", "elect-part", "mov.b32 %d, 99;\nmov.b32 %e, 99;\nand.b32 %r0, %t, 31;\nsetp.gt.u32 %q, %r0, 6;\n"
                 f"@!%q bra OUT;\nelect.sync %d|%p, 0xFFFFFF80;\n{flag}\nOUT:\nbar.warp.sync 0xFFFFFFFF;", [("%a", "bits")],
                 [("%d", "b32"), ("%e", "b32")], target="sm_90a")
    for bits in (32, 64):
        value = f"and.b{bits} %s, %s, 3;"
        widen = "cvt.u64.u32 %s, %a;" if bits == 64 else "mov.b32 %s, %a;"
        suite.scalar("match", f"match.any.b{bits}", f".reg .b{bits} %s;\n{widen}\n{value}\nmatch.any.sync.b{bits} %d, %s, {FULL};",
                     [("%a", "bits")], [("%d", "b32")])
        suite.scalar("match", f"match.all.b{bits}", f".reg .b{bits} %s;\n{widen}\n{value}\nshr.b32 %r0, %i, 5;\nand.b32 %r0, %r0, 3;\n"
                     f"setp.eq.u32 %q, %r0, 0;\n@%q mov.b{bits} %s, 5;\nmatch.all.sync.b{bits} %d|%p, %s, {FULL};\n{flag}",
                     [("%a", "bits")], [("%d", "b32"), ("%e", "b32")])
    for op in ("add", "min", "max"):
        for type_ in ("u32", "s32"):
            suite.scalar("redux", f"redux.{op}.{type_}", f"redux.sync.{op}.{type_} %d, %a, {FULL};", [("%a", "i2a")], [("%d", "b32")])
            suite.scalar("redux", f"redux.{op}.{type_}-part", "mov.b32 %d, 5;\nand.b32 %r0, %t, 31;\nsetp.gt.u32 %q, %r0, 19;\n"
                         f"@%q redux.sync.{op}.{type_} %d, %a, 0xFFF00000;", [("%a", "bits")], [("%d", "b32")])
    for op in ("and", "or", "xor"):
        suite.scalar("redux", f"redux.{op}.b32", f"redux.sync.{op}.b32 %d, %a, {FULL};", [("%a", "i2a")], [("%d", "b32")])
    for name in ("tid.x", "ntid.x", "ctaid.x", "nctaid.x", "laneid", "lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge",
                 "lanemask_gt", "clusterid.x", "nclusterid.x", "cluster_ctaid.x", "cluster_nctaid.x", "cluster_ctarank",
                 "cluster_nctarank", "is_explicit_cluster", "total_smem_size", "dynamic_smem_size", "aggr_smem_size"):
        if name == "is_explicit_cluster":
            body = "mov.pred %p, %is_explicit_cluster;\nselp.b32 %d, 1, 0, %p;"
        else:
            body = f"mov.u32 %d, %{name};"
        suite.scalar("special", name, body, [("%a", "bits")], [("%d", "b32")], target="sm_90a")
