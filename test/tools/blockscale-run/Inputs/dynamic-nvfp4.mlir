!a = tensor<?x96xf4E2M1FN>
!sa = tensor<?x6xi8, #blockscale.scales<ue4m3, tiled>>
!b = tensor<200x96xf4E2M1FN>
!sb = tensor<200x6xi8, #blockscale.scales<ue4m3, tiled>>
func.func @nvfp4(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %bias: tensor<200xf32>, %c: tensor<?x200xf32>) -> tensor<?x200xf32> {
  %zero = arith.constant 0 : index
  %m = tensor.dim %a, %zero : !a
  %out = tensor.empty(%m) : tensor<?x200xf32>
  %alpha = arith.constant 0.5 : f32
  %beta = arith.constant 2.0 : f32
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) alpha(%alpha : f32) bias(%bias : tensor<200xf32>)
    beta(%beta : f32) c(%c : tensor<?x200xf32>) outs(%out : tensor<?x200xf32>) -> tensor<?x200xf32>
  return %d : tensor<?x200xf32>
}
