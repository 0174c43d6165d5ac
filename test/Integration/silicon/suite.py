# ===- suite.py - writes programs, manifests and inputs of the silicon suite ===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A program is one PTX text, one manifest and shared input arrays. A scalar program
# computes element i of its outputs from element i of its inputs, so that a
# difference can be shown with its operands.
#
# ===-----------------------------------------------------------------------===#

import json
import pathlib

import numpy as np

from inputs import INPUTS

DTYPES = {"b8": "u8", "b16": "u16", "b32": "i32", "f32": "f32", "b64": "i64", "f64": "f64", "u8": "u8"}
BYTES = {"b8": 1, "u8": 1, "b16": 2, "b32": 4, "f32": 4, "b64": 8, "f64": 8}
VERSION = "8.6"


class Buffer:
    """`kind` is one of DTYPES; an input is an array of INPUTS, of the program itself, or of all programs that have a
    buffer of that name."""

    def __init__(self, name, kind, count, role="output", array=None, isShared=False):
        self.name, self.kind, self.count, self.role, self.array, self.isShared = name, kind, count, role, array, isShared

    def json(self):
        return {"name": self.name, "bytes": self.count * BYTES[self.kind], "role": self.role,
                "dtype": DTYPES[self.kind], "shape": [self.count]}


class Map:
    """A tensor map on a buffer; the driver's fields, dimension 0 first."""

    def __init__(self, buffer, type_, dims, strides, box, element_strides=None, swizzle="none", fill="zero", l2="none",
                 offset=0):
        self.fields = {"kind": "tensor_map", "buffer": buffer, "type": type_, "dims": dims, "strides": strides,
                       "box": box, "element_strides": element_strides or [1] * len(dims), "swizzle": swizzle,
                       "fill": fill, "l2": l2}
        if offset:
            self.fields["offset"] = offset


class Suite:
    def __init__(self, folder, isQuick=False):
        self.folder, self.isQuick = pathlib.Path(folder), isQuick
        self.names, self.used, self.sweeps = [], {}, 0

    def add(self, group, name, code, buffers, params, grid=1, block=32, cluster=1, shared=0, target="sm_90a",
            declarations=""):
        """`params` are Buffer, Map or (ptx type, value); they are named p0, p1 … in the code."""
        lines, entries = [], []
        for i, param in enumerate(params):
            if isinstance(param, Map):
                lines.append(f".param .align 64 .b8 p{i}[128]")
                entries.append(param.fields)
            elif isinstance(param, Buffer):
                lines.append(f".param .u64 p{i}")
                entries.append({"kind": "buffer", "buffer": param.name})
            else:
                lines.append(f".param .{param[0]} p{i}")
                entries.append({"kind": "scalar", "type": param[0], "value": param[1]})
        text = (f".version {VERSION}\n.target {target}\n.address_size 64\n{declarations}"
                f".visible .entry k({', '.join(lines)})\n{{\n{code}}}\n")
        dims = lambda v: list(v) if isinstance(v, (list, tuple)) else [v, 1, 1]
        manifest = {"version": 1, "arch": target, "buffers": [b.json() for b in buffers], "kernels": [{
            "name": "k", "grid": dims(grid), "block": dims(block), "cluster": dims(cluster), "shared_bytes": shared,
            "shared_mode": "default", "params": entries}]}
        folder = self.folder / group
        folder.mkdir(parents=True, exist_ok=True)
        assert f"{group}/{name}" not in self.names, f"{group}/{name} is there twice"
        (folder / f"{name}.ptx").write_text(text)
        (folder / f"{name}.json").write_text(json.dumps(manifest) + "\n")
        for buffer in buffers:
            if buffer.role in ("input", "inout"):
                if buffer.array is None:
                    self.used[buffer.name] = INPUTS[buffer.name]
                elif buffer.isShared:
                    assert np.array_equal(self.used.setdefault(buffer.name, buffer.array), buffer.array)
                else:
                    np.save(folder / f"{name}.{buffer.name}.npy", signed(buffer.array))
        self.names.append(f"{group}/{name}")

    def writeInputs(self):
        folder = self.folder / "inputs"
        folder.mkdir(parents=True, exist_ok=True)
        for name, array in sorted(self.used.items()):
            np.save(folder / f"{name}.npy", signed(array))

    def scalar(self, group, name, body, ins, outs, target="sm_80", count=None, block=256,
               memory=None, constants=(), shared=0):
        """`ins` are (register, name in INPUTS); `outs` are (register, kind). `%i` is the element's number. `memory`
        names an array that the program changes; %mem is the address of its element. `constants` are u32 params."""
        arrays = [(register, source, INPUTS[source]) for register, source in ins]
        count = count or len(arrays[0][2] if arrays else INPUTS[memory])
        kind = lambda array: {1: "b8", 2: "b16", 4: "b32", 8: "b64"}[array.dtype.itemsize]
        buffers, params = [], []
        code = [REGISTERS, "  mov.u32 %i, %ctaid.x;\n  mov.u32 %n, %ntid.x;\n  mov.u32 %t, %tid.x;\n",
                "  mad.lo.u32 %i, %i, %n, %t;\n"]
        declare = set()
        for register, source, array in arrays:
            k = kind(array)
            declare.add((register, k))
            buffer = next((b for b in buffers if b.name == source), None) or Buffer(source, k, len(array), "input")
            if buffer not in buffers:
                buffers.append(buffer)
            if len(array) < count:  # used again and again
                code.append(f"  rem.u32 %n, %i, {len(array)};\n")
            code.append(address(len(params), BYTES[k], "%n" if len(array) < count else "%i") + f"  ld.global.{k} {register}, [%at];\n")
            params.append(buffer)
        if memory:
            array = INPUTS[memory]
            buffers.append(Buffer(memory, kind(array), len(array), "inout"))
            code.append(address(len(params), array.dtype.itemsize) + "  mov.u64 %mem, %at;\n")
            params.append(buffers[-1])
        for i, value in enumerate(constants):
            code.append(f"  ld.param.u32 %c{i}, [p{len(params)}];\n")
            params.append(("u32", value))
        code.append("".join(f"  {line}\n" for line in body.strip().split("\n")))
        for i, (register, k) in enumerate(outs):
            declare.add((register, k))
            buffer = Buffer("y" if i == 0 else f"y{i}", k, count)
            code.append(address(len(params), BYTES[k]) + f"  st.global.{'b32' if k == 'f32' else 'b64' if k == 'f64' else k} [%at], {register};\n")
            buffers.append(buffer)
            params.append(buffer)
        width = {"b8": "b16", "u8": "b16", "f32": "b32", "f64": "b64"}
        code.insert(1, "".join(f"  .reg .{width.get(k, k)} {r};\n" for r, k in sorted(declare)))
        code.append("  ret;\n")
        assert count % block == 0
        self.add(group, name, "".join(code), buffers, params, grid=count // block, block=block, target=target, shared=shared)


REGISTERS = """  .reg .pred %p, %q, %p<4>;
  .reg .b16 %h<8>;
  .reg .b32 %i, %n, %t, %r<16>;
  .reg .b32 %c0, %c1;
  .reg .b64 %at, %off, %mem, %w<8>;
"""


def signed(array):
    """The same bits in a type that manifests have."""
    return array.view({4: np.int32, 8: np.int64}[array.itemsize]) if array.dtype.kind == "u" and array.itemsize > 2 else array


def address(param, size, index="%i"):
    """%at becomes the address of an element of a parameter's buffer."""
    return f"  ld.param.u64 %at, [p{param}];\n  mul.wide.u32 %off, {index}, {size};\n  add.u64 %at, %at, %off;\n"
