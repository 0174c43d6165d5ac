!e = tensor<128x64xf4E2M1FN>
!s = tensor<128x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @gemm(%a: !e, %sfa: !s, %b: !e, %sfb: !s, %alpha: f32) -> tensor<128x128xf32> {
  %c = tensor.empty() : tensor<128x128xf32>
  %d = blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb : !e, !s, !e, !s) alpha(%alpha : f32)
    outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}
