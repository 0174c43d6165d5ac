// Both forms of gemm and check_gemm print and parse.
//
// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --mlir-print-op-generic | blockscale-opt | FileCheck %s

!linear16 = tensor<178x24xi8, #blockscale.scales<ue4m3, linear>>
!tiled16 = tensor<1536x24xi8, #blockscale.scales<ue4m3, tiled>>

// CHECK-LABEL: func.func @nvfp4
func.func @nvfp4(%a: tensor<178x384xf4E2M1FN>, %sa: !linear16, %b: tensor<1536x384xf4E2M1FN>,
                 %sb: !tiled16, %g: f32, %bias: tensor<1536xf32>, %c: tensor<178x1536xbf16>)
    -> tensor<178x1536xbf16> {
  // CHECK: blockscale.gemm ins(%{{.*}} scaled %{{.*}}, %{{.*}} scaled %{{.*}} : tensor<178x384xf4E2M1FN>, tensor<178x24xi8, #blockscale.scales<ue4m3, linear>>, tensor<1536x384xf4E2M1FN>, tensor<1536x24xi8, #blockscale.scales<ue4m3, tiled>>)
  // CHECK-SAME: alpha(%{{.*}} : f32) bias(%{{.*}} : tensor<1536xf32>) outs(%{{.*}} : tensor<178x1536xbf16>)
  // CHECK-SAME: {nibbles_b = #blockscale.nibbles<high_first>} -> tensor<178x1536xbf16>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb
         : tensor<178x384xf4E2M1FN>, !linear16, tensor<1536x384xf4E2M1FN>, !tiled16)
       alpha(%g : f32) bias(%bias : tensor<1536xf32>) outs(%c : tensor<178x1536xbf16>)
       {nibbles_b = #blockscale.nibbles<high_first>} -> tensor<178x1536xbf16>
  return %d : tensor<178x1536xbf16>
}

// The element types alone say format and layout of the scales.
// CHECK-LABEL: func.func @edge_types
func.func @edge_types(%a: tensor<5x64xf8E4M3FN>, %sa: tensor<5x2xf8E8M0FNU>,
                      %b: tensor<7x64xf8E4M3FN>,
                      %sb: tensor<7x2xf8E8M0FNU, #blockscale.scales<ue8m0, tiled>>,
                      %alpha: tensor<f32>, %c: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // CHECK: blockscale.gemm {{.*}} tensor<5x2xf8E8M0FNU>
  // CHECK-SAME: tensor<7x2xf8E8M0FNU, #blockscale.scales<ue8m0, tiled>>
  // CHECK-SAME: alpha(%{{.*}} : tensor<f32>)
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb
         : tensor<5x64xf8E4M3FN>, tensor<5x2xf8E8M0FNU>, tensor<7x64xf8E4M3FN>,
           tensor<7x2xf8E8M0FNU, #blockscale.scales<ue8m0, tiled>>)
       alpha(%alpha : tensor<f32>) outs(%c : tensor<5x7xf32>) -> tensor<5x7xf32>
  return %d : tensor<5x7xf32>
}

// One row of one block: 1x1 scales are a shape like any other.
// CHECK-LABEL: func.func @single_scale
func.func @single_scale(%a: tensor<1x32xf4E2M1FN>, %s: tensor<1x1xf8E8M0FNU>, %c: tensor<1x1xf32>)
    -> tensor<1x1xf32> {
  // CHECK: blockscale.gemm
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s
         : tensor<1x32xf4E2M1FN>, tensor<1x1xf8E8M0FNU>, tensor<1x32xf4E2M1FN>, tensor<1x1xf8E8M0FNU>)
       outs(%c : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %d : tensor<1x1xf32>
}

// B [k, n], a block of 16 with UE8M0, C and its factor.
// CHECK-LABEL: func.func @majors_and_c
func.func @majors_and_c(%a: tensor<16x64xf8E4M3FN>, %sa: tensor<16x2xf8E8M0FNU>, %b: tensor<64x32xf8E5M2>,
                        %sb: tensor<32x2xf8E8M0FNU>, %beta: f32, %old: tensor<16x32xf16>,
                        %c: tensor<16x32xf16>) -> tensor<16x32xf16> {
  // CHECK: blockscale.gemm {{.*}} beta(%{{.*}} : f32) c(%{{.*}} : tensor<16x32xf16>) outs({{.*}} {major_b = #blockscale.major<mn>} -> tensor<16x32xf16>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb
         : tensor<16x64xf8E4M3FN>, tensor<16x2xf8E8M0FNU>, tensor<64x32xf8E5M2>, tensor<32x2xf8E8M0FNU>)
       beta(%beta : f32) c(%old : tensor<16x32xf16>) outs(%c : tensor<16x32xf16>)
       {major_b = #blockscale.major<mn>} -> tensor<16x32xf16>
  return %d : tensor<16x32xf16>
}

#problem = #blockscale.problem<m = 5, n = 64, k = 64, a = e2m1, b = e2m1, scale = ue4m3, block = 16,
                               sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1,
                                 tile = 128x128x256, stages = 5, accumulators = 2,
                                 epilogue = tma_store, staging = 2, ctas = 148>

// 5 rows of 64 FP4 are 160 bytes; 4 scales a row are one tile of 512 bytes.
// CHECK-LABEL: func.func @packed
func.func @packed(%a: memref<160xi8>, %sa: memref<512xi8>, %b: memref<2048xi8>,
                  %sb: memref<512xi8>, %alpha: memref<f32>, %bias: memref<64xf32>,
                  %d: memref<5x64xf32>) {
  // CHECK: blockscale.gemm ins({{.*}} : memref<160xi8>, memref<512xi8>, memref<2048xi8>, memref<512xi8>)
  // CHECK-SAME: problem = #blockscale.problem<m = 5, n = 64, k = 64, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
  // CHECK-SAME: schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>
  blockscale.gemm ins(%a scaled %sa, %b scaled %sb
      : memref<160xi8>, memref<512xi8>, memref<2048xi8>, memref<512xi8>)
    alpha(%alpha : memref<f32>) bias(%bias : memref<64xf32>) outs(%d : memref<5x64xf32>)
    {problem = #problem, schedule = #schedule}
  // CHECK: blockscale.check_gemm "up" %{{.*}} of %{{.*}} scaled %{{.*}}, %{{.*}} scaled %{{.*}} alpha(%{{.*}} : memref<f32>) bias(
  // CHECK-SAME: : memref<5x64xf32> of memref<160xi8>, memref<512xi8>, memref<2048xi8>, memref<512xi8>
  blockscale.check_gemm "up" %d of %a scaled %sa, %b scaled %sb
    alpha(%alpha : memref<f32>) bias(%bias : memref<64xf32>)
    {problem = #problem, schedule = #schedule}
    : memref<5x64xf32> of memref<160xi8>, memref<512xi8>, memref<2048xi8>, memref<512xi8>
  return
}
