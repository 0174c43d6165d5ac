// The same as ir-mutations.mlir of a sample of the numbers, in a kernel with half scale
// tiles of B, gaps between the elements of A, three boxes of B a stage, and C.
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel -o %t.3.mlir
// RUN: blockscale-opt %t.3.mlir --blockscale-lower-kernel-to-machine -o %t.4.mlir
// RUN: %python %S/ir_mutations.py %build %t.3.mlir 3 --every=11 | FileCheck %s
// RUN: %python %S/ir_mutations.py %build %t.4.mlir 4 --every=11 | FileCheck %s

// CHECK: {{[1-9][0-9]+}} mutants: {{[1-9][0-9]+}} refused, {{[1-9][0-9]*}} reported, {{[0-9]+}} wrong, {{[0-9]+}} equivalent, 0 bad

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
