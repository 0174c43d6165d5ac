# ===- lit.cfg.py - how lit runs the tests of this tree --------------------===#
#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===-----------------------------------------------------------------------===#
#
# Every product tool is a substitution of its own name, so that a test runs the
# tool of this build and never one on PATH. Works with Debian's and PyPI's lit.
#
# ===-----------------------------------------------------------------------===#

import ctypes
import glob
import os
import re
import shutil
import subprocess

import lit.formats

config.name = "Blockscale"
config.test_format = lit.formats.ShTest(False)
config.suffixes = [".mlir", ".ptx", ".test"]
config.excludes = ["Unit", "data", "Inputs", "Install"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.blockscale_build_dir, "test")


def hasGpu():
    """True when the CUDA driver is there and sees a device."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
        count = ctypes.c_int(0)
        return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0
    except (OSError, AttributeError):
        return False


def findPtxas130():
    """The assembler of CUDA 13.0, whose drivers take no later PTX; None where there is none."""
    found = []
    for build in (config.blockscale_build_dir, os.path.dirname(os.path.dirname(os.path.dirname(config.python)))):
        found += sorted(glob.glob(os.path.join(build, "venv-ptxas130", "lib", "python3*", "site-packages", "nvidia", "cu13", "bin", "ptxas")))
    for path in filter(None, [*found, shutil.which("ptxas")]):
        if "release 13.0" in subprocess.run([path, "--version"], capture_output=True, text=True).stdout:
            return path
    return None


def addTool(name, path):
    """`name` as a word of a RUN line becomes `path`; not inside other names."""
    config.substitutions.append((r"(?<![\w./-])" + re.escape(name) + r"(?![\w./-])", path))


# What the product builds; a tool that this build lacks keeps its name and fails.
for tool in config.blockscale_tools:
    path = os.path.join(config.blockscale_build_dir, "bin", tool)
    if os.path.exists(path):
        addTool(tool, path)

for tool in ["FileCheck", "not", "count", "split-file", "mlir-opt", "mlir-translate"]:
    addTool(tool, os.path.join(config.llvm_tools_dir, tool))

# Order matters: %python would otherwise eat the head of a longer name.
config.substitutions.append(("%python", config.python))
config.substitutions.append(("%src", config.blockscale_source_dir))
config.substitutions.append(("%build", config.blockscale_build_dir))
config.substitutions.append(("%testdata", os.path.join(config.blockscale_source_dir, "test", "data")))
config.substitutions.append(("%examples", os.path.join(config.blockscale_source_dir, "examples")))

if config.with_mlir:
    config.available_features.add("mlir")
else:
    config.suffixes.remove(".mlir")  # nothing here reads it
if config.sanitizers:
    config.available_features.add("sanitizers")
if config.ptxas:
    addTool("ptxas", config.ptxas)
    config.available_features.add("ptxas")
if ptxas130 := findPtxas130():
    addTool("ptxas130", ptxas130)
    config.available_features.add("ptxas130")
elif config.with_mlir:
    lit_config.note("no ptxas of CUDA 13.0 in build/venv-ptxas130 or on PATH: q4k-ptxas130.mlir is skipped")
if hasGpu():
    config.available_features.add("gpu")

for name in ["ASAN_OPTIONS", "UBSAN_OPTIONS", "LD_LIBRARY_PATH"]:
    if name in os.environ:
        config.environment[name] = os.environ[name]
