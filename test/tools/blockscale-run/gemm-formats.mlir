// Products of other formats and layouts through host code, against the reference of
// --check, and against values known by hand.

// FP6 x FP4, MN-major FP8, C in f16.
// RUN: %python %S/Inputs/make.py %t.a6.npy='np.tile(np.uint8([0x08, 0x82, 0x20]), (5, 32))' %t.b4.npy='np.full((8, 64), 0x22, np.uint8)' %t.s5.npy='np.full((5, 4), 0x80, np.uint8)' %t.s8.npy='np.full((8, 4), 0x7F, np.uint8)'
// RUN: blockscale-run %s --entry=fp6_fp4 --arch=sm_107a --arg=%t.a6.npy --arg=%t.s5.npy --arg=%t.b4.npy --arg=%t.s8.npy --out=%t.d6.npy --check | FileCheck %s --check-prefix=FP6
// RUN: %python %S/Inputs/expect.py %t.d6.npy 'np.full((5, 8), 256, np.float32)'
// FP6: kernel gemm_0: e2m3 x e2m1 scaled ue8m0 by 32 5x8x128, mxf8f6f4 128x128x32, tile 128x128x128

// A [k, m]: column m of A is the power 2^m, so the row of D is, too.
// RUN: %python %S/Inputs/make.py %t.am.npy='np.tile(np.uint8([0x38 + 8 * (m % 4) for m in range(16)]), (64, 1))' %t.b8.npy='np.full((16, 64), 0x3C, np.uint8)' %t.s16.npy='np.full((16, 2), 0x7F, np.uint8)' %t.c.npy='np.arange(256).reshape(16, 16).astype(np.float16)'
// RUN: blockscale-run %s --entry=mn_major --arch=sm_100a --arg=%t.am.npy --arg=%t.s16.npy --arg=%t.b8.npy --arg=%t.s16.npy --arg=%t.c.npy --out=%t.dm.npy --check
// RUN: %python %S/Inputs/expect.py %t.dm.npy '(64 * 2.0 ** (np.arange(16) % 4)[:, None] - 2.0 * np.arange(256).reshape(16, 16)).astype(np.float16)'

// alpha = 0 leaves the bias, also of one element, one block.
// RUN: %python %S/Inputs/make.py %t.a1.npy='np.full((1, 16), 0x22, np.uint8)' %t.s1.npy='np.full((1, 1), 0x7F, np.uint8)' %t.bias.npy='np.float32([3])'
// RUN: blockscale-run %s --entry=alpha_zero --arch=sm_107a --arg=%t.a1.npy --arg=%t.s1.npy --arg=%t.a1.npy --arg=%t.s1.npy --arg=%t.bias.npy --out=%t.d1.npy --check
// RUN: %python %S/Inputs/expect.py %t.d1.npy 'np.float32([[3]])'

// A NaN scale of UE5M3 is its row, and no other.
// RUN: %python %S/Inputs/make.py %t.n.npy='np.full((3, 32), 0x22, np.uint8)' %t.sn.npy='np.uint8([[0x78] * 4, [0x78, 0xFF, 0x78, 0x78], [0x80] * 4])' %t.so.npy='np.full((3, 4), 0x78, np.uint8)'
// RUN: blockscale-run %s --entry=nan_scale --arch=sm_107a --arg=%t.n.npy --arg=%t.sn.npy --arg=%t.n.npy --arg=%t.so.npy --out=%t.dn.npy --check | FileCheck %s --check-prefix=NAN
// RUN: %python %S/Inputs/expect.py %t.dn.npy 'np.repeat(np.float32([64, np.nan, 128]), 3).reshape(3, 3)'
// NAN: 3 NaN as in the reference

func.func @fp6_fp4(%a: tensor<5x128xf6E2M3FN>, %sa: tensor<5x4xf8E8M0FNU>, %b: tensor<8x128xf4E2M1FN>,
                   %sb: tensor<8x4xf8E8M0FNU>) -> tensor<5x8xf32> {
  %c = tensor.empty() : tensor<5x8xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : tensor<5x128xf6E2M3FN>, tensor<5x4xf8E8M0FNU>,
      tensor<8x128xf4E2M1FN>, tensor<8x4xf8E8M0FNU>) outs(%c : tensor<5x8xf32>) -> tensor<5x8xf32>
  return %d : tensor<5x8xf32>
}

func.func @mn_major(%a: tensor<64x16xf8E4M3FN>, %sa: tensor<16x2xf8E8M0FNU>, %b: tensor<16x64xf8E5M2>,
                    %sb: tensor<16x2xf8E8M0FNU>, %old: tensor<16x16xf16>) -> tensor<16x16xf16> {
  %beta = arith.constant -2.0 : f32
  %c = tensor.empty() : tensor<16x16xf16>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : tensor<64x16xf8E4M3FN>, tensor<16x2xf8E8M0FNU>,
      tensor<16x64xf8E5M2>, tensor<16x2xf8E8M0FNU>) beta(%beta : f32) c(%old : tensor<16x16xf16>)
    outs(%c : tensor<16x16xf16>) {major_a = #blockscale.major<mn>} -> tensor<16x16xf16>
  return %d : tensor<16x16xf16>
}

func.func @alpha_zero(%a: tensor<1x32xf4E2M1FN>, %sa: tensor<1x1xf8E8M0FNU>, %b: tensor<1x32xf4E2M1FN>,
                      %sb: tensor<1x1xf8E8M0FNU>, %bias: tensor<1xf32>) -> tensor<1x1xf32> {
  %alpha = arith.constant 0.0 : f32
  %c = tensor.empty() : tensor<1x1xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : tensor<1x32xf4E2M1FN>, tensor<1x1xf8E8M0FNU>,
      tensor<1x32xf4E2M1FN>, tensor<1x1xf8E8M0FNU>) alpha(%alpha : f32) bias(%bias : tensor<1xf32>)
    outs(%c : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %d : tensor<1x1xf32>
}

!s5 = tensor<3x4xi8, #blockscale.scales<ue5m3, linear>>
func.func @nan_scale(%a: tensor<3x64xf4E2M1FN>, %sa: !s5, %b: tensor<3x64xf4E2M1FN>, %sb: !s5) -> tensor<3x3xf32> {
  %c = tensor.empty() : tensor<3x3xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : tensor<3x64xf4E2M1FN>, !s5, tensor<3x64xf4E2M1FN>, !s5)
    outs(%c : tensor<3x3xf32>) -> tensor<3x3xf32>
  return %d : tensor<3x3xf32>
}
