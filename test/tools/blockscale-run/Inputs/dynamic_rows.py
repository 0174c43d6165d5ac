# dynamic_rows.py - one program, many numbers of rows, against numpy
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: dynamic_rows.py PREFIX FORMAT N K tiled|linear ROWS[,ROWS...] PARTS COMMAND...
# Runs COMMAND for each number of rows with the PARTS (of a,sfa,b,sfb,bias,c) as --arg, by name
# where there is a --manifest, and compares what it writes with 0.5 A B' + bias + 2 C (A B' of
# @generic), of which it takes what is in PARTS. A is [k, rows] for @transposed, or a PREFIX that ends
# so. Data are whole numbers whose sums are exact in
# f32.

import pathlib
import subprocess
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2]))
import kernel_cases  # noqa: E402
import kernel_data  # noqa: E402

prefix, name, n, k, layout, rows, parts, *command = sys.argv[1:]
n, k, parts = int(n), int(k), parts.split(",")
fmt = kernel_cases.ALL_FORMATS[name]
factor = 1 if "--entry=generic" in command else 0.5
isTransposed = "--entry=transposed" in command or prefix.endswith("transposed")
byName = any(word.startswith("--manifest") for word in command)
for m in map(int, rows.split(",")):
    rng = np.random.default_rng([m, n, k])
    a = kernel_data.makeOperand(rng, fmt, fmt.a, max(m, 1), k, "integer")
    b = kernel_data.makeOperand(rng, fmt, fmt.b, n, k, "integer")
    scales = (lambda s: kernel_data.tiled(s, rng)) if layout == "tiled" else (lambda s: s)
    files = {
        "a": kernel_data.packed(fmt.a, a.codes)[:m].T.copy() if isTransposed else kernel_data.packed(fmt.a, a.codes)[:m],
        "sfa": scales(a.scales[:m]) if m else scales(a.scales)[:0],
        "b": kernel_data.packed(fmt.b, b.codes),
        "sfb": scales(b.scales),
        "bias": rng.integers(-64, 65, n).astype(np.float32),
        "c": rng.integers(-64, 65, (m, n)).astype(np.float32),
    }
    want = factor * (a.values[:m] @ b.values.T)
    if "bias" in parts:
        want = want + files["bias"]
    if "c" in parts:
        want = want + 2 * files["c"]
    args = []
    for part in parts:
        np.save(f"{prefix}.{part}.npy", files[part])
        args.append(f"--arg={part}={prefix}.{part}.npy" if byName else f"--arg={prefix}.{part}.npy")
    out = f"{prefix}.d.npy"
    result = subprocess.run([*command, *args, f"--out={'d=' if byName else ''}{out}"],
                            capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{m} rows: {result.stdout}{result.stderr}")
    print(f"{m} rows: {result.stdout}")
    got = np.load(out)
    if got.shape != (m, n) or not np.array_equal(got.astype(np.float64), want):
        sys.exit(f"{m} rows: wrong, {np.sum(got != want) if got.shape == want.shape else got.shape}")
