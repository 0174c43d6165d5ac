// A kernel stays valid when upstream's passes have been over it: with one whole K
// tile and a tail, the loop over whole tiles runs once and is inlined, so that one
// block holds the scale copies of both multiplies.
// REQUIRES: ptxas
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel --canonicalize --cse -o %t.mlir
// RUN: blockscale-opt %t.mlir | FileCheck %s
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_107a %t.mlir -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// RUN: ptxas -arch=sm_107a %t.ptx -o %t.cubin

// CHECK-LABEL: blockscale.kernel @gemm_0
// CHECK: blockscale.warp_role mma
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: blockscale.copy_scales {{.*}} sfa tiles 4
// CHECK: blockscale.copy_scales {{.*}} sfb tiles 4
// CHECK: blockscale.mma {{.*}} steps 2
// CHECK-NOT: scf.yield
// CHECK: blockscale.copy_scales {{.*}} sfa tiles 2
// CHECK: blockscale.copy_scales {{.*}} sfb tiles 2
// CHECK: blockscale.mma {{.*}} steps 1
// CHECK-LABEL: blockscale.kernel @gemm_1
// CHECK-COUNT-2: blockscale.mma
// CHECK-LABEL: blockscale.kernel @gemm_2

// Two instructions for the whole tile and one for the tail of 128; two and one
// for 128 + 32 of FP8, two and one for 128 + 64.
// PTX-LABEL: .entry gemm_0(
// PTX-COUNT-3: tcgen05.mma
// PTX-NOT: tcgen05.mma
// PTX-LABEL: .entry gemm_1(
// PTX-COUNT-3: tcgen05.mma
// PTX-NOT: tcgen05.mma
// PTX-LABEL: .entry gemm_2(
// PTX-COUNT-3: tcgen05.mma
// PTX-NOT: tcgen05.mma

#nvfp4 = #blockscale.schedule<arch = sm_107a, mma = mxf4nvf4, inst = 128x128x128, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 1>
#mxfp8 = #blockscale.schedule<arch = sm_107a, mma = mxf8f6f4, inst = 128x128x64, cta_group = 1, tile = 128x128x128, stages = 2, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 1>

func.func @nvfp4_384(%a: memref<24576xi8>, %s: memref<3072xi8>, %d: memref<128x128xf32>) {
  blockscale.gemm ins(%a scaled %s, %a scaled %s : memref<24576xi8>, memref<3072xi8>, memref<24576xi8>, memref<3072xi8>)
    outs(%d : memref<128x128xf32>)
    {problem = #blockscale.problem<m = 128, n = 128, k = 384, a = e2m1, b = e2m1, scale = ue4m3, block = 16,
       sfa = tiled, sfb = tiled, out = f32>, schedule = #nvfp4}
  return
}
func.func @mxfp8_160(%a: memref<20480xi8>, %s: memref<1024xi8>, %d: memref<128x128xf32>) {
  blockscale.gemm ins(%a scaled %s, %a scaled %s : memref<20480xi8>, memref<1024xi8>, memref<20480xi8>, memref<1024xi8>)
    outs(%d : memref<128x128xf32>)
    {problem = #blockscale.problem<m = 128, n = 128, k = 160, a = e4m3, b = e4m3, scale = ue8m0, block = 32,
       sfa = tiled, sfb = tiled, out = f32>, schedule = #mxfp8}
  return
}
func.func @mxfp8_192(%a: memref<24576xi8>, %s: memref<1024xi8>, %d: memref<128x128xf32>) {
  blockscale.gemm ins(%a scaled %s, %a scaled %s : memref<24576xi8>, memref<1024xi8>, memref<24576xi8>, memref<1024xi8>)
    outs(%d : memref<128x128xf32>)
    {problem = #blockscale.problem<m = 128, n = 128, k = 192, a = e4m3, b = e4m3, scale = ue8m0, block = 32,
       sfa = tiled, sfb = tiled, out = f32>, schedule = #mxfp8}
  return
}
