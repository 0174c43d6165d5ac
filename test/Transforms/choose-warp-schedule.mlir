// The kernel of a product of blocks: by traffic for each block that an SM holds, or
// pinned; and what runs where it cannot.

// RUN: blockscale-opt %s --blockscale-choose-schedule=arch=sm_90a | FileCheck %s
// RUN: blockscale-opt %s --blockscale-choose-schedule=arch=sm_121a | FileCheck %s --check-prefix=GB10
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_90a sums=packed" | FileCheck %s --check-prefix=PACKED
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_90a kernel=wide" | FileCheck %s --check-prefix=WIDE
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_90a kernel=narrow" | FileCheck %s --check-prefix=NARROW
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_90a kd=4" | FileCheck %s --check-prefix=KD4
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_89 kd=16" | FileCheck %s --check-prefix=KD16
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_90a kd=16" | FileCheck %s --check-prefix=KD16-HOPPER
// RUN: not blockscale-opt %s --blockscale-choose-schedule="arch=sm_89 kd=32" 2>&1 | FileCheck %s --check-prefix=OVER
// RUN: sed -e 's/4480/4160/;s/4480/4160/g;s/2016/1872/g' %s > %t.odd.mlir
// RUN: not blockscale-opt %t.odd.mlir --blockscale-choose-schedule="arch=sm_89 kd=16" 2>&1 | FileCheck %s --check-prefix=ODD
// RUN: not blockscale-opt %s --blockscale-choose-schedule="arch=sm_90a kernel=narrow kd=4" 2>&1 | FileCheck %s --check-prefix=LAST
// RUN: not blockscale-opt %s --blockscale-choose-schedule="arch=sm_90a kernel=tall" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_90a stages=1 convert=cvt flight=4" | FileCheck %s --check-prefix=FIELDS
// RUN: blockscale-opt %s --blockscale-choose-schedule="arch=sm_90a pragma=mma_throughput" | FileCheck %s --check-prefix=PRAGMA
// RUN: not blockscale-opt %s --blockscale-choose-schedule="arch=sm_90a pragma=nounroll" 2>&1 | FileCheck %s --check-prefix=NOUNROLL
// RUN: not blockscale-opt %s --blockscale-choose-schedule="arch=sm_90a kernel=wide stages=2" 2>&1 | FileCheck %s --check-prefix=STAGES
// RUN: not blockscale-opt %s --blockscale-choose-schedule="arch=sm_90a stages=5" 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not blockscale-opt %s --blockscale-choose-schedule="arch=sm_90a activations=transposed" 2>&1 | FileCheck %s --check-prefix=RELAYOUT
// RUN: not blockscale-opt %s --blockscale-choose-schedule="arch=sm_90a kd=65" 2>&1 | FileCheck %s --check-prefix=CHUNKS
// RUN: not blockscale-opt %s --blockscale-choose-schedule="arch=sm_90a kd=4 split=2" 2>&1 | FileCheck %s --check-prefix=KD4-SPLIT
// RUN: not blockscale-opt %s --blockscale-choose-schedule="arch=sm_90a kd=4 stages=2" 2>&1 | FileCheck %s --check-prefix=KD4-STAGES
// A field that no product of blocks has would be lost in silence.
// RUN: not blockscale-opt %s --blockscale-choose-schedule="arch=sm_90a mma=mxf4 tile-m=256 tile-n=64 inst-k=32 accumulators=1 epilogue=plain_store staging=1 ctas=2 cta-group=2 cluster=2x1" 2>&1 | FileCheck %s --check-prefix=SCALED
// RUN: not blockscale-translate --mlir-to-ptx --arch=sm_90a --pin=tile-n=64 %s -o %t.none 2>&1 | FileCheck %s --check-prefix=SCALED-ONE
// RUN: not blockscale-opt %s --blockscale-choose-schedule="arch=sm_90a quantizer=host" 2>&1 | FileCheck %s --check-prefix=QUANTIZER
// RUN: not blockscale-opt %s --blockscale-choose-schedule=arch=sm_86 2>&1 | FileCheck %s --check-prefix=CHIP

