# ===- q4k.py - products of blocks against the contract, bit for bit -----------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: q4k.py BLOCKSCALE-RUN BLOCKSCALE-TRANSLATE FOLDER
# Runs ragged products on the emulator, hazard checks on, under several timings, and
# compares their bits with the contract of docs/Q4K.md, evaluated here in NumPy. One
# goes by PTX and manifest. A changed nibble, scale or sum must be seen.
#
# ===-----------------------------------------------------------------------===#

import functools
import os
import re
import subprocess
import sys

import numpy as np

# nt, od, id, chip, pinned fields; with minima=mma or a split k the product's contract is the bounded one
CASES = [
    (1, 127, 256, "sm_80", ""),
    (63, 300, 512, "sm_90a", ""),
    (65, 129, 768, "sm_90a", "sums=packed"),
    (64, 128, 1024, "sm_121a", ""),
    (65, 130, 768, "sm_89", ""),
    (130, 255, 256, "sm_120a", "sums=packed"),
    (65, 129, 512, "sm_90a", "kernel=wide"),
    (130, 127, 512, "sm_90a", "kernel=narrow"),
    (63, 130, 512, "sm_80", "kd=4"),
    (65, 130, 1280, "sm_90a", "activations=transposed"),
    (63, 127, 256, "sm_90a", "activations=transposed,stages=2,convert=cvt,flight=4"),
    (65, 129, 512, "sm_80", "activations=transposed"),
    (65, 130, 1280, "sm_90a", "activations=transposed,minima=mma"),
    (1, 127, 512, "sm_121a", "activations=transposed,minima=mma,convert=cvt"),
    (65, 130, 512, "sm_90a", "pragma=mma_throughput"),
    (63, 300, 512, "sm_90a", "weights=plane"),
    (65, 129, 1280, "sm_90a", "activations=transposed,weights=plane"),
    (65, 130, 256, "sm_80", "weights=plane,sums=packed"),
    (65, 290, 1280, "sm_90a", "activations=transposed,warp-rows=32"),
    (63, 127, 512, "sm_90a", "activations=transposed,warp-rows=32,weights=plane,pragma=mma_throughput,flight=1"),
    (65, 130, 768, "sm_90a", "activations=transposed,minima=mma,warp-rows=32"),
    (65, 130, 1792, "sm_90a", "activations=transposed,minima=fold,split=2"),
    (33, 127, 2304, "sm_90a", "split=4,minima=fold"),
    (3, 300, 1024, "sm_121a", "split=4,stages=1,sums=packed,minima=fold"),
    (70, 129, 1792, "sm_90a", "activations=transposed,split=2,warp-rows=32,weights=plane"),
    (65, 130, 6144, "sm_90a", "activations=transposed,minima=mma,split=8"),
    (65, 129, 512, "sm_90a", "stages=1"),
    (63, 130, 512, "sm_89", "kd=4,sums=packed"),
    (65, 129, 256, "sm_80", "kernel=wide,sums=packed"),
    (65, 130, 1024, "sm_89", "kd=16"),
    (130, 70, 1536, "sm_120a", "kd=16,sums=packed"),
    (130, 70, 1024, "sm_90a", "kd=16"),
]
RINGS = (9, 16, 18)  # cases whose barriers are taken away one by one


