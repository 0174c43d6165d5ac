// k split over clusters of 4 and of 2: planes of partial sums by distributed shared memory. ptxas
// spills nothing and does not make wgmma wait. Where k is not split nothing of it is there.
// REQUIRES: ptxas

// RUN: blockscale-translate --mlir-to-ptx --arch=sm_90a %s -o %t.ptx --manifest=%t.json
// RUN: FileCheck %s < %t.ptx
// RUN: FileCheck %s --check-prefix=MANIFEST < %t.json
// RUN: ptxas -v -arch=sm_90a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_90a --pin=split=1 %s -o %t.one
// RUN: FileCheck %s --check-prefix=ONE < %t.one

// CHECK: .entry gemm_0(
// CHECK: .reqntid 256
// CHECK: .explicitcluster
// CHECK-NEXT: .reqnctapercluster 4, 1, 1
// CHECK: wgmma.wait_group.sync.aligned 0
// CHECK: bar{{(rier)?}}.{{.*}}sync{{.*}} 1, 128
// CHECK-COUNT-8: st.shared.b32
// CHECK: barrier.cluster.arrive.aligned
// CHECK: barrier.cluster.wait.aligned
// CHECK-COUNT-4: ld.shared::cluster.v4
// CHECK: st.global.v4
// CHECK: barrier.cluster.arrive.aligned
// CHECK: barrier.cluster.wait.aligned
// CHECK: .entry gemm_1(
// CHECK: .reqnctapercluster 2, 1, 1
// CHECK: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16

// MANIFEST: "cluster": [
// MANIFEST-NEXT: 4,
// MANIFEST: "grid": [
// MANIFEST-NEXT: 224,
// MANIFEST: "cluster": [
// MANIFEST-NEXT: 2,

// PTXAS-NOT: serialized
// PTXAS-NOT: {{[1-9][0-9]*}} bytes spill
// PTXAS: Used {{.*}} registers
// PTXAS-NOT: serialized
// PTXAS-NOT: {{[1-9][0-9]*}} bytes spill
// PTXAS: Used {{.*}} registers

// ONE-NOT: cluster{{[ .](2|4|arrive|wait|v4)}}

!w = tensor<3584x10656xi8, #blockscale.blocks<q4_K>>
func.func @few(%a: tensor<16x18944xf16>, %w: !w) -> tensor<16x3584xf32> {
  %c = tensor.empty() : tensor<16x3584xf32>
  %d = blockscale.gemm ins(%a, %w : tensor<16x18944xf16>, !w)
       outs(%c : tensor<16x3584xf32>) {contract = #blockscale.contract<halves>} -> tensor<16x3584xf32>
  return %d : tensor<16x3584xf32>
}
!v = tensor<2559x10656xi8, #blockscale.blocks<q4_K>>
func.func @ragged(%a: tensor<600x18944xf16>, %w: !v) -> tensor<600x2559xf32> {
  %c = tensor.empty() : tensor<600x2559xf32>
  %d = blockscale.gemm ins(%a, %w : tensor<600x18944xf16>, !v)
       outs(%c : tensor<600x2559xf32>) {contract = #blockscale.contract<halves>} -> tensor<600x2559xf32>
  return %d : tensor<600x2559xf32>
}
