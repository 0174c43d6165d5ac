// The kernel level of a product of blocks: every plane, the barriers of a pass, the
// two terms; and its host code.
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel -o %t.mlir
// RUN: blockscale-opt %t.mlir | blockscale-opt -o %t2.mlir
// RUN: diff %t.mlir %t2.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: %python %S/Inputs/warp_kernel_mutations.py %build/bin/blockscale-opt %t.mlir | FileCheck %s --check-prefix=MUTANTS

// CHECK-LABEL: @two_word
// CHECK: blockscale.launch @kernels::@gemm_0 grid [2, 2, 1] block [256, 1, 1] cluster [1, 1, 1] shared 45056
// CHECK-SAME: !blockscale.buffer, !blockscale.buffer, !blockscale.buffer, i32
// CHECK-LABEL: @packed
// CHECK: blockscale.launch @kernels::@gemm_1 {{.*}} shared 86016
// CHECK-LABEL: @wide
// CHECK: blockscale.launch @kernels::@gemm_2 grid [1, 2, 1] {{.*}} shared 98304
// CHECK-LABEL: @staged
// CHECK: blockscale.launch @kernels::@gemm_3 grid [2, 2, 1] {{.*}} shared 90112
// CHECK-LABEL: @ring
// CHECK: blockscale.launch @kernels::@gemm_4 grid [2, 2, 1] {{.*}} shared 89120
// CHECK-LABEL: @strips
// CHECK: blockscale.launch @kernels::@gemm_5 grid [2, 2, 1] block [128, 1, 1] {{.*}} shared 89120
// CHECK-LABEL: @plane
// CHECK: blockscale.launch @kernels::@gemm_6 grid [2, 2, 1] block [256, 1, 1] {{.*}} shared 45056

// CHECK: blockscale.warp_kernel @gemm_0
// CHECK-SAME: blocks = 1
// CHECK-SAME: shared_bytes = 45056
// CHECK: shared_plane <content = qa8, offset = 0, bytes = 16384, layout = split_phase>
// CHECK: shared_plane <content = sda, offset = 16384, bytes = 4096, layout = octets>
// CHECK: shared_plane <content = qb_raw, offset = 20480, bytes = 16384, layout = xor_row8>
// CHECK: shared_plane <content = sds, offset = 36864, bytes = 8192, layout = linear>
// CHECK: scf.for
// CHECK: fill_weights
// CHECK: fill_activations
// CHECK: planes_filled
// CHECK: %[[PACKED:.*]] = blockscale.load_nibbles %{{.*}} pair 0
// CHECK: %[[LOW:.*]] = blockscale.unpack_nibbles %[[PACKED]] half 0
// CHECK: %[[A:.*]] = blockscale.load_group %{{.*}} chunk 0 group 0
// CHECK: %[[SUMS:.*]] = blockscale.mma_s8 %[[A]], %[[LOW]]
// CHECK: blockscale.rank1_rescale %{{.*}}, %[[SUMS]]
// CHECK: blockscale.unpack_nibbles %[[PACKED]] half 1
// CHECK: planes_read
// CHECK: scf.yield
// CHECK-COUNT-4: store_group

// CHECK: blockscale.warp_kernel @gemm_1
// CHECK: shared_plane <content = sda, offset = 16384, bytes = 2048, layout = octets>
// CHECK: blockscale.warp_kernel @gemm_2
// CHECK: shared_plane <content = qb8, offset = 40960, bytes = 49152, layout = slot48>
// CHECK-NOT: load_nibbles
// CHECK: load_rows

// Two stages: one is filled before the loop, the next while this one is multiplied.
// CHECK: blockscale.warp_kernel @gemm_3
// CHECK: shared_plane <content = sda, offset = 16384, bytes = 4096, layout = octets>
// CHECK: shared_plane <content = sds, offset = 36864, bytes = 8192, layout = linear>
// CHECK: fill_activations
// CHECK: planes_filled
// CHECK: scf.for
// CHECK: fill_weights
// CHECK: fill_activations
// CHECK: load_nibbles
// CHECK: planes_filled
// CHECK-NEXT: scf.yield

// A ring: the first tiles are on their way before the loop, and a turn has no barrier of all.
// CHECK: blockscale.warp_kernel @gemm_4
// CHECK: shared_plane <content = sda, offset = 16384, bytes = 2048, layout = quads>
// CHECK: shared_plane <content = sum_parts, offset = 18432, bytes = 3072, layout = linear>
// CHECK: shared_plane <content = qb_raw, offset = 43008, bytes = 16384, layout = xor_row8>
// CHECK: shared_plane <content = sds, offset = 59392, bytes = 4096, layout = row_quads>
// CHECK: shared_plane <content = minima, offset = 63488, bytes = 2048, layout = linear>
// CHECK: shared_plane <content = dmin, offset = 65536, bytes = 512, layout = row_quads>
// CHECK: tile_ring
// CHECK: fill_activations
// CHECK: fill_weights
// CHECK: scf.for
// CHECK: fill_weights
// CHECK: fill_activations
// CHECK: planes_filled
// CHECK: load_nibbles
// CHECK: load_token_scales %{{.*}} chunk 0 group 0 : vector<2xf32>
// CHECK: load_minima
// CHECK: load_sum_parts %{{.*}} group 0
// CHECK-COUNT-4: mma_minima
// CHECK: planes_read
// CHECK: scf.yield

