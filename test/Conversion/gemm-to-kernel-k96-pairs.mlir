// K = 96 in pairs and clusters: both CTAs' bytes on the even one's barriers; A and B come as
// shares of a cluster, scales whole, and only the product of their pair gives them back.
//
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel | FileCheck %s

// Shares of A and of B, boxes of all three words of scales.
// CHECK: blockscale.tensor_map {{.*}}type = u8, {{.*}} box = [128, 64]
// CHECK: blockscale.tensor_map {{.*}}type = u8, {{.*}} box = [128, 64]
// CHECK: blockscale.tensor_map {{.*}}type = u16, {{.*}} box = [256, 3, 1]
// CHECK: blockscale.tensor_map {{.*}}type = u16, {{.*}} box = [256, 3, 2]
// CHECK: %[[RING:.+]] = blockscale.pipeline <stages = 4, {{.*}} bytes = 65536, producer = tma, producers = 1, consumer = mma, consumers = 3>
// CHECK: %[[SCALES:.+]] = blockscale.pipeline <stages = 4, {{.*}} bytes = 9216, producer = tma_scales, producers = 1, consumer = mma, consumers = 1>
// CHECK: blockscale.tmem_plan <columns = 512, {{.*}} accumulators = [0, 208], width = 256, sfa = 464, sfa_columns = 12, sfb = 476, sfb_columns = 24>
// CHECK: blockscale.warp_role tma_scales
// CHECK: %[[RANK:.+]] = blockscale.pair_rank
// CHECK: %[[ROWS:.+]] = arith.addi %{{.+}}, %[[RANK]]
// CHECK: blockscale.tma_load %arg2[%{{.+}}, %{{.+}}, %[[ROWS]]] to %{{.+}} for %[[SCALES]]
// CHECK: blockscale.warp_role mma
// CHECK: blockscale.mma_span {{.*}} k 96
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
