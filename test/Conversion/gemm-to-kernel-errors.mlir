// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel --split-input-file --verify-diagnostics

func.func @gemm_to_kernel_c1(%a: tensor<128xi8>, %s: tensor<512xi8>, %c: tensor<8x8xf32>) {
  // expected-error @below {{gemm_to_kernel_c1: operands must be packed bytes in memory, got 'tensor<128xi8>'}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s
    : tensor<128xi8>, tensor<512xi8>, tensor<128xi8>, tensor<512xi8>) outs(%c : tensor<8x8xf32>)
    {problem = #blockscale.problem<m = 8, n = 8, k = 32, a = e2m1, b = e2m1, scale = ue4m3, block = 16,
       sfa = tiled, sfb = tiled, out = f32>} -> tensor<8x8xf32>
  return
}

// -----

func.func @gemm_to_kernel_c2(%a: memref<128xi8>, %s: memref<512xi8>, %c: memref<8x8xf32>) {
  // expected-error @below {{gemm_to_kernel_c2: gemm must have a schedule, got none; run blockscale-choose-schedule}}
  blockscale.gemm ins(%a scaled %s, %a scaled %s
    : memref<128xi8>, memref<512xi8>, memref<128xi8>, memref<512xi8>) outs(%c : memref<8x8xf32>)
    {problem = #blockscale.problem<m = 8, n = 8, k = 32, a = e2m1, b = e2m1, scale = ue4m3, block = 16,
       sfa = tiled, sfb = tiled, out = f32>}
  return
}

// -----

func.func @gemm_to_kernel_c3(%a: memref<128xi8>, %s: memref<512xi8>, %c: memref<8x8xf32>) {
  // expected-error @below {{gemm_to_kernel_c3: kernels of one module must be for one chip, got sm_100a after sm_107a}}
  blockscale.gemm ins(%a scaled %s, %a scaled %s
    : memref<128xi8>, memref<512xi8>, memref<128xi8>, memref<512xi8>) outs(%c : memref<8x8xf32>)
    {problem = #blockscale.problem<m = 8, n = 8, k = 32, a = e2m1, b = e2m1, scale = ue4m3, block = 16,
       sfa = tiled, sfb = tiled, out = f32>,
     schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1,
       tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>}
  return
}
module @kernels attributes {blockscale.arch = "sm_107a"} {}

// -----

func.func @gemm_to_kernel_c4(%a: memref<128xi8>, %s: memref<512xi8>, %c: memref<8x8xf32>) {
  // expected-error @below {{gemm_to_kernel_c4: module of kernels must have a name, got none}}
  blockscale.gemm ins(%a scaled %s, %a scaled %s
    : memref<128xi8>, memref<512xi8>, memref<128xi8>, memref<512xi8>) outs(%c : memref<8x8xf32>)
    {problem = #blockscale.problem<m = 8, n = 8, k = 32, a = e2m1, b = e2m1, scale = ue4m3, block = 16,
       sfa = tiled, sfb = tiled, out = f32>,
     schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1,
       tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>}
  return
}
module attributes {blockscale.arch = "sm_100a"} {}
