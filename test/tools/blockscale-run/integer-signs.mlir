// An integer of MLIR has no sign: arrays with and without one go in as their bits.

// RUN: %python %S/Inputs/make.py %t.u4.npy='np.array([1, 2**32 - 2], np.uint32)' %t.i4.npy='np.array([1, -2], np.int32)' %t.u8.npy='np.array([3, 2**64 - 4], np.uint64)' %t.b1.npy='np.array([True, False])' %t.u2.npy='np.array([1, 2], np.uint16)'
// RUN: blockscale-run %s --entry=f --arch=sm_100a --arg=%t.u4.npy --arg=%t.u8.npy --arg=%t.b1.npy --out=%t.a.npy --out=%t.b.npy --out=%t.c.npy
// RUN: %python -c "import numpy as np; print(np.load('%t.a.npy'), np.load('%t.b.npy'), np.load('%t.c.npy'))" | FileCheck %s
// RUN: blockscale-run %s --entry=f --arch=sm_100a --arg=%t.i4.npy --arg=%t.u8.npy --arg=%t.b1.npy --out=%t.a.npy --out=%t.b.npy --out=%t.c.npy
// RUN: %python -c "import numpy as np; print(np.load('%t.a.npy'), np.load('%t.b.npy'), np.load('%t.c.npy'))" | FileCheck %s
// CHECK: [ 2 -4] [ 6 -8] [2 0]
// RUN: not blockscale-run %s --entry=f --arch=sm_100a --arg=%t.u2.npy --arg=%t.u8.npy --arg=%t.b1.npy 2>&1 | FileCheck %s --check-prefix=WIDTH
// WIDTH: run: argument 0 of @f must be i32 [2], got u16 [2] from

func.func @f(%a: tensor<2xi32>, %b: tensor<2xi64>, %c: tensor<2xi8>) -> (tensor<2xi32>, tensor<2xi64>, tensor<2xi8>) {
  %x = arith.addi %a, %a : tensor<2xi32>
  %y = arith.addi %b, %b : tensor<2xi64>
  %z = arith.addi %c, %c : tensor<2xi8>
  return %x, %y, %z : tensor<2xi32>, tensor<2xi64>, tensor<2xi8>
}
