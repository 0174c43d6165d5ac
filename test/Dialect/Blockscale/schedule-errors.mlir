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
  // expected-error @below {{schedule_c4: m of inst must be 256 for a pair, and of the tile no less (how the scales of A lie with m = 128 is unverified), got 128 and 128}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 2, tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c4_three(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c4: cta_group must be 1 or 2, got 3}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 3, tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c5_reuse(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c5: tile of twice inst's m, which reuses B (.collector::b), must be on sm_107a or sm_107f, got sm_103a}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_103a, mma = mxf4nvf4, inst = 256x256x64, cta_group = 2, tile = 512x256x256, stages = 2, accumulators = 1, epilogue = tma_store, staging = 2, ctas = 148, cluster = 2x1>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c6_reuse(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c6: accumulators and scales must fit tensor memory, got}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_107a, mma = mxf4nvf4, inst = 256x192x128, cta_group = 2, tile = 512x192x256, stages = 2, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148, cluster = 2x1>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c4_tile(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c4: m of inst must be 256 for a pair, and of the tile no less (how the scales of A lie with m = 128 is unverified), got 256 and 128}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 256x128x64, cta_group = 2, tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148, cluster = 2x1>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c10_cluster(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c10: ctas must be a multiple of the 16 of a cluster, got 148}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148, cluster = 4x4>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c14(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c14: cluster must be 1, 2 or 4 by 1, 2 or 4 CTAs, got 1x3}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 147, cluster = 1x3>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c14_pair(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c14: cluster must be whole pairs along m, got 1x2}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 256x128x64, cta_group = 2, tile = 256x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148, cluster = 1x2>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c5(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c5: tile must be 128x64, 128x128, 128x192 or 128x256 of one instruction's m and n, or of twice its m where B is reused, and 256 deep for mxf4nvf4, got 128x32x256 of 128x32x64}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x32x64, cta_group = 1, tile = 128x32x256, stages = 3, accumulators = 1, epilogue = tma_store, staging = 2, ctas = 148>} -> tensor<8x8xf32>
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

