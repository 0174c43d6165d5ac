// RUN: blockscale-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{blocks_c1: tensor of blocks must have rank 2 (rows x bytes), got rank 1}}
func.func @blocks_c1(%w: tensor<288xi8, #blockscale.blocks<q4_K>>) { return }

// -----

// expected-error @below {{blocks_c2: elements of a tensor of blocks must be i8, got 'f32'}}
func.func @blocks_c2(%w: tensor<4x288xf32, #blockscale.blocks<q4_K>>) { return }

// -----

// expected-error @below {{blocks_c3: row of q8_1 must be a whole number of 36-byte blocks, got 40 bytes}}
func.func @blocks_c3(%w: tensor<4x40xi8, #blockscale.blocks<q8_1>>) { return }

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
func.func @gemm_c16_format(%a: tensor<8x144xi8, #blockscale.blocks<q4_K>>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{gemm_c16: operands without scales must be q8_1, q8_1_chunk (or tiles of it), f32 or f16 and q4_K (or planes of it), got}}
  %d = blockscale.gemm ins(%a, %w : tensor<8x144xi8, #blockscale.blocks<q4_K>>, !w) outs(%c : tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
!s = tensor<8x16xi8, #blockscale.scales<ue4m3, linear>>
func.func @gemm_c16_scales(%a: tensor<8x256xf4E2M1FN>, %s: !s, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{gemm_c16: both operands must have scales, or neither, got only those of a}}
  %d = blockscale.gemm ins(%a scaled %s, %w : tensor<8x256xf4E2M1FN>, !s, !w) outs(%c : tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
func.func @gemm_c17(%x: tensor<8x224xf32>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{gemm_c17: k must be a multiple of 256, the elements of a q4_K block, got 224}}
  %d = blockscale.gemm ins(%x, %w : tensor<8x224xf32>, !w) outs(%c : tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
func.func @gemm_c4_k(%x: tensor<8x512xf32>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{gemm_c4: b must be n x k with the k = 512 of a, got k = 256}}
  %d = blockscale.gemm ins(%x, %w : tensor<8x512xf32>, !w) outs(%c : tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
func.func @gemm_c4_out(%x: tensor<8x256xf32>, %w: !w, %c: tensor<4x8xf32>) {
  // expected-error @below {{gemm_c4: out must be 8x4 (m x n), got 4x8}}
  %d = blockscale.gemm ins(%x, %w : tensor<8x256xf32>, !w) outs(%c : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
func.func @gemm_c18(%x: tensor<8x256xf32>, %w: !w, %c: tensor<8x4xbf16>) {
  // expected-error @below {{gemm_c18: out of a product of blocks must be f32, got 'bf16'}}
  %d = blockscale.gemm ins(%x, %w : tensor<8x256xf32>, !w) outs(%c : tensor<8x4xbf16>) -> tensor<8x4xbf16>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
func.func @gemm_c19(%x: tensor<8x256xf32>, %w: !w, %c: tensor<8x4xf32>, %bias: tensor<4xf32>) {
  // expected-error @below {{gemm_c19: a product of blocks must have no alpha, bias, beta, c, activation, gate, scales of out, nibble order and major (not built), got bias}}
  %d = blockscale.gemm ins(%x, %w : tensor<8x256xf32>, !w) bias(%bias : tensor<4xf32>) outs(%c : tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
func.func @gemm_c20(%x: tensor<8x256xf32>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{gemm_c20: a product of blocks must have block_problem and warp_schedule, got schedule}}
  %d = blockscale.gemm ins(%x, %w : tensor<8x256xf32>, !w) outs(%c : tensor<8x4xf32>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>} -> tensor<8x4xf32>
  return
}

// -----

!e = tensor<8x256xf4E2M1FN>
!s = tensor<8x16xi8, #blockscale.scales<ue4m3, linear>>
func.func @gemm_c20_scaled(%a: !e, %s: !s, %c: tensor<8x8xf32>) {
  // expected-error @below {{gemm_c20: a product of scaled operands must have problem and schedule, got warp_schedule}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !e, !s, !e, !s) outs(%c : tensor<8x8xf32>)
    {warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, threads = 256, blocks = 2>} -> tensor<8x8xf32>
  return
}

// -----

func.func @gemm_c21(%a: memref<320xi8>, %w: memref<144xi8>, %d: memref<1x1xf32>) {
  // expected-error @below {{gemm_c21: packed b must be 288xi8, got 'memref<144xi8>'}}
  blockscale.gemm ins(%a, %w : memref<320xi8>, memref<144xi8>) outs(%d : memref<1x1xf32>)
    {block_problem = #blockscale.block_problem<m = 1, n = 2, k = 256, a = q8_1_chunk, b = q4_K>}
  return
}

// -----

func.func @gemm_c15(%a: memref<320xi8>, %w: memref<144xi8>, %d: memref<1x1xf32>) {
  // expected-error @below {{gemm_c15: tiles of 64 rows must be at most 65535, got 65536}}
  blockscale.gemm ins(%a, %w : memref<320xi8>, memref<144xi8>) outs(%d : memref<1x1xf32>)
    {block_problem = #blockscale.block_problem<m = 1, n = 4194304, k = 256, a = q8_1_chunk, b = q4_K>}
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
func.func @warp_schedule_c1(%x: tensor<8x256xf32>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{warp_schedule_c1: chip of a product of blocks must be one of sm_80, sm_89, sm_90a, sm_120a, sm_121a, got sm_100a}}
  %d = blockscale.gemm ins(%x, %w : tensor<8x256xf32>, !w) outs(%c : tensor<8x4xf32>)
    {warp_schedule = #blockscale.warp_schedule<arch = sm_100a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, threads = 256, blocks = 2>} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
func.func @warp_schedule_c2(%x: tensor<8x256xf32>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{warp_schedule_c2: tile of raw_nibble must be 64x128 tokens x rows, got 128x64}}
  %d = blockscale.gemm ins(%x, %w : tensor<8x256xf32>, !w) outs(%c : tensor<8x4xf32>)
    {warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 128x64x256, sums = two_word, threads = 256, blocks = 2>} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
func.func @warp_schedule_c3(%x: tensor<8x256xf32>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{warp_schedule_c3: planes must fit the 101376 shared bytes of sm_89, got 196608}}
  %d = blockscale.gemm ins(%x, %w : tensor<8x256xf32>, !w) outs(%c : tensor<8x4xf32>)
    {warp_schedule = #blockscale.warp_schedule<arch = sm_89, kernel = wide, tile = 128x128x512, sums = two_word, threads = 256, blocks = 1>} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
func.func @warp_schedule_c4(%x: tensor<8x256xf32>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{warp_schedule_c4: k of a tile of raw_nibble must be 256, got 128}}
  %d = blockscale.gemm ins(%x, %w : tensor<8x256xf32>, !w) outs(%c : tensor<8x4xf32>)
    {warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x128, sums = two_word, threads = 256, blocks = 2>} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x432xi8, #blockscale.blocks<q4_K>>
func.func @warp_schedule_c15(%x: tensor<8x768xf32>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{warp_schedule_c15: k must be a multiple of a pass's 512, got 768}}
  %d = blockscale.gemm ins(%x, %w : tensor<8x768xf32>, !w) outs(%c : tensor<8x4xf32>)
    {warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = narrow, tile = 64x64x512, sums = two_word, threads = 256, blocks = 2>} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
func.func @warp_schedule_c5(%x: tensor<8x256xf32>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{warp_schedule_c5: blocks of an SM must be 1 .. 2 for 45056 shared bytes and 128 registers a thread, got 3}}
  %d = blockscale.gemm ins(%x, %w : tensor<8x256xf32>, !w) outs(%c : tensor<8x4xf32>)
    {warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, threads = 256, blocks = 3>} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
func.func @warp_schedule_c6(%x: tensor<8x256xf32>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{warp_schedule_c6: threads must be 256, got 128}}
  %d = blockscale.gemm ins(%x, %w : tensor<8x256xf32>, !w) outs(%c : tensor<8x4xf32>)
    {warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, threads = 128, blocks = 2>} -> tensor<8x4xf32>
  return
}

// -----

func.func @quantize_chunks_c1(%x: tensor<8x64xf32>) {
  // expected-error @below {{quantize_chunks_c1: op on tensors must have 1 results and 0 outs, got 0 and 0}}
  blockscale.quantize_chunks %x : tensor<8x64xf32>
  return
}

// -----

func.func @quantize_chunks_c2(%x: tensor<8x40xf32>) {
  // expected-error @below {{quantize_chunks_c2: x must be a static matrix of whole chunks of 32 a row, got}}
  %q = blockscale.quantize_chunks %x : tensor<8x40xf32> -> tensor<8x40xi8, #blockscale.blocks<q8_1_chunk>>
  return
}

// -----

func.func @quantize_chunks_c3(%x: tensor<8x64xf32>) {
  // expected-error @below {{quantize_chunks_c3: result must be 8x80 bytes of q8_1_chunk, got}}
  %q = blockscale.quantize_chunks %x : tensor<8x64xf32> -> tensor<8x40xi8, #blockscale.blocks<q8_1_chunk>>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
func.func @warp_schedule_c7(%x: tensor<8x256xf32>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{warp_schedule_c7: stages of raw_nibble with transposed on sm_80 must be 1 .. 1, got 2}}
  %d = blockscale.gemm ins(%x, %w : tensor<8x256xf32>, !w) outs(%c : tensor<8x4xf32>)
    {warp_schedule = #blockscale.warp_schedule<arch = sm_80, kernel = raw_nibble, tile = 64x128x256, sums = two_word, activations = transposed, stages = 2, threads = 256, blocks = 1>} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
func.func @warp_schedule_c7_range(%x: tensor<8x256xf32>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{warp_schedule_c7: stages must be 1 .. 4, got 5}}
  %d = blockscale.gemm ins(%x, %w : tensor<8x256xf32>, !w) outs(%c : tensor<8x4xf32>)
    {warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, activations = transposed, stages = 5, threads = 256, blocks = 2>} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
func.func @warp_schedule_c8(%x: tensor<8x256xf32>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{warp_schedule_c8: transposed activations must be multiplied by raw_nibble with sums of two_word, got raw_nibble and packed}}
  %d = blockscale.gemm ins(%x, %w : tensor<8x256xf32>, !w) outs(%c : tensor<8x4xf32>)
    {warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = packed, activations = transposed, threads = 256, blocks = 2>} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
func.func @warp_schedule_c9(%x: tensor<8x256xf32>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{warp_schedule_c9: minima must be fold where activations are chunks, got mma}}
  %d = blockscale.gemm ins(%x, %w : tensor<8x256xf32>, !w) outs(%c : tensor<8x4xf32>)
    {warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, minima = mma, threads = 256, blocks = 2>} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
func.func @warp_schedule_c10(%x: tensor<8x256xf32>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{warp_schedule_c10: flight must be 1, 2, 4 or 8 groups, got 3}}
  %d = blockscale.gemm ins(%x, %w : tensor<8x256xf32>, !w) outs(%c : tensor<8x4xf32>)
    {warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, flight = 3, threads = 256, blocks = 2>} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
func.func @warp_schedule_c11(%x: tensor<8x256xf32>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{warp_schedule_c11: weights of a plane must be multiplied by raw_nibble with minima of fold, got narrow and fold}}
  %d = blockscale.gemm ins(%x, %w : tensor<8x256xf32>, !w) outs(%c : tensor<8x4xf32>)
    {warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = narrow, tile = 64x64x256, sums = two_word, weights = plane, threads = 256, blocks = 2>} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
func.func @warp_schedule_c11_minima(%x: tensor<8x256xf32>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{warp_schedule_c11: weights of a plane must be multiplied by raw_nibble with minima of fold, got raw_nibble and mma}}
  %d = blockscale.gemm ins(%x, %w : tensor<8x256xf32>, !w) outs(%c : tensor<8x4xf32>)
    {contract = #blockscale.contract<bounded>, warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, activations = transposed, weights = plane, minima = mma, threads = 256, blocks = 2>} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
func.func @warp_schedule_c12(%x: tensor<8x256xf32>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{warp_schedule_c12: warp_rows must be 16 or 32, got 0}}
  %d = blockscale.gemm ins(%x, %w : tensor<8x256xf32>, !w) outs(%c : tensor<8x4xf32>)
    {warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, warp_rows = 0, threads = 256, blocks = 2>} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
func.func @warp_schedule_c12_ring(%x: tensor<8x256xf32>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{warp_schedule_c12: warp_rows must be 16 without a ring of transposed activations in two stages or more, got 32}}
  %d = blockscale.gemm ins(%x, %w : tensor<8x256xf32>, !w) outs(%c : tensor<8x4xf32>)
    {warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, stages = 2, warp_rows = 32, threads = 128, blocks = 2>} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
func.func @warp_schedule_c6_rows(%x: tensor<8x256xf32>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{warp_schedule_c6: threads must be 128, got 256}}
  %d = blockscale.gemm ins(%x, %w : tensor<8x256xf32>, !w) outs(%c : tensor<8x4xf32>)
    {warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, activations = transposed, stages = 3, warp_rows = 32, threads = 256, blocks = 2>} -> tensor<8x4xf32>
  return
}

// -----

!planes = tensor<1x3072xi8, #blockscale.blocks<q4_K_plane>>
func.func @gemm_c24_planes(%a: tensor<8x320xi8, #blockscale.blocks<q8_1_chunk>>, %w: !planes, %c: tensor<8x4xf32>) {
  // expected-error @below {{gemm_c24: b must be the q4_K that the schedule reads, got q4_K_plane}}
  %d = blockscale.gemm ins(%a, %w : tensor<8x320xi8, #blockscale.blocks<q8_1_chunk>>, !planes) outs(%c : tensor<8x4xf32>)
    {warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, threads = 256, blocks = 2>} -> tensor<8x4xf32>
  return
}

// -----

!planes = tensor<1x3072xi8, #blockscale.blocks<q4_K_plane>>
func.func @gemm_c4_planes(%a: tensor<8x320xi8, #blockscale.blocks<q8_1_chunk>>, %w: !planes, %c: tensor<8x17xf32>) {
  // expected-error @below {{gemm_c4: out must have 1 .. 16 columns, as many as the planes of b, got 8x17}}
  %d = blockscale.gemm ins(%a, %w : tensor<8x320xi8, #blockscale.blocks<q8_1_chunk>>, !planes) outs(%c : tensor<8x17xf32>) -> tensor<8x17xf32>
  return
}

// -----

func.func @decode_scales_c2(%w: tensor<4x288xi8, #blockscale.blocks<q8_1>>) {
  // expected-error @below {{decode_scales_c2: weights must be a static matrix of q4_K, got}}
  %p = blockscale.decode_scales %w : tensor<4x288xi8, #blockscale.blocks<q8_1>> -> tensor<1x3072xi8, #blockscale.blocks<q4_K_plane>>
  return
}

// -----

func.func @decode_scales_c3(%w: tensor<17x144xi8, #blockscale.blocks<q4_K>>) {
  // expected-error @below {{decode_scales_c3: result must be 2x3072 bytes of q4_K_plane, got}}
  %p = blockscale.decode_scales %w : tensor<17x144xi8, #blockscale.blocks<q4_K>> -> tensor<1x3072xi8, #blockscale.blocks<q4_K_plane>>
  return
}

// -----

func.func @decode_scales_c4(%w: memref<2448xi8>, %p: memref<3072xi8>) {
  // expected-error @below {{decode_scales_c4: packed result must be 6144xi8, got 'memref<3072xi8>'}}
  blockscale.decode_scales %w outs(%p : memref<3072xi8>) {matrix = #blockscale.weight_matrix<rows = 17, k = 256>} : memref<2448xi8>
  return
}

// -----

func.func @decode_scales_c1(%w: tensor<17x144xi8, #blockscale.blocks<q4_K>>, %p: memref<6144xi8>) {
  // expected-error @below {{decode_scales_c1: }}
  blockscale.decode_scales %w outs(%p : memref<6144xi8>) : tensor<17x144xi8, #blockscale.blocks<q4_K>>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
func.func @pragma(%x: tensor<8x256xf32>, %w: !w, %c: tensor<8x4xf32>) {
  %d = blockscale.gemm ins(%x, %w : tensor<8x256xf32>, !w) outs(%c : tensor<8x4xf32>)
    // expected-error @below {{unknown keyword 'nounroll'}}
    // expected-error @below {{failed to parse Blockscale_WarpScheduleAttr parameter 'pragma'}}
    {warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, pragma = nounroll, threads = 256, blocks = 2>} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
func.func @gemm_c25(%x: tensor<8x256xf32>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{gemm_c25: minima of a schedule must be fold where the contract is ordered (contract = #blockscale.contract<bounded> allows mma), got mma}}
  %d = blockscale.gemm ins(%x, %w : tensor<8x256xf32>, !w) outs(%c : tensor<8x4xf32>)
    {warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, activations = transposed, minima = mma, threads = 256, blocks = 2>} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
!parts = tensor<1x21504xi8, #blockscale.blocks<q8_1_tile_parts>>
func.func @gemm_c25_parts(%a: !parts, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{gemm_c25: contract must be bounded or any where a is q8_1_tile_parts, got ordered}}
  %d = blockscale.gemm ins(%a, %w : !parts, !w) outs(%c : tensor<8x4xf32>) -> tensor<8x4xf32>
  return
}

// -----

!e = tensor<8x256xf4E2M1FN>
!s = tensor<8x16xi8, #blockscale.scales<ue4m3, linear>>
func.func @gemm_c25_scaled(%a: !e, %s: !s, %c: tensor<8x8xf32>) {
  // expected-error @below {{gemm_c25: only a product of blocks must have a contract, got bounded}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !e, !s, !e, !s) outs(%c : tensor<8x8xf32>)
    {contract = #blockscale.contract<bounded>} -> tensor<8x8xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
!tiles = tensor<1x20480xi8, #blockscale.blocks<q8_1_tile>>
func.func @gemm_c24(%a: !tiles, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{gemm_c24: a must be the q8_1_chunk that the schedule reads, got q8_1_tile}}
  %d = blockscale.gemm ins(%a, %w : !tiles, !w) outs(%c : tensor<8x4xf32>)
    {warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, threads = 256, blocks = 2>} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
!tiles = tensor<2x20480xi8, #blockscale.blocks<q8_1_tile>>
func.func @gemm_c4_tiles(%a: !tiles, %w: !w, %c: tensor<64x4xf32>) {
  // expected-error @below {{gemm_c4: out must have 65 .. 128 rows, as many as the tiles of a, got 64x4}}
  %d = blockscale.gemm ins(%a, %w : !tiles, !w) outs(%c : tensor<64x4xf32>) -> tensor<64x4xf32>
  return
}

// -----

!chunks = tensor<65x640xi8, #blockscale.blocks<q8_1_chunk>>
func.func @transpose_chunks_c1(%a: !chunks) {
  // expected-error @below {{transpose_chunks_c1: op on tensors must have 1 results and 0 outs, got 0 and 0}}
  blockscale.transpose_chunks %a : !chunks
  return
}

// -----

func.func @transpose_chunks_c2(%a: tensor<65x288xi8, #blockscale.blocks<q8_1>>) {
  // expected-error @below {{transpose_chunks_c2: chunks must be a static matrix of q8_1_chunk, got}}
  %t = blockscale.transpose_chunks %a : tensor<65x288xi8, #blockscale.blocks<q8_1>> -> tensor<2x20480xi8, #blockscale.blocks<q8_1_tile>>
  return
}

// -----

func.func @transpose_chunks_c2_blocks(%a: tensor<65x320xi8, #blockscale.blocks<q8_1_chunk>>) {
  // expected-error @below {{transpose_chunks_c2: chunks must be a static matrix of q8_1, got}}
  %t = blockscale.transpose_chunks %a : tensor<65x320xi8, #blockscale.blocks<q8_1_chunk>> -> tensor<65x320xi8, #blockscale.blocks<q8_1_chunk>>
  return
}

// -----

func.func @transpose_chunks_c2_k(%a: tensor<65x160xi8, #blockscale.blocks<q8_1_chunk>>) {
  // expected-error @below {{transpose_chunks_c2: tokens and k must be 1 .. 268435456, k a multiple of 256, got 65 and 128}}
  %t = blockscale.transpose_chunks %a : tensor<65x160xi8, #blockscale.blocks<q8_1_chunk>> -> tensor<2x20480xi8, #blockscale.blocks<q8_1_tile>>
  return
}

// -----

!chunks = tensor<65x640xi8, #blockscale.blocks<q8_1_chunk>>
func.func @transpose_chunks_c3(%a: !chunks) {
  // expected-error @below {{transpose_chunks_c3: result must be 2x40960 bytes of q8_1_tile, got}}
  %t = blockscale.transpose_chunks %a : !chunks -> tensor<1x40960xi8, #blockscale.blocks<q8_1_tile>>
  return
}

// -----

!chunks = tensor<65x640xi8, #blockscale.blocks<q8_1_chunk>>
func.func @transpose_chunks_c3_format(%a: !chunks) {
  // expected-error @below {{transpose_chunks_c3: result must be q8_1_tile, q8_1_tile_parts or q8_1_chunk, got}}
  %t = blockscale.transpose_chunks %a : !chunks -> tensor<65x576xi8, #blockscale.blocks<q8_1>>
  return
}

// -----

func.func @transpose_chunks_c4(%a: memref<41600xi8>, %t: memref<81920xi8>) {
  // expected-error @below {{transpose_chunks_c4: packed result must be 86016xi8, got 'memref<81920xi8>'}}
  blockscale.transpose_chunks %a outs(%t : memref<81920xi8>) {matrix = #blockscale.chunk_matrix<tokens = 65, k = 512, to = q8_1_tile_parts>} : memref<41600xi8>
  return
}
