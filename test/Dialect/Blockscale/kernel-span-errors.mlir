// A kernel of K = 96, with one thing changed.
//
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel -o %t.mlir
// RUN: sed 's/byte 48 into/byte 32 into/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=BYTE
// BYTE: kernel_c20: byte must be 48, where the one before it ends, got 32
// RUN: sed -E 's/(mma_span %0, %1\[%[a-z0-9_]+), %[a-z0-9_]+\] byte 96/\1] byte 96/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=NEXT
// NEXT: kernel_c20: next must be the stage behind it where k is 96, got none
// RUN: sed -E 's/(mma_span %0, %1\[%[a-z0-9_]+), %[a-z0-9_]+\] byte 96/\1, %c0_i32] byte 96/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: kernel_c20: next must be the stage behind it where k is 96, got another
// RUN: sed -E 's/(mma_span %0, %1\[%[a-z0-9_#]+)\] byte 32/\1, %next_stage] byte 32/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: kernel_c20: next must be absent where k is 64, got another
// RUN: sed -E 's/mma_span %0, %1\[%[a-z0-9_]+, (%[a-z0-9_]+)\] byte 16/mma_span %0, %1[%c0_i32, \1] byte 16/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=STAGE
// STAGE: kernel_c20: stage must be the one behind that of the mma_span before it, got another
// RUN: sed 's/k 96 scale 6/k 96 scale 4/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=SCALE
// SCALE: kernel_c20: scale must be 6, behind those of the one before it, got 4
// RUN: sed 's/ k 64 scale 0/ k 128 scale 0/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=K
// K: kernel_c20: k must be 64 or 96, got 128
// RUN: sed 's/sfb tiles 3/sfb tiles 2/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: kernel_c20: scales of b must be copied ahead of it, up to 12 a row, got 8
// RUN: sed 's/sfa tiles 2/sfa tiles 3/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: kernel_c20: tiles must be 2, those of the 8 scales of a row that are read, got 3
// A scale id of 64 by 16 is 0 only, so a 64 must not follow a 96.
// RUN: sed -E 's/(mma_span %0, %1\[%[a-z0-9_]+), %[a-z0-9_]+\] byte 48 into (.*) k 96 scale 6/\1] byte 48 into \2 k 64 scale 6/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=ID
// ID: kernel_c20: scale id must be one that k = 64 has, got 2
// RUN: sed -E 's/mma_span (%0, %1\[%[a-z0-9_#]+)\] byte 0 (into %[0-9]+\[%[a-z0-9]+\] if %[a-z0-9_]+) k 64 scale 0/mma \1] \2 steps 1/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=MMA
// MMA: kernel_c20: product must be an mma_span where k of inst is 96, got an mma
// RUN: sed 's/bytes = 3072, producer = tma_scales/bytes = 1536, producer = tma_scales/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: kernel_c10: transaction bytes must be what the loads of one stage bring, 3072, got 1536
// RUN: sed 's/producer = tma_scales/producer = tma/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=ROLE
// ROLE: kernel_c12: op must stand in role tma, got another
// RUN: sed 's/threads = 224/threads = 192/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=WARPS
// WARPS: kernel_c16: warps must lie inside 0..5, got 6..6
// RUN: sed 's/, scale_stages = 6/, scale_stages = 5/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=DEPTH
// DEPTH: kernel_c9: stages must be the schedule's 5, got 6

func.func @k96(%a: memref<64480xi8>, %sfa: memref<16384xi8>, %b: memref<79360xi8>, %sfb: memref<16384xi8>, %d: memref<130x160xf32>) {
  blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb : memref<64480xi8>, memref<16384xi8>, memref<79360xi8>, memref<16384xi8>)
    outs(%d : memref<130x160xf32>)
    {problem = #blockscale.problem<m = 130, n = 160, k = 992, a = e2m1, b = e2m1, scale = ue4m3, block = 16,
       sfa = tiled, sfb = tiled, out = f32>,
     schedule = #blockscale.schedule<arch = sm_103a, mma = mxf4nvf4, inst = 128x128x96, cta_group = 1,
       tile = 128x128x768, stages = 6, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 1, scale_stages = 6>}
  return
}
