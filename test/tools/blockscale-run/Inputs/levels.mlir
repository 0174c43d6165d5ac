!a = tensor<133x96xf4E2M1FN>
!sa = tensor<133x6xf8E4M3FN>
!b = tensor<70x96xf4E2M1FN>
!sb = tensor<70x6xi8, #blockscale.scales<ue4m3, tiled>>
func.func @product(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %alpha: f32) -> tensor<133x70xf32> {
  %c = tensor.empty() : tensor<133x70xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) alpha(%alpha : f32)
    outs(%c : tensor<133x70xf32>) -> tensor<133x70xf32>
  return %d : tensor<133x70xf32>
}
