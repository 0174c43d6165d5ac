// A product of chunks whose k is split over a cluster: parts of two and three blocks, and sums that
// meet in shared memory.
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel -o %t.mlir
// RUN: blockscale-opt %t.mlir | blockscale-opt -o %t2.mlir
// RUN: diff %t.mlir %t2.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: %python %S/Inputs/warp_kernel_mutations.py %build/bin/blockscale-opt %t.mlir split | FileCheck %s --check-prefix=MUTANTS
// RUN: blockscale-opt %t.mlir --blockscale-lower-warp-kernel-to-machine -o %t3.mlir
// RUN: FileCheck %s --check-prefix=MACHINE < %t3.mlir
// RUN: blockscale-opt %t3.mlir --convert-blockscale-to-nvvm | FileCheck %s --check-prefix=NVVM

// A cluster for each of 2 x 2 tiles.
// CHECK: blockscale.launch @kernels::@gemm_0 grid [4, 2, 1] block [256, 1, 1] cluster [2, 1, 1] shared 90112

// A part begins 5 part / 2 blocks into k.
// CHECK: blockscale.warp_kernel @gemm_0
// CHECK: %[[PART:.*]] = blockscale.k_part
// CHECK: %[[BEFORE:.*]] = arith.muli %[[PART]], %{{.*}} : i32
// CHECK: %[[FIRST:.*]] = arith.divui %[[BEFORE]]
// CHECK: %[[END:.*]] = arith.divui
// CHECK: %[[COUNT:.*]] = arith.subi %[[END]], %[[FIRST]]
// CHECK: %[[LOOP:.*]]:{{.*}} = scf.for %{{.*}} = %{{.*}} to %[[COUNT]]
// CHECK: blockscale.share_group %[[LOOP]]#0 group 0 : vector<8xf32>
// CHECK: blockscale.share_group %[[LOOP]]#3 group 3 : vector<8xf32>
// CHECK-NEXT: blockscale.cluster_barrier
// CHECK-NEXT: blockscale.add_parts to %{{.*}}[%{{.*}}, %{{.*}}] of %{{.*}} share %[[PART]]
// CHECK-NEXT: blockscale.cluster_barrier
// CHECK-NOT: store_group

// MUTANTS: 0 bad

// All warps have read the stages; then pairs of sums, and after the barrier both planes, rank 0 first.
// MACHINE: scf.yield
// MACHINE: blockscale.bar_sync 0
// MACHINE: nvvm.cluster.arrive {aligned}
// MACHINE-NEXT: nvvm.cluster.wait {aligned}
// MACHINE: nvvm.mapa
// MACHINE: nvvm.mapa
// MACHINE: arith.addf
// MACHINE: nvvm.cluster.arrive {aligned}

// NVVM: nvvm.cluster_dim = array<i32: 2, 1, 1>

!a = memref<104000xi8>
!w = memref<93600xi8>
func.func @product(%a: !a, %w: !w, %d: memref<65x130xf32>) {
  blockscale.gemm ins(%a, %w : !a, !w) outs(%d : memref<65x130xf32>) {
    contract = #blockscale.contract<bounded>,
    block_problem = #blockscale.block_problem<m = 65, n = 130, k = 1280, a = q8_1_chunk, b = q4_K, contract = bounded>,
    warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, stages = 2, split = 2, threads = 256, blocks = 2>}
  return
}
