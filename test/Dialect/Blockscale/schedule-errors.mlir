// What a chip cannot do is refused in a schedule that a user wrote. Each case
// changes one field of a legal schedule.
//
// RUN: blockscale-opt %s --split-input-file --verify-diagnostics

!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c1(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c1: chip must have tcgen05_block_scale}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_90a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c2(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c2: mma of nvfp4 must be mxf4nvf4, got mxf4}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// D27: no block-scaled kind has M = 64.
!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c3_m64(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c3: inst must be a shape of mxf4nvf4 on sm_100a, got 64x128x64}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 64x128x64, cta_group = 1, tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c3_k128(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c3: inst must be a shape of mxf4nvf4 on sm_100a, got 128x128x128}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x128, cta_group = 1, tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c4(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c4: cta_group must be 1 (pairs are not built yet), got 2}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 2, tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c5(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c5: tile must be 128x128x256 of 128x128 instructions (others are not built yet), got 128x256x256 of 128x256x64}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x256x64, cta_group = 1, tile = 128x256x256, stages = 3, accumulators = 1, epilogue = tma_store, staging = 2, ctas = 148>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c6(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c6: accumulators must be 1 or 2, got 0}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 5, accumulators = 0, epilogue = tma_store, staging = 2, ctas = 148>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<5x64xf4E2M1FN>
!s = tensor<5x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c7(%a: !a, %s: !s, %c: tensor<5x5xf32>) -> tensor<5x5xf32> {
  // expected-error @below {{schedule_c7: epilogue must be plain_store where rows of D are not a multiple of 16 bytes, got tma_store with 20}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<5x5xf32>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>} -> tensor<5x5xf32>
  return %d : tensor<5x5xf32>
}

// -----

!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c8(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c8: staging must be 0 for plain_store, got 2}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 5, accumulators = 2, epilogue = plain_store, staging = 2, ctas = 148>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// One stage more than sm_100a holds; sm_107a would hold it.
!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c9(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c9: stages must fit the 232448 shared bytes of sm_100a, got 254976 for 6 stages of 36864, 2 staging buffers of 16384 and 1024}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 6, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c10(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c10: ctas must be 1 .. 2^31 - 1, got 0}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 0>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c10_large(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c10: ctas must be 1 .. 2^31 - 1, got 2147483648}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 2147483648>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// The bound of a check grows with the number of instructions.
!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @check_gemm(%a: !a, %s: !s, %d: tensor<8x8xf32>) {
  // expected-error @below {{'blockscale.check_gemm' op schedule_c3: inst must be a shape of mxf4nvf4 on sm_100a, got 128x128x1}}
  blockscale.check_gemm "gemm_0" %d of %a scaled %s, %a scaled %s
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x1, cta_group = 1, tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>}
    : tensor<8x8xf32> of !a, !s, !a, !s
  return
}

// -----

// Bytes in the linear layout cannot feed UTCCP.
func.func @gemm_c14(%a: memref<256xi8>, %s: memref<32xi8>, %t: memref<512xi8>, %c: memref<8x8xf32>) {
  // expected-error @below {{gemm_c14: sfa must have layout tiled, got linear; use blockscale.relayout_scales}}
  blockscale.gemm ins(%a scaled %s, %a scaled %t
    : memref<256xi8>, memref<32xi8>, memref<256xi8>, memref<512xi8>) outs(%c : memref<8x8xf32>)
    {problem = #blockscale.problem<m = 8, n = 8, k = 64, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = linear, sfb = tiled, out = f32>,
     schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>}
  return
}
