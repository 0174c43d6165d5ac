# ===- compare.py - packed kernels on a GPU and on the emulator -----------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: compare.py FOLDER RESULTS; RESULTS gets results.json, the report of each case.
# Runs every case of the folder by blockscale-run on the GPU, timed; those of up to a
# megabyte of input on the emulator too: all bytes of the outputs must be the same.
# PTX of a version that the driver does not know yet is left out, which is said.
#
# ===-----------------------------------------------------------------------===#

import ctypes
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

SMALL = 1 << 20  # bytes of input that the emulator runs in seconds
PLANE_NIBBLES, PLANE_BYTES = 2048, 3072  # Facts/WeightPlane.h


def missingDriver(ptx):
    """Why the driver cannot take the PTX; empty where it can. PTX 9.x came with CUDA 13.x."""
    major, minor = map(int, re.search(r"^\.version (\d+)\.(\d+)", ptx.read_text(), re.M).groups())
    version = ctypes.c_int(0)
    try:
        ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version))
    except OSError:
        return ""  # blockscale-run says that there is no driver
    have, need = divmod(version.value // 10, 100), (major + 4, minor)
    if have >= need:
        return ""
    return f"PTX {major}.{minor} must have a driver of CUDA {need[0]}.{need[1]}, got {have[0]}.{have[1]}"


def planes(buffer, random):
    """Planes of q4_K: nibbles, then pairs d * sc, -(dmin * min) as f32."""
    count = buffer["bytes"] // PLANE_BYTES
    nibbles = random.integers(0, 256, (count, PLANE_NIBBLES), dtype=np.uint8)
    pairs = random.uniform(0.5, 2, (count, (PLANE_BYTES - PLANE_NIBBLES) // 8, 2)) * [0.25, -0.25]
    return np.concatenate([nibbles, pairs.astype(np.float32).reshape(count, -1).view(np.uint8)], 1).reshape(-1)


def values(buffer, random, hasPlanes):
    """Inputs by the manifest: normal floats, and Q4_K blocks of moderate scales or planes of them."""
    if buffer.get("dtype") in ("f32", "f16"):
        x = random.standard_normal(buffer["shape"], np.float32)
        return x.astype(np.float16) if buffer["dtype"] == "f16" else x
    if hasPlanes:
        return planes(buffer, random)
    blocks = random.integers(0, 256, (buffer["bytes"] // 144, 144), dtype=np.uint8)
    for offset in (0, 2):
        blocks[:, offset:offset + 2] = (random.uniform(0.5, 2, (len(blocks), 1)) / 128).astype(np.float16).view(np.uint8)
    return blocks.reshape(-1)


def run(*command):
    ran = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    print((ran.stdout + ran.stderr).rstrip(), flush=True)
    return ran.returncode == 0


def rates(name, described, report):
    """TOPS of a product and GB/s of a quantiser, each byte read and written once."""
    sizes = {b["name"].split(".")[-1]: b["bytes"] for b in described}
    for launch in json.loads(report.read_text())["launches"]:
        if launch["kernel"].startswith("gemm"):
            m, n, k = map(int, name.split("-")[1].split("x"))
            print(f"{launch['kernel']}: {2 * m * n * k / launch['seconds'] / 1e12:.1f} TOPS")
        elif launch["kernel"].startswith("amax"):
            print(f"{launch['kernel']}: {sizes['x'] / launch['seconds'] / 1e9:.0f} GB/s")
        else:
            print(f"{launch['kernel']}: {(sizes['x'] + sizes['q'] + sizes.get('scales', 0)) / launch['seconds'] / 1e9:.0f} GB/s")


def main():
    folder, results = map(pathlib.Path, sys.argv[1:])
    wrong, reports = [], {}
    for manifest in sorted(folder.glob("*.json")):
        name, random = manifest.stem, np.random.default_rng(1)
        print(f"== {name}", flush=True)
        if why := missingDriver(manifest.with_suffix(".ptx")):
            print(f"not compared: {why}", flush=True)
            continue
        with tempfile.TemporaryDirectory() as work:
            work, inputs, small = pathlib.Path(work), [], 0
            described = json.loads(manifest.read_text())["buffers"]
            outputs = [b["name"] for b in described if b["role"] == "output"]
            for buffer in described:
                if buffer["role"] == "input":
                    np.save(work / f"{buffer['name']}.npy", values(buffer, random, "weightsplane" in name))
                    inputs.append(f"--arg={buffer['name']}={work / buffer['name']}.npy")
                    small += buffer["bytes"]
            call = [folder / "blockscale-run", f"--ptx={manifest.with_suffix('.ptx')}", f"--manifest={manifest}", *inputs]
            outs = lambda device: [f"--out={o}={work / device}-{o}.npy" for o in outputs]
            right = run(*call, *outs("cuda"), "--device=cuda", "--warmup=20", "--repeat=200",
                        f"--report={work / 'report'}.json")
            if right:
                rates(name, described, work / "report.json")
                reports[name] = json.loads((work / "report.json").read_text())
            if right and small <= SMALL:
                right = run(*call, *outs("emulator"))
                for output in outputs if right else []:
                    a, b = (np.load(work / f"{d}-{output}.npy").reshape(-1).view(np.uint8) for d in ("cuda", "emulator"))
                    differ = int((a != b).sum())
                    print(f"{output}: {differ} bytes differ from the emulator's")
                    right &= differ == 0
            wrong += [] if right else [name]
    (results / "results.json").write_text(json.dumps(reports, indent=1))
    print("all right" if not wrong else f"wrong: {', '.join(wrong)}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
