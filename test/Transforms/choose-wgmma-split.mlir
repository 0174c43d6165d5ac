// k is split where tiles leave SMs of the H200 idle, as far as parts run side by side and
// outweigh their sums; or as it is pinned.

// RUN: blockscale-opt %s --split-input-file --blockscale-choose-schedule=arch=sm_90a | FileCheck %s
// RUN: blockscale-opt %s --split-input-file --blockscale-choose-schedule="arch=sm_90a split=1" | FileCheck %s --check-prefix=ONE
// RUN: blockscale-opt %s --split-input-file --blockscale-choose-schedule="arch=sm_90a split=2" | FileCheck %s --check-prefix=TWO
// RUN: not blockscale-opt %s --split-input-file --blockscale-choose-schedule="arch=sm_90a split=3" 2>&1 >/dev/null | FileCheck %s --check-prefix=THREE
// RUN: not blockscale-opt %s --split-input-file --blockscale-choose-schedule="arch=sm_90a split=4" 2>&1 >/dev/null | FileCheck %s --check-prefix=FOUR
// ptxas leaves a wgmma kernel as it is, so that the pin would be lost.
// RUN: not blockscale-opt %s --split-input-file --blockscale-choose-schedule="arch=sm_90a pragma=mma_throughput" 2>&1 >/dev/null | FileCheck %s --check-prefix=PRAGMA

// PRAGMA: 'blockscale.gemm' op wgmma_schedule_c10: pragma must be none where dequantise_wgmma is chosen (ptxas ignores it there), got mma_throughput
// ONE-NOT: split =
// TWO-COUNT-8: split = 2>
// THREE: choose-wgmma-split.mlir:{{.*}}: error: 'blockscale.gemm' op wgmma_schedule_c7: split must be 1, 2 or 4, got 3
// FOUR: 'blockscale.gemm' op wgmma_schedule_c9: split must be at most the 2 blocks of k, got 4
// FOUR-NOT: error

// CHECK-LABEL: @few_rows
// CHECK: tile = 16x64x256, groups = 1, block_stages = 4, token_stages = 8, blocks = 3, split = 4>
!w = tensor<3584x10656xi8, #blockscale.blocks<q4_K>>
func.func @few_rows(%a: tensor<16x18944xf16>, %w: !w, %c: tensor<16x3584xf32>) -> tensor<16x3584xf32> {
  %d = blockscale.gemm ins(%a, %w : tensor<16x18944xf16>, !w) outs(%c : tensor<16x3584xf32>) {contract = #blockscale.contract<halves>} -> tensor<16x3584xf32>
  return %d : tensor<16x3584xf32>
}

// -----

// CHECK-LABEL: @more_tokens
// CHECK: tile = 128x64x256, {{.*}} blocks = 2, split = 4>
!w = tensor<3584x10656xi8, #blockscale.blocks<q4_K>>
func.func @more_tokens(%a: tensor<128x18944xf16>, %w: !w, %c: tensor<128x3584xf32>) -> tensor<128x3584xf32> {
  %d = blockscale.gemm ins(%a, %w : tensor<128x18944xf16>, !w) outs(%c : tensor<128x3584xf32>) {contract = #blockscale.contract<halves>} -> tensor<128x3584xf32>
  return %d : tensor<128x3584xf32>
}

// -----

// Four parts of 60 tiles would be two rounds of the chip.
// CHECK-LABEL: @one_block_of_an_sm
// CHECK: tile = 256x128x256, {{.*}} blocks = 1, split = 2>
!w = tensor<2560x10656xi8, #blockscale.blocks<q4_K>>
func.func @one_block_of_an_sm(%a: tensor<600x18944xf16>, %w: !w, %c: tensor<600x2560xf32>) -> tensor<600x2560xf32> {
  %d = blockscale.gemm ins(%a, %w : tensor<600x18944xf16>, !w) outs(%c : tensor<600x2560xf32>) {contract = #blockscale.contract<halves>} -> tensor<600x2560xf32>
  return %d : tensor<600x2560xf32>
}

// -----

// Two parts of 56 large tiles, rather than 224 small ones.
// CHECK-LABEL: @large_tiles
// CHECK: tile = 128x256x256, groups = 2, block_stages = 2, token_stages = 8, blocks = 1, split = 2>
!w = tensor<3584x10656xi8, #blockscale.blocks<q4_K>>
func.func @large_tiles(%a: tensor<512x18944xf16>, %w: !w, %c: tensor<512x3584xf32>) -> tensor<512x3584xf32> {
  %d = blockscale.gemm ins(%a, %w : tensor<512x18944xf16>, !w) outs(%c : tensor<512x3584xf32>) {contract = #blockscale.contract<halves>} -> tensor<512x3584xf32>
  return %d : tensor<512x3584xf32>
}

// -----

// They would leave a fourth of the SMs idle.
// CHECK-LABEL: @few_large_tiles
// CHECK: tile = 128x64x256, {{.*}} blocks = 2>
!w = tensor<3072x10656xi8, #blockscale.blocks<q4_K>>
func.func @few_large_tiles(%a: tensor<512x18944xf16>, %w: !w, %c: tensor<512x3072xf32>) -> tensor<512x3072xf32> {
  %d = blockscale.gemm ins(%a, %w : tensor<512x18944xf16>, !w) outs(%c : tensor<512x3072xf32>) {contract = #blockscale.contract<halves>} -> tensor<512x3072xf32>
  return %d : tensor<512x3072xf32>
}

// -----

// Tiles enough.
// CHECK-LABEL: @many_rows
// CHECK: tile = 16x64x256, {{.*}} blocks = 3>
!w = tensor<18944x2016xi8, #blockscale.blocks<q4_K>>
func.func @many_rows(%a: tensor<16x3584xf16>, %w: !w, %c: tensor<16x18944xf32>) -> tensor<16x18944xf32> {
  %d = blockscale.gemm ins(%a, %w : tensor<16x3584xf16>, !w) outs(%c : tensor<16x18944xf32>) {contract = #blockscale.contract<halves>} -> tensor<16x18944xf32>
  return %d : tensor<16x18944xf32>
}

// -----

// CHECK-LABEL: @tiles_enough
// CHECK: tile = 128x64x256, {{.*}} blocks = 2>
!w = tensor<18944x2016xi8, #blockscale.blocks<q4_K>>
func.func @tiles_enough(%a: tensor<512x3584xf16>, %w: !w, %c: tensor<512x18944xf32>) -> tensor<512x18944xf32> {
  %d = blockscale.gemm ins(%a, %w : tensor<512x3584xf16>, !w) outs(%c : tensor<512x18944xf32>) {contract = #blockscale.contract<halves>} -> tensor<512x18944xf32>
  return %d : tensor<512x18944xf32>
}

// -----

// Sums of parts of one block would cost as much as the parts.
// CHECK-LABEL: @short
// CHECK: tile = 16x64x256, {{.*}} blocks = 3>
!w = tensor<3584x288xi8, #blockscale.blocks<q4_K>>
func.func @short(%a: tensor<16x512xf16>, %w: !w, %c: tensor<16x3584xf32>) -> tensor<16x3584xf32> {
  %d = blockscale.gemm ins(%a, %w : tensor<16x512xf16>, !w) outs(%c : tensor<16x3584xf32>) {contract = #blockscale.contract<halves>} -> tensor<16x3584xf32>
  return %d : tensor<16x3584xf32>
}
