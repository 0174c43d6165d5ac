// Scale types and blocks of the kinds of FP4: bits 23 and 24, and the qualifier.
// REQUIRES: ptxas

// RUN: sed 's/SCALE/ue5m3/g; s/COLS/16/g' %s | blockscale-translate --mlir-to-ptx --arch=sm_107a - -o %t.ptx
// RUN: FileCheck %s --check-prefix=UE5M3 < %t.ptx
// RUN: ptxas -arch=sm_107a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// UE5M3: // 0x09200488 = idesc<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue5m3, block = 16,
// UE5M3: tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16

// RUN: sed 's/SCALE/ue4m3/g; s/COLS/8/g' %s | blockscale-translate --mlir-to-ptx --arch=sm_107a - -o %t.ptx
// RUN: FileCheck %s --check-prefix=BY32 < %t.ptx
// RUN: ptxas -arch=sm_107a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// BY32: // 0x08200488 = idesc<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 32,
// BY32: tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block32

// RUN: sed 's/SCALE/ue8m0/g; s/COLS/16/g' %s | blockscale-translate --mlir-to-ptx --arch=sm_100a - -o %t.ptx
// RUN: FileCheck %s --check-prefix=BY16 < %t.ptx
// RUN: ptxas -arch=sm_100a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// BY16: // 0x08a00480 = idesc<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue8m0, block = 16,
// BY16: tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16

// PTXAS: 0 bytes spill stores, 0 bytes spill loads

!e = tensor<128x256xf4E2M1FN>
!s = tensor<128xCOLSxi8, #blockscale.scales<SCALE, tiled>>
!d = tensor<128x128xf32>
func.func @f(%a: !e, %s: !s, %c: !d) -> !d {
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !e, !s, !e, !s) outs(%c : !d) -> !d
  return %d : !d
}
