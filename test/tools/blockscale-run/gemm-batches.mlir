// A batch: scales of each are padded by themselves, and bytes of a tile that belong to no row
// or block may be NaN.

// RUN: %python %S/Inputs/batches.py tiled %t.t nvfp4 3 5 8 96
// RUN: blockscale-run %s --entry=tiled --arch=sm_107a --arg=%t.t.a.npy --arg=%t.t.sa.npy --arg=%t.t.b.npy --arg=%t.t.sb.npy --arg=%t.t.bias.npy --out=%t.t.npy --check --seeds=1 | FileCheck %s
// RUN: %python %S/Inputs/expect.py %t.t.npy 'load("%t.t.d.npy")'
// CHECK-COUNT-3: kernel gemm_0: nvfp4 5x8x96
// CHECK: same bits under earliest, latest, seed 0

// More rows than a tile, B [k, n], and weights that all batches share.
// RUN: %python %S/Inputs/batches.py shared %t.s mxfp8 2 130 16 64
// RUN: blockscale-run %s --entry=shared --arch=sm_100a --arg=%t.s.a.npy --arg=%t.s.sa.npy --arg=%t.s.b.npy --arg=%t.s.sb.npy --out=%t.s.npy --check
// RUN: %python %S/Inputs/expect.py %t.s.npy 'load("%t.s.d.npy")'

!a = tensor<3x5x96xf4E2M1FN>
!sa = tensor<3x5x6xi8, #blockscale.scales<ue4m3, tiled>>
!b = tensor<3x8x96xf4E2M1FN>
!sb = tensor<3x8x6xi8, #blockscale.scales<ue4m3, tiled>>
func.func @tiled(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %bias: tensor<8xf32>) -> tensor<3x5x8xf32> {
  %c = tensor.empty() : tensor<3x5x8xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) bias(%bias : tensor<8xf32>)
    outs(%c : tensor<3x5x8xf32>) -> tensor<3x5x8xf32>
  return %d : tensor<3x5x8xf32>
}

!as = tensor<2x130x64xf8E4M3FN>
!sas = tensor<2x130x2xi8, #blockscale.scales<ue8m0, tiled>>
!bs = tensor<64x16xf8E4M3FN>
!sbs = tensor<16x2xi8, #blockscale.scales<ue8m0, tiled>>
func.func @shared(%a: !as, %sa: !sas, %b: !bs, %sb: !sbs) -> tensor<2x130x16xf32> {
  %c = tensor.empty() : tensor<2x130x16xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !as, !sas, !bs, !sbs)
    outs(%c : tensor<2x130x16xf32>) {major_b = #blockscale.major<mn>} -> tensor<2x130x16xf32>
  return %d : tensor<2x130x16xf32>
}
