// RUN: blockscale-opt %s --blockscale-import-linalg --split-input-file | FileCheck %s

#a = affine_map<(m, n, ko, ki) -> (m, ko, ki)>
#sa = affine_map<(m, n, ko, ki) -> (m, ko)>
#b = affine_map<(m, n, ko, ki) -> (n, ko, ki)>
#sb = affine_map<(m, n, ko, ki) -> (n, ko)>
#d = affine_map<(m, n, ko, ki) -> (m, n)>

// Four loops, FP4 by 32: operands become matrices, zeros no C.
// CHECK-LABEL: func.func @mxfp4(
// CHECK-SAME: %[[A:.*]]: tensor<5x4x32xf4E2M1FN>, %[[SA:.*]]: tensor<5x4xf8E8M0FNU>, %[[B:.*]]: tensor<7x4x32xf4E2M1FN>, %[[SB:.*]]: tensor<7x4xf8E8M0FNU>)
func.func @mxfp4(%a: tensor<5x4x32xf4E2M1FN>, %sa: tensor<5x4xf8E8M0FNU>,
                 %b: tensor<7x4x32xf4E2M1FN>, %sb: tensor<7x4xf8E8M0FNU>) -> tensor<5x7xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<5x7xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x7xf32>) -> tensor<5x7xf32>
  // CHECK: %[[OUT:.*]] = tensor.empty() : tensor<5x7xf32>
  // CHECK-NEXT: %[[MA:.*]] = blockscale.reinterpret %[[A]] : tensor<5x4x32xf4E2M1FN> -> tensor<5x128xf4E2M1FN>
  // CHECK-NEXT: %[[MSA:.*]] = blockscale.reinterpret %[[SA]] : tensor<5x4xf8E8M0FNU> -> tensor<5x4xi8, #blockscale.scales<ue8m0, linear>>
  // CHECK-NEXT: %[[MB:.*]] = blockscale.reinterpret %[[B]] : tensor<7x4x32xf4E2M1FN> -> tensor<7x128xf4E2M1FN>
  // CHECK-NEXT: %[[MSB:.*]] = blockscale.reinterpret %[[SB]]
  // CHECK-NEXT: %[[D:.*]] = blockscale.gemm ins(%[[MA]] scaled %[[MSA]], %[[MB]] scaled %[[MSB]] :
  // CHECK-SAME: outs(%[[OUT]] : tensor<5x7xf32>) -> tensor<5x7xf32>
  // CHECK-NEXT: return %[[D]]
  %r = linalg.generic {indexing_maps = [#a, #sa, #b, #sb, #d], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %sa, %b, %sb : tensor<5x4x32xf4E2M1FN>, tensor<5x4xf8E8M0FNU>, tensor<7x4x32xf4E2M1FN>, tensor<7x4xf8E8M0FNU>)
      outs(%init : tensor<5x7xf32>) {
  ^bb0(%x: f4E2M1FN, %sx: f8E8M0FNU, %y: f4E2M1FN, %sy: f8E8M0FNU, %sum: f32):
    %p = arith.scaling_extf %x, %sx : f4E2M1FN, f8E8M0FNU to f32
    %q = arith.scaling_extf %y, %sy : f4E2M1FN, f8E8M0FNU to f32
    %pq = arith.mulf %p, %q : f32
    %next = arith.addf %sum, %pq : f32
    linalg.yield %next : f32
  } -> tensor<5x7xf32>
  return %r : tensor<5x7xf32>
}

// -----

// NVFP4: f8E4M3FN scales by 16. Sums that start from something become C; factors, summands
// and reductions in the other order; bf16 inside and out.
#a = affine_map<(m, n, ki, ko) -> (m, ko, ki)>
#sa = affine_map<(m, n, ki, ko) -> (m, ko)>
#b = affine_map<(m, n, ki, ko) -> (n, ko, ki)>
#sb = affine_map<(m, n, ki, ko) -> (n, ko)>
#d = affine_map<(m, n, ki, ko) -> (m, n)>
// CHECK-LABEL: func.func @nvfp4
// CHECK-SAME: %[[B:[^:]*]]: tensor<7x4x16xf4E2M1FN>, %[[SB:[^:]*]]: {{.*}}, %[[A:[^:]*]]: tensor<5x4x16xf4E2M1FN>, %{{[^:]*}}: tensor<5x4xf8E4M3FN>, %[[C:[^:]*]]: tensor<5x7xbf16>
func.func @nvfp4(%b: tensor<7x4x16xf4E2M1FN>, %sb: tensor<7x4xf8E4M3FN>,
                 %a: tensor<5x4x16xf4E2M1FN>, %sa: tensor<5x4xf8E4M3FN>, %c: tensor<5x7xbf16>) -> tensor<5x7xbf16> {
  // CHECK: %[[MA:.*]] = blockscale.reinterpret %[[A]] : tensor<5x4x16xf4E2M1FN> -> tensor<5x64xf4E2M1FN>
  // CHECK: blockscale.reinterpret %{{.*}} -> tensor<5x4xi8, #blockscale.scales<ue4m3, linear>>
  // CHECK: %[[MB:.*]] = blockscale.reinterpret %[[B]]
  // CHECK: blockscale.gemm ins(%[[MA]] scaled %{{.*}}, %[[MB]] scaled {{.*}} c(%[[C]] : tensor<5x7xbf16>)
  // CHECK-NOT: linalg
  %r = linalg.generic {indexing_maps = [#b, #sb, #a, #sa, #d], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%b, %sb, %a, %sa : tensor<7x4x16xf4E2M1FN>, tensor<7x4xf8E4M3FN>, tensor<5x4x16xf4E2M1FN>, tensor<5x4xf8E4M3FN>)
      outs(%c : tensor<5x7xbf16>) {
  ^bb0(%y: f4E2M1FN, %sy: f8E4M3FN, %x: f4E2M1FN, %sx: f8E4M3FN, %sum: bf16):
    %q = arith.scaling_extf %y, %sy : f4E2M1FN, f8E4M3FN to bf16
    %p = arith.scaling_extf %x, %sx : f4E2M1FN, f8E4M3FN to bf16
    %pq = arith.mulf %q, %p : bf16
    %next = arith.addf %pq, %sum : bf16
    linalg.yield %next : bf16
  } -> tensor<5x7xbf16>
  return %r : tensor<5x7xbf16>
}

// -----

// B transposed, [k / block, block, n], of 8 bits; both formats of FP8; products widened in the
// body. Bytes are cast in the body (A) or before (B and its scales); matrices are expanded
// before.
#a = affine_map<(m, n, ko, ki) -> (m, ko, ki)>
#sa = affine_map<(m, n, ko, ki) -> (m, ko)>
#b = affine_map<(m, n, ko, ki) -> (ko, ki, n)>
#sb = affine_map<(m, n, ko, ki) -> (n, ko)>
#d = affine_map<(m, n, ko, ki) -> (m, n)>
// CHECK-LABEL: func.func @transposed_bytes
// CHECK-SAME: %[[A:[^:]*]]: tensor<5x128xi8>, %[[SA:[^:]*]]: tensor<5x4xi8>, %[[B:[^:]*]]: tensor<4x32x16xi8>, %[[SB:[^:]*]]: tensor<16x4xi8>
func.func @transposed_bytes(%a: tensor<5x128xi8>, %sa: tensor<5x4xi8>, %b: tensor<4x32x16xi8>, %sb: tensor<16x4xi8>) -> tensor<5x16xf32> {
  // CHECK-NEXT: tensor.empty
  // CHECK-NEXT: %[[MA:.*]] = blockscale.reinterpret %[[A]] : tensor<5x128xi8> -> tensor<5x128xf8E4M3FN>
  // CHECK-NEXT: %[[MSA:.*]] = blockscale.reinterpret %[[SA]] : tensor<5x4xi8> -> tensor<5x4xi8, #blockscale.scales<ue8m0, linear>>
  // CHECK-NEXT: %[[MB:.*]] = blockscale.reinterpret %[[B]] : tensor<4x32x16xi8> -> tensor<128x16xf8E5M2>
  // CHECK-NEXT: %[[MSB:.*]] = blockscale.reinterpret %[[SB]]
  // CHECK-NEXT: blockscale.gemm ins(%[[MA]] scaled %[[MSA]], %[[MB]] scaled %[[MSB]] :
  // CHECK-SAME: {major_b = #blockscale.major<mn>}
  %init = arith.constant dense<0.0> : tensor<5x16xf32>
  %a3 = tensor.expand_shape %a [[0], [1, 2]] output_shape [5, 4, 32] : tensor<5x128xi8> into tensor<5x4x32xi8>
  %b3 = tensor.bitcast %b : tensor<4x32x16xi8> to tensor<4x32x16xf8E5M2>
  %sb2 = arith.bitcast %sb : tensor<16x4xi8> to tensor<16x4xf8E8M0FNU>
  %r = linalg.generic {indexing_maps = [#a, #sa, #b, #sb, #d], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a3, %sa, %b3, %sb2 : tensor<5x4x32xi8>, tensor<5x4xi8>, tensor<4x32x16xf8E5M2>, tensor<16x4xf8E8M0FNU>)
      outs(%init : tensor<5x16xf32>) {
  ^bb0(%x8: i8, %sx8: i8, %y: f8E5M2, %sy: f8E8M0FNU, %sum: f32):
    %x = arith.bitcast %x8 : i8 to f8E4M3FN
    %sx = arith.bitcast %sx8 : i8 to f8E8M0FNU
    %p = arith.scaling_extf %x, %sx : f8E4M3FN, f8E8M0FNU to bf16
    %q = arith.scaling_extf %y, %sy : f8E5M2, f8E8M0FNU to bf16
    %pq = arith.mulf %p, %q : bf16
    %wide = arith.extf %pq : bf16 to f32
    %next = arith.addf %sum, %wide : f32
    linalg.yield %next : f32
  } -> tensor<5x16xf32>
  return %r : tensor<5x16xf32>
}

// -----

// FP4 in packed bytes comes by our op, two elements a byte.
#a = affine_map<(m, n, ko, ki) -> (m, ko, ki)>
#sa = affine_map<(m, n, ko, ki) -> (m, ko)>
#b = affine_map<(m, n, ko, ki) -> (n, ko, ki)>
#sb = affine_map<(m, n, ko, ki) -> (n, ko)>
#d = affine_map<(m, n, ko, ki) -> (m, n)>
// CHECK-LABEL: func.func @packed_fp4
func.func @packed_fp4(%a8: tensor<5x4x16xi8>, %b: tensor<7x4x32xf6E3M2FN>, %s: tensor<5x4xi8>, %t: tensor<7x4xi8>) -> tensor<5x7xf16> {
  // CHECK: %[[A3:.*]] = blockscale.reinterpret %{{.*}} : tensor<5x4x16xi8> -> tensor<5x4x32xf4E2M1FN>
  // CHECK: blockscale.reinterpret %[[A3]] : tensor<5x4x32xf4E2M1FN> -> tensor<5x128xf4E2M1FN>
  // CHECK: blockscale.gemm {{.*}} tensor<5x128xf4E2M1FN>, {{.*}} tensor<7x128xf6E3M2FN>
  %zero = arith.constant dense<-0.0> : tensor<5x7xf16>
  %a = blockscale.reinterpret %a8 : tensor<5x4x16xi8> -> tensor<5x4x32xf4E2M1FN>
  %r = linalg.generic {indexing_maps = [#a, #sa, #b, #sb, #d], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %s, %b, %t : tensor<5x4x32xf4E2M1FN>, tensor<5x4xi8>, tensor<7x4x32xf6E3M2FN>, tensor<7x4xi8>)
      outs(%zero : tensor<5x7xf16>) {
  ^bb0(%x: f4E2M1FN, %sx8: i8, %y: f6E3M2FN, %sy8: i8, %sum: f16):
    %sx = arith.bitcast %sx8 : i8 to f8E8M0FNU
    %sy = arith.bitcast %sy8 : i8 to f8E8M0FNU
    %p = arith.scaling_extf %x, %sx : f4E2M1FN, f8E8M0FNU to f16
    %q = arith.scaling_extf %y, %sy : f6E3M2FN, f8E8M0FNU to f16
    %pq = arith.mulf %p, %q : f16
    %next = arith.addf %sum, %pq : f16
    linalg.yield %next : f16
  } -> tensor<5x7xf16>
  return %r : tensor<5x7xf16>
}

// -----

// Five loops: a batch on both sides.
#a = affine_map<(b, m, n, ko, ki) -> (b, m, ko, ki)>
#sa = affine_map<(b, m, n, ko, ki) -> (b, m, ko)>
#b = affine_map<(b, m, n, ko, ki) -> (b, n, ko, ki)>
#sb = affine_map<(b, m, n, ko, ki) -> (b, n, ko)>
#d = affine_map<(b, m, n, ko, ki) -> (b, m, n)>
// CHECK-LABEL: func.func @batches
// CHECK-SAME: %[[A:[^:]*]]: tensor<3x5x2x32xf8E4M3FN>
// CHECK-SAME: %[[C:[^:]*]]: tensor<3x5x8xf32>)
func.func @batches(%a: tensor<3x5x2x32xf8E4M3FN>, %sa: tensor<3x5x2xf8E8M0FNU>, %b: tensor<3x8x2x32xf8E4M3FN>,
                   %sb: tensor<3x8x2xf8E8M0FNU>, %c: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK: %[[OUT:.*]] = tensor.empty() : tensor<3x5x8xf32>
  // CHECK: %[[MA:.*]] = blockscale.reinterpret %[[A]] : tensor<3x5x2x32xf8E4M3FN> -> tensor<3x5x64xf8E4M3FN>
  // CHECK: blockscale.reinterpret %{{.*}} : tensor<3x5x2xf8E8M0FNU> -> tensor<3x5x2xi8, #blockscale.scales<ue8m0, linear>>
  // CHECK: blockscale.gemm ins(%[[MA]] scaled {{.*}} c(%[[C]] : tensor<3x5x8xf32>) outs(%[[OUT]] : tensor<3x5x8xf32>)
  %r = linalg.generic {indexing_maps = [#a, #sa, #b, #sb, #d], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %sa, %b, %sb : tensor<3x5x2x32xf8E4M3FN>, tensor<3x5x2xf8E8M0FNU>, tensor<3x8x2x32xf8E4M3FN>, tensor<3x8x2xf8E8M0FNU>)
      outs(%c : tensor<3x5x8xf32>) {
  ^bb0(%x: f8E4M3FN, %sx: f8E8M0FNU, %y: f8E4M3FN, %sy: f8E8M0FNU, %sum: f32):
    %p = arith.scaling_extf %x, %sx : f8E4M3FN, f8E8M0FNU to f32
    %q = arith.scaling_extf %y, %sy : f8E4M3FN, f8E8M0FNU to f32
    %pq = arith.mulf %p, %q : f32
    %next = arith.addf %sum, %pq : f32
    linalg.yield %next : f32
  } -> tensor<3x5x8xf32>
  return %r : tensor<3x5x8xf32>
}

// -----

// Weights that all batches share.
#a = affine_map<(b, m, n, ko, ki) -> (b, m, ko, ki)>
#sa = affine_map<(b, m, n, ko, ki) -> (b, m, ko)>
#b = affine_map<(b, m, n, ko, ki) -> (n, ko, ki)>
#sb = affine_map<(b, m, n, ko, ki) -> (n, ko)>
#d = affine_map<(b, m, n, ko, ki) -> (b, m, n)>
// CHECK-LABEL: func.func @shared_weights
func.func @shared_weights(%a: tensor<3x5x2x32xf8E4M3FN>, %sa: tensor<3x5x2xf8E8M0FNU>, %b: tensor<8x2x32xf8E4M3FN>,
                          %sb: tensor<8x2xf8E8M0FNU>, %c: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK: blockscale.reinterpret %{{.*}} -> tensor<3x5x64xf8E4M3FN>
  // CHECK: blockscale.reinterpret %{{.*}} : tensor<8x2x32xf8E4M3FN> -> tensor<8x64xf8E4M3FN>
  // CHECK: blockscale.gemm ins({{.*}} : tensor<3x5x64xf8E4M3FN>, {{.*}}, tensor<8x64xf8E4M3FN>,
  %r = linalg.generic {indexing_maps = [#a, #sa, #b, #sb, #d], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %sa, %b, %sb : tensor<3x5x2x32xf8E4M3FN>, tensor<3x5x2xf8E8M0FNU>, tensor<8x2x32xf8E4M3FN>, tensor<8x2xf8E8M0FNU>)
      outs(%c : tensor<3x5x8xf32>) {
  ^bb0(%x: f8E4M3FN, %sx: f8E8M0FNU, %y: f8E4M3FN, %sy: f8E8M0FNU, %sum: f32):
    %p = arith.scaling_extf %x, %sx : f8E4M3FN, f8E8M0FNU to f32
    %q = arith.scaling_extf %y, %sy : f8E4M3FN, f8E8M0FNU to f32
    %pq = arith.mulf %p, %q : f32
    %next = arith.addf %sum, %pq : f32
    linalg.yield %next : f32
  } -> tensor<3x5x8xf32>
  return %r : tensor<3x5x8xf32>
}

// -----

// Other generics are no concern of the pass.
// CHECK-LABEL: func.func @other
func.func @other(%x: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: linalg.generic
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%c : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
