# ===- foreign_launch.py - launches of Triton's kernels by a manifest ------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The parameter list of a compiled kernel in the terms of docs/Manifest.md, and the
# run of PTX, manifest and arrays by blockscale-run.
#
# ===-----------------------------------------------------------------------===#

import json
import pathlib
import re
import subprocess

import numpy as np

RUN_SECONDS = 300
# Hazards at level W that docs/ForeignKernels.md lists, by the first word of a case's name.
DOCUMENTED_WARNINGS = {"descriptors": {"PX3"}, "specialized": {"PX3", "OS6"}, "pairs": {"PX3"}, "lock": {"OS7"}}


class Failure(Exception):
    """One line that says what went wrong in a case."""


class Launch:
    """Buffers and parameters of one kernel."""

    def __init__(self, arch, compiled, grid):
        self.arch, self.compiled = arch, compiled
        self.grid = [grid[0] * compiled.ctas, *grid[1:]]
        self.buffers, self.params, self.inputs, self.outputs = [], [], {}, []

    def addBuffer(self, name, content):
        """An array that goes in, and comes out when `outputs` names it; or so many bytes that come out."""
        if isinstance(content, int):
            self.outputs.append(name)
            self.buffers.append({"name": name, "bytes": content, "role": "output"})
        else:
            self.inputs[name] = content
            self.buffers.append({"name": name, "bytes": content.nbytes, "role": "input"})

    def makeInOut(self, name):
        self.outputs.append(name)
        next(b for b in self.buffers if b["name"] == name)["role"] = "inout"

    def addPointer(self, name):
        self.params.append({"kind": "buffer", "buffer": name})

    def addScalar(self, type_, value):
        self.params.append({"kind": "scalar", "type": {"fp32": "f32"}.get(type_, type_), "value": value})

    def addDescriptor(self, name, meta, shape):
        """A tensor map as Triton's launcher encodes it, then the shape and the strides in elements."""
        strides = [int(np.prod(shape[i + 1:])) for i in range(len(shape))]
        dims = list(shape)
        if meta["fp4_padded"]:
            dims[-1] *= 2
        types = {0: "u8", 7: "f32", 10: "bf16", 14: "u4_align16"}  # codes of the device's tensormap instructions
        self.params.append({
            "kind": "tensor_map", "buffer": name, "type": types[meta["elem_type"]], "dims": dims[::-1],
            "strides": [s * meta["elem_size"] for s in strides[-2::-1]], "box": list(meta["block_size"])[::-1],
            "element_strides": [1] * len(dims), "swizzle": ["none", "b32", "b64", "b128"][meta["swizzle"]],
            "fill": "zero", "l2": "b128"})
        for extent in shape:
            self.addScalar("i32", extent)
        for stride in strides:
            self.addScalar("i64", stride)

    def addScratch(self):
        """The two pointers that end every parameter list: scratch of the kernel and of a profiler."""
        if self.compiled.scratch:
            size = self.compiled.scratch * int(np.prod(self.grid))
            self.buffers.append({"name": "scratch", "bytes": size, "role": "scratch"})
            self.addPointer("scratch")
        else:
            self.addScalar("u64", 0)
        self.addScalar("u64", 0)

    def manifest(self):
        if len(self.params) != len(self.compiled.params):
            raise Failure(f"the kernel has {len(self.compiled.params)} parameters, the launch {len(self.params)}")
        return {"version": 1, "arch": self.arch, "buffers": self.buffers, "kernels": [{
            "name": self.compiled.name, "grid": self.grid, "block": [32 * self.compiled.warps, 1, 1],
            "cluster": [self.compiled.ctas, 1, 1], "shared_bytes": self.compiled.shared, "shared_mode": "default",
            "params": self.params}]}


class Runner:
    def __init__(self, build, work, seeds):
        self.tool = pathlib.Path(build).resolve() / "bin" / "blockscale-run"
        self.work = pathlib.Path(work).resolve()
        self.seeds = seeds

    def run(self, name, launch):
        """Bytes of each output by name; blockscale-run itself refuses what a timing changes."""
        folder = self.work / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "k.ptx").write_text(launch.compiled.ptx)
        (folder / "k.json").write_text(json.dumps(launch.manifest(), indent=1))
        command = [self.tool, "--ptx", folder / "k.ptx", "--manifest", folder / "k.json", f"--seeds={self.seeds}"]
        for buffer, array in launch.inputs.items():
            np.save(folder / f"{buffer}.npy", array.reshape(-1).view(np.uint8))
            command.append(f"--arg={buffer}={folder / buffer}.npy")
        for buffer in launch.outputs:
            (folder / f"out-{buffer}.npy").unlink(missing_ok=True)
            command.append(f"--out={buffer}={folder / f'out-{buffer}.npy'}")
        try:
            ran = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=RUN_SECONDS)
        except subprocess.TimeoutExpired:
            raise Failure(f"blockscale-run: not done after {RUN_SECONDS} s")
        if ran.returncode:
            text = (ran.stdout + ran.stderr).replace(f"{folder}/", "").strip()
            raise Failure(f"status {ran.returncode}: {text[-400:]}")
        undocumented = set(re.findall(r"\[([A-Z]+\d+s?)\]", ran.stderr)) - DOCUMENTED_WARNINGS.get(name.split("-")[0], set())
        if undocumented:
            raise Failure(f"hazards: warnings must be listed in docs/ForeignKernels.md, got {', '.join(sorted(undocumented))}")
        return {buffer: np.load(folder / f"out-{buffer}.npy").reshape(-1).view(np.uint8) for buffer in launch.outputs}
