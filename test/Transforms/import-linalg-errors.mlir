// RUN: blockscale-opt %s --blockscale-import-linalg --split-input-file --verify-diagnostics
// RUN: blockscale-opt %s --blockscale-import-linalg --split-input-file 2>/dev/null | FileCheck %s
// RUN: not blockscale-opt %s --blockscale-import-linalg=strict=true --split-input-file 2>&1 | FileCheck %s --check-prefix=STRICT

// CHECK-COUNT-20: linalg.generic
// CHECK-NOT: blockscale.gemm
// STRICT: error: import_linalg_c1: shapes must be static
// STRICT-NOT: remark: import

// Near misses stay, each with the reason.
func.func @c1_dynamic(%a: tensor<5x4x32xf4E2M1FN>, %sa: tensor<5x4xf8E8M0FNU>, %b: tensor<?x4x32xf4E2M1FN>, %sb: tensor<?x4xf8E8M0FNU>, %d: tensor<5x?xf32>) -> tensor<5x?xf32> {
  // expected-remark @below {{import_linalg_c1: shapes must be static but for the rows of the left side and the result, which are so together and of no batch, got 'tensor<?x4x32xf4E2M1FN>'}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, ko, ki) -> (m, ko, ki)>, affine_map<(m, n, ko, ki) -> (m, ko)>, affine_map<(m, n, ko, ki) -> (n, ko, ki)>, affine_map<(m, n, ko, ki) -> (n, ko)>, affine_map<(m, n, ko, ki) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %sa, %b, %sb : tensor<5x4x32xf4E2M1FN>, tensor<5x4xf8E8M0FNU>, tensor<?x4x32xf4E2M1FN>, tensor<?x4xf8E8M0FNU>) outs(%d : tensor<5x?xf32>) {
  ^bb0(%x: f4E2M1FN, %sx: f8E8M0FNU, %y: f4E2M1FN, %sy: f8E8M0FNU, %sum: f32):
    %p = arith.scaling_extf %x, %sx : f4E2M1FN, f8E8M0FNU to f32
    %q = arith.scaling_extf %y, %sy : f4E2M1FN, f8E8M0FNU to f32
    %pq = arith.mulf %p, %q : f32
    %next = arith.addf %sum, %pq : f32
    linalg.yield %next : f32
  } -> tensor<5x?xf32>
  return %r : tensor<5x?xf32>
}

// -----

func.func @c1_mixed(%a: tensor<?x4x32xf4E2M1FN>, %sa: tensor<5x4xf8E8M0FNU>, %b: tensor<7x4x32xf4E2M1FN>, %sb: tensor<7x4xf8E8M0FNU>, %d: tensor<?x7xf32>) -> tensor<?x7xf32> {
  // expected-remark @below {{import_linalg_c1: shapes must be static but for the rows}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, ko, ki) -> (m, ko, ki)>, affine_map<(m, n, ko, ki) -> (m, ko)>, affine_map<(m, n, ko, ki) -> (n, ko, ki)>, affine_map<(m, n, ko, ki) -> (n, ko)>, affine_map<(m, n, ko, ki) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %sa, %b, %sb : tensor<?x4x32xf4E2M1FN>, tensor<5x4xf8E8M0FNU>, tensor<7x4x32xf4E2M1FN>, tensor<7x4xf8E8M0FNU>) outs(%d : tensor<?x7xf32>) {
  ^bb0(%x: f4E2M1FN, %sx: f8E8M0FNU, %y: f4E2M1FN, %sy: f8E8M0FNU, %sum: f32):
    %p = arith.scaling_extf %x, %sx : f4E2M1FN, f8E8M0FNU to f32
    %q = arith.scaling_extf %y, %sy : f4E2M1FN, f8E8M0FNU to f32
    %pq = arith.mulf %p, %q : f32
    %next = arith.addf %sum, %pq : f32
    linalg.yield %next : f32
  } -> tensor<?x7xf32>
  return %r : tensor<?x7xf32>
}

// -----