// CHECK: warp_schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, stages = 2, threads = 256, blocks = 2>
// CHECK-NOT: blockscale.fallback
// GB10: kernel = raw_nibble, tile = 64x128x256, sums = two_word, flight = 1, threads = 256, blocks = 2
// PACKED: kernel = raw_nibble, tile = 64x128x256, sums = packed, stages = 2, threads = 256, blocks = 2
// WIDE: kernel = wide, tile = 128x128x256, sums = two_word, threads = 256, blocks = 1
// NARROW: kernel = narrow, tile = 64x64x256, sums = two_word, threads = 256, blocks = 2
// KD4: blockscale.fallback = "raw_nibble: kd must be 8, got 4"
// KD4-SAME: kernel = wide, tile = 128x128x128, sums = two_word, threads = 256, blocks = 1
// KD16: blockscale.fallback = "raw_nibble: kd must be 8, got 16; wide: shared memory must be at most 101376 bytes, got 196608"
// KD16-SAME: kernel = narrow, tile = 64x64x512, sums = two_word, threads = 256, blocks = 1
// KD16-HOPPER: blockscale.fallback = "raw_nibble: kd must be 8, got 16"
// KD16-HOPPER-SAME: kernel = wide, tile = 128x128x512, sums = two_word, threads = 256, blocks = 1
// OVER: warp_schedule_c3: a kernel must fit sm_89, got none: raw_nibble: kd must be 8, got 32; wide: kd must be 4, 8 or 16, got 32; narrow: kd must be 8 or 16, got 32
// ODD: got none: raw_nibble: kd must be 8, got 16; wide: shared memory must be at most 101376 bytes, got 196608; narrow: k must be a multiple of 512, got 3328
// LAST: warp_schedule_c3: a kernel must fit sm_90a, got none: narrow: kd must be 8 or 16, got 4
// UNKNOWN: warp_schedule_c2: kernel must be raw_nibble, wide, narrow or dequantise_wgmma, got 'tall'
// FIELDS: sums = two_word, convert = cvt, flight = 4, threads = 256, blocks = 2>
// PRAGMA: sums = two_word, stages = 2, pragma = mma_throughput, threads = 256, blocks = 2>
// NOUNROLL: warp_schedule_c2: pragma must be none or mma_throughput, got 'nounroll'
// STAGES: warp_schedule_c7: stages of wide with chunks on sm_90a must be 1 .. 1, got 2
// MANY: warp_schedule_c7: stages must be 1 .. 4, got 5
// RELAYOUT: gemm_c24: a must be the q8_1_tile that the schedule reads, got q8_1_chunk; run blockscale-insert-relayouts first, with the same pins
// CHUNKS: warp_schedule_c4: kd must be 1 .. 64 chunks of 32, got 65
// KD4-SPLIT: warp_schedule_c3: a kernel must fit sm_90a, got none: raw_nibble: kd must be 8, got 4; wide: split must be 1, got 2; narrow: kd must be
// KD4-STAGES: got none: raw_nibble: kd must be 8, got 4; wide: stages must be 1, got 2; narrow: kd must be
// SCALED: choose-warp-schedule.mlir:[[#]]:[[#]]: error: 'blockscale.gemm' op schedule_c19: pinned fields of a product of blocks must be kernel, kd, sums, activations, minima, convert, weights, pragma, stages, flight, warp-rows, split or, where activations are quantised, quantizer, got mma, epilogue, cluster, tile-m, tile-n, inst-k, accumulators, staging, ctas, cta-group
// SCALED-ONE: choose-warp-schedule.mlir:[[#]]:[[#]]: error: {{.*}}schedule_c19: {{.*}}, got tile-n{{$}}
// QUANTIZER: schedule_c19: {{.*}}, got quantizer
// CHIP: schedule_c1: chip must have

func.func @project(%a: tensor<512x4480xi8, #blockscale.blocks<q8_1_chunk>>,
                   %w: tensor<18944x2016xi8, #blockscale.blocks<q4_K>>,
                   %c: tensor<512x18944xf32>) -> tensor<512x18944xf32> {
  %d = blockscale.gemm ins(%a, %w : tensor<512x4480xi8, #blockscale.blocks<q8_1_chunk>>, tensor<18944x2016xi8, #blockscale.blocks<q4_K>>)
       outs(%c : tensor<512x18944xf32>) -> tensor<512x18944xf32>
  return %d : tensor<512x18944xf32>
}
