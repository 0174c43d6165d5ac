// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel -o %t.mlir
// RUN: blockscale-opt %t.mlir | blockscale-opt -o %t2.mlir
// RUN: diff %t.mlir %t2.mlir
// RUN: %python %S/kernel_mutations.py %build/bin/blockscale-opt %t.mlir | FileCheck %s

// A kernel round-trips, and no number of its plan can change unseen.
// CHECK: {{[1-9][0-9]+}} numbers, {{[1-9][0-9]+}} refused, 1 equivalent, 23 named, 0 bad

func.func @nvfp4(%a: memref<34176xi8>, %sfa: memref<6144xi8>, %b: memref<294912xi8>,
                 %sfb: memref<36864xi8>, %bias: memref<1536xf32>, %d: memref<178x1536xbf16>) {
  blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb
    : memref<34176xi8>, memref<6144xi8>, memref<294912xi8>, memref<36864xi8>)
    bias(%bias : memref<1536xf32>) outs(%d : memref<178x1536xbf16>)
    {problem = #blockscale.problem<m = 178, n = 1536, k = 384, a = e2m1, b = e2m1, scale = ue4m3, block = 16,
       sfa = tiled, sfb = tiled, out = bf16>,
     schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1,
       tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>}
  return
}
