# ===- halves.py - products of f16 activations and Q4_K weights ----------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: halves.py BLOCKSCALE-RUN BLOCKSCALE-TRANSLATE BLOCKSCALE-OPT FOLDER
# Runs ragged products on the emulator, hazard checks on, and compares them with the
# contract of halves of docs/Q4K.md, evaluated here in NumPy. One goes by PTX and
# manifest and under several timings; without its waits and fences it must be refused.
# So does one whose k is split over a cluster, without each of its barriers.
#
# ===-----------------------------------------------------------------------===#

import os
import re
import subprocess
import sys

import numpy as np

# nt, od, id, contract, tokens x rows of a given schedule, its groups, stages of blocks and of tokens, and parts of k
CASES = [
    (1, 1, 256, "any", None),
    (17, 70, 512, "any", None),
    (130, 260, 512, "halves", None),
    (20, 130, 512, "any", (16, 64, 1, 2, 2)),
    (40, 200, 256, "any", (32, 128, 1, 2, 4)),
    (513, 130, 256, "any", None),
    (60, 260, 256, "any", (128, 256, 2, 2, 8)),
    (20, 130, 1792, "any", (16, 64, 1, 2, 2, 2)),
    (16, 64, 1024, "any", (16, 64, 1, 2, 2, 4)),
    (130, 260, 1280, "halves", (128, 128, 2, 2, 3, 4)),
    (60, 260, 512, "any", (128, 256, 2, 2, 7, 2)),
]


