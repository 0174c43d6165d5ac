# ===- peers.py - what our kernels take beside those of the peers ------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles the products that FlashInfer and CUTLASS have by hand, as CuTe DSL 4.8.1
# builds them, with the same tile and a bf16 result, and compares stages, columns of
# tensor memory, instructions of a K tile, shared memory and spills. One CTA fills an SM
# of either, so shared memory counts where it holds no more stages. Prints one line for
# each, why a kernel is worse where it is, and
#   kernels.compared, kernels.worse_than_peers, kernels.spill_bytes
#
# ===-----------------------------------------------------------------------===#

import argparse
import dataclasses
import json
import pathlib
import re
import tempfile

import measure

FORMATS = {"nvfp4": ("f4E2M1FN", "f4E2M1FN", "ue4m3", 16, 256), "mxfp4": ("f4E2M1FN", "f4E2M1FN", "ue8m0", 32, 256),
           "mxfp8": ("f8E4M3FN", "f8E4M3FN", "ue8m0", 32, 128), "e2m1-e4m3": ("f4E2M1FN", "f8E4M3FN", "ue8m0", 32, 128)}


@dataclasses.dataclass(frozen=True)
class Peer:
    """A kernel of theirs: stages of A and B, accumulators, and of one K tile the products and copies of scales."""

    arch: str
    format: str
    rows: int  # of the tile of one CTA, or of a pair
    columns: int
    instK: int
    products: int
    copies: int
    stages: int
    accumulators: int
    tmem: int  # columns
    shared: int  # bytes of a CTA; 0 where nobody has read them

    @property
    def pair(self):
        return self.columns == 256

    @property
    def name(self):
        return f"{self.format}.{self.arch}.{self.rows}x{self.columns}.k{self.instK}"


PEERS = [
    Peer("sm_100a", "nvfp4", 128, 128, 64, 4, 8, 5, 2, 512, 226304),
    Peer("sm_100a", "mxfp4", 128, 128, 64, 4, 4, 6, 2, 512, 226304),
    Peer("sm_100a", "mxfp8", 128, 128, 32, 4, 2, 6, 2, 512, 228352),
    Peer("sm_100a", "nvfp4", 256, 256, 64, 4, 12, 5, 1, 512, 228352),
    Peer("sm_103a", "nvfp4", 128, 128, 96, 8, 24, 5, 2, 512, 199680),
    Peer("sm_103a", "nvfp4", 256, 256, 96, 8, 36, 5, 1, 512, 197632),
    Peer("sm_103a", "mxfp4", 256, 256, 96, 8, 18, 5, 1, 512, 197632),
    Peer("sm_107a", "nvfp4", 128, 128, 128, 2, 8, 8, 2, 576, 328704),
    Peer("sm_107a", "nvfp4", 256, 256, 128, 2, 12, 8, 2, 576, 0),
    Peer("sm_107a", "nvfp4", 512, 256, 128, 4, 16, 5, 1, 576, 0),
    Peer("sm_107a", "mxfp8", 128, 128, 64, 2, 2, 9, 2, 576, 0),
    Peer("sm_107a", "mxfp8", 256, 256, 64, 2, 3, 9, 2, 576, 0),
    Peer("sm_107a", "mxfp8", 512, 256, 64, 4, 4, 6, 1, 576, 0),
    Peer("sm_107a", "e2m1-e4m3", 128, 128, 64, 2, 2, 12, 2, 576, 0),
    Peer("sm_107a", "e2m1-e4m3", 256, 256, 64, 2, 3, 12, 2, 576, 0),
    Peer("sm_107a", "e2m1-e4m3", 512, 256, 64, 4, 4, 7, 1, 576, 0),
]


