// RUN: blockscale-opt %s --blockscale-choose-schedule=arch=sm_100a --blockscale-insert-checks | FileCheck %s

!s = tensor<64x4xi8, #blockscale.scales<ue4m3, tiled>>
!a = tensor<64x64xf4E2M1FN>

// CHECK-LABEL: func.func @two
func.func @two(%a: !a, %s: !s, %g: f32, %bias: tensor<64xf32>, %c: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  // CHECK: %[[D:.*]] = blockscale.gemm
  // CHECK-NEXT: blockscale.check_gemm "gemm_0" %[[D]] of %{{.*}} scaled %{{.*}}, %{{.*}} scaled %{{.*}} alpha(%{{.*}} : f32) bias(%{{.*}} : tensor<64xf32>) {schedule = #blockscale.schedule<arch = sm_100a
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) alpha(%g : f32) bias(%bias : tensor<64xf32>)
    outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  // CHECK: %[[E:.*]] = blockscale.gemm
  // CHECK-NEXT: blockscale.check_gemm "gemm_1" %[[E]] of
  %e = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d, %e : tensor<64x64xf32>, tensor<64x64xf32>
}
