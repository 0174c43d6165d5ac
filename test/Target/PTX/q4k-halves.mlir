// Products of f16 activations on sm_90a: ptxas spills nothing and does not make wgmma wait.
// REQUIRES: ptxas

// RUN: blockscale-translate --mlir-to-ptx --arch=sm_90a %s -o %t.ptx --manifest=%t.json
// RUN: FileCheck %s < %t.ptx
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_90a --pin=split=1 %s -o %t.one && diff %t.ptx %t.one
// RUN: ptxas -v -arch=sm_90a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS

// CHECK: .entry gemm_0(
// CHECK: .reqntid 384
// CHECK: .minnctapersm 1
// CHECK: setmaxnreg.dec.sync.aligned.u32 32
// CHECK: cp.async.bulk.tensor.2d.shared::cluster.global
// CHECK: setmaxnreg.inc.sync.aligned.u32 232
// CHECK: prmt.b32
// CHECK: fma.rn.f16x2
// CHECK: wgmma.fence.sync.aligned
// CHECK: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
// CHECK: wgmma.commit_group.sync.aligned
// CHECK: wgmma.wait_group.sync.aligned 1
// CHECK: .entry gemm_1(
// CHECK: .minnctapersm 3
// CHECK: wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16

// PTXAS-NOT: serialized
// PTXAS-NOT: {{[1-9][0-9]*}} bytes spill
// PTXAS: Used {{.*}} registers
// PTXAS-NOT: serialized
// PTXAS-NOT: {{[1-9][0-9]*}} bytes spill
// PTXAS: Used {{.*}} registers

!w = tensor<18944x2016xi8, #blockscale.blocks<q4_K>>
func.func @many(%a: tensor<2048x3584xf16>, %w: !w) -> tensor<2048x18944xf32> {
  %c = tensor.empty() : tensor<2048x18944xf32>
  %d = blockscale.gemm ins(%a, %w : tensor<2048x3584xf16>, !w)
       outs(%c : tensor<2048x18944xf32>) {contract = #blockscale.contract<halves>} -> tensor<2048x18944xf32>
  return %d : tensor<2048x18944xf32>
}
func.func @few(%a: tensor<16x3584xf16>, %w: !w) -> tensor<16x18944xf32> {
  %c = tensor.empty() : tensor<16x18944xf32>
  %d = blockscale.gemm ins(%a, %w : tensor<16x3584xf16>, !w)
       outs(%c : tensor<16x18944xf32>) {contract = #blockscale.contract<any>} -> tensor<16x18944xf32>
  return %d : tensor<16x18944xf32>
}
