// RUN: blockscale-opt %s --split-input-file --verify-diagnostics

!sf = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>

func.func @gemm_c1_mixed(%a: tensor<8x64xf4E2M1FN>, %s: !sf, %c: memref<8x8xf32>) {
  // expected-error @below {{gemm_c1: operands must be all tensors or all memrefs, got both}}
  blockscale.gemm ins(%a scaled %s, %a scaled %s
    : tensor<8x64xf4E2M1FN>, !sf, tensor<8x64xf4E2M1FN>, !sf) outs(%c : memref<8x8xf32>)
  return
}

// -----

func.func @gemm_c1_strided(%a: memref<256xi8>, %s: memref<512xi8>, %c: memref<8x8xf32, strided<[16, 1]>>) {
  // expected-error @below {{gemm_c1: memrefs must be contiguous, got 'memref<8x8xf32, strided<[16, 1]>>'}}
  blockscale.gemm ins(%a scaled %s, %a scaled %s
    : memref<256xi8>, memref<512xi8>, memref<256xi8>, memref<512xi8>)
    outs(%c : memref<8x8xf32, strided<[16, 1]>>)
  return
}

// -----

!sf = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
func.func @gemm_c2_dynamic(%a: tensor<8x64xf4E2M1FN>, %b: tensor<?x64xf4E2M1FN>, %s: !sf,
                           %c: tensor<8x?xf32>) -> tensor<8x?xf32> {
  // expected-error @below {{gemm_c2: shapes must be static but for m, got 'tensor<?x64xf4E2M1FN>'}}
  %d = blockscale.gemm ins(%a scaled %s, %b scaled %s
    : tensor<8x64xf4E2M1FN>, !sf, tensor<?x64xf4E2M1FN>, !sf) outs(%c : tensor<8x?xf32>) -> tensor<8x?xf32>
  return %d : tensor<8x?xf32>
}

// -----

!sf = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
func.func @gemm_c3_rank(%a: tensor<2x8x64xf4E2M1FN>, %s: !sf, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{gemm_c3: a must have rank 2, got rank 3}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s
    : tensor<2x8x64xf4E2M1FN>, !sf, tensor<2x8x64xf4E2M1FN>, !sf) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!sf = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
func.func @gemm_c4_k(%a: tensor<8x64xf4E2M1FN>, %b: tensor<8x32xf4E2M1FN>, %s: !sf, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{gemm_c4: b must be n x k with the k = 64 of a, got 8x32}}
  %d = blockscale.gemm ins(%a scaled %s, %b scaled %s
    : tensor<8x64xf4E2M1FN>, !sf, tensor<8x32xf4E2M1FN>, !sf) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!sf = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
func.func @gemm_c4_out(%a: tensor<8x64xf4E2M1FN>, %s: !sf, %c: tensor<8x16xf32>) -> tensor<8x16xf32> {
  // expected-error @below {{gemm_c4: out must be 8x8 (m x n), got 8x16}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s
    : tensor<8x64xf4E2M1FN>, !sf, tensor<8x64xf4E2M1FN>, !sf) outs(%c : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %d : tensor<8x16xf32>
}

// -----

!sf = tensor<8x0xi8, #blockscale.scales<ue4m3, linear>>
func.func @gemm_c5_no_k(%a: tensor<8x0xf4E2M1FN>, %s: !sf, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{gemm_c5: k must be 1 .. 268435456, m and n 0 .. 268435456, got m = 8, n = 8, k = 0}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s
    : tensor<8x0xf4E2M1FN>, !sf, tensor<8x0xf4E2M1FN>, !sf) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!sa = tensor<0x4xi8, #blockscale.scales<ue4m3, tiled>>
