// M that a launch says: host code computes sizes by arith ops, the kernel takes m last.

// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: blockscale-opt %t.mlir --blockscale-lower-kernel-to-machine | FileCheck %s --check-prefix=MACHINE

// CHECK-LABEL: func.func @pair
// CHECK: %[[ROWS:.*]] = memref.dim %[[D:.*]], %{{.*}} : memref<?x96xf32>
// CHECK: %[[M:.*]] = blockscale.size "m" %[[ROWS]] most 268435456
// CHECK: %[[HELD:.*]] = arith.maxui %[[M]], %{{.*}} : index
// CHECK: %[[TILES:.*]] = arith.ceildivui %[[M]], %{{.*}} : index
// CHECK: %[[HELDTILES:.*]] = arith.ceildivui %[[HELD]], %{{.*}} : index
// CHECK: blockscale.require_bytes "a" %{{.*}} is 256 times %[[M]] : memref<?xi8>
// CHECK: %[[A:.*]] = blockscale.alloc 256 times %[[HELD]]
// CHECK: blockscale.require_bytes "sfa" %{{.*}} is 1024 times %[[TILES]]
// CHECK: %[[SFA:.*]] = blockscale.alloc 1024 times %[[HELDTILES]]
// CHECK: %[[OUT:.*]] = blockscale.alloc 384 times %[[HELD]]
// CHECK: %[[MAPA:.*]] = blockscale.tensor_map %[[A]], <{{.*}}dims = [256, ?]{{.*}}> sizes(%[[HELD]])
// CHECK: %[[MAPSFA:.*]] = blockscale.tensor_map %[[SFA]], <{{.*}}dims = [256, 2, ?]{{.*}}> sizes(%[[HELDTILES]])
// CHECK: %[[MAPD:.*]] = blockscale.tensor_map %[[OUT]], <{{.*}}dims = [96, ?]{{.*}}> sizes(%[[HELD]])
// Clusters of 512 rows and 256 columns, of eight CTAs.
// CHECK: %[[ROWSOFCLUSTER:.*]] = arith.constant 512 : index
// CHECK: %[[ALONG:.*]] = arith.ceildivui %[[M]], %[[ROWSOFCLUSTER]]
// CHECK: %[[EIGHT:.*]] = arith.constant 8 : index
// CHECK: %[[CTAS:.*]] = arith.muli %[[ALONG]], %[[EIGHT]]
// CHECK: %[[GRID:.*]] = arith.minui %[[CTAS]], %{{.*}}
// CHECK: %[[M32:.*]] = arith.index_castui %[[M]] : index to i32
// CHECK: blockscale.launch @kernels::@gemm_0 grid [%[[GRID]], 1, 1] block [192, 1, 1] cluster [8, 1, 1] shared {{[0-9]+}}(%[[MAPA]], %{{.*}}, %[[MAPSFA]], %{{.*}}, %[[MAPD]], %[[M32]] :
// CHECK: blockscale.kernel @gemm_0({{.*}}: i32) attributes {problem = #blockscale.problem<m = ?, n = 96,
// CHECK: %[[END:.*]] = blockscale.tile_count
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[END]]

// Clusters along M, once for all roles; along N there is one.
// MACHINE: blockscale.kernel @gemm_0({{.*}}, %[[M:.*]]: i32)
// MACHINE: %[[SUM:.*]] = arith.addi %[[M]], %{{.*}} : i32
// MACHINE: %[[CLUSTERS:.*]] = arith.divui %[[SUM]], %{{.*}} : i32
// MACHINE: scf.for %{{.*}} = %{{.*}} to %[[CLUSTERS]]
// MACHINE: arith.remui %{{.*}}, %[[CLUSTERS]]

// One m of a launch, and a grid that follows from it.
// RUN: sed 's/grid .%[0-9a-z]*, 1, 1/grid [8, 1, 1/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C12-KNOWN
// C12-KNOWN: launch_c12: grid must be [a value, 1, 1] where m is ?, got [8, 1, 1]
// RUN: sed 's/grid .\(%[0-9a-z]*\), 1, 1/grid [8, \1, 1/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C12-Y
// C12-Y: launch_c12: grid must be [a value, 1, 1] where m is ?, got [8, ?, 1]
// RUN: sed '/dims = .96, /s/sizes(.*)/sizes(%c1)/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C12-ROWS
// RUN: sed 's/ceildivui \(%[0-9]*\), %c128/ceildivui \1, %c1/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C12-ROWS
// C12-ROWS: launch_c12: maps of a and d must have the same rows, and that of sfa their 128th part, got others
// RUN: sed 's/m = ?, n = 96/m = 130, n = 96/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=C0
// C0: kernel_c0: last parameter must not be m where m of the problem is 130

#schedule = #blockscale.schedule<arch = sm_100a, mma = mxf8f6f4, inst = 256x128x32, cta_group = 2, tile = 256x128x128, stages = 3, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 16, cluster = 4x2>
func.func @pair(%a: memref<?xi8>, %sfa: memref<?xi8>, %b: memref<24576xi8>, %sfb: memref<1024xi8>, %d: memref<?x96xf32>) {
  blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb : memref<?xi8>, memref<?xi8>, memref<24576xi8>, memref<1024xi8>)
    outs(%d : memref<?x96xf32>)
    {problem = #blockscale.problem<m = ?, n = 96, k = 256, a = e4m3, b = e4m3, scale = ue8m0, block = 32, sfa = tiled, sfb = tiled, out = f32>,
     schedule = #schedule}
  return
}
