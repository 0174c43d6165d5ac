// D = A * B^T + bias, with A and B in NVFP4: 4-bit elements, and one UE4M3 scale for each 16 of
// them along K. The scales lie in the 128x4 tiles that the tensor core reads.
//
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_107a %s -o %t.ptx

func.func @gemm(
    %a: tensor<178x384xf4E2M1FN>, %sa: tensor<178x24xi8, #blockscale.scales<ue4m3, tiled>>,
    %b: tensor<1536x384xf4E2M1FN>, %sb: tensor<1536x24xi8, #blockscale.scales<ue4m3, tiled>>,
    %bias: tensor<1536xf32>) -> tensor<178x1536xbf16> {
  %c = tensor.empty() : tensor<178x1536xbf16>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb
         : tensor<178x384xf4E2M1FN>, tensor<178x24xi8, #blockscale.scales<ue4m3, tiled>>,
           tensor<1536x384xf4E2M1FN>, tensor<1536x24xi8, #blockscale.scales<ue4m3, tiled>>)
       bias(%bias : tensor<1536xf32>)
       outs(%c : tensor<178x1536xbf16>) -> tensor<178x1536xbf16>
  return %d : tensor<178x1536xbf16>
}