!sf = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @gemm_c5_empty(%a: tensor<0x64xf4E2M1FN>, %sa: !sa, %b: tensor<8x64xf4E2M1FN>, %s: !sf, %c: tensor<0x8xf32>) -> tensor<0x8xf32> {
  // expected-error @below {{gemm_c5: m, n and k must be 1 .. 268435456, got m = 0, n = 8, k = 64}}
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %s
    : tensor<0x64xf4E2M1FN>, !sa, tensor<8x64xf4E2M1FN>, !sf) outs(%c : tensor<0x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 3, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>} -> tensor<0x8xf32>
  return %d : tensor<0x8xf32>
}

// -----

!sf = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
func.func @gemm_c6_fp8_ue4m3(%a: tensor<8x64xf8E4M3FN>, %s: !sf, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{gemm_c6: formats must be a combination that is built: mxf4 (e2m1 scaled ue8m0 by 32), mxf4nvf4 (e2m1 scaled ue8m0 by 16, ue4m3 by 16, ue5m3 by 16, ue8m0 by 32, ue4m3 by 32, ue5m3 by 32), mxf8f6f4 (any two of e2m1, e2m3, e3m2, e4m3, e5m2 scaled ue8m0 by 32), got e4m3 scaled ue4m3 with e4m3 scaled ue4m3}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s
    : tensor<8x64xf8E4M3FN>, !sf, tensor<8x64xf8E4M3FN>, !sf) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// A mixed pair has scales of UE8M0 only.
!sf = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
func.func @gemm_c6_mixed_elements(%a: tensor<8x64xf8E4M3FN>, %b: tensor<8x64xf4E2M1FN>, %s: !sf, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{got e4m3 scaled ue4m3 with e2m1 scaled ue4m3}}
  %d = blockscale.gemm ins(%a scaled %s, %b scaled %s
    : tensor<8x64xf8E4M3FN>, !sf, tensor<8x64xf4E2M1FN>, !sf) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// Both operands have one scale format.
!sa = tensor<8x4xi8, #blockscale.scales<ue5m3, linear>>
!sb = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
func.func @gemm_c6_two_scales(%a: tensor<8x64xf4E2M1FN>, %sa: !sa, %sb: !sb, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{got e2m1 scaled ue5m3 with e2m1 scaled ue4m3, block 16}}
  %d = blockscale.gemm ins(%a scaled %sa, %a scaled %sb
    : tensor<8x64xf4E2M1FN>, !sa, tensor<8x64xf4E2M1FN>, !sb) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// A scale tensor in the place of elements.
!sf = tensor<8x2xi8, #blockscale.scales<ue8m0, linear>>
!e = tensor<8x64xf8E4M3FN, #blockscale.scales<ue4m3, tiled>>
func.func @gemm_c6_encoded(%a: !e, %s: !sf, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{gemm_c6: elements of a must be narrow floats without an encoding in the logical form, got 'tensor<8x64xf8E4M3FN, #blockscale.scales<ue4m3, tiled>>'}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !e, !sf, !e, !sf) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

