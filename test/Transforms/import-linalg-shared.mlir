// One value may be several operands: its casts go once, and only where nothing else uses them.
// RUN: blockscale-opt %s --blockscale-import-linalg | FileCheck %s
// CHECK-NOT: bitcast
// CHECK: blockscale.reinterpret %arg0
// CHECK: blockscale.reinterpret %arg1
// CHECK: blockscale.gemm
// CHECK-NOT: linalg.generic

#mk = affine_map<(m, n, ko, ki) -> (m, ko, ki)>
#ms = affine_map<(m, n, ko, ki) -> (m, ko)>
#nk = affine_map<(m, n, ko, ki) -> (n, ko, ki)>
#ns = affine_map<(m, n, ko, ki) -> (n, ko)>
#d = affine_map<(m, n, ko, ki) -> (m, n)>
func.func @gram(%a0: tensor<8x4x32xi8>, %s0: tensor<8x4xi8>) -> tensor<8x8xf32> {
  %a = tensor.bitcast %a0 : tensor<8x4x32xi8> to tensor<8x4x32xf8E4M3FN>
  %s = tensor.bitcast %s0 : tensor<8x4xi8> to tensor<8x4xf8E8M0FNU>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %d = linalg.fill ins(%z : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %r = linalg.generic {indexing_maps = [#mk, #ms, #nk, #ns, #d], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %s, %a, %s : tensor<8x4x32xf8E4M3FN>, tensor<8x4xf8E8M0FNU>, tensor<8x4x32xf8E4M3FN>, tensor<8x4xf8E8M0FNU>) outs(%d : tensor<8x8xf32>) {
  ^bb0(%x: f8E4M3FN, %sx: f8E8M0FNU, %y: f8E4M3FN, %sy: f8E8M0FNU, %sum: f32):
    %p = arith.scaling_extf %x, %sx : f8E4M3FN, f8E8M0FNU to f32
    %q = arith.scaling_extf %y, %sy : f8E4M3FN, f8E8M0FNU to f32
    %pq = arith.mulf %p, %q : f32
    %next = arith.addf %sum, %pq : f32
    linalg.yield %next : f32
  } -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
