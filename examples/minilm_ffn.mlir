// A feed-forward layer of all-MiniLM-L6-v2 (178 tokens, 384 -> 1536 -> 384), once for each
// format, all of it on the device: kernels quantise the input and the weights, the up
// projection adds its bias, applies GELU and writes its result quantised again, and the down
// projection multiplies that. The host copies and launches; it computes nothing.
// Weights are [outputs, inputs], as checkpoints store them. Results: the layer's output, then
// elements and scales of the input, of the up weight, of the hidden activations and of the
// down weight, as the products read them.
//
//   blockscale-run examples/minilm_ffn.mlir --entry=nvfp4 --arch=sm_107a --check \
//     --arg=W:ffn.input --arg=W:ffn.up.weight --arg=W:ffn.up.bias \
//     --arg=W:ffn.down.weight --arg=W:ffn.down.bias --out=out.npy
//
// with W = test/data/minilm_ffn.safetensors.

// NVFP4: E2M1 elements, UE4M3 scales of 16, and a global scale for each operand, known from
// calibration: amax / (448 x 6) of what a checkpoint saw. alpha is the product of two.
func.func @nvfp4(%input: tensor<178x384xf16>,
    %up_weight: tensor<1536x384xf16>, %up_bias: tensor<1536xf32>,
    %down_weight: tensor<384x1536xf16>, %down_bias: tensor<384xf32>)
    -> (tensor<178x384xf32>,
        tensor<178x384xf4E2M1FN>, tensor<178x24xi8, #blockscale.scales<ue4m3, tiled>>,
        tensor<1536x384xf4E2M1FN>, tensor<1536x24xi8, #blockscale.scales<ue4m3, tiled>>,
        tensor<178x1536xf4E2M1FN>, tensor<178x96xi8, #blockscale.scales<ue4m3, tiled>>,
        tensor<384x1536xf4E2M1FN>, tensor<384x96xi8, #blockscale.scales<ue4m3, tiled>>) {
  %x_g = arith.constant dense<0.0103178481> : tensor<f32>
  %up_g = arith.constant dense<0.000231424972> : tensor<f32>
  %down_g = arith.constant dense<0.00231933594> : tensor<f32>
  %up_alpha = arith.constant 2.38780763e-06 : f32
  %h_g = arith.constant 0.00645810086 : f32
  %down_alpha = arith.constant 1.49785055e-05 : f32
  %x, %x_scales = blockscale.quantize %input global(%x_g : tensor<f32>) : tensor<178x384xf16> ->
      tensor<178x384xf4E2M1FN>, tensor<178x24xi8, #blockscale.scales<ue4m3, tiled>>
  %up, %up_scales = blockscale.quantize %up_weight global(%up_g : tensor<f32>) : tensor<1536x384xf16> ->
      tensor<1536x384xf4E2M1FN>, tensor<1536x24xi8, #blockscale.scales<ue4m3, tiled>>
  %down, %down_scales = blockscale.quantize %down_weight global(%down_g : tensor<f32>) : tensor<384x1536xf16> ->
      tensor<384x1536xf4E2M1FN>, tensor<384x96xi8, #blockscale.scales<ue4m3, tiled>>
  %h_init = tensor.empty() : tensor<178x1536xf4E2M1FN>
  %hs_init = tensor.empty() : tensor<178x96xi8, #blockscale.scales<ue4m3, tiled>>
  %h, %h_scales = blockscale.gemm ins(%x scaled %x_scales, %up scaled %up_scales
      : tensor<178x384xf4E2M1FN>, tensor<178x24xi8, #blockscale.scales<ue4m3, tiled>>,
        tensor<1536x384xf4E2M1FN>, tensor<1536x24xi8, #blockscale.scales<ue4m3, tiled>>)
    alpha(%up_alpha : f32) bias(%up_bias : tensor<1536xf32>) global(%h_g : f32) outs(%h_init, %hs_init
      : tensor<178x1536xf4E2M1FN>, tensor<178x96xi8, #blockscale.scales<ue4m3, tiled>>)
    {activation = #blockscale.activation<gelu>}
    -> tensor<178x1536xf4E2M1FN>, tensor<178x96xi8, #blockscale.scales<ue4m3, tiled>>
  %output_init = tensor.empty() : tensor<178x384xf32>
  %output = blockscale.gemm ins(%h scaled %h_scales, %down scaled %down_scales
      : tensor<178x1536xf4E2M1FN>, tensor<178x96xi8, #blockscale.scales<ue4m3, tiled>>,
        tensor<384x1536xf4E2M1FN>, tensor<384x96xi8, #blockscale.scales<ue4m3, tiled>>)
    alpha(%down_alpha : f32) bias(%down_bias : tensor<384xf32>) outs(%output_init : tensor<178x384xf32>)
    -> tensor<178x384xf32>
  return %output, %x, %x_scales, %up, %up_scales, %h, %h_scales, %down, %down_scales
    : tensor<178x384xf32>,
      tensor<178x384xf4E2M1FN>, tensor<178x24xi8, #blockscale.scales<ue4m3, tiled>>,
      tensor<1536x384xf4E2M1FN>, tensor<1536x24xi8, #blockscale.scales<ue4m3, tiled>>,
      tensor<178x1536xf4E2M1FN>, tensor<178x96xi8, #blockscale.scales<ue4m3, tiled>>,
      tensor<384x1536xf4E2M1FN>, tensor<384x96xi8, #blockscale.scales<ue4m3, tiled>>
}

// MXFP4: E2M1 elements, UE8M0 scales of 32.
func.func @mxfp4(%input: tensor<178x384xf16>,
    %up_weight: tensor<1536x384xf16>, %up_bias: tensor<1536xf32>,
    %down_weight: tensor<384x1536xf16>, %down_bias: tensor<384xf32>)
    -> (tensor<178x384xf32>,
        tensor<178x384xf4E2M1FN>, tensor<178x12xi8, #blockscale.scales<ue8m0, tiled>>,
        tensor<1536x384xf4E2M1FN>, tensor<1536x12xi8, #blockscale.scales<ue8m0, tiled>>,
        tensor<178x1536xf4E2M1FN>, tensor<178x48xi8, #blockscale.scales<ue8m0, tiled>>,
        tensor<384x1536xf4E2M1FN>, tensor<384x48xi8, #blockscale.scales<ue8m0, tiled>>) {
  %x, %x_scales = blockscale.quantize %input : tensor<178x384xf16> ->
      tensor<178x384xf4E2M1FN>, tensor<178x12xi8, #blockscale.scales<ue8m0, tiled>>
  %up, %up_scales = blockscale.quantize %up_weight : tensor<1536x384xf16> ->
      tensor<1536x384xf4E2M1FN>, tensor<1536x12xi8, #blockscale.scales<ue8m0, tiled>>
  %down, %down_scales = blockscale.quantize %down_weight : tensor<384x1536xf16> ->
      tensor<384x1536xf4E2M1FN>, tensor<384x48xi8, #blockscale.scales<ue8m0, tiled>>
  %h_init = tensor.empty() : tensor<178x1536xf4E2M1FN>
  %hs_init = tensor.empty() : tensor<178x48xi8, #blockscale.scales<ue8m0, tiled>>
  %h, %h_scales = blockscale.gemm ins(%x scaled %x_scales, %up scaled %up_scales
      : tensor<178x384xf4E2M1FN>, tensor<178x12xi8, #blockscale.scales<ue8m0, tiled>>,
        tensor<1536x384xf4E2M1FN>, tensor<1536x12xi8, #blockscale.scales<ue8m0, tiled>>)
    bias(%up_bias : tensor<1536xf32>) outs(%h_init, %hs_init
      : tensor<178x1536xf4E2M1FN>, tensor<178x48xi8, #blockscale.scales<ue8m0, tiled>>)
    {activation = #blockscale.activation<gelu>}
    -> tensor<178x1536xf4E2M1FN>, tensor<178x48xi8, #blockscale.scales<ue8m0, tiled>>
  %output_init = tensor.empty() : tensor<178x384xf32>
  %output = blockscale.gemm ins(%h scaled %h_scales, %down scaled %down_scales
      : tensor<178x1536xf4E2M1FN>, tensor<178x48xi8, #blockscale.scales<ue8m0, tiled>>,
        tensor<384x1536xf4E2M1FN>, tensor<384x48xi8, #blockscale.scales<ue8m0, tiled>>)
    bias(%down_bias : tensor<384xf32>) outs(%output_init : tensor<178x384xf32>)
    -> tensor<178x384xf32>
  return %output, %x, %x_scales, %up, %up_scales, %h, %h_scales, %down, %down_scales
    : tensor<178x384xf32>,
      tensor<178x384xf4E2M1FN>, tensor<178x12xi8, #blockscale.scales<ue8m0, tiled>>,
      tensor<1536x384xf4E2M1FN>, tensor<1536x12xi8, #blockscale.scales<ue8m0, tiled>>,
      tensor<178x1536xf4E2M1FN>, tensor<178x48xi8, #blockscale.scales<ue8m0, tiled>>,
      tensor<384x1536xf4E2M1FN>, tensor<384x48xi8, #blockscale.scales<ue8m0, tiled>>
}

// MXFP8: E4M3 elements, UE8M0 scales of 32.
func.func @mxfp8(%input: tensor<178x384xf16>,
    %up_weight: tensor<1536x384xf16>, %up_bias: tensor<1536xf32>,
    %down_weight: tensor<384x1536xf16>, %down_bias: tensor<384xf32>)
    -> (tensor<178x384xf32>,
        tensor<178x384xf8E4M3FN>, tensor<178x12xi8, #blockscale.scales<ue8m0, tiled>>,
        tensor<1536x384xf8E4M3FN>, tensor<1536x12xi8, #blockscale.scales<ue8m0, tiled>>,
        tensor<178x1536xf8E4M3FN>, tensor<178x48xi8, #blockscale.scales<ue8m0, tiled>>,
        tensor<384x1536xf8E4M3FN>, tensor<384x48xi8, #blockscale.scales<ue8m0, tiled>>) {
  %x, %x_scales = blockscale.quantize %input : tensor<178x384xf16> ->
      tensor<178x384xf8E4M3FN>, tensor<178x12xi8, #blockscale.scales<ue8m0, tiled>>
  %up, %up_scales = blockscale.quantize %up_weight : tensor<1536x384xf16> ->
      tensor<1536x384xf8E4M3FN>, tensor<1536x12xi8, #blockscale.scales<ue8m0, tiled>>
  %down, %down_scales = blockscale.quantize %down_weight : tensor<384x1536xf16> ->
      tensor<384x1536xf8E4M3FN>, tensor<384x48xi8, #blockscale.scales<ue8m0, tiled>>
  %h_init = tensor.empty() : tensor<178x1536xf8E4M3FN>
  %hs_init = tensor.empty() : tensor<178x48xi8, #blockscale.scales<ue8m0, tiled>>
  %h, %h_scales = blockscale.gemm ins(%x scaled %x_scales, %up scaled %up_scales
      : tensor<178x384xf8E4M3FN>, tensor<178x12xi8, #blockscale.scales<ue8m0, tiled>>,
        tensor<1536x384xf8E4M3FN>, tensor<1536x12xi8, #blockscale.scales<ue8m0, tiled>>)
    bias(%up_bias : tensor<1536xf32>) outs(%h_init, %hs_init
      : tensor<178x1536xf8E4M3FN>, tensor<178x48xi8, #blockscale.scales<ue8m0, tiled>>)
    {activation = #blockscale.activation<gelu>}
    -> tensor<178x1536xf8E4M3FN>, tensor<178x48xi8, #blockscale.scales<ue8m0, tiled>>
  %output_init = tensor.empty() : tensor<178x384xf32>
  %output = blockscale.gemm ins(%h scaled %h_scales, %down scaled %down_scales
      : tensor<178x1536xf8E4M3FN>, tensor<178x48xi8, #blockscale.scales<ue8m0, tiled>>,
        tensor<384x1536xf8E4M3FN>, tensor<384x48xi8, #blockscale.scales<ue8m0, tiled>>)
    bias(%down_bias : tensor<384xf32>) outs(%output_init : tensor<178x384xf32>)
    -> tensor<178x384xf32>
  return %output, %x, %x_scales, %up, %up_scales, %h, %h_scales, %down, %down_scales
    : tensor<178x384xf32>,
      tensor<178x384xf8E4M3FN>, tensor<178x12xi8, #blockscale.scales<ue8m0, tiled>>,
      tensor<1536x384xf8E4M3FN>, tensor<1536x12xi8, #blockscale.scales<ue8m0, tiled>>,
      tensor<178x1536xf8E4M3FN>, tensor<178x48xi8, #blockscale.scales<ue8m0, tiled>>,
      tensor<384x1536xf8E4M3FN>, tensor<384x48xi8, #blockscale.scales<ue8m0, tiled>>
}
