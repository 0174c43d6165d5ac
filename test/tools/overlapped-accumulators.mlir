// Overlapped accumulators: the next tile's products start while the epilogue still reads
// what it does not share. The dump of the machine level gives the bits of one accumulator;
// with a release ahead of the last shared columns it is reported, for the columns' sake.
//
// RUN: %python %S/overlapped_accumulators.py %build %s | FileCheck %s
// CHECK: the bits of one accumulator
// CHECK: released early: {{.*}}hazard: {{.*}}tcgen05.mma{{.*}}

func.func @n256(%a: memref<38400xi8>, %sfa: memref<6144xi8>, %b: memref<65536xi8>,
                %sfb: memref<8192xi8>, %d: memref<300x512xbf16>) {
  blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb
    : memref<38400xi8>, memref<6144xi8>, memref<65536xi8>, memref<8192xi8>) outs(%d : memref<300x512xbf16>)
    {problem = #blockscale.problem<m = 300, n = 512, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16,
       sfa = tiled, sfb = tiled, out = bf16>,
     schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x256x64, cta_group = 1,
       tile = 128x256x256, stages = 2, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 1,
       accumulator_columns = overlapped>}
  return
}
