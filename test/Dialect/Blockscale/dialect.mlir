// RUN: blockscale-opt --show-dialects | FileCheck %s
// REQUIRES: mlir
// CHECK: Available Dialects:
// CHECK-SAME: blockscale
