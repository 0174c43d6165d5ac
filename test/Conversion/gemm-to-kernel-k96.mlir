// K = 96: three stages of 128 bytes a K tile, released in its middle; scales through a warp
// and a ring of their own; a tail of 64 + 64 + 96 behind one whole K tile.
//
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: blockscale-opt %t.mlir | diff %t.mlir -
// RUN: blockscale-opt %t.mlir --blockscale-lower-kernel-to-machine | FileCheck %s --check-prefix=MACHINE

// Three words of scales for 128 rows in a box.
// CHECK: blockscale.tensor_map {{.*}} dims = [256, 16, 2], strides = [512, 8192], box = [256, 3, 1]
// CHECK: blockscale.launch {{.*}} block [224, 1, 1]
// CHECK: blockscale.shared_buffer <content = a, offset = 0, bytes = 16384, stages = 6, swizzle = b128>
// CHECK: blockscale.shared_buffer <content = scales_tiled, {{.*}} bytes = 1536, stages = 6
// CHECK: %[[RING:.+]] = blockscale.pipeline <stages = 6, {{.*}} bytes = 32768, producer = tma,
// CHECK: %[[SCALES:.+]] = blockscale.pipeline <stages = 6, {{.*}} bytes = 3072, producer = tma_scales, producers = 1, consumer = mma,
// CHECK: blockscale.tmem_plan <columns = 512, {{.*}} accumulators = [0, 128], width = 128, sfa = 256, sfa_columns = 12, sfb = 268, sfb_columns = 12>

// Four stages of operands, of which the last is half the tail's.
// CHECK: blockscale.warp_role tma warps 5 to 5
// CHECK: %[[STAGES:.+]] = arith.constant 4 : i32
// CHECK: scf.for %{{.+}} = %{{.+}} to %[[STAGES]]
// CHECK: blockscale.pipeline_drain %[[RING]]

// Four groups of a whole tile and the tail's first, three words apart; the tail's second
// stands two words behind its first.
// CHECK: blockscale.warp_role tma_scales warps 6 to 6
// CHECK: %[[GROUPS:.+]] = arith.constant 5 : i32
// CHECK: scf.for %{{.+}} = %{{.+}} to %[[GROUPS]]
// CHECK: arith.constant 14 : i32
// CHECK: blockscale.pipeline_drain %[[SCALES]]

// CHECK: blockscale.warp_role mma
// CHECK: blockscale.consumer_wait %[[SCALES]]
// CHECK-NEXT: blockscale.copy_scales {{.*}} sfa tiles 3
// CHECK-NEXT: blockscale.copy_scales {{.*}} sfb tiles 3
// CHECK-NEXT: blockscale.consumer_release %[[SCALES]]
// CHECK: blockscale.consumer_wait %[[RING]][%[[S0:.+]], %
// CHECK-NEXT: %[[S1:.+]], %{{.+}} = blockscale.pipeline_advance %[[RING]][%[[S0]],
// CHECK: blockscale.mma_span %{{.+}}, %{{.+}}[%[[S0]], %[[S1]]] byte 0 into %{{.+}} k 96 scale 0
// CHECK: blockscale.mma_span %{{.+}}, %{{.+}}[%[[S0]], %[[S1]]] byte 48 into %{{.+}} k 96 scale 6
// CHECK: blockscale.consumer_wait %[[RING]][%[[S1]], %
// CHECK: blockscale.mma_span %{{.+}}, %{{.+}}[%[[S0]], %[[S1]]] byte 96 into %{{.+}} k 96 scale 0
// CHECK: blockscale.consumer_release %[[RING]][%[[S0]]]
// CHECK: %[[S2:.+]], %{{.+}} = blockscale.pipeline_advance %[[RING]][%[[S1]],
// CHECK: blockscale.mma_span %{{.+}}, %{{.+}}[%[[S1]], %[[S2]]] byte 16 into %{{.+}} k 96 scale 6
// CHECK: blockscale.mma_span %{{.+}}, %{{.+}}[%[[S1]], %[[S2]]] byte 64 into %{{.+}} k 96 scale 0
// CHECK: blockscale.consumer_wait %[[RING]][%[[S2]], %
// CHECK: blockscale.mma_span %{{.+}}, %{{.+}}[%[[S1]], %[[S2]]] byte 112 into %{{.+}} k 96 scale 6
// CHECK: blockscale.consumer_release %[[RING]][%[[S1]]]
// CHECK: blockscale.mma_span %{{.+}}, %{{.+}}[%[[S2]], %[[S3:.+]]] byte 32 into %{{.+}} k 96 scale 0
// CHECK: blockscale.mma_span %{{.+}}, %{{.+}}[%[[S2]], %[[S3]]] byte 80 into %{{.+}} k 96 scale 6
// CHECK: blockscale.consumer_release %[[RING]][%[[S2]]]
// CHECK: scf.yield %[[S3]],
// CHECK: blockscale.copy_scales {{.*}} sfa tiles 2
// CHECK: blockscale.mma_span %{{.+}}, %{{.+}}[%[[T0:[^,]+]]] byte 0 into %{{.+}} k 64 scale 0
// CHECK: blockscale.mma_span %{{.+}}, %{{.+}}[%[[T0]]] byte 32 into %{{.+}} k 64 scale 4
// CHECK: blockscale.copy_scales {{.*}} sfa tiles 2
// CHECK: blockscale.mma_span %{{.+}}, %{{.+}}[%[[T0]], %{{.+}}] byte 64 into %{{.+}} k 96 scale 0
// CHECK: blockscale.consumer_release %[[RING]][%[[T0]]]
// CHECK: blockscale.warp_role epilogue

// MACHINE: blockscale.smem_desc %{{.+}} then %{{.+}}, #blockscale.smem_desc<leading = 16, stride = 1024, swizzle = b128>
// MACHINE: k = 96, sfa_id = 0, sfb_id = 0>
// MACHINE: blockscale.desc_advance %{{.+}}, 48
// MACHINE: k = 96, sfa_id = 2, sfb_id = 2>
// MACHINE: blockscale.desc_advance %{{.+}}, 112
// MACHINE: blockscale.smem_desc %{{.+}}, #blockscale.smem_desc<leading = 16, stride = 1024, swizzle = b128>
// MACHINE: k = 64, sfa_id = 0, sfb_id = 0>
func.func @k96(%a: memref<64480xi8>, %sfa: memref<16384xi8>, %b: memref<79360xi8>, %sfb: memref<16384xi8>, %d: memref<130x160xf32>) {
  blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb : memref<64480xi8>, memref<16384xi8>, memref<79360xi8>, memref<16384xi8>)
    outs(%d : memref<130x160xf32>)
    {problem = #blockscale.problem<m = 130, n = 160, k = 992, a = e2m1, b = e2m1, scale = ue4m3, block = 16,
       sfa = tiled, sfb = tiled, out = f32>,
     schedule = #blockscale.schedule<arch = sm_103a, mma = mxf4nvf4, inst = 128x128x96, cta_group = 1,
       tile = 128x128x768, stages = 6, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 1, scale_stages = 6>}
  return
}
