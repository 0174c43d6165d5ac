// What a chip's TMA and UTCCP cannot read is refused by the gemm's own rules.
//
// RUN: blockscale-opt %s --blockscale-choose-schedule=arch=sm_100a --split-input-file --verify-diagnostics

// Bytes are copied before they are bytes.
func.func @gemm_c13_k48(%a: memref<192xi8>, %s: memref<512xi8>, %c: memref<8x8xf32>) {
  // expected-error @below {{gemm_c13: row pitch of a must be a multiple of 16 bytes for TMA, got 24 (k = 48); the pitch wanted is 32, and blockscale.repitch makes it}}
  blockscale.gemm ins(%a scaled %s, %a scaled %s : memref<192xi8>, memref<512xi8>, memref<192xi8>, memref<512xi8>) outs(%c : memref<8x8xf32>)
    {problem = #blockscale.problem<m = 8, n = 8, k = 48, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>}
  return
}

// -----

!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
func.func @gemm_c14(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{gemm_c14: sfa must have layout tiled, got linear; run blockscale-insert-relayouts first}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c1_other_chip(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c1: arch of a schedule must be the one that is compiled for, sm_100a, got sm_107a}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_107a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 5>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}
