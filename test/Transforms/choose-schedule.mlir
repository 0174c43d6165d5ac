// The instruction, stages and staging that each chip gives each format. The
// stages are those of NVIDIA's own kernels at bf16 output: 5, 6 and 6 on sm_100a,
// 8, (9) and 9 on sm_107a.
//
// RUN: blockscale-opt %s --blockscale-choose-schedule=arch=sm_100a | FileCheck %s --check-prefixes=CHECK,A100
// RUN: blockscale-opt %s --blockscale-choose-schedule=arch=sm_100f | FileCheck %s --check-prefixes=CHECK,F100
// RUN: blockscale-opt %s --blockscale-choose-schedule=arch=sm_103a | FileCheck %s --check-prefixes=CHECK,A103
// RUN: blockscale-opt %s --blockscale-choose-schedule=arch=sm_107a | FileCheck %s --check-prefixes=CHECK,A107
// RUN: blockscale-opt %s --blockscale-choose-schedule=arch=sm_110a | FileCheck %s --check-prefixes=CHECK,A110

!nv_a = tensor<256x384xf4E2M1FN>
!nv_s = tensor<256x24xi8, #blockscale.scales<ue4m3, tiled>>
!mx_s = tensor<256x12xi8, #blockscale.scales<ue8m0, tiled>>
!f8_a = tensor<256x384xf8E4M3FN>

// CHECK-LABEL: func.func @nvfp4
func.func @nvfp4(%a: !nv_a, %s: !nv_s, %c: tensor<256x256xbf16>) -> tensor<256x256xbf16> {
  // A100: schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>
  // F100: <arch = sm_100f, mma = mxf4nvf4, inst = 128x128x64, {{.*}} stages = 5,
  // A103: <arch = sm_103a, mma = mxf4nvf4, inst = 128x128x64, {{.*}} stages = 5,
  // A107: schedule = #blockscale.schedule<arch = sm_107a, mma = mxf4nvf4, inst = 128x128x128, cta_group = 1, tile = 128x128x256, stages = 8, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 224>
  // A110: <arch = sm_110a, mma = mxf4nvf4, inst = 128x128x64, {{.*}} stages = 5, {{.*}} ctas = 20>
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !nv_a, !nv_s, !nv_a, !nv_s)
    outs(%c : tensor<256x256xbf16>) -> tensor<256x256xbf16>
  return %d : tensor<256x256xbf16>
}

// CHECK-LABEL: func.func @mxfp4
func.func @mxfp4(%a: !nv_a, %s: !mx_s, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // A100: <arch = sm_100a, mma = mxf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 6, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 148>
  // F100: stages = 6,
  // A103: stages = 6,
  // A107: <arch = sm_107a, mma = mxf4, inst = 128x128x128, cta_group = 1, tile = 128x128x256, stages = 9, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 224>
  // A110: stages = 6,
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !nv_a, !mx_s, !nv_a, !mx_s)
    outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %d : tensor<256x256xf32>
}

// CHECK-LABEL: func.func @mxfp8
func.func @mxfp8(%a: !f8_a, %s: !mx_s, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // A100: <arch = sm_100a, mma = mxf8f6f4, inst = 128x128x32, cta_group = 1, tile = 128x128x128, stages = 6, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 148>
  // F100: inst = 128x128x32,
  // A103: inst = 128x128x32,
  // A107: <arch = sm_107a, mma = mxf8f6f4, inst = 128x128x64, cta_group = 1, tile = 128x128x128, stages = 9, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 224>
  // A110: inst = 128x128x32,
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !f8_a, !mx_s, !f8_a, !mx_s)
    outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %d : tensor<256x256xf32>
}

// Rows of D of 10 bytes: a TMA store would write 16. No staging leaves room for one more stage.
// CHECK-LABEL: func.func @narrow_out
func.func @narrow_out(%a: !nv_a, %s: !nv_s, %b: tensor<5x384xf4E2M1FN>, %t: tensor<5x24xi8, #blockscale.scales<ue4m3, tiled>>,
                      %c: tensor<256x5xbf16>) -> tensor<256x5xbf16> {
  // A100: stages = 6, accumulators = 2, epilogue = plain_store, staging = 0,
  // A107: stages = 9, accumulators = 2, epilogue = plain_store, staging = 0,
  %d = blockscale.gemm ins(%a scaled %s, %b scaled %t
      : !nv_a, !nv_s, tensor<5x384xf4E2M1FN>, tensor<5x24xi8, #blockscale.scales<ue4m3, tiled>>)
    outs(%c : tensor<256x5xbf16>) -> tensor<256x5xbf16>
  return %d : tensor<256x5xbf16>
}

// D29 and D25: k = 96 and k = 256 of MXFP8 are rows of 96 and 256 bytes.
// CHECK-LABEL: func.func @k96
func.func @k96(%a: tensor<128x96xf8E4M3FN>, %s: tensor<128x3xi8, #blockscale.scales<ue8m0, tiled>>, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  // A100: inst = 128x128x32, cta_group = 1, tile = 128x128x128,
  // A107: inst = 128x128x64, cta_group = 1, tile = 128x128x128,
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s
      : tensor<128x96xf8E4M3FN>, tensor<128x3xi8, #blockscale.scales<ue8m0, tiled>>, tensor<128x96xf8E4M3FN>, tensor<128x3xi8, #blockscale.scales<ue8m0, tiled>>)
    outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}
// CHECK-LABEL: func.func @k256
func.func @k256(%a: tensor<128x256xf8E4M3FN>, %s: tensor<128x8xi8, #blockscale.scales<ue8m0, tiled>>, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  // A100: inst = 128x128x32, cta_group = 1, tile = 128x128x128,
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s
      : tensor<128x256xf8E4M3FN>, tensor<128x8xi8, #blockscale.scales<ue8m0, tiled>>, tensor<128x256xf8E4M3FN>, tensor<128x8xi8, #blockscale.scales<ue8m0, tiled>>)
    outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}
