// Kernels that quantise to tiles of activations and to MXFP8, by each sequence.
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: blockscale-opt %t.mlir | diff - %t.mlir
// RUN: not blockscale-opt %s --convert-blockscale-host-to-llvm 2>&1 | FileCheck %s --check-prefix=HOST

// Two blocks of threads a tile; what lies beyond the last token is zeroes.
// CHECK: blockscale.quantize_kernel @quantize_0
// CHECK-SAME: target = #blockscale.blocks<q8_1_tile>
// CHECK-SAME: shared_bytes = 0
// CHECK: %[[AMAX:.*]] = blockscale.block_amax
// CHECK: %[[INSIDE:.*]] = blockscale.blocks_inside
// CHECK: arith.select %[[INSIDE]], %[[AMAX]]
// CHECK: blockscale.store_tiles

// A scale byte for each block; values are multiplied with the reciprocal.
// CHECK: blockscale.quantize_kernel @quantize_1
// CHECK-SAME: target = #blockscale.blocked<rows = 65, k = 256, element = e4m3, scale = ue8m0, block = 32, layout = tiled>
// CHECK-SAME: sequence = integer
// CHECK: %[[BYTE:.*]] = blockscale.encode_scale %{{.*}} : vector<1xf32> -> vector<1xi32>
// CHECK: %[[FACTOR:.*]] = blockscale.scale_factor %[[BYTE]]
// CHECK: %[[ALL:.*]] = blockscale.spread %[[FACTOR]] : vector<1xf32> -> vector<8xf32>
// CHECK: %[[WORDS:.*]] = blockscale.encode_f8 %{{.*}}, %[[ALL]]
// CHECK: blockscale.store_elements %[[WORDS]]
// CHECK: blockscale.store_scales %[[BYTE]]

// Without a schedule the host has no tiles.
// HOST: host_to_llvm_c3: tiles must be made by a kernel, got an op that blockscale-lower-gemm-to-kernel has not lowered

func.func @tiles(%x: memref<65x256xf32>, %q: memref<40960xi8>) {
  blockscale.quantize_chunks %x outs(%q : memref<40960xi8>) {format = #blockscale.blocks<q8_1_tile>, schedule = #blockscale.quantize_schedule<arch = sm_90a, sequence = divide, threads = 256, blocks = 4>} : memref<65x256xf32>
  return
}
func.func @mxfp8(%x: memref<65x256xf32>, %q: memref<16640xi8>, %s: memref<1024xi8>) {
  blockscale.quantize %x outs(%q, %s : memref<16640xi8>, memref<1024xi8>)
    {blocked = #blockscale.blocked<rows = 65, k = 256, element = e4m3, scale = ue8m0, block = 32, layout = tiled>,
     schedule = #blockscale.quantize_schedule<arch = sm_90a, sequence = integer, threads = 256, blocks = 4>} : memref<65x256xf32>
  return
}
