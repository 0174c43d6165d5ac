// RUN: blockscale-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{blocks_c4: format of a tensor of blocks must have scales, got f16}}
func.func @blocks_c4(%w: tensor<4x288xi8, #blockscale.blocks<f16>>) { return }

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
func.func @gemm_c25_activations(%a: tensor<8x256xf32>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{gemm_c25: a of a contract of halves must be f16, got 'tensor<8x256xf32>'}}
  %d = blockscale.gemm ins(%a, %w : tensor<8x256xf32>, !w) outs(%c : tensor<8x4xf32>) {contract = #blockscale.contract<halves>} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
#s = #blockscale.wgmma_schedule<arch = sm_90a, tile = 16x64x256, groups = 1, block_stages = 2, token_stages = 2, blocks = 1>
func.func @gemm_c25_contract(%a: tensor<8x256xf16>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{gemm_c25: a product with wgmma_schedule must have a contract of halves or any and a in f16, got no contract and 'tensor<8x256xf16>'}}
  %d = blockscale.gemm ins(%a, %w : tensor<8x256xf16>, !w) outs(%c : tensor<8x4xf32>) {wgmma_schedule = #s} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
#s = #blockscale.wgmma_schedule<arch = sm_90a, tile = 16x64x256, groups = 1, block_stages = 2, token_stages = 2, blocks = 1>
#t = #blockscale.warp_schedule<arch = sm_90a, kernel = narrow, tile = 64x64x256, sums = two_word, threads = 256, blocks = 1>
func.func @gemm_c20_both(%a: tensor<8x256xf16>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{gemm_c20: a product of blocks must have one of warp_schedule and wgmma_schedule, got both}}
  %d = blockscale.gemm ins(%a, %w : tensor<8x256xf16>, !w) outs(%c : tensor<8x4xf32>) {contract = #blockscale.contract<any>, wgmma_schedule = #s, warp_schedule = #t} -> tensor<8x4xf32>
  return
}

// -----

func.func @gemm_c25_scaled(%a: tensor<8x32xf4E2M1FN>, %s: tensor<8x1xf8E8M0FNU>, %c: tensor<8x8xf32>) {
  // expected-error @below {{gemm_c25: only a product of blocks must have a contract, got any}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : tensor<8x32xf4E2M1FN>, tensor<8x1xf8E8M0FNU>, tensor<8x32xf4E2M1FN>, tensor<8x1xf8E8M0FNU>) outs(%c : tensor<8x8xf32>) {contract = #blockscale.contract<any>} -> tensor<8x8xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
#s = #blockscale.wgmma_schedule<arch = sm_100a, tile = 16x64x256, groups = 1, block_stages = 2, token_stages = 2, blocks = 1>
func.func @wgmma_schedule_c1(%a: tensor<8x256xf16>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{wgmma_schedule_c1: chip of a wgmma kernel must be sm_90a, got sm_100a}}
  %d = blockscale.gemm ins(%a, %w : tensor<8x256xf16>, !w) outs(%c : tensor<8x4xf32>) {contract = #blockscale.contract<any>, wgmma_schedule = #s} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
#s = #blockscale.wgmma_schedule<arch = sm_90a, tile = 48x64x256, groups = 1, block_stages = 2, token_stages = 2, blocks = 1>
func.func @wgmma_schedule_c2_tokens(%a: tensor<8x256xf16>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{wgmma_schedule_c2: tile must be 16, 32, 64, 128 or 256 tokens x 64 or 128 rows for each of 1 or 2 groups x 256, with at most 128 sums a thread, got 48x64x256 for 1 groups}}
  %d = blockscale.gemm ins(%a, %w : tensor<8x256xf16>, !w) outs(%c : tensor<8x4xf32>) {contract = #blockscale.contract<any>, wgmma_schedule = #s} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
#s = #blockscale.wgmma_schedule<arch = sm_90a, tile = 256x256x256, groups = 2, block_stages = 2, token_stages = 2, blocks = 1>
func.func @wgmma_schedule_c2_sums(%a: tensor<8x256xf16>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{wgmma_schedule_c2: tile must be 16, 32, 64, 128 or 256 tokens x 64 or 128 rows for each of 1 or 2 groups x 256, with at most 128 sums a thread, got 256x256x256 for 2 groups}}
  %d = blockscale.gemm ins(%a, %w : tensor<8x256xf16>, !w) outs(%c : tensor<8x4xf32>) {contract = #blockscale.contract<any>, wgmma_schedule = #s} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
#s = #blockscale.wgmma_schedule<arch = sm_90a, tile = 16x64x256, groups = 1, block_stages = 1, token_stages = 2, blocks = 1>
func.func @wgmma_schedule_c3(%a: tensor<8x256xf16>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{wgmma_schedule_c3: block_stages must be 2 .. 64, got 1}}
  %d = blockscale.gemm ins(%a, %w : tensor<8x256xf16>, !w) outs(%c : tensor<8x4xf32>) {contract = #blockscale.contract<any>, wgmma_schedule = #s} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
#s = #blockscale.wgmma_schedule<arch = sm_90a, tile = 128x256x256, groups = 2, block_stages = 3, token_stages = 8, blocks = 1>
func.func @wgmma_schedule_c4(%a: tensor<8x256xf16>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{wgmma_schedule_c4: blocks of an SM must be 1 .. 0 of 266440 shared bytes, at most 232448 each, got 1}}
  %d = blockscale.gemm ins(%a, %w : tensor<8x256xf16>, !w) outs(%c : tensor<8x4xf32>) {contract = #blockscale.contract<any>, wgmma_schedule = #s} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
#s = #blockscale.wgmma_schedule<arch = sm_90a, tile = 128x128x256, groups = 2, block_stages = 2, token_stages = 2, blocks = 2>
func.func @wgmma_schedule_c5(%a: tensor<8x256xf16>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{wgmma_schedule_c5: registers of a thread at the launch must be at least 94 for its 64 sums, got 80}}
  %d = blockscale.gemm ins(%a, %w : tensor<8x256xf16>, !w) outs(%c : tensor<8x4xf32>) {contract = #blockscale.contract<any>, wgmma_schedule = #s} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x576xi8, #blockscale.blocks<q4_K>>
#s = #blockscale.wgmma_schedule<arch = sm_90a, tile = 16x64x256, groups = 1, block_stages = 2, token_stages = 2, blocks = 1, split = 3>
func.func @wgmma_schedule_c7(%a: tensor<8x1024xf16>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{wgmma_schedule_c7: split must be 1, 2 or 4, got 3}}
  %d = blockscale.gemm ins(%a, %w : tensor<8x1024xf16>, !w) outs(%c : tensor<8x4xf32>) {contract = #blockscale.contract<any>, wgmma_schedule = #s} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x288xi8, #blockscale.blocks<q4_K>>
#s = #blockscale.wgmma_schedule<arch = sm_90a, tile = 256x128x256, groups = 2, block_stages = 2, token_stages = 2, blocks = 1, split = 2>
func.func @wgmma_schedule_c8(%a: tensor<8x512xf16>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{wgmma_schedule_c8: partial sums must fit the 110592 bytes of the stages, got 135168}}
  %d = blockscale.gemm ins(%a, %w : tensor<8x512xf16>, !w) outs(%c : tensor<8x4xf32>) {contract = #blockscale.contract<any>, wgmma_schedule = #s} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x432xi8, #blockscale.blocks<q4_K>>
#s = #blockscale.wgmma_schedule<arch = sm_90a, tile = 16x64x256, groups = 1, block_stages = 2, token_stages = 2, blocks = 1, split = 4>
func.func @wgmma_schedule_c9(%a: tensor<8x768xf16>, %w: !w, %c: tensor<8x4xf32>) {
  // expected-error @below {{wgmma_schedule_c9: split must be at most the 3 blocks of k, got 4}}
  %d = blockscale.gemm ins(%a, %w : tensor<8x768xf16>, !w) outs(%c : tensor<8x4xf32>) {contract = #blockscale.contract<any>, wgmma_schedule = #s} -> tensor<8x4xf32>
  return
}

// -----

// The least that is right, whole and split.
!w = tensor<4x144xi8, #blockscale.blocks<q4_K>>
#s = #blockscale.wgmma_schedule<arch = sm_90a, tile = 16x64x256, groups = 1, block_stages = 2, token_stages = 2, blocks = 1>
func.func @right(%a: tensor<8x256xf16>, %w: !w, %c: tensor<8x4xf32>) {
  %d = blockscale.gemm ins(%a, %w : tensor<8x256xf16>, !w) outs(%c : tensor<8x4xf32>) {contract = #blockscale.contract<any>, wgmma_schedule = #s} -> tensor<8x4xf32>
  return
}

// -----

!w = tensor<4x288xi8, #blockscale.blocks<q4_K>>
#s = #blockscale.wgmma_schedule<arch = sm_90a, tile = 16x64x256, groups = 1, block_stages = 2, token_stages = 2, blocks = 1, split = 2>
func.func @right_split(%a: tensor<8x512xf16>, %w: !w, %c: tensor<8x4xf32>) {
  %d = blockscale.gemm ins(%a, %w : tensor<8x512xf16>, !w) outs(%c : tensor<8x4xf32>) {contract = #blockscale.contract<any>, wgmma_schedule = #s} -> tensor<8x4xf32>
  return
}
