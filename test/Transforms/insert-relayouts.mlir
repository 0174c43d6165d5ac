// RUN: blockscale-opt %s --blockscale-insert-relayouts | FileCheck %s

!linear = tensor<64x2xi8, #blockscale.scales<ue8m0, linear>>
!tiled = tensor<64x2xi8, #blockscale.scales<ue8m0, tiled>>
!a = tensor<64x64xf8E4M3FN>

// D08: compact linear scales of MXFP8 64x64x64 get one visible copy.
// CHECK-LABEL: func.func @linear
// CHECK-SAME: %[[A:.*]]: tensor<64x64xf8E4M3FN>, %[[S:.*]]: tensor<64x2xi8, #blockscale.scales<ue8m0, linear>>
func.func @linear(%a: !a, %s: !linear, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // CHECK: %[[T:.*]] = blockscale.relayout_scales %[[S]] : {{.*}} -> tensor<64x2xi8, #blockscale.scales<ue8m0, tiled>>
  // CHECK-NOT: blockscale.relayout_scales
  // CHECK: blockscale.gemm ins(%[[A]] scaled %[[T]], %[[A]] scaled %[[T]]
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !linear, !a, !linear)
    outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

// 2 scales a row leave 2 padding columns that only the caller knows: zeroed. The
// padding of what relayout_scales or quantize made is zero already.
// CHECK-LABEL: func.func @tails
// CHECK-SAME: %[[A:[^:]*]]: tensor<64x64xf8E4M3FN>, %[[S:[^:]*]]: tensor<64x2xi8, #blockscale.scales<ue8m0, tiled>>
func.func @tails(%a: !a, %s: !tiled, %x: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // CHECK: %[[Q:.*]]:2 = blockscale.quantize
  %q, %t = blockscale.quantize %x : tensor<64x64xf32> -> !a, !tiled
  // CHECK: %[[Z:.*]] = blockscale.zero_scale_tail %[[S]]
  // CHECK-NOT: blockscale.zero_scale_tail
  // CHECK: blockscale.gemm ins(%[[A]] scaled %[[Z]], %[[Q]]#0 scaled %[[Q]]#1
  %d = blockscale.gemm ins(%a scaled %s, %q scaled %t : !a, !tiled, !a, !tiled)
    outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

!full = tensor<64x4xi8, #blockscale.scales<ue4m3, tiled>>
// Whole tiles of 4 scales have no tail.
// CHECK-LABEL: func.func @full
func.func @full(%a: tensor<64x64xf4E2M1FN>, %s: !full, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // CHECK-NOT: zero_scale_tail
  // CHECK: blockscale.gemm
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : tensor<64x64xf4E2M1FN>, !full, tensor<64x64xf4E2M1FN>, !full)
    outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

// D09: the nibble order becomes an op, and only on the operand that has it.
// CHECK-LABEL: func.func @nibbles
// CHECK-SAME: %[[A:[^:]*]]: tensor<64x64xf4E2M1FN>, %[[B:[^:]*]]: tensor<64x64xf4E2M1FN>
func.func @nibbles(%a: tensor<64x64xf4E2M1FN>, %b: tensor<64x64xf4E2M1FN>, %s: !full, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // CHECK: %[[W:.*]] = blockscale.swap_nibbles %[[A]]
  // CHECK: blockscale.gemm ins(%[[W]] scaled %{{.*}}, %[[B]] scaled
  // CHECK-NOT: nibbles
  %d = blockscale.gemm ins(%a scaled %s, %b scaled %s : tensor<64x64xf4E2M1FN>, !full, tensor<64x64xf4E2M1FN>, !full)
    outs(%c : tensor<64x64xf32>) {nibbles_a = #blockscale.nibbles<high_first>, nibbles_b = #blockscale.nibbles<low_first>} -> tensor<64x64xf32>
  return %d : tensor<64x64xf32>
}

!batchA = tensor<3x64x64xf8E4M3FN>
!batchLinear = tensor<3x64x2xi8, #blockscale.scales<ue8m0, linear>>
!batchTiled = tensor<3x64x2xi8, #blockscale.scales<ue8m0, tiled>>
// A batch of scales is copied, and zeroed, by one op.
// CHECK-LABEL: func.func @batch
// CHECK-SAME: %[[A:[^:]*]]: tensor<3x64x64xf8E4M3FN>, %[[S:[^:]*]]: tensor<3x64x2xi8, #blockscale.scales<ue8m0, linear>>, %[[T:[^:]*]]: tensor<3x64x2xi8
func.func @batch(%a: !batchA, %s: !batchLinear, %t: !batchTiled, %c: tensor<3x64x64xf32>) -> tensor<3x64x64xf32> {
  // CHECK: %[[R:.*]] = blockscale.relayout_scales %[[S]] : {{.*}} -> tensor<3x64x2xi8, #blockscale.scales<ue8m0, tiled>>
  // CHECK: %[[Z:.*]] = blockscale.zero_scale_tail %[[T]]
  // CHECK: blockscale.gemm ins(%[[A]] scaled %[[R]], %[[A]] scaled %[[Z]]
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %t : !batchA, !batchLinear, !batchA, !batchTiled)
    outs(%c : tensor<3x64x64xf32>) -> tensor<3x64x64xf32>
  return %d : tensor<3x64x64xf32>
}
