// A kernel with half scale tiles of B and several boxes a stage, with one thing changed.
//
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel -o %t.mlir
// RUN: sed -E 's/ shift %[0-9a-z_#]+//' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=SHIFT
// SHIFT: kernel_c14: scales of B must be shifted for tiles of 192 columns, got none
// RUN: sed -E 's/( shift )%[0-9a-z_#]+/\1%c0_i32/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=SOURCE
// SOURCE: kernel_c14: shift must come from scale_tiles_of_b, got another
// RUN: sed 's/ part 1 / part 3 /' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=PART
// PART: kernel_c17: part must be 0..2 for a stage of 3 boxes, got 3
// RUN: sed 's/ part 1 / /' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=NOPART
// NOPART: kernel_c17: part must be 0..2 for a stage of 3 boxes, got none
// RUN: sed 's/ part 1 / part 0 /' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: kernel_c17: a part of a stage must be loaded once, got more
// The gaps of A do not arrive.
// RUN: sed 's/bytes = 34304, producer = tma/bytes = 42496, producer = tma/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=GAPS
// GAPS: kernel_c10: transaction bytes must be what the loads of one stage bring, 34304, got 42496
// RUN: sed 's/scales_tiled, \(.*\) bytes = 1024/scales_tiled, \1 bytes = 512/; s/bytes = 34304/bytes = 33792/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=SCALES
// SCALES: kernel_c13: a stage of scales must be 1024 bytes, got 512
// RUN: sed -E 's/ c\([^)]*\)//' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=BETA
// BETA: apply_epilogue_c1: beta must be given with c, got none
// RUN: sed -E 's/( c\(%[0-9a-z_]+#0), [^:]*: f32, [^)]*\)/\1 : f32)/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: apply_epilogue_c1: values of c must be as many as values, got 1 for 32
// RUN: sed 's/alloc 256000 {blockscale.name = "c"}/alloc 255984 {blockscale.name = "c"}/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C
// C: launch_c7: buffer of bias or c or alpha_rows or alpha_columns must have 1280 or 256000 or 800 or 1280 bytes, got 255984

func.func @fp4_fp8(%a: memref<25600xi8>, %sfa: memref<2048xi8>, %b: memref<81920xi8>, %sfb: memref<3072xi8>,
                   %c: memref<200x320xf32>, %d: memref<200x320xf32>) {
  %beta = arith.constant 0.75 : f32
  blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb : memref<25600xi8>, memref<2048xi8>, memref<81920xi8>, memref<3072xi8>)
    beta(%beta : f32) c(%c : memref<200x320xf32>) outs(%d : memref<200x320xf32>)
    {problem = #blockscale.problem<m = 200, n = 320, k = 256, a = e2m1, b = e4m3, scale = ue8m0, block = 32,
       sfa = tiled, sfb = tiled, out = f32, major_b = mn>,
     schedule = #blockscale.schedule<arch = sm_100a, mma = mxf8f6f4, inst = 128x192x32, cta_group = 1,
       tile = 128x192x128, stages = 2, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 1>}
  return
}