// Two strips: what is loaded of A serves both.
// CHECK: blockscale.warp_kernel @gemm_5
// CHECK: load_nibbles %{{.*}} pair 0 :
// CHECK: %[[S0:.*]] = blockscale.load_row_scales %{{.*}} chunk 0 :
// CHECK: load_nibbles %{{.*}} pair 0 strip 1 :
// CHECK: %[[S1:.*]] = blockscale.load_row_scales %{{.*}} chunk 0 strip 1 :
// CHECK: %[[G:.*]] = blockscale.load_group %{{.*}} chunk 0 group 0
// CHECK: blockscale.mma_s8 %[[G]]
// CHECK: blockscale.rank1_rescale {{.*}} %[[S0]] :
// CHECK: blockscale.mma_s8 %[[G]]
// CHECK: blockscale.rank1_rescale {{.*}} %[[S1]] :
// CHECK: load_group %{{.*}} chunk 0 group 1
// CHECK: load_minima %{{.*}} strip 1
// CHECK-COUNT-8: mma_minima
// CHECK-COUNT-8: store_group

// No number of the plan can change unseen.
// MUTANTS: {{[1-9][0-9]+}} numbers, {{[1-9][0-9]+}} refused, {{[0-9]+}} named, 0 bad

#problem = #blockscale.block_problem<m = 65, n = 130, k = 512, a = q8_1_chunk, b = q4_K>
func.func @two_word(%a: memref<41600xi8>, %w: memref<37440xi8>, %d: memref<65x130xf32>) {
  blockscale.gemm ins(%a, %w : memref<41600xi8>, memref<37440xi8>) outs(%d : memref<65x130xf32>)
    {block_problem = #problem,
     warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, threads = 256, blocks = 1>}
  return
}
func.func @packed(%a: memref<41600xi8>, %w: memref<37440xi8>, %d: memref<65x130xf32>) {
  blockscale.gemm ins(%a, %w : memref<41600xi8>, memref<37440xi8>) outs(%d : memref<65x130xf32>)
    {block_problem = #problem,
     warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = packed, stages = 2, threads = 256, blocks = 2>}
  return
}
func.func @wide(%a: memref<41600xi8>, %w: memref<37440xi8>, %d: memref<65x130xf32>) {
  blockscale.gemm ins(%a, %w : memref<41600xi8>, memref<37440xi8>) outs(%d : memref<65x130xf32>)
    {block_problem = #problem,
     warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = wide, tile = 128x128x256, sums = two_word, threads = 256, blocks = 1>}
  return
}
func.func @staged(%a: memref<41600xi8>, %w: memref<37440xi8>, %d: memref<65x130xf32>) {
  blockscale.gemm ins(%a, %w : memref<41600xi8>, memref<37440xi8>) outs(%d : memref<65x130xf32>)
    {block_problem = #problem,
     warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, stages = 2, threads = 256, blocks = 2>}
  return
}
func.func @ring(%a: memref<86016xi8>, %w: memref<37440xi8>, %d: memref<65x130xf32>) {
  blockscale.gemm ins(%a, %w : memref<86016xi8>, memref<37440xi8>) outs(%d : memref<65x130xf32>)
    {block_problem = #blockscale.block_problem<m = 65, n = 130, k = 512, a = q8_1_tile_parts, b = q4_K, contract = bounded>,
     warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, activations = transposed, minima = mma, stages = 2, threads = 256, blocks = 2>}
  return
}
func.func @strips(%a: memref<86016xi8>, %w: memref<37440xi8>, %d: memref<65x130xf32>) {
  blockscale.gemm ins(%a, %w : memref<86016xi8>, memref<37440xi8>) outs(%d : memref<65x130xf32>)
    {block_problem = #blockscale.block_problem<m = 65, n = 130, k = 512, a = q8_1_tile_parts, b = q4_K, contract = bounded>,
     warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, activations = transposed, minima = mma, stages = 2, warp_rows = 32, threads = 128, blocks = 2>}
  return
}
func.func @plane(%a: memref<41600xi8>, %w: memref<55296xi8>, %d: memref<65x130xf32>) {
  blockscale.gemm ins(%a, %w : memref<41600xi8>, memref<55296xi8>) outs(%d : memref<65x130xf32>)
    {block_problem = #blockscale.block_problem<m = 65, n = 130, k = 512, a = q8_1_chunk, b = q4_K_plane>,
     warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, weights = plane, threads = 256, blocks = 2>}
  return
}
