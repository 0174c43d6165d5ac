// Narrow tensors become bytes; ops keep what the types said.
//
// RUN: blockscale-opt %s --blockscale-pack-narrow | FileCheck %s
// RUN: blockscale-opt %s --canonicalize --blockscale-pack-narrow | FileCheck %s

!linear = tensor<130x6xi8, #blockscale.scales<ue4m3, linear>>
!tiled = tensor<130x6xi8, #blockscale.scales<ue4m3, tiled>>
!a = tensor<130x96xf4E2M1FN>

// D10: 130 x 96 FP4 elements are 6240 bytes; 130 x 6 scales are 780 bytes linear
// and 2 x 2 tiles of 512 bytes tiled.
// CHECK-LABEL: func.func @gemm
// CHECK-SAME: tensor<6240xi8> {blockscale.type = tensor<130x96xf4E2M1FN>}
// CHECK-SAME: tensor<2048xi8> {blockscale.type = tensor<130x6xi8, #blockscale.scales<ue4m3, tiled>>}
func.func @gemm(%a: !a, %s: !tiled, %c: tensor<130x130xbf16>) -> tensor<130x130xbf16> {
  // CHECK: blockscale.zero_scale_tail %{{.*}} {matrix = #blockscale.scale_matrix<rows = 130, cols = 6, format = ue4m3, layout = tiled>} : tensor<2048xi8> -> tensor<2048xi8>
  %z = blockscale.zero_scale_tail %s : !tiled -> !tiled
  // CHECK: blockscale.gemm {{.*}} : tensor<6240xi8>, tensor<2048xi8>, tensor<6240xi8>, tensor<2048xi8>)
  // CHECK-SAME: outs(%{{.*}} : tensor<130x130xbf16>)
  // CHECK-SAME: problem = #blockscale.problem<m = 130, n = 130, k = 96, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = bf16>
  %d = blockscale.gemm ins(%a scaled %z, %a scaled %z : !a, !tiled, !a, !tiled) outs(%c : tensor<130x130xbf16>) -> tensor<130x130xbf16>
  return %d : tensor<130x130xbf16>
}

// CHECK-LABEL: func.func @quantize
// CHECK-SAME: -> (tensor<6240xi8> {blockscale.type = tensor<130x96xf4E2M1FN>}, tensor<2048xi8> {blockscale.type = tensor<130x6xi8, #blockscale.scales<ue4m3, tiled>>}, tensor<130x96xf32>)
func.func @quantize(%x: tensor<130x96xf32>) -> (!a, !tiled, tensor<130x96xf32>) {
  // CHECK: blockscale.quantize %{{.*}} {blocked = #blockscale.blocked<rows = 130, k = 96, element = e2m1, scale = ue4m3, block = 16, layout = linear>} : tensor<130x96xf32> -> tensor<6240xi8>, tensor<780xi8>, tensor<f32>
  %q, %s, %g = blockscale.quantize %x : tensor<130x96xf32> -> !a, !linear, tensor<f32>
  // CHECK: blockscale.relayout_scales %{{.*}} {source = #blockscale.scale_matrix<{{.*}}layout = linear>, target = #blockscale.scale_matrix<{{.*}}layout = tiled>} : tensor<780xi8> -> tensor<2048xi8>
  %t = blockscale.relayout_scales %s : !linear -> !tiled
  // CHECK: blockscale.swap_nibbles %{{.*}} : tensor<6240xi8> -> tensor<6240xi8>
  %w = blockscale.swap_nibbles %q : !a -> !a
  // CHECK: blockscale.dequantize %{{.*}} {blocked = #blockscale.blocked<rows = 130, k = 96, element = e2m1, scale = ue4m3, block = 16, layout = tiled>} : tensor<6240xi8>, tensor<2048xi8> -> tensor<130x96xf32>
  %y = blockscale.dequantize %w scaled %t global(%g : tensor<f32>) : !a, !tiled -> tensor<130x96xf32>
  return %w, %t, %y : !a, !tiled, tensor<130x96xf32>
}

// Calls follow their callee.
// CHECK-LABEL: func.func @call
func.func @call(%x: tensor<130x96xf32>) -> !a {
  // CHECK: call @quantize(%{{.*}}) : (tensor<130x96xf32>) -> (tensor<6240xi8>, tensor<2048xi8>, tensor<130x96xf32>)
  %q, %s, %y = func.call @quantize(%x) : (tensor<130x96xf32>) -> (!a, !tiled, tensor<130x96xf32>)
  return %q : !a
}

// Constants. FP4: 0.5 is 1, 1.0 is 2, -6.0 is 0xF, element 0 in bits 3:0, so the
// bytes are 0x21 = 33 and 0xF0 = -16.
// CHECK-LABEL: func.func @constants
func.func @constants() -> (tensor<2x2xf4E2M1FN>, tensor<1x3xf8E4M3FN>, tensor<1x4xf6E2M3FN>, tensor<2x3xf4E2M1FN>) {
  // CHECK-DAG: %[[F4:.*]] = arith.constant dense<[33, -16]> : tensor<2xi8>
  %0 = arith.constant dense<[[0.5, 1.0], [0.0, -6.0]]> : tensor<2x2xf4E2M1FN>
  // CHECK-DAG: %[[F8:.*]] = arith.constant dense<[56, 126, 127]> : tensor<3xi8>
  %1 = arith.constant dense<[[1.0, 448.0, 0x7F]]> : tensor<1x3xf8E4M3FN>
  // FP6: 1.0 is 8, 7.5 is 31; 8 | 31 << 6 | 0 << 12 | 31 << 18 is 0x7C07C8.
  // CHECK-DAG: %[[F6:.*]] = arith.constant dense<[-56, 7, 124]> : tensor<3xi8>
  %2 = arith.constant dense<[[1.0, 7.5, 0.0, 7.5]]> : tensor<1x4xf6E2M3FN>
  // A splat of 1.0.
  // CHECK-DAG: %[[SPLAT:.*]] = arith.constant dense<34> : tensor<3xi8>
  %3 = arith.constant dense<1.0> : tensor<2x3xf4E2M1FN>
  // CHECK: return %[[F4]], %[[F8]], %[[F6]], %[[SPLAT]]
  return %0, %1, %2, %3 : tensor<2x2xf4E2M1FN>, tensor<1x3xf8E4M3FN>, tensor<1x4xf6E2M3FN>, tensor<2x3xf4E2M1FN>
}

