# ===- global_scale.py - an NVFP4 layer as two producers store it ---------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: global_scale.py PREFIX
# Writes PREFIX.modelopt.safetensors, whose weight_scale_2 is 2^-8, PREFIX.compressed.safetensors,
# whose weight_global_scale is 256, and PREFIX.both.safetensors.
#
# ===-----------------------------------------------------------------------===#

import json
import struct
import sys

LAYER = "layers.0.down"
MODELOPT, COMPRESSED = (f"{LAYER}.weight_scale_2", 2.0**-8), (f"{LAYER}.weight_global_scale", 256.0)


def write(path, members):
    header = {name: {"dtype": "F32", "shape": [1], "data_offsets": [4 * i, 4 * i + 4]} for i, (name, _) in enumerate(members)}
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(struct.pack("<f", value) for _, value in members))


for kind, members in (("modelopt", [MODELOPT]), ("compressed", [COMPRESSED]), ("both", [MODELOPT, COMPRESSED])):
    write(f"{sys.argv[1]}.{kind}.safetensors", members)
