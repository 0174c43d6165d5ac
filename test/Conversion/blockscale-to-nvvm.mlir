// RUN: blockscale-opt %s --convert-blockscale-to-nvvm | FileCheck %s

// Descriptors become integers, what they mean stays on the module; a tensor map
// is a 128-byte parameter by value; addresses become pointers at their use.

// CHECK: module @kernels attributes {blockscale.arch = "sm_100a", blockscale.descriptor_notes = {{\[\[}}4611756662049538048, "0x4000404000010000 = smem_desc<leading = 16, stride = 1024, swizzle = b128>"], [136316032, "0x08200480 = idesc<kind = mxf4nvf4,
// CHECK: llvm.mlir.global external @blockscale_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK: llvm.func @k(%[[MAP:.+]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<16 x i64>, nvvm.grid_constant}, %{{.+}}: !llvm.ptr<1> {llvm.align = 16 : i64}, %{{.+}}: f32)
// CHECK: nvvm.elect.sync
// CHECK: nvvm.mbarrier.try_wait {{.*}} : !llvm.ptr<3>
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}}, %[[MAP]], {{.*}} : !llvm.ptr<7>, !llvm.ptr
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK: llvm.and
// CHECK: %[[DESC:.+]] = llvm.or
// CHECK: nvvm.tcgen05.mma.block_scale {{.*}}{blockScale = #nvvm.tcgen05_mma_block_scale<block16>
// CHECK: nvvm.tcgen05.ld {{.*}}{shape = #nvvm.tcgen05_ldst_shape<shape_32x32b>
// CHECK: nvvm.tcgen05.wait <load>
// CHECK: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
// CHECK-NOT: llvm.inline_asm

#problem = #blockscale.problem<m = 128, n = 128, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 1, epilogue = plain_store, staging = 0, ctas = 1>
module @kernels attributes {blockscale.arch = "sm_100a"} {
  blockscale.kernel @k(%map: !blockscale.tensor_map, %buffer: !blockscale.buffer, %alpha: f32)
      attributes {problem = #problem, schedule = #schedule, threads = 192, shared_bytes = 1024} {
    %base = blockscale.shared_base
    %tid = blockscale.tid_x
    %elected = blockscale.elect_sync
    %done = blockscale.mbarrier_try_wait_parity %base, %tid
    blockscale.cp_async_bulk_tensor_load %base, %map[%tid, %tid], %base
    blockscale.fence_proxy_async
    %desc = blockscale.smem_desc %base, #blockscale.smem_desc<leading = 16, stride = 1024, swizzle = b128>
    blockscale.tcgen05_mma %tid, %desc, %desc, #blockscale.idesc<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64, sfa_id = 0, sfb_id = 0>, %tid, %tid, %elected
    %ld:4 = blockscale.tcgen05_ld %tid : i32, i32, i32, i32
    blockscale.tcgen05_wait_ld
    blockscale.st_shared %base, %ld#0, %ld#1, %ld#2, %ld#3
    blockscale.return
  }
}