def make(nt, od, k, seed):
    """Chunks of A and blocks of B as bytes, d of some chunks 0."""
    random = np.random.default_rng(seed)
    blocks = random.integers(0, 256, (od, k // 256, 144)).astype(np.uint8)
    for offset, least in ((0, 128), (2, 64)):
        scale = (random.uniform(0.5, 2, (od, k // 256, 1)) / least).astype(np.float16)
        blocks[..., offset:offset + 2] = scale.view(np.uint8)
    q = random.integers(-127, 128, (nt, k // 32, 32)).astype(np.int8)
    d = (random.uniform(0.5, 2, (nt, k // 32, 1)) / 64).astype(np.float16)
    empty = random.random((nt, k // 32)) < 0.1
    q[empty], d[empty] = 0, 0
    chunks = np.zeros((nt, k // 32, 40), np.uint8)
    chunks[..., 0:2] = d.view(np.uint8)
    chunks[..., 4:36] = q.view(np.uint8)
    chunks[..., 36:40] = q.astype(np.int32).sum(-1, keepdims=True, dtype=np.int32).view(np.uint8)
    return chunks, blocks


def splitOf(pins):
    return int(re.search(r"split=(\d)|$", pins)[1] or 1)


def contractOf(pins, chunks, blocks):
    """The same for parts of k, each of which starts at zero; they add up in order."""
    split, depth = splitOf(pins), blocks.shape[1]
    ends = [depth * part // split for part in range(split + 1)]
    parts = [contract(chunks[:, 8 * a:8 * b], blocks[:, a:b]) for a, b in zip(ends, ends[1:])]
    return functools.reduce(lambda x, y: (x + y).astype(np.float32), parts)


def contract(chunks, blocks):
    """acc = fma(da * (d * sc), sum(q n), acc), then fma(da * sum(q), -(dmin * m), acc), in f32."""
    da = chunks[..., 0:2].copy().view(np.float16)[..., 0].astype(np.float32)
    q = chunks[..., 4:36].view(np.int8).astype(np.int32)
    sums = chunks[..., 36:40].copy().view(np.int32)[..., 0].astype(np.float32)
    d, dmin = (blocks[..., i:i + 2].copy().view(np.float16).astype(np.float32) for i in (0, 2))
    b = blocks[..., 4:16].astype(np.int32)
    scale = np.concatenate([b[..., 0:4] & 63, (b[..., 8:12] & 15) | b[..., 0:4] >> 6 << 4], -1)
    least = np.concatenate([b[..., 4:8] & 63, b[..., 8:12] >> 4 | b[..., 4:8] >> 6 << 4], -1)
    rows = len(blocks)
    scale = (d * scale.astype(np.float32)).reshape(rows, -1)
    least = -(dmin * least.astype(np.float32)).reshape(rows, -1)
    packed = blocks[..., 16:].reshape(rows, -1, 4, 32).astype(np.int32)
    nibbles = np.stack([packed & 15, packed >> 4], 3).reshape(rows, -1, 32)

    def fma(x, y, z):
        # Exact in f64 before it rounds: x has 24 bits, y at most 17 or 24, and z is close.
        return (x.astype(np.float64) * y + z).astype(np.float32)

    acc = np.zeros((len(chunks), rows), np.float32)
    for i in range(q.shape[1]):
        acc = fma(da[:, i, None] * scale[None, :, i], (q[:, i] @ nibbles[:, i].T).astype(np.float32), acc)
        acc = fma((da[:, i] * sums[:, i])[:, None], least[None, :, i], acc)
    return acc


def module(chunks, blocks, attributes=""):
    """MLIR of the product of chunks of A and blocks of B."""
    (nt, a), (od, w) = ((len(x), x[0].size) for x in (chunks, blocks))
    at_type = f"tensor<{nt}x{a}xi8, #blockscale.blocks<q8_1_chunk>>"
    wt_type = f"tensor<{od}x{w}xi8, #blockscale.blocks<q4_K>>"
    return f"""func.func @f(%a: {at_type}, %w: {wt_type}) -> tensor<{nt}x{od}xf32> {{
  %c = tensor.empty() : tensor<{nt}x{od}xf32>
  %d = blockscale.gemm ins(%a, %w : {at_type}, {wt_type}) outs(%c : tensor<{nt}x{od}xf32>){attributes} -> tensor<{nt}x{od}xf32>
  return %d : tensor<{nt}x{od}xf32>
}}
"""


def isBounded(pins):
    return "minima=mma" in pins or splitOf(pins) > 1


def worst(got, want):
    """The largest difference, by the results' root mean square."""
    return np.abs(got - want).max() / np.sqrt(np.mean(want.astype(np.float64) ** 2))


def withoutLine(text, path, holds, which):
    """Writes PTX without the instruction of that number that holds a word."""
    found = [i for i, line in enumerate(text) if holds in line and not line.startswith("$")]
    with open(path, "w") as file:
        file.writelines(text[:found[which]] + text[found[which] + 1:])


def run(*command):
    ran = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if ran.returncode:
        sys.exit(f"{' '.join(command)}:\n{ran.stdout}{ran.stderr}")
    return ran.stdout


def transpose(chunks, hasParts=False):
    """Tiles of chunks, by the description of their layout."""
    tokens, count = chunks.shape[:2]
    tiles = np.zeros((-(-tokens // 64) * (count // 8), 21504 if hasParts else 20480), np.uint8)
    for token in range(tokens):
        for index in range(count):
            tile = tiles[token // 64 * (count // 8) + index // 8]
            t, c = token % 64, index % 8
            for half in range(2):
                unit = t // 4 * 128 + ((t % 4 * 2 + half) ^ (t // 4 % 8)) * 16
                tile[c * 2048 + unit:][:16] = chunks[token, index, 4 + 16 * half:][:16]
            d = chunks[token, index, 0:2].copy().view(np.float16).astype(np.float32)
            total = d * chunks[token, index, 36:40].copy().view(np.int32).astype(np.float32)
            entry = c * 256 + ((t // 32 * 8 + t % 8) * 4 + t // 16 % 2 * 2 + t // 8 % 2) * 4
            tile[16384 + entry:][:4] = d.view(np.uint8)
            if not hasParts:
                tile[18432 + entry:][:4] = total.view(np.uint8)
            for part in range(3 if hasParts else 0):
                upper = total.view(np.uint32) & 0xFFFF0000
                tile[18432 + part * 1024 + t * 16 + c * 2:][:2] = upper.view(np.uint8)[2:]
                total = total - upper.view(np.float32)
    return tiles


def planes(blocks):
    """q4_K blocks as planes of 16 rows, by the description of their layout."""
    rows, count = blocks.shape[:2]
    out = np.zeros((-(-rows // 16), count, 3072), np.uint8)
    d, dmin = (blocks[..., i:i + 2].copy().view(np.float16).astype(np.float32) for i in (0, 2))
    b = blocks[..., 4:16].astype(np.int32)
    scale = np.concatenate([b[..., 0:4] & 63, (b[..., 8:12] & 15) | b[..., 0:4] >> 6 << 4], -1)
    least = np.concatenate([b[..., 4:8] & 63, b[..., 8:12] >> 4 | b[..., 4:8] >> 6 << 4], -1)
    terms = np.stack([d * scale.astype(np.float32), -(dmin * least.astype(np.float32))], -1).astype(np.float32)
    for row in range(rows):
        plane, r = out[row // 16], row % 16
        for piece in range(8):
            plane[:, r * 128 + (piece ^ r % 8) * 16:][:, :16] = blocks[row, :, 16 + piece * 16:][:, :16]
        for sub in range(8):
            plane[:, 2048 + (sub * 16 + r) * 8:][:, :8] = terms[row, :, sub].copy().view(np.uint8)
    return out.reshape(len(out), -1)


def checkRing(runner, translate, at, chip, pins, chunks, blocks):
    """What orders the stages of a ring is missed when it is gone."""
    np.save(at("t.npy"), transpose(chunks))
    weights = planes(blocks) if "weights=plane" in pins else blocks.reshape(len(blocks), -1)
    np.save(at("w.npy"), weights)
    run(translate, "--mlir-to-ptx", f"--arch={chip}", f"--pin={pins}", at("k.mlir"), "-o", at("k.ptx"), f"--manifest={at('k.json')}")
    text = open(at("k.ptx")).read().splitlines(keepends=True)
    arguments = [f"--manifest={at('k.json')}", f"--arg=a={at('t.npy')}", f"--arg=b={at('w.npy')}", f"--out=d={at('m.npy')}"]
    run(runner, f"--ptx={at('k.ptx')}", *arguments)
    same = np.array_equal(np.load(at("m.npy")).view(np.int32).ravel(), contract(chunks, blocks).view(np.int32).ravel())
    print(f"tiles made here: {'same' if same else 'other'} bits")
    for what, holds, which in (("wait for a tile", "mbarrier.try_wait", 1), ("wait for a free stage", "mbarrier.try_wait", 0),
                               ("proxy fence", "fence.proxy.async", 0), ("wait for rows", "cp.async.wait_group", 0)):
        if "try_wait" in holds:  # the wait is a loop: its answer is yes at once
            found = [i for i, line in enumerate(text) if holds in line]
            answer = re.search(r"(%p\d+)", text[found[which]])[1]
            with open(at("mutant.ptx"), "w") as file:
                file.writelines(text[:found[which]] + [f"\tsetp.eq.b32 {answer}, 0, 0;\n"] + text[found[which] + 1:])
        else:
            withoutLine(text, at("mutant.ptx"), holds, which)
        ran = subprocess.run([runner, f"--ptx={at('mutant.ptx')}", *arguments], capture_output=True, text=True, timeout=600)
        print(f"without the {what}: {'hazard' if 'hazard' in ran.stderr + ran.stdout else 'missed'}")


def checkBlocks(runner, at, chip, chunks, blocks, want):
    """ggml's own q8_1, 36 bytes with d * sum(q) as f16: chunks, and tiles, of the same bits."""
    d, q = chunks[..., 0:2], chunks[..., 4:36]
    total = d.copy().view(np.float16).astype(np.float32) * q.view(np.int8).astype(np.float32).sum(-1, keepdims=True)
    own = np.concatenate([d, total.astype(np.float16).view(np.uint8), q], -1)
    np.save(at("own.npy"), own.reshape(len(own), -1))
    with open(at("own.mlir"), "w") as file:
        file.write(module(chunks, blocks).replace(f"x{chunks[0].size}xi8, #blockscale.blocks<q8_1_chunk>", f"x{own[0].size}xi8, #blockscale.blocks<q8_1>"))
    for pins in ("activations=chunks", "activations=transposed"):
        run(runner, at("own.mlir"), "--entry=f", f"--arch={chip}", f"--pin={pins}", f"--arg={at('own.npy')}",
            f"--arg={at('w.npy')}", f"--out={at('m.npy')}", "--check")
        same = np.array_equal(np.load(at("m.npy")).view(np.int32), want.view(np.int32))
        print(f"of 36-byte blocks, {pins}: {'same' if same else 'other'} bits")


def main():
    runner, translate, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    at = lambda name: os.path.join(folder, name)
    for number, (nt, od, k, chip, pins) in enumerate(CASES):
        chunks, blocks = make(nt, od, k, number)
        a, w = chunks.reshape(nt, -1), blocks.reshape(od, -1)
        np.save(at("a.npy"), a)
        np.save(at("w.npy"), w)
        with open(at("k.mlir"), "w") as file:
            file.write(module(chunks, blocks, " {contract = #blockscale.contract<bounded>}" if isBounded(pins) else ""))
        pin = [f"--pin={pins}"] if pins else []
        said = run(runner, at("k.mlir"), "--entry=f", f"--arch={chip}", f"--arg={at('a.npy')}", f"--arg={at('w.npy')}",
                   f"--out={at('d.npy')}", "--check", "--seeds=2", *pin)
        got, want = np.load(at("d.npy")), contractOf(pins, chunks, blocks)
        wrong = int((got.view(np.int32) != want.view(np.int32)).sum())
        kernel = said.split(", 16x8x32")[0]
        name = next(word for word in ("raw_nibble", "wide", "narrow") if f" {word}, " in said)
        if "minima=mma" in pins:
            error = worst(got, want)
            print(f"{nt}x{od}x{k} {chip} {name} {pins}: {'within' if error <= 1e-5 else 'beyond'} 1e-5")
            wrong = error > 1e-5 or not wrong  # other bits than the contract's, or it was not that product
        else:
            print(f"{nt}x{od}x{k} {chip} {name} {pins or '-'}: {wrong} bits differ")
        if wrong or "same bits under earliest, latest, seed 0, seed 1" not in said:
            sys.exit(f"{kernel}: {wrong} elements differ from the contract")
        if number == 1:
            run(translate, "--mlir-to-ptx", f"--arch={chip}", at("k.mlir"), "-o", at("k.ptx"), f"--manifest={at('k.json')}")
            run(runner, f"--ptx={at('k.ptx')}", f"--manifest={at('k.json')}", f"--arg=a={at('a.npy')}",
                f"--arg=b={at('w.npy')}", f"--out=d={at('m.npy')}")
            same = np.array_equal(np.load(at("m.npy")).view(np.int32).ravel(), want.view(np.int32).ravel())
            print(f"by manifest: {'same' if same else 'other'} bits")
            checkBlocks(runner, at, chip, chunks, blocks, want)
            # Each barrier and the wait of the copies is missed by the hazard checks.
            text = open(at("k.ptx")).read().splitlines(keepends=True)
            for what, holds, which in (("first barrier", "bar.sync", 0), ("second barrier", "bar.sync", 1), ("wait", "cp.async.wait_group", 0), ("next wait", "cp.async.wait_group", 1)):
                withoutLine(text, at("mutant.ptx"), holds, which)
                ran = subprocess.run([runner, f"--ptx={at('mutant.ptx')}", f"--manifest={at('k.json')}", f"--arg=a={at('a.npy')}",
                                      f"--arg=b={at('w.npy')}"], capture_output=True, text=True, timeout=600)
                place = re.search(r"against: \S+ (\S+?)(\\|$|\s)", ran.stderr)
                print(f"without the {what}: {'hazard' if ran.returncode and 'hazard' in ran.stderr else 'missed'}",
                      f"against {place[1] if place else 'nothing'}")
            # The comparison sees one nibble, one scale and one sum.
            for what, array, index in (("nibble", blocks, (5, 1, 40)), ("scale", blocks, (5, 0, 4)), ("sum", chunks, (7, 3, 36))):
                array[index] ^= 1
                seen = (got != contract(chunks, blocks)).any()
                array[index] ^= 1
                print(f"a changed {what} is {'seen' if seen else 'missed'}")
        if number in RINGS:
            checkRing(runner, translate, at, chip, pins, chunks, blocks)


if __name__ == "__main__":
    main()
