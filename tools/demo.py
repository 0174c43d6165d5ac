# demo.py - one real feed-forward layer in three formats on two chips
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles and runs examples/minilm_ffn.mlir with blockscale-run --check, asks
# ptxas for registers and spills of the PTX that ran, compares what each kernel made
# with what it was made of, or with the layer as it is without quantisation, in
# f64, and prints one row for each kernel, with the sequence of instructions by
# which it quantises on that chip.

import argparse
import glob
import json
import math
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ARGUMENTS = ["ffn.input", "ffn.up.weight", "ffn.up.bias", "ffn.down.weight", "ffn.down.bias"]
FORMATS = ["nvfp4", "mxfp4", "mxfp8"]
ARCHS = ["sm_100a", "sm_107a"]
DTYPES = {"F16": np.float16, "F32": np.float32}
# Results behind the layer's output, in the order of the example: rows and columns, and which
# kernel made them, the quantisers in the order of their launches.
QUANTISED = {"input": (178, 384, "quantize_0"), "up weight": (1536, 384, "quantize_1"),
             "hidden": (178, 1536, "gemm_0"), "down weight": (384, 1536, "quantize_2")}
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
E4M3 = np.array([np.ldexp(8 * (e > 0) + m, max(e, 1) - 10) for e in range(16) for m in range(8)])
# Of the example's NVFP4: the global scale of each.
GLOBALS = {"input": 0.0103178481, "up weight": 0.000231424972, "hidden": 0.00645810086, "down weight": 0.00231933594}


def stop(message):
    sys.exit(f"demo: {message}")


def load_tensors(path):
    """All members of a .safetensors file."""
    with open(path, "rb") as file:
        data = file.read()
    length = int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name != "__metadata__":
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            tensors[name] = np.frombuffer(data[begin:end], DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors


def layer(tensors):
    """Hidden and output of the layer without quantisation, in f64."""
    t = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}
    erf = np.vectorize(math.erf)
    up = t["ffn.input"] @ t["ffn.up.weight"].T + t["ffn.up.bias"]
    hidden = 0.5 * up * (1 + erf(up / math.sqrt(2)))
    return hidden, hidden @ t["ffn.down.weight"].T + t["ffn.down.bias"]


