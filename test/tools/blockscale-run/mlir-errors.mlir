// Every refusal is one line, and the status is not 0.

// RUN: %python %S/Inputs/make.py %t.x.npy='np.zeros((2, 3), np.float32)' %t.y.npy='np.zeros((3, 2), np.float32)' %t.i.npy='np.zeros((2, 3), np.int32)'

// RUN: not blockscale-run %t.none.mlir --entry=f --arch=sm_100a 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: blockscale-run: error: run: '{{.*}}none.mlir' must be a readable file, got no such file
// RUN: not blockscale-run %s --entry=g --arch=sm_100a 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: run: --entry must be one of rows, negate, scalar, got 'g'
// RUN: not blockscale-run %s --entry=negate --arch=sm_99 --arg=%t.x.npy 2>&1 | FileCheck %s --check-prefix=ARCH
// ARCH: error: schedule_c1: chip must be one of sm_100a, sm_100f, {{.*}}, got 'sm_99'
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

// Each class of error is one line with file, line and column.
// RUN: printf 'func.func private @ext() -> f32\nfunc.func @f() {\n  %%%%0 = func.call @ext() : () -> f32\n  return\n}\n' > %t.callee.mlir
// RUN: not blockscale-run %t.callee.mlir --entry=f --arch=sm_100a 2>&1 | count 1
// RUN: not blockscale-run %t.callee.mlir --entry=f --arch=sm_100a 2>&1 | FileCheck %s --check-prefix=CALLEE
// CALLEE: callee.mlir:1:1: error: compile: function that host code calls must be defined, got a declaration of @ext
// RUN: printf 'func.func @f() {\n  %%%%c = arith.constant 1.0 : f32\n  vector.print %%%%c : f32\n  return\n}\n' > %t.host.mlir
// RUN: not blockscale-run %t.host.mlir --entry=f --arch=sm_100a 2>&1 | count 1
// RUN: not blockscale-run %t.host.mlir --entry=f --arch=sm_100a 2>&1 | FileCheck %s --check-prefix=HOST
// HOST: host.mlir:3:3: error: cannot be converted to LLVM IR
// RUN: sed 's/133x6xf8/133x7xf8/' %S/Inputs/levels.mlir > %t.rule.mlir
// RUN: not blockscale-run %t.rule.mlir --entry=product --arch=sm_100a 2>&1 | count 1
// RUN: not blockscale-run %t.rule.mlir --entry=product --arch=sm_100a 2>&1 | FileCheck %s --check-prefix=RULE
// RULE: rule.mlir:{{[0-9]+}}:8: error: 'blockscale.gemm' op gemm_c8: sfa must be 133x6 (rows x k / block), got 133x7
// RUN: printf 'func.func @f(%%%%a: tensor<4x32xf4E2M1FN>) -> tensor<4x32xf4E2M1FN> {\n  %%%%e = tensor.empty() : tensor<4x32xf4E2M1FN>\n  return %%%%e : tensor<4x32xf4E2M1FN>\n}\n' > %t.pass.mlir
// RUN: not blockscale-run %t.pass.mlir --entry=f --arch=sm_100a 2>&1 | count 1
// RUN: not blockscale-run %t.pass.mlir --entry=f --arch=sm_100a 2>&1 | FileCheck %s --check-prefix=PASS
// PASS: pass.mlir:2:8: error: pack_narrow_c1: op on a narrow tensor must be one of the blockscale dialect

// Chips are named with their suffix, and have block-scaled MMAs.
// RUN: not blockscale-run %s --entry=negate --arch=sm_100 2>&1 | FileCheck %s --check-prefix=SUFFIX
// SUFFIX: blockscale-run: error: schedule_c1: chip sm_100 needs sm_100a or sm_100f for {{.*}}, got no suffix
// RUN: not blockscale-run %S/Inputs/levels.mlir --entry=product --arch=sm_120a 2>&1 | FileCheck %s --check-prefix=FEATURE
// FEATURE: blockscale-run: error: schedule_c1: chip must have {{.*}}, which sm_100a, {{.*}} have, got sm_120a

// Without a product it is plain host code, for any chip.
// RUN: blockscale-run %s --entry=negate --arch=sm_120a --arg=%t.x.npy
// RUN: blockscale-run %s --entry=negate --arch=sm_100a --arg=%t.x.npy --out=%t.z.npy
// RUN: %python %S/Inputs/expect.py %t.z.npy 'np.full((2, 3), -0.0, np.float32)'

// A result may have a dimension that only the call knows.
// RUN: blockscale-run %s --entry=rows --arch=sm_100a --arg=%t.x.npy --out=%t.r.npy
// RUN: %python %S/Inputs/expect.py %t.r.npy 'np.full((2, 3), -0.0, np.float32)'

func.func @rows(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = arith.negf %x : tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}

func.func @negate(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = arith.negf %x : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

func.func @scalar(%x: tensor<2x3xf32>) -> f32 {
  %zero = arith.constant 0 : index
  %y = tensor.extract %x[%zero, %zero] : tensor<2x3xf32>
  return %y : f32
}
