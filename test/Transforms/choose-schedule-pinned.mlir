// Pinned fields are kept and the others chosen around them; a schedule that is
// there already is kept whole.
//
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_107a inst-k=64 stages=3 accumulators=1 ctas=7" | FileCheck %s --check-prefix=PINS
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_107a staging=2" | FileCheck %s --check-prefix=STAGING
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_107a epilogue=plain_store" | FileCheck %s --check-prefix=PLAIN

!a = tensor<128x256xf4E2M1FN>
!s = tensor<128x8xi8, #blockscale.scales<ue8m0, tiled>>

func.func @chosen(%a: !a, %s: !s, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  // PINS: inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 3, accumulators = 1, epilogue = tma_store, staging = 2, ctas = 7>
  // STAGING: stages = 8, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 224>
  // PLAIN: stages = 9, accumulators = 2, epilogue = plain_store, staging = 0, ctas = 224>
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}

func.func @kept(%a: !a, %s: !s, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  // PINS: stages = 2, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 5>
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<128x128xf32>)
    {schedule = #blockscale.schedule<arch = sm_107a, mma = mxf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 5>} -> tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}
