#!/usr/bin/env python3
# ===- make_mmasim_vectors.py - hostile vectors from a published model ------=== #
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes test/data/mmasim/*.bin: operands, accumulators and what PyPI `mmasim`
# 2.1.1 (MMA-Sim, arXiv 2511.10909) says one instruction, or a chain of them,
# computes. Needs torch, so it is not run by the tests; the files are committed.
#
#   pip install mmasim==2.1.1 torch
#   make_mmasim_vectors.py OUTPUT_FOLDER [--columns=N] [--seed=S] [--kernels]
# kernel-*.bin hold one tile of a whole kernel each; --kernels writes only those.
# The file format is described in vectors.py.
#
# ===------------------------------------------------------------------------=== #

import argparse
import pathlib

import numpy as np
import torch
from mmasim.nv_ptx.sim import TCGen05MMABlockScale

from vectors import M, case_bytes, file_bytes, make, make_chain, spec

TORCH_ELEMENT = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}
TORCH_SCALE = {"ue8m0": torch.float8_e8m0fnu, "ue4m3": torch.float8_e4m3fn}


def to_torch(codes, fmt, packed_fp4):
    if fmt in TORCH_ELEMENT:
        return torch.from_numpy(codes.copy()).view(TORCH_ELEMENT[fmt])
    if packed_fp4:
        return torch.from_numpy((codes[:, 0::2] << 4) | codes[:, 1::2])
    return torch.from_numpy(codes << 2 if fmt == "e2m1" else codes.copy())


def simulate(spec, n, a, b, sfa, sfb, c):
    block = spec["block"]
    op = TCGen05MMABlockScale(
        "Blackwell",
        f"m{M}n{n}k{spec['k']}.kind::{spec['kind']}.block{block}.f32."
        f"{spec['a']}.{spec['b']}.{spec['scale']}")
    packed = spec["kind"] != "mxf8f6f4"
    tc = torch.zeros(M, n) if c is None else torch.from_numpy(c.copy())
    scale_type = TORCH_SCALE[spec["scale"]]
    for k0 in range(0, a.shape[1], spec["k"]):  # one instruction after another
        ks = slice(k0, k0 + spec["k"])
        ss = slice(k0 // block, (k0 + spec["k"]) // block)
        tc = op(to_torch(a[:, ks], spec["a"], packed),
                to_torch(b[:, ks], spec["b"], packed).T, tc,
                torch.from_numpy(sfa[:, ss].copy()).view(scale_type),
                torch.from_numpy(sfb[:, ss].copy()).view(scale_type).T)
    return tc.numpy().astype(np.float32)


FULL = ["uniform", "full-range", "cancellation", "specials", "zero-d"]
FILES = {
    "mxf8f6f4-e4m3": (spec("mxf8f6f4", "e4m3", "e4m3", "ue8m0", 32, 32), FULL),
    "mxf8f6f4-e5m2": (spec("mxf8f6f4", "e5m2", "e5m2", "ue8m0", 32, 32), FULL[:4]),
    "mxf8f6f4-e5m2-e4m3": (spec("mxf8f6f4", "e5m2", "e4m3", "ue8m0", 32, 32), ["specials"]),
    "mxf8f6f4-e2m3-e3m2": (spec("mxf8f6f4", "e2m3", "e3m2", "ue8m0", 32, 32), ["full-range"]),
    "mxf8f6f4-e2m1-e4m3": (spec("mxf8f6f4", "e2m1", "e4m3", "ue8m0", 32, 32), ["uniform"]),
    "mxf4nvf4-ue4m3-block16": (spec("mxf4nvf4", "e2m1", "e2m1", "ue4m3", 16, 64), FULL),
    "mxf4nvf4-ue8m0-block16": (spec("mxf4nvf4", "e2m1", "e2m1", "ue8m0", 16, 64), FULL[1:4]),
    "mxf4-ue8m0-block32": (spec("mxf4", "e2m1", "e2m1", "ue8m0", 32, 64), FULL),
}

KERNEL_STEPS = 5  # one K tile of our kernels, and an instruction more
KERNELS = {
    "kernel-nvfp4": FILES["mxf4nvf4-ue4m3-block16"][0],
    "kernel-mxfp4": FILES["mxf4-ue8m0-block32"][0],
    "kernel-mxfp8": FILES["mxf8f6f4-e4m3"][0],
    "kernel-mxf4nvf4-ue8m0-16": FILES["mxf4nvf4-ue8m0-block16"][0],
    "kernel-e2m1-e5m2": spec("mxf8f6f4", "e2m1", "e5m2", "ue8m0", 32, 32),
    "kernel-e4m3-e3m2": spec("mxf8f6f4", "e4m3", "e3m2", "ue8m0", 32, 32),
}


def kernel_k(s):
    """Types of 4 and 6 bits of mxf8f6f4 come 128 elements at a time."""
    padded = s["kind"] == "mxf8f6f4" and {s["a"], s["b"]} & {"e2m1", "e2m3", "e3m2"}
    return 256 if padded else KERNEL_STEPS * s["k"]


def write_kernels(folder, seed):
    for number, (name, s) in enumerate(KERNELS.items()):
        operands = make_chain(np.random.default_rng([seed, 100 + number]), s, M, kernel_k(s))
        case = case_bytes(s, "chain", *operands, simulate(s, M, *operands))
        (folder / f"{name}.bin").write_bytes(file_bytes([case]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--columns", type=int, default=64)
    parser.add_argument("--seed", type=int, default=20260)
    parser.add_argument("--kernels", action="store_true")
    args = parser.parse_args()
    write_kernels(args.folder, args.seed)
    if args.kernels:
        return
    for number, (name, (s, classes)) in enumerate(FILES.items()):
        rng = np.random.default_rng([args.seed, number])
        jobs = [(cls, args.columns, s["k"]) for cls in classes]
        if "zero-d" in classes:  # also a chain of four instructions, as in a kernel
            jobs.append(("zero-d", min(2 * args.columns, 256), 4 * s["k"]))
        cases = []
        for cls, n, k in jobs:
            operands = make(rng, cls, s, n, k)
            cases.append(case_bytes(s, cls, *operands, simulate(s, n, *operands)))
        (args.folder / f"{name}.bin").write_bytes(file_bytes(cases))


if __name__ == "__main__":
    main()
