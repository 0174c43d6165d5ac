# ===- warp_kernel_mutations.py - changes one number of a plan at a time ------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: warp_kernel_mutations.py BLOCKSCALE-OPT KERNEL.mlir [split]
# Adds one to every number of the first kernel's plan and of the ops of its first
# chunks, one at a time: each mutant must be refused by a rule. Named changes must be
# refused by the rule that they break.
#
# ===-----------------------------------------------------------------------===#

import re
import subprocess
import sys

OPS = re.compile(r"blockscale\.(shared_plane|fill_weights|load_nibbles|unpack_nibbles|load_group|load_token_scales|"
                 r"load_row_scales) ")
LINES = 14  # of such ops; the others repeat them

# (what the line holds, old, new, rule)
NAMED = [
    ("module @kernels", 'arch = "sm_90a"', 'arch = "sm_80"', "warp_kernel_c2"),
    ("warp_kernel @gemm_0", "threads = 256 : i64", "threads = 128 : i64", "warp_kernel_c3"),
    ("warp_kernel @gemm_0", "blocks = 1 : i64", "blocks = 2 : i64", "warp_kernel_c3"),
    ("content = qb_raw", "qb_raw", "qb8", "warp_kernel_c4"),
    ("content = sda", "bytes = 4096", "bytes = 2048", "warp_kernel_c4"),
    ("warp_kernel @gemm_0", "shared_bytes = 45056", "shared_bytes = 43008", "warp_kernel_c5"),
    ("content = sds", "offset = 36864", "offset = 36736", "warp_kernel_c5"),
    ("content = sds", "offset = 36864", "offset = 36992", "warp_kernel_c5"),
    ("content = qb_raw", "layout = xor_row8", "layout = linear", "warp_kernel_c6"),
    ("content = qa8", "layout = split_phase", "layout = linear", "warp_kernel_c6"),
    ("load_nibbles", "pair 0", "pair 4", "warp_kernel_c8"),
    ("load_group", "group 0", "group 4", "warp_kernel_c8"),
    ("load_group", "chunk 0", "chunk 8", "warp_kernel_c8"),
    ("fill_weights", "part 0", "part 1", "warp_kernel_c8"),
    ("planes_filled", "planes_filled", "planes_read", "warp_kernel_c9"),
    ("planes_read", "planes_read", "planes_filled", "warp_kernel_c9"),
    ("load_row_scales", "chunk 0", "chunk 1", "rank1_rescale_c1"),
    ("grid [2, 2, 1]", "grid [2, 2, 1]", "grid [2, 3, 1]", "launch_c9"),
    ("grid [2, 2, 1]", "block [256, 1, 1]", "block [128, 1, 1]", "launch_c2"),
    ("grid [2, 2, 1]", "shared 45056", "shared 43008", "launch_c3"),
    ("alloc 41600", "alloc 41600", "alloc 41601", "launch_c9"),
    ("constant 65 : i32", "constant 65", "constant 66", "launch_c9"),
]

# The same for the kernel of two stages; "in loop" is the second such line.
STAGED = [
    ("warp_kernel @gemm_3", "shared_bytes = 90112", "shared_bytes = 45056", "warp_kernel_c5"),
    ("content = sds", "offset = 36864", "offset = 36992", "warp_kernel_c5"),
    ("content = sda", "layout = octets", "layout = linear", "warp_kernel_c6"),
    ("fill_weights", "part 0", "part 1", "warp_kernel_c8"),
    ("planes_filled", "planes_filled", "planes_read", "warp_kernel_c9"),
    ("planes_filled", "planes_filled", "planes_filled\n      blockscale.planes_filled", "warp_kernel_c9"),
    ("in loop", "planes_filled", "planes_read", "warp_kernel_c9"),
]

# And for the kernel of a ring of tiles.
RING = [
    ("warp_kernel @gemm_4", "contract = bounded", "contract = ordered", "warp_kernel_c10"),
    ("warp_kernel @gemm_4", "a = q8_1_tile_parts", "a = q8_1_tile", "warp_kernel_c3"),
    ("warp_kernel @gemm_4", "shared_bytes = 89120", "shared_bytes = 89088", "warp_kernel_c5"),
    ("content = sum_parts", "offset = 18432", "offset = 18448", "warp_kernel_c5"),
    ("content = minima", "bytes = 2048", "bytes = 1024", "warp_kernel_c4"),
    ("content = sds", "layout = row_quads", "layout = linear", "warp_kernel_c6"),
    ("load_sum_parts", "group 0", "group 4", "warp_kernel_c8"),
    ("load_sum_parts", "group 0", "group 1", "warp_kernel_c10"),
    ("planes_filled", "planes_filled", "planes_read", "warp_kernel_c9"),
    ("planes_read", "planes_read", "planes_filled", "warp_kernel_c9"),
]

