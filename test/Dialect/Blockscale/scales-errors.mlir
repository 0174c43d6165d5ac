// Rules of the encoding of scale tensors.
//
// RUN: blockscale-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{scales_c1: scale tensor must have rank 2 (rows x scales per row) or 3 (a batch of them), got rank 1}}
func.func private @scales_c1(tensor<512xi8, #blockscale.scales<ue4m3, tiled>>)

// -----

// expected-error @below {{scales_c2: elements of a ue4m3 scale tensor must be i8 or f8E4M3FN, got 'f8E8M0FNU'}}
func.func private @scales_c2_ue4m3(tensor<8x4xf8E8M0FNU, #blockscale.scales<ue4m3, tiled>>)

// -----

// expected-error @below {{scales_c2: elements of a ue8m0 scale tensor must be i8 or f8E8M0FNU, got 'f32'}}
func.func private @scales_c2_f32(tensor<8x4xf32, #blockscale.scales<ue8m0, linear>>)

// -----

// expected-error @below {{scales_c2: elements of a ue5m3 scale tensor must be i8, got 'f8E4M3FN'}}
func.func private @scales_c2_ue5m3(tensor<8x4xf8E4M3FN, #blockscale.scales<ue5m3, linear>>)
