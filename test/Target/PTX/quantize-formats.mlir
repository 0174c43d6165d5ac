// FP8, FP6 and FP4 by each chip's sequence. On sm_107a there is one multiplication a block, for
// the scale, where the conversion divides; NVFP4 and UE5M3 have one for a value and two fma. On
// sm_90a FP6 and FP4 are rounded by an addition.
// REQUIRES: ptxas

// RUN: blockscale-translate --mlir-to-ptx --arch=sm_107a %s -o %t.ptx
// RUN: FileCheck %s --check-prefix=SCALED < %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_107a %t.ptx registers=64
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_100a %s -o %t.ptx
// RUN: FileCheck %s --check-prefix=RECIPROCAL < %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_100a %t.ptx registers=64
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_90a %s -o %t.ptx
// RUN: FileCheck %s --check-prefix=INTEGER --implicit-check-not="{{e2m1x2|ue8m0x2|rcp}}" < %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_90a %t.ptx registers=64

// SCALED-LABEL: .entry quantize_0(
// SCALED-COUNT-1: mul.rn.f32
// SCALED-COUNT-16: cvt.rn.satfinite.scaled::n1::ue8m0.e2m1x2.f32
// SCALED-NOT: {{(mul|fma|div|add|rcp)[a-z.]*.f32|cvt.rn}}
// Lanes side by side have 4 values of 4 bits, so that two of them make a word.
// SCALED-COUNT-4: st.global.b32
// SCALED-NOT: st.global.b32
// SCALED: st.global.b8
// SCALED-LABEL: .entry quantize_1(
// SCALED-COUNT-1: mul.rn.f32
// SCALED-COUNT-16: cvt.rn.satfinite.scaled::n1::ue8m0.e3m2x2.f32
// SCALED-NOT: {{(mul|fma|div|add|rcp)[a-z.]*.f32|cvt.rn}}
// SCALED-COUNT-6: st.global.b32
// SCALED-NOT: st.global.b32
// SCALED-LABEL: .entry amax_0(
// SCALED: redux.sync.max.u32
// SCALED: atom.global.max.u32
// SCALED-LABEL: .entry quantize_2(
// SCALED-COUNT-2: cvt.rn.satfinite.e4m3x2.f32
// SCALED-COUNT-32: min.xorsign.abs.f32
// SCALED-COUNT-16: cvt.rn.satfinite.e2m1x2.f32

// RECIPROCAL-LABEL: .entry quantize_0(
// RECIPROCAL: rcp.approx.ftz.f32
// RECIPROCAL-COUNT-16: cvt.rn.satfinite.e2m1x2.f32
// RECIPROCAL-LABEL: .entry quantize_1(
// RECIPROCAL-COUNT-16: cvt.rn.satfinite.e3m2x2.f32
// RECIPROCAL-LABEL: .entry quantize_2(
// RECIPROCAL-COUNT-16: cvt.rn.satfinite.e2m1x2.f32

// INTEGER-LABEL: .entry quantize_0(
// INTEGER-COUNT-32: add.rn.f32
// INTEGER-LABEL: .entry quantize_1(
// INTEGER-COUNT-32: add.rn.f32
// INTEGER-LABEL: .entry quantize_2(
// INTEGER-COUNT-32: add.rn.f32

!mxfp4 = tensor<4096x4096xf4E2M1FN>
!mxfp6 = tensor<4096x4096xf6E3M2FN>
!powers = tensor<4096x128xi8, #blockscale.scales<ue8m0, tiled>>
!nvfp4 = tensor<4096x4096xf4E2M1FN>
!scales = tensor<4096x256xi8, #blockscale.scales<ue4m3, tiled>>
func.func @mxfp4(%x: tensor<4096x4096xf32>) -> (!mxfp4, !powers) {
  %q, %s = blockscale.quantize %x : tensor<4096x4096xf32> -> !mxfp4, !powers
  return %q, %s : !mxfp4, !powers
}
func.func @mxfp6(%x: tensor<4096x4096xf32>) -> (!mxfp6, !powers) {
  %q, %s = blockscale.quantize %x : tensor<4096x4096xf32> -> !mxfp6, !powers
  return %q, %s : !mxfp6, !powers
}
func.func @nvfp4(%x: tensor<4096x4096xf32>) -> (!nvfp4, !scales, tensor<f32>) {
  %q, %s, %g = blockscale.quantize %x : tensor<4096x4096xf32> -> !nvfp4, !scales, tensor<f32>
  return %q, %s, %g : !nvfp4, !scales, tensor<f32>
}
