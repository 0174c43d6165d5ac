// Descriptor words of formats, as other compilers' kernels hold them (cutlass-dsl
// 4.8.1): mixed FP4 and FP8, UE5M3, UE4M3 by 32; and of MN-major operands and tiles
// of other widths, whose bits the manual gives.
// REQUIRES: ptxas

// RUN: blockscale-translate --mlir-to-ptx --arch=sm_107a --pin=mma=mxf8f6f4 %s -o %t.ptx
// RUN: FileCheck %s --check-prefixes=BOTH,LONG < %t.ptx
// RUN: ptxas -arch=sm_107a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_100a --pin=mma=mxf8f6f4 %s -o %t.ptx
// RUN: FileCheck %s --check-prefixes=BOTH,SHORT < %t.ptx
// RUN: ptxas -arch=sm_100a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS

// PTXAS-COUNT-4: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

!fp4 = tensor<128x256xf4E2M1FN>
!fp6 = tensor<128x256xf6E3M2FN>
!fp8 = tensor<128x256xf8E4M3FN>
!mn8 = tensor<256x128xf8E5M2>
!s = tensor<128x8xi8, #blockscale.scales<ue8m0, tiled>>
!d = tensor<128x128xf32>

// FP4 lies packed in rows of 64 bytes at K = 64, with gaps in rows of 128 at K = 32.
// BOTH: .entry gemm_0(
// LONG: // 0x8000402000010000 = smem_desc<leading = 16, stride = 512, swizzle = b64>
// LONG: // 0x4000404000010000 = smem_desc<leading = 16, stride = 1024, swizzle = b128>
// LONG: // 0x88a00280 = idesc<kind = mxf8f6f4, a = e2m1, b = e4m3, {{.*}} k = 64,
// SHORT: // 0x4000404000010000 = smem_desc<leading = 16, stride = 1024, swizzle = b128>
// SHORT: // 0x08a00280 = idesc<kind = mxf8f6f4, a = e2m1, b = e4m3, {{.*}} k = 32,
func.func @fp4_fp8(%a: !fp4, %sa: !s, %b: !fp8, %sb: !s, %c: !d) -> !d {
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !fp4, !s, !fp8, !s) outs(%c : !d) -> !d
  return %d : !d
}

// BOTH: .entry gemm_1(
// LONG: // 0x88a01400 = idesc<kind = mxf8f6f4, a = e4m3, b = e2m1, {{.*}} k = 64,
// SHORT: // 0x08a01400 = idesc<kind = mxf8f6f4, a = e4m3, b = e2m1, {{.*}} k = 32,
func.func @fp8_fp4(%a: !fp8, %sa: !s, %b: !fp4, %sb: !s, %c: !d) -> !d {
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !fp8, !s, !fp4, !s) outs(%c : !d) -> !d
  return %d : !d
}

// FP6 keeps K = 32, and FP4 beside it its gaps.
// BOTH: .entry gemm_2(
// BOTH: // 0x08a01200 = idesc<kind = mxf8f6f4, a = e3m2, b = {{.*}} k = 32,
func.func @fp6_fp6(%a: !fp6, %sa: !s, %b: !fp6, %sb: !s, %c: !d) -> !d {
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !fp6, !s, !fp6, !s) outs(%c : !d) -> !d
  return %d : !d
}

// Bits 15 and 16; a line of 128 rows is 1024 bytes for eight of K.
// BOTH: .entry gemm_3(
// BOTH: // 0x4000404004000000 = smem_desc<leading = 16384, stride = 1024, swizzle = b128>
// LONG: // 0x88a08080 = idesc<{{.*}} a = e5m2, b = e4m3, {{.*}} major_a = mn>
// SHORT: // 0x08a08080 = idesc<{{.*}} a = e5m2, b = e4m3, {{.*}} major_a = mn>
func.func @mn_major(%a: !mn8, %sa: !s, %b: !fp8, %sb: !s, %c: !d) -> !d {
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !mn8, !s, !fp8, !s) outs(%c : !d)
    {major_a = #blockscale.major<mn>} -> !d
  return %d : !d
}
