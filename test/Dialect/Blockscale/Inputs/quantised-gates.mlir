func.func @f(%a: memref<4736xi8>, %sa: memref<512xi8>, %b: memref<16384xi8>, %sb: memref<512xi8>,
             %rows: memref<37xf32>, %g: f32, %d: memref<1184xi8>, %ds: memref<512xi8>) {
  blockscale.gemm ins(%a scaled %sa, %b scaled %sb : memref<4736xi8>, memref<512xi8>, memref<16384xi8>, memref<512xi8>)
    alpha_rows(%rows : memref<37xf32>) global(%g : f32) outs(%d, %ds : memref<1184xi8>, memref<512xi8>)
    {problem = #blockscale.problem<m = 37, n = 128, k = 128, a = e4m3, b = e4m3, scale = ue8m0, block = 32,
       sfa = tiled, sfb = tiled, out = e2m1, quantized = <scale = ue4m3, block = 16, layout = tiled>,
       gate = <function = silu, interleave = 64>>,
     schedule = #blockscale.schedule<arch = sm_107a, mma = mxf8f6f4, inst = 128x128x64, cta_group = 1,
       tile = 128x128x128, stages = 2, accumulators = 2, epilogue = plain_store, staging = 0, ctas = 1,
       quantizer = <remainder>>}
  return
}
