# ===- make_gguf.py - writes types.gguf and what it means ------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# With PyPI `gguf` 0.19.0 (MIT): a file with a tensor of each type that is read and of
# one that is not, metadata of every kind before them; and the values of the tensors in
# blocks as that package dequantises them, f32, one after another in expected.bin, in
# the order of the file.
#
#   python make_gguf.py FOLDER
#
# ===-----------------------------------------------------------------------===#

import pathlib
import sys

import gguf
import numpy as np
from gguf.constants import GGMLQuantizationType as Type


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    rng = np.random.default_rng(20)
    writer = gguf.GGUFWriter(folder / "types.gguf", "test")
    writer.add_uint8("v.u8", 200)
    writer.add_int16("v.i16", -3)
    writer.add_uint64("v.u64", 1 << 40)
    writer.add_float64("v.f64", 0.5)
    writer.add_bool("v.bool", True)
    writer.add_string("v.string", "a\u00e9")
    writer.add_array("v.strings", ["one", "", "three"])
    writer.add_array("v.numbers", [1, 2, 3])

    plain = np.arange(6).reshape(2, 3)
    writer.add_tensor("f32", plain.astype(np.float32) - 1.5)
    writer.add_tensor("f16", (plain / 4).astype(np.float16))
    writer.add_tensor("i8", plain.astype(np.int8) - 3)
    writer.add_tensor("i32", plain.astype(np.int32) * 100000)
    writer.add_tensor("bf16", gguf.quants.quantize(plain.astype(np.float32) * 3, Type.BF16), raw_dtype=Type.BF16)

    expected = []

    def add(name, blocks, kind):
        writer.add_tensor(name, blocks, raw_dtype=kind)
        expected.append(gguf.quants.dequantize(blocks, kind))

    q4k = rng.integers(0, 256, (3, 2, 144), dtype=np.uint8)
    q4k[:, :, :4] = rng.uniform(-0.01, 0.01, (3, 2, 2)).astype(np.float16).view(np.uint8)
    add("q4_K", q4k.reshape(3, 288), Type.Q4_K)
    values = rng.standard_normal((3, 64)).astype(np.float32) * np.float32([[1e-3], [1], [1e5]])
    add("mxfp4", gguf.quants.quantize(values, Type.MXFP4), Type.MXFP4)
    nvfp4 = rng.integers(0, 256, (2, 2, 36), dtype=np.uint8)
    nvfp4[:, :, :4] = rng.integers(0, 0x7F, (2, 2, 4))
    nvfp4[0, 0, :4] = [0x7F, 0x7E, 0x01, 0x00]  # zero by ggml's rule, largest, least, zero
    add("nvfp4", nvfp4.reshape(2, 72), Type.NVFP4)
    add("q8_0", gguf.quants.quantize(values, Type.Q8_0), Type.Q8_0)
    expected.pop()

    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    (folder / "expected.bin").write_bytes(b"".join(e.astype(np.float32).tobytes() for e in expected))


if __name__ == "__main__":
    main()
