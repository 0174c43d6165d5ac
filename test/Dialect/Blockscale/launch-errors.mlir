// A launch against its kernel, one change at a time.
// RUN: blockscale-opt %s -o %t.mlir

// RUN: sed 's/grid .1, 1, 1/grid [1, 1/' %s | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C1
// C1: launch_c1: grid must have 3 extents, got 2
// RUN: sed 's/block .192, 1, 1/block [128, 1, 1/' %s | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C2-BLOCK
// C2-BLOCK: launch_c2: block must be [192, 1, 1], got [128, 1, 1]
// RUN: sed 's/block .192, 1, 1/block [192, 2, 1/' %s | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C2-Y
// C2-Y: launch_c2: block must be [192, 1, 1], got [192, 2, 1]
// RUN: sed 's/cluster .1, 1, 1/cluster [2, 1, 1/' %s | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C2-CLUSTER
// C2-CLUSTER: launch_c2: cluster must be [1, 1, 1], got [2, 1, 1]
// RUN: sed 's/shared 90240/shared 90112/' %s | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C3-BYTES
// C3-BYTES: launch_c3: shared bytes must be the kernel's 90240, got 90112
// RUN: sed 's/shared 90240/shared 90240 oversized/' %s | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C3-MODE
// C3-MODE: launch_c3: launch must not be oversized for 90240 shared bytes, got an oversized one
// RUN: sed 's/, %bias, %alpha : !m, !m, !m, !m, !m, !b, f32/, %bias : !m, !m, !m, !m, !m, !b/' %s | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C4-COUNT
// C4-COUNT: launch_c4: parameters must be 7, got 6
// RUN: sed 's/%d : !m, !m, !m, !m, !m, !b, f32/%d : !m, !m, !m, !m, !m, !b, f32/; s/%bias, %alpha : !m, !m, !m, !m, !m, !b, f32/%alpha, %bias : !m, !m, !m, !m, !m, f32, !b/' %s | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C4-TYPE
// C4-TYPE: launch_c4: parameter 5 must be '!blockscale.buffer', got 'f32'
// RUN: sed 's/grid .1, 1, 1/grid [2, 1, 1/' %s | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C5-CTAS
// C5-CTAS: launch_c5: grid must be [1, 1, 1] for 4 tiles and ctas = 1, got [2, 1, 1]
// RUN: sed 's/ctas = 1>/ctas = 9>/; s/grid .1, 1, 1/grid [9, 1, 1/' %s | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C5-TILES
// C5-TILES: launch_c5: grid must be [4, 1, 1] for 4 tiles and ctas = 9, got [9, 1, 1]
// The problem's m decides how many tiles there are; the map of A knows the rows.
// RUN: sed 's/m = 130/m = 129/' %s | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C6-M
// C6-M: launch_c6: map of a must be {{.*}}dims = [192, 129]{{.*}}, got {{.*}}dims = [192, 130]
// RUN: sed 's/n = 160/n = 176/' %s | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C6-N
// C6-N: launch_c6: map of b must be {{.*}}dims = [192, 176]{{.*}}, got {{.*}}dims = [192, 160]
// RUN: sed 's/(%ma, %mb,/(%ma, %msfb,/' %s | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C6-ORDER
// C6-ORDER: launch_c6: map of b must be {{.*}}, got {{.*}}dims = [256, 6, 2]
// RUN: sed 's/fill = zero/fill = nan/' %s | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C6-FILL
// C6-FILL: launch_c6: map of a must be {{.*}}fill = zero{{.*}}, got {{.*}}fill = nan
// Another L2 promotion gives the same result.
// RUN: sed 's/l2 = b128/l2 = b256/' %s | blockscale-opt -o %t2.mlir
// RUN: sed 's/alloc 640/alloc 624/' %s | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C7
// C7: launch_c7: buffer of bias or c or alpha_rows or alpha_columns must have 640 or 41600 or {{[0-9]+}} or 640 bytes, got 624
// RUN: sed 's/shared_bytes = 90240/shared_bytes = 90368/; s/shared 90240/shared 90368/' %s | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C8-BYTES
// C8-BYTES: launch_c8: shared bytes of the schedule must be 90240, got 90368
// RUN: sed 's/_alloc %base, 512/_alloc %base, 256/' %s | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C8-COLUMNS
// C8-COLUMNS: launch_c8: columns of the schedule must be 512, got 256

