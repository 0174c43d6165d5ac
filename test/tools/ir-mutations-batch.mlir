// The same as ir-mutations.mlir of a sample of the numbers, in a kernel of a batch whose products
// share B and are ragged.
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel -o %t.3.mlir
// RUN: blockscale-opt %t.3.mlir --blockscale-lower-kernel-to-machine -o %t.4.mlir
// RUN: %python %S/ir_mutations.py %build %t.3.mlir 3 --every=5 | FileCheck %s
// RUN: %python %S/ir_mutations.py %build %t.4.mlir 4 --every=17 | FileCheck %s

// CHECK: {{[1-9][0-9]+}} mutants: {{[1-9][0-9]+}} refused, {{[1-9][0-9]*}} reported, {{[0-9]+}} wrong, {{[0-9]+}} equivalent, 0 bad

func.func @batch(%a: memref<130560xi8>, %sfa: memref<24576xi8>, %b: memref<34816xi8>, %sfb: memref<8192xi8>, %d: memref<3x170x136xf32>) {
  blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb : memref<130560xi8>, memref<24576xi8>, memref<34816xi8>, memref<8192xi8>)
    outs(%d : memref<3x170x136xf32>)
    {problem = #blockscale.problem<m = 170, n = 136, k = 512, a = e2m1, b = e2m1, scale = ue4m3, block = 16,
       sfa = tiled, sfb = tiled, out = f32, batches = 3, shared_b = true>,
     schedule = #blockscale.schedule<arch = sm_107a, mma = mxf4nvf4, inst = 128x128x128, cta_group = 1,
       tile = 128x128x256, stages = 2, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 2>}
  return
}
