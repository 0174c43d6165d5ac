// k of a product of chunks is split where the contract lets parts add up and that is faster on an H200;
// or as it is pinned.

// RUN: blockscale-opt %s --split-input-file --blockscale-choose-schedule=arch=sm_90a | FileCheck %s
// RUN: blockscale-opt %s --split-input-file --blockscale-choose-schedule="arch=sm_90a split=1" | FileCheck %s --check-prefix=ONE
// RUN: not blockscale-opt %s --split-input-file --blockscale-choose-schedule="arch=sm_90a split=2" 2>&1 >/dev/null | FileCheck %s --check-prefix=TWO
// RUN: not blockscale-opt %s --split-input-file --blockscale-choose-schedule="arch=sm_90a split=3" 2>&1 >/dev/null | FileCheck %s --check-prefix=THREE
// RUN: not blockscale-opt %s --split-input-file --blockscale-choose-schedule="arch=sm_90a split=4" 2>&1 >/dev/null | FileCheck %s --check-prefix=FOUR
// RUN: not blockscale-opt %s --split-input-file --blockscale-choose-schedule="arch=sm_80 split=2" 2>&1 >/dev/null | FileCheck %s --check-prefix=CHIP
// RUN: not blockscale-opt %s --split-input-file --blockscale-choose-schedule="arch=sm_90a kernel=narrow split=2" 2>&1 >/dev/null | FileCheck %s --check-prefix=NARROW
// RUN: not blockscale-opt %s --split-input-file --blockscale-choose-schedule="arch=sm_90a activations=chunks" 2>&1 >/dev/null | FileCheck %s --check-prefix=CHUNKS
// RUN: not blockscale-opt %s --split-input-file --blockscale-choose-schedule="arch=sm_90a minima=mma" 2>&1 >/dev/null | FileCheck %s --check-prefix=MINIMA

// CHUNKS: error: 'blockscale.gemm' op warp_schedule_c8: activations must be transposed, as a is, got chunks
// CHUNKS-NOT: error
// MINIMA: error: 'blockscale.gemm' op warp_schedule_c9: minima must be fold, as a is, got mma
// ONE-NOT: split =
// TWO: error: 'blockscale.gemm' op gemm_c25: split of a schedule must be 1 where the contract is ordered (contract = #blockscale.contract<bounded> allows more), got 2
// THREE: error: 'blockscale.gemm' op warp_schedule_c13: split must be 1, 2, 4 or 8, got 3
// FOUR: error: 'blockscale.gemm' op warp_schedule_c14: each part of a split k must have at least 2 blocks of 256, as many as stages, got 1 of k = 1024 split in 4
// CHIP: error: 'blockscale.gemm' op warp_schedule_c13: split must be 1 but for raw_nibble on a chip with clusters, got 2 for raw_nibble on sm_80
// NARROW: error: 'blockscale.gemm' op warp_schedule_c13: split must be 1 but for raw_nibble on a chip with clusters, got 2 for narrow on sm_90a