// The same bytes by another name: nothing is left, or upstream's ops on bytes.
// CHECK-LABEL: func.func @reinterpret
// CHECK-SAME: %[[X:[^:]*]]: tensor<3x4x16xi8>, %[[E:[^:]*]]: tensor<30xi8> {blockscale.type = tensor<3x5x2xf8E8M0FNU>}, %[[I:[^:]*]]: index)
func.func @reinterpret(%x: tensor<3x4x16xi8>, %e: tensor<3x5x2xf8E8M0FNU>, %i: index)
    -> (tensor<4x32xf4E2M1FN>, tensor<15x2xi8, #blockscale.scales<ue8m0, linear>>, tensor<8x8xi8>) {
  // CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[X]] {{.*}} into tensor<192xi8>
  // CHECK: %[[AT:.*]] = arith.muli %[[I]], %c64
  // CHECK: %[[PART:.*]] = tensor.extract_slice %[[FLAT]][%[[AT]]] [64] [1] : tensor<192xi8> to tensor<64xi8>
  %a = blockscale.reinterpret %x part %i : tensor<3x4x16xi8> -> tensor<4x32xf4E2M1FN>
  %s = blockscale.reinterpret %e : tensor<3x5x2xf8E8M0FNU> -> tensor<15x2xi8, #blockscale.scales<ue8m0, linear>>
  %f = blockscale.reinterpret %x part %i : tensor<3x4x16xi8> -> tensor<128xf4E2M1FN>
  // CHECK: %[[WIDE:.*]] = tensor.expand_shape %{{.*}} into tensor<8x8xi8>
  %y = blockscale.reinterpret %f : tensor<128xf4E2M1FN> -> tensor<8x8xi8>
  // CHECK: return %[[PART]], %[[E]], %[[WIDE]]
  return %a, %s, %y : tensor<4x32xf4E2M1FN>, tensor<15x2xi8, #blockscale.scales<ue8m0, linear>>, tensor<8x8xi8>
}

!batchA = tensor<3x?x96xf4E2M1FN>
!batchT = tensor<2x96x?xf8E4M3FN>
!batchLinear = tensor<3x?x6xi8, #blockscale.scales<ue4m3, linear>>
!batchTiled = tensor<3x?x6xi8, #blockscale.scales<ue4m3, tiled>>
!batchB = tensor<3x130x6xi8, #blockscale.scales<ue4m3, tiled>>
// Of a batch all matrices are one list of bytes, also transposed ones whose rows a launch says.
// CHECK-LABEL: func.func @batch
func.func @batch(%a: !batchA, %s: !batchLinear, %b: tensor<3x130x96xf4E2M1FN>, %sb: !batchB, %t: !batchT, %c: tensor<3x?x130xf32>) -> (tensor<3x?x130xf32>, index, index) {
  // CHECK: blockscale.relayout_scales %{{.*}} {source = #blockscale.scale_matrix<rows = ?, cols = 6, format = ue4m3, layout = linear, batches = 3>, target = #blockscale.scale_matrix<rows = ?, cols = 6, format = ue4m3, layout = tiled, batches = 3>} : tensor<?xi8> -> tensor<?xi8>
  %r = blockscale.relayout_scales %s : !batchLinear -> !batchTiled
  // CHECK: blockscale.zero_scale_tail %{{.*}} {matrix = #blockscale.scale_matrix<rows = 130, cols = 6, format = ue4m3, layout = tiled, batches = 3>} : tensor<6144xi8>
  %z = blockscale.zero_scale_tail %sb : !batchB -> !batchB
  // CHECK: blockscale.gemm {{.*}} : tensor<?xi8>, tensor<?xi8>, tensor<18720xi8>, tensor<6144xi8>) outs(%{{.*}} : tensor<3x?x130xf32>)
  // CHECK-SAME: problem = #blockscale.problem<m = ?, n = 130, k = 96, {{.*}} out = f32, batches = 3>
  %d = blockscale.gemm ins(%a scaled %r, %b scaled %z : !batchA, !batchTiled, tensor<3x130x96xf4E2M1FN>, !batchB) outs(%c : tensor<3x?x130xf32>) -> tensor<3x?x130xf32>
  // CHECK: %[[BYTES:.*]] = tensor.dim %{{.*}}, %{{.*}} : tensor<?xi8>
  // CHECK: %[[ROW:.*]] = arith.constant 144 : index
  // CHECK: arith.divui %[[BYTES]], %[[ROW]]
  %one = arith.constant 1 : index
  %m = tensor.dim %a, %one : !batchA
  // CHECK: %[[ALL:.*]] = tensor.dim %{{.*}}, %{{.*}} : tensor<?xi8>
  // CHECK: %[[EACH:.*]] = arith.constant 192 : index
  // CHECK: arith.divui %[[ALL]], %[[EACH]]
  %two = arith.constant 2 : index
  %mt = tensor.dim %t, %two : !batchT
  return %d, %m, %mt : tensor<3x?x130xf32>, index, index
}