func.func @gemm_c6_packed_block(%a: memref<256xi8>, %s: memref<512xi8>, %c: memref<8x8xf32>) {
  // expected-error @below {{got e2m1 scaled ue4m3 with e2m1 scaled ue4m3, block 8}}
  blockscale.gemm ins(%a scaled %s, %a scaled %s
    : memref<256xi8>, memref<512xi8>, memref<256xi8>, memref<512xi8>) outs(%c : memref<8x8xf32>)
    {problem = #blockscale.problem<m = 8, n = 8, k = 64, a = e2m1, b = e2m1, scale = ue4m3, block = 8, sfa = tiled, sfb = tiled, out = f32>}
  return
}

// -----

// D20: K = 40 of NVFP4.
!sf = tensor<8x2xi8, #blockscale.scales<ue4m3, linear>>
func.func @gemm_c7_k40(%a: tensor<8x40xf4E2M1FN>, %s: !sf, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{gemm_c7: k must be a whole number of scale blocks, got 40, and 40 is not a multiple of 16}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s
    : tensor<8x40xf4E2M1FN>, !sf, tensor<8x40xf4E2M1FN>, !sf) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// D20: a single element is a shape, not an absent scale.
!sf = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
!one = tensor<1x1xi8, #blockscale.scales<ue4m3, linear>>
func.func @gemm_c8_single(%a: tensor<8x64xf4E2M1FN>, %sa: !one, %s: !sf, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{gemm_c8: sfa must be 8x4 (rows x k / block), got 1x1}}
  %d = blockscale.gemm ins(%a scaled %sa, %a scaled %s
    : tensor<8x64xf4E2M1FN>, !one, tensor<8x64xf4E2M1FN>, !sf) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// A buffer padded by hand is not the logical shape.
!sf = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
!padded = tensor<128x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @gemm_c8_padded(%a: tensor<8x64xf4E2M1FN>, %sb: !padded, %s: !sf, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{gemm_c8: sfb must be 8x4 (rows x k / block), got 128x4}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %sb
    : tensor<8x64xf4E2M1FN>, !sf, tensor<8x64xf4E2M1FN>, !padded) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

func.func @gemm_c9_plain_i8(%a: tensor<8x64xf4E2M1FN>, %s: tensor<8x4xi8>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{gemm_c9: sfa must have an encoding #blockscale.scales<format, layout>, or elements f8E8M0FNU or f8E4M3FN, got 'tensor<8x4xi8>'}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s
    : tensor<8x64xf4E2M1FN>, tensor<8x4xi8>, tensor<8x64xf4E2M1FN>, tensor<8x4xi8>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!sf = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
func.func @gemm_c10_bias(%a: tensor<8x64xf4E2M1FN>, %s: !sf, %bias: tensor<9xf32>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{gemm_c10: bias must have n = 8 elements, got 9}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s
    : tensor<8x64xf4E2M1FN>, !sf, tensor<8x64xf4E2M1FN>, !sf) bias(%bias : tensor<9xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// D10: 8 rows of 64 FP4 elements are 256 bytes, not 512.
func.func @gemm_c11_bytes(%a: memref<512xi8>, %s: memref<512xi8>, %b: memref<256xi8>, %c: memref<8x8xf32>) {
  // expected-error @below {{gemm_c11: packed a must be 256xi8, got 'memref<512xi8>'}}
  blockscale.gemm ins(%a scaled %s, %b scaled %s
    : memref<512xi8>, memref<512xi8>, memref<256xi8>, memref<512xi8>) outs(%c : memref<8x8xf32>)
    {problem = #blockscale.problem<m = 8, n = 8, k = 64, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>}
  return
}

// -----

// D08: 8 x 4 linear scales are 32 bytes; the tiled layout of the attribute needs 512.
func.func @gemm_c11_scale_bytes(%a: memref<256xi8>, %s: memref<32xi8>, %c: memref<8x8xf32>) {
  // expected-error @below {{gemm_c11: packed sfa must be 512xi8, got 'memref<32xi8>'}}
  blockscale.gemm ins(%a scaled %s, %a scaled %s
    : memref<256xi8>, memref<32xi8>, memref<256xi8>, memref<32xi8>) outs(%c : memref<8x8xf32>)
    {problem = #blockscale.problem<m = 8, n = 8, k = 64, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>}
  return
}

// -----

func.func @gemm_c11_no_problem(%a: memref<256xi8>, %s: memref<512xi8>, %c: memref<8x8xf32>) {
  // expected-error @below {{gemm_c11: memref operands must be packed bytes with the attribute 'problem', got none}}
  blockscale.gemm ins(%a scaled %s, %a scaled %s
    : memref<256xi8>, memref<512xi8>, memref<256xi8>, memref<512xi8>) outs(%c : memref<8x8xf32>)
  return
}

// -----

func.func @gemm_c11_out(%a: memref<256xi8>, %s: memref<512xi8>, %c: memref<8x8xbf16>) {
  // expected-error @below {{gemm_c11: out must be 8x8 of f32, got 'memref<8x8xbf16>'}}
  blockscale.gemm ins(%a scaled %s, %a scaled %s
    : memref<256xi8>, memref<512xi8>, memref<256xi8>, memref<512xi8>) outs(%c : memref<8x8xbf16>)
    {problem = #blockscale.problem<m = 8, n = 8, k = 64, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>}
  return
}

// -----

!sf = tensor<8x2xi8, #blockscale.scales<ue8m0, linear>>
func.func @gemm_c12_nibbles(%a: tensor<8x64xf8E4M3FN>, %s: !sf, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{gemm_c12: nibbles_a must stand on 4-bit elements of the logical form, got e4m3}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s
    : tensor<8x64xf8E4M3FN>, !sf, tensor<8x64xf8E4M3FN>, !sf) outs(%c : tensor<8x8xf32>)
    {nibbles_a = #blockscale.nibbles<high_first>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// 2^42 tiles: a tile's index is an i32.
!e = tensor<268435456x64xf4E2M1FN>
!s = tensor<268435456x4xi8, #blockscale.scales<ue4m3, tiled>>
!d = tensor<268435456x268435456xf32>
func.func @gemm_c15_tiles(%a: !e, %s: !s, %c: !d) -> !d {
  // expected-error @below {{gemm_c15: tiles of 128x128 must be fewer than 2^31, got 4398046511104}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !e, !s, !e, !s) outs(%c : !d) -> !d
  return %d : !d
}

// -----

// 2^24 tiles, and 2^40 + 2^21 bytes of D.
!a = tensor<268435456x64xf4E2M1FN>
!sa = tensor<268435456x4xi8, #blockscale.scales<ue4m3, tiled>>
!b = tensor<1025x64xf4E2M1FN>
!sb = tensor<1025x4xi8, #blockscale.scales<ue4m3, tiled>>
!d = tensor<268435456x1025xf32>
func.func @gemm_c15_bytes(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %c: !d) -> !d {
  // expected-error @below {{gemm_c15: out must take at most 2^40 bytes, got 1100585369600}}
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) outs(%c : !d) -> !d
  return %d : !d
}

// -----

// Six bits have no transpose, nor have four.
!a = tensor<64x16xf6E3M2FN>
!b = tensor<8x64xf8E4M3FN>
!sa = tensor<16x2xi8, #blockscale.scales<ue8m0, linear>>
!sb = tensor<8x2xi8, #blockscale.scales<ue8m0, linear>>
func.func @gemm_c22_bits(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // expected-error @below {{gemm_c22: major_a must be k-major where elements are not of 8 bits, got mn of e3m2}}
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) outs(%c : tensor<16x8xf32>)
    {major_a = #blockscale.major<mn>} -> tensor<16x8xf32>
  return %d : tensor<16x8xf32>
}

// -----

func.func @gemm_c22_packed(%a: memref<512xi8>, %s: memref<512xi8>, %c: memref<8x8xf32>) {
  // expected-error @below {{gemm_c22: major_a and major_b must stand in the logical form, got one beside problem}}
  blockscale.gemm ins(%a scaled %s, %a scaled %s
    : memref<512xi8>, memref<512xi8>, memref<512xi8>, memref<512xi8>) outs(%c : memref<8x8xf32>)
    {major_b = #blockscale.major<mn>,
     problem = #blockscale.problem<m = 8, n = 8, k = 64, a = e4m3, b = e5m2, scale = ue8m0, block = 32, sfa = tiled, sfb = tiled, out = f32>}
  return
}

// -----

!a = tensor<8x64xf8E4M3FN>
!s = tensor<8x2xi8, #blockscale.scales<ue8m0, linear>>
func.func @gemm_c23_beta(%a: !a, %s: !s, %beta: f32, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{gemm_c23: beta must be given with c, got none}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) beta(%beta : f32) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<8x64xf8E4M3FN>
!s = tensor<8x2xi8, #blockscale.scales<ue8m0, linear>>
func.func @gemm_c23_type(%a: !a, %s: !s, %old: tensor<8x8xbf16>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{gemm_c23: c must have the type of out, 'tensor<8x8xf32>', got 'tensor<8x8xbf16>'}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) c(%old : tensor<8x8xbf16>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}