// One loop over all of K: scales for each element.
func.func @c2_loops(%a: tensor<5x128xf4E2M1FN>, %sa: tensor<5x128xf8E8M0FNU>, %b: tensor<7x128xf4E2M1FN>, %sb: tensor<7x128xf8E8M0FNU>, %d: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // expected-remark @below {{import_linalg_c2: loops must be two or three parallel ones and two reductions, got 2 and 1}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %sa, %b, %sb : tensor<5x128xf4E2M1FN>, tensor<5x128xf8E8M0FNU>, tensor<7x128xf4E2M1FN>, tensor<7x128xf8E8M0FNU>) outs(%d : tensor<5x7xf32>) {
  ^bb0(%x: f4E2M1FN, %sx: f8E8M0FNU, %y: f4E2M1FN, %sy: f8E8M0FNU, %sum: f32):
    %p = arith.scaling_extf %x, %sx : f4E2M1FN, f8E8M0FNU to f32
    %q = arith.scaling_extf %y, %sy : f4E2M1FN, f8E8M0FNU to f32
    %pq = arith.mulf %p, %q : f32
    %next = arith.addf %sum, %pq : f32
    linalg.yield %next : f32
  } -> tensor<5x7xf32>
  return %r : tensor<5x7xf32>
}

// -----

// A transposed result.
func.func @c2_result(%a: tensor<5x4x32xf4E2M1FN>, %sa: tensor<5x4xf8E8M0FNU>, %b: tensor<7x4x32xf4E2M1FN>, %sb: tensor<7x4xf8E8M0FNU>, %d: tensor<7x5xf32>) -> tensor<7x5xf32> {
  // expected-remark @below {{import_linalg_c2: result must be indexed by the parallel loops in order}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, ko, ki) -> (m, ko, ki)>, affine_map<(m, n, ko, ki) -> (m, ko)>, affine_map<(m, n, ko, ki) -> (n, ko, ki)>, affine_map<(m, n, ko, ki) -> (n, ko)>, affine_map<(m, n, ko, ki) -> (n, m)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %sa, %b, %sb : tensor<5x4x32xf4E2M1FN>, tensor<5x4xf8E8M0FNU>, tensor<7x4x32xf4E2M1FN>, tensor<7x4xf8E8M0FNU>) outs(%d : tensor<7x5xf32>) {
  ^bb0(%x: f4E2M1FN, %sx: f8E8M0FNU, %y: f4E2M1FN, %sy: f8E8M0FNU, %sum: f32):
    %p = arith.scaling_extf %x, %sx : f4E2M1FN, f8E8M0FNU to f32
    %q = arith.scaling_extf %y, %sy : f4E2M1FN, f8E8M0FNU to f32
    %pq = arith.mulf %p, %q : f32
    %next = arith.addf %sum, %pq : f32
    linalg.yield %next : f32
  } -> tensor<7x5xf32>
  return %r : tensor<7x5xf32>
}

// -----

// Another body.
func.func @c3_difference(%a: tensor<5x4x32xf4E2M1FN>, %sa: tensor<5x4xf8E8M0FNU>, %b: tensor<7x4x32xf4E2M1FN>, %sb: tensor<7x4xf8E8M0FNU>, %d: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // expected-remark @below {{import_linalg_c3: body must be out + scaling_extf(a, sa) * scaling_extf(b, sb) and nothing else, got another}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, ko, ki) -> (m, ko, ki)>, affine_map<(m, n, ko, ki) -> (m, ko)>, affine_map<(m, n, ko, ki) -> (n, ko, ki)>, affine_map<(m, n, ko, ki) -> (n, ko)>, affine_map<(m, n, ko, ki) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %sa, %b, %sb : tensor<5x4x32xf4E2M1FN>, tensor<5x4xf8E8M0FNU>, tensor<7x4x32xf4E2M1FN>, tensor<7x4xf8E8M0FNU>) outs(%d : tensor<5x7xf32>) {
  ^bb0(%x: f4E2M1FN, %sx: f8E8M0FNU, %y: f4E2M1FN, %sy: f8E8M0FNU, %sum: f32):
    %p = arith.scaling_extf %x, %sx : f4E2M1FN, f8E8M0FNU to f32
    %q = arith.scaling_extf %y, %sy : f4E2M1FN, f8E8M0FNU to f32
    %pq = arith.mulf %p, %q : f32
    %next = arith.subf %sum, %pq : f32
    linalg.yield %next : f32
  } -> tensor<5x7xf32>
  return %r : tensor<5x7xf32>
}

