// ptxas 13.0 (PyPI nvidia-cuda-nvcc 13.0.88), whose PTX a driver of CUDA 13.0 takes, gives products
// of blocks what ptxas 13.5 gives them: two blocks an SM and no spills.
// REQUIRES: ptxas130

// RUN: ptxas130 --version | FileCheck %s --check-prefix=VERSION
// VERSION: release 13.0

// RUN: blockscale-translate --mlir-to-ptx --arch=sm_90a %examples/q4k.mlir -o %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas130 sm_90a %t.ptx registers=128
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_121a %examples/q4k.mlir -o %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas130 sm_121a %t.ptx registers=123
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_80 %examples/q4k.mlir -o %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas130 sm_80 %t.ptx registers=128
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_90a --pin=sums=packed %examples/q4k.mlir -o %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas130 sm_90a %t.ptx registers=128
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_90a --pin=kernel=narrow %examples/q4k.mlir -o %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas130 sm_90a %t.ptx registers=128
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_90a --pin=activations=transposed %examples/q4k.mlir -o %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas130 sm_90a %t.ptx registers=128
// RUN: sed 's/-> tensor<2048x18944xf32>$/{contract = #blockscale.contract<bounded>} &/' %examples/q4k.mlir > %t.mlir
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_90a --pin=activations=transposed %t.mlir -o %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas130 sm_90a %t.ptx registers=128
