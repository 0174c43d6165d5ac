# ===- wgmma_kernel_mutations.py - breaks each rule of a wgmma kernel ----------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: wgmma_kernel_mutations.py BLOCKSCALE-OPT KERNEL.mlir [split]
# Each change of one line must be refused by the rule that it breaks. `split`: the kernel
# is the one whose k is split over two CTAs.
#
# ===-----------------------------------------------------------------------===#

import re
import subprocess
import sys

# (what the line holds, old, new, rule); an empty `new` takes the line away, or all of them if there is no `old`
CHANGES = [
    ("wgmma_kernel @gemm_0", "!blockscale.buffer)", "!blockscale.buffer, %extra: i32)", "wgmma_kernel_c1"),
    ("module @kernels", 'arch = "sm_90a"', 'arch = "sm_80"', "wgmma_kernel_c2"),
    ("wgmma_kernel @gemm_0", "threads = 256 : i64", "threads = 128 : i64", "wgmma_kernel_c3"),
    ("wgmma_kernel @gemm_0", "shared_bytes = 26704", "shared_bytes = 26720", "wgmma_kernel_c3"),
    ("wgmma_kernel @gemm_0", "a = f16", "a = q8_1_chunk", "wgmma_schedule_c6"),
    ("content = terms", "content = terms", "content = tokens", "wgmma_kernel_c4"),
    ("content = blocks", "bytes = 9216", "bytes = 9217", "wgmma_kernel_c4"),
    ("content = tokens", "stages = 2", "stages = 3", "wgmma_kernel_c4"),
    ("content = tokens", "offset = 18432", "offset = 18560", "wgmma_kernel_c5"),
    ("content = tokens", "offset = 18432", "offset = 17408", "wgmma_kernel_c5"),
    ("content = terms", "offset = 22528", "offset = 22536", "wgmma_kernel_c5"),
    ("content = blocks", "full = 26624", "full = 26628", "wgmma_kernel_c5"),
    ("content = tokens", "free = 26688", "free = 26696", "wgmma_kernel_c5"),
    ("content = terms", "free = 26656", "free = 26672", "wgmma_kernel_c5"),
    ("wgmma_role", "convert", "copy_blocks", "wgmma_kernel_c6"),
    ("RING_FILL tokens", "tokens", "blocks", "wgmma_kernel_c6"),
    ("load_halves", "part 0", "part 4", "wgmma_kernel_c7"),
    ("load_halves", "run 0", "run 2", "wgmma_kernel_c7"),
    ("load_halves", "run 0", "run 1", "wgmma_kernel_c7"),
    ("multiply_halves", "run 0", "run 1", "wgmma_kernel_c7"),
    ("CONVERT_TERMS", "blocks", "tokens", "wgmma_kernel_c7"),
    ("RING_WAIT blocks", None, "", "wgmma_kernel_c8"),
    ("RING_WAIT terms", None, "", "wgmma_kernel_c8"),
    ("RING_WAIT tokens", None, "", "wgmma_kernel_c8"),
    ("RING_FREE blocks", None, "", "wgmma_kernel_c8"),
    ("RING_FREE tokens", None, "", "wgmma_kernel_c8"),
    ("grid [4, 1, 1]", "grid [4, 1, 1]", "grid [4, 2, 1]", "launch_c9"),
    ("grid [4, 1, 1]", "block [256, 1, 1]", "block [128, 1, 1]", "launch_c2"),
    ("grid [4, 1, 1]", "shared 26704", "shared 26688", "launch_c3"),
    ("type = u8", "dims = [288, 70]", "dims = [288, 69]", "launch_c6"),
    ("type = u16", "swizzle = b128", "swizzle = none", "launch_c6"),
    ("grid [4, 1, 1]", "cluster [1, 1, 1]", "cluster [2, 1, 1]", "launch_c2"),
    ("STORE_SUMS", None, "", "wgmma_kernel_c9"),
]
SPLIT_CHANGES = [
    ("wgmma_kernel @gemm_0", ", split = 2", "", "wgmma_kernel_c9"),
    ("wgmma_kernel @gemm_0", "split = 2", "split = 6", "wgmma_schedule_c7"),
    ("SHARE_SUMS", None, "", "wgmma_kernel_c9"),
    ("ADD_SUMS", None, "", "wgmma_kernel_c9"),
    ("cluster_barrier", "blockscale.cluster_barrier", "", "wgmma_kernel_c9"),
    ("cluster_barrier", None, "", "wgmma_kernel_c9"),
    ("copy_blocks {", "{", "{ blockscale.cluster_barrier", "wgmma_kernel_c6"),
    ("grid [8, 1, 1]", "grid [8, 1, 1]", "grid [6, 1, 1]", "launch_c9"),
    ("grid [8, 1, 1]", "cluster [2, 1, 1]", "cluster [1, 1, 1]", "launch_c2"),
]


def refusal(tool, text):
    ran = subprocess.run([tool, "-"], input=text, capture_output=True, text=True, timeout=60)
    return None if ran.returncode == 0 else ran.stderr


def main():
    tool, path, *isSplit = sys.argv[1:]
    changes = SPLIT_CHANGES if isSplit else CHANGES
    text = open(path).read()
    if refusal(tool, text):
        sys.exit(f"{path} must be valid before it is changed")
    rings = {content: name for name, content in re.findall(r"(%\w+) = blockscale\.ring <content = (\w+)", text)}
    lines = text.splitlines(keepends=True)
    bad = []
    for holds, old, new, rule in changes:
        # RING_WAIT blocks: every line of ring_wait of the ring of blocks.
        op, _, ring = holds.partition(" ")
        if op.isupper():
            holds = f"blockscale.{op.lower()} {rings[ring]}" if ring else f"blockscale.{op.lower()} "
            old, new = rings.get(old, old), rings.get(new, new)
        found = [i for i, line in enumerate(lines) if holds in line and (old is None or old in line)]
        if not found:
            bad.append(f"no line holds '{holds}' and '{old}'")
            continue
        mutant = list(lines)
        for i in found if old is None else found[:1]:
            mutant[i] = "" if old is None else lines[i].replace(old, new, 1)
        message = refusal(tool, "".join(mutant))
        if not message or f"{rule}: " not in message:
            bad.append(f"'{holds}': '{old}' -> '{new}' must break {rule}, got {(message or 'accepted')[:300]}")
    print(f"{len(changes)} changes, {len(bad)} bad")
    sys.exit("\n".join(bad) if bad else 0)


if __name__ == "__main__":
    main()
