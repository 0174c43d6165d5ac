// K = 96 by name: a K tile of 768, stages of 128 bytes of A and B, and as many buffers of
// scales as fit, for at most twice the K tiles that the stages hold: four a K tile by 16, two by 32.
//
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_103a inst-k=96" | FileCheck %s
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_103a inst-k=96 tile-n=256" | FileCheck %s --check-prefix=WIDE
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_103a inst-k=96 stages=3" | FileCheck %s --check-prefix=FEW

!fp4 = tensor<128x1536xf4E2M1FN>
!by16 = tensor<128x96xi8, #blockscale.scales<ue4m3, tiled>>
!by32 = tensor<128x48xi8, #blockscale.scales<ue8m0, tiled>>
!d = tensor<128x128xbf16>

// CHECK-LABEL: @nvfp4
// CHECK: mma = mxf4nvf4, inst = 128x128x96, cta_group = 1, tile = 128x128x768, stages = 6, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 148, scale_stages = 6>
// Two accumulators, 36 columns of scales: 2 x 256 + 36 are more than 512.
// WIDE-LABEL: @nvfp4
// WIDE: inst = 128x256x96, cta_group = 1, tile = 128x256x768, stages = 4, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 148, accumulator_columns = overlapped, scale_stages = 4>
// FEW-LABEL: @nvfp4
// FEW: stages = 3, {{.*}} scale_stages = 8>
func.func @nvfp4(%a: !fp4, %s: !by16, %c: !d) -> !d {
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !fp4, !by16, !fp4, !by16) outs(%c : !d) -> !d
  return %d : !d
}

// CHECK-LABEL: @mxfp4
// CHECK: mma = mxf4, inst = 128x128x96, cta_group = 1, tile = 128x128x768, stages = 6, {{.*}} scale_stages = 6>
// WIDE-LABEL: @mxfp4
// WIDE: mma = mxf4, inst = 128x256x96, {{.*}} stages = 4, {{.*}} scale_stages = 4>
// FEW-LABEL: @mxfp4
// FEW: stages = 3, {{.*}} scale_stages = 4>
func.func @mxfp4(%a: !fp4, %s: !by32, %c: !d) -> !d {
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !fp4, !by32, !fp4, !by32) outs(%c : !d) -> !d
  return %d : !d
}
