# ===- check_q4k.py - Q4_K tensors against the weights they come from ------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   check_q4k.py FILE.gguf FILE.safetensors
#
# Reads the tensors by its own hand and prints the error of each against the f16 weights.
# The reader and the dequantiser of PyPI gguf must give the same bits.
#
# ===-----------------------------------------------------------------------===#

import json
import struct
import sys

import gguf
import numpy as np

NAMES = {"ffn.down.weight": "ffn.down.weight", "up": "ffn.up.weight"}


def readMember(path, name):
    data = open(path, "rb").read()
    length = struct.unpack("<Q", data[:8])[0]
    entry = json.loads(data[8 : 8 + length])[name]
    begin, end = entry["data_offsets"]
    return np.frombuffer(data[8 + length + begin : 8 + length + end], np.float16).reshape(entry["shape"])


def readTensors(path):
    """Name to Q4_K blocks [rows, blocks, 144]; the file has one string as metadata."""
    data = open(path, "rb").read()
    at = 24

    def take(form):
        nonlocal at
        values = struct.unpack_from("<" + form, data, at)
        at += struct.calcsize("<" + form)
        return values[0] if len(values) == 1 else values

    def string():
        nonlocal at
        length = take("Q")
        at += length
        return data[at - length : at].decode()

    string(), take("I"), string()
    tensors = []
    for _ in range(struct.unpack_from("<Q", data, 8)[0]):
        name, rank = string(), take("I")
        shape = [take("Q") for _ in range(rank)][::-1]
        tensors.append((name, shape, take("I"), take("Q")))
    start = -(-at // 32) * 32
    for name, shape, code, offset in tensors:
        if code == 12:
            size = shape[0] * shape[1] // 256 * 144
            yield name, np.frombuffer(data[start + offset :][:size], np.uint8).reshape(shape[0], -1, 144)


def dequantize(blocks):
    header = np.ascontiguousarray(blocks[..., :4]).view(np.float16).astype(np.float32)
    b = blocks[..., 4:16]
    scale = np.concatenate([b[..., :4] & 63, b[..., 8:] & 15 | b[..., :4] >> 6 << 4], -1).astype(np.float32)
    least = np.concatenate([b[..., 4:8] & 63, b[..., 8:] >> 4 | b[..., 4:8] >> 6 << 4], -1).astype(np.float32)
    packed = blocks[..., 16:].reshape(*blocks.shape[:2], 4, 1, 32)
    nibbles = np.concatenate([packed & 15, packed >> 4], 3).reshape(*blocks.shape[:2], 8, 32).astype(np.float32)
    values = (header[..., :1] * scale)[..., None] * nibbles - (header[..., 1:] * least)[..., None]
    return values.reshape(blocks.shape[0], -1)


def main():
    seen = {}
    for name, blocks in readTensors(sys.argv[1]):
        weights = readMember(sys.argv[2], NAMES[name]).astype(np.float32)
        seen[name] = values = dequantize(blocks)
        padded = np.pad(weights, ((0, 0), (0, values.shape[1] - weights.shape[1])))
        error = np.linalg.norm(values - padded) / np.linalg.norm(padded)
        print(f"{name}: relative error {error:.4f}, largest {np.abs(values - padded).max():.4f}")
    for tensor in gguf.GGUFReader(sys.argv[1]).tensors:
        if tensor.name in seen:
            theirs = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
            if (theirs.view(np.uint32) != seen.pop(tensor.name).view(np.uint32)).any():
                print(f"{tensor.name}: differs from gguf's values")
                return 1
            print(f"{tensor.name}: the same bits as gguf's")
    return len(seen)


if __name__ == "__main__":
    sys.exit(main())