// -----

// A scaled element with one more use.
func.func @c3_other_use(%a: tensor<5x4x32xf4E2M1FN>, %sa: tensor<5x4xf8E8M0FNU>, %b: tensor<7x4x32xf4E2M1FN>, %sb: tensor<7x4xf8E8M0FNU>, %d: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // expected-remark @below {{import_linalg_c3: body must be}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, ko, ki) -> (m, ko, ki)>, affine_map<(m, n, ko, ki) -> (m, ko)>, affine_map<(m, n, ko, ki) -> (n, ko, ki)>, affine_map<(m, n, ko, ki) -> (n, ko)>, affine_map<(m, n, ko, ki) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %sa, %b, %sb : tensor<5x4x32xf4E2M1FN>, tensor<5x4xf8E8M0FNU>, tensor<7x4x32xf4E2M1FN>, tensor<7x4xf8E8M0FNU>) outs(%d : tensor<5x7xf32>) {
  ^bb0(%x: f4E2M1FN, %sx: f8E8M0FNU, %y: f4E2M1FN, %sy: f8E8M0FNU, %sum: f32):
    %p = arith.scaling_extf %x, %sx : f4E2M1FN, f8E8M0FNU to f32
    %q = arith.scaling_extf %y, %sy : f4E2M1FN, f8E8M0FNU to f32
    %pq = arith.mulf %p, %q : f32
    %more = arith.addf %pq, %p : f32
    %next = arith.addf %sum, %more : f32
    linalg.yield %next : f32
  } -> tensor<5x7xf32>
  return %r : tensor<5x7xf32>
}

// -----

// The same where the sum does not see it.
func.func @c3_dead_use(%a: tensor<5x4x32xf4E2M1FN>, %sa: tensor<5x4xf8E8M0FNU>, %b: tensor<7x4x32xf4E2M1FN>, %sb: tensor<7x4xf8E8M0FNU>, %d: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // expected-remark @below {{import_linalg_c3: body must be}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, ko, ki) -> (m, ko, ki)>, affine_map<(m, n, ko, ki) -> (m, ko)>, affine_map<(m, n, ko, ki) -> (n, ko, ki)>, affine_map<(m, n, ko, ki) -> (n, ko)>, affine_map<(m, n, ko, ki) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %sa, %b, %sb : tensor<5x4x32xf4E2M1FN>, tensor<5x4xf8E8M0FNU>, tensor<7x4x32xf4E2M1FN>, tensor<7x4xf8E8M0FNU>) outs(%d : tensor<5x7xf32>) {
  ^bb0(%x: f4E2M1FN, %sx: f8E8M0FNU, %y: f4E2M1FN, %sy: f8E8M0FNU, %sum: f32):
    %p = arith.scaling_extf %x, %sx : f4E2M1FN, f8E8M0FNU to f32
    %q = arith.scaling_extf %y, %sy : f4E2M1FN, f8E8M0FNU to f32
    %pq = arith.mulf %p, %q : f32
    %more = math.exp %p : f32
    %next = arith.addf %sum, %pq : f32
    linalg.yield %next : f32
  } -> tensor<5x7xf32>
  return %r : tensor<5x7xf32>
}

// -----

