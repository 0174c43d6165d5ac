!ap = tensor<?x160xf8E4M3FN>
!sap = tensor<?x5xi8, #blockscale.scales<ue8m0, tiled>>
!bp = tensor<256x160xf8E4M3FN>
!sbp = tensor<256x5xi8, #blockscale.scales<ue8m0, tiled>>
func.func @pair(%a: !ap, %sa: !sap, %b: !bp, %sb: !sbp) -> tensor<?x256xf32> {
  %zero = arith.constant 0 : index
  %m = tensor.dim %a, %zero : !ap
  %out = tensor.empty(%m) : tensor<?x256xf32>
  %alpha = arith.constant 0.5 : f32
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !ap, !sap, !bp, !sbp) alpha(%alpha : f32)
    outs(%out : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %d : tensor<?x256xf32>
}
