// Rows of public reports that concern dense products, by name: small inputs with known values.

// D20: one scale a row is a scale. NVFP4, K = 16, 2.0 and 0.5, all ones: D = 16.
// RUN: %python %S/Inputs/make.py %t.a.npy='np.full((5, 8), 0x22, np.uint8)' %t.sa.npy='np.full((5, 1), 0x40, np.uint8)' %t.sb.npy='np.full((5, 1), 0x30, np.uint8)'
// RUN: blockscale-run %s --entry=d20 --arch=sm_100a --arg=%t.a.npy --arg=%t.sa.npy --arg=%t.a.npy --arg=%t.sb.npy --out=%t.d.npy --check
// RUN: %python %S/Inputs/expect.py %t.d.npy 'np.full((5, 5), 16, np.float32)'

// D28: K = 992 on sm_103a is 768, two instructions of 64 and one of 96, and the sum is over all of it.
// RUN: %python %S/Inputs/make.py %t.a.npy='np.full((128, 496), 0x22, np.uint8)' %t.s.npy='np.full((128, 62), 0x38, np.uint8)'
// RUN: blockscale-run %s --entry=d28 --arch=sm_103a --pin=inst-k=96 --arg=%t.a.npy --arg=%t.s.npy --arg=%t.a.npy --arg=%t.s.npy --out=%t.d.npy --check | FileCheck %s --check-prefix=TAIL
// RUN: %python %S/Inputs/expect.py %t.d.npy 'np.full((128, 128), 992, np.float32)'
// TAIL: kernel gemm_0: nvfp4 128x128x992, mxf4nvf4 128x128x96
// TAIL-SAME: 11 MMA
// RUN: not blockscale-run %s --entry=d28 --arch=sm_100a --pin=inst-k=96 --arg=%t.a.npy --arg=%t.s.npy --arg=%t.a.npy --arg=%t.s.npy 2>&1 | FileCheck %s --check-prefix=K96
// K96: error: 'blockscale.gemm' op {{.*}}96

// D37: a pair's A scales are of each CTA's rows, its B scales of all columns in both. MXFP8, M = 256, N = 128,
// K = 128, all ones; 2 from row 128 on, 8 from column 64 on.
// RUN: %python %S/Inputs/make.py %t.a.npy='np.full((256, 128), 0x38, np.uint8)' %t.b.npy='np.full((128, 128), 0x38, np.uint8)' %t.sa.npy='np.repeat(np.uint8([0x7F, 0x80]), 512).reshape(256, 4)' %t.sb.npy='np.repeat(np.uint8([0x7F, 0x82]), 256).reshape(128, 4)'
// RUN: blockscale-run %s --entry=d37 --arch=sm_100a --pin=cta-group=2 --arg=%t.a.npy --arg=%t.sa.npy --arg=%t.b.npy --arg=%t.sb.npy --out=%t.d.npy --check --seeds=2 | FileCheck %s --check-prefix=PAIR
// RUN: %python %S/Inputs/expect.py %t.d.npy 'np.outer(np.repeat([1, 2], 128), np.repeat([128, 1024], 64)).astype(np.float32)'
// PAIR: kernel gemm_0: mxfp8 256x128x128, mxf8f6f4 256x128x32
// PAIR: same bits under earliest, latest, seed 0, seed 1

// D51: the loops of a frontend with a batch, N = 4 and blocks whose scales differ: data and scales go by one map.
// MXFP4, K = 64, 1 and 4: D = 160.
// RUN: %python %S/Inputs/make.py %t.a.npy='np.full((4, 8, 2, 16), 0x22, np.uint8)' %t.sa.npy='np.tile(np.uint8([0x7F, 0x81]), (4, 8, 1))' %t.b.npy='np.full((4, 4, 2, 16), 0x22, np.uint8)' %t.sb.npy='np.full((4, 4, 2), 0x7F, np.uint8)' %t.c.npy='np.zeros((4, 8, 4), np.float32)'
// RUN: blockscale-run %s --entry=d51 --arch=sm_100a --arg=%t.a.npy --arg=%t.sa.npy --arg=%t.b.npy --arg=%t.sb.npy --arg=%t.c.npy --out=%t.d.npy --check
// RUN: %python %S/Inputs/expect.py %t.d.npy 'np.full((4, 8, 4), 160, np.float32)'

