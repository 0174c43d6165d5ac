// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel --blockscale-lower-kernel-to-machine --cse --split-input-file | FileCheck %s

// CHECK-LABEL: blockscale.kernel @gemm_0
// CHECK-NOT: blockscale.{{shared_buffer|pipeline|tmem_plan|warp_role}}

// Set-up: barriers by one lane, the allocation by its warp, then the block barrier
// that publishes both (ordering: init, barrier; alloc, barrier, load). No fence that one
// CTA can do without.
// CHECK: blockscale.elect_sync
// CHECK: blockscale.mbarrier_init %{{.+}}, 1
// CHECK: blockscale.mbarrier_init %{{.+}}, 4
// CHECK-NOT: fence
// CHECK: blockscale.bar_warp_sync
// CHECK-NOT: fence
// CHECK: blockscale.tcgen05_alloc %[[SLOT:.+]], 512
// CHECK: blockscale.tcgen05_relinquish_alloc_permit
// CHECK-NOT: fence
// CHECK: blockscale.bar_sync 0
// CHECK: %[[TMEM:.+]] = blockscale.ld_shared

// TMA: wait until empty, four loads, then the bytes that complete the stage.
// CHECK: scf.while
// CHECK: %[[DONE:.+]] = blockscale.mbarrier_try_wait_parity
// CHECK: blockscale.cp_async_bulk_tensor_load
// CHECK: blockscale.cp_async_bulk_tensor_load
// CHECK: blockscale.cp_async_bulk_tensor_load
// CHECK: blockscale.cp_async_bulk_tensor_load
// CHECK: blockscale.mbarrier_arrive_expect_tx %{{.+}}, 36864
// At the end, until every stage is empty; no access follows.
// CHECK: blockscale.mbarrier_try_wait_parity relaxed
// CHECK: blockscale.bar_warp_sync

// MMA: scales, then one instruction a K step; the commit frees the stage.
// CHECK: %[[SF:.+]] = blockscale.smem_desc %{{.+}}, #blockscale.smem_desc<leading = 16, stride = 128, swizzle = none>
// CHECK: blockscale.tcgen05_cp %{{.+}}, %[[SF]]
// CHECK: %[[SF1:.+]] = blockscale.desc_advance %[[SF]], 512
// CHECK: blockscale.tcgen05_cp %{{.+}}, %[[SF1]]
// CHECK: %[[A:.+]] = blockscale.smem_desc %{{.+}}, #blockscale.smem_desc<leading = 16, stride = 1024, swizzle = b128>
// CHECK: %[[B:.+]] = blockscale.smem_desc
// CHECK: blockscale.tcgen05_mma %[[D:.+]], %[[A]], %[[B]], #blockscale.idesc<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64, sfa_id = 0, sfb_id = 0>, %[[SFA0:.+]], %[[SFB0:.+]], %[[MORE:.+]]
// CHECK: %[[A1:.+]] = blockscale.desc_advance %[[A]], 32
// CHECK: %[[B1:.+]] = blockscale.desc_advance %[[B]], 32
// CHECK: blockscale.tcgen05_mma %[[D]], %[[A1]], %[[B1]]
// CHECK: blockscale.desc_advance %[[A]], 96
// CHECK: blockscale.tcgen05_commit

// D43. Epilogue: loads, one wait for them with the release, stores between a wait for the
// buffer and a proxy fence.
// CHECK: blockscale.tcgen05_ld
// CHECK-NOT: blockscale.tcgen05_wait_ld
// CHECK: blockscale.cp_async_bulk_wait_group read 1
// CHECK: blockscale.bar_warp_sync
// CHECK: blockscale.cvt_rn_bf16x2
// CHECK: blockscale.st_shared
// CHECK: blockscale.fence_proxy_async
// CHECK-NEXT: blockscale.bar_warp_sync
// CHECK: blockscale.cp_async_bulk_tensor_store
// CHECK-NEXT: blockscale.cp_async_bulk_commit_group
// CHECK: blockscale.tcgen05_wait_ld
// CHECK-NEXT: blockscale.tcgen05_fence_before_thread_sync
// CHECK-NEXT: blockscale.bar_warp_sync
// CHECK: blockscale.mbarrier_arrive
// CHECK: blockscale.cp_async_bulk_wait_group read 0

// Tear-down: nothing in flight, then the warp that allocated gives back.
// CHECK: blockscale.bar_sync 0
// CHECK-NEXT: blockscale.tcgen05_fence_after_thread_sync
// CHECK: blockscale.tcgen05_dealloc %[[TMEM]], 512
func.func @nvfp4(%a: memref<34176xi8>, %sfa: memref<6144xi8>, %b: memref<294912xi8>,
                 %sfb: memref<36864xi8>, %d: memref<178x1536xbf16>) {
  blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb
    : memref<34176xi8>, memref<6144xi8>, memref<294912xi8>, memref<36864xi8>) outs(%d : memref<178x1536xbf16>)
    {problem = #blockscale.problem<m = 178, n = 1536, k = 384, a = e2m1, b = e2m1, scale = ue4m3, block = 16,
       sfa = tiled, sfb = tiled, out = bf16>,
     schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1,
       tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>}
  return
}

// -----

// Scale ids: two scales a step of MXFP8 at K = 64, so bytes 0 and 2 of one word.
// CHECK-LABEL: blockscale.kernel @gemm_0
// CHECK: blockscale.tcgen05_mma {{.*}} #blockscale.idesc<kind = mxf8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 32, m = 128, n = 128, k = 64, sfa_id = 0, sfb_id = 0>, %[[SFA:.+]], %[[SFB:.+]], %
// CHECK: blockscale.desc_advance %{{.+}}, 64
// CHECK: blockscale.tcgen05_mma {{.*}} sfa_id = 2, sfb_id = 2>, %[[SFA]], %[[SFB]], %
// Ragged bf16 rows: two bytes at a time, inside the matrix only.
// CHECK: blockscale.ld_global
// CHECK: blockscale.fma_rn
// CHECK: blockscale.st_global {{.*}} : i16
func.func @mxfp8(%a: memref<672xi8>, %sfa: memref<512xi8>, %b: memref<480xi8>, %sfb: memref<512xi8>,
                 %alpha: memref<f32>, %bias: memref<5xf32>, %d: memref<7x5xbf16>) {
  blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb
    : memref<672xi8>, memref<512xi8>, memref<480xi8>, memref<512xi8>) alpha(%alpha : memref<f32>)
    bias(%bias : memref<5xf32>) outs(%d : memref<7x5xbf16>)
    {problem = #blockscale.problem<m = 7, n = 5, k = 96, a = e4m3, b = e4m3, scale = ue8m0, block = 32,
       sfa = tiled, sfb = tiled, out = bf16>,
     schedule = #blockscale.schedule<arch = sm_107a, mma = mxf8f6f4, inst = 128x128x64, cta_group = 1,
       tile = 128x128x128, stages = 9, accumulators = 2, epilogue = plain_store, staging = 0, ctas = 148>}
  return
}
