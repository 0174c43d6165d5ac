// Rows that TMA cannot fetch are copied to another pitch, and rows that lie apart are
// fetched where they are.

// NVFP4 of an odd number of blocks, dense rows of 8, 24 and 40 bytes, against numpy.
// RUN: %python %S/Inputs/pitches.py k16 %t.16 nvfp4 5 9 16
// RUN: blockscale-run %s --entry=k16 --arch=sm_100a --arg=%t.16.a.npy --arg=%t.16.sa.npy --arg=%t.16.b.npy --arg=%t.16.sb.npy --out=%t.16.npy --check --seeds=1
// RUN: %python %S/Inputs/expect.py %t.16.npy 'load("%t.16.d.npy")'
// RUN: %python %S/Inputs/pitches.py k80 %t.80 nvfp4 130 5 80
// RUN: blockscale-run %s --entry=k80 --arch=sm_107a --arg=%t.80.a.npy --arg=%t.80.sa.npy --arg=%t.80.b.npy --arg=%t.80.sb.npy --out=%t.80.npy --check
// RUN: %python %S/Inputs/expect.py %t.80.npy 'load("%t.80.d.npy")'

// Bytes of a caller's tiled scales that belong to no block: NVFP4 with K = 48 has three
// scales a row, and 0x7F (NaN), 0x7E and 0 in the fourth column give the same bits.
// RUN: %python %S/Inputs/pitches.py k48 %t.48 nvfp4 5 8 48
// RUN: blockscale-run %s --entry=k48 --arch=sm_100a --arg=%t.48.a.npy --arg=%t.48.ta00.npy --arg=%t.48.b.npy --arg=%t.48.tb00.npy --out=%t.48.0.npy --check --seeds=1
// RUN: blockscale-run %s --entry=k48 --arch=sm_100a --arg=%t.48.a.npy --arg=%t.48.ta7F.npy --arg=%t.48.b.npy --arg=%t.48.tb7F.npy --out=%t.48.1.npy --check --seeds=1
// RUN: blockscale-run %s --entry=k48 --arch=sm_107a --arg=%t.48.a.npy --arg=%t.48.ta7F.npy --arg=%t.48.b.npy --arg=%t.48.tb7F.npy --out=%t.48.2.npy --check
// RUN: blockscale-run %s --entry=k48 --arch=sm_100a --arg=%t.48.a.npy --arg=%t.48.ta7E.npy --arg=%t.48.b.npy --arg=%t.48.tb7E.npy --out=%t.48.3.npy --check
// RUN: %python %S/Inputs/expect.py %t.48.0.npy 'load("%t.48.d.npy")'
// RUN: cmp %t.48.0.npy %t.48.1.npy
// RUN: cmp %t.48.0.npy %t.48.2.npy
// RUN: cmp %t.48.0.npy %t.48.3.npy

// What is read with gaps: FP4 beside FP8 on sm_100a, FP6 everywhere.
// RUN: %python %S/Inputs/pitches.py gaps %t.g e2m1-e4m3 5 8 160
// RUN: blockscale-run %s --entry=gaps --arch=sm_100a --arg=%t.g.a.npy --arg=%t.g.sa.npy --arg=%t.g.b.npy --arg=%t.g.sb.npy --out=%t.g.npy --check --seeds=1
// RUN: %python %S/Inputs/expect.py %t.g.npy 'load("%t.g.d.npy")'
// RUN: %python %S/Inputs/pitches.py fp6 %t.6 e3m2-e2m3 7 5 96
// RUN: blockscale-run %s --entry=fp6 --arch=sm_107a --arg=%t.6.a.npy --arg=%t.6.sa.npy --arg=%t.6.b.npy --arg=%t.6.sb.npy --out=%t.6.npy --check
// RUN: %python %S/Inputs/expect.py %t.6.npy 'load("%t.6.d.npy")'

// An MN-major operand has rows of m elements.
// RUN: %python %S/Inputs/pitches.py mn %t.mn mxfp8 5 8 64
// RUN: blockscale-run %s --entry=mn --arch=sm_100a --arg=%t.mn.a.npy --arg=%t.mn.sa.npy --arg=%t.mn.b.npy --arg=%t.mn.sb.npy --out=%t.mn.npy --check
// RUN: %python %S/Inputs/expect.py %t.mn.npy 'load("%t.mn.d.npy")'

// Rows of a caller with NaN bytes behind them: no copy, and none is read.
// RUN: %python %S/Inputs/pitches.py apart %t.p mxfp8 133 8 96
// RUN: blockscale-run %s --entry=apart --arch=sm_100a --arg=%t.p.a.npy --arg=%t.p.sa.npy --arg=%t.p.b.npy --arg=%t.p.sb.npy --out=%t.p.npy --check --seeds=1
// RUN: %python %S/Inputs/expect.py %t.p.npy 'load("%t.p.d.npy")'

