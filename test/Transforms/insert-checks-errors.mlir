// RUN: blockscale-opt %s --blockscale-insert-checks --verify-diagnostics

!s = tensor<64x4xi8, #blockscale.scales<ue4m3, tiled>>
!a = tensor<64x64xf4E2M1FN>
func.func @insert_checks_c1(%a: !a, %s: !s, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{insert_checks_c1: gemm must have a schedule, got none; run blockscale-choose-schedule first}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