# Of the kernel whose warps have two strips, and of the one of planes.
STRIPS = [
    ("load_nibbles", "strip 1", "strip 2", "warp_kernel_c8"),
    ("load_row_scales", "strip 1", "strip 2", "warp_kernel_c8"),
    ("load_row_scales", " strip 1", "", "warp_kernel_c8"),
    ("load_minima ", "strip 1", "strip 2", "warp_kernel_c8"),
    ("load_minima ", " strip 1", "", "warp_kernel_c10"),
    ("load_minima_scales", "strip 1", "strip 2", "warp_kernel_c8"),
    ("store_group", "strip 1", "strip 2", "warp_kernel_c8"),
    ("warp_kernel @gemm_5", "threads = 128 : i64", "threads = 256 : i64", "warp_kernel_c3"),
]
# Of the kernel whose k is split, which stands in a file of its own.
SPLIT = [
    ("warp_kernel @gemm_0", "contract = bounded", "contract = ordered", "warp_kernel_c11"),
    ("warp_kernel @gemm_0", "split = 2", "split = 3", "warp_schedule_c13"),
    ("warp_kernel @gemm_0", "split = 2", "split = 4", "warp_schedule_c14"),
    ("share_group", "share_group", "store_group", "custom op 'blockscale.store_group'"),
    ("share_group", "group 0", "group 4", "warp_kernel_c8"),
    ("share_group", "group 0", "group 1", "warp_kernel_c11"),
    ("cluster_barrier", "blockscale.cluster_barrier", "", "warp_kernel_c11"),
    ("add_parts", "blockscale.add_parts", "blockscale.cluster_barrier //", "warp_kernel_c11"),
    ("grid [4, 2, 1]", "grid [4, 2, 1]", "grid [2, 2, 1]", "launch_c9"),
    ("grid [4, 2, 1]", "cluster [2, 1, 1]", "cluster [1, 1, 1]", "launch_c2"),
]
PLANE = [("warp_kernel @gemm_6", "b = q4_K_plane", "b = q4_K", "warp_kernel_c3")]


def refusal(tool, text):
    ran = subprocess.run([tool, "-"], input=text, capture_output=True, text=True, timeout=60)
    return None if ran.returncode == 0 else ran.stderr


def numbers(line):
    """(start, end) of the numbers of an op, SSA names and types excluded."""
    body = re.sub(r"%[\w#:]+|:\s+vector.*|:\s+i64|qa8|qb8|xor_row8|slot48", lambda m: " " * len(m.group()), line)
    for match in re.finditer(r"(?<![\w])\d+(?![\w])", body):
        yield match.start(), match.end()


def main():
    tool, path = sys.argv[1:3]
    isSplit = sys.argv[3:] == ["split"]
    text = open(path).read()
    if refusal(tool, text):
        sys.exit(f"{path} must be valid before it is changed")
    lines = text.splitlines(keepends=True)
    changed = refused = 0
    bad = []
    for index in [i for i, line in enumerate(lines) if OPS.search(line)][:0 if isSplit else LINES]:
        line = lines[index]
        for start, end in numbers(line):
            mutant = line[:start] + str(int(line[start:end]) + 1) + line[end:]
            changed += 1
            message = refusal(tool, "".join(lines[:index] + [mutant] + lines[index + 1:]))
            if message and re.search(r"(warp_kernel|rank1_rescale)_c\d+: |value is 1|failed to satisfy", message):
                refused += 1
            else:
                bad.append(f"{mutant.strip()[:150]}: {message or 'accepted'}")
    staged = next((i for i, line in enumerate(lines) if "warp_kernel @gemm_3" in line), len(lines))
    ring, strips, plane = (next((i for i, line in enumerate(lines) if f"warp_kernel @gemm_{n}" in line), len(lines))
                           for n in (4, 5, 6))
    tables = ((NAMED, 0), (STAGED, staged), (RING, ring), (STRIPS, strips), (PLANE, plane))
    if isSplit:
        tables = ((SPLIT, 0),)
    for holds, old, new, rule, start in [(*named, at) for table, at in tables for named in table]:
        found = [i for i, line in enumerate(lines) if i >= start and (holds in line or holds == "in loop") and old in line]
        index = next(iter(found[1:] if holds == "in loop" else found), None)
        if index is None:
            bad.append(f"no line holds '{holds}' and '{old}'")
            continue
        mutant = lines[index].replace(old, new, 1)
        message = refusal(tool, "".join(lines[:index] + [mutant] + lines[index + 1:]))
        if not message or rule not in message:
            bad.append(f"'{old}' -> '{new}' must break {rule}, got {(message or 'accepted')[:300]}")
    print(f"{changed} numbers, {refused} refused, {sum(len(table) for table, _ in tables)} named, {len(bad)} bad")
    sys.exit("\n".join(bad) if bad else 0)


if __name__ == "__main__":
    main()
