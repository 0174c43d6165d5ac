// Names that the input has already are left to it: the module of kernels and each
// kernel take the first free one.
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @kernels
// CHECK: blockscale.launch @kernels_0::@gemm_0
// CHECK: module @kernels_0 attributes {blockscale.arch = "sm_100a"}
func.func @kernels(%a: memref<256xi8>, %s: memref<512xi8>, %c: memref<8x8xf32>) {
  blockscale.gemm ins(%a scaled %s, %a scaled %s : memref<256xi8>, memref<512xi8>, memref<256xi8>, memref<512xi8>)
    outs(%c : memref<8x8xf32>)
    {problem = #blockscale.problem<m = 8, n = 8, k = 64, a = e2m1, b = e2m1, scale = ue4m3, block = 16,
       sfa = tiled, sfb = tiled, out = f32>,
     schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1,
       tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>}
  return
}

// -----

// CHECK-LABEL: func.func @product
// CHECK: blockscale.launch @mine::@gemm_1
// CHECK: module @mine
// CHECK: func.func private @gemm_0
// CHECK: blockscale.kernel @gemm_1
func.func @product(%a: memref<256xi8>, %s: memref<512xi8>, %c: memref<8x8xf32>) {
  blockscale.gemm ins(%a scaled %s, %a scaled %s : memref<256xi8>, memref<512xi8>, memref<256xi8>, memref<512xi8>)
    outs(%c : memref<8x8xf32>)
    {problem = #blockscale.problem<m = 8, n = 8, k = 64, a = e2m1, b = e2m1, scale = ue4m3, block = 16,
       sfa = tiled, sfb = tiled, out = f32>,
     schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1,
       tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>}
  return
}
module @mine attributes {blockscale.arch = "sm_100a"} {
  func.func private @gemm_0()
}