// A row of 64 bf16 is one chunk of 128 bytes: two buffers would not take turns.
!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c8_chunks(%a: !a, %s: !s, %c: tensor<8x8xbf16>) -> tensor<8x8xbf16> {
  // expected-error @below {{schedule_c8: staging must divide the 1 chunks of 128 bytes of a row of the tile, got 2}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xbf16>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x64x64, cta_group = 1, tile = 128x64x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>} -> tensor<8x8xbf16>
  return %d : tensor<8x8xbf16>
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

// -----

// FP6 has no packed type of TMA; with FP8 in its place K = 64 is legal.
!a = tensor<8x128xf6E2M3FN>
!b = tensor<8x128xf8E4M3FN>
!s = tensor<8x4xi8, #blockscale.scales<ue8m0, tiled>>
func.func @schedule_c11(%a: !a, %b: !b, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c11: k of inst must be 32 where an operand is e2m3: TMA has no packed type of 6 bits, got 64}}
  %d = blockscale.gemm ins(%b scaled %s, %a scaled %s : !b, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_107a, mma = mxf8f6f4, inst = 128x128x64, cta_group = 1, tile = 128x128x128, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// UE5M3 on another chip than sm_107a; UE4M3 by 32 likewise.
!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue5m3, tiled>>
func.func @schedule_c3_ue5m3(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{idesc_c5: scale type of mxf4nvf4 with block 16 on sm_103a must be one of ue8m0, ue4m3, got ue5m3}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_103a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x2xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c3_ue4m3_by_32(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{idesc_c5: scale type of mxf4nvf4 with block 32 on sm_100a must be ue8m0, got ue4m3}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// The accumulators of two products that share B are as many columns each.
!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c6_reuse(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c6: accumulators and scales must fit tensor memory, got 2 x 512 + 32 + 32 = 1088 columns}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_107a, mma = mxf4nvf4, inst = 128x256x128, cta_group = 1, tile = 256x256x256, stages = 3, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// D42: two accumulators of 256 columns and their scales are 560 columns, which sm_107a has.
!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c6_D42(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c6: accumulators and scales must fit tensor memory, got 2 x 256 + 16 + 32 = 560 columns}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x256x64, cta_group = 1, tile = 128x256x256, stages = 3, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// The same on sm_107a fits side by side, so it must not be overlapped.
!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c6_overlapped_107(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c6: accumulators must be disjoint where they fit side by side, got overlapped ones of 2 x 256 + 16 + 32 = 560 columns}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_107a, mma = mxf4nvf4, inst = 128x256x128, cta_group = 1, tile = 128x256x256, stages = 3, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148, accumulator_columns = overlapped>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c6_overlapped_one(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c6: accumulators must be 2 to be overlapped, got 1}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x256x64, cta_group = 1, tile = 128x256x256, stages = 3, accumulators = 1, epilogue = tma_store, staging = 2, ctas = 148, accumulator_columns = overlapped>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// K = 96: a K tile of three stages, scales in a ring of their own, and only on sm_103a.
!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c5_span(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c5: tile must be 128x64, 128x128, 128x192 or 128x256 of one instruction's m and n, or of twice its m where B is reused, and 768 deep for mxf4nvf4, got 128x128x256 of 128x128x96}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_103a, mma = mxf4nvf4, inst = 128x128x96, cta_group = 1, tile = 128x128x256, stages = 6, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 148, scale_stages = 6>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c9_span_one(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c9: stages must be at least 2 and fit shared memory, got 1}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_103a, mma = mxf4nvf4, inst = 128x128x96, cta_group = 1, tile = 128x128x768, stages = 1, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 148, scale_stages = 6>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c9_span(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c9: stages must fit the 232448 shared bytes of sm_103a, got 235520 for 6 stages of 32768, 7 of scales of 3072, 1 staging buffers of 16384 and 1024}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_103a, mma = mxf4nvf4, inst = 128x128x96, cta_group = 1, tile = 128x128x768, stages = 6, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 148, scale_stages = 7>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c12_none(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c12: scale_stages must be at least 1 and fit shared memory where k of inst is 96, got 0}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_103a, mma = mxf4nvf4, inst = 128x128x96, cta_group = 1, tile = 128x128x768, stages = 6, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 148>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c12_some(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c12: scale_stages must be 0 where k of inst is 64, got 4}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_103a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 4, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 148, scale_stages = 4>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @schedule_c13(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{schedule_c13: k of inst must be 96 on sm_103a only: an absolute leading address is unproven elsewhere, got sm_107a}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_107a, mma = mxf4nvf4, inst = 128x128x96, cta_group = 1, tile = 128x128x768, stages = 6, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 148, scale_stages = 6>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

// FP4 beside FP8 at K = 32 lies with gaps, which TMA makes of 128 elements at a time.
!a = tensor<8x160xf4E2M1FN>
!b = tensor<8x160xf8E4M3FN>
!s = tensor<8x5xi8, #blockscale.scales<ue8m0, tiled>>
func.func @gemm_c13_gaps(%a: !a, %b: !b, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{gemm_c13: k must be a multiple of 128 where mxf8f6f4 at k = 32 reads a (e2m1) with a gap behind each 16 elements, got 160; blockscale.repitch makes rows of 128 bytes with a zero tail}}
  %d = blockscale.gemm ins(%a scaled %s, %b scaled %s : !a, !s, !b, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf8f6f4, inst = 128x128x32, cta_group = 1, tile = 128x128x128, stages = 3, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<128x24xf8E5M2>
!b = tensor<8x128xf8E4M3FN>
!sa = tensor<24x4xi8, #blockscale.scales<ue8m0, tiled>>
!s = tensor<8x4xi8, #blockscale.scales<ue8m0, tiled>>
func.func @gemm_c13_mn(%a: !a, %sa: !sa, %b: !b, %s: !s, %c: tensor<24x8xf32>) -> tensor<24x8xf32> {
  // expected-error @below {{gemm_c13: row pitch of a must be a multiple of 16 bytes for TMA, got 24 (its rows are 24); the pitch wanted is 32}}
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %s : !a, !sa, !b, !s) outs(%c : tensor<24x8xf32>)
    {major_a = #blockscale.major<mn>, schedule = #blockscale.schedule<arch = sm_100a, mma = mxf8f6f4, inst = 128x128x32, cta_group = 1, tile = 128x128x128, stages = 3, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>} -> tensor<24x8xf32>
  return %d : tensor<24x8xf32>
}
