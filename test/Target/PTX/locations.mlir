// Each instruction leads back to the line and the op that it comes from: to the
// product, and to the op of a dump when that is what was translated. ptxas takes it,
// with and without a line table.
// REQUIRES: ptxas

// RUN: blockscale-translate --mlir-to-ptx --arch=sm_107a %s -o %t.ptx
// RUN: %python %S/Inputs/locations.py %t.ptx %s blockscale.gemm | FileCheck %s
// RUN: FileCheck %s --check-prefix=TEXT < %t.ptx
// RUN: ptxas -arch=sm_107a -lineinfo -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS

// CHECK-DAG: blockscale.consumer_wait {{[0-9]+}}
// CHECK-DAG: blockscale.copy_scales {{[0-9]+}}
// CHECK-DAG: blockscale.load_accumulator {{[0-9]+}}
// CHECK-DAG: blockscale.mma {{[0-9]+}}
// CHECK-DAG: blockscale.tma_load {{[0-9]+}}

// Two kernels, each from its own line. Kernels and ops share the table of names.
// TEXT: .address_size 64
// TEXT-NEXT: .file 1 "{{.*}}locations.mlir"
// TEXT-NOT: .file
// TEXT-LABEL: .entry gemm_0(
// TEXT: .loc 1 [[#LINE0:]] 8
// TEXT: .loc 1 [[#LINE0]] 8, function_name $L__info_string0, inlined_at 1 [[#LINE0]] 8
// TEXT: tcgen05.ld
// TEXT-LABEL: .entry gemm_1(
// TEXT: .loc 1 [[#LINE0+1]] 8, function_name $L__info_string0, inlined_at 1 [[#LINE0+1]] 8
// TEXT: .section .debug_str
// TEXT: $L__info_string0: // blockscale.kernel
// TEXT-NOT: $L__tmp
// TEXT-NOT: $L__func

// PTXAS-COUNT-2: 0 bytes spill stores, 0 bytes spill loads

// A dump of level 3 has a line for every op.
// RUN: blockscale-opt %s --pass-pipeline='builtin.module(blockscale-gemm-to-ptx{arch=sm_107a})' --mlir-print-ir-before=blockscale-lower-kernel-to-machine --mlir-print-ir-module-scope --mlir-disable-threading -o %t.level5.mlir 2> %t.dump.mlir
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_107a %t.dump.mlir -o %t.dump.ptx
// RUN: %python %S/Inputs/locations.py %t.dump.ptx %t.dump.mlir | FileCheck %s
// RUN: ptxas -arch=sm_107a -lineinfo -v %t.dump.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS

// Locations change no instruction: the dump gives the same ones.
// RUN: grep -v '^[[:space:]]*\.\(loc\|file\)' %t.ptx | sed '/^\.section/,$d' > %t.bare
// RUN: grep -v '^[[:space:]]*\.\(loc\|file\)' %t.dump.ptx | sed '/^\.section/,$d' | diff %t.bare -

// Level 5 says it as debug info: an op is a function inlined into its kernel.
// RUN: blockscale-opt %s --pass-pipeline='builtin.module(blockscale-gemm-to-ptx{arch=sm_107a})' --mlir-print-debuginfo | FileCheck %s --check-prefix=LEVEL5
// LEVEL5-DAG: emissionKind = DebugDirectivesOnly
// LEVEL5-DAG: #[[OP:.+]] = #llvm.di_subprogram<{{.*}}name = "blockscale.load_accumulator"
// LEVEL5-DAG: #[[KERNEL:.+]] = #llvm.di_subprogram<{{.*}}name = "gemm_0"
// LEVEL5-DAG: loc(fused<#[[KERNEL]]>
// LEVEL5-DAG: loc(fused<#[[OP]]>

!a = tensor<178x384xf4E2M1FN>
!sa = tensor<178x24xi8, #blockscale.scales<ue4m3, tiled>>
!b = tensor<256x384xf4E2M1FN>
!sb = tensor<256x24xi8, #blockscale.scales<ue4m3, tiled>>
func.func @gemm(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %bias: tensor<256xf32>) -> (tensor<178x256xf32>, tensor<178x256xf32>) {
  %c = tensor.empty() : tensor<178x256xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) outs(%c : tensor<178x256xf32>) -> tensor<178x256xf32>
  %e = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) bias(%bias : tensor<256xf32>) outs(%c : tensor<178x256xf32>) -> tensor<178x256xf32>
  return %d, %e : tensor<178x256xf32>, tensor<178x256xf32>
}
