// K = 96 in pairs and clusters: both CTAs' bytes on the even one's barriers; operands and scales
// come as shares of a cluster, and all products that read them give a buffer back.
//
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: blockscale-opt %t.mlir --blockscale-lower-kernel-to-machine | FileCheck %s --check-prefix=MACHINE
// RUN: sed 's/consumer = mma, consumers = 3>/consumer = mma, consumers = 1>/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=READERS
// READERS: kernel_c11: consumers must be 3 for role mma, got 1
// RUN: sed 's/ share *sfa / /' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: kernel_c21: box must be loaded as a share of sfa, which 2 CTAs need, got the whole box
// RUN: sed 's/dims = .128, 32, 4., strides = .256, /dims = [128, 16, 4], strides = [512, /' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=PIECES
// PIECES: launch_c6: map of sfa must be {{.*}}dims = [128, 32, 4]

// Shares of A and of B; of three words of scales that two CTAs need, cut in halves, three halves.
// CHECK: blockscale.tensor_map {{.*}}type = u8, {{.*}} box = [128, 64]
// CHECK: blockscale.tensor_map {{.*}}type = u8, {{.*}} box = [128, 64]
// CHECK: blockscale.tensor_map {{.*}}type = u16, dims = [128, 32, 4], strides = [256, 8192], box = [128, 3, 1]
// Four CTAs need B's: two of each 128 columns.
// CHECK: blockscale.tensor_map {{.*}}type = u16, dims = [128, 32, 5], strides = [256, 8192], box = [128, 3, 1]
// CHECK: %[[RING:.+]] = blockscale.pipeline <stages = 4, {{.*}} bytes = 65536, producer = tma, producers = 1, consumer = mma, consumers = 3>
// CHECK: %[[SCALES:.+]] = blockscale.pipeline <stages = 4, {{.*}} bytes = 9216, producer = tma_scales, producers = 1, consumer = mma, consumers = 3>
// CHECK: blockscale.tmem_plan <columns = 512, {{.*}} accumulators = [0, 208], width = 256, sfa = 464, sfa_columns = 12, sfb = 476, sfb_columns = 24>
// CHECK: blockscale.warp_role tma_scales
// CHECK: %[[RANK:.+]] = blockscale.pair_rank
// CHECK: %[[ROWS:.+]] = arith.addi %{{.+}}, %[[RANK]]
// Six halves of words from one buffer to the next.
// CHECK: %[[WORD:.+]] = arith.muli %{{.+}}, %c6
// CHECK: blockscale.tma_load %arg2[%{{.+}}, %[[WORD]], %[[ROWS]]] to %{{.+}} share sfa for %[[SCALES]]
// CHECK: blockscale.tma_load %arg3[%{{.+}}, %[[WORD]], %{{.+}}] to %{{.+}} share sfb for %[[SCALES]]
// CHECK: blockscale.warp_role mma
// CHECK: blockscale.mma_span {{.*}} k 96

// A share of A's is three halves on, of B's also the next 128 columns; a commit goes to all who load for the product.
// MACHINE: %[[MINE:.+]] = arith.muli %{{.+}}, %c768_i32
// MACHINE: %[[TO:.+]] = arith.addi %{{.+}}, %[[MINE]]
// MACHINE: %[[ON:.+]] = arith.muli %{{.+}}, %c3_i32
// MACHINE: %[[AT:.+]] = arith.addi %{{.+}}, %[[ON]]
// MACHINE: blockscale.cp_async_bulk_tensor_load pair %[[TO]], %arg2[%{{.+}}, %[[AT]], %{{.+}}], %{{.+}} multicast
// MACHINE: blockscale.cp_async_bulk_tensor_load pair %{{.+}}, %arg3[{{.+}}], %{{.+}} multicast
func.func @pairs(%a: memref<248000xi8>, %sfa: memref<32768xi8>, %b: memref<297600xi8>, %sfb: memref<40960xi8>, %d: memref<500x600xf32>) {
  blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb : memref<248000xi8>, memref<32768xi8>, memref<297600xi8>, memref<40960xi8>)
    outs(%d : memref<500x600xf32>)
    {problem = #blockscale.problem<m = 500, n = 600, k = 992, a = e2m1, b = e2m1, scale = ue4m3, block = 16,
       sfa = tiled, sfb = tiled, out = f32>,
     schedule = #blockscale.schedule<arch = sm_103a, mma = mxf4nvf4, inst = 256x256x96, cta_group = 2,
       tile = 256x256x768, stages = 4, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 8, cluster = 4x2,
       accumulator_columns = overlapped, scale_stages = 4>}
  return
}
