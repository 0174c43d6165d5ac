// Ops of an epilogue that quantises and gates, alone and in a kernel with one thing changed.
//
// RUN: blockscale-opt %s --split-input-file --verify-diagnostics
// RUN: blockscale-opt %S/Inputs/quantised-gates.mlir --blockscale-lower-gemm-to-kernel -o %t.mlir
// RUN: sed 's/ over %[0-9a-z_]*//' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=GLOBAL
// GLOBAL: quantize_columns_c1: global must be given for ue4m3 only, got none for ue4m3
// RUN: sed 's/ by <remainder>/ by <scaled>/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=SEQUENCE
// SEQUENCE: quantize_columns_c1: sequence must be the schedule's, #blockscale.sequence<remainder>, got #blockscale.sequence<scaled>
// RUN: sed 's/\(store_column_scales .*\) column 0 /\1 column 16 /' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=PLACE
// PLACE: store_column_scales_c1: scales must be 1, 2 or 4, the first at a multiple of as many, got 4 at column 16
// Values and gates take turns; the stage is released behind both.
// RUN: sed 's/\(load_accumulator .*\) column 64 /\1 column 32 /' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=TURNS
// TURNS: kernel_c15: column must be 64, the next one of the stage, got 32
// RUN: sed 's/alloc 512 {blockscale.name = "d_scales"}/alloc 508 {blockscale.name = "d_scales"}/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=SCALES
// SCALES: launch_c7: buffer of the scales of d must have 512 bytes, got 508
// RUN: sed 's/alloc 148 {blockscale.name = "alpha_rows"}/alloc 144 {blockscale.name = "alpha_rows"}/' %t.mlir | not blockscale-opt 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: launch_c7: buffer of bias or c or alpha_rows or alpha_columns must have 512 or 1184 or 148 or 512 bytes, got 144

func.func @apply_gate_c1(%x: f32) {
  // expected-error @below {{apply_gate_c1: results must be as many as gates, got 2 for 1}}
  %0:2 = blockscale.apply_gate <silu>(%x : f32) times (%x : f32) : f32, f32
  return
}

// -----

func.func @quantize_columns_c1(%x: f32) {
  // expected-error @below {{quantize_columns_c1: D of the kernel must be quantised, got no kernel}}
  %words, %scales = blockscale.quantize_columns %x by <scaled> : f32 -> i32 scales i32
  return
}

// -----

func.func @store_column_scales_c1(%x: i32, %buffer: !blockscale.buffer) {
  // expected-error @below {{store_column_scales_c1: D of the kernel must be quantised, got none}}
  blockscale.store_column_scales %x to %buffer[%x, %x] column 0 : i32
  return
}
