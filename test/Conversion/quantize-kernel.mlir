// Levels 3 and 4 of a kernel that quantises, and what its rules refuse.
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: blockscale-opt %t.mlir | diff - %t.mlir
// RUN: blockscale-opt %t.mlir --blockscale-lower-quantize-kernel-to-machine -o %t4.mlir
// RUN: FileCheck %s --check-prefix=MACHINE < %t4.mlir
// RUN: blockscale-opt %t4.mlir --convert-blockscale-to-nvvm | FileCheck %s --check-prefix=NVVM
// What is at the machine level already stays as it is.
// RUN: blockscale-opt %t4.mlir --blockscale-lower-quantize-kernel-to-machine | diff - %t4.mlir

// CHECK: blockscale.launch @kernels::@quantize_0 grid [3, 1, 1] block [256, 1, 1] cluster [1, 1, 1] shared 10240
// CHECK-LABEL: @host
// CHECK: blockscale.quantize_chunks
// CHECK: blockscale.quantize_kernel @quantize_0(%[[X:.*]]: !blockscale.buffer, %[[Q:.*]]: !blockscale.buffer, %[[ROWS:.*]]: i32)
// CHECK-SAME: problem = #blockscale.quantize_problem<rows = 65, k = 256, source = f32, target = #blockscale.blocks<q8_1_chunk>>
// CHECK-SAME: schedule = #blockscale.quantize_schedule<arch = sm_90a, sequence = divide, threads = 256, blocks = 4>
// CHECK: %[[SOME:.*]] = blockscale.has_blocks of %[[ROWS]]
// CHECK: scf.if %[[SOME]]
// CHECK: %[[V:.*]] = blockscale.load_blocks %[[X]] of %[[ROWS]] : vector<8x4xf32>
// CHECK: %[[AMAX:.*]] = blockscale.block_amax %[[V]] : vector<8x4xf32> -> vector<1xf32>
// CHECK: arith.divf %[[AMAX]]
// CHECK: %[[F:.*]] = blockscale.spread %{{.*}} : vector<1xf32> -> vector<8xf32>
// CHECK: %[[W:.*]] = blockscale.encode_s8 %[[V]], %[[F]] : vector<8x4xf32>, vector<8xf32> -> vector<8x1xi32>
// CHECK: %[[SUM:.*]] = blockscale.block_sum %[[W]] : vector<8x1xi32> -> vector<1xi32>
// CHECK: blockscale.store_chunks %{{.*}}, %[[W]], %[[SUM]] to %[[Q]] of %[[ROWS]]

// Halves: half the steps, twice the elements.
// CHECK: blockscale.quantize_kernel @quantize_1
// CHECK: blockscale.load_blocks {{.*}} : vector<4x8xf32>

// Eight loads of 16 bytes, seven exchanges for the largest, two divisions, eight factors, seven
// exchanges for the sums, and five stores of 8 bytes.
// MACHINE: blockscale.quantize_kernel @quantize_0
// MACHINE: scf.if
// MACHINE-COUNT-8: llvm.load {{.*}} invariant {{.*}} -> vector<4xi32>
// MACHINE-COUNT-7: nvvm.shfl.sync bfly
// MACHINE-NOT: nvvm.shfl.sync bfly
// MACHINE-COUNT-2: arith.divf
// MACHINE-NOT: arith.divf
// MACHINE-COUNT-8: nvvm.shfl.sync idx
// MACHINE-NOT: nvvm.shfl.sync idx
// MACHINE-COUNT-8: nvvm.dot.accumulate.4way
// MACHINE-COUNT-7: nvvm.shfl.sync bfly
// MACHINE: blockscale.bar_warp_sync
// MACHINE-COUNT-5: llvm.store {{.*}} : vector<2xi32>, !llvm.ptr<1>
// MACHINE-NOT: llvm.store {{.*}} !llvm.ptr<1>
// MACHINE: blockscale.quantize_kernel @quantize_1