// Both factors of one side.
func.func @c3_square(%a: tensor<5x4x32xf4E2M1FN>, %sa: tensor<5x4xf8E8M0FNU>, %b: tensor<7x4x32xf4E2M1FN>, %sb: tensor<7x4xf8E8M0FNU>, %d: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // expected-remark @below {{import_linalg_c3: body must be}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, ko, ki) -> (m, ko, ki)>, affine_map<(m, n, ko, ki) -> (m, ko)>, affine_map<(m, n, ko, ki) -> (n, ko, ki)>, affine_map<(m, n, ko, ki) -> (n, ko)>, affine_map<(m, n, ko, ki) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %sa, %b, %sb : tensor<5x4x32xf4E2M1FN>, tensor<5x4xf8E8M0FNU>, tensor<7x4x32xf4E2M1FN>, tensor<7x4xf8E8M0FNU>) outs(%d : tensor<5x7xf32>) {
  ^bb0(%x: f4E2M1FN, %sx: f8E8M0FNU, %y: f4E2M1FN, %sy: f8E8M0FNU, %sum: f32):
    %p = arith.scaling_extf %x, %sx : f4E2M1FN, f8E8M0FNU to f32
    %q = arith.extf %y : f4E2M1FN to f32
    %pq = arith.mulf %p, %q : f32
    %next = arith.addf %sum, %pq : f32
    linalg.yield %next : f32
  } -> tensor<5x7xf32>
  return %r : tensor<5x7xf32>
}

// -----

// A scale for each element of a block instead of each block.
func.func @c4_scales(%a: tensor<5x4x32xf4E2M1FN>, %sa: tensor<5x4xf8E8M0FNU>, %b: tensor<7x4x32xf4E2M1FN>, %sb: tensor<7x32xf8E8M0FNU>, %d: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // expected-remark @below {{import_linalg_c4: map of the scales of the right side must be (rows, k / block)}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, ko, ki) -> (m, ko, ki)>, affine_map<(m, n, ko, ki) -> (m, ko)>, affine_map<(m, n, ko, ki) -> (n, ko, ki)>, affine_map<(m, n, ko, ki) -> (n, ki)>, affine_map<(m, n, ko, ki) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %sa, %b, %sb : tensor<5x4x32xf4E2M1FN>, tensor<5x4xf8E8M0FNU>, tensor<7x4x32xf4E2M1FN>, tensor<7x32xf8E8M0FNU>) outs(%d : tensor<5x7xf32>) {
  ^bb0(%x: f4E2M1FN, %sx: f8E8M0FNU, %y: f4E2M1FN, %sy: f8E8M0FNU, %sum: f32):
    %p = arith.scaling_extf %x, %sx : f4E2M1FN, f8E8M0FNU to f32
    %q = arith.scaling_extf %y, %sy : f4E2M1FN, f8E8M0FNU to f32
    %pq = arith.mulf %p, %q : f32
    %next = arith.addf %sum, %pq : f32
    linalg.yield %next : f32
  } -> tensor<5x7xf32>
  return %r : tensor<5x7xf32>
}

// -----

// Blocks outermost.
func.func @c4_elements(%a: tensor<4x5x32xf4E2M1FN>, %sa: tensor<5x4xf8E8M0FNU>, %b: tensor<7x4x32xf4E2M1FN>, %sb: tensor<7x4xf8E8M0FNU>, %d: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // expected-remark @below {{import_linalg_c4: map of the elements of the left side must be (rows, k / block, block) or (k / block, block, rows)}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, ko, ki) -> (ko, m, ki)>, affine_map<(m, n, ko, ki) -> (m, ko)>, affine_map<(m, n, ko, ki) -> (n, ko, ki)>, affine_map<(m, n, ko, ki) -> (n, ko)>, affine_map<(m, n, ko, ki) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %sa, %b, %sb : tensor<4x5x32xf4E2M1FN>, tensor<5x4xf8E8M0FNU>, tensor<7x4x32xf4E2M1FN>, tensor<7x4xf8E8M0FNU>) outs(%d : tensor<5x7xf32>) {
  ^bb0(%x: f4E2M1FN, %sx: f8E8M0FNU, %y: f4E2M1FN, %sy: f8E8M0FNU, %sum: f32):
    %p = arith.scaling_extf %x, %sx : f4E2M1FN, f8E8M0FNU to f32
    %q = arith.scaling_extf %y, %sy : f4E2M1FN, f8E8M0FNU to f32
    %pq = arith.mulf %p, %q : f32
    %next = arith.addf %sum, %pq : f32
    linalg.yield %next : f32
  } -> tensor<5x7xf32>
  return %r : tensor<5x7xf32>
}

