// A product of f16 activations whose k is split over a cluster: parts of two and three blocks,
// and sums that meet in shared memory.
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel -o %t.mlir
// RUN: blockscale-opt %t.mlir | blockscale-opt -o %t2.mlir
// RUN: diff %t.mlir %t2.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: %python %S/Inputs/wgmma_kernel_mutations.py %build/bin/blockscale-opt %t.mlir split | FileCheck %s --check-prefix=MUTANTS
// RUN: blockscale-opt %t.mlir --blockscale-lower-wgmma-kernel-to-machine | FileCheck %s --check-prefix=MACHINE

// A cluster for each of 2 x 2 tiles.
// CHECK-LABEL: @product
// CHECK: blockscale.launch @kernels::@gemm_0 grid [8, 1, 1] block [256, 1, 1] cluster [2, 1, 1] shared 26704

// Each role takes the blocks 5 rank / 2 .. 5 (rank + 1) / 2 - 1.
// CHECK: blockscale.wgmma_kernel @gemm_0
// CHECK: wgmma_role copy_blocks
// CHECK: %[[CTA:.*]] = blockscale.cta_index
// CHECK: %[[TILE:.*]] = arith.divui %[[CTA]]
// CHECK: arith.divui %[[TILE]]
// CHECK: %[[OWN:.*]] = blockscale.cta_index
// CHECK: %[[RANK:.*]] = arith.remui %[[OWN]]
// CHECK: %[[FIRST:.*]] = arith.divui
// CHECK: %[[NEXT:.*]] = arith.addi %[[RANK]]
// CHECK: %[[END:.*]] = arith.divui
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[END]]
// CHECK: ring_fill
// CHECK: wgmma_role multiply
// CHECK: %[[SUMS:.*]] = blockscale.wait_products %{{.*}} pending 0
// CHECK: blockscale.share_sums %[[SUMS]] : vector<8xf32>
// CHECK-NEXT: blockscale.cluster_barrier
// CHECK: blockscale.add_sums to %{{.*}}[%{{.*}}, %{{.*}}] share %{{.*}}
// CHECK-NEXT: blockscale.cluster_barrier
// CHECK-NOT: store_sums

// MUTANTS: 0 bad

// Both ranks' planes are read, rank 0 first.
// MACHINE: blockscale.wgmma_kernel @gemm_0
// MACHINE: wgmma_wait_group 0 of
// MACHINE: nvvm.barrier id = %{{.*}} number_of_threads = %{{.*}}
// MACHINE-COUNT-8: llvm.store {{.*}} : i32, !llvm.ptr<3>
// MACHINE: nvvm.cluster.arrive {aligned}
// MACHINE: nvvm.cluster.wait {aligned}
// MACHINE: nvvm.mapa %{{.*}}, %[[R0:.*]] : !llvm.ptr<3> -> !llvm.ptr<7>
// MACHINE: %[[P0:.*]] = llvm.load {{.*}} : !llvm.ptr<7> -> vector<4xi32>
// MACHINE: nvvm.mapa
// MACHINE: llvm.load {{.*}} : !llvm.ptr<7> -> vector<4xi32>
// MACHINE: arith.addf
// MACHINE: nvvm.cluster.arrive {aligned}
// MACHINE: nvvm.cluster.wait {aligned}

func.func @product(%a: memref<20x1280xf16>, %w: memref<50400xi8>, %d: memref<20x70xf32>) {
  blockscale.gemm ins(%a, %w : memref<20x1280xf16>, memref<50400xi8>) outs(%d : memref<20x70xf32>) {
    block_problem = #blockscale.block_problem<m = 20, n = 70, k = 1280, a = f16, b = q4_K>,
    contract = #blockscale.contract<halves>,
    wgmma_schedule = #blockscale.wgmma_schedule<arch = sm_90a, tile = 16x64x256, groups = 1, block_stages = 2, token_stages = 2, blocks = 1, split = 2>}
  return
}
