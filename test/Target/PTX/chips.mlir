// D32: each chip with block-scaled tcgen05.mma gets PTX that ptxas takes for it, by
// version and target in the header; others are refused in one line before codegen.
// REQUIRES: ptxas

// RUN: blockscale-translate --mlir-to-ptx --arch=sm_100a %s -o %t.ptx
// RUN: FileCheck %s -DARCH=sm_100a < %t.ptx
// RUN: ptxas -arch=sm_100a %t.ptx -o %t.cubin
// Row D25, the id of a scale picks the byte of the word: the four idescs of the first four
// blocks, then the same four with the next word.
// RUN: FileCheck %s --check-prefix=D25 < %t.ptx
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_100f %s -o %t.ptx
// RUN: FileCheck %s -DARCH=sm_100f < %t.ptx
// RUN: ptxas -arch=sm_100f %t.ptx -o %t.cubin
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_103a %s -o %t.ptx
// RUN: FileCheck %s -DARCH=sm_103a < %t.ptx
// RUN: ptxas -arch=sm_103a %t.ptx -o %t.cubin
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_107a %s -o %t.ptx
// RUN: FileCheck %s -DARCH=sm_107a < %t.ptx
// RUN: ptxas -arch=sm_107a %t.ptx -o %t.cubin
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_110a %s -o %t.ptx
// RUN: FileCheck %s -DARCH=sm_110a < %t.ptx
// RUN: ptxas -arch=sm_110a %t.ptx -o %t.cubin

// RUN: not blockscale-translate --mlir-to-ptx --arch=sm_100 %s -o %t.none 2>&1 | FileCheck %s --check-prefix=SUFFIX --implicit-check-not="{{Stack dump|LLVM ERROR|PLEASE}}"
// RUN: not blockscale-translate --mlir-to-ptx --arch=sm_120a %s -o %t.none 2>&1 | FileCheck %s --check-prefix=OTHER --implicit-check-not="{{Stack dump|LLVM ERROR|PLEASE}}"
// RUN: not ls %t.none

// CHECK: .version 9.4
// CHECK: .target [[ARCH]]{{$}}
// CHECK: .entry gemm_0(
// CHECK: tcgen05.cp
// CHECK: tcgen05.mma

// D25-DAG: // 0x08a00000 = idesc<
// D25-DAG: // 0x28a00010 = idesc<
// D25-DAG: // 0x48a00020 = idesc<
// D25-DAG: // 0x68a00030 = idesc<

// SUFFIX: schedule_c1: chip sm_100 needs sm_100a or sm_100f for
// OTHER: schedule_c1: chip must have {{.*}}sm_100a{{.*}}sm_103a{{.*}}sm_107a{{.*}}, got sm_120a

!e = tensor<128x256xf8E4M3FN>
!s = tensor<128x8xi8, #blockscale.scales<ue8m0, tiled>>
func.func @gemm(%a: !e, %sfa: !s, %b: !e, %sfb: !s) -> tensor<128x128xf32> {
  %c = tensor.empty() : tensor<128x128xf32>
  %d = blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb : !e, !s, !e, !s)
    outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}
