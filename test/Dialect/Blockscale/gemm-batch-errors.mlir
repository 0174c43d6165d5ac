// RUN: blockscale-opt %s --split-input-file --verify-diagnostics
// RUN: not blockscale-opt %s --blockscale-insert-relayouts --split-input-file 2>&1 | FileCheck %s
// RUN: not blockscale-opt %s --blockscale-choose-schedule=arch=sm_100a --split-input-file 2>&1 | FileCheck %s
// RUN: not blockscale-opt %s --blockscale-pack-narrow --split-input-file 2>&1 | FileCheck %s
// CHECK: gemm_c27: a batch must be products of matrices by now, got 'tensor<3x5x8xf32>'; run blockscale-expand-batches first

!a = tensor<3x5x64xf4E2M1FN>
!sa = tensor<3x5x4xi8, #blockscale.scales<ue4m3, tiled>>
!b = tensor<3x8x64xf4E2M1FN>
!sb = tensor<3x8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @legal(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %c: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) outs(%c : tensor<3x5x8xf32>) -> tensor<3x5x8xf32>
  return %d : tensor<3x5x8xf32>
}

// -----

!a = tensor<2x5x64xf4E2M1FN>
!sa = tensor<2x5x4xi8, #blockscale.scales<ue4m3, tiled>>
!b = tensor<3x8x64xf4E2M1FN>
!sb = tensor<3x8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @gemm_c27_batches(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %c: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // expected-error @below {{gemm_c27: a must be a batch of 3 as out is, got 'tensor<2x5x64xf4E2M1FN>'}}
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) outs(%c : tensor<3x5x8xf32>) -> tensor<3x5x8xf32>
  return %d : tensor<3x5x8xf32>
}

// -----

!a = tensor<3x5x64xf4E2M1FN>
!sa = tensor<3x5x4xi8, #blockscale.scales<ue4m3, tiled>>
!b = tensor<8x64xf4E2M1FN>
!sb = tensor<2x8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @gemm_c27_scales(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %c: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // expected-error @below {{gemm_c27: sfb must be a matrix as b is, got}}
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) outs(%c : tensor<3x5x8xf32>) -> tensor<3x5x8xf32>
  return %d : tensor<3x5x8xf32>
}

// -----

// The rules of one product are those of each.
!a = tensor<3x5x64xf4E2M1FN>
!sa = tensor<3x5x3xi8, #blockscale.scales<ue4m3, tiled>>
!b = tensor<8x64xf4E2M1FN>
!sb = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @gemm_c8(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %c: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // expected-error @below {{gemm_c8: sfa must be 5x4 (rows x k / block), got 5x3}}
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) outs(%c : tensor<3x5x8xf32>) -> tensor<3x5x8xf32>
  return %d : tensor<3x5x8xf32>
}

// -----

!a = tensor<3x5x64xf4E2M1FN>
!sa = tensor<3x5x4xi8, #blockscale.scales<ue4m3, tiled>>
!b = tensor<8x64xf4E2M1FN>
!sb = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @gemm_c27_schedule(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %c: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // expected-error @below {{gemm_c27: a batch must have no problem, schedule and pitched rows, got schedule}}
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) outs(%c : tensor<3x5x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 3, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>} -> tensor<3x5x8xf32>
  return %d : tensor<3x5x8xf32>
}
