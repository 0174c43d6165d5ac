// RUN: blockscale-opt %s --split-input-file --verify-diagnostics

func.func @reinterpret_c1_dynamic(%x: tensor<?x32xi8>) -> tensor<4x32xf8E5M2> {
  // expected-error @below {{reinterpret_c1: source and result must both be static, or both have rows of ? and be whole, other than tiled, or a part of a batch of a known number, got 'tensor<?x32xi8>' and 'tensor<4x32xf8E5M2>'}}
  %0 = blockscale.reinterpret %x : tensor<?x32xi8> -> tensor<4x32xf8E5M2>
  return %0 : tensor<4x32xf8E5M2>
}

// -----

func.func @reinterpret_c1_wide(%x: tensor<4xf32>) -> tensor<16xi8> {
  // expected-error @below {{reinterpret_c1: source must be}}
  %0 = blockscale.reinterpret %x : tensor<4xf32> -> tensor<16xi8>
  return %0 : tensor<16xi8>
}

// -----

// Where a byte of a tiled matrix lies, its shape decides.
func.func @reinterpret_c3(%x: tensor<128x4xi8, #blockscale.scales<ue8m0, linear>>) -> tensor<128x4xi8, #blockscale.scales<ue8m0, tiled>> {
  // expected-error @below {{reinterpret_c3: tiled scales must be one part of a batch of the same matrices, or plain i8, got}}
  %0 = blockscale.reinterpret %x : tensor<128x4xi8, #blockscale.scales<ue8m0, linear>> -> tensor<128x4xi8, #blockscale.scales<ue8m0, tiled>>
  return %0 : tensor<128x4xi8, #blockscale.scales<ue8m0, tiled>>
}

// -----

// D40: bytes of tiles in no spelling of a tile.
func.func @reinterpret_c4(%x: tensor<2x32x8xi8>) -> tensor<128x4xi8, #blockscale.scales<ue8m0, tiled>> {
  // expected-error @below {{reinterpret_c4: tiled scales of plain i8 must be tiles of 512, 2x256, 32x16 or 32x4x4, got 'tensor<2x32x8xi8>'}}
  %0 = blockscale.reinterpret %x : tensor<2x32x8xi8> -> tensor<128x4xi8, #blockscale.scales<ue8m0, tiled>>
  return %0 : tensor<128x4xi8, #blockscale.scales<ue8m0, tiled>>
}

// -----

func.func @reinterpret_c1_batch(%x: tensor<2x?x4xi8, #blockscale.scales<ue8m0, tiled>>) -> tensor<?x4xi8, #blockscale.scales<ue8m0, tiled>> {
  // expected-error @below {{reinterpret_c1: source and result must both be static, or both have rows of ? and be whole, other than tiled, or a part of a batch}}
  %0 = blockscale.reinterpret %x : tensor<2x?x4xi8, #blockscale.scales<ue8m0, tiled>> -> tensor<?x4xi8, #blockscale.scales<ue8m0, tiled>>
  return %0 : tensor<?x4xi8, #blockscale.scales<ue8m0, tiled>>
}

// -----

func.func @reinterpret_c2_rows(%x: tensor<?x24xi8>) -> tensor<?x32xf8E5M2> {
  // expected-error @below {{reinterpret_c2: source must have a multiple of the result's 32 bytes, got 24}}
  %0 = blockscale.reinterpret %x : tensor<?x24xi8> -> tensor<?x32xf8E5M2>
  return %0 : tensor<?x32xf8E5M2>
}

// -----

func.func @reinterpret_c1_half_byte(%x: tensor<3xf4E2M1FN>) -> tensor<1x3xf4E2M1FN> {
  // expected-error @below {{reinterpret_c1: source must be}}
  %0 = blockscale.reinterpret %x : tensor<3xf4E2M1FN> -> tensor<1x3xf4E2M1FN>
  return %0 : tensor<1x3xf4E2M1FN>
}

// -----

func.func @reinterpret_c2(%x: tensor<4x32xi8>) -> tensor<4x32xf4E2M1FN> {
  // expected-error @below {{reinterpret_c2: source must have the result's 64 bytes, got 128}}
  %0 = blockscale.reinterpret %x : tensor<4x32xi8> -> tensor<4x32xf4E2M1FN>
  return %0 : tensor<4x32xf4E2M1FN>
}

// -----

func.func @reinterpret_c2_part(%x: tensor<4x32xi8>, %i: index) -> tensor<3x32xf8E5M2> {
  // expected-error @below {{reinterpret_c2: source must have a multiple of the result's 96 bytes, got 128}}
  %0 = blockscale.reinterpret %x part %i : tensor<4x32xi8> -> tensor<3x32xf8E5M2>
  return %0 : tensor<3x32xf8E5M2>
}
