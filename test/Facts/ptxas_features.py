# ===- ptxas_features.py - the feature table against ptxas -----------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Assembles one instruction for each feature that an assembler can judge, on every
# target, and compares with the committed page. Also: each target's lowest .version
# is taken, and the version before it is not.
#
# ===-----------------------------------------------------------------------===#

import argparse
import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile

VERSIONS = ("6.5 7.0 7.1 7.2 7.3 7.4 7.5 7.6 7.7 7.8 8.0 8.1 8.2 8.3 8.4 8.5 8.6 8.7 8.8 9.0 9.1 9.2 "
            "9.3 9.4").split()

HEAD = """.version {version}
.target {target}
.address_size 64
.visible .entry k(.param .u64 p) {{
  .reg .b32 r<20>; .reg .b64 d<8>; .reg .f32 f<20>; .reg .pred q<4>; .reg .b16 h<8>; .reg .b8 b<4>;
  .shared .align 128 .b8 sm[1024];
  ld.param.u64 d0, [p];
  mov.b32 r5, 0;
  setp.ne.u32 q0, r5, 0;
"""

MMA = "tcgen05.mma.cta_group::1.kind::{} [r0], d1, d2, r1, {}q0;"
SCALED = "tcgen05.mma.cta_group::1.kind::{} [r0], d1, d2, r1, [r2], [r3], q0;"
LOAD = "cp.async.bulk.tensor.2d.shared::cluster.global{} [sm], [d0, {}], [sm];"
COMMIT = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster{}.b64 [sm]{};"
CANCEL = ("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes{}.b128 "
          "[sm], [sm];")
STORE16, STORE32 = " st.global.b16 [d0], h0;", " st.global.b32 [d0], r0;"

FORMS = {
    "async_global": "st.async.release.gpu.global.b32 [d0], r0;",
    "cp_async": "cp.async.cg.shared.global [sm], [d0], 16;",
    "tma": LOAD.format(".tile.mbarrier::complete_tx::bytes", "{r0, r1}"),
    "wgmma": "wgmma.fence.sync.aligned;",
    "setmaxnreg": "setmaxnreg.inc.sync.aligned.u32 64;",
    "dependent_grids": "griddepcontrol.wait;",
    "store_bulk": "st.bulk.weak.shared::cta [d2], 64, 0;",
    "cluster_launch_control": CANCEL.format(""),
    "cluster_launch_control_multicast": CANCEL.format(".multicast::cluster::all"),
    "block_scaled_mma_sync": "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale"
                             ".f32.e4m3.e4m3.f32.ue8m0 {f0,f1,f2,f3}, {r0,r1,r2,r3}, {r4,r6}, "
                             "{f0,f1,f2,f3}, r6, {h0,h1}, r7, {h2,h3}; st.global.f32 [d0], f0;",
    "tcgen05": MMA.format("f16", ""),
    "tcgen05_block_scale": SCALED.format("mxf4.block_scale"),
    "block_qualifier": SCALED.format("mxf4nvf4.block_scale.block16"),
    "scale_vec_qualifier": SCALED.format("mxf4nvf4.block_scale.scale_vec::4X"),
    "collector_b": SCALED.format("mxf8f6f4.block_scale.collector::a::fill.collector::b::fill"),
    "kind_ti16": MMA.format("ti16", ""),
    "kind_i8": MMA.format("i8", ""),
    "tcgen05_shift": "tcgen05.shift.cta_group::1.down [r0];",
    "commit_sync_restrict": COMMIT.format(".sync_restrict::shared::read::mma::a", ""),
    "multicast32": COMMIT.format(".multicast::cluster::32b", ", r0"),
    "alloc_exclusive": "tcgen05.alloc.cta_group::1.sync.aligned.exclusive.shared::cta.b32 [sm], 64;",
    "ld_red": "tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32 {r0, r1}, r2, [r3];" + STORE32,
    "cvt_fp8": "cvt.rn.satfinite.e4m3x2.f32 h0, f0, f1;" + STORE16,
    "cvt_narrow": "cvt.rp.satfinite.ue8m0x2.f32 h0, f0, f1;" + STORE16,
    "cvt_scaled_n1": "cvt.rn.satfinite.scaled::n1::ue8m0.e4m3x2.bf16x2 h0, r1, b0;" + STORE16,
    "cvt_scaled_n2": "cvt.rn.scaled::n2::ue8m0.bf16x2.e4m3x2 r0, h1, h2;" + STORE32,
    "cvt_rs": "cvt.rs.satfinite.e4m3x4.f32 r0, {f0, f1, f2, f3}, r1;" + STORE32,
    "cvt_ue5m3": "cvt.rn.ue5m3x2.f32 h0, f0, f1;" + STORE16,
    "cvt_narrow_rz": "cvt.rz.satfinite.e4m3x2.f32 h0, f0, f1;" + STORE16,
    "tma_swizzle_96": "tensormap.replace.tile.swizzle_mode.global.b1024.b32 [d0], 4;",
    "tma_gather4": LOAD.format(".tile::gather4.mbarrier::complete_tx::bytes",
                               "{r0, r1, r2, r3, r4}"),
    "tma_gather4_cta": LOAD.format(".tile::gather4.mbarrier::complete_tx::bytes",
                                   "{r0, r1, r2, r3, r4}").replace("shared::cluster", "shared::cta"),
    "tma_cta_group": LOAD.format(".tile.mbarrier::complete_tx::bytes.cta_group::2", "{r0, r1}"),
    "tensormap_replace": "tensormap.replace.tile.rank.global.b1024.b32 [d0], 1;",
}


