// Bytes and steps of narrow formats, on known cases.
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: blockscale-opt %t.mlir --blockscale-lower-kernel-to-machine | FileCheck %s --check-prefix=MACHINE

// D10: sizes of FP4 are counted in bits and divided once. A tile of 128 x 256 elements
// is 16384 bytes; a stage is 16384 + 16384 + 2048 + 2048 bytes.
// CHECK-LABEL: func.func @d10
// CHECK: tensor_map {{.*}} dims = [192, 128], strides = [192], box = [128, 128]
// D29: scale words are rounded up, instructions counted exactly: MXFP8 with K = 96 has
// three blocks, one word of four scales for each operand and three instructions.
// CHECK-LABEL: func.func @d29

// CHECK-LABEL: blockscale.kernel @gemm_0
// CHECK: blockscale.shared_buffer <content = a, offset = 0, bytes = 16384,
// CHECK: blockscale.shared_buffer <content = b, offset = {{[0-9]+}}, bytes = 16384,
// CHECK: blockscale.shared_buffer <content = scales_tiled, offset = {{[0-9]+}}, bytes = 2048,
// CHECK: blockscale.shared_buffer <content = scales_tiled, offset = {{[0-9]+}}, bytes = 2048,
// CHECK: blockscale.pipeline <{{.*}} bytes = 36864, producer = tma,

// CHECK-LABEL: blockscale.kernel @gemm_1
// CHECK: blockscale.copy_scales {{.*}} sfa tiles 1
// CHECK-NOT: copy_scales {{.*}} sfa
// CHECK: blockscale.copy_scales {{.*}} sfb tiles 1
// CHECK-NOT: copy_scales
// CHECK: blockscale.mma {{.*}} steps 3
// CHECK-NOT: blockscale.mma

// MACHINE-LABEL: blockscale.kernel @gemm_0
// MACHINE: blockscale.mbarrier_arrive_expect_tx %{{.+}}, 36864
// MACHINE-LABEL: blockscale.kernel @gemm_1
// MACHINE-COUNT-2: blockscale.tcgen05_cp
// MACHINE-NOT: blockscale.tcgen05_cp
// MACHINE-COUNT-3: blockscale.tcgen05_mma
// MACHINE-NOT: blockscale.tcgen05_mma

func.func @d10(%a: memref<24576xi8>, %s: memref<3072xi8>, %d: memref<128x128xf32>) {
  blockscale.gemm ins(%a scaled %s, %a scaled %s : memref<24576xi8>, memref<3072xi8>, memref<24576xi8>, memref<3072xi8>)
    outs(%d : memref<128x128xf32>)
    {problem = #blockscale.problem<m = 128, n = 128, k = 384, a = e2m1, b = e2m1, scale = ue4m3, block = 16,
       sfa = tiled, sfb = tiled, out = f32>,
     schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1,
       tile = 128x128x256, stages = 2, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 1>}
  return
}
func.func @d29(%a: memref<12288xi8>, %s: memref<512xi8>, %d: memref<128x128xf32>) {
  blockscale.gemm ins(%a scaled %s, %a scaled %s : memref<12288xi8>, memref<512xi8>, memref<12288xi8>, memref<512xi8>)
    outs(%d : memref<128x128xf32>)
    {problem = #blockscale.problem<m = 128, n = 128, k = 96, a = e4m3, b = e4m3, scale = ue8m0, block = 32,
       sfa = tiled, sfb = tiled, out = f32>,
     schedule = #blockscale.schedule<arch = sm_100a, mma = mxf8f6f4, inst = 128x128x32, cta_group = 1,
       tile = 128x128x128, stages = 2, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 1>}
  return
}
