// RUN: mlir-opt --load-dialect-plugin=%build/lib/BlockscalePlugin.so %s | FileCheck %s

// CHECK-LABEL: func @f
// CHECK: blockscale.alloc 128
func.func @f() {
  %b = blockscale.alloc 128
  blockscale.free %b
  return
}
