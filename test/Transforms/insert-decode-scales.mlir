// q4_K weights become planes, once for all that multiply them, where the schedule that a product
// has, or will get, reads planes; the check reads the blocks.
// RUN: blockscale-opt %s --blockscale-insert-relayouts="arch=sm_90a weights=plane" | FileCheck %s
// RUN: sed '/^func.func @planes/,$d' %s > %t.mlir
// RUN: blockscale-opt %t.mlir --blockscale-insert-relayouts="arch=sm_90a weights=plane" --blockscale-choose-schedule="arch=sm_90a weights=plane" --blockscale-insert-checks | FileCheck %s --check-prefix=CHECKED
// RUN: blockscale-opt %t.mlir --blockscale-insert-relayouts=arch=sm_90a | FileCheck %s --check-prefix=NONE
// RUN: blockscale-opt %t.mlir --blockscale-insert-relayouts="arch=sm_90a weights=plane" --blockscale-choose-schedule="arch=sm_90a weights=plane" --blockscale-pack-narrow --blockscale-bufferize | FileCheck %s --check-prefix=BYTES
// Planes that are given are what the schedule then reads.
// RUN: blockscale-opt %s --blockscale-choose-schedule=arch=sm_90a | FileCheck %s --check-prefix=GIVEN
// RUN: not blockscale-opt %t.mlir --blockscale-choose-schedule="arch=sm_90a weights=plane" 2>&1 | FileCheck %s --check-prefix=FIRST
// RUN: not blockscale-opt %s --blockscale-choose-schedule=arch=sm_90a --blockscale-insert-checks 2>&1 | FileCheck %s --check-prefix=REFERENCE
// RUN: not blockscale-opt %t.mlir --blockscale-insert-relayouts="arch=sm_90a weights=rows" 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not blockscale-opt %t.mlir --blockscale-insert-relayouts="arch=sm_90a weights=plane kernel=narrow" 2>&1 | FileCheck %s --check-prefix=NARROW

!chunks = tensor<65x640xi8, #blockscale.blocks<q8_1_chunk>>
!weights = tensor<130x288xi8, #blockscale.blocks<q4_K>>

// CHECK-LABEL: @twice
// CHECK: %[[P:.*]] = blockscale.decode_scales %arg1 : tensor<130x288xi8, #blockscale.blocks<q4_K>> -> tensor<9x6144xi8, #blockscale.blocks<q4_K_plane>>
// CHECK-NOT: decode_scales
// CHECK: blockscale.gemm ins(%{{.*}}, %[[P]]
// CHECK: blockscale.gemm ins(%{{.*}}, %[[P]]
// CHECKED: weights = plane, stages = 2
// CHECKED: check_block_gemm "gemm_0" %{{.*}} of %arg0, %arg1
// CHECKED: weights = plane, stages = 2
// NONE-NOT: decode_scales
// BYTES: blockscale.decode_scales %{{.*}} outs(%{{.*}} : memref<55296xi8>) {matrix = #blockscale.weight_matrix<rows = 130, k = 512>} : memref<37440xi8>
// BYTES: block_problem = #blockscale.block_problem<m = 65, n = 130, k = 512, a = q8_1_chunk, b = q4_K_plane>
// FIRST: gemm_c24: b must be the q4_K_plane that the schedule reads, got q4_K; run blockscale-insert-relayouts first, with the same pins
// WORD: warp_schedule_c11: weights must be blocks or plane, got 'rows'
// NARROW: warp_schedule_c3: a kernel must fit sm_90a, got none: narrow: weights must be blocks, got plane
func.func @twice(%a: !chunks, %w: !weights, %c: tensor<65x130xf32>) -> (tensor<65x130xf32>, tensor<65x130xf32>) {
  %d = blockscale.gemm ins(%a, %w : !chunks, !weights) outs(%c : tensor<65x130xf32>) -> tensor<65x130xf32>
  %e = blockscale.gemm ins(%a, %w : !chunks, !weights) outs(%c : tensor<65x130xf32>) -> tensor<65x130xf32>
  return %d, %e : tensor<65x130xf32>, tensor<65x130xf32>
}

// CHECK-LABEL: @planes
// CHECK-NOT: decode_scales
// GIVEN-LABEL: @planes
// GIVEN: weights = plane
// REFERENCE: insert_checks_c3: planes of weights must come from a decode_scales, so that the reference has blocks, got another value
func.func @planes(%a: !chunks, %w: tensor<9x6144xi8, #blockscale.blocks<q4_K_plane>>, %c: tensor<65x130xf32>) -> tensor<65x130xf32> {
  %d = blockscale.gemm ins(%a, %w : !chunks, tensor<9x6144xi8, #blockscale.blocks<q4_K_plane>>) outs(%c : tensor<65x130xf32>) -> tensor<65x130xf32>
  return %d : tensor<65x130xf32>
}

// What is read as f16 is q4_K, so that planes leave the other contract.
// GIVEN-LABEL: @any
// GIVEN-NOT: wgmma_schedule
// GIVEN: weights = plane
func.func @any(%a: tensor<65x512xf16>, %w: tensor<9x6144xi8, #blockscale.blocks<q4_K_plane>>, %c: tensor<65x130xf32>) -> tensor<65x130xf32> {
  %d = blockscale.gemm ins(%a, %w : tensor<65x512xf16>, tensor<9x6144xi8, #blockscale.blocks<q4_K_plane>>) outs(%c : tensor<65x130xf32>) {contract = #blockscale.contract<any>} -> tensor<65x130xf32>
  return %d : tensor<65x130xf32>
}
