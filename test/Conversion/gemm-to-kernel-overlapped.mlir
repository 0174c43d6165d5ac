// Two accumulators of 256 columns that share 48: a ring of one stage whose phase says
// which of them it is, and an epilogue that reads the shared columns first.
//
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: blockscale-opt %t.mlir | diff %t.mlir -
// RUN: blockscale-opt %t.mlir --blockscale-lower-kernel-to-machine | FileCheck %s --check-prefix=MACHINE

// CHECK: %[[RING:.+]] = blockscale.pipeline <stages = 1, {{.*}} producer = mma, producers = 1, consumer = epilogue, consumers = 4>
// CHECK: %[[TMEM:.+]] = blockscale.tmem_plan <columns = 512, {{.*}} accumulators = [0, 208], width = 256, sfa = 464, sfa_columns = 16, sfb = 480, sfb_columns = 32>
// CHECK: blockscale.warp_role mma
// CHECK: blockscale.producer_acquire %[[RING]][%{{.+}}, %[[TURN:.+]]]
// CHECK: blockscale.mma {{.*}} into %[[TMEM]][%[[TURN]]] if

// CHECK: blockscale.warp_role epilogue
// CHECK: %[[FIRST:.+]] = arith.cmpi eq, %[[PHASE:.+]], %c0_i32{{[_0-9]*}} :
// CHECK: scf.if %[[FIRST]]
// CHECK: blockscale.consumer_wait %[[RING]][%{{.+}}, %[[PHASE]]]
// CHECK: blockscale.load_accumulator %[[TMEM]][%c0_i32{{[_0-9]*}}] column 224
// CHECK-NOT: consumer_release
// CHECK: blockscale.store_staging {{.*}} to %{{.+}}[0] byte 64
// CHECK: blockscale.load_accumulator %[[TMEM]][%c0_i32{{[_0-9]*}}] column 192
// CHECK-NEXT: blockscale.consumer_release %[[RING]]
// CHECK: blockscale.store_staging {{.*}} to %{{.+}}[0] byte 0
// CHECK: blockscale.tma_store {{.*}} column 192
// CHECK: blockscale.load_accumulator %[[TMEM]][%c0_i32{{[_0-9]*}}] column 160
// Buffers take turns in the order of the stores, so that the next tile finds the older one.
// CHECK: blockscale.staging_acquire %{{.+}}[1]
// CHECK: blockscale.load_accumulator %[[TMEM]][%c0_i32{{[_0-9]*}}] column 0
// CHECK: } else {
// CHECK: blockscale.load_accumulator %[[TMEM]][%c1_i32{{[_0-9]*}}] column 0
// CHECK: blockscale.load_accumulator %[[TMEM]][%c1_i32{{[_0-9]*}}] column 32
// CHECK-NEXT: blockscale.consumer_release %[[RING]]
// CHECK: blockscale.load_accumulator %[[TMEM]][%c1_i32{{[_0-9]*}}] column 64
// CHECK: blockscale.load_accumulator %[[TMEM]][%c1_i32{{[_0-9]*}}] column 224
// CHECK-NOT: consumer_release
// CHECK: blockscale.staging_drain

// What is read behind the last release is read before the columns are given back.
// MACHINE: blockscale.cp_async_bulk_wait_group read 0
// MACHINE: blockscale.tcgen05_wait_ld
// MACHINE-NEXT: blockscale.tcgen05_fence_before
// MACHINE: blockscale.bar_sync
// MACHINE: blockscale.tcgen05_dealloc
func.func @n256(%a: memref<34176xi8>, %sfa: memref<6144xi8>, %b: memref<61440xi8>,
                %sfb: memref<9216xi8>, %d: memref<178x320xbf16>) {
  blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb
    : memref<34176xi8>, memref<6144xi8>, memref<61440xi8>, memref<9216xi8>) outs(%d : memref<178x320xbf16>)
    {problem = #blockscale.problem<m = 178, n = 320, k = 384, a = e2m1, b = e2m1, scale = ue4m3, block = 16,
       sfa = tiled, sfb = tiled, out = bf16>,
     schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x256x64, cta_group = 1,
       tile = 128x256x256, stages = 2, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 1,
       accumulator_columns = overlapped>}
  return
}
