// RUN: blockscale-opt %s | blockscale-opt | FileCheck %s
// RUN: blockscale-opt %s --mlir-print-op-generic | blockscale-opt | FileCheck %s

#problem = #blockscale.problem<m = 128, n = 128, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_107a, mma = mxf4nvf4, inst = 128x128x128, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 1, epilogue = plain_store, staging = 0, ctas = 1>

// CHECK: module @kernels attributes {blockscale.arch = "sm_107a"}
module @kernels attributes {blockscale.arch = "sm_107a"} {
// CHECK: blockscale.kernel @ops(%[[MAP:.+]]: !blockscale.tensor_map, %[[BUF:.+]]: !blockscale.buffer, %[[ALPHA:.+]]: f32)
blockscale.kernel @ops(%map: !blockscale.tensor_map, %buffer: !blockscale.buffer, %alpha: f32)
    attributes {problem = #problem, schedule = #schedule, threads = 192, shared_bytes = 1024} {
  // CHECK: %[[BASE:.+]] = blockscale.shared_base
  %base = blockscale.shared_base
  // CHECK: %[[TID:.+]] = blockscale.tid_x
  %tid = blockscale.tid_x
  // CHECK: blockscale.laneid
  %lane = blockscale.laneid
  // CHECK: blockscale.ctaid_x
  %cta = blockscale.ctaid_x
  // CHECK: blockscale.nctaid_x
  %ctas = blockscale.nctaid_x
  // CHECK: %[[ELECTED:.+]] = blockscale.elect_sync
  %elected = blockscale.elect_sync
  // CHECK: blockscale.mbarrier_init %[[BASE]], 4
  blockscale.mbarrier_init %base, 4
  // CHECK: blockscale.fence_mbarrier_init
  blockscale.fence_mbarrier_init
  // CHECK: blockscale.bar_sync 0
  blockscale.bar_sync 0
  // CHECK: blockscale.bar_warp_sync
  blockscale.bar_warp_sync
  // CHECK: blockscale.mbarrier_arrive %[[BASE]]
  blockscale.mbarrier_arrive %base
  // CHECK: blockscale.mbarrier_arrive_expect_tx %[[BASE]], 36864
  blockscale.mbarrier_arrive_expect_tx %base, 36864
  // CHECK: blockscale.mbarrier_try_wait_parity %[[BASE]], %[[TID]]
  %done = blockscale.mbarrier_try_wait_parity %base, %tid
  // CHECK: blockscale.fence_proxy_async
  blockscale.fence_proxy_async
  // CHECK: blockscale.prefetch_tensormap %[[MAP]]
  blockscale.prefetch_tensormap %map
  // CHECK: blockscale.cp_async_bulk_tensor_load %[[BASE]], %[[MAP]][%[[TID]], %[[TID]]], %[[BASE]]
  blockscale.cp_async_bulk_tensor_load %base, %map[%tid, %tid], %base
  // CHECK: blockscale.cp_async_bulk_tensor_store %[[MAP]][%[[TID]], %[[TID]]], %[[BASE]]
  blockscale.cp_async_bulk_tensor_store %map[%tid, %tid], %base
  // CHECK: blockscale.cp_async_bulk_commit_group
  blockscale.cp_async_bulk_commit_group
  // CHECK: blockscale.cp_async_bulk_wait_group read 1
  blockscale.cp_async_bulk_wait_group read 1
  // CHECK: blockscale.cp_async_bulk_wait_group 0
  blockscale.cp_async_bulk_wait_group 0
  // CHECK: blockscale.tcgen05_alloc %[[BASE]], 576
  blockscale.tcgen05_alloc %base, 576
  // CHECK: blockscale.tcgen05_relinquish_alloc_permit
  blockscale.tcgen05_relinquish_alloc_permit
  // CHECK: blockscale.tcgen05_fence_before_thread_sync
  blockscale.tcgen05_fence_before_thread_sync
  // CHECK: blockscale.tcgen05_fence_after_thread_sync
  blockscale.tcgen05_fence_after_thread_sync
  // CHECK: %[[TMEM:.+]] = blockscale.ld_shared %[[BASE]]
  %tmem = blockscale.ld_shared %base
  // CHECK: %[[DESC:.+]] = blockscale.smem_desc %[[BASE]], #blockscale.smem_desc<leading = 16, stride = 1024, swizzle = b128>
  %desc = blockscale.smem_desc %base, #blockscale.smem_desc<leading = 16, stride = 1024, swizzle = b128>
  // CHECK: blockscale.desc_advance %[[DESC]], 64
  %next = blockscale.desc_advance %desc, 64
  // CHECK: blockscale.tcgen05_cp %[[TMEM]], %[[DESC]]
  blockscale.tcgen05_cp %tmem, %desc
  // CHECK: blockscale.tcgen05_mma %[[TMEM]], %[[DESC]], %[[DESC]], #blockscale.idesc<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 128, sfa_id = 0, sfb_id = 0>, %[[TMEM]], %[[TMEM]], %[[ELECTED]]
  blockscale.tcgen05_mma %tmem, %desc, %desc, #blockscale.idesc<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 128, sfa_id = 0, sfb_id = 0>, %tmem, %tmem, %elected
  // CHECK: blockscale.tcgen05_commit %[[BASE]]
  blockscale.tcgen05_commit %base
  // CHECK: %[[LD:.+]]:4 = blockscale.tcgen05_ld %[[TMEM]] : i32, i32, i32, i32
  %ld:4 = blockscale.tcgen05_ld %tmem : i32, i32, i32, i32
  // CHECK: blockscale.tcgen05_wait_ld
  blockscale.tcgen05_wait_ld
  // CHECK: blockscale.st_shared %[[BASE]], %[[LD]]#0, %[[LD]]#1, %[[LD]]#2, %[[LD]]#3
  blockscale.st_shared %base, %ld#0, %ld#1, %ld#2, %ld#3
  %offset = arith.extui %tid : i32 to i64
  // CHECK: %[[BIAS:.+]]:2 = blockscale.ld_global %[[BUF]][%{{.+}}] : f32, f32
  %bias:2 = blockscale.ld_global %buffer[%offset] : f32, f32
  // CHECK: %[[FMA:.+]] = blockscale.fma_rn %[[ALPHA]], %[[BIAS]]#0, %[[BIAS]]#1
  %fma = blockscale.fma_rn %alpha, %bias#0, %bias#1
  // CHECK: %[[CVT:.+]] = blockscale.cvt_rn_bf16x2 %[[FMA]], %[[ALPHA]]
  %cvt = blockscale.cvt_rn_bf16x2 %fma, %alpha
  // CHECK: blockscale.st_global %[[BUF]][%{{.+}}], %[[CVT]] : i32
  blockscale.st_global %buffer[%offset], %cvt : i32
  // CHECK: blockscale.tcgen05_dealloc %[[TMEM]], 576
  blockscale.tcgen05_dealloc %tmem, 576
  // CHECK: blockscale.return
  blockscale.return
}
}
