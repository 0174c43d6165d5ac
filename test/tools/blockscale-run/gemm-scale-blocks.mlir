// Each block of K gets its own scale, in the order of K.

// D25: MXFP8, K = 256, all ones, scale of block k is 2^k: D = 32 * 255 = 8160 (960
// would show that blocks 4..7 reuse those of 0..3).
// RUN: %python %S/Inputs/make.py %t.a.npy='np.full((128, 256), 0x38, np.uint8)' %t.sa.npy='np.tile(np.arange(0x7F, 0x87, dtype=np.uint8), (128, 1))' %t.sb.npy='np.full((128, 8), 0x7F, np.uint8)'
// RUN: blockscale-run %s --entry=d25 --arch=sm_100a --arg=%t.a.npy --arg=%t.sa.npy --arg=%t.a.npy --arg=%t.sb.npy --out=%t.100.npy --check
// RUN: %python %S/Inputs/expect.py %t.100.npy 'np.full((128, 128), 8160, np.float32)'
// RUN: blockscale-run %s --entry=d25 --arch=sm_107a --arg=%t.a.npy --arg=%t.sa.npy --arg=%t.a.npy --arg=%t.sb.npy --out=%t.107.npy --check
// RUN: %python %S/Inputs/expect.py %t.107.npy 'np.full((128, 128), 8160, np.float32)'

// D29: K = 96 is three blocks with scales 1, 2, 4: D = 32 * 7 = 224; three instructions on sm_100a.
// RUN: %python %S/Inputs/make.py %t.ka.npy='np.full((5, 96), 0x38, np.uint8)' %t.ksa.npy='np.tile(np.uint8([0x7F, 0x80, 0x81]), (5, 1))' %t.ksb.npy='np.full((5, 3), 0x7F, np.uint8)'
// RUN: blockscale-run %s --entry=d29 --arch=sm_100a --arg=%t.ka.npy --arg=%t.ksa.npy --arg=%t.ka.npy --arg=%t.ksb.npy --out=%t.29.npy --check --seeds=2 | FileCheck %s
// RUN: %python %S/Inputs/expect.py %t.29.npy 'np.full((5, 5), 224, np.float32)'
// CHECK: kernel gemm_0: mxfp8 5x5x96, mxf8f6f4 128x128x32, tile 128x128x128
// CHECK-SAME: 3 MMA
// CHECK: same bits under earliest, latest, seed 0, seed 1

!e = tensor<128x256xf8E4M3FN>
!s = tensor<128x8xi8, #blockscale.scales<ue8m0, linear>>
func.func @d25(%a: !e, %sa: !s, %b: !e, %sb: !s) -> tensor<128x128xf32> {
  %c = tensor.empty() : tensor<128x128xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !e, !s, !e, !s)
    outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}

!e29 = tensor<5x96xf8E4M3FN>
!s29 = tensor<5x3xi8, #blockscale.scales<ue8m0, linear>>
func.func @d29(%a: !e29, %sa: !s29, %b: !e29, %sb: !s29) -> tensor<5x5xf32> {
  %c = tensor.empty() : tensor<5x5xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !e29, !s29, !e29, !s29)
    outs(%c : tensor<5x5xf32>) -> tensor<5x5xf32>
  return %d : tensor<5x5xf32>
}
