// D14: a constant E8M0 scale of 0xFF stays NaN, with and without canonicalisation:
// row 3 of D is NaN, the others are right.

// RUN: %python %S/Inputs/make.py %t.a.npy='np.full((4, 64), 0x38, np.uint8)' %t.b.npy='np.full((8, 64), 0x38, np.uint8)'
// RUN: blockscale-run %s --entry=nan_scale --arch=sm_100a --arg=%t.a.npy --arg=%t.b.npy --out=%t.d.npy --check | FileCheck %s
// RUN: %python %S/Inputs/expect.py %t.d.npy 'np.repeat(np.float32([64, 64, 64, np.nan]), 8).reshape(4, 8)'
// RUN: blockscale-opt --canonicalize %s -o %t.mlir
// RUN: blockscale-run %t.mlir --entry=nan_scale --arch=sm_100a --arg=%t.a.npy --arg=%t.b.npy --out=%t.c.npy --check
// RUN: cmp %t.c.npy %t.d.npy

// CHECK: 8 NaN as in the reference

func.func @nan_scale(%a: tensor<4x64xf8E4M3FN>, %b: tensor<8x64xf8E4M3FN>) -> tensor<4x8xf32> {
  %sa = arith.constant dense<"0x7F7F7F7F7F7FFF7F"> : tensor<4x2xf8E8M0FNU>
  %sb = arith.constant dense<1.0> : tensor<8x2xf8E8M0FNU>
  %c = tensor.empty() : tensor<4x8xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb
      : tensor<4x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>, tensor<8x64xf8E4M3FN>, tensor<8x2xf8E8M0FNU>)
    outs(%c : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}
