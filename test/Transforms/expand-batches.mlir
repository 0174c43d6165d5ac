// RUN: blockscale-opt %s --blockscale-expand-batches | FileCheck %s

!a48 = tensor<3x5x48xf4E2M1FN>
!sa48 = tensor<3x5x3xi8, #blockscale.scales<ue4m3, tiled>>
!b48 = tensor<3x8x48xf4E2M1FN>
!sb48 = tensor<3x8x3xi8, #blockscale.scales<ue4m3, tiled>>
// Rows of 24 bytes, which TMA cannot fetch: a loop; parts of bytes and slices, no copies.
// CHECK-LABEL: func.func @batches
// CHECK-SAME: %[[A:[^:]*]]: tensor<3x5x48xf4E2M1FN>, %[[SA:[^:]*]]: tensor<3x5x3xi8
// CHECK-SAME: %[[BIAS:[^:]*]]: tensor<8xf32>, %[[C:[^:]*]]: tensor<3x5x8xf32>)
func.func @batches(%a: !a48, %sa: !sa48, %b: !b48, %sb: !sb48, %bias: tensor<8xf32>, %c: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<3x5x8xf32>
  // CHECK: scf.for %[[I:.*]] = %c0{{.*}} to %c3{{.*}} iter_args(%[[ALL:.*]] = %[[EMPTY]])
  // CHECK: %[[OUT:.*]] = tensor.extract_slice %[[ALL]][%[[I]], 0, 0] [1, 5, 8] [1, 1, 1] : tensor<3x5x8xf32> to tensor<5x8xf32>
  // CHECK: %[[OLD:.*]] = tensor.extract_slice %[[C]][%[[I]], 0, 0]
  // CHECK-DAG: %[[PA:.*]] = blockscale.reinterpret %[[A]] part %[[I]] : tensor<3x5x48xf4E2M1FN> -> tensor<5x48xf4E2M1FN>
  // CHECK-DAG: %[[PSA:.*]] = blockscale.reinterpret %[[SA]] part %[[I]] : {{.*}} -> tensor<5x3xi8, #blockscale.scales<ue4m3, tiled>>
  // CHECK: %[[D:.*]] = blockscale.gemm ins(%[[PA]] scaled %[[PSA]], {{.*}} bias(%[[BIAS]] : tensor<8xf32>) c(%[[OLD]] : tensor<5x8xf32>) outs(%[[OUT]]
  // CHECK: %[[NEXT:.*]] = tensor.insert_slice %[[D]] into %[[ALL]][%[[I]], 0, 0]
  // CHECK: scf.yield %[[NEXT]]
  %out = tensor.empty() : tensor<3x5x8xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a48, !sa48, !b48, !sb48) bias(%bias : tensor<8xf32>) c(%c : tensor<3x5x8xf32>)
    outs(%out : tensor<3x5x8xf32>) -> tensor<3x5x8xf32>
  return %d : tensor<3x5x8xf32>
}

!a = tensor<3x5x64xf4E2M1FN>
!sa = tensor<3x5x4xi8, #blockscale.scales<ue4m3, tiled>>
!b = tensor<3x8x64xf4E2M1FN>
!sb = tensor<3x8x4xi8, #blockscale.scales<ue4m3, tiled>>
// Others are what one launch multiplies.
// CHECK-LABEL: func.func @one_launch
func.func @one_launch(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %out: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NEXT: blockscale.gemm {{.*}} -> tensor<3x5x8xf32>
  // CHECK-NEXT: return
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) outs(%out : tensor<3x5x8xf32>) -> tensor<3x5x8xf32>
  return %d : tensor<3x5x8xf32>
}

