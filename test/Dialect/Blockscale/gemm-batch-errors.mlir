// RUN: blockscale-opt %s --split-input-file --verify-diagnostics

!a = tensor<3x5x64xf4E2M1FN>
!sa = tensor<3x5x4xi8, #blockscale.scales<ue4m3, tiled>>
!b = tensor<3x8x64xf4E2M1FN>
!sb = tensor<3x8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @legal(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %c: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) outs(%c : tensor<3x5x8xf32>) -> tensor<3x5x8xf32>
  return %d : tensor<3x5x8xf32>
}

// -----

!a = tensor<2x5x64xf4E2M1FN>
!sa = tensor<2x5x4xi8, #blockscale.scales<ue4m3, tiled>>
!b = tensor<3x8x64xf4E2M1FN>
!sb = tensor<3x8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @gemm_c27_batches(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %c: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // expected-error @below {{gemm_c27: a must be a batch of 3 as out is, got 'tensor<2x5x64xf4E2M1FN>'}}
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) outs(%c : tensor<3x5x8xf32>) -> tensor<3x5x8xf32>
  return %d : tensor<3x5x8xf32>
}

// -----

!a = tensor<3x5x64xf4E2M1FN>
!sa = tensor<3x5x4xi8, #blockscale.scales<ue4m3, tiled>>
!b = tensor<8x64xf4E2M1FN>
!sb = tensor<2x8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @gemm_c27_scales(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %c: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // expected-error @below {{gemm_c27: sfb must be a matrix as b is, got}}
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) outs(%c : tensor<3x5x8xf32>) -> tensor<3x5x8xf32>
  return %d : tensor<3x5x8xf32>
}

// -----

// The rules of one product are those of each.
!a = tensor<3x5x64xf4E2M1FN>
!sa = tensor<3x5x3xi8, #blockscale.scales<ue4m3, tiled>>
!b = tensor<8x64xf4E2M1FN>
!sb = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @gemm_c8(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %c: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // expected-error @below {{gemm_c8: sfa must be 5x4 (rows x k / block), got 5x3}}
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) outs(%c : tensor<3x5x8xf32>) -> tensor<3x5x8xf32>
  return %d : tensor<3x5x8xf32>
}

// -----

!a = tensor<3x5x64xf4E2M1FN>
!sa = tensor<3x5x4xi8, #blockscale.scales<ue4m3, tiled>>
!b = tensor<8x64xf4E2M1FN>
!sb = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
#schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 3, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>
func.func @legal_schedule(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %c: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) outs(%c : tensor<3x5x8xf32>)
    {schedule = #schedule} -> tensor<3x5x8xf32>
  return %d : tensor<3x5x8xf32>
}

// -----

!a = tensor<3x5x64xf4E2M1FN>
!sa = tensor<3x5x4xi8, #blockscale.scales<ue4m3, tiled>>
!b = tensor<8x64xf4E2M1FN, #blockscale.pitched<bytes = 64>>
!sb = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @gemm_c27_pitched(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %c: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  // expected-error @below {{gemm_c27: a batch must have no pitched rows, got some}}
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) outs(%c : tensor<3x5x8xf32>) -> tensor<3x5x8xf32>
  return %d : tensor<3x5x8xf32>
}

// -----

// 2^31 tiles of one product and of another.
!a = tensor<268435456x128x64xf4E2M1FN>
!sa = tensor<268435456x128x4xi8, #blockscale.scales<ue4m3, tiled>>
!b = tensor<1024x64xf4E2M1FN>
!sb = tensor<1024x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @gemm_c15_tiles(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %c: tensor<268435456x128x1024xf32>) {
  // expected-error @below {{gemm_c15: tiles of 128x128 must be fewer than 2^31, got 8 each of 268435456 batches}}
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) outs(%c : tensor<268435456x128x1024xf32>) -> tensor<268435456x128x1024xf32>
  return
}

// -----

!a = tensor<268435456x8x2048xf4E2M1FN>
!sa = tensor<268435456x8x128xi8, #blockscale.scales<ue4m3, linear>>
!b = tensor<64x2048xf4E2M1FN>
!sb = tensor<64x128xi8, #blockscale.scales<ue4m3, tiled>>
func.func @gemm_c15_bytes(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %c: tensor<268435456x8x64xf32>) {
  // expected-error @below {{gemm_c15: a must take at most 2^40 bytes, got 8192 each of 268435456 batches}}
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) outs(%c : tensor<268435456x8x64xf32>) -> tensor<268435456x8x64xf32>
  return
}

// -----