// -----

// A batch of elements whose scales have none.
func.func @c4_batch(%a: tensor<2x5x4x32xf4E2M1FN>, %sa: tensor<2x5x4xf8E8M0FNU>, %b: tensor<2x7x4x32xf4E2M1FN>, %sb: tensor<7x4xf8E8M0FNU>, %d: tensor<2x5x7xf32>) -> tensor<2x5x7xf32> {
  // expected-remark @below {{import_linalg_c4: map of the scales of the right side must be (batch, rows, k / block)}}
  %r = linalg.generic {indexing_maps = [affine_map<(z, m, n, ko, ki) -> (z, m, ko, ki)>, affine_map<(z, m, n, ko, ki) -> (z, m, ko)>, affine_map<(z, m, n, ko, ki) -> (z, n, ko, ki)>, affine_map<(z, m, n, ko, ki) -> (n, ko)>, affine_map<(z, m, n, ko, ki) -> (z, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %sa, %b, %sb : tensor<2x5x4x32xf4E2M1FN>, tensor<2x5x4xf8E8M0FNU>, tensor<2x7x4x32xf4E2M1FN>, tensor<7x4xf8E8M0FNU>) outs(%d : tensor<2x5x7xf32>) {
  ^bb0(%x: f4E2M1FN, %sx: f8E8M0FNU, %y: f4E2M1FN, %sy: f8E8M0FNU, %sum: f32):
    %p = arith.scaling_extf %x, %sx : f4E2M1FN, f8E8M0FNU to f32
    %q = arith.scaling_extf %y, %sy : f4E2M1FN, f8E8M0FNU to f32
    %pq = arith.mulf %p, %q : f32
    %next = arith.addf %sum, %pq : f32
    linalg.yield %next : f32
  } -> tensor<2x5x7xf32>
  return %r : tensor<2x5x7xf32>
}

// -----

// A batch of weights alone.
func.func @c4_batch_of_b(%a: tensor<5x4x32xf4E2M1FN>, %sa: tensor<5x4xf8E8M0FNU>, %b: tensor<2x7x4x32xf4E2M1FN>, %sb: tensor<2x7x4xf8E8M0FNU>, %d: tensor<2x5x7xf32>) -> tensor<2x5x7xf32> {
  // expected-remark @below {{import_linalg_c4: the left side must have the batch, got affine_map}}
  %r = linalg.generic {indexing_maps = [affine_map<(z, m, n, ko, ki) -> (m, ko, ki)>, affine_map<(z, m, n, ko, ki) -> (m, ko)>, affine_map<(z, m, n, ko, ki) -> (z, n, ko, ki)>, affine_map<(z, m, n, ko, ki) -> (z, n, ko)>, affine_map<(z, m, n, ko, ki) -> (z, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %sa, %b, %sb : tensor<5x4x32xf4E2M1FN>, tensor<5x4xf8E8M0FNU>, tensor<2x7x4x32xf4E2M1FN>, tensor<2x7x4xf8E8M0FNU>) outs(%d : tensor<2x5x7xf32>) {
  ^bb0(%x: f4E2M1FN, %sx: f8E8M0FNU, %y: f4E2M1FN, %sy: f8E8M0FNU, %sum: f32):
    %p = arith.scaling_extf %x, %sx : f4E2M1FN, f8E8M0FNU to f32
    %q = arith.scaling_extf %y, %sy : f4E2M1FN, f8E8M0FNU to f32
    %pq = arith.mulf %p, %q : f32
    %next = arith.addf %sum, %pq : f32
    linalg.yield %next : f32
  } -> tensor<2x5x7xf32>
  return %r : tensor<2x5x7xf32>
}

// -----

// D16: a scale that is no power of two would be rounded.
func.func @c5_scale_f32(%a: tensor<5x4x32xf4E2M1FN>, %sa: tensor<5x4xf32>, %b: tensor<7x4x32xf4E2M1FN>, %sb: tensor<7x4xf8E8M0FNU>, %d: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // expected-remark @below {{import_linalg_c5: scales of the left side must be f8E8M0FNU or f8E4M3FN, since others would be rounded, got 'f32'}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, ko, ki) -> (m, ko, ki)>, affine_map<(m, n, ko, ki) -> (m, ko)>, affine_map<(m, n, ko, ki) -> (n, ko, ki)>, affine_map<(m, n, ko, ki) -> (n, ko)>, affine_map<(m, n, ko, ki) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %sa, %b, %sb : tensor<5x4x32xf4E2M1FN>, tensor<5x4xf32>, tensor<7x4x32xf4E2M1FN>, tensor<7x4xf8E8M0FNU>) outs(%d : tensor<5x7xf32>) {
  ^bb0(%x: f4E2M1FN, %sx: f32, %y: f4E2M1FN, %sy: f8E8M0FNU, %sum: f32):
    %p = arith.scaling_extf %x, %sx : f4E2M1FN, f32 to f32
    %q = arith.scaling_extf %y, %sy : f4E2M1FN, f8E8M0FNU to f32
    %pq = arith.mulf %p, %q : f32
    %next = arith.addf %sum, %pq : f32
    linalg.yield %next : f32
  } -> tensor<5x7xf32>
  return %r : tensor<5x7xf32>
}

// -----

// Wide elements.
func.func @c5_elements(%a: tensor<5x4x32xf4E2M1FN>, %sa: tensor<5x4xf8E8M0FNU>, %b: tensor<7x4x32xbf16>, %sb: tensor<7x4xf8E8M0FNU>, %d: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // expected-remark @below {{import_linalg_c5: elements of the right side must be floats of 4, 6 or 8 bits, got 'bf16'}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, ko, ki) -> (m, ko, ki)>, affine_map<(m, n, ko, ki) -> (m, ko)>, affine_map<(m, n, ko, ki) -> (n, ko, ki)>, affine_map<(m, n, ko, ki) -> (n, ko)>, affine_map<(m, n, ko, ki) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %sa, %b, %sb : tensor<5x4x32xf4E2M1FN>, tensor<5x4xf8E8M0FNU>, tensor<7x4x32xbf16>, tensor<7x4xf8E8M0FNU>) outs(%d : tensor<5x7xf32>) {
  ^bb0(%x: f4E2M1FN, %sx: f8E8M0FNU, %y: bf16, %sy: f8E8M0FNU, %sum: f32):
    %p = arith.scaling_extf %x, %sx : f4E2M1FN, f8E8M0FNU to f32
    %q = arith.scaling_extf %y, %sy : bf16, f8E8M0FNU to f32
    %pq = arith.mulf %p, %q : f32
    %next = arith.addf %sum, %pq : f32
    linalg.yield %next : f32
  } -> tensor<5x7xf32>
  return %r : tensor<5x7xf32>
}

// -----

// Two formats of scales.
func.func @c6_formats(%a: tensor<5x4x32xf4E2M1FN>, %sa: tensor<5x4xf8E8M0FNU>, %b: tensor<7x4x32xf4E2M1FN>, %sb: tensor<7x4xf8E4M3FN>, %d: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // expected-remark @below {{import_linalg_c6: scales of both sides must have one format, got 'f8E8M0FNU' and 'f8E4M3FN'}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, ko, ki) -> (m, ko, ki)>, affine_map<(m, n, ko, ki) -> (m, ko)>, affine_map<(m, n, ko, ki) -> (n, ko, ki)>, affine_map<(m, n, ko, ki) -> (n, ko)>, affine_map<(m, n, ko, ki) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %sa, %b, %sb : tensor<5x4x32xf4E2M1FN>, tensor<5x4xf8E8M0FNU>, tensor<7x4x32xf4E2M1FN>, tensor<7x4xf8E4M3FN>) outs(%d : tensor<5x7xf32>) {
  ^bb0(%x: f4E2M1FN, %sx: f8E8M0FNU, %y: f4E2M1FN, %sy: f8E4M3FN, %sum: f32):
    %p = arith.scaling_extf %x, %sx : f4E2M1FN, f8E8M0FNU to f32
    %q = arith.scaling_extf %y, %sy : f4E2M1FN, f8E4M3FN to f32
    %pq = arith.mulf %p, %q : f32
    %next = arith.addf %sum, %pq : f32
    linalg.yield %next : f32
  } -> tensor<5x7xf32>
  return %r : tensor<5x7xf32>
}

// -----

// Blocks that no kind has.
func.func @c6_block(%a: tensor<5x2x64xf4E2M1FN>, %sa: tensor<5x2xf8E8M0FNU>, %b: tensor<7x2x64xf4E2M1FN>, %sb: tensor<7x2xf8E8M0FNU>, %d: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // expected-remark @below {{import_linalg_c6: product must be one that blockscale.gemm takes: gemm_c6: formats must be a combination that is built}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, ko, ki) -> (m, ko, ki)>, affine_map<(m, n, ko, ki) -> (m, ko)>, affine_map<(m, n, ko, ki) -> (n, ko, ki)>, affine_map<(m, n, ko, ki) -> (n, ko)>, affine_map<(m, n, ko, ki) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %sa, %b, %sb : tensor<5x2x64xf4E2M1FN>, tensor<5x2xf8E8M0FNU>, tensor<7x2x64xf4E2M1FN>, tensor<7x2xf8E8M0FNU>) outs(%d : tensor<5x7xf32>) {
  ^bb0(%x: f4E2M1FN, %sx: f8E8M0FNU, %y: f4E2M1FN, %sy: f8E8M0FNU, %sum: f32):
    %p = arith.scaling_extf %x, %sx : f4E2M1FN, f8E8M0FNU to f32
    %q = arith.scaling_extf %y, %sy : f4E2M1FN, f8E8M0FNU to f32
    %pq = arith.mulf %p, %q : f32
    %next = arith.addf %sum, %pq : f32
    linalg.yield %next : f32
  } -> tensor<5x7xf32>
  return %r : tensor<5x7xf32>
}

