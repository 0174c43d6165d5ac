// No number of a kernel's dump, at the kernel or the machine level, can change unseen:
// a mutant is refused, reported when it runs, or gives another result. Five rows by two
// columns of tiles in one CTA, two whole K tiles and a tail, alpha and bias.
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel -o %t.3.mlir
// RUN: blockscale-opt %t.3.mlir --blockscale-lower-kernel-to-machine -o %t.4.mlir
// RUN: %python %S/ir_mutations.py %build %t.3.mlir 3 | FileCheck %s
// RUN: %python %S/ir_mutations.py %build %t.4.mlir 4 | FileCheck %s

// CHECK: {{[1-9][0-9][0-9]+}} mutants: {{[1-9][0-9]+}} refused, {{[1-9][0-9]+}} reported, {{[1-9][0-9]*}} wrong, {{[0-9]+}} equivalent, 0 bad

func.func @nvfp4(%a: memref<192000xi8>, %sfa: memref<25600xi8>, %b: memref<51200xi8>, %sfb: memref<10240xi8>,
                 %bias: memref<160xf32>, %d: memref<600x160xbf16>) {
  %alpha = arith.constant 0.75 : f32
  blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb : memref<192000xi8>, memref<25600xi8>, memref<51200xi8>, memref<10240xi8>)
    alpha(%alpha : f32) bias(%bias : memref<160xf32>) outs(%d : memref<600x160xbf16>)
    {problem = #blockscale.problem<m = 600, n = 160, k = 640, a = e2m1, b = e2m1, scale = ue4m3, block = 16,
       sfa = tiled, sfb = tiled, out = bf16>,
     schedule = #blockscale.schedule<arch = sm_107a, mma = mxf4nvf4, inst = 128x128x128, cta_group = 1,
       tile = 128x128x256, stages = 2, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 1>}
  return
}
