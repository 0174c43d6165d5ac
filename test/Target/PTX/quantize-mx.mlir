// MXFP8 by each chip's sequence: on sm_107a one multiplication a block, for the scale, and
// neither reciprocal nor multiplication an element; on sm_100a both; on sm_90a integers.
// REQUIRES: ptxas

// RUN: blockscale-translate --mlir-to-ptx --arch=sm_107a %s -o %t.ptx
// RUN: FileCheck %s --check-prefix=SCALED --implicit-check-not="{{rcp|div|mul[a-z.]*.f32}}" < %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_107a %t.ptx registers=64
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_100a %s -o %t.ptx
// RUN: FileCheck %s --check-prefix=RECIPROCAL < %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_100a %t.ptx registers=64
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_90a %s -o %t.ptx
// RUN: FileCheck %s --check-prefix=INTEGER --implicit-check-not="{{rcp|div.rn|ue8m0x2}}" < %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_90a %t.ptx registers=64

// SCALED-COUNT-8: ld.global.nc.v4.b32
// SCALED: mul.rn.f32
// SCALED: cvt.rp.satfinite.ue8m0x2.f32
// SCALED-COUNT-16: cvt.rn.satfinite.scaled::n1::ue8m0.e4m3x2.f32
// SCALED-NOT: cvt.rn

// RECIPROCAL: mul.rn.f32
// RECIPROCAL: cvt.rp.satfinite.ue8m0x2.f32
// RECIPROCAL: cvt.rn.bf16x2.ue8m0x2
// RECIPROCAL: rcp.approx.ftz.f32
// RECIPROCAL: min.f32
// RECIPROCAL-COUNT-16: cvt.rn.satfinite.e4m3x2.f32
// RECIPROCAL-NOT: cvt.rn

// INTEGER-COUNT-16: cvt.rn.satfinite.e4m3x2.f32

!q = tensor<4096x4096xf8E4M3FN>
!s = tensor<4096x128xi8, #blockscale.scales<ue8m0, tiled>>
func.func @f(%x: tensor<4096x4096xf32>) -> (!q, !s) {
  %q, %s = blockscale.quantize %x : tensor<4096x4096xf32> -> !q, !s
  return %q, %s : !q, !s
}
