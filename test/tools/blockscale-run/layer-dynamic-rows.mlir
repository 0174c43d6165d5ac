// A layer of a number of tokens that the call says: quantise, up, max(x, 0), quantise, down. It gives
// the bits of the program that knows the number.

// RUN: %python %S/Inputs/make.py %t.up.npy='np.random.default_rng(1).standard_normal((160, 64), np.float32)' %t.down.npy='np.random.default_rng(2).standard_normal((48, 160), np.float32)'
// RUN: %python %S/Inputs/make.py %t.x7.npy='np.random.default_rng(3).standard_normal((7, 64), np.float32)' %t.x130.npy='np.random.default_rng(4).standard_normal((130, 64), np.float32)' %t.x0.npy='np.zeros((0, 64), np.float32)'
// RUN: sed 's/?x/7x/g; s/empty(%m)/empty()/' %s > %t.7.mlir
// RUN: sed 's/?x/130x/g; s/empty(%m)/empty()/' %s > %t.130.mlir

// RUN: blockscale-run %s --entry=nvfp4 --arch=sm_107a --check --arg=%t.x130.npy --arg=%t.up.npy --arg=%t.down.npy --out=%t.a.npy | FileCheck %s
// RUN: blockscale-run %t.130.mlir --entry=nvfp4 --arch=sm_107a --arg=%t.x130.npy --arg=%t.up.npy --arg=%t.down.npy --out=%t.b.npy
// RUN: %python %S/Inputs/expect.py %t.a.npy "load('%t.b.npy')"
// CHECK: kernel gemm_0: nvfp4 ?x160x64{{.*}} error
// CHECK: kernel gemm_1: nvfp4 ?x48x160{{.*}} error

// RUN: blockscale-run %s --entry=mxfp8 --arch=sm_100a --check --arg=%t.x7.npy --arg=%t.up.npy --arg=%t.down.npy --out=%t.c.npy
// RUN: blockscale-run %t.7.mlir --entry=mxfp8 --arch=sm_100a --arg=%t.x7.npy --arg=%t.up.npy --arg=%t.down.npy --out=%t.d.npy
// RUN: %python %S/Inputs/expect.py %t.c.npy "load('%t.d.npy')"

// No token: no kernel, and a result without rows.
// RUN: blockscale-run %s --entry=nvfp4 --arch=sm_100a --arg=%t.x0.npy --arg=%t.up.npy --arg=%t.down.npy --out=%t.e.npy
// RUN: %python %S/Inputs/expect.py %t.e.npy 'np.zeros((0, 48), np.float32)'

func.func private @positive(%x: tensor<?x160xf32>) -> tensor<?x160xf32> {
  %first = arith.constant 0 : index
  %m = tensor.dim %x, %first : tensor<?x160xf32>
  %zero = arith.constant 0.0 : f32
  %init = tensor.empty(%m) : tensor<?x160xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x160xf32>) outs(%init : tensor<?x160xf32>) {
  ^bb0(%v: f32, %ignored: f32):
    %r = arith.maximumf %v, %zero : f32
    linalg.yield %r : f32
  } -> tensor<?x160xf32>
  return %y : tensor<?x160xf32>
}

