// A pinned pair is a cluster of two; the number of CTAs is whole clusters. Stages and columns
// are those of one CTA: its rows of A, its half of B, all scales of B.
//
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_100a cta-group=2 tile-n=256" | FileCheck %s --check-prefix=PAIR
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_107a cta-group=2 tile-n=256" | FileCheck %s --check-prefix=LARGE
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_100a cta-group=2 cluster=4x4" | FileCheck %s --check-prefix=CLUSTER
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_100a cluster=1x2" | FileCheck %s --check-prefix=WIDE
// Two products share B: one accumulator stage at 256 and 192 columns, two below.
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_107a cta-group=2 tile-m=512 tile-n=256" | FileCheck %s --check-prefix=REUSE
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_107a tile-m=256 tile-n=192" | FileCheck %s --check-prefix=REUSE192
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_107a tile-m=256" | FileCheck %s --check-prefix=REUSE128
// RUN: not blockscale-opt %s --blockscale-choose-schedule="arch=sm_100a cluster=two" 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not blockscale-opt %s --blockscale-choose-schedule="arch=sm_100a cta-group=3" 2>&1 | FileCheck %s --check-prefix=GROUP
// GROUP: schedule_c4: cta_group must be 1 or 2, got 3
// SHAPE: schedule_c14: cluster must be 1, 2 or 4 by 1, 2 or 4 CTAs, got 'two'

!a = tensor<128x256xf4E2M1FN>
!s = tensor<128x16xi8, #blockscale.scales<ue4m3, tiled>>

func.func @chosen(%a: !a, %s: !s, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  // PAIR: inst = 256x256x64, cta_group = 2, tile = 256x256x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148, cluster = 2x1, accumulator_columns = overlapped>
  // LARGE: inst = 256x256x128, cta_group = 2, tile = 256x256x256, stages = 8, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 224, cluster = 2x1>
  // CLUSTER: inst = 256x128x64, cta_group = 2, tile = 256x128x256, stages = 7, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 144, cluster = 4x4>
  // REUSE: inst = 256x256x128, cta_group = 2, tile = 512x256x256, stages = 5, accumulators = 1, epilogue = tma_store, staging = 2, ctas = 224, cluster = 2x1>
  // REUSE192: inst = 128x192x128, cta_group = 1, tile = 256x192x256, stages = 4, accumulators = 1, epilogue = tma_store, staging = 2, ctas = 224>
  // REUSE128: inst = 128x128x128, cta_group = 1, tile = 256x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 224>
  // WIDE: inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148, cluster = 1x2>
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}
