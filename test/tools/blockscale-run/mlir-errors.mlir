// Every refusal is one line, and the status is not 0.

// RUN: %python %S/Inputs/make.py %t.x.npy='np.zeros((2, 3), np.float32)' %t.y.npy='np.zeros((3, 2), np.float32)' %t.i.npy='np.zeros((2, 3), np.int32)'

// RUN: not blockscale-run %t.none.mlir --entry=f --arch=sm_100a 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: blockscale-run: error: run: '{{.*}}none.mlir' must be a readable file, got no such file
// RUN: not blockscale-run %s --entry=g --arch=sm_100a 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: run: --entry must be one of negate, scalar, got 'g'
// RUN: not blockscale-run %s --entry=negate --arch=sm_99 --arg=%t.x.npy 2>&1 | FileCheck %s --check-prefix=ARCH
// ARCH: run: --arch must be one of sm_80, {{.*}}, got 'sm_99'
// RUN: not blockscale-run %s --entry=negate --arch=sm_100a 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: run: --arg must be given for each of the 1 arguments of @negate, got 0
// RUN: not blockscale-run %s --entry=negate --arch=sm_100a --arg=%t.y.npy 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: run: argument 0 of @negate must be f32 [2, 3], got f32 [3, 2] from '{{.*}}y.npy'
// RUN: not blockscale-run %s --entry=negate --arch=sm_100a --arg=%t.i.npy 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: run: argument 0 of @negate must be f32 [2, 3], got i32 [2, 3]
// RUN: not blockscale-run %s --entry=negate --arch=sm_100a --arg=x=%t.x.npy 2>&1 | FileCheck %s --check-prefix=NAMED
// NAMED: run: argument 0 of @negate must be given by position, got name 'x'
// RUN: not blockscale-run %s --entry=negate --arch=sm_100a --arg=%t.x.npy --out=%t.a.npy --out=%t.b.npy 2>&1 | FileCheck %s --check-prefix=OUTS
// OUTS: run: --out must be given for at most the 1 results of @negate, got 2
// RUN: not blockscale-run %s --entry=scalar --arch=sm_100a --arg=%t.x.npy 2>&1 | FileCheck %s --check-prefix=SCALAR
// SCALAR: run: result 0 of @scalar must be a tensor or a memref, got a scalar

// RUN: echo 'func.func @f() { return 1 }' > %t.bad.mlir
// RUN: not blockscale-run %t.bad.mlir --entry=f --arch=sm_100a 2>&1 | count 1
// RUN: not blockscale-run %t.bad.mlir --entry=f --arch=sm_100a 2>&1 | FileCheck %s --check-prefix=PARSE
// PARSE: bad.mlir:1:24: error: expected operation name in quotes

// Without a product it is plain host code.
// RUN: blockscale-run %s --entry=negate --arch=sm_100a --arg=%t.x.npy --out=%t.z.npy
// RUN: %python %S/Inputs/expect.py %t.z.npy 'np.full((2, 3), -0.0, np.float32)'

func.func @negate(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = arith.negf %x : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

func.func @scalar(%x: tensor<2x3xf32>) -> f32 {
  %zero = arith.constant 0 : index
  %y = tensor.extract %x[%zero, %zero] : tensor<2x3xf32>
  return %y : f32
}
