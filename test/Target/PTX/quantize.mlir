// Kernels that quantise become PTX that ptxas takes for every chip, in few registers and
// without spills; loads are of 16 bytes, stores of 8 consecutive ones a lane.
// REQUIRES: ptxas

// RUN: blockscale-translate --mlir-to-ptx --arch=sm_80 %s -o %t.ptx
// RUN: FileCheck %s < %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_80 %t.ptx registers=64
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_90a %s -o %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_90a %t.ptx registers=64
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_107a %s -o %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_107a %t.ptx registers=64
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_121a %s -o %t.ptx
// RUN: %python %S/Inputs/q4k_resources.py ptxas sm_121a %t.ptx registers=64

// CHECK: .entry quantize_0(
// CHECK: .minnctapersm 4
// CHECK-COUNT-8: ld.global.nc.v4.b32
// CHECK-NOT: ld.global
// CHECK: div.rn.f32
// CHECK-NOT: div.
// CHECK: rcp.rn.f32
// CHECK-NOT: {{div|rcp}}.
// CHECK: bar.warp.sync
// CHECK-COUNT-5: st.global.v2.b32
// CHECK-NOT: st.global
// CHECK: ret;
// CHECK: .entry quantize_1(
// CHECK-COUNT-4: ld.global.nc.v4.b32
// CHECK-NOT: ld.global

!chunks = tensor<65x640xi8, #blockscale.blocks<q8_1_chunk>>
func.func @f(%x: tensor<65x512xf32>, %y: tensor<65x512xf16>) -> (!chunks, !chunks) {
  %a = blockscale.quantize_chunks %x : tensor<65x512xf32> -> !chunks
  %b = blockscale.quantize_chunks %y : tensor<65x512xf16> -> !chunks
  return %a, %b : !chunks, !chunks
}
