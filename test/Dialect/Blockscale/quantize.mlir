// quantize, dequantize, relayout_scales, zero_scale_tail and swap_nibbles print
// and parse on tensors and on memrefs of packed bytes.
//
// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s

!linear = tensor<178x24xi8, #blockscale.scales<ue4m3, linear>>
!tiled = tensor<178x24xi8, #blockscale.scales<ue4m3, tiled>>

// CHECK-LABEL: func.func @tensors
func.func @tensors(%x: tensor<178x384xf16>) -> (tensor<178x384xf4E2M1FN>, tensor<178x384xf32>) {
  // CHECK: %[[Q:.*]]:3 = blockscale.quantize %{{.*}} : tensor<178x384xf16> -> tensor<178x384xf4E2M1FN>, tensor<178x24xi8, #blockscale.scales<ue4m3, linear>>, tensor<f32>
  %q, %s, %g = blockscale.quantize %x : tensor<178x384xf16> -> tensor<178x384xf4E2M1FN>, !linear, tensor<f32>
  // CHECK: blockscale.dequantize %[[Q]]#0 scaled %[[Q]]#1 global(%[[Q]]#2 : tensor<f32>) : tensor<178x384xf4E2M1FN>, tensor<178x24xi8, #blockscale.scales<ue4m3, linear>> -> tensor<178x384xf32>
  %y = blockscale.dequantize %q scaled %s global(%g : tensor<f32>) : tensor<178x384xf4E2M1FN>, !linear -> tensor<178x384xf32>
  // CHECK: blockscale.relayout_scales %[[Q]]#1 : tensor<178x24xi8, #blockscale.scales<ue4m3, linear>> -> tensor<178x24xi8, #blockscale.scales<ue4m3, tiled>>
  %t = blockscale.relayout_scales %s : !linear -> !tiled
  // CHECK: blockscale.zero_scale_tail %{{.*}} : tensor<178x24xi8, #blockscale.scales<ue4m3, tiled>> -> tensor<178x24xi8, #blockscale.scales<ue4m3, tiled>>
  %z = blockscale.zero_scale_tail %t : !tiled -> !tiled
  // CHECK: blockscale.swap_nibbles %[[Q]]#0 : tensor<178x384xf4E2M1FN> -> tensor<178x384xf4E2M1FN>
  %w = blockscale.swap_nibbles %q : tensor<178x384xf4E2M1FN> -> tensor<178x384xf4E2M1FN>
  return %w, %y : tensor<178x384xf4E2M1FN>, tensor<178x384xf32>
}

// CHECK-LABEL: func.func @given
func.func @given(%x: tensor<5x64xf32>, %g: tensor<f32>) -> tensor<5x64xf4E2M1FN> {
  // CHECK: blockscale.quantize %{{.*}} global(%{{.*}} : tensor<f32>) : tensor<5x64xf32> -> tensor<5x64xf4E2M1FN>, tensor<5x4xi8, #blockscale.scales<ue4m3, linear>>
  %q, %s = blockscale.quantize %x global(%g : tensor<f32>) : tensor<5x64xf32> -> tensor<5x64xf4E2M1FN>, tensor<5x4xi8, #blockscale.scales<ue4m3, linear>>
  return %q : tensor<5x64xf4E2M1FN>
}

// CHECK-LABEL: func.func @mxfp8
func.func @mxfp8(%x: tensor<5x64xf32>) -> tensor<5x2xf8E8M0FNU> {
  // CHECK: blockscale.quantize %{{.*}} : tensor<5x64xf32> -> tensor<5x64xf8E4M3FN>, tensor<5x2xf8E8M0FNU>
  %q, %s = blockscale.quantize %x : tensor<5x64xf32> -> tensor<5x64xf8E4M3FN>, tensor<5x2xf8E8M0FNU>
  return %s : tensor<5x2xf8E8M0FNU>
}

#blocked = #blockscale.blocked<rows = 5, k = 96, element = e2m1, scale = ue4m3, block = 16, layout = linear>
#linear = #blockscale.scale_matrix<rows = 5, cols = 6, format = ue4m3, layout = linear>
#tiled = #blockscale.scale_matrix<rows = 5, cols = 6, format = ue4m3, layout = tiled>

// CHECK-LABEL: func.func @memrefs
func.func @memrefs(%x: memref<5x96xf32>, %q: memref<240xi8>, %s: memref<30xi8>, %g: memref<f32>,
                   %t: memref<1024xi8>, %r: memref<240xi8>) {
  // CHECK: blockscale.quantize %{{.*}} outs(%{{.*}}, %{{.*}}, %{{.*}} : memref<240xi8>, memref<30xi8>, memref<f32>) {blocked = #blockscale.blocked<rows = 5, k = 96, element = e2m1, scale = ue4m3, block = 16, layout = linear>} : memref<5x96xf32>
  blockscale.quantize %x outs(%q, %s, %g : memref<240xi8>, memref<30xi8>, memref<f32>) {blocked = #blocked} : memref<5x96xf32>
  // CHECK: blockscale.relayout_scales %{{.*}} outs(%{{.*}} : memref<1024xi8>) {source = #blockscale.scale_matrix<rows = 5, cols = 6, format = ue4m3, layout = linear>, target = #blockscale.scale_matrix<rows = 5, cols = 6, format = ue4m3, layout = tiled>} : memref<30xi8>
  blockscale.relayout_scales %s outs(%t : memref<1024xi8>) {source = #linear, target = #tiled} : memref<30xi8>
  // CHECK: blockscale.zero_scale_tail %{{.*}} {matrix = #blockscale.scale_matrix<{{.*}}>} : memref<1024xi8>
  blockscale.zero_scale_tail %t {matrix = #tiled} : memref<1024xi8>
  // CHECK: blockscale.swap_nibbles %{{.*}} outs(%{{.*}} : memref<240xi8>) : memref<240xi8>
  blockscale.swap_nibbles %q outs(%r : memref<240xi8>) : memref<240xi8>
  // CHECK: blockscale.dequantize %{{.*}} scaled %{{.*}} global(%{{.*}} : memref<f32>) outs(%{{.*}} : memref<5x96xf32>) {blocked = {{.*}}} : memref<240xi8>, memref<30xi8>
  blockscale.dequantize %q scaled %s global(%g : memref<f32>) outs(%x : memref<5x96xf32>) {blocked = #blocked} : memref<240xi8>, memref<30xi8>
  return
}
