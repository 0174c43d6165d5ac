// What the model chooses where tiles of 128 x 128 are more than SMs; docs/Gemm.md, "Which tile".
//
// RUN: blockscale-opt %s --blockscale-choose-schedule=arch=sm_100a | FileCheck %s --check-prefix=S100
// RUN: blockscale-opt %s --blockscale-choose-schedule=arch=sm_103a | FileCheck %s --check-prefix=S103
// RUN: blockscale-opt %s --blockscale-choose-schedule=arch=sm_107a | FileCheck %s --check-prefix=S107
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_103a inst-k=64" | FileCheck %s --check-prefix=K64
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_107a tile-n=128" | FileCheck %s --check-prefix=PINNED
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_107a ctas=223" | FileCheck %s --check-prefix=PINNED

// S100-LABEL: @square
// S100: inst = 256x256x64, cta_group = 2, tile = 256x256x256, {{.*}}accumulators = 2, {{.*}} ctas = 148, cluster = 2x1, accumulator_columns = overlapped>
// S103-LABEL: @square
// S103: inst = 256x256x96, cta_group = 2, tile = 256x256x768, {{.*}}cluster = 2x1, accumulator_columns = overlapped, scale_stages =
// S107-LABEL: @square
// S107: inst = 256x256x128, cta_group = 2, tile = 512x256x256, stages = 5, accumulators = 1, {{.*}} ctas = 224, cluster = 2x1>
// K64-LABEL: @square
// K64: inst = 256x256x64, cta_group = 2, tile = 256x256x256,
// PINNED-LABEL: @square
// PINNED: inst = 128x128x128, cta_group = 1, tile = 128x128x256,
!a = tensor<8192x8192xf4E2M1FN>
!s = tensor<8192x512xi8, #blockscale.scales<ue4m3, tiled>>
func.func @square(%a: !a, %s: !s, %c: tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16> {
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8192x8192xbf16>) -> tensor<8192x8192xbf16>
  return %d : tensor<8192x8192xbf16>
}

// Rows that a launch says may be few.
// S100-LABEL: @rows
// S100: inst = 128x128x64, cta_group = 1, tile = 128x128x256,
// S103-LABEL: @rows
// S103: inst = 128x128x64, cta_group = 1,
// S107-LABEL: @rows
// S107: inst = 128x128x128, cta_group = 1,
!r = tensor<?x8192xf4E2M1FN>
!sr = tensor<?x512xi8, #blockscale.scales<ue4m3, tiled>>
func.func @rows(%a: !r, %sa: !sr, %b: !a, %s: !s, %c: tensor<?x8192xbf16>) -> tensor<?x8192xbf16> {
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %s : !r, !sr, !a, !s) outs(%c : tensor<?x8192xbf16>) -> tensor<?x8192xbf16>
  return %d : tensor<?x8192xbf16>
}
