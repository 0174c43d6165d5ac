// A function behind the product: within 2^-20 of the argument, and under every timing. The same in
// numpy with erfc, tanh and exp of f64.
// RUN: %python %S/Inputs/activations.py %t make
// RUN: blockscale-run %s --entry=relu --arch=sm_100a --arg=%t/a.npy --arg=%t/sa.npy --arg=%t/b.npy --arg=%t/sb.npy --arg=%t/bias.npy --out=%t/relu.npy --check --seeds=2 | FileCheck %s
// RUN: %python %S/Inputs/activations.py %t check relu %t/relu.npy
// RUN: blockscale-run %s --entry=gelu --arch=sm_100a --arg=%t/a.npy --arg=%t/sa.npy --arg=%t/b.npy --arg=%t/sb.npy --arg=%t/bias.npy --out=%t/gelu.npy --check --seeds=2 | FileCheck %s
// RUN: %python %S/Inputs/activations.py %t check gelu %t/gelu.npy
// RUN: blockscale-run %s --entry=gelu_tanh --arch=sm_103a --arg=%t/a.npy --arg=%t/sa.npy --arg=%t/b.npy --arg=%t/sb.npy --arg=%t/bias.npy --out=%t/gelu_tanh.npy --check --seeds=2 | FileCheck %s
// RUN: %python %S/Inputs/activations.py %t check gelu_tanh %t/gelu_tanh.npy
// RUN: blockscale-run %s --entry=silu --arch=sm_107a --arg=%t/a.npy --arg=%t/sa.npy --arg=%t/b.npy --arg=%t/sb.npy --arg=%t/bias.npy --out=%t/silu.npy --check --seeds=2 | FileCheck %s
// RUN: %python %S/Inputs/activations.py %t check silu %t/silu.npy
// CHECK: kernel gemm_{{.}}: mxfp8 37x72x128
// CHECK: same bits under earliest, latest, seed 0, seed 1

// Each is told from the others.
// RUN: not %python %S/Inputs/activations.py %t check gelu %t/gelu_tanh.npy
// RUN: not %python %S/Inputs/activations.py %t check gelu_tanh %t/gelu.npy
// RUN: not %python %S/Inputs/activations.py %t check silu %t/relu.npy

// Two instructions of the special function unit for an element, and none of relu.
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_100a %s -o %t/k.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t/k.ptx
// PTX-LABEL: .entry gemm_0
// PTX-NOT: ex2
// PTX: max.NaN.f32
// PTX-LABEL: .entry gemm_1
// PTX-COUNT-8: ex2.approx.ftz.f32
// PTX-LABEL: .entry gemm_2

// RUN: sed 's/activation<relu>/activation<none>/' %s > %t/none.mlir
// RUN: not blockscale-opt %t/none.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: gemm_c29: activation must be relu, gelu, gelu_tanh or silu, got none

!a = tensor<37x128xf8E4M3FN>
!sa = tensor<37x4xi8, #blockscale.scales<ue8m0, linear>>
!b = tensor<72x128xf8E4M3FN>
!sb = tensor<72x4xi8, #blockscale.scales<ue8m0, linear>>

func.func @relu(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %bias: tensor<72xf32>) -> tensor<37x72xf32> {
  %c = tensor.empty() : tensor<37x72xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) bias(%bias : tensor<72xf32>)
    outs(%c : tensor<37x72xf32>) {activation = #blockscale.activation<relu>} -> tensor<37x72xf32>
  return %d : tensor<37x72xf32>
}

func.func @gelu(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %bias: tensor<72xf32>) -> tensor<37x72xf32> {
  %c = tensor.empty() : tensor<37x72xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) bias(%bias : tensor<72xf32>)
    outs(%c : tensor<37x72xf32>) {activation = #blockscale.activation<gelu>} -> tensor<37x72xf32>
  return %d : tensor<37x72xf32>
}

func.func @gelu_tanh(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %bias: tensor<72xf32>) -> tensor<37x72xf32> {
  %c = tensor.empty() : tensor<37x72xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) bias(%bias : tensor<72xf32>)
    outs(%c : tensor<37x72xf32>) {activation = #blockscale.activation<gelu_tanh>} -> tensor<37x72xf32>
  return %d : tensor<37x72xf32>
}

func.func @silu(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %bias: tensor<72xf32>) -> tensor<37x72xf32> {
  %c = tensor.empty() : tensor<37x72xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) bias(%bias : tensor<72xf32>)
    outs(%c : tensor<37x72xf32>) {activation = #blockscale.activation<silu>} -> tensor<37x72xf32>
  return %d : tensor<37x72xf32>
}
