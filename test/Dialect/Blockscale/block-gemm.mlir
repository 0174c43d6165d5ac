// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s

!chunks = tensor<65x640xi8, #blockscale.blocks<q8_1_chunk>>
!weights = tensor<130x288xi8, #blockscale.blocks<q4_K>>

// CHECK-LABEL: @chunks
func.func @chunks(%a: !chunks, %w: !weights, %c: tensor<65x130xf32>) -> tensor<65x130xf32> {
  // CHECK: blockscale.gemm ins(%{{.*}}, %{{.*}} : tensor<65x640xi8, #blockscale.blocks<q8_1_chunk>>, tensor<130x288xi8, #blockscale.blocks<q4_K>>) outs(
  %d = blockscale.gemm ins(%a, %w : !chunks, !weights) outs(%c : tensor<65x130xf32>) -> tensor<65x130xf32>
  // CHECK: blockscale.check_block_gemm "f" %{{.*}} of %{{.*}}, %{{.*}} : tensor<65x130xf32> of
  blockscale.check_block_gemm "f" %d of %a, %w : tensor<65x130xf32> of !chunks, !weights
  return %d : tensor<65x130xf32>
}

// CHECK-LABEL: @activations
func.func @activations(%x: tensor<65x512xf16>, %w: !weights, %c: tensor<65x130xf32>) -> tensor<65x130xf32> {
  // CHECK: blockscale.gemm ins(%{{.*}}, %{{.*}} : tensor<65x512xf16>, tensor<130x288xi8, #blockscale.blocks<q4_K>>)
  %d = blockscale.gemm ins(%x, %w : tensor<65x512xf16>, !weights) outs(%c : tensor<65x130xf32>) -> tensor<65x130xf32>
  // CHECK: blockscale.quantize_chunks %{{.*}} : tensor<65x512xf16> -> tensor<65x640xi8, #blockscale.blocks<q8_1_chunk>>
  %q = blockscale.quantize_chunks %x : tensor<65x512xf16> -> !chunks
  return %d : tensor<65x130xf32>
}

// CHECK-LABEL: @packed
func.func @packed(%a: memref<41600xi8>, %w: memref<37440xi8>, %d: memref<65x130xf32>, %x: memref<65x512xf32>) {
  // CHECK: block_problem = #blockscale.block_problem<m = 65, n = 130, k = 512, a = q8_1_chunk, b = q4_K>
  // CHECK-SAME: warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = packed, threads = 256, blocks = 2>
  blockscale.gemm ins(%a, %w : memref<41600xi8>, memref<37440xi8>) outs(%d : memref<65x130xf32>)
    {block_problem = #blockscale.block_problem<m = 65, n = 130, k = 512, a = q8_1_chunk, b = q4_K>,
     warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = packed, threads = 256, blocks = 2>}
  // CHECK: blockscale.quantize_chunks %{{.*}} outs(%{{.*}} : memref<41600xi8>) : memref<65x512xf32>
  blockscale.quantize_chunks %x outs(%a : memref<41600xi8>) : memref<65x512xf32>
  return
}
