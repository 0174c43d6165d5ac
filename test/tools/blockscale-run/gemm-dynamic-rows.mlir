// M that a launch says: one compiled program for every number of rows, none at all included.

// The same PTX and manifest each time; the manifest's m is that of A's file.
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_100a %S/Inputs/dynamic-nvfp4.mlir -o %t.ptx --manifest=%t.json
// RUN: %python %S/Inputs/dynamic_rows.py %t nvfp4 200 96 tiled 0,1,7,127,128,129,300 a,sfa,b,sfb,bias,c blockscale-run --ptx=%t.ptx --manifest=%t.json --seeds=1 | FileCheck %s
// CHECK: 0 rows:
// CHECK-NOT: kernel gemm
// CHECK: 1 rows:
// CHECK: same bits under earliest, latest, seed 0
// CHECK: 300 rows:
// CHECK: grid 6x1x1
// CHECK: same bits under earliest, latest, seed 0

// The kernel's m decides which rows of C it reads; the map of A's scales has one tile for each 128 of them.
// RUN: %python -c "import json,sys; m = json.load(open(sys.argv[1])); m['kernels'][0]['params'][-1]['value'] = {'expr': ['add', 'm', 1]}; json.dump(m, open(sys.argv[2], 'w'))" %t.json %t.more.json
// RUN: not %python %S/Inputs/dynamic_rows.py %t nvfp4 200 96 tiled 128 a,sfa,b,sfb,bias,c blockscale-run --ptx=%t.ptx --manifest=%t.more.json 2>&1 | FileCheck %s --check-prefix=MORE
// MORE: mem_global: global access of 16 bytes must lie in a live allocation
// RUN: %python -c "import json,sys; m = json.load(open(sys.argv[1])); m['kernels'][0]['params'][2]['dims'][2] = {'expr': ['max', ['div', 'm', 128], 1]}; json.dump(m, open(sys.argv[2], 'w'))" %t.json %t.fewer.json
// RUN: not %python %S/Inputs/dynamic_rows.py %t nvfp4 200 96 tiled 300 a,sfa,b,sfb,bias,c blockscale-run --ptx=%t.ptx --manifest=%t.fewer.json 2>&1 | FileCheck %s --check-prefix=FEWER
// FEWER: 300 rows: wrong

// Host code computes grid, maps and sizes; rows of D go by plain stores, and scales are linear.
// RUN: %python %S/Inputs/dynamic_rows.py %t mxfp8 30 160 linear 0,7,129 a,sfa,b,sfb blockscale-run %s --entry=mxfp8 --arch=sm_107a --seeds=1 --check | FileCheck %s --check-prefix=LINEAR
// LINEAR: 0 rows: note: --check compared nothing
// LINEAR: 7 rows: kernel gemm_0: mxfp8 ?x30x160,{{.*}} grid 1x1x1,{{.*}} error 0.00e+00 of bound
// LINEAR: 129 rows: kernel gemm_0: mxfp8 ?x30x160,{{.*}} grid 2x1x1,{{.*}} error 0.00e+00 of bound

// The same loops in linalg, on bytes.
// RUN: %python %S/Inputs/dynamic_rows.py %t mxfp8 30 160 linear 7,129 a,sfa,b,sfb blockscale-run %S/../../Transforms/import-linalg-dynamic.mlir --entry=generic --arch=sm_107a --check

// Rows that TMA cannot fetch are copied to another pitch, as many as there are; a caller's own may lie apart, with anything behind them.
// RUN: %python %S/Inputs/dynamic_rows.py %t nvfp4 8 48 linear 0,1,130,300 a,sfa,b,sfb blockscale-run %s --entry=copied --arch=sm_100a --seeds=1 --check | FileCheck %s --check-prefix=COPIED
// COPIED: 130 rows: kernel gemm_0: nvfp4 ?x8x48,{{.*}} grid 2x1x1
// RUN: %python %S/Inputs/pitches.py apart %t.p mxfp8 133 8 96
// RUN: blockscale-run %s --entry=apart --arch=sm_100a --arg=%t.p.a.npy --arg=%t.p.sa.npy --arg=%t.p.b.npy --arg=%t.p.sb.npy --out=%t.p.npy --check --seeds=1
// RUN: %python %S/Inputs/expect.py %t.p.npy 'load("%t.p.d.npy")'

// A is MN-major: m is also the bytes from one k to the next, which TMA takes in multiples of 16.
// RUN: %python %S/Inputs/dynamic_rows.py %t mxfp8 8 96 linear 0,16,144 a,sfa,b,sfb blockscale-run %s --entry=transposed --arch=sm_100a --seeds=1 --check | FileCheck %s --check-prefix=TRANSPOSED
// TRANSPOSED: 0 rows: note: --check compared nothing
// TRANSPOSED: 144 rows: kernel gemm_0: mxfp8 ?x8x96,{{.*}} grid 2x1x1
// RUN: not %python %S/Inputs/dynamic_rows.py %t mxfp8 8 96 linear 20 a,sfa,b,sfb blockscale-run %s --entry=transposed --arch=sm_100a 2>&1 | FileCheck %s --check-prefix=STEP
// STEP: tensor_map_c{{[0-9]+}}: {{.*}}16{{.*}}, got 20
// RUN: sed 's/<?x3xf8E8M0FNU>/<?x3xi8, #blockscale.scales<ue8m0, tiled>>/; s/<8x3xf8E8M0FNU>/<8x3xi8, #blockscale.scales<ue8m0, tiled>>/; /^.. TRANSPOSED-ONLY$/,$!d' %s > %t3.mlir
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_107a %t3.mlir -o %t3.ptx --manifest=%t3.json
// RUN: %python %S/Inputs/dynamic_rows.py %t.transposed mxfp8 8 96 tiled 0,16,144 a,sfa,b,sfb blockscale-run --ptx=%t3.ptx --manifest=%t3.json --seeds=1

