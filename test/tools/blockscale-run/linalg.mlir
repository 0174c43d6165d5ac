// Products written as linalg.generic of arith.scaling_extf, as frontends hand them over, from
// the text to the kernel: equal to numpy, and under every timing.

// NVFP4, whose f8E4M3FN scales upstream cannot lower at all; ragged tiles.
// RUN: %python %S/Inputs/linalg.py nvfp4 %t.nv
// RUN: blockscale-run %s --entry=nvfp4 --arch=sm_100a --arg=%t.nv.a.npy --arg=%t.nv.sa.npy --arg=%t.nv.b.npy --arg=%t.nv.sb.npy --arg=%t.nv.c.npy --out=%t.nv.out.npy --check --seeds=2 | FileCheck %s
// RUN: %python %S/Inputs/expect.py %t.nv.out.npy 'load("%t.nv.d.npy")'
// CHECK: kernel gemm_0: nvfp4 5x24x384, mxf4nvf4 128x128x64
// CHECK: same bits under earliest, latest, seed 0, seed 1

// E4M3 x E5M2, B transposed; all operands bytes that the body casts.
// RUN: %python %S/Inputs/linalg.py transposed_bytes %t.tb
// RUN: blockscale-run %s --entry=transposed_bytes --arch=sm_107a --arg=%t.tb.a.npy --arg=%t.tb.sa.npy --arg=%t.tb.b.npy --arg=%t.tb.sb.npy --arg=%t.tb.c.npy --out=%t.tb.out.npy --check
// RUN: %python %S/Inputs/expect.py %t.tb.out.npy 'load("%t.tb.d.npy")'

// A batch: one kernel, launched for each; and a batch with one matrix of weights.
// RUN: %python %S/Inputs/linalg.py batches %t.ba
// RUN: blockscale-run %s --entry=batches --arch=sm_107a --arg=%t.ba.a.npy --arg=%t.ba.sa.npy --arg=%t.ba.b.npy --arg=%t.ba.sb.npy --arg=%t.ba.c.npy --out=%t.ba.out.npy --check --seeds=1 | FileCheck %s --check-prefix=BATCHES
// RUN: %python %S/Inputs/expect.py %t.ba.out.npy 'load("%t.ba.d.npy")'
// BATCHES: kernel gemm_0: mxfp4 3x5x8x64{{.*}} grid 3x1x1
// RUN: %python %S/Inputs/linalg.py shared_weights %t.sw
// RUN: blockscale-run %s --entry=shared_weights --arch=sm_100a --arg=%t.sw.a.npy --arg=%t.sw.sa.npy --arg=%t.sw.b.npy --arg=%t.sw.sb.npy --arg=%t.sw.c.npy --out=%t.sw.out.npy --check | FileCheck %s --check-prefix=SHARED
// RUN: %python %S/Inputs/expect.py %t.sw.out.npy 'load("%t.sw.d.npy")'
// SHARED: kernel gemm_0: mxfp8 15x8x64
// SHARED-NOT: kernel

// The same text is enough for a translation.
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_100a %s | FileCheck %s --check-prefix=PTX
// PTX: .entry gemm_0
// PTX: .entry gemm_3

// What does not match is one line that says why, and no host code that rounds scales (D16).
// RUN: sed 's/tensor<5x24xf8E4M3FN>/tensor<5x24xf32>/g; s/%%sx: f8E4M3FN/%%sx: f32/; s/%%x, %%sx : f4E2M1FN, f8E4M3FN/%%x, %%sx : f4E2M1FN, f32/' %s > %t.f32.mlir
// RUN: not blockscale-run %t.f32.mlir --entry=nvfp4 --arch=sm_100a 2>&1 | FileCheck %s --check-prefix=F32
// F32: f32.mlir:{{.*}}: error: import_linalg_c5: scales of the left side must be f8E8M0FNU or f8E4M3FN, since others would be rounded, got 'f32'

