// The pragma, planes of weights and 32 rows a warp: what ptxas gives them, and what they are in PTX.
// REQUIRES: ptxas

// RUN: blockscale-translate --mlir-to-ptx --arch=sm_90a --pin=pragma=mma_throughput %examples/q4k.mlir -o %t.ptx
// RUN: FileCheck %s --check-prefix=PRAGMA < %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_90a %t.ptx registers=128
// RUN: sed 's/^\.version 9\.3/.version 9.2/' %t.ptx > %t.old.ptx
// RUN: not ptxas -arch=sm_90a %t.old.ptx -o %t.none 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_121a --pin=pragma=mma_throughput %examples/q4k.mlir -o %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_121a %t.ptx registers=120

// RUN: blockscale-translate --mlir-to-ptx --arch=sm_90a --pin=activations=transposed,weights=plane %examples/q4k.mlir -o %t.ptx
// RUN: FileCheck %s --check-prefix=PLANE < %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_90a %t.ptx registers=128
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_80 --pin=weights=plane %examples/q4k.mlir -o %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_80 %t.ptx registers=128

// RUN: blockscale-translate --mlir-to-ptx --arch=sm_90a --pin=activations=transposed,warp-rows=32 %examples/q4k.mlir -o %t.ptx
// RUN: FileCheck %s --check-prefix=ROWS < %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_90a %t.ptx registers=255

// PRAGMA: .version 9.3
// PRAGMA: .entry gemm_0(
// PRAGMA: .pragma "mma_throughput";
// PRAGMA-NOT: .pragma
// OLD: 'mma_throughput' requires PTX ISA .version 9.3 or later

// A ring whose weights come by 16 bytes alone: nothing is loaded into registers to fill it.
// PLANE: .version 9.0
// PLANE-NOT: .pragma
// PLANE-NOT: ld.global
// PLANE: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
// PLANE-NOT: ld.global

// Two strips: a fragment of A serves four products.
// ROWS: .reqntid 128
// ROWS: .minnctapersm 2
// ROWS: mma.sync.aligned.m16n8k32
// ROWS-NOT: ldmatrix
// ROWS: mma.sync.aligned.m16n8k32
// ROWS-NOT: ldmatrix
// ROWS: mma.sync.aligned.m16n8k32
// ROWS-NOT: ldmatrix
// ROWS: mma.sync.aligned.m16n8k32
