// Chunks are transposed where the schedule that a product has, or will get, reads tiles;
// the check reads the chunks.
// RUN: blockscale-opt %s --blockscale-insert-relayouts="arch=sm_90a activations=transposed" | FileCheck %s --check-prefixes=CHECK,TILE
// RUN: sed '/^func.func @tiles/,$d' %s > %t.mlir
// RUN: blockscale-opt %t.mlir --blockscale-insert-relayouts="arch=sm_90a activations=transposed minima=fold" --blockscale-choose-schedule="arch=sm_90a activations=transposed" --blockscale-insert-checks | FileCheck %s --check-prefix=CHECKED
// RUN: blockscale-opt %s --blockscale-insert-relayouts=arch=sm_90a | FileCheck %s --check-prefix=NONE
// RUN: blockscale-opt %s --blockscale-insert-relayouts=activations=transposed | FileCheck %s --check-prefix=NONE
// RUN: not blockscale-opt %s --blockscale-insert-relayouts="arch=sm_90a activations=rows" 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not blockscale-opt %s --blockscale-insert-relayouts="arch=sm_90a activations=transposed kernel=narrow" 2>&1 | FileCheck %s --check-prefix=NARROW

// RUN: not blockscale-opt %s --blockscale-choose-schedule=arch=sm_80 --blockscale-insert-checks 2>&1 | FileCheck %s --check-prefix=TILES
// TILES: insert_checks_c2: tiles of activations must come from a quantize_chunks or a transpose_chunks, so that the reference has chunks, got another value

!chunks = tensor<65x640xi8, #blockscale.blocks<q8_1_chunk>>
!weights = tensor<130x288xi8, #blockscale.blocks<q4_K>>

// CHECK-LABEL: @twice
// TILE: %[[T:.*]] = blockscale.transpose_chunks %{{.*}} : tensor<65x640xi8, #blockscale.blocks<q8_1_chunk>> -> tensor<2x40960xi8, #blockscale.blocks<q8_1_tile>>
// CHECK-NOT: transpose_chunks
// TILE: blockscale.gemm ins(%[[T]],
// TILE: blockscale.gemm ins(%[[T]],
// The third may round in another order.
// TILE: %[[P:.*]] = blockscale.transpose_chunks %{{.*}} -> tensor<2x43008xi8, #blockscale.blocks<q8_1_tile_parts>>
// TILE: blockscale.gemm ins(%[[P]],
// CHECKED-COUNT-1: transpose_chunks
// CHECKED: check_block_gemm "gemm_0" %{{.*}} of %arg0, %arg1
// CHECKED: check_block_gemm "gemm_2" %{{.*}} of %arg0, %arg1
// NONE-NOT: transpose_chunks
// WORD: warp_schedule_c8: activations must be chunks or transposed, got 'rows'
// NARROW: warp_schedule_c3: a kernel must fit sm_90a, got none: narrow: activations must be chunks, got transposed
func.func @twice(%a: !chunks, %w: !weights, %c: tensor<65x130xf32>) -> (tensor<65x130xf32>, tensor<65x130xf32>, tensor<65x130xf32>) {
  %d = blockscale.gemm ins(%a, %w : !chunks, !weights) outs(%c : tensor<65x130xf32>) -> tensor<65x130xf32>
  %e = blockscale.gemm ins(%a, %w : !chunks, !weights) outs(%c : tensor<65x130xf32>) -> tensor<65x130xf32>
  %f = blockscale.gemm ins(%a, %w : !chunks, !weights) outs(%c : tensor<65x130xf32>) {contract = #blockscale.contract<bounded>} -> tensor<65x130xf32>
  return %d, %e, %f : tensor<65x130xf32>, tensor<65x130xf32>, tensor<65x130xf32>
}

// CHECK-LABEL: @tiles
func.func @tiles(%a: tensor<2x40960xi8, #blockscale.blocks<q8_1_tile>>, %w: !weights, %c: tensor<65x130xf32>) -> tensor<65x130xf32> {
  // CHECK-NOT: transpose_chunks
  %d = blockscale.gemm ins(%a, %w : tensor<2x40960xi8, #blockscale.blocks<q8_1_tile>>, !weights) outs(%c : tensor<65x130xf32>) -> tensor<65x130xf32>
  return %d : tensor<65x130xf32>
}
