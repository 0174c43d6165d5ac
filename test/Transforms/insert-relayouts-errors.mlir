// D08: with the copy switched off, one error names the operand, the layout that
// it needs, the one it has, and the flag.
//
// RUN: blockscale-opt %s --blockscale-insert-relayouts=auto-relayout=false --split-input-file --verify-diagnostics

!linear = tensor<64x2xi8, #blockscale.scales<ue8m0, linear>>
!tiled = tensor<64x2xi8, #blockscale.scales<ue8m0, tiled>>
!a = tensor<64x64xf8E4M3FN>
func.func @gemm_c14_sfb(%a: !a, %s: !tiled, %t: !linear, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @below {{gemm_c14: sfb must have layout tiled, got linear; auto-relayout=true inserts the copy}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %t : !a, !tiled, !a, !linear)
    outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}
