// Products for which the model of sm_107a chooses tiles that multiply the same B twice: many rows of few
// columns, ragged, in one product and in a batch whose tiles together are as many.

// RUN: %python %S/Inputs/batches.py rows %t.r nvfp4 1 28900 60 288
// RUN: blockscale-run %s --entry=rows --arch=sm_107a --arg=%t.r.a.npy --arg=%t.r.sa.npy --arg=%t.r.b.npy --arg=%t.r.sb.npy --out=%t.r.npy --check --seeds=1 | FileCheck %s
// RUN: %python %S/Inputs/expect.py %t.r.npy 'load("%t.r.d.npy")'
// CHECK: kernel gemm_0: nvfp4 28900x60x288, mxf4nvf4 256x64x128, tile 512x64x256
// CHECK: same bits under earliest, latest, seed 0

// RUN: %python %S/Inputs/batches.py batch %t.b mxfp8 9 3260 60 160
// RUN: blockscale-run %s --entry=batch --arch=sm_107a --arg=%t.b.a.npy --arg=%t.b.sa.npy --arg=%t.b.b.npy --arg=%t.b.sb.npy --out=%t.b.npy --check --seeds=1 | FileCheck %s --check-prefix=BATCH
// RUN: %python %S/Inputs/expect.py %t.b.npy 'load("%t.b.d.npy")'
// BATCH: kernel gemm_0: mxfp8 9x3260x60x160, mxf8f6f4 256x64x64, tile 512x64x128
// BATCH: same bits under earliest, latest, seed 0

!a = tensor<1x28900x288xf4E2M1FN>
!sa = tensor<1x28900x18xi8, #blockscale.scales<ue4m3, tiled>>
!b = tensor<1x60x288xf4E2M1FN>
!sb = tensor<1x60x18xi8, #blockscale.scales<ue4m3, tiled>>
func.func @rows(%a: !a, %sa: !sa, %b: !b, %sb: !sb) -> tensor<1x28900x60xf32> {
  %c = tensor.empty() : tensor<1x28900x60xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) outs(%c : tensor<1x28900x60xf32>) -> tensor<1x28900x60xf32>
  return %d : tensor<1x28900x60xf32>
}

!ab = tensor<9x3260x160xf8E4M3FN>
!sab = tensor<9x3260x5xi8, #blockscale.scales<ue8m0, tiled>>
!bb = tensor<9x60x160xf8E4M3FN>
!sbb = tensor<9x60x5xi8, #blockscale.scales<ue8m0, tiled>>
func.func @batch(%a: !ab, %sa: !sab, %b: !bb, %sb: !sbb) -> tensor<9x3260x60xf32> {
  %c = tensor.empty() : tensor<9x3260x60xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !ab, !sab, !bb, !sbb) outs(%c : tensor<9x3260x60xf32>) -> tensor<9x3260x60xf32>
  return %d : tensor<9x3260x60xf32>
}