!s1 = tensor<5x1xf8E4M3FN>
!t1 = tensor<9x1xf8E4M3FN>
func.func @k16(%a: tensor<5x16xf4E2M1FN>, %sa: !s1, %b: tensor<9x16xf4E2M1FN>, %sb: !t1) -> tensor<5x9xf32> {
  %c = tensor.empty() : tensor<5x9xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : tensor<5x16xf4E2M1FN>, !s1, tensor<9x16xf4E2M1FN>, !t1)
    outs(%c : tensor<5x9xf32>) -> tensor<5x9xf32>
  return %d : tensor<5x9xf32>
}

!s5 = tensor<130x5xf8E4M3FN>
!t5 = tensor<5x5xf8E4M3FN>
func.func @k80(%a: tensor<130x80xf4E2M1FN>, %sa: !s5, %b: tensor<5x80xf4E2M1FN>, %sb: !t5) -> tensor<130x5xf32> {
  %c = tensor.empty() : tensor<130x5xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : tensor<130x80xf4E2M1FN>, !s5, tensor<5x80xf4E2M1FN>, !t5)
    outs(%c : tensor<130x5xf32>) -> tensor<130x5xf32>
  return %d : tensor<130x5xf32>
}

!s3 = tensor<5x3xi8, #blockscale.scales<ue4m3, tiled>>
!t3 = tensor<8x3xi8, #blockscale.scales<ue4m3, tiled>>
func.func @k48(%a: tensor<5x48xf4E2M1FN>, %sa: !s3, %b: tensor<8x48xf4E2M1FN>, %sb: !t3) -> tensor<5x8xf32> {
  %c = tensor.empty() : tensor<5x8xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : tensor<5x48xf4E2M1FN>, !s3, tensor<8x48xf4E2M1FN>, !t3)
    outs(%c : tensor<5x8xf32>) -> tensor<5x8xf32>
  return %d : tensor<5x8xf32>
}

!sg = tensor<5x5xf8E8M0FNU>
!tg = tensor<8x5xf8E8M0FNU>
func.func @gaps(%a: tensor<5x160xf4E2M1FN>, %sa: !sg, %b: tensor<8x160xf8E4M3FN>, %sb: !tg) -> tensor<5x8xf32> {
  %c = tensor.empty() : tensor<5x8xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : tensor<5x160xf4E2M1FN>, !sg, tensor<8x160xf8E4M3FN>, !tg)
    outs(%c : tensor<5x8xf32>) -> tensor<5x8xf32>
  return %d : tensor<5x8xf32>
}

!s6 = tensor<7x3xf8E8M0FNU>
!t6 = tensor<5x3xf8E8M0FNU>
func.func @fp6(%a: tensor<7x96xf6E3M2FN>, %sa: !s6, %b: tensor<5x96xf6E2M3FN>, %sb: !t6) -> tensor<7x5xf32> {
  %c = tensor.empty() : tensor<7x5xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : tensor<7x96xf6E3M2FN>, !s6, tensor<5x96xf6E2M3FN>, !t6)
    outs(%c : tensor<7x5xf32>) -> tensor<7x5xf32>
  return %d : tensor<7x5xf32>
}

!s2 = tensor<5x2xf8E8M0FNU>
!t2 = tensor<8x2xf8E8M0FNU>
func.func @mn(%a: tensor<64x5xf8E4M3FN>, %sa: !s2, %b: tensor<8x64xf8E4M3FN>, %sb: !t2) -> tensor<5x8xf32> {
  %c = tensor.empty() : tensor<5x8xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : tensor<64x5xf8E4M3FN>, !s2, tensor<8x64xf8E4M3FN>, !t2)
    outs(%c : tensor<5x8xf32>) {major_a = #blockscale.major<mn>} -> tensor<5x8xf32>
  return %d : tensor<5x8xf32>
}

!ap = tensor<133x96xf8E4M3FN, #blockscale.pitched<bytes = 112>>
!bp = tensor<8x96xf8E4M3FN, #blockscale.pitched<bytes = 128>>
!sp = tensor<133x3xf8E8M0FNU>
!tp = tensor<8x3xf8E8M0FNU>
func.func @apart(%a: !ap, %sa: !sp, %b: !bp, %sb: !tp) -> tensor<133x8xf32> {
  %c = tensor.empty() : tensor<133x8xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !ap, !sp, !bp, !tp) outs(%c : tensor<133x8xf32>) -> tensor<133x8xf32>
  return %d : tensor<133x8xf32>
}
