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

!tiles = tensor<2x40960xi8, #blockscale.blocks<q8_1_tile>>
!parts = tensor<2x43008xi8, #blockscale.blocks<q8_1_tile_parts>>

// CHECK-LABEL: @transposed
func.func @transposed(%a: !chunks, %w: !weights, %c: tensor<65x130xf32>) -> (tensor<65x130xf32>, tensor<65x130xf32>) {
  // CHECK: %[[TILES:.*]] = blockscale.transpose_chunks %{{.*}} : tensor<65x640xi8, #blockscale.blocks<q8_1_chunk>> -> tensor<2x40960xi8, #blockscale.blocks<q8_1_tile>>
  %t = blockscale.transpose_chunks %a : !chunks -> !tiles
  // CHECK: blockscale.gemm ins(%[[TILES]],
  %d = blockscale.gemm ins(%t, %w : !tiles, !weights) outs(%c : tensor<65x130xf32>) -> tensor<65x130xf32>
  %p = blockscale.transpose_chunks %a : !chunks -> !parts
  // CHECK: contract = #blockscale.contract<bounded>
  // CHECK-SAME: activations = transposed, minima = mma, convert = cvt, stages = 3, flight = 4
  %e = blockscale.gemm ins(%p, %w : !parts, !weights) outs(%c : tensor<65x130xf32>)
    {contract = #blockscale.contract<bounded>,
     warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, activations = transposed, minima = mma, convert = cvt, stages = 3, flight = 4, threads = 256, blocks = 2>} -> tensor<65x130xf32>
  return %d, %e : tensor<65x130xf32>, tensor<65x130xf32>
}

// CHECK-LABEL: @transposed_bytes
func.func @transposed_bytes(%a: memref<41600xi8>, %t: memref<86016xi8>) {
  // CHECK: blockscale.transpose_chunks %{{.*}} outs(%{{.*}} : memref<86016xi8>) {matrix = #blockscale.chunk_matrix<tokens = 65, k = 512, to = q8_1_tile_parts>} : memref<41600xi8>
  blockscale.transpose_chunks %a outs(%t : memref<86016xi8>) {matrix = #blockscale.chunk_matrix<tokens = 65, k = 512, to = q8_1_tile_parts>} : memref<41600xi8>
  return
}
