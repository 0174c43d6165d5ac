// Two products that share B, 512x256 by a pair: what lies where, and who takes turns.
//
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel -o %t.mlir
// RUN: FileCheck %s --check-prefix=KERNEL < %t.mlir
// RUN: blockscale-opt %t.mlir --blockscale-lower-kernel-to-machine -o %t2.mlir
// RUN: FileCheck %s --check-prefix=MACHINE < %t2.mlir
// RUN: blockscale-opt %t2.mlir --convert-blockscale-to-nvvm | FileCheck %s --check-prefix=NVVM
// RUN: sed 's/tiles 2 product 1/tiles 2 product 0/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: kernel_c14: scale tiles copied for sfa must be from 0, once for each product, got others
// RUN: sed 's/tiles 2 product 1/tiles 2 product 2/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: kernel_c13: product must be one of the 2 that share B, of sfa, got 2
// RUN: sed 's/tiles 2 from 2 product 1/tiles 2 from 3 product 1/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=INSIDE
// INSIDE: kernel_c13: tiles must lie inside the 4 of a stage, got 2 from 3
// RUN: sed 's/tiles 2 from 2 product 1/tiles 2 product 1/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=FROM
// FROM: kernel_c14: scale tiles copied for sfa must be from 2, once for each product, got others
// RUN: sed 's/steps 1 from 1/steps 2 from 1/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=STEPS
// STEPS: kernel_c14: steps must be 1..1, got 2

// 576 columns exactly: two products of 256, 32 of both products' scales of A, 32 of B's.
// Product i of CTA c has rows 256 i + 128 c + r of the tile: (128, 2, 2):(1, 256, 128), in two boxes of A and of its scales.
// KERNEL: blockscale.tensor_map {{.*}} box = [128, 128],
// KERNEL: blockscale.tensor_map {{.*}} box = [128, 128],
// KERNEL: blockscale.tensor_map {{.*}} box = [256, 4, 1],
// KERNEL: blockscale.tmem_plan <columns = 576, {{.*}} accumulators = [0], width = 512, sfa = 512, sfa_columns = 32, sfb = 544, sfb_columns = 32>
// KERNEL: %[[TILE:.+]] = arith.muli %row, %c512
// KERNEL: %[[RANK:.+]] = blockscale.pair_rank
// KERNEL: %[[CTA:.+]] = arith.muli %[[RANK]], %c128
// KERNEL: %[[KEEP:.+]] = arith.addi %[[TILE]], %[[CTA]]
// KERNEL: %[[TILES:.+]] = arith.muli %row, %c4
// KERNEL: %[[KEEPS:.+]] = arith.addi %[[TILES]], %[[RANK]]
// KERNEL: blockscale.tma_load %{{.+}}[%{{.+}}, %[[KEEP]]] to {{.*}} part 0
// KERNEL: %[[REUSE:.+]] = arith.addi %[[KEEP]], %c256
// KERNEL: blockscale.tma_load %{{.+}}[%{{.+}}, %[[REUSE]]] to {{.*}} part 1
// KERNEL: blockscale.tma_load %{{.+}}[%{{.+}}, %{{.+}}, %[[KEEPS]]] to {{.*}} part 0
// KERNEL: %[[REUSES:.+]] = arith.addi %[[KEEPS]], %c2
// KERNEL: blockscale.tma_load %{{.+}}[%{{.+}}, %{{.+}}, %[[REUSES]]] to {{.*}} part 1
// KERNEL: blockscale.copy_scales {{.*}} sfa tiles 2 product 0
// KERNEL: blockscale.copy_scales {{.*}} sfb tiles 2{{$}}
// KERNEL: blockscale.copy_scales {{.*}} sfa tiles 2 product 1
// KERNEL: blockscale.mma {{.*}} steps 1{{$}}
// KERNEL: blockscale.copy_scales {{.*}} sfa tiles 2 from 2 product 0
// KERNEL: blockscale.copy_scales {{.*}} sfb tiles 2 from 2{{$}}
// KERNEL: blockscale.copy_scales {{.*}} sfa tiles 2 from 2 product 1
// KERNEL: blockscale.mma {{.*}} steps 1 from 1
// The columns of the second product follow those of the first; its rows are the 128 behind the pair's. What is
// stored at once comes from each in turn, so that what they share is not held for long.
// KERNEL: %[[NEXT:.+]] = arith.addi %[[FIRST:.+]], %c2
// KERNEL: blockscale.load_accumulator {{.*}} column 0
// KERNEL: blockscale.tma_store {{.*}}[%[[FIRST]], %{{.+}}] column 0
// KERNEL: blockscale.load_accumulator {{.*}} column 256
// KERNEL: blockscale.tma_store {{.*}}[%[[NEXT]], %{{.+}}] column 0
// KERNEL: blockscale.load_accumulator {{.*}} column 32

// Only the distinct copies: 16 of a K tile.
// MACHINE-COUNT-8: blockscale.tcgen05_cp
// MACHINE: blockscale.tcgen05_mma pair collector_b fill
// MACHINE: blockscale.tcgen05_mma pair collector_b lastuse
// MACHINE-COUNT-8: blockscale.tcgen05_cp
// MACHINE: blockscale.tcgen05_mma pair collector_b fill
// MACHINE: blockscale.tcgen05_mma pair collector_b lastuse
// NVVM: tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.block16.collector::a::discard.collector::b::fill
// NVVM: tcgen05.mma.cta_group::2.kind::mxf4nvf4.block_scale.block16.collector::a::discard.collector::b::lastuse
func.func @reuse(%a: memref<65536xi8>, %sfa: memref<8192xi8>, %b: memref<32768xi8>,
                 %sfb: memref<4096xi8>, %d: memref<512x256xf32>) {
  blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb
    : memref<65536xi8>, memref<8192xi8>, memref<32768xi8>, memref<4096xi8>) outs(%d : memref<512x256xf32>)
    {problem = #blockscale.problem<m = 512, n = 256, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16,
       sfa = tiled, sfb = tiled, out = f32>,
     schedule = #blockscale.schedule<arch = sm_107a, mma = mxf4nvf4, inst = 256x256x128, cta_group = 2,
       tile = 512x256x256, stages = 2, accumulators = 1, epilogue = tma_store, staging = 2, ctas = 2, cluster = 2x1>}
  return
}
