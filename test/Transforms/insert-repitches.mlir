// Copies of what TMA cannot fetch become visible when the schedule is chosen.
//
// RUN: blockscale-opt %s --blockscale-choose-schedule=arch=sm_100a | FileCheck %s
// RUN: blockscale-opt %s --blockscale-choose-schedule=arch=sm_107a | FileCheck %s --check-prefix=TIGHT
// RUN: blockscale-opt %s --blockscale-choose-schedule=arch=sm_100a --blockscale-insert-checks | FileCheck %s --check-prefix=CHECKS
// RUN: blockscale-opt %s -pass-pipeline='builtin.module(blockscale-choose-schedule{arch=sm_100a},blockscale-pack-narrow,blockscale-bufferize,blockscale-lower-gemm-to-kernel)' | FileCheck %s --check-prefix=HOST

!a = tensor<8x48xf4E2M1FN>
!s = tensor<8x3xi8, #blockscale.scales<ue4m3, tiled>>
// 24 bytes a row become 32, once for both operands.
// CHECK-LABEL: func.func @nvfp4
// CHECK-SAME: %[[A:[^:]*]]: tensor<8x48xf4E2M1FN>
// CHECK: %[[P:.*]] = blockscale.repitch %[[A]] : tensor<8x48xf4E2M1FN> -> tensor<8x48xf4E2M1FN, #blockscale.pitched<bytes = 32, zero_tail = true>>
// CHECK-NOT: blockscale.repitch
// CHECK: blockscale.gemm ins(%[[P]] scaled %{{.*}}, %[[P]] scaled
// The reference reads what was there before.
// CHECKS-LABEL: func.func @nvfp4
// CHECKS-SAME: %[[A:[^:]*]]: tensor<8x48xf4E2M1FN>
// CHECKS: blockscale.check_gemm "gemm_0" %{{.*}} of %[[A]] scaled %{{.*}}, %[[A]] scaled
// Bytes of the program, 128 KiB on the device: drivers want them of a tensor with gaps. TMA
// counts the bytes of a row and not what lies behind.
// HOST-LABEL: func.func @nvfp4
// HOST: blockscale.repitch %{{.*}} outs(%[[PITCHED:.*]] : memref<256xi8>) {rows = #blockscale.rows<count = 8, bytes = 24, from = 24, to = 32>} : memref<192xi8>
// HOST: %[[BUFFER:.*]] = blockscale.alloc 131072 {blockscale.name = "a"}
// HOST: blockscale.copy %[[PITCHED]] to %[[BUFFER]] : memref<256xi8> to !blockscale.buffer
// HOST: blockscale.tensor_map %[[BUFFER]], <type = u8, dims = [24, 8], strides = [32]
func.func @nvfp4(%a: !a, %s: !s, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

!g = tensor<8x160xf4E2M1FN>
!f = tensor<8x160xf8E4M3FN>
!t = tensor<8x5xi8, #blockscale.scales<ue8m0, tiled>>
// Where FP4 beside FP8 lies with gaps, TMA takes 128 elements at a time; of packed FP4 all 80
// bytes of a row are a whole number of 16.
// CHECK-LABEL: func.func @gaps
// CHECK: blockscale.repitch %{{.*}} -> tensor<8x160xf4E2M1FN, #blockscale.pitched<bytes = 128, zero_tail = true>>
// CHECK-NOT: blockscale.repitch
// TIGHT-LABEL: func.func @gaps
// TIGHT-NOT: blockscale.repitch
// TIGHT: return
// HOST-LABEL: func.func @gaps
// HOST: blockscale.tensor_map %{{.*}}, <type = u4_align16, dims = [256, 8], strides = [128]
func.func @gaps(%a: !g, %b: !f, %s: !t, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %d = blockscale.gemm ins(%a scaled %s, %b scaled %s : !g, !t, !f, !t) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

!p = tensor<8x64xf4E2M1FN, #blockscale.pitched<bytes = 48>>
!q = tensor<8x64xf4E2M1FN, #blockscale.pitched<bytes = 40>>
!u = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>
// A caller's pitch of whole 16 bytes is fetched as it is, another one is copied.
// CHECK-LABEL: func.func @apart
// CHECK-SAME: %[[P:[^:]*]]: tensor<8x64xf4E2M1FN, #blockscale.pitched<bytes = 48>>, %[[Q:[^:]*]]: tensor
// CHECK: %[[COPY:.*]] = blockscale.repitch %[[Q]] : {{.*}} -> tensor<8x64xf4E2M1FN>
// CHECK-NEXT: blockscale.gemm ins(%[[P]] scaled %{{.*}}, %[[COPY]] scaled
// CHECKS-LABEL: func.func @apart
// CHECKS: %[[COPY:.*]] = blockscale.repitch %{{.*}} -> tensor<8x64xf4E2M1FN>
// CHECKS: blockscale.gemm
// CHECKS: %[[DENSE:.*]] = blockscale.repitch %{{.*}} -> tensor<8x64xf4E2M1FN>
// CHECKS: blockscale.check_gemm "gemm_2" %{{.*}} of %[[DENSE]] scaled %{{.*}}, %[[COPY]] scaled
// HOST-LABEL: func.func @apart
// HOST-SAME: memref<384xi8> {blockscale.type = tensor<8x64xf4E2M1FN, #blockscale.pitched<bytes = 48>>}
// HOST: blockscale.alloc 131072 {blockscale.name = "a"}
// HOST: blockscale.tensor_map %{{.*}}, <type = u8, dims = [32, 8], strides = [48]
func.func @apart(%a: !p, %b: !q, %s: !u, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %d = blockscale.gemm ins(%a scaled %s, %b scaled %s : !p, !u, !q, !u) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}
