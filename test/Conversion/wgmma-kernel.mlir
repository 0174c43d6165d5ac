// A product of f16 activations on sm_90a: rings, roles and their work; its host code; and
// what becomes of them at the machine level.
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel -o %t.mlir
// RUN: blockscale-opt %t.mlir | blockscale-opt -o %t2.mlir
// RUN: diff %t.mlir %t2.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: %python %S/Inputs/wgmma_kernel_mutations.py %build/bin/blockscale-opt %t.mlir | FileCheck %s --check-prefix=MUTANTS
// RUN: blockscale-opt %t.mlir --blockscale-lower-wgmma-kernel-to-machine | FileCheck %s --check-prefix=MACHINE

// CHECK-LABEL: @product
// CHECK: blockscale.tensor_map %{{.*}}, <type = u16, dims = [512, 20], strides = [1024], box = [64, 16], element_strides = [1, 1], swizzle = b128
// CHECK: blockscale.tensor_map %{{.*}}, <type = u8, dims = [288, 70], strides = [288], box = [144, 64], element_strides = [1, 1], swizzle = none
// CHECK: blockscale.launch @kernels::@gemm_0 grid [4, 1, 1] block [256, 1, 1] cluster [1, 1, 1] shared 26704

// CHECK: blockscale.wgmma_kernel @gemm_0
// CHECK-SAME: shared_bytes = 26704
// CHECK: %[[BLOCKS:.*]] = blockscale.ring <content = blocks, offset = 0, bytes = 9216, stages = 2, full = 26624, free = 26656>
// CHECK: %[[TERMS:.*]] = blockscale.ring <content = terms, offset = 22528, bytes = 2048, stages = 2, full = 26640, free = 26656>
// CHECK: %[[TOKENS:.*]] = blockscale.ring <content = tokens, offset = 18432, bytes = 2048, stages = 2, full = 26672, free = 26688>
// CHECK: wgmma_role copy_tokens
// CHECK: ring_fill %[[TOKENS]]
// CHECK: wgmma_role copy_blocks
// CHECK: ring_fill %[[BLOCKS]]
// CHECK: wgmma_role convert
// CHECK: convert_terms %[[BLOCKS]] to %[[TERMS]]
// CHECK: wgmma_role multiply
// CHECK-NOT: ring_wait %[[BLOCKS]]
// CHECK: ring_wait %[[TERMS]]
// CHECK: %[[W:.*]] = blockscale.load_halves %[[BLOCKS]], %[[TERMS]][%{{.*}}] part 0 run 0 : vector<8xi32>
// CHECK: ring_wait %[[TOKENS]]
// CHECK: %[[SUMS:.*]] = blockscale.multiply_halves %{{.*}}, %[[W]], %[[TOKENS]][%{{.*}}] run 0 : vector<8xf32>
// CHECK: wait_products %[[SUMS]] pending 1
// CHECK: wait_products %{{.*}} pending 0
// CHECK: store_sums

// MUTANTS: 0 bad

// MACHINE: blockscale.wgmma_kernel @gemm_0
// MACHINE-COUNT-10: mbarrier_init
// MACHINE: nvvm.setmaxregister decrease 32
// MACHINE: cp_async_bulk_tensor_load
// MACHINE: nvvm.setmaxregister increase 240
// MACHINE: nvvm.prmt
// MACHINE: llvm.intr.fma({{.*}}) : (vector<2xf16>
// MACHINE: wgmma_fence
// MACHINE-COUNT-2: wgmma_mma_async
// MACHINE: wgmma_commit_group
// MACHINE: wgmma_wait_group 1
// MACHINE: wgmma_wait_group 0 of
// MACHINE-NOT: wgmma_role

func.func @product(%a: memref<20x512xf16>, %w: memref<20160xi8>, %d: memref<20x70xf32>) {
  blockscale.gemm ins(%a, %w : memref<20x512xf16>, memref<20160xi8>) outs(%d : memref<20x70xf32>) {
    block_problem = #blockscale.block_problem<m = 20, n = 70, k = 512, a = f16, b = q4_K>,
    contract = #blockscale.contract<halves>,
    wgmma_schedule = #blockscale.wgmma_schedule<arch = sm_90a, tile = 16x64x256, groups = 1, block_stages = 2, token_stages = 2, blocks = 1>}
  return
}