func.func @nvfp4(%a: tensor<5x24x16xf4E2M1FN>, %sa: tensor<5x24xf8E4M3FN>, %b: tensor<24x24x16xf4E2M1FN>,
                 %sb: tensor<24x24xf8E4M3FN>, %c: tensor<5x24xf32>) -> tensor<5x24xf32> {
  %d = linalg.generic {indexing_maps = [affine_map<(m, n, ko, ki) -> (m, ko, ki)>, affine_map<(m, n, ko, ki) -> (m, ko)>, affine_map<(m, n, ko, ki) -> (n, ko, ki)>, affine_map<(m, n, ko, ki) -> (n, ko)>, affine_map<(m, n, ko, ki) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %sa, %b, %sb : tensor<5x24x16xf4E2M1FN>, tensor<5x24xf8E4M3FN>, tensor<24x24x16xf4E2M1FN>, tensor<24x24xf8E4M3FN>)
      outs(%c : tensor<5x24xf32>) {
  ^bb0(%x: f4E2M1FN, %sx: f8E4M3FN, %y: f4E2M1FN, %sy: f8E4M3FN, %sum: f32):
    %p = arith.scaling_extf %x, %sx : f4E2M1FN, f8E4M3FN to f32
    %q = arith.scaling_extf %y, %sy : f4E2M1FN, f8E4M3FN to f32
    %pq = arith.mulf %p, %q : f32
    %next = arith.addf %sum, %pq : f32
    linalg.yield %next : f32
  } -> tensor<5x24xf32>
  return %d : tensor<5x24xf32>
}

func.func @transposed_bytes(%a: tensor<130x128xi8>, %sa: tensor<130x4xi8>, %b: tensor<4x32x16xi8>,
                 %sb: tensor<16x4xi8>, %c: tensor<130x16xf32>) -> tensor<130x16xf32> {
  %a3 = tensor.expand_shape %a [[0], [1, 2]] output_shape [130, 4, 32] : tensor<130x128xi8> into tensor<130x4x32xi8>
  %d = linalg.generic {indexing_maps = [affine_map<(m, n, ko, ki) -> (m, ko, ki)>, affine_map<(m, n, ko, ki) -> (m, ko)>, affine_map<(m, n, ko, ki) -> (ko, ki, n)>, affine_map<(m, n, ko, ki) -> (n, ko)>, affine_map<(m, n, ko, ki) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a3, %sa, %b, %sb : tensor<130x4x32xi8>, tensor<130x4xi8>, tensor<4x32x16xi8>, tensor<16x4xi8>)
      outs(%c : tensor<130x16xf32>) {
  ^bb0(%x8: i8, %sx8: i8, %y8: i8, %sy8: i8, %sum: f32):
    %x = arith.bitcast %x8 : i8 to f8E4M3FN
    %sx = arith.bitcast %sx8 : i8 to f8E8M0FNU
    %y = arith.bitcast %y8 : i8 to f8E5M2
    %sy = arith.bitcast %sy8 : i8 to f8E8M0FNU
    %p = arith.scaling_extf %x, %sx : f8E4M3FN, f8E8M0FNU to f32
    %q = arith.scaling_extf %y, %sy : f8E5M2, f8E8M0FNU to f32
    %pq = arith.mulf %p, %q : f32
    %next = arith.addf %sum, %pq : f32
    linalg.yield %next : f32
  } -> tensor<130x16xf32>
  return %d : tensor<130x16xf32>
}

func.func @batches(%a: tensor<3x5x2x32xf4E2M1FN>, %sa: tensor<3x5x2xf8E8M0FNU>, %b: tensor<3x8x2x32xf4E2M1FN>,
                 %sb: tensor<3x8x2xf8E8M0FNU>, %c: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  %d = linalg.generic {indexing_maps = [affine_map<(z, m, n, ko, ki) -> (z, m, ko, ki)>, affine_map<(z, m, n, ko, ki) -> (z, m, ko)>, affine_map<(z, m, n, ko, ki) -> (z, n, ko, ki)>, affine_map<(z, m, n, ko, ki) -> (z, n, ko)>, affine_map<(z, m, n, ko, ki) -> (z, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %sa, %b, %sb : tensor<3x5x2x32xf4E2M1FN>, tensor<3x5x2xf8E8M0FNU>, tensor<3x8x2x32xf4E2M1FN>, tensor<3x8x2xf8E8M0FNU>)
      outs(%c : tensor<3x5x8xf32>) {
  ^bb0(%x: f4E2M1FN, %sx: f8E8M0FNU, %y: f4E2M1FN, %sy: f8E8M0FNU, %sum: f32):
    %p = arith.scaling_extf %x, %sx : f4E2M1FN, f8E8M0FNU to f32
    %q = arith.scaling_extf %y, %sy : f4E2M1FN, f8E8M0FNU to f32
    %pq = arith.mulf %p, %q : f32
    %next = arith.addf %sum, %pq : f32
    linalg.yield %next : f32
  } -> tensor<3x5x8xf32>
  return %d : tensor<3x5x8xf32>
}

func.func @shared_weights(%a: tensor<3x5x2x32xf8E4M3FN>, %sa: tensor<3x5x2xf8E8M0FNU>, %b: tensor<8x2x32xf8E4M3FN>,
                 %sb: tensor<8x2xf8E8M0FNU>, %c: tensor<3x5x8xf32>) -> tensor<3x5x8xf32> {
  %d = linalg.generic {indexing_maps = [affine_map<(z, m, n, ko, ki) -> (z, m, ko, ki)>, affine_map<(z, m, n, ko, ki) -> (z, m, ko)>, affine_map<(z, m, n, ko, ki) -> (n, ko, ki)>, affine_map<(z, m, n, ko, ki) -> (n, ko)>, affine_map<(z, m, n, ko, ki) -> (z, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %sa, %b, %sb : tensor<3x5x2x32xf8E4M3FN>, tensor<3x5x2xf8E8M0FNU>, tensor<8x2x32xf8E4M3FN>, tensor<8x2xf8E8M0FNU>)
      outs(%c : tensor<3x5x8xf32>) {
  ^bb0(%x: f8E4M3FN, %sx: f8E8M0FNU, %y: f8E4M3FN, %sy: f8E8M0FNU, %sum: f32):
    %p = arith.scaling_extf %x, %sx : f8E4M3FN, f8E8M0FNU to f32
    %q = arith.scaling_extf %y, %sy : f8E4M3FN, f8E8M0FNU to f32
    %pq = arith.mulf %p, %q : f32
    %next = arith.addf %sum, %pq : f32
    linalg.yield %next : f32
  } -> tensor<3x5x8xf32>
  return %d : tensor<3x5x8xf32>
}
