# demo.py - one real feed-forward layer in three formats on two chips
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Compiles and runs examples/minilm_ffn.mlir with blockscale-run --check, asks
# ptxas for registers and spills of the PTX that ran, compares with the layer as
# it is without quantisation, in f64, and prints one row for each kernel.

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
    command += [f"--out={stem}.out.npy", f"--out={stem}.hidden.npy"]
    command += [f"--report={stem}.json", f"--emit-ptx={stem}.ptx"]
    print(f"{kind} on {arch} ...", flush=True)
    if subprocess.run(command).returncode:
        stop(f"blockscale-run failed for {kind} on {arch}")
    with open(stem + ".json") as file:
        return json.load(file), np.load(stem + ".out.npy"), np.load(stem + ".hidden.npy"), stem + ".ptx"


def format_table(rows):
    header = ["format", "chip", "kernel", "M x N x K", "tile", "stages", "shared", "TMEM", "regs", "spills", "seconds",
              "error", "bound", "SNR dB"]
    table = [header] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(header))]
    lines = []
    for i, row in enumerate(table):
        cells = [cell.ljust(w) if j < 5 else cell.rjust(w) for j, (cell, w) in enumerate(zip(row, widths))]
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

    rows, labels, spilled, quantisers = [], set(), 0, set()
    with tempfile.TemporaryDirectory() as scratch:
        work = args.keep or scratch
        os.makedirs(work, exist_ok=True)
        for arch in ARCHS:
            for kind in FORMATS:
                report, out, hid, ptx = run(args, work, kind, arch)
                resources = assemble(ptxas, arch, ptx)
                noise = [snr(hidden, hid), snr(output, out)]
                products = [launch for launch in report["launches"] if launch["kernel"].startswith("gemm_")]
                if len(products) != len(noise):
                    stop(f"{kind} must launch two products, got {len(products)}")
                for launch in report["launches"]:
                    if launch not in products:
                        spilled += resources[launch["kernel"]][1]
                        quantisers.add(f"{arch}, {kind}: quantised on the device by '{launch['plan']['kernel']}'")
                for launch, quality in zip(products, noise):
                    plan, check = launch["plan"], launch["check"]
                    registers, spills = resources[launch["kernel"]]
                    spilled += spills
                    rows.append([plan["format"], arch, launch["kernel"], plan["problem"], plan["tile"], plan["stages"],
                                 launch["shared_bytes"], plan["tmem_columns"], registers, spills,
                                 f"{launch['seconds']:.3f}", f"{check['error']:.2e}", f"{check['bound']:.2e}",
                                 f"{quality:.1f}"])
                    if launch["labels"]:
                        labels.add(f"{arch}, {plan['format']}: {launch['labels']}")
    print()
    table = format_table(rows)
    print("\n".join(table))
    print("\nerror, bound: where their ratio is largest; seconds: on the", report["device"] + ";",
          "SNR: hidden activations after GELU, then the layer's output, against f64 without quantisation")
    notes = [f"note: {label}" for label in sorted(labels)]
    print("\n".join(notes + sorted(quantisers)))
    if spilled:
        stop(f"no kernel may spill, got {spilled} bytes")
    if args.page:
        check_page(args.page, table + notes)


if __name__ == "__main__":
    main()