func.func @d20(%a: tensor<5x16xf4E2M1FN>, %sa: tensor<5x1xi8, #blockscale.scales<ue4m3, linear>>,
               %b: tensor<5x16xf4E2M1FN>, %sb: tensor<5x1xi8, #blockscale.scales<ue4m3, linear>>) -> tensor<5x5xf32> {
  %c = tensor.empty() : tensor<5x5xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb
      : tensor<5x16xf4E2M1FN>, tensor<5x1xi8, #blockscale.scales<ue4m3, linear>>,
        tensor<5x16xf4E2M1FN>, tensor<5x1xi8, #blockscale.scales<ue4m3, linear>>)
    outs(%c : tensor<5x5xf32>) -> tensor<5x5xf32>
  return %d : tensor<5x5xf32>
}

!e28 = tensor<128x992xf4E2M1FN>
!s28 = tensor<128x62xi8, #blockscale.scales<ue4m3, linear>>
func.func @d28(%a: !e28, %sa: !s28, %b: !e28, %sb: !s28) -> tensor<128x128xf32> {
  %c = tensor.empty() : tensor<128x128xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !e28, !s28, !e28, !s28)
    outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}

!a37 = tensor<256x128xf8E4M3FN>
!sa37 = tensor<256x4xi8, #blockscale.scales<ue8m0, linear>>
!b37 = tensor<128x128xf8E4M3FN>
!sb37 = tensor<128x4xi8, #blockscale.scales<ue8m0, linear>>
func.func @d37(%a: !a37, %sa: !sa37, %b: !b37, %sb: !sb37) -> tensor<256x128xf32> {
  %c = tensor.empty() : tensor<256x128xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a37, !sa37, !b37, !sb37)
    outs(%c : tensor<256x128xf32>) -> tensor<256x128xf32>
  return %d : tensor<256x128xf32>
}

func.func @d51(%a: tensor<4x8x2x32xf4E2M1FN>, %sa: tensor<4x8x2xf8E8M0FNU>, %b: tensor<4x4x2x32xf4E2M1FN>,
               %sb: tensor<4x4x2xf8E8M0FNU>, %c: tensor<4x8x4xf32>) -> tensor<4x8x4xf32> {
  %d = linalg.generic {indexing_maps = [affine_map<(p, m, n, ko, ki) -> (p, m, ko, ki)>, affine_map<(p, m, n, ko, ki) -> (p, m, ko)>, affine_map<(p, m, n, ko, ki) -> (p, n, ko, ki)>, affine_map<(p, m, n, ko, ki) -> (p, n, ko)>, affine_map<(p, m, n, ko, ki) -> (p, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %sa, %b, %sb : tensor<4x8x2x32xf4E2M1FN>, tensor<4x8x2xf8E8M0FNU>, tensor<4x4x2x32xf4E2M1FN>, tensor<4x4x2xf8E8M0FNU>)
      outs(%c : tensor<4x8x4xf32>) {
  ^bb0(%x: f4E2M1FN, %sx: f8E8M0FNU, %y: f4E2M1FN, %sy: f8E8M0FNU, %acc: f32):
    %xs = arith.scaling_extf %x, %sx : f4E2M1FN, f8E8M0FNU to f32
    %ys = arith.scaling_extf %y, %sy : f4E2M1FN, f8E8M0FNU to f32
    %p = arith.mulf %xs, %ys : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x8x4xf32>
  return %d : tensor<4x8x4xf32>
}
