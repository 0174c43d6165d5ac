// Host code around products does not stop a translation: every function's products
// become kernels, whatever the host computes between them.
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_107a %examples/minilm_ffn.mlir -o %t.ffn.ptx
// RUN: FileCheck %s --check-prefix=FFN < %t.ffn.ptx
// RUN: not blockscale-translate --mlir-to-ptx --arch=sm_107a %s -o %t.none --manifest=%t.json 2>&1 | FileCheck %s --check-prefix=MANIFEST
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_107a %s -o %t.ptx
// RUN: FileCheck %s < %t.ptx

// Three functions of two products each.
// FFN-COUNT-6: .visible .entry gemm_
// FFN-NOT: .entry

// MANIFEST: host-code.mlir:{{[0-9]+}}:{{[0-9]+}}: error: {{.*}}manifest_c

// The layer leaves nothing to the host: a list of launches is all of it, and what a kernel
// quantises, the product behind it reads where it lies.
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_107a %examples/minilm_ffn.mlir -o %t.ffn.ptx --manifest=%t.ffn.json
// RUN: %python -c "import json, sys; k = json.load(open(sys.argv[1]))['kernels'][:5]; [print(x['name'], *(p.get('buffer', '-') for p in x['params'])) for x in k]" %t.ffn.json | FileCheck %s --check-prefix=LAYER
// LAYER: quantize_0 quantize_0.x quantize_0.q quantize_0.scales
// LAYER: gemm_0 quantize_0.q quantize_1.q quantize_0.scales quantize_1.scales gemm_0.d gemm_0.d_scales gemm_0.bias
// LAYER: gemm_1 gemm_0.d quantize_2.q gemm_0.d_scales quantize_2.scales gemm_1.d gemm_1.bias

// CHECK: .visible .entry gemm_0(
// CHECK: .visible .entry gemm_1(
// CHECK-NOT: .entry

!e = tensor<128x64xf4E2M1FN>
!s = tensor<128x4xi8, #blockscale.scales<ue4m3, tiled>>
!d = tensor<128x128xf32>
func.func @branch(%a: !e, %s: !s, %which: i1) -> !d {
  %c = tensor.empty() : !d
  %r = scf.if %which -> !d {
    %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !e, !s, !e, !s) outs(%c : !d) -> !d
    %twice = arith.addf %d, %d : !d
    scf.yield %twice : !d
  } else {
    %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !e, !s, !e, !s) outs(%c : !d) -> !d
    %root = math.sqrt %d : !d
    scf.yield %root : !d
  }
  return %r : !d
}