!am = tensor<2x96x5xf8E4M3FN>
!bm = tensor<2x8x96xf6E2M3FN>
!sm = tensor<2x5x3xi8, #blockscale.scales<ue8m0, tiled>>
!sbm = tensor<2x8x3xi8, #blockscale.scales<ue8m0, tiled>>
// Elements of 6 bits come 128 at a time; a transposed operand's row is its other dimension.
// CHECK-LABEL: func.func @padded
func.func @padded(%a: tensor<2x5x96xf8E4M3FN>, %am: !am, %sa: !sm, %b: !bm, %b8: tensor<2x8x96xf8E4M3FN>, %sb: !sbm, %out: tensor<2x5x8xf32>) -> (tensor<2x5x8xf32>, tensor<2x5x8xf32>) {
  // CHECK: scf.for
  // CHECK: scf.for
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : tensor<2x5x96xf8E4M3FN>, !sm, !bm, !sbm) outs(%out : tensor<2x5x8xf32>) -> tensor<2x5x8xf32>
  %e = blockscale.gemm ins(%am scaled %sa, %b8 scaled %sb : !am, !sm, tensor<2x8x96xf8E4M3FN>, !sbm) outs(%out : tensor<2x5x8xf32>)
    {major_a = #blockscale.major<mn>} -> tensor<2x5x8xf32>
  return %d, %e : tensor<2x5x8xf32>, tensor<2x5x8xf32>
}

!sl = tensor<3x5x4xi8, #blockscale.scales<ue4m3, linear>>
!w = tensor<8x64xf4E2M1FN>
!sw = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
// Shared weights and dense scales: all rows are one product.
// CHECK-LABEL: func.func @one_product
// CHECK-SAME: %[[W:[^:]*]]: tensor<8x64xf4E2M1FN>
func.func @one_product(%a: !a, %sa: !sl, %b: !w, %sb: !sw, %c: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // CHECK-NOT: scf.for
  // CHECK: %[[C:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<3x5x8xf32> into tensor<15x8xf32>
  // CHECK: %[[FA:.*]] = blockscale.reinterpret %{{.*}} : tensor<3x5x64xf4E2M1FN> -> tensor<15x64xf4E2M1FN>
  // CHECK: %[[D:.*]] = blockscale.gemm ins(%[[FA]] scaled %{{.*}}, %[[W]] scaled %{{.*}} c(%[[C]] : tensor<15x8xf32>)
  // CHECK: tensor.expand_shape %[[D]] {{.*}} into tensor<3x5x8xf32>
  %out = tensor.empty() : tensor<3x5x8xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sl, !w, !sw) c(%c : tensor<3x5x8xf32>)
    outs(%out : tensor<3x5x8xf32>) -> tensor<3x5x8xf32>
  return %d : tensor<3x5x8xf32>
}

// Tiles of each batch are padded by themselves: those of A are not one matrix.
// CHECK-LABEL: func.func @shared_tiles
func.func @shared_tiles(%a: !a, %sa: !sa, %b: !w, %sb: !sw) -> tensor<3x5x8xf32> {
  // CHECK-NOT: scf.for
  // CHECK: blockscale.gemm ins(%arg0 scaled %arg1, %arg2 scaled %arg3
  %out = tensor.empty() : tensor<3x5x8xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !w, !sw) outs(%out : tensor<3x5x8xf32>) -> tensor<3x5x8xf32>
  return %d : tensor<3x5x8xf32>
}

!ar48 = tensor<3x?x48xf4E2M1FN>
!sar48 = tensor<3x?x3xi8, #blockscale.scales<ue4m3, tiled>>
// Rows of each batch that a launch says.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[A:[^:]*]]: tensor<3x?x48xf4E2M1FN>
func.func @rows(%a: !ar48, %sa: !sar48, %b: !b48, %sb: !sb48, %out: tensor<3x?x8xf32>) -> tensor<3x?x8xf32> {
  // CHECK: %[[M:.*]] = tensor.dim %{{.*}} : tensor<3x?x8xf32>
  // CHECK: scf.for %[[I:.*]] = %c0{{.*}} to %c3{{.*}} iter_args(%[[ALL:.*]] =
  // CHECK: tensor.extract_slice %[[ALL]][%[[I]], 0, 0] [1, %[[M]], 8] [1, 1, 1] : tensor<3x?x8xf32> to tensor<?x8xf32>
  // CHECK: blockscale.reinterpret %[[A]] part %[[I]] : tensor<3x?x48xf4E2M1FN> -> tensor<?x48xf4E2M1FN>
  // CHECK: blockscale.gemm {{.*}} -> tensor<?x8xf32>
  // CHECK: tensor.insert_slice %{{.*}} into %[[ALL]][%[[I]], 0, 0] [1, %[[M]], 8]
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !ar48, !sar48, !b48, !sb48) outs(%out : tensor<3x?x8xf32>) -> tensor<3x?x8xf32>
  return %d : tensor<3x?x8xf32>
}

