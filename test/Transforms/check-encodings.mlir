// Calls, returns, scf and constants pass scales on; our own ops may use them.
//
// RUN: blockscale-opt %s --blockscale-check-encodings | FileCheck %s

!linear = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
!tiled = tensor<8x4xi8, #blockscale.scales<ue4m3, tiled>>

// CHECK-LABEL: func.func @passes
func.func @passes(%s: !linear, %c: i1) -> !tiled {
  %k = arith.constant dense<56> : !linear
  // CHECK: scf.if
  %p = scf.if %c -> !linear { scf.yield %s : !linear } else { scf.yield %k : !linear }
  %t = blockscale.relayout_scales %p : !linear -> !tiled
  %u = func.call @same(%t) : (!tiled) -> !tiled
  return %u : !tiled
}

func.func private @same(!tiled) -> !tiled
