// Refusals of relayout_scales, zero_scale_tail and swap_nibbles.
//
// RUN: blockscale-opt %s --split-input-file --verify-diagnostics

!linear = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
!tiled = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>

func.func @relayout_scales_c1(%s: !linear) {
  // expected-error @below {{relayout_scales_c1: op on tensors must have 1 results and 0 outs, got 0 and 0}}
  blockscale.relayout_scales %s : !linear
  return
}

// -----

!linear = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
!tiled = tensor<8x8xi8, #blockscale.scales<ue4m3, tiled>>
func.func @relayout_scales_c2(%s: !linear) -> !tiled {
  // expected-error @below {{relayout_scales_c2: target must have the shape and format of source, #blockscale.scale_matrix<rows = 8, cols = 4, format = ue4m3, layout = linear>, got #blockscale.scale_matrix<rows = 8, cols = 8, format = ue4m3, layout = tiled>}}
  %t = blockscale.relayout_scales %s : !linear -> !tiled
  return %t : !tiled
}

// -----

!linear = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
func.func @relayout_scales_c3(%s: !linear) -> !linear {
  // expected-error @below {{relayout_scales_c3: source and target must differ in layout, got linear twice}}
  %t = blockscale.relayout_scales %s : !linear -> !linear
  return %t : !linear
}

// -----

func.func @relayout_scales_c4_types(%s: tensor<8x4xi8>) -> tensor<8x4xi8> {
  // expected-error @below {{relayout_scales_c4: scales must be encoded tensors, or bytes with 'source' and 'target', got 'tensor<8x4xi8>' and 'tensor<8x4xi8>'}}
  %t = blockscale.relayout_scales %s : tensor<8x4xi8> -> tensor<8x4xi8>
  return %t : tensor<8x4xi8>
}

// -----