def dequantise(kind, name, elements, scales):
    """f64 values of elements and tiled scales; the rule of tiles is the PTX ISA's."""
    rows, columns, _ = QUANTISED[name]
    elements = elements.reshape(rows, -1)
    if kind == "mxfp8":
        codes, magnitudes = elements, E4M3
    else:
        codes, magnitudes = np.stack([elements & 15, elements >> 4], -1).reshape(rows, columns), E2M1
    half = len(magnitudes)
    values = magnitudes[codes % half] * np.where(codes >= half, -1, 1)
    block = 16 if kind == "nvfp4" else 32
    r, c = np.arange(rows)[:, None], np.arange(columns // block)[None, :]
    bytes = scales.ravel()[(r // 128 * -(-columns // block // 4) + c // 4) * 512 + r % 32 * 16 + r % 128 // 32 * 4 + c % 4]
    scale = E4M3[bytes] * GLOBALS[name] if kind == "nvfp4" else np.ldexp(1.0, bytes.astype(int) - 127)
    return values * np.repeat(scale, block, 1)


def snr(reference, value):
    """Signal to noise in dB."""
    noise = np.square(value.astype(np.float64) - reference).sum()
    return 10 * math.log10(np.square(reference).sum() / noise) if noise else math.inf


def assemble(ptxas, arch, ptx):
    """Registers and spill bytes of every kernel in a PTX file."""
    cubin = ptx + ".cubin"
    done = subprocess.run([ptxas, "-v", f"-arch={arch}", ptx, "-o", cubin], capture_output=True, text=True)
    text = done.stdout + done.stderr
    if done.returncode:
        stop(f"ptxas refused {ptx}: {text.strip()}")
    found = {}
    for part in re.split(r"Compiling entry function '", text)[1:]:
        name = part.split("'")[0]
        spills = sum(int(n) for n in re.findall(r"(\d+) bytes spill (?:stores|loads)", part))
        registers = re.search(r"Used (\d+) registers", part)
        found[name] = (int(registers.group(1)) if registers else 0, spills)
    return found


def run(args, work, kind, arch):
    """Runs one function; its report, results and PTX path."""
    stem = os.path.join(work, f"{kind}.{arch}")
    command = [os.path.join(args.build, "bin", "blockscale-run"), os.path.join(ROOT, "examples", "minilm_ffn.mlir")]
    command += [f"--entry={kind}", f"--arch={arch}", "--check", f"--device={args.device}"]
    command += [f"--arg={args.data}:{name}" for name in ARGUMENTS]
    names = ["out"] + [part for name in QUANTISED for part in (name, name + " scales")]
    command += [f"--out={stem}.{name}.npy" for name in names]
    command += [f"--report={stem}.json", f"--emit-ptx={stem}.ptx"]
    print(f"{kind} on {arch} ...", flush=True)
    if subprocess.run(command).returncode:
        stop(f"blockscale-run failed for {kind} on {arch}")
    with open(stem + ".json") as file:
        report = json.load(file)
    made = {name: dequantise(kind, name, np.load(f"{stem}.{name}.npy"), np.load(f"{stem}.{name} scales.npy"))
            for name in QUANTISED}
    return report, {**made, "output": np.load(stem + ".out.npy")}, stem + ".ptx"


def format_table(rows):
    header = ["format", "chip", "kernel", "makes", "by", "problem", "tile", "stages", "shared", "TMEM", "regs", "spills",
              "seconds", "error", "bound", "SNR dB"]
    table = [header] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(header))]
    lines = []
    for i, row in enumerate(table):
        cells = [cell.ljust(w) if j < 7 else cell.rjust(w) for j, (cell, w) in enumerate(zip(row, widths))]
        lines.append("| " + " | ".join(cells) + " |")
        if i == 0:
            lines.append("|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return lines


def check_page(path, lines):
    """Stops where a page does not show the lines; seconds differ from run to run."""
    def timeless(text):
        return re.sub(r" +\d+\.\d{3} (?=\|)", " s ", text)
    with open(path) as file:
        shown = set(timeless(file.read()).splitlines())
    missing = [line for line in lines if timeless(line) not in shown]
    if missing:
        stop(f"{path} must show the table above, got none of {len(missing)} lines, such as\n{missing[0]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="build folder")
    parser.add_argument("--data", default=os.path.join(ROOT, "test", "data", "minilm_ffn.safetensors"))
    parser.add_argument("--device", default="emulator", choices=["emulator", "cuda"])
    parser.add_argument("--keep", help="folder that PTX, results and reports stay in")
    parser.add_argument("--page", help="page that must show this table and its notes")
    parser.add_argument("--ptxas", help="default: the one of the build's venv")
    args = parser.parse_args()
    pattern = os.path.join(args.build, "venv", "lib", "python3*", "site-packages", "nvidia", "*", "bin", "ptxas")
    ptxas = args.ptxas or next(iter(glob.glob(pattern)), None)
    if not ptxas:
        stop("ptxas must be in the build's venv (./tools/dev setup) or be given by --ptxas")

    tensors = load_tensors(args.data)
    hidden, output = layer(tensors)
    print("feed-forward layer of all-MiniLM-L6-v2: 178 tokens, 384 -> 1536 -> 384, real activations")
    print(f"f64 against the model's own f16 hidden activations: {snr(hidden, tensors['ffn.hidden']):.1f} dB\n")

    exact = {"input": tensors["ffn.input"], "up weight": tensors["ffn.up.weight"], "hidden": hidden,
             "down weight": tensors["ffn.down.weight"], "output": output}
    makes = {kernel: name for name, (_, _, kernel) in QUANTISED.items()} | {"gemm_1": "output"}
    rows, labels, spilled = [], set(), 0
    with tempfile.TemporaryDirectory() as scratch:
        work = args.keep or scratch
        os.makedirs(work, exist_ok=True)
        for arch in ARCHS:
            for kind in FORMATS:
                report, made, ptx = run(args, work, kind, arch)
                resources = assemble(ptxas, arch, ptx)
                if sorted(launch["kernel"] for launch in report["launches"]) != sorted(makes):
                    stop(f"{kind} must launch {', '.join(sorted(makes))}, got {report['launches']}")
                for launch in report["launches"]:
                    plan, check, name = launch["plan"], launch.get("check"), makes[launch["kernel"]]
                    registers, spills = resources[launch["kernel"]]
                    spilled += spills
                    by = plan["quantizer"].split(" by ")[1] if "quantizer" in plan else plan.get("kernel", "-")
                    rows.append([kind, arch, launch["kernel"], name, by, plan["problem"], plan["tile"] or "-",
                                 plan["stages"] or "-", launch["shared_bytes"], plan["tmem_columns"] or "-", registers,
                                 spills, f"{launch['seconds']:.3f}", f"{check['error']:.2e}" if check else "-",
                                 f"{check['bound']:.2e}" if check else "-", f"{snr(exact[name], made[name]):.1f}"])
                    labels |= {f"{arch}, {kind}: {label}" for label in filter(None, launch["labels"].split("; "))}
    print()
    table = format_table(rows)
    print("\n".join(table))
    print("\nby: the sequence of instructions that quantises (docs/Quantization.md); error, bound: where their ratio is")
    print("largest, of a quantised result what quantisation makes of the values within the bound; seconds: on the",
          report["device"] + ";")
    print("SNR: of what was quantised, of hidden activations after GELU and of the output against f64 without quantisation")
    notes = [f"note: {label}" for label in sorted(labels)]
    print("\n".join(notes))
    if spilled:
        stop(f"no kernel may spill, got {spilled} bytes")
    if args.page:
        check_page(args.page, table + notes)


if __name__ == "__main__":
    main()
