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
import os
import re

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
if hasGpu():
    config.available_features.add("gpu")

for name in ["ASAN_OPTIONS", "UBSAN_OPTIONS", "LD_LIBRARY_PATH"]:
    if name in os.environ:
        config.environment[name] = os.environ[name]
