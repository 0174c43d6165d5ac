# ===- kernel_mutations.py - changes one number of a kernel's plan at a time ===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: kernel_mutations.py BLOCKSCALE-OPT KERNEL.mlir
# Adds one to every number of every plan and op of a valid kernel, one at a time.
# Each mutant must be refused by a rule kernel_cN or be one of the named equivalents.
# Named changes of words and of single numbers must be refused by the rule that
# they break.
#
# ===-----------------------------------------------------------------------===#

import re
import subprocess
import sys

# Another value here gives another, equally right kernel.
EQUIVALENT = {
    "alloc_warp": "any warp of the block may allocate",
}

OPS = re.compile(r"blockscale\.(shared_buffer|pipeline|tmem_plan|warp_role|copy_scales|mma|load_accumulator|"
                 r"apply_epilogue|staging_acquire|store_staging|tma_store) ")

# (what the line holds, old, new, rule)
NAMED = [
    ("shared_buffer <content = scales_tiled", "scales_tiled", "scales_linear", "kernel_c13"),
    ("shared_buffer <content = a,", "content = a,", "content = b,", "kernel_c14"),
    ("shared_buffer <content = b,", "b128", "b64", "kernel_c14"),
    ("shared_buffer <content = b,", "offset = 81920", "offset = 80896", "kernel_c4"),
    ("shared_buffer <content = staging", "stages = 2", "stages = 1", "kernel_c9"),
    ("shared_buffer <content = staging", "b128", "none", "kernel_c18"),
    ("pipeline <stages = 5", "producer = tma", "producer = mma", "kernel_c9"),
    ("pipeline <stages = 5", "consumer = mma", "consumer = epilogue", "kernel_c11"),
    ("pipeline <stages = 5", "bytes = 36864", "bytes = 32768", "kernel_c10"),
    ("pipeline <stages = 2", "consumers = 4", "consumers = 1", "kernel_c11"),
    ("tmem_plan", "columns = 512", "columns = 256", "kernel_c6"),
    ("tmem_plan", "accumulators = [0, 128]", "accumulators = [0, 96]", "kernel_c8"),
    ("tmem_plan", "accumulators = [0, 128]", "accumulators = [0]", "kernel_c9"),
    ("tmem_plan", "accumulators = [0, 128]", "accumulators = [-4, 128]", "kernel_c7"),
    ("warp_role ", "tma warps 5 to 5", "tma warps 4 to 4", "kernel_c16"),
    ("load_accumulator", "column 0", "column 32", "kernel_c15"),
    ("apply_epilogue", ", 0(", ", 4(", "kernel_c15"),
    ("blockscale.kernel", "shared_bytes = 217216", "shared_bytes = 217088", "kernel_c3"),
    ("blockscale.kernel", "shared_bytes = 217216", "shared_bytes = 232576", "kernel_c2"),
    ("blockscale.kernel", "threads = 192", "threads = 224", "kernel_c16"),
    ("module @kernels", 'arch = "sm_100a"', 'arch = "sm_107a"', "kernel_c1"),
    ("producer_commit %6", "producer_commit %6", "consumer_release %6", "kernel_c12"),
    ("producer_acquire %5", "producer_acquire %5", "consumer_wait %5", "kernel_c12"),
]


def refusal(tool, text):
    ran = subprocess.run([tool, "-"], input=text, capture_output=True, text=True, timeout=60)
    return None if ran.returncode == 0 else ran.stderr


def numbers(line):
    """(start, end, field) of the numbers of a plan or an op, SSA names and types excluded."""
    body = re.sub(r"%[\w#:]+|:\s+f32.*|\bi32\b|\bb128\b", lambda m: " " * len(m.group()), line)
    for match in re.finditer(r"(?<![\w])\d+(?![\w])", body):
        field = re.findall(r"(\w+)(?: = \[?| )", body[:match.start()])
        yield match.start(), match.end(), field[-1] if field else ""


def main():
    tool, path = sys.argv[1:]
    text = open(path).read()
    if refusal(tool, text):
        sys.exit(f"{path} must be valid before it is changed")
    lines = text.splitlines(keepends=True)
    changed = refused = equivalent = 0
    bad = []
    for index, line in enumerate(lines):
        if not OPS.search(line):
            continue
        for start, end, field in numbers(line):
            mutant = line[:start] + str(int(line[start:end]) + 1) + line[end:]
            changed += 1
            message = refusal(tool, "".join(lines[:index] + [mutant] + lines[index + 1:]))
            if message and re.search(r"kernel_c\d+: ", message):
                refused += 1
            elif not message and field in EQUIVALENT:
                equivalent += 1
            else:
                bad.append(f"{mutant.strip()[:150]} ({field}): {message or 'accepted'}")
    for holds, old, new, rule in NAMED:
        index = next((i for i, line in enumerate(lines) if holds in line and old in line), None)
        if index is None:
            bad.append(f"no line holds '{holds}' and '{old}'")
            continue
        mutant = lines[index].replace(old, new, 1)
        message = refusal(tool, "".join(lines[:index] + [mutant] + lines[index + 1:]))
        if not message or f"{rule}: " not in message:
            bad.append(f"'{old}' -> '{new}' must break {rule}, got {(message or 'accepted')[:200]}")
    print(f"{changed} numbers, {refused} refused, {equivalent} equivalent, {len(NAMED)} named, {len(bad)} bad")
    sys.exit("\n".join(bad) if bad else 0)


if __name__ == "__main__":
    main()
