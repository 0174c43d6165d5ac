// Edge types become encoded i8 wherever the same scales appear; elements of the
// same type stay; constants keep their bits.
//
// RUN: blockscale-opt %s --blockscale-normalize-scales | FileCheck %s

// The e4m3 tensor %a is data, the e4m3 tensor %sa scales.
// CHECK-LABEL: func.func @nvfp4
// CHECK-SAME: tensor<8x64xf4E2M1FN>
// CHECK-SAME: tensor<8x4xi8, #blockscale.scales<ue4m3, linear>> {blockscale.type = tensor<8x4xf8E4M3FN>}
// CHECK-SAME: tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>> {blockscale.type = tensor<8x4xf8E4M3FN, #blockscale.scales<ue4m3, tiled>>}
func.func @nvfp4(%a: tensor<8x64xf4E2M1FN>, %sa: tensor<8x4xf8E4M3FN>,
                 %sb: tensor<8x4xf8E4M3FN, #blockscale.scales<ue4m3, tiled>>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: blockscale.gemm {{.*}} tensor<8x64xf4E2M1FN>, tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>, tensor<8x64xf4E2M1FN>, tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
  %d = blockscale.gemm ins(%a scaled %sa, %a scaled %sb
    : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>, tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN, #blockscale.scales<ue4m3, tiled>>)
    outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @mxfp8_data
// CHECK-SAME: (%{{.*}}: tensor<4x64xf8E4M3FN>, %{{.*}}: tensor<4x4xf32>)
func.func @mxfp8_data(%a: tensor<4x64xf8E4M3FN>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // D14: row 3, block 0 is E8M0 0xFF, a NaN, and stays 0xFF (-1).
  // CHECK: arith.constant dense<{{\[\[}}127, 127], [127, 127], [127, 127], [-1, 127]]> : tensor<4x2xi8, #blockscale.scales<ue8m0, linear>>
  %sa = arith.constant dense<[[1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [0xFF, 1.0]]> : tensor<4x2xf8E8M0FNU>
  // E8M0 0x00 is 2^-127, not zero: the splat stays 0.
  // CHECK: arith.constant dense<0> : tensor<4x2xi8, #blockscale.scales<ue8m0, linear>>
  %sb = arith.constant dense<0x00> : tensor<4x2xf8E8M0FNU>
  %d = blockscale.gemm ins(%a scaled %sa, %a scaled %sb
    : tensor<4x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>, tensor<4x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>)
    outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %d : tensor<4x4xf32>
}

// Through calls in both directions: argument and result of @through, and @caller's own argument.
// CHECK-LABEL: func.func @through
// CHECK-SAME: tensor<4x2xi8, #blockscale.scales<ue8m0, linear>>
// CHECK-SAME: -> (tensor<4x2xi8, #blockscale.scales<ue8m0, linear>> {blockscale.type = tensor<4x2xf8E8M0FNU>})
func.func @through(%s: tensor<4x2xf8E8M0FNU>) -> tensor<4x2xf8E8M0FNU> {
  return %s : tensor<4x2xf8E8M0FNU>
}

// CHECK-LABEL: func.func @caller
// CHECK-SAME: tensor<4x2xi8, #blockscale.scales<ue8m0, linear>> {blockscale.type = tensor<4x2xf8E8M0FNU>}
func.func @caller(%s: tensor<4x2xf8E8M0FNU>) -> tensor<4x2xi8, #blockscale.scales<ue8m0, tiled>> {
  // CHECK: call @through(%{{.*}}) : (tensor<4x2xi8, #blockscale.scales<ue8m0, linear>>) -> tensor<4x2xi8, #blockscale.scales<ue8m0, linear>>
  %t = func.call @through(%s) : (tensor<4x2xf8E8M0FNU>) -> tensor<4x2xf8E8M0FNU>
  %u = blockscale.relayout_scales %t : tensor<4x2xf8E8M0FNU> -> tensor<4x2xi8, #blockscale.scales<ue8m0, tiled>>
  return %u : tensor<4x2xi8, #blockscale.scales<ue8m0, tiled>>
}

// CHECK-LABEL: func.func @quantized
// CHECK-SAME: -> (tensor<5x2xi8, #blockscale.scales<ue8m0, linear>> {blockscale.type = tensor<5x2xf8E8M0FNU>})
func.func @quantized(%x: tensor<5x64xf32>) -> tensor<5x2xf8E8M0FNU> {
  // CHECK: blockscale.quantize {{.*}} -> tensor<5x64xf8E4M3FN>, tensor<5x2xi8, #blockscale.scales<ue8m0, linear>>
  %q, %s = blockscale.quantize %x : tensor<5x64xf32> -> tensor<5x64xf8E4M3FN>, tensor<5x2xf8E8M0FNU>
  return %s : tensor<5x2xf8E8M0FNU>
}

// Nobody uses it as scales: left alone.
// CHECK-LABEL: func.func @foreign(%{{.*}}: tensor<5x2xf8E8M0FNU>)
func.func @foreign(%x: tensor<5x2xf8E8M0FNU>) -> tensor<5x2xf32> {
  %y = arith.extf %x : tensor<5x2xf8E8M0FNU> to tensor<5x2xf32>
  return %y : tensor<5x2xf32>
}
