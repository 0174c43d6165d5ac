// A batch of which one operand must be copied is a list of launches. Rows of the other that a launch says
// lie dense: parts start where the rows in front of them end.

// RUN: blockscale-translate --mlir-to-ptx --arch=sm_107a %s -o %t.ptx --manifest=%t.json
// RUN: %python -c "import json,sys; m = json.load(open(sys.argv[1])); [print(b['name'], b['bytes'], b.get('shape')) for b in m['buffers']]; [print([(p['buffer'], p.get('offset', 0)) for p in k['params'][:5]]) for k in m['kernels']]" %t.json | FileCheck %s
// CHECK: a {'expr': ['mul', ['mul', ['max', 'm', 1], 64], 3]} [3, {'expr': 'm'}, 64]
// CHECK: d {'expr': ['mul', ['mul', ['max', 'm', 1], 32], 3]} [3, {'expr': 'm'}, 8]
// CHECK: [('a', 0), ('b', 0), ('sfa', 0), ('sfb', 0), ('d', 0)]
// CHECK-NEXT: [('a', {'expr': ['mul', ['max', 'm', 1], 64]}), ('b', 131072), ('sfa', {'expr': ['mul', ['ceildiv', ['max', 'm', 1], 128], 512]}), ('sfb', 512), ('d', {'expr': ['mul', ['max', 'm', 1], 32]})]
// CHECK-NEXT: [('a', {'expr': ['mul', ['max', 'm', 1], 128]}), ('b', 262144), ('sfa', {'expr': ['mul', ['ceildiv', ['max', 'm', 1], 128], 1024]}), ('sfb', 1024), ('d', {'expr': ['mul', ['max', 'm', 1], 64]})]
// CHECK-NOT: a

!a = tensor<3x?x64xf8E4M3FN>
!sa = tensor<3x?x2xi8, #blockscale.scales<ue8m0, tiled>>
!b = tensor<3x64x8xf8E4M3FN>
!sb = tensor<3x8x2xi8, #blockscale.scales<ue8m0, tiled>>
func.func @parts(%a: !a, %sa: !sa, %b: !b, %sb: !sb) -> tensor<3x?x8xf32> {
  %one = arith.constant 1 : index
  %m = tensor.dim %a, %one : !a
  %c = tensor.empty(%m) : tensor<3x?x8xf32>
  %d = blockscale.gemm ins(%a scaled %sa, %b scaled %sb : !a, !sa, !b, !sb) outs(%c : tensor<3x?x8xf32>)
    {major_b = #blockscale.major<mn>} -> tensor<3x?x8xf32>
  return %d : tensor<3x?x8xf32>
}
