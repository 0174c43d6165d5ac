// Kernels that quantise to tiles of activations, to MXFP8 and to NVFP4.
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
// CHECK: %[[WORDS:.*]] = blockscale.encode_elements %{{.*}}, %[[ALL]] : vector<8x4xf32>, vector<8xf32> -> vector<8x1xi32>
// CHECK: blockscale.store_elements %[[WORDS]]
// CHECK: blockscale.store_scales %[[BYTE]]

// Its global scale comes from the largest magnitude, which a kernel of its own finds, from 0 on.
// CHECK: blockscale.quantize_kernel @amax_0(%[[X:.*]]: !blockscale.buffer, %[[A:.*]]: !blockscale.buffer, %{{.*}}: i32)
// CHECK-SAME: problem = #blockscale.quantize_problem<rows = 65, k = 80, source = f16, target = #blockscale.amax>
// CHECK-SAME: sequence = divide
// CHECK: %[[V:.*]] = blockscale.load_blocks %[[X]]
// CHECK: %[[AMAX:.*]] = blockscale.finite_amax %[[V]] : vector<4x8xf32>
// CHECK: blockscale.store_amax %[[AMAX]] to %[[A]]
// CHECK: blockscale.quantize_kernel @quantize_2(%{{.*}}: !blockscale.buffer, %[[Q:.*]]: !blockscale.buffer, %[[S:.*]]: !blockscale.buffer, %[[A:.*]]: !blockscale.buffer, %[[G:.*]]: !blockscale.buffer, %{{.*}}: i32)
// CHECK-SAME: layout = linear>, global = computed>
// CHECK-SAME: sequence = remainder
// CHECK: %[[LARGEST:.*]] = blockscale.load_scalar %[[A]]
// CHECK: arith.divf %[[LARGEST]]
// CHECK: blockscale.store_scalar %[[GLOBAL:.*]] to %[[G]]
// CHECK: %[[BYTES:.*]] = blockscale.encode_scale %{{.*}} over %[[GLOBAL]] : vector<2xf32> -> vector<2xi32>
// CHECK: %[[D:.*]] = blockscale.scale_divisor %[[BYTES]] times %[[GLOBAL]] times %[[P:.*]] : vector<2xi32> -> vector<2xf32>
// CHECK: %[[SPREAD:.*]] = blockscale.spread %[[D]]
// CHECK: %[[QUOTIENTS:.*]] = blockscale.divide_blocks %{{.*}} times %[[P]], %[[SPREAD]], %{{.*}} : vector<4x8xf32>, vector<4xf32>
// CHECK: %[[WORDS:.*]] = blockscale.encode_elements %[[QUOTIENTS]] : vector<4x8xf32> -> vector<4x1xi32>
// CHECK: blockscale.store_elements %[[WORDS]] to %[[Q]]
// CHECK: blockscale.store_scales %[[BYTES]] to %[[S]]

// RUN: sed 's/sequence = remainder/sequence = integer/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C6
// C6: quantize_kernel_c6: sequence must be remainder for ue4m3 and ue5m3, got integer
// RUN: sed 's/sequence = integer/sequence = remainder/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C6-POWERS
// C6-POWERS: quantize_kernel_c6: sequence must be integer, reciprocal or scaled for ue8m0, got remainder
// RUN: sed 's/scale = ue8m0/scale = ue5m3/; s/sequence = integer/sequence = remainder/; s/element = e4m3/element = e2m1/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C8
// C8: quantize_kernel_c8: chip must have the conversions of ue5m3, got sm_90a

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
func.func @nvfp4(%x: memref<65x80xf16>, %q: memref<2600xi8>, %s: memref<325xi8>, %g: memref<f32>) {
  blockscale.quantize %x outs(%q, %s, %g : memref<2600xi8>, memref<325xi8>, memref<f32>)
    {blocked = #blockscale.blocked<rows = 65, k = 80, element = e2m1, scale = ue4m3, block = 16, layout = linear>,
     schedule = #blockscale.quantize_schedule<arch = sm_90a, sequence = remainder, threads = 256, blocks = 4>} : memref<65x80xf16>
  return
}
