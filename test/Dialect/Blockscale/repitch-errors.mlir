// RUN: blockscale-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{pitched_c1: pitched tensor must be a matrix of floats of 4, 6 or 8 bits in rows of whole bytes, static but for rows, got rank 1 of 'f4E2M1FN'}}
func.func private @pitched_c1_rank(tensor<48xf4E2M1FN, #blockscale.pitched<bytes = 32>>)

// -----

// expected-error @below {{pitched_c1: pitched tensor must be a matrix of floats of 4, 6 or 8 bits in rows of whole bytes, static but for rows, got rank 2 of 'i8'}}
func.func private @pitched_c1_bytes(tensor<8x48xi8, #blockscale.pitched<bytes = 64>>)

// -----

// expected-error @below {{pitched_c2: pitch must be at least the 24 bytes of a row, and rows at most 2^40 bytes together, got 16}}
func.func private @pitched_c2(tensor<8x48xf4E2M1FN, #blockscale.pitched<bytes = 16>>)

// -----

func.func @repitch_c1(%a: tensor<8x48xf4E2M1FN>) {
  // expected-error @below {{repitch_c1: op on tensors must have 1 results and 0 outs, got 0 and 0}}
  blockscale.repitch %a : tensor<8x48xf4E2M1FN>
  return
}

// -----

func.func @repitch_c2_shape(%a: tensor<8x48xf4E2M1FN>) {
  // expected-error @below {{repitch_c2: target must be the matrix of the source with another pitch}}
  %p = blockscale.repitch %a : tensor<8x48xf4E2M1FN> -> tensor<8x64xf4E2M1FN, #blockscale.pitched<bytes = 32, zero_tail = true>>
  return
}

// -----

func.func @repitch_c2_same(%a: tensor<8x48xf4E2M1FN>) {
  // expected-error @below {{repitch_c2: target must be the matrix of the source with another pitch}}
  %p = blockscale.repitch %a : tensor<8x48xf4E2M1FN> -> tensor<8x48xf4E2M1FN>
  return
}

// -----

func.func @repitch_c3(%a: tensor<8x48xf4E2M1FN>) {
  // expected-error @below {{repitch_c3: target must say zero_tail, got #blockscale.pitched<bytes = 32>}}
  %p = blockscale.repitch %a : tensor<8x48xf4E2M1FN> -> tensor<8x48xf4E2M1FN, #blockscale.pitched<bytes = 32>>
  return
}

// -----

func.func @repitch_c4_bytes(%a: memref<192xi8>, %p: memref<255xi8>) {
  // expected-error @below {{repitch_c4: packed target must be 256xi8, got 'memref<255xi8>'}}
  blockscale.repitch %a outs(%p : memref<255xi8>) {rows = #blockscale.rows<count = 8, bytes = 24, from = 24, to = 32>} : memref<192xi8>
  return
}

// -----

func.func @repitch_c4_pitch(%a: memref<192xi8>, %p: memref<128xi8>) {
  // expected-error @below {{repitch_c4: rows must fit both pitches, and 2^40 bytes, got #blockscale.rows<count = 8, bytes = 24, from = 24, to = 16>}}
  blockscale.repitch %a outs(%p : memref<128xi8>) {rows = #blockscale.rows<count = 8, bytes = 24, from = 24, to = 16>} : memref<192xi8>
  return
}

// -----

// Padding behind the rows of what is read with gaps must be zero.
!a = tensor<8x160xf4E2M1FN, #blockscale.pitched<bytes = 128>>
!b = tensor<8x160xf8E4M3FN>
!s = tensor<8x5xi8, #blockscale.scales<ue8m0, tiled>>
func.func @gemm_c13_tail(%a: !a, %b: !b, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{gemm_c13: k must be a multiple of 128 where mxf8f6f4 at k = 32 reads a (e2m1) with a gap behind each 16 elements, got 160; blockscale.repitch makes rows of 128 bytes with a zero tail}}
  %d = blockscale.gemm ins(%a scaled %s, %b scaled %s : !a, !s, !b, !s) outs(%c : tensor<8x8xf32>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf8f6f4, inst = 128x128x32, cta_group = 1, tile = 128x128x128, stages = 3, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>} -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

func.func @gemm_c26_problem(%a: memref<128xi8>, %s: memref<512xi8>, %b: memref<256xi8>, %c: memref<8x8xf32>) {
  // expected-error @below {{gemm_c26: pitch of a must be 32 .. 137438953472 bytes, got 16}}
  blockscale.gemm ins(%a scaled %s, %b scaled %s : memref<128xi8>, memref<512xi8>, memref<256xi8>, memref<512xi8>) outs(%c : memref<8x8xf32>)
    {problem = #blockscale.problem<m = 8, n = 8, k = 64, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32, pitch_a = 16>}
  return
}

// -----

!a = tensor<8x64xf4E2M1FN, #blockscale.pitched<bytes = 48>>
!b = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @gemm_c26_check(%a: !a, %b: !b, %s: !s, %d: tensor<8x8xf32>) {
  // expected-error @below {{gemm_c26: check_gemm must have dense rows, got a pitch}}
  blockscale.check_gemm "p" %d of %a scaled %s, %b scaled %s
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 3, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>}
    : tensor<8x8xf32> of !a, !s, !b, !s
  return
}
