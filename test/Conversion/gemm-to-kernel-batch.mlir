// A batch in one launch: a tile's coordinates, maps and stores have the product as one more; what all
// products share has not. The next tile row of a ragged matrix is no row of the next one.
//
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: blockscale-opt %t.mlir | diff %t.mlir -
// RUN: blockscale-opt %t.mlir --blockscale-lower-kernel-to-machine | FileCheck %s --check-prefix=MACHINE
// RUN: sed 's/batches = 3, shared_b = true/batches = 3/; s/memref<1280xi8>/memref<3840xi8>/g; s/memref<1024xi8>/memref<3072xi8>/g' %s | blockscale-opt --blockscale-lower-gemm-to-kernel | FileCheck %s --check-prefix=OWN
// RUN: sed 's/epilogue = tma_store, staging = 1/epilogue = plain_store, staging = 0/' %s | blockscale-opt --blockscale-lower-gemm-to-kernel -o %t.plain.mlir
// RUN: FileCheck %s --check-prefix=PLAIN < %t.plain.mlir

// CHECK: blockscale.alloc 62400 {blockscale.name = "a"}
// CHECK: blockscale.tensor_map {{.*}}type = u8, dims = [160, 130, 3], strides = [160, 20800], box = [128, 128, 1]
// CHECK: blockscale.tensor_map {{.*}}type = u8, dims = [160, 8], strides = [160],
// CHECK: blockscale.tensor_map {{.*}}type = u16, dims = [256, 2, 2, 3], strides = [512, 1024, 2048], box = [256, 1, 1, 1]
// CHECK: blockscale.tensor_map {{.*}}type = u16, dims = [256, 2, 1], strides = [512, 1024],
// CHECK: blockscale.tensor_map {{.*}}type = u32, dims = [8, 130, 3], strides = [32, 4160], box = [32, 32, 1]
// CHECK: blockscale.launch {{.*}} grid [4, 1, 1]
// CHECK: blockscale.warp_role tma
// CHECK: scf.for %[[TILE:.+]] = %{{.+}} to %c6
// CHECK: %{{.+}}, %{{.+}} = blockscale.tile_coordinates %[[TILE]]
// CHECK: %[[BATCH:.+]] = blockscale.tile_batch %[[TILE]]
// CHECK: blockscale.tma_load %arg0[%{{.+}}, %{{.+}}, %[[BATCH]]] to
// CHECK: blockscale.tma_load %arg1[%{{[^,]+}}, %{{[^,]+}}] to
// CHECK: blockscale.tma_load %arg2[%{{.+}}, %{{.+}}, %{{.+}}, %[[BATCH]]] to
// CHECK: blockscale.tma_load %arg3[%{{[^,]+}}, %{{[^,]+}}, %{{[^,]+}}] to
// CHECK: blockscale.warp_role epilogue
// CHECK: %[[OF:.+]] = blockscale.tile_batch
// CHECK: blockscale.load_c {{.*}} batch %[[OF]]
// CHECK: blockscale.tma_store {{.*}} batch %[[OF]]

// OWN: blockscale.tensor_map {{.*}}type = u8, dims = [160, 8, 3], strides = [160, 1280],
// OWN: blockscale.tensor_map {{.*}}type = u16, dims = [256, 2, 1, 3], strides = [512, 1024, 1024],
// OWN: %[[BATCH:.+]] = blockscale.tile_batch
// OWN: blockscale.tma_load %arg1[%{{.+}}, %{{.+}}, %[[BATCH]]] to
// OWN: blockscale.tma_load %arg3[%{{.+}}, %{{.+}}, %{{.+}}, %[[BATCH]]] to

// PLAIN: %[[OF:.+]] = blockscale.tile_batch
// PLAIN: blockscale.plain_store {{.*}} batch %{{.+}} :

// Two tile rows, one column: a product is two tiles.
// MACHINE: %[[ROW:.+]] = arith.remui %[[TILE:.+]], %c2_i32
// MACHINE: %[[REST:.+]] = arith.divui %[[TILE]], %c2_i32
// MACHINE: arith.remui %[[REST]], %c1_i32
// MACHINE: %[[BATCH:.+]] = arith.divui %[[TILE]], %c{{.+}}
// MACHINE: blockscale.cp_async_bulk_tensor_load %{{.+}}, %arg0[%{{.+}}, %{{.+}}, %[[BATCH]]]
// Bytes of 130 rows of C in front of a product's.
// MACHINE: arith.constant 4160 : i64
// MACHINE: blockscale.cp_async_bulk_tensor_store %arg4[%{{.+}}, %{{.+}}, %{{.+}}],

// One thing changed.
// RUN: sed '/tma_load %arg0/s/, %[0-9]*\] to/] to/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: kernel_c22: a must be at the tile_batch of its tile, got none
// RUN: sed '/tma_load %arg0/s/, %[0-9]*\] to/, %row] to/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=ANOTHER
// ANOTHER: kernel_c22: a must be at the tile_batch of its tile, got another value
// RUN: sed '/tma_load %arg1/s/\] to/, %row] to/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED: kernel_c22: b must have no batch, got one
// RUN: sed '/tma_load %arg1/s/\] to/, %row, %row] to/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: kernel_c22: coordinates must be 2 in a matrix, and one of a batch, got 4
// RUN: sed '/blockscale.kernel @/s/, batches = 3, shared_b = true//' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=PROBLEM
// PROBLEM: tile_batch_c1: batches of the kernel's problem must be more than one, got 1
// RUN: sed 's/ batch %[0-9a-z_]*$//' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=STORE
// STORE: kernel_c22: d must be at the tile_batch of its tile, got none
// RUN: sed 's/ batch %[0-9a-z_]* : / : /' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=OFC
// OFC: kernel_c22: c must be at the tile_batch of its tile, got none
// RUN: sed 's/ batch %[0-9a-z_]* : / : /' %t.plain.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=OFC
// RUN: sed 's/grid .4, 1, 1/grid [3, 1, 1/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=GRID
// GRID: launch_c5: grid must be [4, 1, 1] for 6 tiles and ctas = 4
// RUN: sed 's/strides = .160, 20800/strides = [160, 20640/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=MAP
// MAP: launch_c6: map of a must be {{.*}}strides = [160, 20800]
func.func @batch(%a: memref<62400xi8>, %sfa: memref<6144xi8>, %b: memref<1280xi8>, %sfb: memref<1024xi8>, %c: memref<3x130x8xf32>, %d: memref<3x130x8xf32>) {
  blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb : memref<62400xi8>, memref<6144xi8>, memref<1280xi8>, memref<1024xi8>)
    c(%c : memref<3x130x8xf32>) outs(%d : memref<3x130x8xf32>)
    {problem = #blockscale.problem<m = 130, n = 8, k = 160, a = e4m3, b = e4m3, scale = ue8m0, block = 32,
       sfa = tiled, sfb = tiled, out = f32, batches = 3, shared_b = true>,
     schedule = #blockscale.schedule<arch = sm_100a, mma = mxf8f6f4, inst = 128x128x32, cta_group = 1,
       tile = 128x128x128, stages = 2, accumulators = 1, epilogue = tma_store, staging = 1, ctas = 4>}
  return
}
