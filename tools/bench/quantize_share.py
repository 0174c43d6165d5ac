# ===- quantize_share.py - quantising on a GPU, as a share of a copy -----------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs the sm_90a kernel that quantises f32 to MXFP8 on a GPU, and a plain copy, in turn,
# both as blockscale-run launches them, and prints the bytes that each reads and writes in a
# second and the quantiser's share of the copy's. Elements and scales of the timed kernel's
# first launch are compared with those of the emulator's launch of the same PTX, on rows
# enough for it. Without a GPU it says so and prints no figure.
#
# ===-----------------------------------------------------------------------===#

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np

import measure

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "tools" / "blockscale-run" / "Inputs"))
import quantize_formats  # noqa: E402

ROWS, K, SMALL_ROWS = 16384, 3584, 256
ROUNDS, REPEAT, WARMUP = 5, 40, 10

# A lane copies 16 bytes four times, a block's lanes side by side; sizes are whole blocks.
LANES, VECTORS = 256, 4
COPY = f""".version 8.0
.target sm_90a
.address_size 64
.visible .entry copy(.param .u64 source, .param .u64 result) {{
.reg .b32 %r<20>; .reg .b64 %rd<6>;
mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x;
mad.lo.u32 %r2, %r0, {LANES * VECTORS}, %r1;
mul.wide.u32 %rd0, %r2, 16;
ld.param.u64 %rd1, [source]; ld.param.u64 %rd2, [result];
cvta.to.global.u64 %rd1, %rd1; cvta.to.global.u64 %rd2, %rd2;
add.s64 %rd1, %rd1, %rd0; add.s64 %rd2, %rd2, %rd0;
""" + "".join(f"ld.global.v4.b32 {{%r{4 + 4 * i}, %r{5 + 4 * i}, %r{6 + 4 * i}, %r{7 + 4 * i}}}, "
              f"[%rd1+{i * LANES * 16}];\n" for i in range(VECTORS)) + "".join(
                  f"st.global.v4.b32 [%rd2+{i * LANES * 16}], "
                  f"{{%r{4 + 4 * i}, %r{5 + 4 * i}, %r{6 + 4 * i}, %r{7 + 4 * i}}};\n" for i in range(VECTORS)) + """ret;
}
"""


def copyManifest(size):
    return {"version": 1, "arch": "sm_90a",
            "buffers": [{"name": "source", "bytes": size, "role": "input"},
                        {"name": "result", "bytes": size, "role": "output"}],
            "kernels": [{"name": "copy", "grid": [size // (16 * LANES * VECTORS), 1, 1], "block": [LANES, 1, 1],
                         "cluster": [1, 1, 1], "shared_bytes": 0, "shared_mode": "default",
                         "params": [{"kind": "buffer", "buffer": name} for name in ("source", "result")]}]}


class Bench:
    def __init__(self, build, work):
        self.run, self.translate, self.work = build / "bin" / "blockscale-run", build / "bin" / "blockscale-translate", work

    def write(self, name, content):
        path = self.work / name
        np.save(path, content) if isinstance(content, np.ndarray) else path.write_text(content)
        return path

    def median(self, *command):
        """Microseconds of the program's kernel, the driver's events around each launch."""
        report = self.work / "report.json"
        measure.run(self.run, "--device=cuda", *command, f"--repeat={REPEAT}", f"--warmup={WARMUP}",
                    f"--report={report}")
        return json.loads(report.read_text())["launches"][-1]["seconds"] * 1e6

    def quantizer(self, rows, x):
        stem = self.work / f"quantize-{rows}"
        source = self.write(stem.name + ".mlir", quantize_formats.module(rows, K, "f32", "mxfp8", "tiled", None))
        measure.run(self.translate, "--mlir-to-ptx", "--arch=sm_90a", source, "-o", stem.with_suffix(".ptx"),
                    f"--manifest={stem.with_suffix('.json')}")
        return (f"--ptx={stem.with_suffix('.ptx')}", f"--manifest={stem.with_suffix('.json')}",
                f"--arg={self.write(f'x-{rows}.npy', x)}")

    def compare(self, x):
        """The chip's bytes must be the emulator's."""
        quantizer = self.quantizer(SMALL_ROWS, x)
        for device in ("cuda", "emulator"):
            measure.run(self.run, *quantizer, f"--device={device}",
                        *(f"--out={self.work / f'{device}-{i}.npy'}" for i in range(2)))
        for i in range(2):
            same = np.array_equal(*(np.load(self.work / f"{device}-{i}.npy") for device in ("cuda", "emulator")))
            if not same:
                measure.fail(f"result {i} of the chip must be the emulator's")


def hasGpu(run, work):
    """None, or why no kernel runs on a GPU here."""
    size = 16 * LANES * VECTORS
    (work / "copy.ptx").write_text(COPY)
    (work / "probe.json").write_text(json.dumps(copyManifest(size)))
    data = np.random.default_rng(1).integers(0, 256, size, dtype=np.uint8)
    np.save(work / "probe.npy", data)
    tried = subprocess.run([run, "--ptx", work / "copy.ptx", "--manifest", work / "probe.json", "--device=cuda",
                            f"--arg={work / 'probe.npy'}", f"--out={work / 'copied.npy'}"], capture_output=True, text=True)
    if tried.returncode:
        return tried.stderr.strip().splitlines()[-1]
    if not np.array_equal(np.load(work / "copied.npy").view(np.uint8).ravel(), data):
        measure.fail("the copy must copy")
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--quick", action="store_true", help="one round instead of five")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        bench = Bench(args.build.resolve(), work)
        if why := hasGpu(bench.run, work):
            print(f"note: quantise.sm_90a.share_of_copy is not measured without a GPU of sm_90a ({why})", flush=True)
            return
        x = np.random.default_rng(2).standard_normal((ROWS, K), dtype=np.float32)
        bench.compare(x[:SMALL_ROWS])
        moved = x.nbytes + x.size + x.size // 32
        size = moved // 2 // (16 * LANES * VECTORS) * (16 * LANES * VECTORS)
        manifest = bench.write("copy.json", json.dumps(copyManifest(size)))
        data = bench.write("copy.npy", x.view(np.uint8).ravel()[:size])
        quantizer, rates = bench.quantizer(ROWS, x), []
        for _ in range(1 if args.quick else ROUNDS):
            ours = moved / bench.median(*quantizer) / 1e3
            copy = 2 * size / bench.median("--ptx", work / "copy.ptx", "--manifest", manifest, f"--arg={data}") / 1e3
            rates.append((ours, copy, ours / copy))
        for key, column in zip(("gbytes_per_s", "copy.gbytes_per_s", "share_of_copy"), zip(*rates)):
            measure.report(f"quantise.sm_90a.{key}", float(statistics.median(column)))


if __name__ == "__main__":
    main()
