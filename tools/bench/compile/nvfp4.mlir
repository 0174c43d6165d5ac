// An NVFP4 product for the compile-time figures; bench.py pins its tiles.
func.func @gemm(
    %a: tensor<4096x4096xf4E2M1FN>, %sfa: tensor<4096x256xi8, #blockscale.scales<ue4m3, tiled>>,
    %b: tensor<4096x4096xf4E2M1FN>, %sfb: tensor<4096x256xi8, #blockscale.scales<ue4m3, tiled>>)
    -> tensor<4096x4096xbf16> {
  %c = tensor.empty() : tensor<4096x4096xbf16>
  %d = blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb
         : tensor<4096x4096xf4E2M1FN>, tensor<4096x256xi8, #blockscale.scales<ue4m3, tiled>>,
           tensor<4096x4096xf4E2M1FN>, tensor<4096x256xi8, #blockscale.scales<ue4m3, tiled>>)
       outs(%c : tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  return %d : tensor<4096x4096xbf16>
}
