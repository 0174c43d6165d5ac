// The same as ir-mutations.mlir of a sample of the numbers, in a kernel of K = 96 with two
// whole K tiles, a tail of 64 + 96, and overlapped accumulators.
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel -o %t.3.mlir
// RUN: blockscale-opt %t.3.mlir --blockscale-lower-kernel-to-machine -o %t.4.mlir
// RUN: %python %S/ir_mutations.py %build %t.3.mlir 3 --every=13 | FileCheck %s
// RUN: %python %S/ir_mutations.py %build %t.4.mlir 4 --every=31 | FileCheck %s

// CHECK: {{[1-9][0-9]+}} mutants: {{[1-9][0-9]+}} refused, {{[1-9][0-9]*}} reported, {{[0-9]+}} wrong, {{[0-9]+}} equivalent, 0 bad

func.func @k96(%a: memref<110240xi8>, %sfa: memref<27648xi8>, %b: memref<254400xi8>, %sfb: memref<41472xi8>, %d: memref<130x300xf32>) {
  blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb : memref<110240xi8>, memref<27648xi8>, memref<254400xi8>, memref<41472xi8>)
    outs(%d : memref<130x300xf32>)
    {problem = #blockscale.problem<m = 130, n = 300, k = 1696, a = e2m1, b = e2m1, scale = ue4m3, block = 16,
       sfa = tiled, sfb = tiled, out = f32>,
     schedule = #blockscale.schedule<arch = sm_103a, mma = mxf4nvf4, inst = 128x256x96, cta_group = 1,
       tile = 128x256x768, stages = 2, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 1,
       accumulator_columns = overlapped, scale_stages = 2>}
  return
}