// D05: 130 x 5 scales are 650 bytes linear and four tiles, 2048 bytes, tiled.
func.func @relayout_scales_c4_bytes(%s: memref<650xi8>, %t: memref<650xi8>) {
  // expected-error @below {{relayout_scales_c4: packed target must be 2048xi8, got 'memref<650xi8>'}}
  blockscale.relayout_scales %s outs(%t : memref<650xi8>)
    {source = #blockscale.scale_matrix<rows = 130, cols = 5, format = ue4m3, layout = linear>,
     target = #blockscale.scale_matrix<rows = 130, cols = 5, format = ue4m3, layout = tiled>} : memref<650xi8>
  return
}

// -----

func.func @relayout_scales_c4_half(%s: memref<32xi8>, %t: memref<512xi8>) {
  // expected-error @below {{relayout_scales_c4: 'source' and 'target' must be given together, got source only}}
  blockscale.relayout_scales %s outs(%t : memref<512xi8>)
    {source = #blockscale.scale_matrix<rows = 8, cols = 4, format = ue4m3, layout = linear>} : memref<32xi8>
  return
}

// -----

!tiled = tensor<8x3xi8, #blockscale.scales<ue4m3, tiled>>
func.func @zero_scale_tail_c1(%s: !tiled) {
  // expected-error @below {{zero_scale_tail_c1: a tensor must give a result of its type, a memref none, got}}
  blockscale.zero_scale_tail %s : !tiled
  return
}

// -----

!linear = tensor<8x3xi8, #blockscale.scales<ue4m3, linear>>
func.func @zero_scale_tail_c2(%s: !linear) -> !linear {
  // expected-error @below {{zero_scale_tail_c2: scales must be tiled, got #blockscale.scale_matrix<rows = 8, cols = 3, format = ue4m3, layout = linear>}}
  %t = blockscale.zero_scale_tail %s : !linear -> !linear
  return %t : !linear
}

// -----

func.func @zero_scale_tail_c3(%s: memref<24xi8>) {
  // expected-error @below {{zero_scale_tail_c3: packed scales must be 512xi8, got 'memref<24xi8>'}}
  blockscale.zero_scale_tail %s
    {matrix = #blockscale.scale_matrix<rows = 8, cols = 3, format = ue4m3, layout = tiled>} : memref<24xi8>
  return
}

// -----

func.func @swap_nibbles_c1(%q: memref<256xi8>) {
  // expected-error @below {{swap_nibbles_c1: op on memrefs must have 0 results and 1 outs, got 0 and 0}}
  blockscale.swap_nibbles %q : memref<256xi8>
  return
}

// -----

func.func @swap_nibbles_c2_type(%q: memref<256xi8>, %t: memref<128xi8>) {
  // expected-error @below {{swap_nibbles_c2: target must have the source's type 'memref<256xi8>', got 'memref<128xi8>'}}
  blockscale.swap_nibbles %q outs(%t : memref<128xi8>) : memref<256xi8>
  return
}

// -----

func.func @swap_nibbles_c2_fp8(%q: tensor<8x64xf8E4M3FN>) -> tensor<8x64xf8E4M3FN> {
  // expected-error @below {{swap_nibbles_c2: elements must be 4 bits wide in rows of an even number, or bytes, got 'tensor<8x64xf8E4M3FN>'}}
  %t = blockscale.swap_nibbles %q : tensor<8x64xf8E4M3FN> -> tensor<8x64xf8E4M3FN>
  return %t : tensor<8x64xf8E4M3FN>
}

// -----

func.func @swap_nibbles_c2_odd(%q: tensor<8x5xf4E2M1FN>) -> tensor<8x5xf4E2M1FN> {
  // expected-error @below {{swap_nibbles_c2: elements must be 4 bits wide in rows of an even number, or bytes, got 'tensor<8x5xf4E2M1FN>'}}
  %t = blockscale.swap_nibbles %q : tensor<8x5xf4E2M1FN> -> tensor<8x5xf4E2M1FN>
  return %t : tensor<8x5xf4E2M1FN>
}

// -----

func.func @relayout_scales_c2_extent(%s: memref<8xi8>, %t: memref<512xi8>) {
  // expected-error @below {{relayout_scales_c2: rows, columns and batches must be 1 .. 268435456, got #blockscale.scale_matrix<rows = -2, cols = -4, format = ue4m3, layout = linear>}}
  blockscale.relayout_scales %s outs(%t : memref<512xi8>)
    {source = #blockscale.scale_matrix<rows = -2, cols = -4, format = ue4m3, layout = linear>,
     target = #blockscale.scale_matrix<rows = -2, cols = -4, format = ue4m3, layout = tiled>} : memref<8xi8>
  return
}

// -----

func.func @zero_scale_tail_c2_extent(%s: memref<512xi8>) {
  // expected-error @below {{zero_scale_tail_c2: rows, columns and batches must be 1 .. 268435456, got}}
  blockscale.zero_scale_tail %s
    {matrix = #blockscale.scale_matrix<rows = 9223372036854775807, cols = 3, format = ue4m3, layout = tiled>} : memref<512xi8>
  return
}

// -----

!linear = tensor<3x8x4xi8, #blockscale.scales<ue4m3, linear>>
!tiled = tensor<2x8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @relayout_scales_c2_batches(%s: !linear) -> !tiled {
  // expected-error @below {{relayout_scales_c2: target must have the shape and format of source, #blockscale.scale_matrix<rows = 8, cols = 4, format = ue4m3, layout = linear, batches = 3>, got #blockscale.scale_matrix<rows = 8, cols = 4, format = ue4m3, layout = tiled, batches = 2>}}
  %t = blockscale.relayout_scales %s : !linear -> !tiled
  return %t : !tiled
}

// -----

func.func @zero_scale_tail_c2_batches(%s: tensor<512xi8>) -> tensor<512xi8> {
  // expected-error @below {{zero_scale_tail_c2: rows, columns and batches must be 1 .. 268435456, got}}
  %z = blockscale.zero_scale_tail %s {matrix = #blockscale.scale_matrix<rows = 8, cols = 3, format = ue4m3, layout = tiled, batches = 0>} : tensor<512xi8> -> tensor<512xi8>
  return %z : tensor<512xi8>
}