// The packed form: the problem says how many there are.
#problem = #blockscale.problem<m = 5, n = 8, k = 64, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32, batches = 3, shared_b = true>
func.func @legal_packed(%a: memref<480xi8>, %sa: memref<1536xi8>, %b: memref<256xi8>, %sb: memref<512xi8>, %c: memref<3x5x8xf32>) {
  blockscale.gemm ins(%a scaled %sa, %b scaled %sb : memref<480xi8>, memref<1536xi8>, memref<256xi8>, memref<512xi8>) outs(%c : memref<3x5x8xf32>)
    {problem = #problem}
  return
}

// -----

#problem = #blockscale.problem<m = 5, n = 8, k = 64, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32, batches = 3>
func.func @gemm_c11_b(%a: memref<480xi8>, %sa: memref<1536xi8>, %b: memref<256xi8>, %sb: memref<512xi8>, %c: memref<3x5x8xf32>) {
  // expected-error @below {{gemm_c11: packed b must be 768xi8}}
  blockscale.gemm ins(%a scaled %sa, %b scaled %sb : memref<480xi8>, memref<1536xi8>, memref<256xi8>, memref<512xi8>) outs(%c : memref<3x5x8xf32>)
    {problem = #problem}
  return
}

// -----

#problem = #blockscale.problem<m = 5, n = 8, k = 64, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32, batches = 3, shared_b = true>
func.func @gemm_c11_out(%a: memref<480xi8>, %sa: memref<1536xi8>, %b: memref<256xi8>, %sb: memref<512xi8>, %c: memref<5x8xf32>) {
  // expected-error @below {{gemm_c11: out must be 3x5x8 of f32, got 'memref<5x8xf32>'}}
  blockscale.gemm ins(%a scaled %sa, %b scaled %sb : memref<480xi8>, memref<1536xi8>, memref<256xi8>, memref<512xi8>) outs(%c : memref<5x8xf32>)
    {problem = #problem}
  return
}

// -----

#problem = #blockscale.problem<m = 5, n = 8, k = 64, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32, batches = 3, shared_b = true>
func.func @gemm_c33(%a: memref<480xi8>, %sa: memref<1536xi8>, %b: memref<256xi8>, %sb: memref<512xi8>, %f: memref<5xf32>, %c: memref<3x5x8xf32>) {
  // expected-error @below {{gemm_c33: a batch must have no alpha_rows, got one}}
  blockscale.gemm ins(%a scaled %sa, %b scaled %sb : memref<480xi8>, memref<1536xi8>, memref<256xi8>, memref<512xi8>) alpha_rows(%f : memref<5xf32>) outs(%c : memref<3x5x8xf32>)
    {problem = #problem}
  return
}

// -----

#problem = #blockscale.problem<m = 5, n = 8, k = 64, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32, batches = 0>
func.func @gemm_c34_none(%a: memref<160xi8>, %sa: memref<512xi8>, %b: memref<256xi8>, %sb: memref<512xi8>, %c: memref<5x8xf32>) {
  // expected-error @below {{gemm_c34: batches must be 1 .. 268435456, got 0}}
  blockscale.gemm ins(%a scaled %sa, %b scaled %sb : memref<160xi8>, memref<512xi8>, memref<256xi8>, memref<512xi8>) outs(%c : memref<5x8xf32>)
    {problem = #problem}
  return
}

// -----

#problem = #blockscale.problem<m = 5, n = 8, k = 64, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32, shared_b = true>
func.func @gemm_c34_shared(%a: memref<160xi8>, %sa: memref<512xi8>, %b: memref<256xi8>, %sb: memref<512xi8>, %c: memref<5x8xf32>) {
  // expected-error @below {{gemm_c34: shared_b must stand in a batch, got one product}}
  blockscale.gemm ins(%a scaled %sa, %b scaled %sb : memref<160xi8>, memref<512xi8>, memref<256xi8>, memref<512xi8>) outs(%c : memref<5x8xf32>)
    {problem = #problem}
  return
}

// -----

#problem = #blockscale.problem<m = 5, n = 8, k = 64, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32, pitch_a = 48, batches = 2>
func.func @gemm_c34_pitch(%a: memref<480xi8>, %sa: memref<1024xi8>, %b: memref<512xi8>, %sb: memref<1024xi8>, %c: memref<2x5x8xf32>) {
  // expected-error @below {{gemm_c34: a batch must have wide results and dense rows, got a pitch}}
  blockscale.gemm ins(%a scaled %sa, %b scaled %sb : memref<480xi8>, memref<1024xi8>, memref<512xi8>, memref<1024xi8>) outs(%c : memref<2x5x8xf32>)
    {problem = #problem}
  return
}
