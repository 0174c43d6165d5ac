// RUN: blockscale-opt %s --blockscale-normalize-scales --split-input-file --verify-diagnostics

func.func @normalize_scales_c1(%x: tensor<4x4xf8E8M0FNU>) -> tensor<4x2xi8, #blockscale.scales<ue8m0, tiled>> {
  // expected-error @below {{normalize_scales_c1: scales must come from a function argument, a dense constant, a call or a blockscale op, got}}
  %s = tensor.extract_slice %x[0, 0] [4, 2] [1, 1] : tensor<4x4xf8E8M0FNU> to tensor<4x2xf8E8M0FNU>
  %t = blockscale.relayout_scales %s : tensor<4x2xf8E8M0FNU> -> tensor<4x2xi8, #blockscale.scales<ue8m0, tiled>>
  return %t : tensor<4x2xi8, #blockscale.scales<ue8m0, tiled>>
}

// -----

func.func @normalize_scales_c1_resource() -> tensor<1x2xi8, #blockscale.scales<ue8m0, tiled>> {
  // expected-error @below {{normalize_scales_c1: scales must come from a function argument, a dense constant}}
  %s = arith.constant dense_resource<blob> : tensor<1x2xf8E8M0FNU>
  %t = blockscale.relayout_scales %s : tensor<1x2xf8E8M0FNU> -> tensor<1x2xi8, #blockscale.scales<ue8m0, tiled>>
  return %t : tensor<1x2xi8, #blockscale.scales<ue8m0, tiled>>
}
{-# dialect_resources: { builtin: { blob: "0x010000007F7F" } } #-}

// -----

func.func @normalize_scales_c2(%s: tensor<4x2xf8E8M0FNU>) -> (tensor<4x2xi8, #blockscale.scales<ue8m0, tiled>>, tensor<4x2xf32>) {
  %t = blockscale.relayout_scales %s : tensor<4x2xf8E8M0FNU> -> tensor<4x2xi8, #blockscale.scales<ue8m0, tiled>>
  // expected-error @below {{normalize_scales_c2: scales must be used as scales only, got operand 0 of arith.extf, a 'tensor<4x2xf8E8M0FNU>'}}
  %y = arith.extf %s : tensor<4x2xf8E8M0FNU> to tensor<4x2xf32>
  return %t, %y : tensor<4x2xi8, #blockscale.scales<ue8m0, tiled>>, tensor<4x2xf32>
}

// -----

// -1.0 is 0xB8: the sign bit of e4m3 has no meaning in ue4m3.
func.func @normalize_scales_c3() -> tensor<2x3xi8, #blockscale.scales<ue4m3, tiled>> {
  // expected-error @below {{normalize_scales_c3: ue4m3 scale must have a zero top bit, got 0xb8 at row 1, column 2}}
  %s = arith.constant dense<[[1.0, 2.0, 0x7F], [0.5, 1.0, -1.0]]> : tensor<2x3xf8E4M3FN>
  %t = blockscale.relayout_scales %s : tensor<2x3xf8E4M3FN> -> tensor<2x3xi8, #blockscale.scales<ue4m3, tiled>>
  return %t : tensor<2x3xi8, #blockscale.scales<ue4m3, tiled>>
}

// -----

// Of a batch rows count on from one matrix to the next.
func.func @normalize_scales_c3_batch() -> tensor<2x2x2xi8, #blockscale.scales<ue4m3, tiled>> {
  // expected-error @below {{normalize_scales_c3: ue4m3 scale must have a zero top bit, got 0xb8 at row 3, column 1}}
  %s = arith.constant dense<[[[1.0, 2.0], [0.5, 1.0]], [[1.0, 2.0], [0.5, -1.0]]]> : tensor<2x2x2xf8E4M3FN>
  %t = blockscale.relayout_scales %s : tensor<2x2x2xf8E4M3FN> -> tensor<2x2x2xi8, #blockscale.scales<ue4m3, tiled>>
  return %t : tensor<2x2x2xi8, #blockscale.scales<ue4m3, tiled>>
}
