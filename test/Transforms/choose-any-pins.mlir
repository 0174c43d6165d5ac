// A contract of any: a pinned field that only kernels of chunks have, or a split that only they
// have, chooses them; one that both have does not. A contract of halves has no such choice.

// RUN: blockscale-opt %s --blockscale-insert-relayouts=arch=sm_90a --blockscale-choose-schedule=arch=sm_90a | FileCheck %s --check-prefix=HALVES
// RUN: blockscale-opt %s --blockscale-insert-relayouts="arch=sm_90a split=2" --blockscale-choose-schedule="arch=sm_90a split=2" | FileCheck %s --check-prefix=HALVES
// RUN: blockscale-opt %s --blockscale-insert-relayouts="arch=sm_90a split=8" --blockscale-choose-schedule="arch=sm_90a split=8" | FileCheck %s --check-prefix=SPLIT
// RUN: blockscale-opt %s --blockscale-insert-relayouts="arch=sm_90a kd=4" --blockscale-choose-schedule="arch=sm_90a kd=4" | FileCheck %s --check-prefix=KD
// RUN: blockscale-opt %s --blockscale-insert-relayouts="arch=sm_90a pragma=mma_throughput" --blockscale-choose-schedule="arch=sm_90a pragma=mma_throughput" | FileCheck %s --check-prefix=PRAGMA
// RUN: blockscale-opt %s --blockscale-insert-relayouts="arch=sm_90a activations=transposed" --blockscale-choose-schedule="arch=sm_90a activations=transposed" | FileCheck %s --check-prefix=TILES
// RUN: not blockscale-opt %s --blockscale-choose-schedule="arch=sm_90a kernel=dequantise_wgmma flight=2 stages=2" 2>&1 | FileCheck %s --check-prefix=PINNED
// RUN: sed 's/contract<any>/contract<halves>/' %s > %t.mlir
// RUN: not blockscale-opt %t.mlir --blockscale-insert-relayouts="arch=sm_90a sums=packed" --blockscale-choose-schedule="arch=sm_90a sums=packed" 2>&1 | FileCheck %s --check-prefix=PACKED
// RUN: not blockscale-opt %t.mlir --blockscale-choose-schedule="arch=sm_90a split=8" 2>&1 | FileCheck %s --check-prefix=EIGHT
// RUN: not blockscale-opt %t.mlir --blockscale-choose-schedule="arch=sm_90a quantizer=host" 2>&1 | FileCheck %s --check-prefix=HOST

// HALVES-NOT: quantize_chunks
// HALVES: wgmma_schedule = #blockscale.wgmma_schedule<
// SPLIT: quantize_chunks
// SPLIT: warp_schedule<arch = sm_90a, kernel = raw_nibble, {{.*}} split = 8,
// KD: quantize_chunks
// KD: kernel = wide, tile = 128x128x128
// PRAGMA: pragma = mma_throughput
// TILES: quantize_chunks {{.*}}q8_1_tile
// TILES: activations = transposed
// PINNED: choose-any-pins.mlir:[[#]]:[[#]]: error: 'blockscale.gemm' op wgmma_schedule_c11: pinned fields of dequantise_wgmma must be kernel and split, got stages, flight
// PACKED: wgmma_schedule_c11: {{.*}}, got sums
// EIGHT: wgmma_schedule_c7: split must be 1, 2 or 4, got 8
// HOST: wgmma_schedule_c11: {{.*}}, got quantizer

func.func @any(%a: tensor<16x6656xf16>, %w: tensor<128x3744xi8, #blockscale.blocks<q4_K>>,
               %c: tensor<16x128xf32>) -> tensor<16x128xf32> {
  %d = blockscale.gemm ins(%a, %w : tensor<16x6656xf16>, tensor<128x3744xi8, #blockscale.blocks<q4_K>>)
       outs(%c : tensor<16x128xf32>) {contract = #blockscale.contract<any>} -> tensor<16x128xf32>
  return %d : tensor<16x128xf32>
}
