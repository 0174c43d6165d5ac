!e = tensor<128x64xf4E2M1FN>
!s = tensor<128x4xi8, #blockscale.scales<ue4m3, tiled>>
!r = tensor<128x128xf32>
func.func @gemms(%a: !e, %sfa: !s, %b: !e, %sfb: !s, %x: f32, %y: f32) -> (!r, !r) {
  %c = tensor.empty() : !r
  %d = blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb : !e, !s, !e, !s) alpha(%x : f32) outs(%c : !r) -> !r
  %e = blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb : !e, !s, !e, !s) alpha(%y : f32) outs(%c : !r) -> !r
  return %d, %e : !r, !r
}
