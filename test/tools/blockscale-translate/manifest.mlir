// RUN: blockscale-translate --mlir-to-ptx --arch=sm_107a %s -o %t.ptx --manifest=%t.json
// RUN: %python -c "import json,sys; print(json.dumps(json.load(open(sys.argv[1])), sort_keys=True))" %t.json | FileCheck %s
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_107a %s -o %t2.ptx --time --repeat=2 2>&1 | FileCheck %s --check-prefix=TIME
// RUN: diff %t.ptx %t2.ptx

// The same bytes each time; grid, bytes and maps are those of the host ops.
// CHECK: "arch": "sm_107a"
// CHECK-SAME: {"bytes": 2560, "name": "a", "role": "input"}, {"bytes": 1024, "name": "sfa", "role": "input"}
// CHECK-SAME: {"bytes": 1200, "dtype": "f32", "name": "bias", "role": "input", "shape": [300]}
// CHECK-SAME: {"bytes": 12000, "dtype": "f32", "name": "d", "role": "output", "shape": [10, 300]}
// CHECK-SAME: "block": [192, 1, 1], "cluster": [1, 1, 1], "grid": [3, 1, 1], "name": "gemm_0"
// CHECK-SAME: {"box": [128, 128], "buffer": "a", "dims": [256, 10], "element_strides": [1, 1], "fill": "zero", "kind": "tensor_map", "l2": "b128", "strides": [256], "swizzle": "b128", "type": "u8"}
// CHECK-SAME: {"buffer": "bias", "kind": "buffer"}, {"kind": "scalar", "type": "f32", "value": 0.25}
// CHECK-SAME: "shared_mode": "oversized"

// An alpha that only a launch knows is an argument: a value, or in memory.
// RUN: sed 's/%bias: tensor<300xf32>)/%bias: tensor<300xf32>, %alpha: f32)/; /arith.constant/d' %s | blockscale-translate --mlir-to-ptx --arch=sm_107a - -o %t3.ptx --manifest=%t3.json
// RUN: sed 's/%bias: tensor<300xf32>)/%bias: tensor<300xf32>, %alpha: tensor<f32>)/; /arith.constant/d; s/%alpha : f32/%alpha : tensor<f32>/' %s | blockscale-translate --mlir-to-ptx --arch=sm_107a - -o %t4.ptx --manifest=%t4.json
// RUN: diff %t3.json %t4.json
// RUN: sed 's/"argument": "alpha"/"value": 0.25/' %t3.json | %python -c "import json,sys; assert json.load(sys.stdin) == json.load(open(sys.argv[1]))" %t.json
// RUN: FileCheck %s --check-prefix=ARGUMENT < %t3.json
// ARGUMENT: "argument": "alpha"
// ARGUMENT-NEXT: "kind": "scalar"
// ARGUMENT-NEXT: "type": "f32"

// TIME: compile 1 cpu_ms = {{[0-9.]+}}
// TIME: compile 2 cpu_ms = {{[0-9.]+}}
// TIME: process_ms = {{[0-9.]+}}
// TIME: codegen_ms = {{[0-9.]+}}

!a = tensor<10x256xf8E4M3FN>
!sa = tensor<10x8xi8, #blockscale.scales<ue8m0, tiled>>
!b = tensor<300x256xf8E4M3FN>
!sb = tensor<300x8xi8, #blockscale.scales<ue8m0, tiled>>
func.func @gemm(%a: !a, %sfa: !sa, %b: !b, %sfb: !sb, %bias: tensor<300xf32>) -> tensor<10x300xf32> {
  %alpha = arith.constant 0.25 : f32
  %c = tensor.empty() : tensor<10x300xf32>
  %d = blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb : !a, !sa, !b, !sb) alpha(%alpha : f32)
    bias(%bias : tensor<300xf32>) outs(%c : tensor<10x300xf32>) -> tensor<10x300xf32>
  return %d : tensor<10x300xf32>
}
