// RUN: blockscale-opt %s --split-input-file --verify-diagnostics

func.func @alloc_c1_empty() {
  // expected-error @below {{alloc_c1: bytes must be 1 to 2^40, got 0}}
  %b = blockscale.alloc 0
  return
}

// -----

func.func @alloc_c1_large() {
  // expected-error @below {{alloc_c1: bytes must be 1 to 2^40, got 1099511627777}}
  %b = blockscale.alloc 1099511627777
  return
}

// -----

func.func @copy_c1_buffers(%b: !blockscale.buffer) {
  // expected-error @below {{copy_c1: one side must be a memref and the other a device buffer, got '!blockscale.buffer' and '!blockscale.buffer'}}
  blockscale.copy %b to %b : !blockscale.buffer to !blockscale.buffer
  return
}

// -----

func.func @copy_c1_memrefs(%m: memref<4xf32>) {
  // expected-error @below {{copy_c1: one side must be a memref and the other a device buffer, got 'memref<4xf32>' and 'memref<4xf32>'}}
  blockscale.copy %m to %m : memref<4xf32> to memref<4xf32>
  return
}

// -----

func.func @copy_c2_strided(%m: memref<2x4xf32, strided<[8, 1]>>, %b: !blockscale.buffer) {
  // expected-error @below {{copy_c2: memref must be contiguous, of elements of whole bytes, got 'memref<2x4xf32, strided<[8, 1]>>'}}
  blockscale.copy %b to %m : !blockscale.buffer to memref<2x4xf32, strided<[8, 1]>>
  return
}

// -----

func.func @copy_c2_narrow(%m: memref<4xf4E2M1FN>, %b: !blockscale.buffer) {
  // expected-error @below {{copy_c2: memref must be contiguous, of elements of whole bytes, got 'memref<4xf4E2M1FN>'}}
  blockscale.copy %m to %b : memref<4xf4E2M1FN> to !blockscale.buffer
  return
}

// -----

func.func @tensor_map_c2_rank(%b: !blockscale.buffer) {
  // expected-error @below {{tensor_map_c2: number of strides must be 1, got 2}}
  %m = blockscale.tensor_map %b, <type = u8, dims = [64, 4], strides = [64, 64], box = [64, 4], element_strides = [1, 1], swizzle = none, fill = zero, l2 = none>
  return
}

// -----

// The driver ignores it (cuda.h 13.5), so another value would say what is not done.
func.func @map_c1(%b: !blockscale.buffer) {
  // expected-error @below {{map_c1: element stride of dimension 0 must be 1, got 2}}
  %m = blockscale.tensor_map %b, <type = u8, dims = [64, 4], strides = [64], box = [64, 4], element_strides = [2, 1], swizzle = none, fill = zero, l2 = none>
  return
}

// -----

// Three pitches and one row of 48 bytes are 240: the last row has no padding.
func.func @map_c2_fits() {
  %b = blockscale.alloc 240
  %m = blockscale.tensor_map %b, <type = u8, dims = [48, 4], strides = [64], box = [48, 4], element_strides = [1, 1], swizzle = none, fill = zero, l2 = none>
  return
}

// -----

func.func @map_c2_rows() {
  %b = blockscale.alloc 255
  // expected-error @below {{map_c2: map must lie inside its buffer of 255 bytes, got one that reaches 256}}
  %m = blockscale.tensor_map %b, <type = u16, dims = [32, 4], strides = [64], box = [32, 4], element_strides = [1, 1], swizzle = none, fill = zero, l2 = none>
  return
}

// -----

func.func @map_c2_row() {
  %b = blockscale.alloc 31
  // expected-error @below {{map_c2: map must lie inside its buffer of 31 bytes, got one that reaches 32}}
  %m = blockscale.tensor_map %b, <type = u4_align8, dims = [64, 1], strides = [32], box = [64, 1], element_strides = [1, 1], swizzle = none, fill = zero, l2 = none>
  return
}

// -----

func.func @map_c2_overflow() {
  %b = blockscale.alloc 4096
  // expected-error @below {{map_c2: map must lie inside its buffer of 4096 bytes}}
  %m = blockscale.tensor_map %b, <type = u8, dims = [64, 4611686018427387904], strides = [4611686018427387904], box = [64, 4], element_strides = [1, 1], swizzle = none, fill = zero, l2 = none>
  return
}
