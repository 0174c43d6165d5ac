// A check of a batch names the product that is wrong, of operands of its own and of a shared one.

// RUN: %python %S/Inputs/batches.py checked %t nvfp4 3 5 8 96
// RUN: blockscale-run %s --entry=checked --arch=sm_107a --arg=%t.a.npy --arg=%t.sa.npy --arg=%t.b.npy --arg=%t.sb.npy --arg=%t.d.npy
// RUN: %python %S/Inputs/make.py %t.w.npy='(d := np.load("%t.d.npy"), d.__setitem__((2, 4, 7), 1e6))[0]'
// RUN: not blockscale-run %s --entry=checked --arch=sm_107a --arg=%t.a.npy --arg=%t.sa.npy --arg=%t.b.npy --arg=%t.sb.npy --arg=%t.w.npy 2>&1 | FileCheck %s
// CHECK: check: product[2] must match its reference in f64, got 1 wrong; worst at [4, 7]: 1000000 instead of

// RUN: %python %S/Inputs/batches.py shared %t.s mxfp8 2 5 16 64
// RUN: blockscale-run %s --entry=shared --arch=sm_107a --arg=%t.s.a.npy --arg=%t.s.sa.npy --arg=%t.s.b.npy --arg=%t.s.sb.npy --arg=%t.s.d.npy
// RUN: %python %S/Inputs/make.py %t.sw.npy='(d := np.load("%t.s.d.npy"), d.__setitem__((1, 0, 0), 1e6))[0]'
// RUN: not blockscale-run %s --entry=shared --arch=sm_107a --arg=%t.s.a.npy --arg=%t.s.sa.npy --arg=%t.s.b.npy --arg=%t.s.sb.npy --arg=%t.sw.npy 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED: check: product[1] must match its reference in f64, got 1 wrong; worst at [0, 0]

!a = tensor<3x5x96xf4E2M1FN>
!sa = tensor<3x5x6xi8, #blockscale.scales<ue4m3, tiled>>
!b = tensor<3x8x96xf4E2M1FN>
!sb = tensor<3x8x6xi8, #blockscale.scales<ue4m3, tiled>>
#fp4 = #blockscale.schedule<arch = sm_107a, mma = mxf4nvf4, inst = 128x128x128, cta_group = 1, tile = 128x128x256,
  stages = 2, accumulators = 1, epilogue = tma_store, staging = 1, ctas = 4>
func.func @checked(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %d: tensor<3x5x8xf32>) {
  blockscale.check_gemm "product" %d of %a scaled %sa, %b scaled %sb {schedule = #fp4}
    : tensor<3x5x8xf32> of !a, !sa, !b, !sb
  return
}

!as = tensor<2x5x64xf8E4M3FN>
!sas = tensor<2x5x2xi8, #blockscale.scales<ue8m0, tiled>>
!bs = tensor<64x16xf8E4M3FN>
!sbs = tensor<16x2xi8, #blockscale.scales<ue8m0, tiled>>
#fp8 = #blockscale.schedule<arch = sm_107a, mma = mxf8f6f4, inst = 128x128x64, cta_group = 1, tile = 128x128x128,
  stages = 2, accumulators = 1, epilogue = tma_store, staging = 1, ctas = 4>
func.func @shared(%a: !as, %sa: !sas, %b: !bs, %sb: !sbs, %d: tensor<2x5x16xf32>) {
  blockscale.check_gemm "product" %d of %a scaled %sa, %b scaled %sb {schedule = #fp8, major_b = #blockscale.major<mn>}
    : tensor<2x5x16xf32> of !as, !sas, !bs, !sbs
  return
}
