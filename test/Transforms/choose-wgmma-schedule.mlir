// Products of f16 activations: the contract says whether weights may be rounded to f16, the
// chip whether they are.

// RUN: blockscale-opt %s --split-input-file --blockscale-insert-relayouts --blockscale-choose-schedule=arch=sm_90a | FileCheck %s
// RUN: not blockscale-opt %s --split-input-file --blockscale-insert-relayouts --blockscale-choose-schedule="arch=sm_90a kernel=wide" > %t.wide 2> %t.refused
// RUN: FileCheck %s --check-prefix=WIDE < %t.wide
// RUN: FileCheck %s --check-prefix=NOT-WIDE < %t.refused
// RUN: not blockscale-opt %s --split-input-file --blockscale-insert-relayouts --blockscale-choose-schedule="arch=sm_90a kernel=dequantise_wgmma" 2>&1 >/dev/null | FileCheck %s --check-prefix=PINNED
// RUN: not blockscale-opt %s --split-input-file --blockscale-insert-relayouts --blockscale-choose-schedule=arch=sm_80 > %t.ampere 2> %t.refused
// RUN: FileCheck %s --check-prefix=AMPERE < %t.ampere
// RUN: FileCheck %s --check-prefix=NOT-AMPERE < %t.refused

// CHECK-LABEL: @none
// CHECK: quantize_chunks
// CHECK: warp_schedule
// CHECK-NOT: wgmma_schedule
// WIDE-LABEL: @none
// WIDE: kernel = wide
// PINNED: wgmma_schedule_c1: kernel dequantise_wgmma must have a contract of halves or any, a in f16, b in q4_K and sm_90a, got ordered, 'tensor<512x{{.*}}>', q4_K and sm_90a
// PINNED: got any, 'tensor<16x512xf32>', q4_K and sm_90a
// AMPERE-LABEL: @none
// AMPERE: quantize_chunks
func.func @none(%a: tensor<512x512xf16>, %w: tensor<300x288xi8, #blockscale.blocks<q4_K>>,
                %c: tensor<512x300xf32>) -> tensor<512x300xf32> {
  %d = blockscale.gemm ins(%a, %w : tensor<512x512xf16>, tensor<300x288xi8, #blockscale.blocks<q4_K>>)
       outs(%c : tensor<512x300xf32>) -> tensor<512x300xf32>
  return %d : tensor<512x300xf32>
}

// -----

// CHECK-LABEL: @any
// CHECK-NOT: quantize_chunks
// CHECK: wgmma_schedule = #blockscale.wgmma_schedule<arch = sm_90a, tile = 128x64x256, groups = 1, block_stages = 3, token_stages = 4, blocks = 2>
// WIDE-LABEL: @any
// WIDE: quantize_chunks
// WIDE: kernel = wide
// AMPERE-LABEL: @any
// AMPERE: quantize_chunks
// AMPERE: warp_schedule
func.func @any(%a: tensor<512x512xf16>, %w: tensor<300x288xi8, #blockscale.blocks<q4_K>>,
               %c: tensor<512x300xf32>) -> tensor<512x300xf32> {
  %d = blockscale.gemm ins(%a, %w : tensor<512x512xf16>, tensor<300x288xi8, #blockscale.blocks<q4_K>>)
       outs(%c : tensor<512x300xf32>) {contract = #blockscale.contract<any>} -> tensor<512x300xf32>
  return %d : tensor<512x300xf32>
}

// -----

// Activations in f32 are never rounded to f16.
// CHECK-LABEL: @wide_activations
// CHECK: quantize_chunks
// CHECK: warp_schedule
func.func @wide_activations(%a: tensor<16x512xf32>, %w: tensor<300x288xi8, #blockscale.blocks<q4_K>>,
                            %c: tensor<16x300xf32>) -> tensor<16x300xf32> {
  %d = blockscale.gemm ins(%a, %w : tensor<16x512xf32>, tensor<300x288xi8, #blockscale.blocks<q4_K>>)
       outs(%c : tensor<16x300xf32>) {contract = #blockscale.contract<any>} -> tensor<16x300xf32>
  return %d : tensor<16x300xf32>
}

// -----

// CHECK-LABEL: @few
// CHECK: wgmma_schedule<arch = sm_90a, tile = 32x64x256, groups = 1, block_stages = 3, token_stages = 6, blocks = 3>
func.func @few(%a: tensor<17x512xf16>, %w: tensor<300x288xi8, #blockscale.blocks<q4_K>>,
               %c: tensor<17x300xf32>) -> tensor<17x300xf32> {
  %d = blockscale.gemm ins(%a, %w : tensor<17x512xf16>, tensor<300x288xi8, #blockscale.blocks<q4_K>>)
       outs(%c : tensor<17x300xf32>) {contract = #blockscale.contract<any>} -> tensor<17x300xf32>
  return %d : tensor<17x300xf32>
}

// -----

// CHECK-LABEL: @halves
// CHECK: tile = 16x64x256, groups = 1, block_stages = 4, token_stages = 8, blocks = 3>
// NOT-WIDE: gemm_c25: kernel of a contract of halves must be dequantise_wgmma, got 'wide'
// NOT-AMPERE: wgmma_schedule_c1: kernel dequantise_wgmma must have a contract of halves or any, a in f16, b in q4_K and sm_90a, got halves, 'tensor<16x512xf16>', q4_K and sm_80
func.func @halves(%a: tensor<16x512xf16>, %w: tensor<300x288xi8, #blockscale.blocks<q4_K>>,
                  %c: tensor<16x300xf32>) -> tensor<16x300xf32> {
  %d = blockscale.gemm ins(%a, %w : tensor<16x512xf16>, tensor<300x288xi8, #blockscale.blocks<q4_K>>)
       outs(%c : tensor<16x300xf32>) {contract = #blockscale.contract<halves>} -> tensor<16x300xf32>
  return %d : tensor<16x300xf32>
}
