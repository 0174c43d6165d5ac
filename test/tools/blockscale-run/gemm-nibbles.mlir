// D09: element 0 of an FP4 byte is in bits 3:0; the other order only by attribute.
// A is one row of 0x21 and zeros; the rows of B are one-hot at k = 0 and k = 1.

// RUN: %python %S/Inputs/make.py %t.a.npy='np.array([[0x21] + [0] * 31], np.uint8)' %t.b.npy='np.array([[0x02] + [0] * 31, [0x20] + [0] * 31], np.uint8)'
// RUN: blockscale-run %s --entry=low_first --arch=sm_100a --arg=%t.a.npy --arg=%t.b.npy --out=%t.low.npy --check
// RUN: %python %S/Inputs/expect.py %t.low.npy 'np.float32([[0.5, 1.0]])'
// RUN: blockscale-run %s --entry=high_first --arch=sm_107a --arg=%t.a.npy --arg=%t.b.npy --out=%t.high.npy --check
// RUN: %python %S/Inputs/expect.py %t.high.npy 'np.float32([[1.0, 0.5]])'

// D10: 64 FP4 elements are 32 bytes.
// RUN: %python %S/Inputs/make.py %t.bytes.npy='np.zeros((1, 64), np.uint8)'
// RUN: not blockscale-run %s --entry=low_first --arch=sm_100a --arg=%t.bytes.npy --arg=%t.b.npy 2>&1 | FileCheck %s
// CHECK: run: argument 0 of @low_first must be u8 [1, 32], got u8 [1, 64]

func.func @low_first(%a: tensor<1x64xf4E2M1FN>, %b: tensor<2x64xf4E2M1FN>) -> tensor<1x2xf32> {
  %sa = arith.constant dense<0x7F> : tensor<1x2xi8, #blockscale.scales<ue8m0, linear>>
  %sb = arith.constant dense<0x7F> : tensor<2x2xi8, #blockscale.scales<ue8m0, linear>>
  %c = tensor.empty() : tensor<1x2xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb
      : tensor<1x64xf4E2M1FN>, tensor<1x2xi8, #blockscale.scales<ue8m0, linear>>,
        tensor<2x64xf4E2M1FN>, tensor<2x2xi8, #blockscale.scales<ue8m0, linear>>)
    outs(%c : tensor<1x2xf32>) -> tensor<1x2xf32>
  return %d : tensor<1x2xf32>
}

func.func @high_first(%a: tensor<1x64xf4E2M1FN>, %b: tensor<2x64xf4E2M1FN>) -> tensor<1x2xf32> {
  %sa = arith.constant dense<0x7F> : tensor<1x2xi8, #blockscale.scales<ue8m0, linear>>
  %sb = arith.constant dense<0x7F> : tensor<2x2xi8, #blockscale.scales<ue8m0, linear>>
  %c = tensor.empty() : tensor<1x2xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb
      : tensor<1x64xf4E2M1FN>, tensor<1x2xi8, #blockscale.scales<ue8m0, linear>>,
        tensor<2x64xf4E2M1FN>, tensor<2x2xi8, #blockscale.scales<ue8m0, linear>>)
    outs(%c : tensor<1x2xf32>) {nibbles_a = #blockscale.nibbles<high_first>} -> tensor<1x2xf32>
  return %d : tensor<1x2xf32>
}