def make(nt, od, k, seed):
    random = np.random.default_rng(seed)
    blocks = random.integers(0, 256, (od, k // 256, 144)).astype(np.uint8)
    for offset, least in ((0, 256), (2, 64)):
        scale = (random.uniform(-2, 2, (od, k // 256, 1)) / least).astype(np.float16)
        blocks[..., offset:offset + 2] = scale.view(np.uint8)
    return random.normal(size=(nt, k)).astype(np.float16), blocks


def contract(x, blocks):
    """Sums in f64 of f16 weights fma(nibble, f16(d * sc), -f16(dmin * m)), and their bound."""
    d, dmin = (blocks[..., i:i + 2].copy().view(np.float16).astype(np.float32) for i in (0, 2))
    b = blocks[..., 4:16].astype(np.int32)
    scale = np.concatenate([b[..., 0:4] & 63, (b[..., 8:12] & 15) | b[..., 0:4] >> 6 << 4], -1)
    least = np.concatenate([b[..., 4:8] & 63, b[..., 8:12] >> 4 | b[..., 4:8] >> 6 << 4], -1)
    scale, least = ((a * s.astype(np.float32)).astype(np.float16).astype(np.float64)
                    for a, s in ((d, scale), (dmin, least)))
    packed = blocks[..., 16:].reshape(*blocks.shape[:2], 4, 1, 32)
    nibbles = np.concatenate([packed & 15, packed >> 4], 3).reshape(*blocks.shape[:2], 8, 32)
    # An f64 holds nibble * scale - least exactly, so that it rounds once.
    weights = (nibbles * scale[..., None] - least[..., None]).astype(np.float16).astype(np.float64)
    weights = weights.reshape(len(blocks), -1)
    x = x.astype(np.float64)
    bound = (6 * x.shape[1] / 16 + 1) * 2.0**-23 * (np.abs(x) @ np.abs(weights).T)
    return x @ weights.T, bound


def module(x, blocks, allowed, given):
    (nt, k), od = x.shape, len(blocks)
    a, w, d = f"tensor<{nt}x{k}xf16>", f"tensor<{od}x{blocks[0].size}xi8, #blockscale.blocks<q4_K>>", f"tensor<{nt}x{od}xf32>"
    attributes = f"contract = #blockscale.contract<{allowed}>"
    if given:
        tokens, rows, groups, block, token, *split = given
        attributes += (f", wgmma_schedule = #blockscale.wgmma_schedule<arch = sm_90a, tile = {tokens}x{rows}x256, "
                       f"groups = {groups}, block_stages = {block}, token_stages = {token}, blocks = 1"
                       + "".join(f", split = {parts}" for parts in split) + ">")
    return f"""func.func @f(%a: {a}, %w: {w}) -> {d} {{
  %c = tensor.empty() : {d}
  %d = blockscale.gemm ins(%a, %w : {a}, {w}) outs(%c : {d}) {{{attributes}}} -> {d}
  return %d : {d}
}}
"""


def run(*command, legal=True):
    ran = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if legal and ran.returncode:
        sys.exit(f"{' '.join(command)}:\n{ran.stdout}{ran.stderr}")
    return ran


def bits(path):
    return np.load(path).view(np.int32).ravel()


def main():
    runner, translate, opt, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    at = lambda name: os.path.join(folder, name)

    def write(name, text):
        with open(at(name), "w") as file:
            file.write(text)

    def problem(nt, od, k, seed, allowed, given):
        x, blocks = make(nt, od, k, seed)
        np.save(at("a.npy"), x)
        np.save(at("w.npy"), blocks.reshape(od, -1))
        write("k.mlir", module(x, blocks, allowed, given))
        return x, blocks

    def launch(out, *flags):
        return run(runner, at("k.mlir"), "--entry=f", "--arch=sm_90a", f"--arg={at('a.npy')}", f"--arg={at('w.npy')}",
                   f"--out={at(out)}", *flags).stdout

    for number, (nt, od, k, allowed, given) in enumerate(CASES):
        x, blocks = problem(nt, od, k, number, allowed, given)
        said = launch("d.npy", "--check")
        tile = re.search(r"tile (\S+), dequantise_wgmma", said)[1]
        want, bound = contract(x, blocks)
        off = np.abs(np.load(at("d.npy")) - want)
        print(f"{nt}x{od}x{k} {allowed}: tile {tile}:", "inside the bound" if (off <= bound).all() else "WRONG")

    def timings(seeds):
        """Leaves d.npy, k.ptx and k.json; gives the PTX."""
        found = re.search(r"same bits under earliest, latest, (.*)", launch("d.npy", "--check", f"--seeds={seeds}"))
        print(f"under {seeds + 2} timings:", "same bits" if found else "other bits")
        run(translate, "--mlir-to-ptx", "--arch=sm_90a", at("k.mlir"), "-o", at("k.ptx"), f"--manifest={at('k.json')}")
        run(runner, f"--ptx={at('k.ptx')}", *by_manifest, f"--out=d={at('m.npy')}")
        print("by manifest:", "same bits" if np.array_equal(bits(at("m.npy")), bits(at("d.npy"))) else "other bits")
        return open(at("k.ptx")).read()

    def drop(what, text, pattern):
        mutant, count = re.subn(rf"\t{pattern}.*\n", "", text)
        write("mutant.ptx", mutant)
        ran = run(runner, f"--ptx={at('mutant.ptx')}", *by_manifest, legal=False)
        print(f"without {what}:", "hazard" if count and ran.returncode and "hazard" in ran.stderr else "missed")

    by_manifest = [f"--manifest={at('k.json')}", f"--arg=a={at('a.npy')}", f"--arg=b={at('w.npy')}"]
    problem(9, 130, 1280, 10, "any", (16, 64, 1, 2, 2, 4))
    text = timings(seeds=4)
    drop("bar.sync 1", text, r"bar\.sync\s+1,")
    drop("barrier.cluster", text, r"barrier\.cluster")

    x, blocks = problem(9, 130, 768, 9, "any", (16, 64, 1, 2, 2))
    text = timings(seeds=1)
    for what in ("wgmma.wait_group", "wgmma.fence"):
        drop(what, text, re.escape(what))

    # The kernel level refuses a role that reads what it has not waited for, or keeps stages.
    passes = ["check-encodings", "normalize-scales", "insert-relayouts", "choose-schedule=arch=sm_90a", "pack-narrow",
              "bufferize", "lower-gemm-to-kernel"]
    level3 = run(opt, at("k.mlir"), *[f"--blockscale-{name}" for name in passes]).stdout
    rings = dict(reversed(pair) for pair in re.findall(r"(%\w+) = blockscale\.ring <content = (\w+)", level3))
    for what, line in (("waits for blocks", f"ring_wait {rings['blocks']}["), ("waits for terms", f"ring_wait {rings['terms']}["),
                       ("waits for tokens", f"ring_wait {rings['tokens']}["), ("freed blocks", f"ring_free {rings['blocks']}["),
                       ("freed tokens", f"ring_free {rings['tokens']}[")):
        write("mutant.mlir", "".join(l for l in level3.splitlines(keepends=True) if line not in l))
        ran = run(opt, at("mutant.mlir"), legal=False)
        print(f"without {what}:", re.search(r"wgmma_kernel_c\d", ran.stderr)[0] if ran.returncode else "missed")

    # The comparison sees one nibble and one scale.
    got = np.load(at("d.npy"))
    for what, index, bit in (("nibble", (5, 1, 40), 8), ("scale", (5, 0, 4), 1)):
        blocks[index] ^= bit
        want, bound = contract(x, blocks)
        blocks[index] ^= bit
        print(f"a changed {what} is", "seen" if (np.abs(got - want) > bound).any() else "missed")


if __name__ == "__main__":
    main()