// What the kernel says of itself is checked at the machine level too.
// RUN: sed 's/cta_group = 1/cta_group = 2/' %s | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=GROUP
// GROUP: schedule_c4: m of inst must be 256 for a pair
// RUN: sed 's/stages = 2/stages = 9/' %s | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=STAGES
// STAGES: schedule_c9: stages must fit the
// RUN: sed 's/ctas = 1>/ctas = 0>/' %s | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=CTAS
// CTAS: schedule_c10: ctas must be 1 .. 2^31 - 1, got 0
// RUN: sed 's/block = 16/block = 32/' %s | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=BLOCK
// BLOCK: launch_c6: map of sfa must be
// RUN: sed 's/k = 384/k = 392/' %s | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=K
// K: gemm_c7: k must be a whole number of scale blocks
// RUN: sed 's/k = 384/k = 368/' %s | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=PITCH
// PITCH: gemm_c13: row pitch of a must be a multiple of 16
// RUN: sed 's/alloc 24960/alloc 27040/; s/192, 130., strides = .192/192, 130], strides = [208/; s/out = bf16>/out = bf16, pitch_a = 208>/' %s > %t.pitched.mlir
// RUN: not blockscale-opt %t.pitched.mlir 2>&1 | FileCheck %s --check-prefix=C11
// C11: launch_c11: buffer of the pitched operand a must have at least 131072 bytes, got 27040
// RUN: sed 's/alloc 27040/alloc 131072/' %t.pitched.mlir | blockscale-opt -o %t.pitched.out
// RUN: sed 's/sfb = tiled/sfb = linear/' %s | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=LAYOUT
// LAYOUT: gemm_c14: sfb must have layout tiled, got linear

!m = !blockscale.tensor_map
!b = !blockscale.buffer
func.func @f(%alpha: f32) {
  %a = blockscale.alloc 24960
  %sfa = blockscale.alloc 6144
  %b = blockscale.alloc 30720
  %sfb = blockscale.alloc 6144
  %bias = blockscale.alloc 640
  %d = blockscale.alloc 41600
  %ma = blockscale.tensor_map %a, <type = u8, dims = [192, 130], strides = [192], box = [128, 128], element_strides = [1, 1], swizzle = b128, fill = zero, l2 = b128>
  %mb = blockscale.tensor_map %b, <type = u8, dims = [192, 160], strides = [192], box = [128, 128], element_strides = [1, 1], swizzle = b128, fill = zero, l2 = b128>
  %msfa = blockscale.tensor_map %sfa, <type = u16, dims = [256, 6, 2], strides = [512, 3072], box = [256, 4, 1], element_strides = [1, 1, 1], swizzle = none, fill = zero, l2 = b128>
  %msfb = blockscale.tensor_map %sfb, <type = u16, dims = [256, 6, 2], strides = [512, 3072], box = [256, 4, 1], element_strides = [1, 1, 1], swizzle = none, fill = zero, l2 = b128>
  %md = blockscale.tensor_map %d, <type = u16, dims = [160, 130], strides = [320], box = [64, 32], element_strides = [1, 1], swizzle = b128, fill = zero, l2 = none>
  blockscale.launch @kernels::@k grid [1, 1, 1] block [192, 1, 1] cluster [1, 1, 1] shared 90240
    (%ma, %mb, %msfa, %msfb, %md, %bias, %alpha : !m, !m, !m, !m, !m, !b, f32)
  return
}
module @kernels attributes {blockscale.arch = "sm_107a"} {
  blockscale.kernel @k(%a: !m, %b: !m, %sfa: !m, %sfb: !m, %d: !m, %bias: !b, %alpha: f32) attributes {
      problem = #blockscale.problem<m = 130, n = 160, k = 384, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = bf16>,
      schedule = #blockscale.schedule<arch = sm_107a, mma = mxf4nvf4, inst = 128x128x128, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 1>,
      shared_bytes = 90240, threads = 192} {
    %base = blockscale.shared_base
    blockscale.tcgen05_alloc %base, 512
    %tmem = blockscale.ld_shared %base
    blockscale.tcgen05_dealloc %tmem, 512
    blockscale.return
  }
}
