// RUN: blockscale-opt %s --blockscale-pack-narrow --split-input-file --verify-diagnostics

func.func @pack_narrow_c1(%a: tensor<8x64xf4E2M1FN>) -> tensor<4x64xf4E2M1FN> {
  // expected-error @below {{pack_narrow_c1: op on a narrow tensor must be one of the blockscale dialect, got tensor.extract_slice on 'tensor<8x64xf4E2M1FN>'}}
  %b = tensor.extract_slice %a[0, 0] [4, 64] [1, 1] : tensor<8x64xf4E2M1FN> to tensor<4x64xf4E2M1FN>
  return %b : tensor<4x64xf4E2M1FN>
}

// -----

// expected-error @below {{pack_narrow_c2: narrow tensor must have a static shape but for rows, got 'tensor<64x?xf4E2M1FN>'}}
func.func private @pack_narrow_c2(tensor<64x?xf4E2M1FN>)

// -----

func.func @pack_narrow_c3(%s: tensor<4x2xf8E8M0FNU>) -> tensor<4x2xi8, #blockscale.scales<ue8m0, tiled>> {
  // expected-error @below {{pack_narrow_c3: scales must be i8 with an encoding, got 'tensor<4x2xf8E8M0FNU>'; run blockscale-normalize-scales first}}
  %t = blockscale.relayout_scales %s : tensor<4x2xf8E8M0FNU> -> tensor<4x2xi8, #blockscale.scales<ue8m0, tiled>>
  return %t : tensor<4x2xi8, #blockscale.scales<ue8m0, tiled>>
}

// -----

!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @pack_narrow_c4(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{pack_narrow_c4: nibble order must be a blockscale.swap_nibbles by now, got an attribute; run blockscale-insert-relayouts first}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {nibbles_a = #blockscale.nibbles<high_first>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

func.func @pack_narrow_c5() -> tensor<1x2xf8E4M3FN> {
  // expected-error @below {{pack_narrow_c5: narrow constant must be a dense literal, got builtin.dense_resource}}
  %c = arith.constant dense_resource<blob> : tensor<1x2xf8E4M3FN>
  return %c : tensor<1x2xf8E4M3FN>
}
{-# dialect_resources: { builtin: { blob: "0x010000007F7F" } } #-}

// -----

// How many rows of the last tile are real, tiles do not say.
func.func @pack_narrow_c6(%s: tensor<?x4xi8, #blockscale.scales<ue4m3, tiled>>) -> index {
  %zero = arith.constant 0 : index
  // expected-error @below {{pack_narrow_c6: extent of a narrow tensor must be a known one, or the rows of elements or linear scales, got one of 'tensor<?x4xi8, #blockscale.scales<ue4m3, tiled>>'}}
  %n = tensor.dim %s, %zero : tensor<?x4xi8, #blockscale.scales<ue4m3, tiled>>
  return %n : index
}

// -----

func.func @pack_narrow_c6_index(%a: tensor<?x64xf4E2M1FN>, %i: index) -> index {
  // expected-error @below {{pack_narrow_c6: extent of a narrow tensor must be a known one}}
  %n = tensor.dim %a, %i : tensor<?x64xf4E2M1FN>
  return %n : index
}
