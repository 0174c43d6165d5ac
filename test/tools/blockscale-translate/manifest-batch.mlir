// A batch is a list of launches, each on its part of one buffer for each operand; scales are tiled.

// RUN: blockscale-translate --mlir-to-ptx --arch=sm_107a %s -o %t.ptx --manifest=%t.json
// RUN: %python -c "import json,sys; print(json.dumps(json.load(open(sys.argv[1])), sort_keys=True))" %t.json | FileCheck %s
// CHECK: {"bytes": 960, "name": "a", "role": "input"}, {"bytes": 3072, "name": "sfa", "role": "input"}
// CHECK-SAME: {"bytes": 32, "dtype": "f32", "name": "bias", "role": "input", "shape": [8]}
// CHECK-SAME: {"bytes": 480, "dtype": "f32", "name": "d", "role": "output", "shape": [3, 5, 8]}
// RUN: %python -c "import json,sys; [print(k['name'], [(p['buffer'], p.get('offset', 0)) for p in k['params']]) for k in json.load(open(sys.argv[1]))['kernels']]" %t.json | FileCheck %s --check-prefix=PLACE
// PLACE: gemm_0 [('a', 0), ('b', 0), ('sfa', 0), ('sfb', 0), ('d', 0), ('bias', 0)]
// PLACE-NEXT: gemm_0 [('a', 320), ('b', 512), ('sfa', 1024), ('sfb', 1024), ('d', 160), ('bias', 0)]
// PLACE-NEXT: gemm_0 [('a', 640), ('b', 1024), ('sfa', 2048), ('sfb', 2048), ('d', 320), ('bias', 0)]
// PLACE-NOT: gemm

// RUN: %python %S/../blockscale-run/Inputs/batches.py tiled %t.t nvfp4 3 5 8 128
// RUN: blockscale-run --ptx=%t.ptx --manifest=%t.json --arg=a=%t.t.a.npy --arg=sfa=%t.t.sa.npy --arg=b=%t.t.b.npy --arg=sfb=%t.t.sb.npy --arg=bias=%t.t.bias.npy --out=d=%t.t.npy --seeds=1
// RUN: %python %S/../blockscale-run/Inputs/expect.py %t.t.npy 'load("%t.t.d.npy")'

// A part that TMA cannot start from.
// RUN: sed 's/3x5x/3x1x/g; s/x8x128/x9x128/; s/x8xf32/x9xf32/g; s/3x8x8xi8/3x9x8xi8/; s/<8xf32/<9xf32/g' %s | not blockscale-translate --mlir-to-ptx --arch=sm_107a - -o %t2.ptx --manifest=%t2.json 2>&1 | FileCheck %s --check-prefix=PART
// PART: manifest_c8: a part of a batch must start on a multiple of 16 bytes, got 36 of d

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
