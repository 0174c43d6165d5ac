// The kind and K that follow from formats, and what follows from a pinned width.
//
// RUN: blockscale-opt %s --blockscale-choose-schedule=arch=sm_107a | FileCheck %s --check-prefix=S107
// RUN: blockscale-opt %s --blockscale-choose-schedule=arch=sm_103a | FileCheck %s --check-prefix=S103
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_100a tile-n=256" | FileCheck %s --check-prefix=WIDE
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_100a tile-n=256 accumulators=1" | FileCheck %s --check-prefix=ONE
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_107a tile-n=256" | FileCheck %s --check-prefix=SIDE
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_107a tile-n=64 mma=mxf8f6f4" | FileCheck %s --check-prefix=NARROW

!fp4 = tensor<128x256xf4E2M1FN>
!fp6 = tensor<128x256xf6E2M3FN>
!fp8 = tensor<128x256xf8E5M2>
!s = tensor<128x8xi8, #blockscale.scales<ue8m0, tiled>>
!d = tensor<128x128xbf16>

// S107-LABEL: @fp4_fp8
// S107: mma = mxf8f6f4, inst = 128x128x64, cta_group = 1, tile = 128x128x128, stages = 12, accumulators = 2
// S103-LABEL: @fp4_fp8
// S103: mma = mxf8f6f4, inst = 128x128x32, cta_group = 1, tile = 128x128x128, stages = 6,
// Two accumulators of 256 columns fit beside the scales on sm_107a only; elsewhere they
// overlap. One leaves room for scales, and two of 64 for anything.
// WIDE-LABEL: @fp4_fp8
// WIDE: inst = 128x256x32, cta_group = 1, tile = 128x256x128, {{.*}} accumulators = 2, epilogue = tma_store, {{.*}}, accumulator_columns = overlapped>
// ONE-LABEL: @fp4_fp8
// ONE: accumulators = 1, epilogue = tma_store, staging = {{[12]}}, ctas = 148>
// SIDE-LABEL: @fp4_fp8
// SIDE: accumulators = 2, epilogue = tma_store, staging = {{[12]}}, ctas = 224>
// NARROW-LABEL: @fp4_fp8
// A row of 64 bf16 is one chunk of 128 bytes.
// NARROW: inst = 128x64x64, cta_group = 1, tile = 128x64x128, {{.*}} accumulators = 2, epilogue = tma_store, staging = 1
func.func @fp4_fp8(%a: !fp4, %sa: !s, %b: !fp8, %sb: !s, %c: !d) -> !d {
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !fp4, !s, !fp8, !s) outs(%c : !d) -> !d
  return %d : !d
}

// FP6 has no packed type of TMA: K stays 32.
// S107-LABEL: @fp6_fp8
// S107: mma = mxf8f6f4, inst = 128x128x32,
func.func @fp6_fp8(%a: !fp6, %sa: !s, %b: !fp8, %sb: !s, %c: !d) -> !d {
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !fp6, !s, !fp8, !s) outs(%c : !d) -> !d
  return %d : !d
}

// S107-LABEL: @fp4_fp4
// S107: mma = mxf4, inst = 128x128x128, cta_group = 1, tile = 128x128x256,
// NARROW-LABEL: @fp4_fp4
// NARROW: mma = mxf8f6f4, inst = 128x64x64, cta_group = 1, tile = 128x64x128,
func.func @fp4_fp4(%a: !fp4, %sa: !s, %b: !fp4, %sb: !s, %c: !d) -> !d {
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !fp4, !s, !fp4, !s) outs(%c : !d) -> !d
  return %d : !d
}
