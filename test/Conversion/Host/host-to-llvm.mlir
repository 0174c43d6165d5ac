// RUN: blockscale-opt --convert-blockscale-host-to-llvm %s | FileCheck %s

// CHECK-DAG: llvm.mlir.global internal constant @bsrt_string_kernels("kernels\00")
// CHECK-DAG: llvm.mlir.global internal constant @bsrt_string_gemm_0("gemm_0\00")
// CHECK-DAG: llvm.func @bsrt_call_alloc(i64) -> i64
// CHECK-DAG: llvm.func @bsrt_call_map_begin(i64, i32, i32, i32, i32)

#map = #blockscale.tma<type = u8, dims = [192, 178], strides = [192], box = [128, 128], element_strides = [1, 1], swizzle = b128, fill = zero, l2 = b128>

// CHECK-LABEL: func.func @launch
// CHECK-SAME: (%[[A:.*]]: memref<34176xi8>, %[[D:.*]]: memref<178x?xf32>, %[[ALPHA:.*]]: f32)
func.func @launch(%a: memref<34176xi8>, %d: memref<178x?xf32>, %alpha: f32) {
  // CHECK: %[[BYTES:.*]] = llvm.mlir.constant(34176 : i64)
  // CHECK: %[[BUFFER:.*]] = llvm.call @bsrt_call_alloc(%[[BYTES]])
  %buffer = blockscale.alloc 34176
  // CHECK: %[[INDEX:.*]] = memref.extract_aligned_pointer_as_index %[[A]]
  // CHECK: %[[ADDRESS:.*]] = arith.index_cast %[[INDEX]] : index to i64
  // CHECK: %[[POINTER:.*]] = llvm.inttoptr %[[ADDRESS]]
  // CHECK: llvm.call @bsrt_call_copy_to_device(%[[POINTER]], %[[BUFFER]], %{{.*}})
  blockscale.copy %a to %buffer : memref<34176xi8> to !blockscale.buffer
  // u8 is 0, b128 is 3, zero is 0, 128 bytes are 2 in the driver's codes.
  // CHECK-DAG: %[[TYPE:.*]] = llvm.mlir.constant(0 : i32)
  // CHECK-DAG: %[[SWIZZLE:.*]] = llvm.mlir.constant(3 : i32)
  // CHECK-DAG: %[[L2:.*]] = llvm.mlir.constant(2 : i32)
  // CHECK: llvm.call @bsrt_call_map_begin(%[[BUFFER]], %{{.*}}, %[[SWIZZLE]], %{{.*}}, %[[L2]])
  // CHECK-DAG: llvm.mlir.constant(192 : i64)
  // CHECK: llvm.call @bsrt_call_map_dim
  // CHECK-DAG: llvm.mlir.constant(178 : i64)
  // CHECK: llvm.call @bsrt_call_map_dim
  // CHECK: %[[MAP:.*]] = llvm.call @bsrt_call_map_end()
  %m = blockscale.tensor_map %buffer, #map
  // CHECK: llvm.call @bsrt_call_launch_begin
  // CHECK: llvm.call @bsrt_call_param_map(%[[MAP]])
  // CHECK: llvm.call @bsrt_call_param_buffer(%[[BUFFER]])
  // CHECK: llvm.call @bsrt_call_param_f32(%[[ALPHA]])
  // CHECK: llvm.call @bsrt_call_launch(
  blockscale.launch @kernels::@gemm_0 grid [24, 1, 1] block [192, 1, 1] cluster [1, 1, 1] shared 226304 oversized
    (%m, %buffer, %alpha : !blockscale.tensor_map, !blockscale.buffer, f32)
  // A dynamic extent is part of the size: 178 * 4 bytes times it.
  // CHECK: memref.dim %[[D]]
  // CHECK: %[[ROW:.*]] = llvm.mlir.constant(712 : i64)
  // CHECK: llvm.mul %{{.*}}, %[[ROW]]
  // CHECK: llvm.call @bsrt_call_copy_to_host(%[[BUFFER]],
  blockscale.copy %buffer to %d : !blockscale.buffer to memref<178x?xf32>
  // CHECK: llvm.call @bsrt_call_free(%[[BUFFER]])
  blockscale.free %buffer
  return
}
