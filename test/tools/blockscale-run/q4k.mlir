// Activations are quantised before a product of blocks; the report names the kernel that
// ran, and why not the first choice.
// RUN: %python %S/Inputs/make.py %t.x.npy='np.float32([[127] * 256, [0] * 256])' %t.w.npy='np.zeros((3, 144), np.uint8)'
// RUN: blockscale-run %s --entry=f --arch=sm_90a --arg=%t.x.npy --arg=%t.w.npy --out=%t.d.npy --check | FileCheck %s
// RUN: %python %S/Inputs/expect.py %t.d.npy 'np.zeros((2, 3), np.float32)'
// RUN: blockscale-run %s --entry=f --arch=sm_90a --pin=kd=4 --arg=%t.x.npy --arg=%t.w.npy --out=%t.d.npy --check | FileCheck %s --check-prefix=FALLBACK
// RUN: blockscale-run %s --entry=f --arch=sm_80 --pin=sums=packed --arg=%t.x.npy --arg=%t.w.npy --out=%t.d.npy | FileCheck %s --check-prefix=PACKED
// Times of both kernels and what was planned; the emulator knows no registers.
// RUN: blockscale-run %s --entry=f --arch=sm_90a --arg=%t.x.npy --arg=%t.w.npy --warmup=1 --repeat=2 --report=%t.json | FileCheck %s --check-prefix=TIMES
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// Quantised by the host, the bytes of d are the same.
// RUN: blockscale-run %s --entry=f --arch=sm_90a --pin=quantizer=host --arg=%t.x.npy --arg=%t.w.npy --out=%t.h.npy --check | FileCheck %s --check-prefix=HOST --implicit-check-not=quantize_0
// RUN: cmp %t.d.npy %t.h.npy
// RUN: not blockscale-run %s --entry=f --arch=sm_100a --arg=%t.x.npy --arg=%t.w.npy 2>&1 | FileCheck %s --check-prefix=CHIP

// CHECK: kernel quantize_0: f32 to q8_1_tile 2x256, divide, 4 blocks/SM, grid 2x1x1, 0 shared bytes;
// CHECK: kernel gemm_0: q4_K x q8_1_tile 2x3x256, mma.sync s8 16x8x32, tile 64x128x256, raw_nibble, 3 stages, split 1, 2 blocks/SM, grid 1x1x1, 110640 shared bytes;
// FALLBACK: tile 128x128x128, wide, 1 stage, split 1, 1 blocks/SM, instead of raw_nibble: kd must be 8, got 4, grid 1x1x1, 49152 shared bytes;
// PACKED: raw_nibble, 1 stage, split 1, 2 blocks/SM, grid 1x1x1, 43008 shared bytes;
// TIMES: kernel quantize_0: {{.*}}, median of 2:
// TIMES: kernel gemm_0: {{.*}}, median of 2:
// TIMES: kernel          median us   least us    most us      TOPS      GB/s  planned blocks/SM registers local B
// TIMES: quantize_0 {{ *[0-9.]+ *[0-9.]+ *[0-9.]+}}         - {{ *[0-9.]+}}        4        -         -       -
// TIMES: gemm_0 {{ *[0-9.]+ *[0-9.]+ *[0-9.]+ *[0-9.]+}}         -        2        -         -       -
// JSON-COUNT-2: "launches": 2,
// HOST: kernel gemm_0: {{.*}} error
// CHIP: warp_schedule_c1: chip of a product of blocks must be one of sm_80, sm_89, sm_90a, sm_120a, sm_121a, got sm_100a

func.func @f(%x: tensor<2x256xf32>, %w: tensor<3x144xi8, #blockscale.blocks<q4_K>>) -> tensor<2x3xf32> {
  %c = tensor.empty() : tensor<2x3xf32>
  %d = blockscale.gemm ins(%x, %w : tensor<2x256xf32>, tensor<3x144xi8, #blockscale.blocks<q4_K>>)
       outs(%c : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %d : tensor<2x3xf32>
}
