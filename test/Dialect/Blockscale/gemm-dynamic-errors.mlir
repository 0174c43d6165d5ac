// RUN: blockscale-opt %s --split-input-file --verify-diagnostics

// An m of ?: in all operands that have rows of A, and nowhere else.

!a = tensor<8x?xf4E2M1FN>
!s = tensor<?x4xi8, #blockscale.scales<ue4m3, linear>>
!b = tensor<8x64xf4E2M1FN>
!sb = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
func.func @gemm_c2_k(%a: !a, %s: !s, %b: !b, %sb: !sb, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @below {{gemm_c2: shapes must be static but for m, got 'tensor<8x?xf4E2M1FN>'}}
  %d = blockscale.gemm ins(%a scaled %s, %b scaled %sb : !a, !s, !b, !sb) outs(%c : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %d : tensor<?x8xf32>
}

// -----

!a = tensor<1x64x?xf8E4M3FN>
!s = tensor<1x?x2xi8, #blockscale.scales<ue8m0, linear>>
!b = tensor<8x64xf8E4M3FN>
!sb = tensor<8x2xi8, #blockscale.scales<ue8m0, linear>>
func.func @gemm_c2_major(%a: !a, %s: !s, %b: !b, %sb: !sb, %c: tensor<1x?x8xf32>) -> tensor<1x?x8xf32> {
  // expected-error @below {{gemm_c2: m must be static where a is mn-major in a batch of one, got 'tensor<1x64x?xf8E4M3FN>'}}
  %d = blockscale.gemm ins(%a scaled %s, %b scaled %sb : !a, !s, !b, !sb) outs(%c : tensor<1x?x8xf32>)
    {major_a = #blockscale.major<mn>} -> tensor<1x?x8xf32>
  return %d : tensor<1x?x8xf32>
}

// -----

// Of a transposed A, too, k is known.
!a = tensor<?x64xf8E4M3FN>
!s = tensor<?x2xi8, #blockscale.scales<ue8m0, linear>>
!b = tensor<8x64xf8E4M3FN>
!sb = tensor<8x2xi8, #blockscale.scales<ue8m0, linear>>
func.func @gemm_c2_transposed(%a: !a, %s: !s, %b: !b, %sb: !sb, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @below {{gemm_c2: shapes must be static but for m, got 'tensor<?x64xf8E4M3FN>'}}
  %d = blockscale.gemm ins(%a scaled %s, %b scaled %sb : !a, !s, !b, !sb) outs(%c : tensor<?x8xf32>)
    {major_a = #blockscale.major<mn>} -> tensor<?x8xf32>
  return %d : tensor<?x8xf32>
}

// -----

!a = tensor<?x64xf4E2M1FN>
!s = tensor<?x4xi8, #blockscale.scales<ue4m3, linear>>
!b = tensor<8x64xf4E2M1FN>
!sb = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
func.func @gemm_c4(%a: !a, %s: !s, %b: !b, %sb: !sb, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{gemm_c4: out must be ?x8 (m x n), got 8x8}}
  %d = blockscale.gemm ins(%a scaled %s, %b scaled %sb : !a, !s, !b, !sb) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<?x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
!b = tensor<8x64xf4E2M1FN>
func.func @gemm_c8(%a: !a, %s: !s, %b: !b, %c: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @below {{gemm_c8: sfa must be ?x4 (rows x k / block), got 8x4}}
  %d = blockscale.gemm ins(%a scaled %s, %b scaled %s : !a, !s, !b, !s) outs(%c : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %d : tensor<?x8xf32>
}

// -----

// Of a batch m may be ?, and the number of matrices not.
!a = tensor<?x5x64xf4E2M1FN>
!s = tensor<?x5x4xi8, #blockscale.scales<ue4m3, linear>>
!b = tensor<8x64xf4E2M1FN>
!sb = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
func.func @gemm_c2_batch(%a: !a, %s: !s, %b: !b, %sb: !sb, %c: tensor<?x5x8xf32>) -> tensor<?x5x8xf32> {
  // expected-error @below {{gemm_c2: shapes must be static but for m, got 'tensor<?x5x8xf32>'}}
  %d = blockscale.gemm ins(%a scaled %s, %b scaled %sb : !a, !s, !b, !sb) outs(%c : tensor<?x5x8xf32>) -> tensor<?x5x8xf32>
  return %d : tensor<?x5x8xf32>
}

// -----

!a = tensor<2x?x64xf4E2M1FN>
!s = tensor<2x5x4xi8, #blockscale.scales<ue4m3, linear>>
!b = tensor<8x64xf4E2M1FN>
!sb = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
func.func @gemm_c8_batch(%a: !a, %s: !s, %b: !b, %sb: !sb, %c: tensor<2x?x8xf32>) -> tensor<2x?x8xf32> {
  // expected-error @below {{gemm_c8: sfa must be ?x4 (rows x k / block), got 5x4}}
  %d = blockscale.gemm ins(%a scaled %s, %b scaled %sb : !a, !s, !b, !sb) outs(%c : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return %d : tensor<2x?x8xf32>
}

// -----

func.func @gemm_c11(%a: memref<512xi8>, %s: memref<?xi8>, %b: memref<512xi8>, %sb: memref<512xi8>, %c: memref<?x8xf32>) {
  // expected-error @below {{gemm_c11: packed a must be ?xi8, got 'memref<512xi8>'}}
  blockscale.gemm ins(%a scaled %s, %b scaled %sb
    : memref<512xi8>, memref<?xi8>, memref<512xi8>, memref<512xi8>) outs(%c : memref<?x8xf32>)
    {problem = #blockscale.problem<m = ?, n = 8, k = 64, a = e4m3, b = e5m2, scale = ue8m0, block = 32, sfa = tiled, sfb = tiled, out = f32>}
  return
}

// -----

!t = tensor<?x4xi8, #blockscale.scales<ue4m3, tiled>>
!l = tensor<?x4xi8, #blockscale.scales<ue4m3, linear>>
func.func @relayout_scales_c2(%s: !t) -> !l {
  // expected-error @below {{relayout_scales_c2: rows must be known where the source is tiled, got #blockscale.scale_matrix<rows = ?,}}
  %0 = blockscale.relayout_scales %s : !t -> !l
  return %0 : !l
}

// -----

func.func @size_c1(%n: index) {
  // expected-error @below {{size_c1: name must be a letter, then letters, digits and _, got '1m'}}
  %0 = blockscale.size "1m" %n most 5
  return
}

// -----

func.func @size_c1_most(%n: index) {
  // expected-error @below {{size_c1: most must be 0 to 2^40, got -1}}
  %0 = blockscale.size "m" %n most -1
  return
}

// -----

#problem = #blockscale.problem<m = 128, n = 128, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 1, epilogue = plain_store, staging = 0, ctas = 1>
module @kernels attributes {blockscale.arch = "sm_100a"} {
  blockscale.kernel @tile_count_c1() attributes {problem = #problem, schedule = #schedule, threads = 192, shared_bytes = 0} {
    // expected-error @below {{tile_count_c1: m of the kernel's problem must be ?, got 128}}
    %0 = blockscale.tile_count
    blockscale.return
  }
}

// -----

#problem = #blockscale.problem<m = ?, n = 128, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 1, epilogue = plain_store, staging = 0, ctas = 1>
module @kernels attributes {blockscale.arch = "sm_100a"} {
  // expected-error @below {{kernel_c0: last parameter must be m, an i32 where m of the problem is ?, got '(f32) -> ()'}}
  blockscale.kernel @kernel_c0(%alpha: f32) attributes {problem = #problem, schedule = #schedule, threads = 192, shared_bytes = 0} {
    blockscale.return
  }
}

// -----

func.func @map_c3(%n: index) {
  %a = blockscale.alloc 16384
  // expected-error @below {{map_c3: sizes must be as many as dimensions and strides of ?, 1, got 0}}
  %0 = blockscale.tensor_map %a, #blockscale.tma<type = u8, dims = [128, ?], strides = [128], box = [128, 128], element_strides = [1, 1], swizzle = b128, fill = zero, l2 = b128>
  return
}

// -----

func.func @map_c3_stride(%n: index) {
  %a = blockscale.alloc 16384
  // expected-error @below {{map_c3: sizes must be as many as dimensions and strides of ?, 2, got 1}}
  %0 = blockscale.tensor_map %a, #blockscale.tma<type = u8, dims = [?, 128], strides = [?], box = [128, 128], element_strides = [1, 1], swizzle = b128, fill = zero, l2 = b128> sizes(%n)
  return
}
