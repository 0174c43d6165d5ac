// One-shot bufferization of the feed-forward layer: quantize, gemm with GELU and a
// quantised result, gemm. Products write into their own buffers, no buffer is
// copied, and scales of the caller are zeroed in place.
//
// RUN: blockscale-opt %examples/minilm_ffn.mlir --blockscale-check-encodings --blockscale-normalize-scales --blockscale-insert-relayouts --blockscale-choose-schedule=arch=sm_100a --blockscale-insert-checks --blockscale-pack-narrow --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" | FileCheck %s
// RUN: blockscale-opt %s --blockscale-pack-narrow --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" | FileCheck %s --check-prefix=OPS

// CHECK-LABEL: func.func @nvfp4
// CHECK-NOT: memref.copy
// CHECK: %[[H:.*]] = memref.alloc() {{.*}} : memref<136704xi8>
// CHECK: %[[S:.*]] = memref.alloc() {{.*}} : memref<24576xi8>
// CHECK: blockscale.gemm ins({{.*}} : memref<34176xi8>, memref<6144xi8>, memref<294912xi8>, memref<36864xi8>) alpha(%{{.*}} : f32) bias(%{{.*}} : memref<1536xf32>) global(%[[G:.*]] : f32) outs(%[[H]], %[[S]] : memref<136704xi8>, memref<24576xi8>) {activation = #blockscale.activation<gelu>, problem = {{.*}} out = e2m1, quantized = <scale = ue4m3, block = 16, layout = tiled>>, {{.*}} quantizer = <remainder>>}
// CHECK: blockscale.check_gemm "gemm_0" %[[H]] of {{.*}} global(%[[G]] : f32) d_scales(%[[S]] : memref<24576xi8>) {activation = #blockscale.activation<gelu>
// CHECK: %[[D:.*]] = memref.alloc() {{.*}} : memref<178x384xf32>
// CHECK: blockscale.gemm ins(%[[H]] scaled %[[S]], {{.*}} : memref<136704xi8>, memref<24576xi8>, memref<294912xi8>, memref<36864xi8>) {{.*}} outs(%[[D]] : memref<178x384xf32>)
// CHECK: blockscale.check_gemm "gemm_1" %[[D]] of

// CHECK-LABEL: func.func @mxfp4
// CHECK: blockscale.gemm ins({{.*}} : memref<34176xi8>, memref<3072xi8>, memref<294912xi8>, memref<18432xi8>) bias(
// CHECK-LABEL: func.func @mxfp8
// CHECK: blockscale.gemm ins({{.*}} : memref<68352xi8>, memref<3072xi8>, memref<589824xi8>, memref<18432xi8>) bias(

!tiled = tensor<8x3xi8, #blockscale.scales<ue8m0, tiled>>
!linear = tensor<8x3xi8, #blockscale.scales<ue8m0, linear>>

// OPS-LABEL: func.func @ops
// OPS-SAME: %[[Q:[^:]*]]: memref<768xi8> {{.*}}, %[[S:[^:]*]]: memref<512xi8> {{.*}}, %[[G:[^:]*]]: memref<f32>, %[[C:[^:]*]]: memref<8x8xf32>
func.func @ops(%q: tensor<8x96xf8E4M3FN>, %s: !tiled, %g: tensor<f32>, %c: tensor<8x8xf32>)
    -> (tensor<8x8xf32>, tensor<8x96xf32>, !linear) {
  // OPS: blockscale.zero_scale_tail %[[S]] {{.*}} : memref<512xi8>
  %z = blockscale.zero_scale_tail %s : !tiled -> !tiled
  // OPS: blockscale.gemm ins(%[[Q]] scaled %[[S]], %[[Q]] scaled %[[S]] : {{.*}}) alpha(%[[G]] : memref<f32>) outs(%[[C]] : memref<8x8xf32>)
  %d = blockscale.gemm ins(%q scaled %z, %q scaled %z : tensor<8x96xf8E4M3FN>, !tiled, tensor<8x96xf8E4M3FN>, !tiled)
    alpha(%g : tensor<f32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  // OPS: %[[X:.*]] = memref.alloc() {{.*}} : memref<8x96xf32>
  // OPS: blockscale.dequantize %[[Q]] scaled %[[S]] global(%[[G]] : memref<f32>) outs(%[[X]] : memref<8x96xf32>)
  %x = blockscale.dequantize %q scaled %z global(%g : tensor<f32>) : tensor<8x96xf8E4M3FN>, !tiled -> tensor<8x96xf32>
  // OPS: %[[L:.*]] = memref.alloc() {{.*}} : memref<24xi8>
  // OPS: blockscale.relayout_scales %[[S]] outs(%[[L]] : memref<24xi8>)
  %l = blockscale.relayout_scales %z : !tiled -> !linear
  // OPS: return %[[C]], %[[X]], %[[L]]
  return %d, %x, %l : tensor<8x8xf32>, tensor<8x96xf32>, !linear
}

// The caller's FP4 bytes are not swapped in place: another run sees them again.
// OPS-LABEL: func.func @swap
// OPS-SAME: %[[Q:[^:]*]]: memref<256xi8>
func.func @swap(%q: tensor<8x64xf4E2M1FN>) -> tensor<8x64xf4E2M1FN> {
  // OPS: %[[W:.*]] = memref.alloc() {{.*}} : memref<256xi8>
  // OPS: blockscale.swap_nibbles %[[Q]] outs(%[[W]] : memref<256xi8>) : memref<256xi8>
  // OPS: return %[[W]]
  %w = blockscale.swap_nibbles %q : tensor<8x64xf4E2M1FN> -> tensor<8x64xf4E2M1FN>
  return %w : tensor<8x64xf4E2M1FN>
}
