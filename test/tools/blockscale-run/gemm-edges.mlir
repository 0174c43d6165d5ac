// The smallest and oddest products, executed.

// M = N = 1 and one block: 16 elements of 1.0 with scales 2 and 1/2.
// RUN: %python %S/Inputs/make.py %t.1.npy='np.full((1, 8), 0x22, np.uint8)' %t.two.npy='np.uint8([[0x40]])' %t.half.npy='np.uint8([[0x30]])'
// RUN: blockscale-run %s --entry=one --arch=sm_100a --arg=%t.1.npy --arg=%t.two.npy --arg=%t.1.npy --arg=%t.half.npy --out=%t.d1.npy --check --seeds=1
// RUN: %python %S/Inputs/expect.py %t.d1.npy 'np.float32([[16]])'

// N = 8 of f16 is one chunk of a TMA store; alpha = 0 leaves the bias. A NaN scale stays NaN under it,
// in its row and in no other.
// RUN: %python %S/Inputs/make.py %t.a.npy='np.full((3, 32), 0x22, np.uint8)' %t.b.npy='np.full((8, 32), 0x22, np.uint8)' %t.sa.npy='np.uint8([[0x38] * 4, [0x38, 0x38, 0x7F, 0x38], [0x38] * 4])' %t.sb.npy='np.full((8, 4), 0x38, np.uint8)' %t.c.npy='np.arange(8).astype(np.float32)'
// RUN: blockscale-run %s --entry=nothing_of_it --arch=sm_107a --arg=%t.a.npy --arg=%t.sa.npy --arg=%t.b.npy --arg=%t.sb.npy --arg=%t.c.npy --out=%t.d8.npy --check | FileCheck %s --check-prefix=NAN
// RUN: %python %S/Inputs/expect.py %t.d8.npy 'np.where(np.arange(3)[:, None] == 1, np.float16(np.nan), np.arange(8).astype(np.float16))'
// NAN: 8 NaN as in the reference

// Rows a mebibyte apart.
// RUN: %python %S/Inputs/make.py %t.far.npy='np.repeat(np.uint8([[0x22], [0x44], [0x66]]), 1 << 20, axis=1)' %t.s3.npy='np.full((3, 4), 0x38, np.uint8)'
// RUN: blockscale-run %s --entry=far --arch=sm_100a --arg=%t.far.npy --arg=%t.s3.npy --arg=%t.b.npy --arg=%t.sb.npy --out=%t.df.npy --check
// RUN: %python %S/Inputs/expect.py %t.df.npy 'np.repeat(np.float32([64, 128, 256]), 8).reshape(3, 8)'

// An empty problem: no rows or no columns are no launch and a result without elements; a sum over nothing is refused.
// RUN: %python %S/Inputs/make.py %t.a0.npy='np.zeros((0, 32), np.uint8)' %t.s0.npy='np.zeros((0, 4), np.uint8)'
// RUN: blockscale-run %s --entry=no_rows --arch=sm_100a --arg=%t.a0.npy --arg=%t.s0.npy --arg=%t.b.npy --arg=%t.sb.npy --out=%t.e0.npy --check | FileCheck %s --check-prefix=EMPTY
// RUN: %python %S/Inputs/expect.py %t.e0.npy 'np.zeros((0, 8), np.float32)'
// RUN: blockscale-run %s --entry=no_columns --arch=sm_100a --arg=%t.b.npy --arg=%t.sb.npy --arg=%t.a0.npy --arg=%t.s0.npy --out=%t.e1.npy --check | FileCheck %s --check-prefix=EMPTY
// RUN: %python %S/Inputs/expect.py %t.e1.npy 'np.zeros((8, 0), np.float32)'
// EMPTY-NOT: kernel gemm
// EMPTY: --check compared nothing
// EMPTY-NOT: kernel gemm
// RUN: sed '/^func.func @no_rows/,/^}/!{/^!/!d}' %s > %t.none.mlir
// RUN: not blockscale-translate --mlir-to-ptx --arch=sm_100a %t.none.mlir -o %t.ptx 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: translate_c3: the input must hold a product or a kernel, got none
// RUN: sed '/^!e/s/1x16/1x0/; /^!f/s/1x16/1x0/; /^!s /s/1x1/1x0/' %s > %t.nosum.mlir
// RUN: not blockscale-run %t.nosum.mlir --entry=one --arch=sm_100a 2>&1 | FileCheck %s --check-prefix=NOSUM
// NOSUM: gemm_c5: k must be 1 .. 268435456, m and n 0 .. 268435456, got m = 1, n = 1, k = 0

!e = tensor<1x16xf4E2M1FN>
!f = tensor<1x16xf4E2M1FN>
!s = tensor<1x1xf8E4M3FN>
func.func @one(%a: !e, %sa: !s, %b: !f, %sb: !s) -> tensor<1x1xf32> {
  %c = tensor.empty() : tensor<1x1xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !e, !s, !f, !s) outs(%c : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %d : tensor<1x1xf32>
}

!a = tensor<3x64xf4E2M1FN>
!sa = tensor<3x4xf8E4M3FN>
!b = tensor<8x64xf4E2M1FN>
!sb = tensor<8x4xf8E4M3FN>
func.func @nothing_of_it(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %bias: tensor<8xf32>) -> tensor<3x8xf16> {
  %alpha = arith.constant 0.0 : f32
  %c = tensor.empty() : tensor<3x8xf16>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) alpha(%alpha : f32) bias(%bias : tensor<8xf32>)
    outs(%c : tensor<3x8xf16>) -> tensor<3x8xf16>
  return %d : tensor<3x8xf16>
}

!far = tensor<3x64xf4E2M1FN, #blockscale.pitched<bytes = 1048576>>
func.func @far(%a: !far, %sa: !sa, %b: !b, %sb: !sb) -> tensor<3x8xf32> {
  %c = tensor.empty() : tensor<3x8xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !far, !sa, !b, !sb) outs(%c : tensor<3x8xf32>) -> tensor<3x8xf32>
  return %d : tensor<3x8xf32>
}

!a0 = tensor<0x64xf4E2M1FN>
!s0 = tensor<0x4xf8E4M3FN>
func.func @no_rows(%a: !a0, %sa: !s0, %b: !b, %sb: !sb) -> tensor<0x8xf32> {
  %c = tensor.empty() : tensor<0x8xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a0, !s0, !b, !sb) outs(%c : tensor<0x8xf32>) -> tensor<0x8xf32>
  return %d : tensor<0x8xf32>
}

func.func @no_columns(%a: !b, %sa: !sb, %b: !a0, %sb: !s0) -> tensor<8x0xf32> {
  %c = tensor.empty() : tensor<8x0xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !b, !sb, !a0, !s0) outs(%c : tensor<8x0xf32>) -> tensor<8x0xf32>
  return %d : tensor<8x0xf32>
}
