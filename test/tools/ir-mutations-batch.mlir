// The same as ir-mutations.mlir of a sample of the numbers, in a kernel of a batch whose products
// share B and are ragged.
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel -o %t.3.mlir
// RUN: blockscale-opt %t.3.mlir --blockscale-lower-kernel-to-machine -o %t.4.mlir
// RUN: %python %S/ir_mutations.py %build %t.3.mlir 3 --every=7 | FileCheck %s
// RUN: %python %S/ir_mutations.py %build %t.4.mlir 4 --every=17 | FileCheck %s

// CHECK: {{[1-9][0-9]+}} mutants: {{[1-9][0-9]+}} refused, {{[1-9][0-9]*}} reported, {{[0-9]+}} wrong, {{[0-9]+}} equivalent, 0 bad

func.func @batch(%a: memref<195840xi8>, %sfa: memref<9216xi8>, %b: memref<49920xi8>, %sfb: memref<3072xi8>, %d: memref<3x170x130xf32>) {
  blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb : memref<195840xi8>, memref<9216xi8>, memref<49920xi8>, memref<3072xi8>)
    outs(%d : memref<3x170x130xf32>)
    {problem = #blockscale.problem<m = 170, n = 130, k = 384, a = e4m3, b = e4m3, scale = ue8m0, block = 32,
       sfa = tiled, sfb = tiled, out = f32, batches = 3, shared_b = true>,
     schedule = #blockscale.schedule<arch = sm_107a, mma = mxf8f6f4, inst = 128x128x64, cta_group = 1,
       tile = 128x128x128, stages = 2, accumulators = 2, epilogue = plain_store, staging = 0, ctas = 2>}
  return
}
