// A feed-forward layer of all-MiniLM-L6-v2 (178 tokens, 384 -> 1536 -> 384), once
// for each format: quantise, up projection, GELU, quantise, down projection.
// Weights are [outputs, inputs], as checkpoints store them, and are quantised here too.
// Results: the layer's output, and the hidden activations after GELU for comparison.
//
//   blockscale-run examples/minilm_ffn.mlir --entry=nvfp4 --arch=sm_107a --check \
//     --arg=W:ffn.input --arg=W:ffn.up.weight --arg=W:ffn.up.bias \
//     --arg=W:ffn.down.weight --arg=W:ffn.down.bias --out=out.npy --out=hidden.npy
//
// with W = test/data/minilm_ffn.safetensors.

// GELU as the model was trained with: 0.5 x (1 + erf(x / sqrt(2))), on the host.
func.func private @gelu(%x: tensor<178x1536xf32>) -> tensor<178x1536xf32> {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %rsqrt2 = arith.constant 0.707106769 : f32
  %init = tensor.empty() : tensor<178x1536xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<178x1536xf32>) outs(%init : tensor<178x1536xf32>) {
  ^bb0(%v: f32, %ignored: f32):
    %scaled = arith.mulf %v, %rsqrt2 : f32
    %erf = math.erf %scaled : f32
    %sum = arith.addf %erf, %one : f32
    %product = arith.mulf %v, %sum : f32
    %result = arith.mulf %product, %half : f32
    linalg.yield %result : f32
  } -> tensor<178x1536xf32>
  return %y : tensor<178x1536xf32>
}

