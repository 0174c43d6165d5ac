// Gates, factors of rows and a quantised result at the kernel level: 32 gates and the values that
// they gate in turn, 32 columns of D a time, and the scales of four blocks by one store.
// RUN: blockscale-opt %S/../Dialect/Blockscale/Inputs/quantised-gates.mlir --blockscale-lower-gemm-to-kernel -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// The dump is an input, too.
// RUN: blockscale-opt %t.mlir | diff - %t.mlir
// RUN: blockscale-opt %t.mlir --blockscale-lower-kernel-to-machine -o %t.machine.mlir
// RUN: blockscale-opt %t.machine.mlir | diff - %t.machine.mlir

// CHECK: %[[D:.*]] = blockscale.alloc 1184 {blockscale.name = "d"}
// CHECK: %[[S:.*]] = blockscale.alloc 512 {blockscale.name = "d_scales"}
// CHECK: blockscale.launch @kernels::@gemm_0 {{.*}}, %[[D]], %[[S]], %{{.*}}, %{{.*}} : {{.*}}) {blockscale.scalar_names = ["global"]}

// CHECK: blockscale.warp_role epilogue
// CHECK: %[[ALPHA:.*]] = blockscale.load_row_alpha %arg6[%[[ROW:.*]]]
// CHECK: %[[G:.*]]:32 = blockscale.load_accumulator {{.*}} column 0
// CHECK: %[[G0:.*]]:32 = blockscale.apply_epilogue alpha %[[ALPHA]] at %[[COLUMN:.*]], 0(%[[G]]#0,
// CHECK: %[[U:.*]]:32 = blockscale.load_accumulator {{.*}} column 64
// CHECK: %[[U0:.*]]:32 = blockscale.apply_epilogue alpha %[[ALPHA]] at %[[COLUMN]], 64(%[[U]]#0,
// CHECK: %[[X:.*]]:32 = blockscale.apply_gate <silu>(%[[G0]]#0, {{.*}}) times(%[[U0]]#0,
// CHECK: %[[W:.*]]:4, %[[B:.*]]:2 = blockscale.quantize_columns %[[X]]#0, {{.*}} over %arg7 by <remainder>
// CHECK: blockscale.store_columns %[[W]]#0, %[[W]]#1, %[[W]]#2, %[[W]]#3 to %arg4[%[[ROW]], %[[COLUMN]]] column 0
// CHECK: blockscale.load_accumulator {{.*}} column 32
// CHECK: blockscale.load_accumulator {{.*}} column 96
// CHECK: blockscale.consumer_release
// CHECK: %[[V:.*]]:4, %[[C:.*]]:2 = blockscale.quantize_columns
// CHECK: blockscale.store_columns %[[V]]#0, {{.*}} column 32
// CHECK: blockscale.store_column_scales %[[B]]#0, %[[B]]#1, %[[C]]#0, %[[C]]#1 to %arg5[%[[ROW]], %[[COLUMN]]] column 0