!ar = tensor<3x?x64xf4E2M1FN>
!slr = tensor<3x?x4xi8, #blockscale.scales<ue4m3, linear>>
// CHECK-LABEL: func.func @rows_of_one_product
func.func @rows_of_one_product(%a: !ar, %sa: !slr, %b: !w, %sb: !sw, %out: tensor<3x?x8xf32>) -> tensor<3x?x8xf32> {
  // CHECK-NOT: scf.for
  // CHECK: blockscale.reinterpret %{{.*}} : tensor<3x?x64xf4E2M1FN> -> tensor<?x64xf4E2M1FN>
  // CHECK: blockscale.reinterpret %{{.*}} : tensor<3x?x4xi8, {{.*}}> -> tensor<?x4xi8, #blockscale.scales<ue4m3, linear>>
  // CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2]] output_shape [3, %{{.*}}, 8] : tensor<?x8xf32> into tensor<3x?x8xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !ar, !slr, !w, !sw) outs(%out : tensor<3x?x8xf32>) -> tensor<3x?x8xf32>
  return %d : tensor<3x?x8xf32>
}

!ae = tensor<0x64xf4E2M1FN>
!sae = tensor<0x4xi8, #blockscale.scales<ue4m3, tiled>>
// What has no elements is as good as any: no product is left, of no rows, columns or batches.
// CHECK-LABEL: func.func @empty
// CHECK-SAME: %[[ROWS:[^:]*]]: tensor<0x8xf32>, %[[COLUMNS:[^:]*]]: tensor<5x0xf32>, %[[BATCHES:[^:]*]]: tensor<0x5x8xf32>
// CHECK-NEXT: return %[[ROWS]], %[[COLUMNS]], %[[BATCHES]]
func.func @empty(%a: !ae, %sa: !sae, %b: !w, %sb: !sw, %a5: tensor<5x64xf4E2M1FN>, %sa5: tensor<5x4xi8, #blockscale.scales<ue4m3, tiled>>,
                 %ab: tensor<0x5x64xf4E2M1FN>, %sab: tensor<0x5x4xi8, #blockscale.scales<ue4m3, tiled>>,
                 %rows: tensor<0x8xf32>, %columns: tensor<5x0xf32>, %batches: tensor<0x5x8xf32>)
    -> (tensor<0x8xf32>, tensor<5x0xf32>, tensor<0x5x8xf32>) {
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !ae, !sae, !w, !sw) outs(%rows : tensor<0x8xf32>) -> tensor<0x8xf32>
  %e = blockscale.gemm ins(%a5 scaled %sa5, %a scaled %sa : tensor<5x64xf4E2M1FN>, tensor<5x4xi8, #blockscale.scales<ue4m3, tiled>>, !ae, !sae)
    outs(%columns : tensor<5x0xf32>) -> tensor<5x0xf32>
  %f = blockscale.gemm ins(%ab scaled %sab, %b scaled %sb : tensor<0x5x64xf4E2M1FN>, tensor<0x5x4xi8, #blockscale.scales<ue4m3, tiled>>, !w, !sw)
    outs(%batches : tensor<0x5x8xf32>) -> tensor<0x5x8xf32>
  return %d, %e, %f : tensor<0x8xf32>, tensor<5x0xf32>, tensor<0x5x8xf32>
}