// NVVM: llvm.func @quantize_0(%{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64}, %{{.*}}: !llvm.ptr<1> {{.*}}, %{{.*}}: i32)
// NVVM-SAME: nvvm.minctasm = 4 : i32
// NVVM-SAME: nvvm.reqntid = array<i32: 256, 1, 1>
// NVVM-NOT: blockscale.{{[a-z_]+}} %

// RUN: sed "s/@quantize_0(%arg0/@quantize_0(%extra: !blockscale.buffer, %arg0/" %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C1
// C1: quantize_kernel_c1: parameters must be 2 buffers and an i32, and nothing returned
// RUN: sed 's/problem<rows = 65, k = 256/problem<rows = 65, k = 260/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C2
// RUN: sed 's/source = f32/source = e4m3/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C2
// RUN: sed 's/problem<rows = 65/problem<rows = 0/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C2
// C2: quantize_kernel_c2: problem must be whole blocks of q8_1_chunk, q8_1_tile, q8_1_tile_parts, amax or what blockscale.quantize makes from f32, f16 or bf16, extents 1 .. 2^28
// RUN: sed 's/blockscale.arch = "sm_90a"/blockscale.arch = "sm_80"/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C3
// C3: quantize_kernel_c3: the schedule's chip must be the module's blockscale.arch, got sm_90a in a module for sm_80
// RUN: sed 's/shared_bytes = 10240/shared_bytes = 10248/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C4
// C4: quantize_kernel_c4: threads and shared_bytes must be 256 and 10240, got 256 and 10248
// RUN: sed 's/vector<8x4xf32>/vector<4x8xf32>/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C5
// C5: quantize_kernel_c5: vector must have the extents 8x4, got 'vector<4x8xf32>'

// RUN: sed 's/arch = sm_90a/arch = sm_86/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=S1
// S1: quantize_schedule_c1: chip of a kernel that quantises must be one of sm_80, sm_89, {{.*}}, got sm_86
// RUN: sed 's/threads = 256, blocks/threads = 128, blocks/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=S2
// S2: quantize_schedule_c2: threads must be 256, got 128
// RUN: sed 's/blocks = 4/blocks = 9/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=S3
// S3: quantize_schedule_c3: blocks must be 1 .. 8, got 9

// RUN: sed 's/sequence = divide/sequence = scaled/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=S4
// S4: quantize_schedule_c4: sequence must be one whose conversions sm_90a has, got scaled
// RUN: sed 's/sequence = divide/sequence = integer/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C6
// C6: quantize_kernel_c6: sequence must be divide for Q8_1 and amax, got integer

// RUN: sed 's/q8_1_chunk>>/q8_1_chunk>, global = given>/; s/(%arg0: !blockscale.buffer/(%extra: !blockscale.buffer, %arg0: !blockscale.buffer/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C7
// C7: quantize_kernel_c7: global scale must be none but for ue4m3, got given

// RUN: sed 's/grid \[3, 1, 1\]/grid [2, 1, 1]/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=GRID
// GRID: launch_c10: grid must be [3, 1, 1], got [2, 1, 1]
// RUN: sed 's/alloc 20800/alloc 20801/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: launch_c10: buffer of target must have 20800 bytes, got 20801
// RUN: sed 's/constant 65 : i32/constant 66 : i32/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: launch_c10: number of rows must be 1 .. 65, got 66

#schedule = #blockscale.quantize_schedule<arch = sm_90a, sequence = divide, threads = 256, blocks = 4>
func.func @f(%x: memref<65x256xf32>, %q: memref<20800xi8>) {
  blockscale.quantize_chunks %x outs(%q : memref<20800xi8>) {schedule = #schedule} : memref<65x256xf32>
  return
}
func.func @halves(%x: memref<65x256xf16>, %q: memref<20800xi8>) {
  blockscale.quantize_chunks %x outs(%q : memref<20800xi8>) {schedule = #schedule} : memref<65x256xf16>
  return
}
// Without a schedule the host computes it.
func.func @host(%x: memref<65x256xf32>, %q: memref<20800xi8>) {
  blockscale.quantize_chunks %x outs(%q : memref<20800xi8>) : memref<65x256xf32>
  return
}