// A pair, in a cluster whose tiles overhang.
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_100a --pin=cta-group=2,cluster=4x2 %S/Inputs/dynamic-pair.mlir -o %t2.ptx --manifest=%t2.json
// RUN: %python %S/Inputs/dynamic_rows.py %t mxfp8 256 160 tiled 1,129,300,700 a,sfa,b,sfb blockscale-run --ptx=%t2.ptx --manifest=%t2.json --seeds=1

// What the rows of the result ask for is checked, and so is what a manifest is given.
// RUN: %python -c "import numpy; numpy.save('%t.short.npy', numpy.zeros(1536, 'u1'))"
// RUN: not blockscale-run --ptx=%t.ptx --manifest=%t.json --arg=a=%t.a.npy --arg=sfa=%t.short.npy --arg=b=%t.b.npy --arg=sfb=%t.sfb.npy --arg=bias=%t.bias.npy --arg=c=%t.c.npy --size=m=7 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: error: run: size 'm' must be one, got 7 and 700 of
// RUN: %python %S/Inputs/make.py %t.a7.npy='np.zeros((7, 160), np.uint8)' %t.sa6.npy='np.zeros((6, 5), np.uint8)' %t.b30.npy='np.zeros((30, 160), np.uint8)' %t.sb30.npy='np.zeros((30, 5), np.uint8)'
// RUN: not blockscale-run %s --entry=mxfp8 --arch=sm_107a --arg=%t.a7.npy --arg=%t.sa6.npy --arg=%t.b30.npy --arg=%t.sb30.npy 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: error: runtime: operand a must have 960 bytes, as the rows of the result ask for, got 1120
// The last tile of scales has room for rows that are not there: linear ones are counted.
// RUN: sed "s/dim .sa, .zero : !sal/dim %%a, %%zero : !al/" %s > %t.rows.mlir
// RUN: not blockscale-run %t.rows.mlir --entry=mxfp8 --arch=sm_107a --arg=%t.a7.npy --arg=%t.sa6.npy --arg=%t.b30.npy --arg=%t.sb30.npy --check 2>&1 | FileCheck %s --check-prefix=LINEARBYTES
// LINEARBYTES-NOT: compared nothing
// LINEARBYTES: error: runtime: operand sfa must have 35 bytes, as the rows of the result ask for, got 30

!al = tensor<?x160xf8E4M3FN>
!sal = tensor<?x5xf8E8M0FNU>
!bl = tensor<30x160xf8E4M3FN>
!sbl = tensor<30x5xf8E8M0FNU>
func.func @mxfp8(%a: !al, %sa: !sal, %b: !bl, %sb: !sbl) -> tensor<?x30xf32> {
  %zero = arith.constant 0 : index
  %m = tensor.dim %sa, %zero : !sal
  %out = tensor.empty(%m) : tensor<?x30xf32>
  %alpha = arith.constant 0.5 : f32
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !al, !sal, !bl, !sbl) alpha(%alpha : f32)
    outs(%out : tensor<?x30xf32>) -> tensor<?x30xf32>
  return %d : tensor<?x30xf32>
}

!ac = tensor<?x48xf4E2M1FN>
!sac = tensor<?x3xf8E4M3FN>
!bc = tensor<8x48xf4E2M1FN>
!sbc = tensor<8x3xf8E4M3FN>
func.func @copied(%a: !ac, %sa: !sac, %b: !bc, %sb: !sbc) -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %m = tensor.dim %sa, %zero : !sac
  %out = tensor.empty(%m) : tensor<?x8xf32>
  %alpha = arith.constant 0.5 : f32
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !ac, !sac, !bc, !sbc) alpha(%alpha : f32)
    outs(%out : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %d : tensor<?x8xf32>
}

!ap = tensor<?x96xf8E4M3FN, #blockscale.pitched<bytes = 112>>
!bp = tensor<8x96xf8E4M3FN, #blockscale.pitched<bytes = 128>>
!sp = tensor<?x3xf8E8M0FNU>
!tp = tensor<8x3xf8E8M0FNU>
func.func @apart(%a: !ap, %sa: !sp, %b: !bp, %sb: !tp) -> tensor<?x8xf32> {
  %zero = arith.constant 0 : index
  %m = tensor.dim %a, %zero : !ap
  %c = tensor.empty(%m) : tensor<?x8xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !ap, !sp, !bp, !tp) outs(%c : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %d : tensor<?x8xf32>
}

// TRANSPOSED-ONLY
!at = tensor<96x?xf8E4M3FN>
!st = tensor<?x3xf8E8M0FNU>
!bt = tensor<8x96xf8E4M3FN>
!tt = tensor<8x3xf8E8M0FNU>
func.func @transposed(%a: !at, %sa: !st, %b: !bt, %sb: !tt) -> tensor<?x8xf32> {
  %one = arith.constant 1 : index
  %m = tensor.dim %a, %one : !at
  %c = tensor.empty(%m) : tensor<?x8xf32>
  %alpha = arith.constant 0.5 : f32
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !at, !st, !bt, !tt) alpha(%alpha : f32)
    outs(%c : tensor<?x8xf32>) {major_a = #blockscale.major<mn>} -> tensor<?x8xf32>
  return %d : tensor<?x8xf32>
}
