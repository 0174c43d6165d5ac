// The kernel of a pair in a cluster of two, with one thing changed.
//
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel -o %t.mlir
// RUN: sed 's/ share *sfb / /' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: kernel_c21: box must be loaded as a share of sfb, which 2 CTAs need, got the whole box
// RUN: sed 's/ share *sfb / share b /' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: kernel_c21: box must be loaded as a share of sfb, which 2 CTAs need, got a share of b
// RUN: sed 's/ to %0 for/ to %0 share a for/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE: kernel_c21: box must be loaded whole, since no other CTA needs it, got a share of a
// The bytes of both CTAs come to the even one's barrier, but not once more for each CTA of a cluster.
// RUN: sed 's/bytes = 68608/bytes = 34304/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=HALF
// HALF: kernel_c10: transaction bytes must be what the loads of one stage bring, 68608, got 34304
// RUN: sed 's/consumers = 8/consumers = 4/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=WARPS
// WARPS: kernel_c11: consumers must be 8 for role epilogue, got 4
// RUN: sed 's/consumers = 1>/consumers = 2>/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=READERS
// READERS: kernel_c11: consumers must be 1 for role mma, got 2
// RUN: sed 's/cluster .2, 1, 1/cluster [1, 1, 1/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=LAUNCH
// LAUNCH: launch_c2: cluster must be [2, 1, 1], got [1, 1, 1]
// RUN: blockscale-opt %t.mlir --blockscale-lower-kernel-to-machine -o %t2.mlir
// D36: a kernel has one cta_group.
// RUN: sed 's/tcgen05_alloc pair/tcgen05_alloc/' %t2.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=GROUP
// GROUP: machine_c10: cta_group must be the schedule's 2, got 1
func.func @pair(%a: memref<131072xi8>, %sfa: memref<4096xi8>, %b: memref<131072xi8>,
                %sfb: memref<4096xi8>, %d: memref<512x512xf32>) {
  blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb
    : memref<131072xi8>, memref<4096xi8>, memref<131072xi8>, memref<4096xi8>) outs(%d : memref<512x512xf32>)
    {problem = #blockscale.problem<m = 512, n = 512, k = 256, a = e4m3, b = e4m3, scale = ue8m0, block = 32,
       sfa = tiled, sfb = tiled, out = f32>,
     schedule = #blockscale.schedule<arch = sm_100a, mma = mxf8f6f4, inst = 256x256x32, cta_group = 2,
       tile = 256x256x128, stages = 2, accumulators = 1, epilogue = tma_store, staging = 2, ctas = 8, cluster = 2x1>}
  return
}