!w = tensor<3584x10656xi8, #blockscale.blocks<q4_K>>
// CHECK-LABEL: @few_rows
// CHECK: kernel = raw_nibble, {{.*}} split = 4, threads = 256
func.func @few_rows(%a: tensor<16x23680xi8, #blockscale.blocks<q8_1_chunk>>, %w: !w, %c: tensor<16x3584xf32>) -> tensor<16x3584xf32> {
  %d = blockscale.gemm ins(%a, %w : tensor<16x23680xi8, #blockscale.blocks<q8_1_chunk>>, !w) outs(%c : tensor<16x3584xf32>) {contract = #blockscale.contract<bounded>} -> tensor<16x3584xf32>
  return %d : tensor<16x3584xf32>
}

// -----

!w = tensor<18944x2016xi8, #blockscale.blocks<q4_K>>
// 148 tiles on 132 SMs are two rounds, quarters five of a fourth of the time.
// CHECK-LABEL: @many_rows
// CHECK: split = 4,
func.func @many_rows(%a: tensor<16x4480xi8, #blockscale.blocks<q8_1_chunk>>, %w: !w, %c: tensor<16x18944xf32>) -> tensor<16x18944xf32> {
  %d = blockscale.gemm ins(%a, %w : tensor<16x4480xi8, #blockscale.blocks<q8_1_chunk>>, !w) outs(%c : tensor<16x18944xf32>) {contract = #blockscale.contract<bounded>} -> tensor<16x18944xf32>
  return %d : tensor<16x18944xf32>
}

// -----

!w = tensor<128x576xi8, #blockscale.blocks<q4_K>>
// CHECK-LABEL: @shallow
// CHECK: split = 2,
func.func @shallow(%a: tensor<16x1280xi8, #blockscale.blocks<q8_1_chunk>>, %w: !w, %c: tensor<16x128xf32>) -> tensor<16x128xf32> {
  %d = blockscale.gemm ins(%a, %w : tensor<16x1280xi8, #blockscale.blocks<q8_1_chunk>>, !w) outs(%c : tensor<16x128xf32>) {contract = #blockscale.contract<bounded>} -> tensor<16x128xf32>
  return %d : tensor<16x128xf32>
}

// -----

!w = tensor<128x3744xi8, #blockscale.blocks<q4_K>>
// Eight CTAs for one tile, each with an SM to itself.
// CHECK-LABEL: @one_tile
// CHECK: split = 8,
func.func @one_tile(%a: tensor<16x8320xi8, #blockscale.blocks<q8_1_chunk>>, %w: !w, %c: tensor<16x128xf32>) -> tensor<16x128xf32> {
  %d = blockscale.gemm ins(%a, %w : tensor<16x8320xi8, #blockscale.blocks<q8_1_chunk>>, !w) outs(%c : tensor<16x128xf32>) {contract = #blockscale.contract<bounded>} -> tensor<16x128xf32>
  return %d : tensor<16x128xf32>
}

// -----

!w = tensor<3584x14400xi8, #blockscale.blocks<q4_K>>
// 112 tiles of deep k are one round, but two CTAs of an SM fill each other's gaps.
// CHECK-LABEL: @one_round
// CHECK: split = 2,
func.func @one_round(%a: tensor<256x32000xi8, #blockscale.blocks<q8_1_chunk>>, %w: !w, %c: tensor<256x3584xf32>) -> tensor<256x3584xf32> {
  %d = blockscale.gemm ins(%a, %w : tensor<256x32000xi8, #blockscale.blocks<q8_1_chunk>>, !w) outs(%c : tensor<256x3584xf32>) {contract = #blockscale.contract<bounded>} -> tensor<256x3584xf32>
  return %d : tensor<256x3584xf32>
}

// -----

!w = tensor<3584x10656xi8, #blockscale.blocks<q4_K>>
// Chunks in ascending order.
// CHECK-LABEL: @ordered
// CHECK-NOT: split
func.func @ordered(%a: tensor<16x23680xi8, #blockscale.blocks<q8_1_chunk>>, %w: !w, %c: tensor<16x3584xf32>) -> tensor<16x3584xf32> {
  %d = blockscale.gemm ins(%a, %w : tensor<16x23680xi8, #blockscale.blocks<q8_1_chunk>>, !w) outs(%c : tensor<16x3584xf32>) -> tensor<16x3584xf32>
  return %d : tensor<16x3584xf32>
}

// -----

!w = tensor<128x3744xi8, #blockscale.blocks<q4_K>>
// Tiles say how they lie.
// CHECK-LABEL: @tiles
// CHECK: activations = transposed
func.func @tiles(%a: tensor<1x532480xi8, #blockscale.blocks<q8_1_tile>>, %w: !w, %c: tensor<16x128xf32>) -> tensor<16x128xf32> {
  %d = blockscale.gemm ins(%a, %w : tensor<1x532480xi8, #blockscale.blocks<q8_1_tile>>, !w) outs(%c : tensor<16x128xf32>) -> tensor<16x128xf32>
  return %d : tensor<16x128xf32>
}
