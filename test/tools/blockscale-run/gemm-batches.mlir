// A batch: scales of each are padded by themselves, and bytes of a tile that belong to no row
// or block may be NaN.

// RUN: %python %S/Inputs/batches.py tiled %t.t nvfp4 3 5 8 96
// RUN: blockscale-run %s --entry=tiled --arch=sm_107a --arg=%t.t.a.npy --arg=%t.t.sa.npy --arg=%t.t.b.npy --arg=%t.t.sb.npy --arg=%t.t.bias.npy --out=%t.t.npy --check --seeds=1 | FileCheck %s
// RUN: %python %S/Inputs/expect.py %t.t.npy 'load("%t.t.d.npy")'
// CHECK-COUNT-1: kernel gemm_0: nvfp4 3x5x8x96{{.*}} grid 3x1x1{{.*}} error
// CHECK-NOT: kernel gemm_0
// CHECK: same bits under earliest, latest, seed 0

// More rows than a tile, B [k, n], and weights that all batches share.
// RUN: %python %S/Inputs/batches.py shared %t.s mxfp8 2 130 16 64
// RUN: blockscale-run %s --entry=shared --arch=sm_100a --arg=%t.s.a.npy --arg=%t.s.sa.npy --arg=%t.s.b.npy --arg=%t.s.sb.npy --out=%t.s.npy --check
// RUN: %python %S/Inputs/expect.py %t.s.npy 'load("%t.s.d.npy")'

// Rows that a launch says, as many in each batch: tiles of each are padded by themselves, whatever their number.
// RUN: %python %S/Inputs/batches.py rows %t.r nvfp4 3 130 8 96
// RUN: blockscale-run %s --entry=rows --arch=sm_107a --arg=%t.r.a.npy --arg=%t.r.sa.npy --arg=%t.r.b.npy --arg=%t.r.sb.npy --out=%t.r.npy --check --seeds=1 | FileCheck %s --check-prefix=ROWS
// RUN: %python %S/Inputs/expect.py %t.r.npy 'load("%t.r.d.npy")'
// RUN: %python %S/Inputs/batches.py rows %t.o nvfp4 3 1 8 96
// RUN: blockscale-run %s --entry=rows --arch=sm_107a --arg=%t.o.a.npy --arg=%t.o.sa.npy --arg=%t.o.b.npy --arg=%t.o.sb.npy --out=%t.o.npy --check
// RUN: %python %S/Inputs/expect.py %t.o.npy 'load("%t.o.d.npy")'
// ROWS-COUNT-1: kernel gemm_0: nvfp4 3x?x8x96{{.*}} grid 6x1x1
// ROWS-NOT: kernel gemm_0
// ROWS: same bits under earliest, latest, seed 0

// No rows, no launch.
// RUN: %python %S/Inputs/make.py %t.za.npy='np.zeros((3, 0, 48), np.uint8)' %t.zs.npy='np.zeros(0, np.uint8)'
// RUN: blockscale-run %s --entry=rows --arch=sm_107a --arg=%t.za.npy --arg=%t.zs.npy --arg=%t.o.b.npy --arg=%t.o.sb.npy --out=%t.z.npy --check
// RUN: %python %S/Inputs/expect.py %t.z.npy 'np.zeros((3, 0, 8), np.float32)'

// Tiles of another number of rows than those of the result.
// RUN: not blockscale-run %s --entry=rows --arch=sm_107a --arg=%t.r.a.npy --arg=%t.o.sa.npy --arg=%t.r.b.npy --arg=%t.r.sb.npy 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: error: runtime: operand sfa must have 6144 bytes, as the rows of the result ask for, got 3072

// RUN: %python %S/Inputs/make.py %t.x.npy='np.zeros(3075, np.uint8)'
// RUN: not blockscale-run %s --entry=rows --arch=sm_107a --arg=%t.o.a.npy --arg=%t.x.npy --arg=%t.o.b.npy --arg=%t.o.sb.npy 2>&1 | FileCheck %s --check-prefix=TILES
// TILES: error: run: argument 1 of @rows must be u8 [-1], whole tiles of 3072 bytes, got u8 [3075] from

// Linear scales of each batch become tiles of its own, and so does a transposed A whose rows a launch says.
// RUN: %python %S/Inputs/batches.py transposed %t.m mxfp8 3 144 16 64
// RUN: blockscale-run %s --entry=transposed --arch=sm_100a --arg=%t.m.a.npy --arg=%t.m.sa.npy --arg=%t.m.b.npy --arg=%t.m.sb.npy --out=%t.m.npy --check --seeds=1 | FileCheck %s --check-prefix=TRANSPOSED
// RUN: %python %S/Inputs/expect.py %t.m.npy 'load("%t.m.d.npy")'
// TRANSPOSED: kernel gemm_0: mxfp8 3x?x16x64{{.*}} grid 6x1x1

// Gates, and a bias of all products.
// RUN: %python %S/Inputs/batches.py gated %t.g mxfp8 2 130 128 64
// RUN: blockscale-run %s --entry=gated --arch=sm_107a --arg=%t.g.a.npy --arg=%t.g.sa.npy --arg=%t.g.b.npy --arg=%t.g.sb.npy --arg=%t.g.bias.npy --out=%t.g.npy --check --seeds=1 | FileCheck %s --check-prefix=GATED
// RUN: %python %S/Inputs/expect.py %t.g.npy 'np.maximum(load("%t.g.d.npy")[:, :, :64], 0) * load("%t.g.d.npy")[:, :, 64:]'
// GATED: kernel gemm_0: mxfp8 2x130x128x64{{.*}} grid 4x1x1

