# ===- make_cases.py - kernels for a machine with a GPU -------------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: make_cases.py BLOCKSCALE-TRANSLATE FOLDER
# Writes PTX and manifest of each case for sm_90a. Small cases are compared with the
# emulator there, large ones timed.
#
# ===-----------------------------------------------------------------------===#

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "test" / "tools" / "blockscale-run" / "Inputs"))
import quantize_formats  # noqa: E402

# rows x k of a quantiser alone, and its source
QUANTIZE = [(65, 416, "f32"), (33, 352, "f16"), (16384, 3584, "f32"), (16384, 3584, "f16"), (2048, 3584, "f32"), (512, 3584, "f32")]
# the same to tiles of activations, and to MXFP8 with tiled scales
TILES = [(65, 512, "f32"), (16384, 3584, "f32")]
MXFP8 = [(65, 416, "f32"), (33, 352, "f16"), (16384, 3584, "f32"), (16384, 3584, "f16")]
# other formats (quantize_formats.py), those of NVFP4 with a global scale that a kernel ahead finds
FORMATS = [(form, rows, k) for form in ("mxfp4", "mxfp6-e2m3", "nvfp4") for rows, k in ((65, 416), (16384, 3584))]
# tokens x rows x k of a product of f32 activations
PRODUCTS = [(65, 130, 768), (512, 18944, 3584), (2048, 18944, 3584)]
# the same with another contract (of f16 activations: halves) or pinned fields; large ones are timed only
VARIANTS = [(65, 130, 768, "", "activations=chunks"), (65, 130, 768, "", "sums=packed"), (65, 130, 768, "", "weights=plane"),
            (65, 130, 768, "", "pragma=mma_throughput"), (65, 130, 768, "", "activations=chunks,weights=plane"),
            (65, 130, 1024, "", "kd=16"),
            (65, 130, 768, "", "kernel=wide"), (65, 130, 768, "", "kernel=narrow"),
            (65, 130, 768, "bounded", ""), (65, 130, 768, "bounded", "warp-rows=32,activations=transposed"), (65, 130, 768, "", "warp-rows=32,activations=transposed"),
            (65, 130, 1792, "bounded", "split=2,activations=transposed"), (3, 127, 6400, "bounded", "split=8,activations=transposed"),
            (33, 70, 2304, "bounded", "split=4,minima=fold,activations=chunks"), (65, 130, 768, "halves", ""), (33, 70, 1792, "halves", ""), (33, 70, 3584, "halves", "split=2"),
            (33, 70, 3584, "halves", "split=4"), (2048, 18944, 3584, "", "kernel=wide"), (2048, 18944, 3584, "", "kernel=narrow")]


def quantizer(rows, k, source):
    to = f"tensor<{rows}x{k // 32 * 40}xi8, #blockscale.blocks<q8_1_chunk>>"
    x = f"tensor<{rows}x{k}x{source}>"
    return f"""func.func @f(%x: {x}) -> {to} {{
  %q = blockscale.quantize_chunks %x : {x} -> {to}
  return %q : {to}
}}
"""


def tiles(rows, k, source):
    to = f"tensor<{-(-rows // 64)}x{k // 256 * 20480}xi8, #blockscale.blocks<q8_1_tile>>"
    return quantizer(rows, k, source).replace(f"tensor<{rows}x{k // 32 * 40}xi8, #blockscale.blocks<q8_1_chunk>>", to)


def mxfp8(rows, k, source):
    x, q = f"tensor<{rows}x{k}x{source}>", f"tensor<{rows}x{k}xf8E4M3FN>"
    s = f"tensor<{rows}x{k // 32}xi8, #blockscale.scales<ue8m0, tiled>>"
    return f"""func.func @f(%x: {x}) -> ({q}, {s}) {{
  %q, %s = blockscale.quantize %x : {x} -> {q}, {s}
  return %q, %s : {q}, {s}
}}
"""


def product(m, n, k, contract=""):
    x, d = f"tensor<{m}x{k}x{'f16' if contract == 'halves' else 'f32'}>", f"tensor<{m}x{n}xf32>"
    attributes = f" {{contract = #blockscale.contract<{contract}>}}" if contract else ""
    w = f"tensor<{n}x{k // 256 * 144}xi8, #blockscale.blocks<q4_K>>"
    return f"""func.func @f(%x: {x}, %w: {w}) -> {d} {{
  %c = tensor.empty() : {d}
  %d = blockscale.gemm ins(%x, %w : {x}, {w}) outs(%c : {d}){attributes} -> {d}
  return %d : {d}
}}
"""


def main():
    translate, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    cases = {f"quantize-{r}x{k}-{s}": quantizer(r, k, s) for r, k, s in QUANTIZE}
    cases |= {f"tiles-{r}x{k}-{s}": tiles(r, k, s) for r, k, s in TILES}
    cases |= {f"mxfp8-{r}x{k}-{s}": mxfp8(r, k, s) for r, k, s in MXFP8}
    cases |= {f"{form}-{r}x{k}": quantize_formats.module(r, k, "f32", form, "tiled", "computed") for form, r, k in FORMATS}
    cases |= {f"product-{m}x{n}x{k}": product(m, n, k) for m, n, k in PRODUCTS}
    pins = {}
    for m, n, k, contract, pin in VARIANTS:
        name = "-".join(filter(None, [f"product-{m}x{n}x{k}", contract, pin.replace("=", "").replace(",", "-")]))
        cases[name], pins[name] = product(m, n, k, contract), [f"--pin={pin}"] * bool(pin)
    for name, text in cases.items():
        ran = subprocess.run([translate, "--mlir-to-ptx", "--arch=sm_90a", *pins.get(name, []), "-", "-o", folder / f"{name}.ptx",
                              f"--manifest={folder / (name + '.json')}"], input=text, text=True, capture_output=True)
        if ran.returncode:
            sys.exit(f"{name}: {ran.stderr}")


if __name__ == "__main__":
    main()
