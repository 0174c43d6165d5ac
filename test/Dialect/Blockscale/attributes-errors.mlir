// An attribute that is none of the op's would be ignored.
// RUN: blockscale-opt %s --split-input-file --verify-diagnostics

!a = tensor<32x64xf8E4M3FN>
!s = tensor<32x2xi8, #blockscale.scales<ue8m0, linear>>
func.func @attributes_c1(%a: !a, %s: !s, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  // expected-error @below {{attributes_c1: attributes must be among}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s)
    outs(%c : tensor<32x32xf32>) {activaton = #blockscale.activation<gelu>} -> tensor<32x32xf32>
  return %d : tensor<32x32xf32>
}

// -----

func.func @attributes_c1_quantize(%x: tensor<32x64xf32>) {
  // expected-error @below {{, or have a dialect's prefix, got 'rounding'}}
  %q, %s = blockscale.quantize %x {rounding = "up"} : tensor<32x64xf32>
    -> tensor<32x64xf8E4M3FN>, tensor<32x2xi8, #blockscale.scales<ue8m0, linear>>
  return
}

// -----

!a = tensor<32x64xf8E4M3FN>
!s = tensor<32x2xi8, #blockscale.scales<ue8m0, linear>>
func.func @prefixed(%a: !a, %s: !s, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s)
    outs(%c : tensor<32x32xf32>) {frontend.layer = "ffn"} -> tensor<32x32xf32>
  return %d : tensor<32x32xf32>
}
