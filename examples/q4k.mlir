// A feed-forward projection with Q4_K weights, as GGUF files hold them: 18944 rows of 14
// blocks of 256 elements (144 bytes each), and 2048 tokens of ready Q8_1 chunks (40 bytes
// for 32 elements).
//
//   blockscale-translate --mlir-to-ptx --arch=sm_90a examples/q4k.mlir -o k.ptx --manifest=k.json
func.func @project(%a: tensor<2048x4480xi8, #blockscale.blocks<q8_1_chunk>>,
                   %w: tensor<18944x2016xi8, #blockscale.blocks<q4_K>>) -> tensor<2048x18944xf32> {
  %c = tensor.empty() : tensor<2048x18944xf32>
  %d = blockscale.gemm ins(%a, %w : tensor<2048x4480xi8, #blockscale.blocks<q8_1_chunk>>, tensor<18944x2016xi8, #blockscale.blocks<q4_K>>)
       outs(%c : tensor<2048x18944xf32>) -> tensor<2048x18944xf32>
  return %d : tensor<2048x18944xf32>
}
