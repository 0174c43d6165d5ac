// ggml's own q8_1 blocks become chunks, once for all products, and tiles of those where a
// schedule reads tiles; the check reads chunks.
// RUN: blockscale-opt %s --blockscale-insert-relayouts=arch=sm_90a --blockscale-choose-schedule=arch=sm_90a --blockscale-insert-checks --blockscale-pack-narrow | FileCheck %s
// RUN: blockscale-opt %s --blockscale-insert-relayouts="arch=sm_90a activations=transposed" --blockscale-choose-schedule="arch=sm_90a activations=transposed" --blockscale-insert-checks | FileCheck %s --check-prefix=TILE
// RUN: not blockscale-opt %s --blockscale-choose-schedule=arch=sm_90a 2>&1 | FileCheck %s --check-prefix=BEFORE

// CHECK: %[[C:.*]] = blockscale.transpose_chunks %arg0 {matrix = #blockscale.chunk_matrix<tokens = 65, k = 512, to = q8_1_chunk>} : tensor<37440xi8> -> tensor<41600xi8>
// CHECK-NOT: transpose_chunks
// CHECK: blockscale.gemm ins(%[[C]],
// CHECK: check_block_gemm "gemm_0" %{{.*}} of %[[C]],
// CHECK: blockscale.gemm ins(%[[C]],
// TILE: %[[C:.*]] = blockscale.transpose_chunks %arg0 : tensor<65x576xi8, #blockscale.blocks<q8_1>> -> tensor<65x640xi8, #blockscale.blocks<q8_1_chunk>>
// TILE: %[[T:.*]] = blockscale.transpose_chunks %[[C]] : {{.*}} -> tensor<2x40960xi8, #blockscale.blocks<q8_1_tile>>
// TILE: blockscale.gemm ins(%[[T]],
// TILE: check_block_gemm "gemm_0" %{{.*}} of %[[C]],
// BEFORE: gemm_c24: a must be the q8_1_chunk that the schedule reads, got q8_1; run blockscale-insert-relayouts first, with the same pins

!blocks = tensor<65x576xi8, #blockscale.blocks<q8_1>>
!weights = tensor<130x288xi8, #blockscale.blocks<q4_K>>
func.func @twice(%a: !blocks, %w: !weights, %c: tensor<65x130xf32>) -> (tensor<65x130xf32>, tensor<65x130xf32>) {
  %d = blockscale.gemm ins(%a, %w : !blocks, !weights) outs(%c : tensor<65x130xf32>) -> tensor<65x130xf32>
  %e = blockscale.gemm ins(%a, %w : !blocks, !weights) outs(%c : tensor<65x130xf32>) -> tensor<65x130xf32>
  return %d, %e : tensor<65x130xf32>, tensor<65x130xf32>
}