// -----

// FP4 cannot be transposed on its way.
func.func @c6_major(%a: tensor<5x4x32xf4E2M1FN>, %sa: tensor<5x4xf8E8M0FNU>, %b: tensor<4x32x7xf4E2M1FN>, %sb: tensor<7x4xf8E8M0FNU>, %d: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // expected-remark @below {{import_linalg_c6: product must be one that blockscale.gemm takes: gemm_c22: major_b must be k-major where elements are not of 8 bits, got mn of e2m1}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, ko, ki) -> (m, ko, ki)>, affine_map<(m, n, ko, ki) -> (m, ko)>, affine_map<(m, n, ko, ki) -> (ko, ki, n)>, affine_map<(m, n, ko, ki) -> (n, ko)>, affine_map<(m, n, ko, ki) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %sa, %b, %sb : tensor<5x4x32xf4E2M1FN>, tensor<5x4xf8E8M0FNU>, tensor<4x32x7xf4E2M1FN>, tensor<7x4xf8E8M0FNU>) outs(%d : tensor<5x7xf32>) {
  ^bb0(%x: f4E2M1FN, %sx: f8E8M0FNU, %y: f4E2M1FN, %sy: f8E8M0FNU, %sum: f32):
    %p = arith.scaling_extf %x, %sx : f4E2M1FN, f8E8M0FNU to f32
    %q = arith.scaling_extf %y, %sy : f4E2M1FN, f8E8M0FNU to f32
    %pq = arith.mulf %p, %q : f32
    %next = arith.addf %sum, %pq : f32
    linalg.yield %next : f32
  } -> tensor<5x7xf32>
  return %r : tensor<5x7xf32>
}

