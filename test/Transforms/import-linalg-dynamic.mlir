// RUN: blockscale-opt %s --blockscale-import-linalg | FileCheck %s
// RUN: blockscale-opt %s --blockscale-import-linalg --blockscale-normalize-scales --blockscale-pack-narrow | FileCheck %s --check-prefix=PACKED

// Rows that a launch says: the result is as long as what the sums start from.
// CHECK-LABEL: func.func @generic
// CHECK: %[[M:.*]] = tensor.dim
// CHECK-DAG: %[[OUT:.*]] = tensor.empty(%[[M]]) : tensor<?x30xf32>
// CHECK-DAG: %[[A:.*]] = blockscale.reinterpret %{{.*}} : tensor<?x160xi8> -> tensor<?x160xf8E4M3FN>
// CHECK-NOT: linalg
// CHECK: blockscale.gemm ins(%[[A]] scaled {{.*}} outs(%[[OUT]] : tensor<?x30xf32>)

// PACKED: %[[BYTES:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1]] : tensor<?x160xi8> into tensor<?xi8>
// PACKED: blockscale.gemm ins(%[[BYTES]] scaled {{.*}}problem = #blockscale.problem<m = ?, n = 30, k = 160,

func.func @generic(%a: tensor<?x160xi8>, %sa: tensor<?x5xf8E8M0FNU>, %b: tensor<30x160xi8>, %sb: tensor<30x5xf8E8M0FNU>) -> tensor<?x30xf32> {
  %zero = arith.constant 0 : index
  %m = tensor.dim %a, %zero : tensor<?x160xi8>
  %aBlocks = tensor.expand_shape %a [[0], [1, 2]] output_shape [%m, 5, 32] : tensor<?x160xi8> into tensor<?x5x32xi8>
  %bBlocks = tensor.expand_shape %b [[0], [1, 2]] output_shape [30, 5, 32] : tensor<30x160xi8> into tensor<30x5x32xi8>
  %none = arith.constant 0.0 : f32
  %empty = tensor.empty(%m) : tensor<?x30xf32>
  %start = linalg.fill ins(%none : f32) outs(%empty : tensor<?x30xf32>) -> tensor<?x30xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, ko, ki) -> (m, ko, ki)>, affine_map<(m, n, ko, ki) -> (m, ko)>,
                                        affine_map<(m, n, ko, ki) -> (n, ko, ki)>, affine_map<(m, n, ko, ki) -> (n, ko)>,
                                        affine_map<(m, n, ko, ki) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%aBlocks, %sa, %bBlocks, %sb : tensor<?x5x32xi8>, tensor<?x5xf8E8M0FNU>, tensor<30x5x32xi8>, tensor<30x5xf8E8M0FNU>)
      outs(%start : tensor<?x30xf32>) {
  ^bb0(%x: i8, %sx: f8E8M0FNU, %y: i8, %sy: f8E8M0FNU, %sum: f32):
    %xf = arith.bitcast %x : i8 to f8E4M3FN
    %yf = arith.bitcast %y : i8 to f8E4M3FN
    %p = arith.scaling_extf %xf, %sx : f8E4M3FN, f8E8M0FNU to f32
    %q = arith.scaling_extf %yf, %sy : f8E4M3FN, f8E8M0FNU to f32
    %pq = arith.mulf %p, %q : f32
    %next = arith.addf %sum, %pq : f32
    linalg.yield %next : f32
  } -> tensor<?x30xf32>
  return %r : tensor<?x30xf32>
}