def program(peer):
    """Whole tiles, several along K, so that each instruction stands once."""
    a, b, scale, block, tileK = FORMATS[peer.format]
    m, n, k = 2 * peer.rows, 2 * peer.columns, 4 * (768 if peer.instK == 96 else tileK)

    def operand(rows, element):
        return (f"tensor<{rows}x{k}x{element}>",
                f"tensor<{rows}x{k // block}xi8, #blockscale.scales<{scale}, tiled>>")

    (a, sfa), (b, sfb), d = operand(m, a), operand(n, b), f"tensor<{m}x{n}xbf16>"
    return (f"func.func @gemm(%a: {a}, %sfa: {sfa}, %b: {b}, %sfb: {sfb}) -> {d} {{\n  %c = tensor.empty() : {d}\n"
            f"  %d = blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb : {a}, {sfa}, {b}, {sfb}) outs(%c : {d}) -> {d}\n"
            f"  return %d : {d}\n}}\n")


def columns(text):
    """Of tensor memory that a PTX text allocates."""
    count = re.search(r"tcgen05\.alloc\S+\s+\S+, (%?\w+);", text)[1]
    return int(count if count.isdigit() else re.search(rf"mov\.b32\s+{count}, (\d+);", text)[1])


def resources(build, ptxas, work, peer):
    """What our kernel of the same tile takes."""
    source, ptx, manifest = work / "k.mlir", work / "k.ptx", work / "k.json"
    source.write_text(program(peer))
    pins = {"tile-n": peer.columns, "inst-k": peer.instK, **({"cta-group": 2} if peer.pair else {}),
            **({"tile-m": 512} if peer.rows == 512 else {})}
    options = " ".join(f"{key}={value}" for key, value in pins.items())
    chosen = measure.run(build / "bin" / "blockscale-opt", source, f"--blockscale-choose-schedule=arch={peer.arch} {options}")
    measure.run(build / "bin" / "blockscale-translate", "--mlir-to-ptx", f"--arch={peer.arch}",
        "--pin=" + ",".join(f"{key}={value}" for key, value in pins.items()), source, "-o", ptx, f"--manifest={manifest}")
    text = ptx.read_text()
    said = measure.run(ptxas, f"-arch={peer.arch}", "-v", ptx, "-o", work / "k.cubin")
    return {"stages": int(re.search(r"[ ,]stages = (\d+)", chosen)[1]),
            "accumulators": int(re.search(r"accumulators = (\d+)", chosen)[1]),
            "products": len(re.findall(r"^\s*(?:@%p\d+ )?tcgen05\.mma\.", text, re.M)),
            "copies": len(re.findall(r"^\s*tcgen05\.cp\.", text, re.M)),
            "tmem": columns(text),
            "shared": json.loads(manifest.read_text())["kernels"][0]["shared_bytes"],
            "registers": int(re.search(r"Used (\d+) registers", said)[1]),
            "spilled": sum(map(int, re.findall(r"(\d+) bytes spill", said)))}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--ptxas", type=pathlib.Path, required=True)
    args = parser.parse_args()
    worse = spilled = 0
    for peer in PEERS:
        with tempfile.TemporaryDirectory() as work:
            ours = resources(args.build, args.ptxas, pathlib.Path(work), peer)
        print(f"{peer.name}: " + ", ".join(f"{value} {key}" for key, value in ours.items()), flush=True)
        wrong = [f"{key} {ours[key]}, theirs {getattr(peer, key)}" for key, sign in
                 (("stages", 1), ("accumulators", 1), ("products", -1), ("copies", -1), ("tmem", -1))
                 if sign * ours[key] < sign * getattr(peer, key)]
        if 0 < peer.shared < ours["shared"] and ours["stages"] <= peer.stages:
            wrong.append(f"shared {ours['shared']}, theirs {peer.shared}")
        if wrong:
            print(f"{peer.name} is worse: {'; '.join(wrong)}")
        worse += bool(wrong)
        spilled += ours["spilled"]
    measure.report("kernels.compared", len(PEERS))
    measure.report("kernels.worse_than_peers", worse)
    measure.report("kernels.spill_bytes", spilled)


if __name__ == "__main__":
    main()