FORM_OF_MODE = ("mma.sync.aligned.m16n8k{k}.row.col.kind::{kind}.block_scale{vec}.f32.{type}.{type}.f32"
                ".{scale} {{f0,f1,f2,f3}}, {{r0,r1,r2,r3}}, {{r4,r6}}, {{f0,f1,f2,f3}}, r6, {{h0,h1}}, "
                "r7, {{h2,h3}}; st.global.f32 [d0], f0;")


def mmaSyncJobs(rows):
    """Every combination of kind, scale_vec and scale type: taken if and only if it is a row."""
    listed = {(row[0], row[2][:2], row[4]) for row in rows
              if len(row) == 7 and row[1].startswith("m16n8k")}
    for kind, k, element in [("mxf8f6f4", 32, "e4m3"), ("mxf4", 64, "e2m1"), ("mxf4nvf4", 64, "e2m1")]:
        for vec in ("1X", "2X", "4X"):
            for scale in ("ue8m0", "ue4m3", "ue5m3"):
                body = FORM_OF_MODE.format(k=k, kind=kind, vec=f".scale_vec::{vec}", type=element,
                                           scale=scale)
                yield (f"mma.sync {kind} {vec} {scale}", "sm_120a", "9.4", body,
                       (kind, vec, scale) in listed)


def takes(ptxas, target, version, body):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "k.ptx")
        source.write_text(HEAD.format(version=version, target=target) + body + "\n  ret;\n}\n")
        return subprocess.run([ptxas, f"-arch={target}", source, "-o", pathlib.Path(folder, "k")],
                              capture_output=True).returncode == 0


def tables(page):
    """Rows of the page's tables, as lists of cells."""
    return [[cell.strip() for cell in line.strip("|\n").split("|")]
            for line in page.splitlines() if line.startswith("|")]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ptxas", required=True)
    parser.add_argument("--page", type=pathlib.Path, required=True)
    args = parser.parse_args()
    rows = tables(args.page.read_text())
    header = next(row for row in rows if row[0] == "feature")
    targets = {f"sm_{cell}": i for i, cell in enumerate(header) if cell[:2].isdigit()}
    features = {row[0]: row for row in rows if row[0] in FORMS}
    limits = next(row for row in rows if row[0] == "target")
    lowest = {row[0]: row[limits.index(".version")] for row in rows
              if row[0] in targets and len(row) == len(limits)}

    jobs = [(name, target, "9.4", FORMS[name], features[name][column] == "yes")
            for name in FORMS for target, column in targets.items()]
    for target, version in lowest.items():
        jobs.append((f".version {version}", target, version, "", True))
        before = VERSIONS[VERSIONS.index(version) - 1]
        jobs.append((f".version {before}", target, before, "", False))
    jobs += mmaSyncJobs(rows)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        taken = list(pool.map(lambda job: takes(args.ptxas, *job[1:4]), jobs))
    wrong = [f"{what} on {target}: the table says {'yes' if expected else 'no'}, ptxas the opposite"
             for (what, target, _, _, expected), got in zip(jobs, taken) if got != expected]
    print("\n".join(wrong))
    print(f"{len(features)} features, {len(lowest)} targets, {len(jobs)} runs, {len(wrong)} differ")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
