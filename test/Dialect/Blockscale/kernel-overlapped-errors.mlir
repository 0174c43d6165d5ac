// A kernel with overlapped accumulators, with one thing changed.
//
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel -o %t.mlir
// RUN: sed 's/accumulators = \[0, 208\]/accumulators = [0, 207]/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=APART
// APART: kernel_c8: overlapped accumulators must start 208 columns apart, got 0 and 207
// RUN: sed 's/sfa = 464/sfa = 460/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=SCALES
// SCALES: kernel_c8: columns of accumulators and sfa must not overlap, got 0..463 and 460..475
// RUN: sed 's/, accumulator_columns = overlapped//; s/<stages = 1, \(.*\) producer = mma/<stages = 2, \1 producer = mma/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=DISJOINT
// DISJOINT: schedule_c6: accumulators and scales must fit tensor memory, got 2 x 256 + 16 + 32 = 560 columns
// Barriers of two stages lie where the slot was.
// RUN: sed 's/<stages = 1, full = 143392, empty = 143400/<stages = 2, full = 143392, empty = 143408/; s/slot = 143408/slot = 143424/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=RING
// RING: kernel_c9: stages must be the schedule's 1, got 2
// RUN: sed -E 's/column 192/column 160/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: kernel_c15: column must be 192, the next one of the stage, got 160
// RUN: sed -E 's/(load_accumulator %[0-9]+)\[%c0_i32[_0-9]*\] column 224/\1[%arg6] column 224/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: kernel_c15: accumulator must be a constant 0 or 1 where they are overlapped, got a value
// RUN: %python %S/Inputs/release_early.py %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: kernel_c15: the 48 columns that the next tile may write must be read before the stage is released, got 32
// RUN: sed -E 's/(into %[0-9]+)\[%[a-z0-9_#]+\] if/\1[%c0_i32] if/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=TURN
// TURN: kernel_c19: overlapped accumulator must be the phase in which the ring was acquired, got another value

func.func @n256(%a: memref<34176xi8>, %sfa: memref<6144xi8>, %b: memref<61440xi8>,
                %sfb: memref<9216xi8>, %d: memref<178x320xbf16>) {
  blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb
    : memref<34176xi8>, memref<6144xi8>, memref<61440xi8>, memref<9216xi8>) outs(%d : memref<178x320xbf16>)
    {problem = #blockscale.problem<m = 178, n = 320, k = 384, a = e2m1, b = e2m1, scale = ue4m3, block = 16,
       sfa = tiled, sfb = tiled, out = bf16>,
     schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x256x64, cta_group = 1,
       tile = 128x256x256, stages = 2, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 1,
       accumulator_columns = overlapped>}
  return
}