// -----

// Sums in f64.
func.func @c6_out(%a: tensor<5x4x32xf4E2M1FN>, %sa: tensor<5x4xf8E8M0FNU>, %b: tensor<7x4x32xf4E2M1FN>, %sb: tensor<7x4xf8E8M0FNU>, %d: tensor<5x7xf64>) -> tensor<5x7xf64> {
  // expected-remark @below {{import_linalg_c6: result must be f32, f16 or bf16, got 'f64'}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, ko, ki) -> (m, ko, ki)>, affine_map<(m, n, ko, ki) -> (m, ko)>, affine_map<(m, n, ko, ki) -> (n, ko, ki)>, affine_map<(m, n, ko, ki) -> (n, ko)>, affine_map<(m, n, ko, ki) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %sa, %b, %sb : tensor<5x4x32xf4E2M1FN>, tensor<5x4xf8E8M0FNU>, tensor<7x4x32xf4E2M1FN>, tensor<7x4xf8E8M0FNU>) outs(%d : tensor<5x7xf64>) {
  ^bb0(%x: f4E2M1FN, %sx: f8E8M0FNU, %y: f4E2M1FN, %sy: f8E8M0FNU, %sum: f64):
    %p = arith.scaling_extf %x, %sx : f4E2M1FN, f8E8M0FNU to f64
    %q = arith.scaling_extf %y, %sy : f4E2M1FN, f8E8M0FNU to f64
    %pq = arith.mulf %p, %q : f64
    %next = arith.addf %sum, %pq : f64
    linalg.yield %next : f64
  } -> tensor<5x7xf64>
  return %r : tensor<5x7xf64>
}

