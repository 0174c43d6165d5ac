// Levels 3 to 5 of a product of blocks: planes become addresses, fragments scalars.
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel --blockscale-lower-warp-kernel-to-machine -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: blockscale-opt %t.mlir --convert-blockscale-to-nvvm | FileCheck %s --check-prefix=NVVM
// What is at the machine level already stays as it is.
// RUN: blockscale-opt %t.mlir --blockscale-lower-warp-kernel-to-machine | diff - %t.mlir

// CHECK: blockscale.warp_kernel @gemm_0
// CHECK-NOT: shared_plane
// Addresses of A, nibbles and headers are carried by the loop, and 32 accumulators.
// CHECK: scf.for {{.*}} -> ({{(f32, )+}}i64, i64, i64) : i32 {
// CHECK-COUNT-4: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: blockscale.bar_sync 0
// Sums start at the bias that makes them floats.
// CHECK: nvvm.mma.sync
// CHECK-SAME: shape = #nvvm.shape<m = 16, n = 8, k = 32>
// CHECK: llvm.extractvalue
// No f16 from here on.
// CHECK-NOT: f16
// CHECK: %[[F:.*]] = arith.bitcast %{{.*}} : i32 to f32
// CHECK: arith.subf %[[F]], %{{.*}} : f32
// CHECK: arith.mulf
// CHECK: blockscale.fma_rn
// CHECK: blockscale.fma_rn
// CHECK: blockscale.bar_sync 0
// CHECK: scf.yield

// NVVM: llvm.func @gemm_0(%{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64}, %{{.*}}, %{{.*}}, %{{.*}}: i32)
// NVVM-SAME: nvvm.kernel
// NVVM-SAME: nvvm.minctasm = 2 : i32
// NVVM-SAME: nvvm.reqntid = array<i32: 256, 1, 1>
// NVVM-COUNT-64: nvvm.mma.sync
// NVVM-NOT: nvvm.mma.sync
// NVVM-NOT: blockscale.{{[a-z_]+}} %

func.func @f(%a: memref<41600xi8>, %w: memref<37440xi8>, %d: memref<65x130xf32>) {
  blockscale.gemm ins(%a, %w : memref<41600xi8>, memref<37440xi8>) outs(%d : memref<65x130xf32>)
    {block_problem = #blockscale.block_problem<m = 65, n = 130, k = 512, a = q8_1_chunk, b = q4_K>,
     warp_schedule = #blockscale.warp_schedule<arch = sm_80, kernel = raw_nibble, tile = 64x128x256, sums = two_word, threads = 256, blocks = 2>}
  return
}