func.func @nvfp4(%x: tensor<?x64xf32>, %up: tensor<160x64xf32>, %down: tensor<48x160xf32>) -> tensor<?x48xf32> {
  %first = arith.constant 0 : index
  %m = tensor.dim %x, %first : tensor<?x64xf32>
  %q, %qs, %g = blockscale.quantize %x : tensor<?x64xf32> -> tensor<?x64xf4E2M1FN>, tensor<?x4xi8, #blockscale.scales<ue4m3, tiled>>, tensor<f32>
  %w, %ws, %wg = blockscale.quantize %up : tensor<160x64xf32> -> tensor<160x64xf4E2M1FN>, tensor<160x4xi8, #blockscale.scales<ue4m3, tiled>>, tensor<f32>
  %i1 = tensor.empty(%m) : tensor<?x160xf32>
  %h = blockscale.gemm ins(%q scaled %qs, %w scaled %ws : tensor<?x64xf4E2M1FN>, tensor<?x4xi8, #blockscale.scales<ue4m3, tiled>>, tensor<160x64xf4E2M1FN>, tensor<160x4xi8, #blockscale.scales<ue4m3, tiled>>)
    alpha(%g : tensor<f32>) outs(%i1 : tensor<?x160xf32>) -> tensor<?x160xf32>
  %p = call @positive(%h) : (tensor<?x160xf32>) -> tensor<?x160xf32>
  %r, %rs, %rg = blockscale.quantize %p : tensor<?x160xf32> -> tensor<?x160xf4E2M1FN>, tensor<?x10xi8, #blockscale.scales<ue4m3, linear>>, tensor<f32>
  %v, %vs, %vg = blockscale.quantize %down : tensor<48x160xf32> -> tensor<48x160xf4E2M1FN>, tensor<48x10xi8, #blockscale.scales<ue4m3, linear>>, tensor<f32>
  %i2 = tensor.empty(%m) : tensor<?x48xf32>
  %d = blockscale.gemm ins(%r scaled %rs, %v scaled %vs : tensor<?x160xf4E2M1FN>, tensor<?x10xi8, #blockscale.scales<ue4m3, linear>>, tensor<48x160xf4E2M1FN>, tensor<48x10xi8, #blockscale.scales<ue4m3, linear>>)
    alpha(%rg : tensor<f32>) outs(%i2 : tensor<?x48xf32>) -> tensor<?x48xf32>
  return %d : tensor<?x48xf32>
}

func.func @mxfp8(%x: tensor<?x64xf32>, %up: tensor<160x64xf32>, %down: tensor<48x160xf32>) -> tensor<?x48xf32> {
  %first = arith.constant 0 : index
  %m = tensor.dim %x, %first : tensor<?x64xf32>
  %q, %qs = blockscale.quantize %x : tensor<?x64xf32> -> tensor<?x64xf8E4M3FN>, tensor<?x2xi8, #blockscale.scales<ue8m0, linear>>
  %w, %ws = blockscale.quantize %up : tensor<160x64xf32> -> tensor<160x64xf8E4M3FN>, tensor<160x2xi8, #blockscale.scales<ue8m0, tiled>>
  %i1 = tensor.empty(%m) : tensor<?x160xf32>
  %h = blockscale.gemm ins(%q scaled %qs, %w scaled %ws : tensor<?x64xf8E4M3FN>, tensor<?x2xi8, #blockscale.scales<ue8m0, linear>>, tensor<160x64xf8E4M3FN>, tensor<160x2xi8, #blockscale.scales<ue8m0, tiled>>)
    outs(%i1 : tensor<?x160xf32>) -> tensor<?x160xf32>
  %p = call @positive(%h) : (tensor<?x160xf32>) -> tensor<?x160xf32>
  %r, %rs = blockscale.quantize %p : tensor<?x160xf32> -> tensor<?x160xf8E4M3FN>, tensor<?x5xi8, #blockscale.scales<ue8m0, tiled>>
  %v, %vs = blockscale.quantize %down : tensor<48x160xf32> -> tensor<48x160xf8E4M3FN>, tensor<48x5xi8, #blockscale.scales<ue8m0, tiled>>
  %i2 = tensor.empty(%m) : tensor<?x48xf32>
  %d = blockscale.gemm ins(%r scaled %rs, %v scaled %vs : tensor<?x160xf8E4M3FN>, tensor<?x5xi8, #blockscale.scales<ue8m0, tiled>>, tensor<48x160xf8E4M3FN>, tensor<48x5xi8, #blockscale.scales<ue8m0, tiled>>)
    outs(%i2 : tensor<?x48xf32>) -> tensor<?x48xf32>
  return %d : tensor<?x48xf32>
}
