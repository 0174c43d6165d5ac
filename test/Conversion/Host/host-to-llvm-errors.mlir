// RUN: blockscale-opt %s --convert-blockscale-host-to-llvm --split-input-file --verify-diagnostics

func.func @host_to_llvm_c1(%a: memref<256xi8>, %s: memref<512xi8>, %c: memref<8x8xf32>) {
  // expected-error @below {{host_to_llvm_c1: product must be a kernel and its launch, got one that blockscale-lower-gemm-to-kernel has not lowered}}
  blockscale.gemm ins(%a scaled %s, %a scaled %s : memref<256xi8>, memref<512xi8>, memref<256xi8>, memref<512xi8>)
    outs(%c : memref<8x8xf32>)
    {problem = #blockscale.problem<m = 8, n = 8, k = 64, a = e2m1, b = e2m1, scale = ue4m3, block = 16,
       sfa = tiled, sfb = tiled, out = f32>}
  return
}

// -----

func.func @host_to_llvm_c2(%s: tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>) {
  // expected-error @below {{host_to_llvm_c2: operands must be in memory, got tensors; run blockscale-pack-narrow and blockscale-bufferize}}
  %t = blockscale.relayout_scales %s
    : tensor<8x4xi8, #blockscale.scales<ue4m3, linear>> -> tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
  return
}