// NVFP4: E2M1 elements, UE4M3 scales of 16, and a global scale for each operand, whose
// product is alpha.
func.func @nvfp4(%input: tensor<178x384xf16>,
    %up_weight: tensor<1536x384xf16>, %up_bias: tensor<1536xf32>,
    %down_weight: tensor<384x1536xf16>, %down_bias: tensor<384xf32>)
    -> (tensor<178x384xf32>, tensor<178x1536xf32>) {
  %x, %x_scales, %x_global = blockscale.quantize %input : tensor<178x384xf16> -> tensor<178x384xf4E2M1FN>,
      tensor<178x24xi8, #blockscale.scales<ue4m3, linear>>, tensor<f32>
  %up, %up_scales, %up_global = blockscale.quantize %up_weight : tensor<1536x384xf16> -> tensor<1536x384xf4E2M1FN>,
      tensor<1536x24xi8, #blockscale.scales<ue4m3, linear>>, tensor<f32>
  %x_g = tensor.extract %x_global[] : tensor<f32>
  %up_g = tensor.extract %up_global[] : tensor<f32>
  %up_alpha = arith.mulf %x_g, %up_g : f32
  %hidden_init = tensor.empty() : tensor<178x1536xf32>
  %hidden = blockscale.gemm ins(%x scaled %x_scales, %up scaled %up_scales
      : tensor<178x384xf4E2M1FN>, tensor<178x24xi8, #blockscale.scales<ue4m3, linear>>,
        tensor<1536x384xf4E2M1FN>, tensor<1536x24xi8, #blockscale.scales<ue4m3, linear>>)
    alpha(%up_alpha : f32) bias(%up_bias : tensor<1536xf32>) outs(%hidden_init : tensor<178x1536xf32>)
    -> tensor<178x1536xf32>
  %activated = func.call @gelu(%hidden) : (tensor<178x1536xf32>) -> tensor<178x1536xf32>
  %h, %h_scales, %h_global = blockscale.quantize %activated : tensor<178x1536xf32> -> tensor<178x1536xf4E2M1FN>,
      tensor<178x96xi8, #blockscale.scales<ue4m3, linear>>, tensor<f32>
  %down, %down_scales, %down_global = blockscale.quantize %down_weight : tensor<384x1536xf16> -> tensor<384x1536xf4E2M1FN>,
      tensor<384x96xi8, #blockscale.scales<ue4m3, linear>>, tensor<f32>
  %h_g = tensor.extract %h_global[] : tensor<f32>
  %down_g = tensor.extract %down_global[] : tensor<f32>
  %down_alpha = arith.mulf %h_g, %down_g : f32
  %output_init = tensor.empty() : tensor<178x384xf32>
  %output = blockscale.gemm ins(%h scaled %h_scales, %down scaled %down_scales
      : tensor<178x1536xf4E2M1FN>, tensor<178x96xi8, #blockscale.scales<ue4m3, linear>>,
        tensor<384x1536xf4E2M1FN>, tensor<384x96xi8, #blockscale.scales<ue4m3, linear>>)
    alpha(%down_alpha : f32) bias(%down_bias : tensor<384xf32>) outs(%output_init : tensor<178x384xf32>)
    -> tensor<178x384xf32>
  return %output, %activated : tensor<178x384xf32>, tensor<178x1536xf32>
}

// MXFP4: E2M1 elements, UE8M0 scales of 32.
func.func @mxfp4(%input: tensor<178x384xf16>,
    %up_weight: tensor<1536x384xf16>, %up_bias: tensor<1536xf32>,
    %down_weight: tensor<384x1536xf16>, %down_bias: tensor<384xf32>)
    -> (tensor<178x384xf32>, tensor<178x1536xf32>) {
  %x, %x_scales = blockscale.quantize %input : tensor<178x384xf16> -> tensor<178x384xf4E2M1FN>,
      tensor<178x12xi8, #blockscale.scales<ue8m0, linear>>
  %up, %up_scales = blockscale.quantize %up_weight : tensor<1536x384xf16> -> tensor<1536x384xf4E2M1FN>,
      tensor<1536x12xi8, #blockscale.scales<ue8m0, linear>>
  %hidden_init = tensor.empty() : tensor<178x1536xf32>
  %hidden = blockscale.gemm ins(%x scaled %x_scales, %up scaled %up_scales
      : tensor<178x384xf4E2M1FN>, tensor<178x12xi8, #blockscale.scales<ue8m0, linear>>,
        tensor<1536x384xf4E2M1FN>, tensor<1536x12xi8, #blockscale.scales<ue8m0, linear>>)
    bias(%up_bias : tensor<1536xf32>) outs(%hidden_init : tensor<178x1536xf32>)
    -> tensor<178x1536xf32>
  %activated = func.call @gelu(%hidden) : (tensor<178x1536xf32>) -> tensor<178x1536xf32>
  %h, %h_scales = blockscale.quantize %activated : tensor<178x1536xf32> -> tensor<178x1536xf4E2M1FN>,
      tensor<178x48xi8, #blockscale.scales<ue8m0, linear>>
  %down, %down_scales = blockscale.quantize %down_weight : tensor<384x1536xf16> -> tensor<384x1536xf4E2M1FN>,
      tensor<384x48xi8, #blockscale.scales<ue8m0, linear>>
  %output_init = tensor.empty() : tensor<178x384xf32>
  %output = blockscale.gemm ins(%h scaled %h_scales, %down scaled %down_scales
      : tensor<178x1536xf4E2M1FN>, tensor<178x48xi8, #blockscale.scales<ue8m0, linear>>,
        tensor<384x1536xf4E2M1FN>, tensor<384x48xi8, #blockscale.scales<ue8m0, linear>>)
    bias(%down_bias : tensor<384xf32>) outs(%output_init : tensor<178x384xf32>)
    -> tensor<178x384xf32>
  return %output, %activated : tensor<178x384xf32>, tensor<178x1536xf32>
}

// MXFP8: E4M3 elements, UE8M0 scales of 32.
func.func @mxfp8(%input: tensor<178x384xf16>,
    %up_weight: tensor<1536x384xf16>, %up_bias: tensor<1536xf32>,
    %down_weight: tensor<384x1536xf16>, %down_bias: tensor<384xf32>)
    -> (tensor<178x384xf32>, tensor<178x1536xf32>) {
  %x, %x_scales = blockscale.quantize %input : tensor<178x384xf16> -> tensor<178x384xf8E4M3FN>,
      tensor<178x12xi8, #blockscale.scales<ue8m0, linear>>
  %up, %up_scales = blockscale.quantize %up_weight : tensor<1536x384xf16> -> tensor<1536x384xf8E4M3FN>,
      tensor<1536x12xi8, #blockscale.scales<ue8m0, linear>>
  %hidden_init = tensor.empty() : tensor<178x1536xf32>
  %hidden = blockscale.gemm ins(%x scaled %x_scales, %up scaled %up_scales
      : tensor<178x384xf8E4M3FN>, tensor<178x12xi8, #blockscale.scales<ue8m0, linear>>,
        tensor<1536x384xf8E4M3FN>, tensor<1536x12xi8, #blockscale.scales<ue8m0, linear>>)
    bias(%up_bias : tensor<1536xf32>) outs(%hidden_init : tensor<178x1536xf32>)
    -> tensor<178x1536xf32>
  %activated = func.call @gelu(%hidden) : (tensor<178x1536xf32>) -> tensor<178x1536xf32>
  %h, %h_scales = blockscale.quantize %activated : tensor<178x1536xf32> -> tensor<178x1536xf8E4M3FN>,
      tensor<178x48xi8, #blockscale.scales<ue8m0, linear>>
  %down, %down_scales = blockscale.quantize %down_weight : tensor<384x1536xf16> -> tensor<384x1536xf8E4M3FN>,
      tensor<384x48xi8, #blockscale.scales<ue8m0, linear>>
  %output_init = tensor.empty() : tensor<178x384xf32>
  %output = blockscale.gemm ins(%h scaled %h_scales, %down scaled %down_scales
      : tensor<178x1536xf8E4M3FN>, tensor<178x48xi8, #blockscale.scales<ue8m0, linear>>,
        tensor<384x1536xf8E4M3FN>, tensor<384x48xi8, #blockscale.scales<ue8m0, linear>>)
    bias(%down_bias : tensor<384xf32>) outs(%output_init : tensor<178x384xf32>)
    -> tensor<178x384xf32>
  return %output, %activated : tensor<178x384xf32>, tensor<178x1536xf32>
}
