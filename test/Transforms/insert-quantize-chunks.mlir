// Activations of a product of blocks are quantised in sight; ready chunks are not.
// RUN: blockscale-opt %s --blockscale-insert-relayouts | FileCheck %s
// For a chip whose kernel holds a ring of tiles they are tiles; ready chunks are not.
// RUN: blockscale-opt %s --blockscale-insert-relayouts=arch=sm_90a | FileCheck %s --check-prefix=TILES
// RUN: blockscale-opt %s --blockscale-insert-relayouts=arch=sm_121a | FileCheck %s --check-prefix=PLAIN
// RUN: blockscale-opt %s --blockscale-insert-relayouts="arch=sm_90a sums=packed" | FileCheck %s --check-prefix=PLAIN
// RUN: blockscale-opt %s --blockscale-insert-relayouts="arch=sm_90a stages=1" | FileCheck %s --check-prefix=PLAIN
// TILES: %[[T:.*]] = blockscale.quantize_chunks {{.*}} -> tensor<2x40960xi8, #blockscale.blocks<q8_1_tile>>
// TILES-NOT: {{quantize|transpose}}_chunks
// TILES: blockscale.gemm ins(%[[T]],
// TILES: blockscale.gemm ins(%[[T]],
// TILES-NOT: transpose_chunks
// PLAIN-NOT: transpose_chunks

!weights = tensor<130x288xi8, #blockscale.blocks<q4_K>>

// CHECK-LABEL: @twice
// CHECK: %[[Q:.*]] = blockscale.quantize_chunks %{{.*}} : tensor<65x512xf32> -> tensor<65x640xi8, #blockscale.blocks<q8_1_chunk>>
// CHECK-NOT: quantize_chunks
// CHECK: blockscale.gemm ins(%[[Q]], %{{.*}} : tensor<65x640xi8, #blockscale.blocks<q8_1_chunk>>
// CHECK: blockscale.gemm ins(%[[Q]], %{{.*}} : tensor<65x640xi8, #blockscale.blocks<q8_1_chunk>>
func.func @twice(%x: tensor<65x512xf32>, %w: !weights, %v: !weights, %c: tensor<65x130xf32>)
    -> (tensor<65x130xf32>, tensor<65x130xf32>) {
  %d = blockscale.gemm ins(%x, %w : tensor<65x512xf32>, !weights) outs(%c : tensor<65x130xf32>) -> tensor<65x130xf32>
  %e = blockscale.gemm ins(%x, %v : tensor<65x512xf32>, !weights) outs(%c : tensor<65x130xf32>) -> tensor<65x130xf32>
  return %d, %e : tensor<65x130xf32>, tensor<65x130xf32>
}

// CHECK-LABEL: @ready
// CHECK-NOT: quantize_chunks
func.func @ready(%a: tensor<65x640xi8, #blockscale.blocks<q8_1_chunk>>, %w: !weights, %c: tensor<65x130xf32>)
    -> tensor<65x130xf32> {
  %d = blockscale.gemm ins(%a, %w : tensor<65x640xi8, #blockscale.blocks<q8_1_chunk>>, !weights) outs(%c : tensor<65x130xf32>) -> tensor<65x130xf32>
  return %d : tensor<65x130xf32>
}