// -----

// Two results.
func.func @c1_results(%a: tensor<5x4x32xf4E2M1FN>, %s: tensor<5x4xf8E8M0FNU>, %d: tensor<5x5xf32>) -> (tensor<5x5xf32>, tensor<5x5xf32>) {
  // expected-remark @below {{import_linalg_c1: a product must have four tensors as inputs and one as result, got 2 inputs and 2 results}}
  %r:2 = linalg.generic {indexing_maps = [affine_map<(m, n, ko, ki) -> (m, ko, ki)>, affine_map<(m, n, ko, ki) -> (m, ko)>,
                                          affine_map<(m, n, ko, ki) -> (m, n)>, affine_map<(m, n, ko, ki) -> (m, n)>],
                         iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %s : tensor<5x4x32xf4E2M1FN>, tensor<5x4xf8E8M0FNU>) outs(%d, %d : tensor<5x5xf32>, tensor<5x5xf32>) {
  ^bb0(%x: f4E2M1FN, %sx: f8E8M0FNU, %sum: f32, %other: f32):
    %p = arith.scaling_extf %x, %sx : f4E2M1FN, f8E8M0FNU to f32
    %next = arith.addf %sum, %p : f32
    linalg.yield %next, %p : f32, f32
  } -> (tensor<5x5xf32>, tensor<5x5xf32>)
  return %r#0, %r#1 : tensor<5x5xf32>, tensor<5x5xf32>
}

// -----

// One scale for all of B.
func.func @c1_scalar(%a: tensor<5x4x32xf4E2M1FN>, %sa: tensor<5x4xf8E8M0FNU>, %b: tensor<7x4x32xf4E2M1FN>, %sb: f8E8M0FNU, %d: tensor<5x7xf32>) -> (tensor<5x7xf32>) {
  // expected-remark @below {{import_linalg_c1: operands must be tensors, got 'f8E8M0FNU'}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, ko, ki) -> (m, ko, ki)>, affine_map<(m, n, ko, ki) -> (m, ko)>, affine_map<(m, n, ko, ki) -> (n, ko, ki)>, affine_map<(m, n, ko, ki) -> ()>, affine_map<(m, n, ko, ki) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %sa, %b, %sb : tensor<5x4x32xf4E2M1FN>, tensor<5x4xf8E8M0FNU>, tensor<7x4x32xf4E2M1FN>, f8E8M0FNU) outs(%d : tensor<5x7xf32>) {
  ^bb0(%p0: f4E2M1FN, %sx: f8E8M0FNU, %y: f4E2M1FN, %sy: f8E8M0FNU, %sum: f32):
    %p = arith.scaling_extf %p0, %sx : f4E2M1FN, f8E8M0FNU to f32
    %q = arith.scaling_extf %y, %sy : f4E2M1FN, f8E8M0FNU to f32
    %pq = arith.mulf %p, %q : f32
    %next = arith.addf %sum, %pq : f32
    linalg.yield %next : f32
  } -> tensor<5x7xf32>
  return %r : tensor<5x7xf32>
}
