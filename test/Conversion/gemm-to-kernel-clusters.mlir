// CTA pairs and clusters, in the kernel's plan and in the machine's instructions.
//
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel | FileCheck %s --check-prefixes=KERNEL,PAIR
// RUN: sed 's/ctas = 8, cluster = 2x1/ctas = 8, cluster = 4x1/' %s | blockscale-opt --blockscale-lower-gemm-to-kernel | FileCheck %s --check-prefixes=KERNEL,TALL
// RUN: sed 's/ctas = 8, cluster = 2x1/ctas = 8, cluster = 2x2/' %s | blockscale-opt --blockscale-lower-gemm-to-kernel | FileCheck %s --check-prefixes=KERNEL,SQUARE
// RUN: sed 's/ctas = 8, cluster = 2x1/ctas = 8, cluster = 2x2/' %s | blockscale-opt --blockscale-lower-gemm-to-kernel --blockscale-lower-kernel-to-machine -o %t.mlir
// RUN: FileCheck %s --check-prefix=MACHINE < %t.mlir
// RUN: blockscale-opt %t.mlir -o %t2.mlir
// RUN: blockscale-opt %t.mlir --convert-blockscale-to-nvvm | FileCheck %s --check-prefix=NVVM

// D41: whatever the cluster, a pair's barrier gets the bytes of its two CTAs: A 16384, half of
// B 16384, scales of A 512 and all of B's 1024, from each. All of them are one 1-D grid.
// KERNEL: blockscale.launch {{.*}} grid [8, 1, 1] block [192, 1, 1] cluster
// PAIR-SAME: [2, 1, 1]
// TALL-SAME: [4, 1, 1]
// SQUARE-SAME: [4, 1, 1]
// KERNEL: blockscale.shared_buffer <content = a, {{.*}} bytes = 16384,
// KERNEL: blockscale.shared_buffer <content = b, {{.*}} bytes = 16384,
// KERNEL: blockscale.shared_buffer <content = scales_tiled, {{.*}} bytes = 512,
// KERNEL: blockscale.shared_buffer <content = scales_tiled, {{.*}} bytes = 1024,
// KERNEL: blockscale.pipeline <stages = 2, {{.*}} bytes = 68608, producer = tma, producers = 1, consumer = mma, consumers =
// Products that read what a CTA loads: its own pair's, and those of its row and column.
// PAIR-SAME: 1>
// TALL-SAME: 2>
// SQUARE-SAME: 2>
// The warps of both CTAs free an accumulator.
// KERNEL: blockscale.pipeline <stages = 1, {{.*}} consumer = epilogue, consumers = 8>
// KERNEL: blockscale.warp_role tma
// KERNEL: %[[RANK:.+]] = blockscale.pair_rank
// PAIR: blockscale.tma_load {{.*}} to %0 for
// PAIR: blockscale.tma_load {{.*}} to %1 for
// PAIR: blockscale.tma_load {{.*}} for
// PAIR: blockscale.tma_load {{.*}} share sfb for
// TALL: blockscale.tma_load {{.*}} to %0 for
// TALL: blockscale.tma_load {{.*}} to %1 share b for
// TALL: blockscale.tma_load {{.*}} for
// TALL: blockscale.tma_load {{.*}} share sfb for
// SQUARE: blockscale.tma_load {{.*}} to %0 share a for
// SQUARE: blockscale.tma_load {{.*}} to %1 for
// SQUARE: blockscale.tma_load {{.*}} share sfa for
// SQUARE: blockscale.tma_load {{.*}} share sfb for

// Shares of a row of two CTAs: 64 rows of A, half a scale tile of A; of the column: one
// of the two scale tiles of B.
// MACHINE: blockscale.tensor_map {{.*}} box = [128, 64],
// MACHINE: blockscale.tensor_map {{.*}} box = [128, 128],
// MACHINE: blockscale.tensor_map {{.*}} box = [128, 1, 1],
// MACHINE: blockscale.tensor_map {{.*}} box = [256, 1, 1],
// MACHINE: blockscale.cluster_ctarank
// MACHINE: blockscale.tcgen05_alloc pair
// MACHINE: blockscale.tcgen05_relinquish_alloc_permit pair
// MACHINE: blockscale.barrier_cluster_arrive
// MACHINE-NEXT: blockscale.barrier_cluster_wait
// MACHINE: blockscale.mbarrier_try_wait_parity cluster
// The even CTA's barrier: bit 24 cleared.
// MACHINE: %[[EVEN:.+]] = arith.andi %{{.*}}, %c-16777217_i32
// MACHINE: blockscale.cp_async_bulk_tensor_load pair {{.*}}, %[[EVEN]] multicast
// MACHINE: blockscale.mbarrier_arrive_expect_tx %{{.*}}, 68608
// MACHINE: blockscale.tcgen05_cp pair
// MACHINE: blockscale.tcgen05_mma pair {{.*}} m = 256, n = 256
// MACHINE: blockscale.tcgen05_commit pair {{.*}} multicast
// MACHINE: blockscale.tcgen05_commit pair {{.*}} multicast
// MACHINE: blockscale.mbarrier_arrive cluster
// MACHINE: blockscale.barrier_cluster_arrive
// MACHINE-NEXT: blockscale.barrier_cluster_wait
// MACHINE: blockscale.tcgen05_dealloc pair
// NVVM: llvm.func {{.*}}nvvm.cluster_dim = array<i32: 4, 1, 1>
func.func @pair(%a: memref<131072xi8>, %sfa: memref<4096xi8>, %b: memref<131072xi8>,
                %sfb: memref<4096xi8>, %d: memref<512x512xf32>) {
  blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb
    : memref<131072xi8>, memref<4096xi8>, memref<131072xi8>, memref<4096xi8>) outs(%d : memref<512x512xf32>)
    {problem = #blockscale.problem<m = 512, n = 512, k = 256, a = e4m3, b = e4m3, scale = ue8m0, block = 32,
       sfa = tiled, sfb = tiled, out = f32>,
     schedule = #blockscale.schedule<arch = sm_100a, mma = mxf8f6f4, inst = 256x256x32, cta_group = 2,
       tile = 256x256x128, stages = 2, accumulators = 1, epilogue = tma_store, staging = 2, ctas = 8, cluster = 2x1>}
  return
}
