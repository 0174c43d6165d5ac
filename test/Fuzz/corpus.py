# ===- corpus.py - what fuzzing starts from --------------------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Seeds come from the tests: every .ptx and .json of the tree, the texts that the
# emulator's unit tests load (asked for with BLOCKSCALE_KEEP_PTX), the words in tests
# of descriptors, small arrays of each type, what fuzzing has found before, and the few
# inputs of longer runs that are kept (minimise.py). The dictionary holds the words of the
# seeds.
#
# ===-----------------------------------------------------------------------===#

import collections
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEPT = ROOT / "test" / "Fuzz" / "corpus"
TARGETS = ["arrays", "descriptors", "manifest", "ptx"]
LONGEST_SEED = 1 << 16
DICTIONARY_WORDS = 1500


class Seeds:
    """Files of one target, each content once."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, content):
        if 0 < len(content) <= LONGEST_SEED:
            name = hashlib.sha256(content).hexdigest()[:16]
            (self.folder / name).write_bytes(content)


def treeFiles(suffix):
    for folder in ["test", "examples"]:
        yield from sorted((ROOT / folder).rglob("*" + suffix))


def unitTestTexts(folder, unitTests):
    """What the emulator's unit tests load, where they are built."""
    if not unitTests.exists():
        print(f"note: no {unitTests.name} in this build, its PTX is no seed")
        return
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([unitTests, "--gtest_brief=1"], env={**os.environ, "BLOCKSCALE_KEEP_PTX": str(folder)},
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)
    yield from sorted(folder.glob("*.ptx"))


def arrayFiles():
    for dtype in ["u1", "i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f2", "<f4", "<f8", ">f4", "?", "<c8"]:
        for shape in [(), (3,), (2, 3), (0, 4), (1, 2, 1, 2)]:
            for version in [(1, 0), (2, 0), (3, 0)]:
                out = io.BytesIO()
                np.lib.format.write_array(out, np.zeros(shape, dtype), version=version)
                yield out.getvalue()
    for dtype, size in [("U8", 1), ("BF16", 2), ("F32", 4), ("F8_E4M3", 1), ("F8_E8M0", 1), ("F4", 1), ("I64", 8), ("U32", 4), ("BOOL", 1)]:
        header = {"__metadata__": {"origin": "a test"},
                  "a": {"dtype": dtype, "shape": [2, 3], "data_offsets": [0, 6 * size]},
                  "": {"dtype": "U8", "shape": [], "data_offsets": [6 * size, 6 * size + 1]}}
        text = json.dumps(header).encode()
        yield struct.pack("<Q", len(text)) + text + bytes(6 * size + 1)


def ggufFiles():
    """One tensor of each type, behind metadata of each kind."""
    def string(text):
        return struct.pack("<Q", len(text)) + text

    yield (ROOT / "test" / "data" / "gguf" / "types.gguf").read_bytes()
    sizes = {0: 4, 1: 2, 24: 1, 26: 4, 27: 8, 28: 8, 30: 2, 12: 144, 39: 17, 40: 36, 8: 34}
    elements = {12: 256, 39: 32, 40: 64, 8: 32}
    values = [string(b"general.alignment") + struct.pack("<II", 4, 16), string(b"b") + struct.pack("<I?", 7, True),
              string(b"s") + struct.pack("<I", 8) + string(b"text"),
              string(b"l") + struct.pack("<IIQ", 9, 8, 2) + string(b"x") + string(b""),
              string(b"n") + struct.pack("<IIQIQ", 9, 9, 1, 6, 2) + bytes(8)]
    for code, size in sizes.items():
        for version in [2, 3]:
            head = b"GGUF" + struct.pack("<IQQ", version, 1, len(values)) + b"".join(values)
            head += string(b"a") + struct.pack("<IQQIQ", 2, elements.get(code, 1), 2, code, 0)
            yield head + bytes(-len(head) % 16) + bytes(range(size)) * 2


def descriptorWords():
    """Every word of the tests, for every chip, kind and block that a head can say."""
    words = set()
    for source in [*treeFiles(".cpp"), *treeFiles(".test"), *treeFiles(".mlir")]:
        words.update(int(word, 16) for word in re.findall(r"0x[0-9A-Fa-f]{7,16}\b", source.read_text()))
    packed = b"".join(struct.pack("<Q", word) for word in sorted(words))
    for chip in range(14):
        for kind in range(7):
            yield bytes([chip, kind, kind % 5]) + packed[:8 * 64]
    for i in range(0, len(packed), 64):
        yield bytes([9, i // 64 % 7, i // 64 % 5]) + packed[i:i + 64]


def writeDictionary(path, seeds):
    counts = collections.Counter()
    for seed in seeds.folder.iterdir():
        text = seed.read_bytes().decode("latin-1")
        counts.update(set(re.findall(r"[.%:@\w]*[a-z_][\w.:]{1,40}", text)))
    words = [word for word, _ in counts.most_common(DICTIONARY_WORDS) if word.isascii()]
    path.write_text("".join(f'"{word}"\n' for word in words))


def make(folder, build):
    """Seeds under folder/seeds/<target>; returns target -> (seeds, dictionary or None)."""
    shutil.rmtree(folder / "seeds", ignore_errors=True)
    seeds = {target: Seeds(folder / "seeds" / target) for target in TARGETS}
    for path in treeFiles(".ptx"):
        seeds["ptx"].add(path.read_bytes())
    for path in unitTestTexts(folder / "kept", build / "test" / "Unit" / "EmulatorTests"):
        seeds["ptx"].add(path.read_bytes())
    for path in treeFiles(".json"):
        seeds["manifest"].add(path.read_bytes())
    for text in re.findall(r"```json\n(.*?)```", (ROOT / "docs" / "Manifest.md").read_text(), re.S):
        seeds["manifest"].add(text.encode())
    for content in [*arrayFiles(), *ggufFiles()]:
        seeds["arrays"].add(content)
    for content in descriptorWords():
        seeds["descriptors"].add(content)
    made = {}
    for target in TARGETS:
        for kept in [ROOT / "test" / "Fuzz" / "regressions" / target, KEPT / target]:
            for path in sorted(kept.iterdir()) if kept.exists() else []:
                seeds[target].add(path.read_bytes())
        dictionary = folder / f"{target}.dict" if target in ("manifest", "ptx") else None
        if dictionary:
            writeDictionary(dictionary, seeds[target])
        made[target] = (seeds[target].folder, dictionary)
    return made
