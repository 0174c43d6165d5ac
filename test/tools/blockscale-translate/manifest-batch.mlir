// A batch is one launch, whose maps have one more dimension; scales are tiled.

// RUN: blockscale-translate --mlir-to-ptx --arch=sm_107a %s -o %t.ptx --manifest=%t.json
// RUN: %python -c "import json,sys; print(json.dumps(json.load(open(sys.argv[1])), sort_keys=True))" %t.json | FileCheck %s
// CHECK: {"bytes": 960, "name": "a", "role": "input"}, {"bytes": 3072, "name": "sfa", "role": "input"}
// CHECK-SAME: {"bytes": 32, "dtype": "f32", "name": "bias", "role": "input", "shape": [8]}
// CHECK-SAME: {"bytes": 480, "dtype": "f32", "name": "d", "role": "output", "shape": [3, 5, 8]}
// RUN: %python -c "import json,sys; [print(k['name'], k['grid'], [(p['buffer'], p.get('dims'), p.get('strides'), p.get('offset', 0)) for p in k['params']]) for k in json.load(open(sys.argv[1]))['kernels']]" %t.json | FileCheck %s --check-prefix=MAPS
// MAPS: gemm_0 [3, 1, 1] [('a', [64, 5, 3], [64, 320], 0), ('b', [64, 8, 3], [64, 512], 0), ('sfa', [256, 2, 1, 3], [512, 1024, 1024], 0), ('sfb', [256, 2, 1, 3], [512, 1024, 1024], 0), ('d', [8, 5, 3], [32, 160], 0), ('bias', None, None, 0)]
// MAPS-NOT: gemm

// RUN: %python %S/../blockscale-run/Inputs/batches.py tiled %t.t nvfp4 3 5 8 128
// RUN: blockscale-run --ptx=%t.ptx --manifest=%t.json --arg=a=%t.t.a.npy --arg=sfa=%t.t.sa.npy --arg=b=%t.t.b.npy --arg=sfb=%t.t.sb.npy --arg=bias=%t.t.bias.npy --out=d=%t.t.npy --seeds=1
// RUN: %python %S/../blockscale-run/Inputs/expect.py %t.t.npy 'load("%t.t.d.npy")'

// Rows that a launch says: matrices are as many rows apart.
// RUN: sed 's/3x5x/3x?x/g; s/tensor.empty() : tensor<3x?x8/tensor.empty(%%m) : tensor<3x?x8/; s/^  %%c = /  %%one = arith.constant 1 : index\n  %%m = tensor.dim %%a, %%one : !a\n  %%c = /' %s > %t.rows.mlir
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_107a %t.rows.mlir -o %t.rows.ptx --manifest=%t.rows.json
// RUN: %python -c "import json,sys; m = json.load(open(sys.argv[1])); [print(b['name'], b['bytes'], b.get('shape')) for b in m['buffers']]; [print(k['grid'], [(p['buffer'], p.get('dims'), p.get('strides')) for p in k['params'][:5]]) for k in m['kernels']]" %t.rows.json | FileCheck %s --check-prefix=ROWS
// ROWS: a {'expr': ['mul', ['max', 'm', 1], 192]} [3, {'expr': 'm'}, 64]
// ROWS: sfa {{.*}} [3, {'expr': ['ceildiv', 'm', 128]}, 1024]
// ROWS: d {'expr': ['mul', ['max', 'm', 1], 96]} [3, {'expr': 'm'}, 8]
// ROWS: [{'expr': ['min', ['mul', ['ceildiv', 'm', 128], 3], {{[0-9]+}}]}, 1, 1]
// ROWS-SAME: ('a', [64, {'expr': ['max', 'm', 1]}, 3], [64, {'expr': ['mul', ['max', 'm', 1], 64]}]), ('b', [64, 8, 3], [64, 512])
// ROWS-SAME: ('d', [8, {'expr': ['max', 'm', 1]}, 3], [32, {'expr': ['mul', ['max', 'm', 1], 32]}])
// RUN: %python %S/../blockscale-run/Inputs/batches.py tiled %t.r nvfp4 3 130 8 128
// RUN: blockscale-run --ptx=%t.rows.ptx --manifest=%t.rows.json --size=m=130 --arg=a=%t.r.a.npy --arg=sfa=%t.r.sa.npy --arg=b=%t.r.b.npy --arg=sfb=%t.r.sb.npy --arg=bias=%t.r.bias.npy --out=d=%t.r.npy --seeds=1
// RUN: %python %S/../blockscale-run/Inputs/expect.py %t.r.npy 'load("%t.r.d.npy")'

// Rows that the host copies to another pitch: a list of launches, each on its part of one buffer for each operand.
// RUN: sed 's/x128xf4/x48xf4/g; s/3x5x8xi8/3x5x3xi8/; s/3x8x8xi8/3x8x3xi8/' %s > %t.copied.mlir
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_107a %t.copied.mlir -o %t2.ptx --manifest=%t2.json
// RUN: %python -c "import json,sys; [print(k['name'], [(p['buffer'], p.get('offset', 0)) for p in k['params']]) for k in json.load(open(sys.argv[1]))['kernels']]" %t2.json | FileCheck %s --check-prefix=PLACE
// PLACE: gemm_0 [('a', 0), ('b', 0), ('sfa', 0), ('sfb', 0), ('d', 0), ('bias', 0)]
// PLACE-NEXT: gemm_0 [('a', 131072), ('b', 131072), ('sfa', 512), ('sfb', 512), ('d', 160), ('bias', 0)]
// PLACE-NEXT: gemm_0 [('a', 262144), ('b', 262144), ('sfa', 1024), ('sfb', 1024), ('d', 320), ('bias', 0)]
// PLACE-NOT: gemm
// A part that TMA cannot start from.
// RUN: sed 's/3x5x/3x1x/g; s/x8x48/x9x48/; s/x8xf32/x9xf32/g; s/3x8x3xi8/3x9x3xi8/; s/<8xf32/<9xf32/g' %t.copied.mlir | not blockscale-translate --mlir-to-ptx --arch=sm_107a - -o %t2.ptx --manifest=%t2.json 2>&1 | FileCheck %s --check-prefix=PART
// PART: manifest_c8: a part of a batch must start on a multiple of 16 bytes, got 36 of d
// Of ? such rows have room behind the last one, and parts that start elsewhere.
// RUN: sed 's/x128xf4/x48xf4/g; s/3x?x8xi8/3x?x3xi8/; s/3x8x8xi8/3x8x3xi8/' %t.rows.mlir | not blockscale-translate --mlir-to-ptx --arch=sm_107a - -o %t2.ptx --manifest=%t2.json 2>&1 | FileCheck %s --check-prefix=APART
// APART: manifest_c9: rows of ? of a batch must lie dense, got a of 32 bytes a row at least

!a = tensor<3x5x128xf4E2M1FN>
!sa = tensor<3x5x8xi8, #blockscale.scales<ue4m3, tiled>>
!b = tensor<3x8x128xf4E2M1FN>
!sb = tensor<3x8x8xi8, #blockscale.scales<ue4m3, tiled>>
func.func @tiled(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %bias: tensor<8xf32>) -> tensor<3x5x8xf32> {
  %c = tensor.empty() : tensor<3x5x8xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) bias(%bias : tensor<8xf32>)
    outs(%c : tensor<3x5x8xf32>) -> tensor<3x5x8xf32>
  return %d : tensor<3x5x8xf32>
}