// Rows that TMA cannot fetch, with linear scales: copies of each part, a loop of launches.
// RUN: %python %S/Inputs/batches.py copied %t.c nvfp4 2 130 8 48
// RUN: blockscale-run %s --entry=copied --arch=sm_100a --arg=%t.c.a.npy --arg=%t.c.sa.npy --arg=%t.c.b.npy --arg=%t.c.sb.npy --out=%t.c.npy --check
// RUN: %python %S/Inputs/expect.py %t.c.npy 'load("%t.c.d.npy")'

// The same of one product with linear scales, behind weights that all share.
// RUN: %python %S/Inputs/batches.py dense %t.d mxfp8 2 70 16 64
// RUN: blockscale-run %s --entry=dense --arch=sm_100a --arg=%t.d.a.npy --arg=%t.d.sa.npy --arg=%t.d.b.npy --arg=%t.d.sb.npy --out=%t.d.npy --check --seeds=1 | FileCheck %s --check-prefix=DENSE
// RUN: %python %S/Inputs/expect.py %t.d.npy 'load("%t.d.d.npy")'
// DENSE-COUNT-1: kernel gemm_0: mxfp8 ?x16x64{{.*}} grid 2x1x1
// DENSE-NOT: kernel gemm_0

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

!ar = tensor<3x?x96xf4E2M1FN>
!sar = tensor<3x?x6xi8, #blockscale.scales<ue4m3, tiled>>
func.func @rows(%a: !ar, %sa: !sar, %b: !b, %sb: !sb) -> tensor<3x?x8xf32> {
  %one = arith.constant 1 : index
  %m = tensor.dim %a, %one : !ar
  %c = tensor.empty(%m) : tensor<3x?x8xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !ar, !sar, !b, !sb) outs(%c : tensor<3x?x8xf32>) -> tensor<3x?x8xf32>
  return %d : tensor<3x?x8xf32>
}

!ad = tensor<2x?x64xf8E4M3FN>
!sad = tensor<2x?x2xf8E8M0FNU>
!bd = tensor<16x64xf8E4M3FN>
!sbd = tensor<16x2xf8E8M0FNU>
func.func @dense(%a: !ad, %sa: !sad, %b: !bd, %sb: !sbd) -> tensor<2x?x16xf32> {
  %one = arith.constant 1 : index
  %m = tensor.dim %a, %one : !ad
  %c = tensor.empty(%m) : tensor<2x?x16xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !ad, !sad, !bd, !sbd) outs(%c : tensor<2x?x16xf32>) -> tensor<2x?x16xf32>
  return %d : tensor<2x?x16xf32>
}

!ac = tensor<2x?x48xf4E2M1FN>
!sac = tensor<2x?x3xi8, #blockscale.scales<ue4m3, linear>>
!bc = tensor<2x8x48xf4E2M1FN>
!sbc = tensor<2x8x3xi8, #blockscale.scales<ue4m3, linear>>
func.func @copied(%a: !ac, %sa: !sac, %b: !bc, %sb: !sbc) -> tensor<2x?x8xf32> {
  %one = arith.constant 1 : index
  %m = tensor.dim %a, %one : !ac
  %c = tensor.empty(%m) : tensor<2x?x8xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !ac, !sac, !bc, !sbc) outs(%c : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  return %d : tensor<2x?x8xf32>
}

!at = tensor<3x64x?xf8E4M3FN>
!sat = tensor<3x?x2xi8, #blockscale.scales<ue8m0, linear>>
!bt = tensor<3x16x64xf8E4M3FN>
!sbt = tensor<3x16x2xi8, #blockscale.scales<ue8m0, linear>>
func.func @transposed(%a: !at, %sa: !sat, %b: !bt, %sb: !sbt) -> tensor<3x?x16xf32> {
  %two = arith.constant 2 : index
  %m = tensor.dim %a, %two : !at
  %c = tensor.empty(%m) : tensor<3x?x16xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !at, !sat, !bt, !sbt) outs(%c : tensor<3x?x16xf32>)
    {major_a = #blockscale.major<mn>} -> tensor<3x?x16xf32>
  return %d : tensor<3x?x16xf32>
}

!ag = tensor<2x130x64xf8E4M3FN>
!sag = tensor<2x130x2xi8, #blockscale.scales<ue8m0, tiled>>
!bg = tensor<2x128x64xf8E4M3FN>
!sbg = tensor<2x128x2xi8, #blockscale.scales<ue8m0, tiled>>
func.func @gated(%a: !ag, %sa: !sag, %b: !bg, %sb: !sbg, %bias: tensor<128xf32>) -> tensor<2x130x64xf32> {
  %c = tensor.empty() : tensor<2x130x64xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !ag, !sag, !bg, !sbg) bias(%bias : tensor<128xf32>)
    outs(%c : tensor<2x130x64xf32>) {gate = #blockscale.gate<function = relu, interleave = 64>} -> tensor<2x130x64xf32>
  return %d : tensor<2x130x64xf32>
}
