// The words that other compilers' kernels hold (FlashInfer and CUTLASS through
// cutlass-dsl 4.8.1), each beside its decoded form, and what ptxas says.
// REQUIRES: ptxas

// RUN: sed 's/ELEMENT/f4E2M1FN/g; s/SCALE/ue4m3/g; s/COLS/24/g' %s | blockscale-translate --mlir-to-ptx --arch=sm_100a - -o %t.ptx
// RUN: FileCheck %s --check-prefixes=CHECK,NVFP4-100 < %t.ptx
// RUN: ptxas -arch=sm_100a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS

// RUN: sed 's/ELEMENT/f4E2M1FN/g; s/SCALE/ue8m0/g; s/COLS/12/g' %s | blockscale-translate --mlir-to-ptx --arch=sm_100a - -o %t.ptx
// RUN: FileCheck %s --check-prefixes=CHECK,MXFP4-100 < %t.ptx
// RUN: ptxas -arch=sm_100a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS

// RUN: sed 's/ELEMENT/f8E4M3FN/g; s/SCALE/ue8m0/g; s/COLS/12/g' %s | blockscale-translate --mlir-to-ptx --arch=sm_100a - -o %t.ptx
// RUN: FileCheck %s --check-prefixes=CHECK,MXFP8-100 < %t.ptx
// RUN: ptxas -arch=sm_100a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS

// RUN: sed 's/ELEMENT/f4E2M1FN/g; s/SCALE/ue4m3/g; s/COLS/24/g' %s | blockscale-translate --mlir-to-ptx --arch=sm_107a - -o %t.ptx
// RUN: FileCheck %s --check-prefixes=CHECK,NVFP4-107 < %t.ptx
// RUN: ptxas -arch=sm_107a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS

// RUN: sed 's/ELEMENT/f4E2M1FN/g; s/SCALE/ue8m0/g; s/COLS/12/g' %s | blockscale-translate --mlir-to-ptx --arch=sm_107a - -o %t.ptx
// RUN: FileCheck %s --check-prefixes=CHECK,MXFP4-107 < %t.ptx
// RUN: ptxas -arch=sm_107a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS

// RUN: sed 's/ELEMENT/f8E4M3FN/g; s/SCALE/ue8m0/g; s/COLS/12/g' %s | blockscale-translate --mlir-to-ptx --arch=sm_107a - -o %t.ptx
// RUN: FileCheck %s --check-prefixes=CHECK,MXFP8-107 < %t.ptx
// RUN: ptxas -arch=sm_107a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS

// CHECK: .version 9.4
// NVFP4-100: .target sm_100a
// MXFP8-107: .target sm_107a
// CHECK: .extern .shared .align 1024
// CHECK: .visible .entry gemm_0(
// CHECK: .reqntid 192, 1, 1

// CHECK: or.b64 {{.*}}, 70403103981568;  // 0x0000400800010000 = smem_desc<leading = 16, stride = 128, swizzle = none>
// CHECK: tcgen05.cp.cta_group::1.32x128b.warpx4
// CHECK: or.b64 {{.*}}, 4611756662049538048;  // 0x4000404000010000 = smem_desc<leading = 16, stride = 1024, swizzle = b128>

// NVFP4-100: 136316032;  // 0x08200480 = idesc<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64, sfa_id = 0, sfb_id = 0>
// NVFP4-100-COUNT-4: tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16
// MXFP4-100: // 0x08a00480 = idesc<kind = mxf4, {{.*}} block = 32, {{.*}} k = 64, sfa_id = 0, sfb_id = 0>
// MXFP4-100: tcgen05.mma.cta_group::1.kind::mxf4.block_scale
// MXFP4-100: // 0x48a004a0 = idesc<kind = mxf4, {{.*}} sfa_id = 2, sfb_id = 2>
// D25: the id picks the byte of the word, the column the word.
// MXFP8-100: // 0x08a00000 = idesc<kind = mxf8f6f4, a = e4m3, b = e4m3, {{.*}} k = 32, sfa_id = 0, sfb_id = 0>
// MXFP8-100: tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale
// MXFP8-100: // 0x28a00010 = {{.*}} sfa_id = 1, sfb_id = 1>
// MXFP8-100: // 0x48a00020 = {{.*}} sfa_id = 2, sfb_id = 2>
// MXFP8-100: // 0x68a00030 = {{.*}} sfa_id = 3, sfb_id = 3>
// NVFP4-107: // 0x08200488 = idesc<kind = mxf4nvf4, {{.*}} k = 128, sfa_id = 0, sfb_id = 0>
// NVFP4-107-COUNT-2: tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16
// MXFP4-107: // 0x08a00488 = idesc<kind = mxf4, {{.*}} k = 128, sfa_id = 0, sfb_id = 0>
// MXFP8-107: // 0x88a00000 = idesc<kind = mxf8f6f4, {{.*}} k = 64, sfa_id = 0, sfb_id = 0>
// MXFP8-107: // 0xc8a00020 = idesc<kind = mxf8f6f4, {{.*}} k = 64, sfa_id = 2, sfb_id = 2>

// PTXAS: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// PTXAS: Used {{[1-9][0-9]|1[0-9][0-9]}} registers

!e = tensor<256x384xELEMENT>
!s = tensor<256xCOLSxi8, #blockscale.scales<SCALE, tiled>>
func.func @gemm(%a: !e, %sfa: !s, %b: !e, %sfb: !s, %bias: tensor<256xf32>) -> tensor<256x256xbf16> {
  %alpha = arith.constant 0.5 : f32
  %c = tensor.empty() : tensor<256x256xbf16>
  %d = blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb : !e, !s, !e, !s) alpha(%alpha : f32)
    bias(%bias : tensor<256xf32>) outs(%c : tensor<256x256xbf16>) -> tensor<256x256xbf16>
  return %d : tensor<256x256xbf16>
}
