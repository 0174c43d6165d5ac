// RUN: blockscale-opt %s --blockscale-check-encodings --split-input-file --verify-diagnostics

!linear = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
!tiled = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>

// Bufferization would delete this cast and keep linear bytes under a tiled type.
func.func @check_encodings_c1_cast(%s: !linear) -> !tiled {
  // expected-error @below {{check_encodings_c1: op on scales must be one of the blockscale dialect, such as blockscale.relayout_scales, got tensor.cast, which would lose #blockscale.scales<ue4m3, linear>}}
  %t = tensor.cast %s : !linear to !tiled
  return %t : !tiled
}

// -----

// D05: a tiled 130 x 5 tensor needs 2048 bytes; this would allocate 650.
!tiled = tensor<130x5xi8, #blockscale.scales<ue8m0, tiled>>
func.func @check_encodings_c1_empty() -> !tiled {
  // expected-error @below {{check_encodings_c1: op on scales must be one of the blockscale dialect, such as blockscale.relayout_scales, got tensor.empty, which would lose #blockscale.scales<ue8m0, tiled>}}
  %t = tensor.empty() : !tiled
  return %t : !tiled
}

// -----

!tiled = tensor<256x4xi8, #blockscale.scales<ue8m0, tiled>>
!half = tensor<128x4xi8, #blockscale.scales<ue8m0, tiled>>
func.func @check_encodings_c1_slice(%s: !tiled) -> !half {
  // expected-error @below {{got tensor.extract_slice, which would lose #blockscale.scales<ue8m0, tiled>}}
  %t = tensor.extract_slice %s[0, 0] [128, 4] [1, 1] : !tiled to !half
  return %t : !half
}
