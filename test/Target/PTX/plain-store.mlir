// Rows of D that are no whole 16 bytes: element stores behind bounds, no staging.
// REQUIRES: ptxas
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_100a %s -o %t.ptx
// RUN: FileCheck %s < %t.ptx
// RUN: ptxas -arch=sm_100a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS

// CHECK-LABEL: .visible .entry gemm_0(
// CHECK-NOT: cp.async.bulk.tensor.2d.global
// CHECK: tcgen05.wait::ld
// CHECK: st.global.b16
// CHECK-NOT: cp.async.bulk.tensor.2d.global
// PTXAS: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

!e = tensor<5x64xf4E2M1FN>
!s = tensor<5x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @gemm(%a: !e, %sfa: !s) -> tensor<5x5xbf16> {
  %c = tensor.empty() : tensor<5x5xbf16>
  %d = blockscale.gemm ins(%a scaled %sfa, %a scaled %sfa : !e, !s, !e, !s) outs(%c : tensor<5x5xbf16>) -> tensor<5x5xbf16>
  return %d : tensor<5x5xbf16>
}
