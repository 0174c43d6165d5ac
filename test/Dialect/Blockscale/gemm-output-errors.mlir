// What a product's result may be: quantised, of gates, with factors of rows and columns.
// RUN: blockscale-opt %s --split-input-file --verify-diagnostics

!a = tensor<8x64xf8E4M3FN>
!s = tensor<8x2xi8, #blockscale.scales<ue8m0, linear>>
!b = tensor<128x64xf8E4M3FN>
!sb = tensor<128x2xi8, #blockscale.scales<ue8m0, linear>>
func.func @gemm_c23_quantised(%a: !a, %s: !s, %b: !b, %sb: !sb, %c: tensor<8x128xf32>, %q: tensor<8x128xf8E4M3FN>,
    %qs: tensor<8x4xi8, #blockscale.scales<ue8m0, tiled>>) {
  // expected-error @below {{gemm_c23: out must be wide and without gates where there is c, got quantised}}
  %d, %ds = blockscale.gemm ins(%a scaled %s, %b scaled %sb : !a, !s, !b, !sb) c(%c : tensor<8x128xf32>)
    outs(%q, %qs : tensor<8x128xf8E4M3FN>, tensor<8x4xi8, #blockscale.scales<ue8m0, tiled>>)
    -> tensor<8x128xf8E4M3FN>, tensor<8x4xi8, #blockscale.scales<ue8m0, tiled>>
  return
}

// -----

!a = tensor<8x64xf8E4M3FN>
!s = tensor<8x2xi8, #blockscale.scales<ue8m0, linear>>
!b = tensor<128x64xf8E4M3FN>
!sb = tensor<128x2xi8, #blockscale.scales<ue8m0, linear>>
func.func @gemm_c23_gate(%a: !a, %s: !s, %b: !b, %sb: !sb, %c: tensor<8x64xf32>) -> tensor<8x64xf32> {
  // expected-error @below {{gemm_c23: out must be wide and without gates where there is c, got gates}}
  %d = blockscale.gemm ins(%a scaled %s, %b scaled %sb : !a, !s, !b, !sb) c(%c : tensor<8x64xf32>)
    outs(%c : tensor<8x64xf32>) {gate = #blockscale.gate<function = silu, interleave = 64>} -> tensor<8x64xf32>
  return %d : tensor<8x64xf32>
}

// -----

!a = tensor<8x64xf8E4M3FN>
!s = tensor<8x2xi8, #blockscale.scales<ue8m0, linear>>
func.func @gemm_c30_alone(%a: !a, %s: !s, %q: tensor<8x8xf8E4M3FN>) {
  // expected-error @below {{gemm_c30: out must be wide, or narrow elements and their scales, got 'tensor<8x8xf8E4M3FN>'}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s)
    outs(%q : tensor<8x8xf8E4M3FN>) -> tensor<8x8xf8E4M3FN>
  return
}

// -----

!a = tensor<8x64xf8E4M3FN>
!s = tensor<8x2xi8, #blockscale.scales<ue8m0, linear>>
func.func @gemm_c30_wide(%a: !a, %s: !s, %q: tensor<8x8xf32>) {
  // expected-error @below {{gemm_c30: out must be narrow where its scales are given, got 'tensor<8x8xf32>'}}
  %d, %ds = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s)
    outs(%q, %s : tensor<8x8xf32>, !s) -> tensor<8x8xf32>, !s
  return
}

// -----

!a = tensor<32x64xf8E4M3FN>
!s = tensor<32x2xi8, #blockscale.scales<ue8m0, linear>>
func.func @gemm_c30_encoding(%a: !a, %s: !s, %q: tensor<32x32xf8E4M3FN>, %qs: tensor<32x1xi8>) {
  // expected-error @below {{gemm_c30: scales of out must be i8 with an encoding #blockscale.scales<format, layout>, got 'tensor<32x1xi8>'}}
  %d, %ds = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s)
    outs(%q, %qs : tensor<32x32xf8E4M3FN>, tensor<32x1xi8>) -> tensor<32x32xf8E4M3FN>, tensor<32x1xi8>
  return
}

// -----

!a = tensor<32x64xf8E4M3FN>
!s = tensor<32x2xi8, #blockscale.scales<ue8m0, linear>>
!qs = tensor<32x2xi8, #blockscale.scales<ue4m3, linear>>
func.func @gemm_c30_formats(%a: !a, %s: !s, %q: tensor<32x32xf8E4M3FN>, %qs: !qs) {
  // expected-error @below {{gemm_c30: formats of out must be a combination that is built: nvfp4 (e2m1, ue4m3, block 16), }}
  %d, %ds = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s)
    outs(%q, %qs : tensor<32x32xf8E4M3FN>, !qs) -> tensor<32x32xf8E4M3FN>, !qs
  return
}

// -----

!a = tensor<40x64xf8E4M3FN>
!s = tensor<40x2xi8, #blockscale.scales<ue8m0, linear>>
!qs = tensor<40x2xi8, #blockscale.scales<ue8m0, linear>>
func.func @gemm_c30_blocks(%a: !a, %s: !s, %q: tensor<40x40xf8E4M3FN>, %qs: !qs) {
  // expected-error @below {{gemm_c30: scales of out must be 40 rows of 40 / 32, got 40x2}}
  %d, %ds = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s)
    outs(%q, %qs : tensor<40x40xf8E4M3FN>, !qs) -> tensor<40x40xf8E4M3FN>, !qs
  return
}

// -----

!a = tensor<?x64xf8E4M3FN>
!s = tensor<?x2xi8, #blockscale.scales<ue8m0, linear>>
!b = tensor<32x64xf8E4M3FN>
!sb = tensor<32x2xi8, #blockscale.scales<ue8m0, linear>>
!qs = tensor<?x1xi8, #blockscale.scales<ue8m0, linear>>
func.func @gemm_c30_rows(%a: !a, %s: !s, %b: !b, %sb: !sb, %q: tensor<?x32xf8E4M3FN>, %qs: !qs) {
  // expected-error @below {{gemm_c30: m must be static where out is quantised, got ?}}
  %d, %ds = blockscale.gemm ins(%a scaled %s, %b scaled %sb : !a, !s, !b, !sb)
    outs(%q, %qs : tensor<?x32xf8E4M3FN>, !qs) -> tensor<?x32xf8E4M3FN>, !qs
  return
}

// -----

!a = tensor<2x32x64xf8E4M3FN>
!s = tensor<2x32x2xi8, #blockscale.scales<ue8m0, linear>>
!qs = tensor<2x32x1xi8, #blockscale.scales<ue8m0, linear>>
func.func @gemm_c30_batch(%a: !a, %s: !s, %q: tensor<2x32x32xf8E4M3FN>, %qs: !qs) {
  // expected-error @below {{gemm_c30: out of a batch must be wide, got elements and scales}}
  %d, %ds = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s)
    outs(%q, %qs : tensor<2x32x32xf8E4M3FN>, !qs) -> tensor<2x32x32xf8E4M3FN>, !qs
  return
}

// -----

!a = tensor<32x64xf8E4M3FN>
!s = tensor<32x2xi8, #blockscale.scales<ue8m0, linear>>
!qs = tensor<32x2xi8, #blockscale.scales<ue4m3, linear>>
func.func @gemm_c31_none(%a: !a, %s: !s, %q: tensor<32x32xf4E2M1FN>, %qs: !qs) {
  // expected-error @below {{gemm_c31: one of global and norm_const must be given for scales of ue4m3, got none}}
  %d, %ds = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s)
    outs(%q, %qs : tensor<32x32xf4E2M1FN>, !qs) -> tensor<32x32xf4E2M1FN>, !qs
  return
}

// -----

!a = tensor<32x64xf8E4M3FN>
!s = tensor<32x2xi8, #blockscale.scales<ue8m0, linear>>
!qs = tensor<32x2xi8, #blockscale.scales<ue4m3, linear>>
func.func @gemm_c31_both(%a: !a, %s: !s, %q: tensor<32x32xf4E2M1FN>, %qs: !qs, %g: f32) {
  // expected-error @below {{gemm_c31: one of global and norm_const must be given for scales of ue4m3, got both}}
  %d, %ds = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) global(%g : f32) norm_const(%g : f32)
    outs(%q, %qs : tensor<32x32xf4E2M1FN>, !qs) -> tensor<32x32xf4E2M1FN>, !qs
  return
}

// -----

!a = tensor<32x64xf8E4M3FN>
!s = tensor<32x2xi8, #blockscale.scales<ue8m0, linear>>
func.func @gemm_c31_wide(%a: !a, %s: !s, %q: tensor<32x32xf32>, %g: f32) -> tensor<32x32xf32> {
  // expected-error @below {{gemm_c31: one of global and norm_const must be absent but for scales of ue4m3, got one}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) norm_const(%g : f32)
    outs(%q : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %d : tensor<32x32xf32>
}

// -----

!a = tensor<32x64xf8E4M3FN>
!s = tensor<32x2xi8, #blockscale.scales<ue8m0, linear>>
!qs = tensor<32x2xi8, #blockscale.scales<ue4m3, linear>>
func.func @gemm_c31_negative(%a: !a, %s: !s, %q: tensor<32x32xf4E2M1FN>, %qs: !qs) {
  %g = arith.constant -1.0 : f32
  // expected-error @below {{gemm_c31: global must be above 0 and 6 times it finite in f32, got -1}}
  %d, %ds = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) global(%g : f32)
    outs(%q, %qs : tensor<32x32xf4E2M1FN>, !qs) -> tensor<32x32xf4E2M1FN>, !qs
  return
}

// -----

!a = tensor<32x64xf8E4M3FN>
!s = tensor<32x2xi8, #blockscale.scales<ue8m0, linear>>
!qs = tensor<32x2xi8, #blockscale.scales<ue4m3, linear>>
func.func @gemm_c31_large(%a: !a, %s: !s, %q: tensor<32x32xf4E2M1FN>, %qs: !qs) {
  %g = arith.constant 1.0e38 : f32
  // expected-error @below {{gemm_c31: global must be above 0 and 6 times it finite in f32, got 1.000000e+38}}
  %d, %ds = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) global(%g : f32)
    outs(%q, %qs : tensor<32x32xf4E2M1FN>, !qs) -> tensor<32x32xf4E2M1FN>, !qs
  return
}

// -----

!a = tensor<32x64xf8E4M3FN>
!s = tensor<32x2xi8, #blockscale.scales<ue8m0, linear>>
!qs = tensor<32x2xi8, #blockscale.scales<ue4m3, linear>>
func.func @gemm_c31_norm_zero(%a: !a, %s: !s, %q: tensor<32x32xf4E2M1FN>, %qs: !qs) {
  %g = arith.constant 0.0 : f32
  // expected-error @below {{gemm_c31: norm_const must be above 0 and 6 times 1 / it finite in f32, got 0.000000e+00}}
  %d, %ds = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) norm_const(%g : f32)
    outs(%q, %qs : tensor<32x32xf4E2M1FN>, !qs) -> tensor<32x32xf4E2M1FN>, !qs
  return
}

// -----

!a = tensor<0x64xf8E4M3FN>
!s = tensor<0x2xi8, #blockscale.scales<ue8m0, linear>>
!b = tensor<32x64xf8E4M3FN>
!sb = tensor<32x2xi8, #blockscale.scales<ue8m0, linear>>
!qs = tensor<0x1xi8, #blockscale.scales<ue8m0, linear>>
func.func @gemm_c5_empty_quantised(%a: !a, %s: !s, %b: !b, %sb: !sb, %q: tensor<0x32xf8E4M3FN>, %qs: !qs) {
  // expected-error @below {{gemm_c5: m, n and k must be 1 .. 268435456, got m = 0, n = 32, k = 64}}
  %d, %ds = blockscale.gemm ins(%a scaled %s, %b scaled %sb : !a, !s, !b, !sb)
    outs(%q, %qs : tensor<0x32xf8E4M3FN>, !qs) -> tensor<0x32xf8E4M3FN>, !qs
  return
}

// -----

!a = tensor<64x64xf8E4M3FN>
!s = tensor<64x2xi8, #blockscale.scales<ue8m0, linear>>
func.func @gemm_c32_columns(%a: !a, %s: !s, %q: tensor<64x32xf32>) -> tensor<64x32xf32> {
  // expected-error @below {{gemm_c32: n must be a multiple of 128 with a gate, got 64}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s)
    outs(%q : tensor<64x32xf32>) {gate = #blockscale.gate<function = silu, interleave = 64>} -> tensor<64x32xf32>
  return %d : tensor<64x32xf32>
}

// -----

!a = tensor<128x64xf8E4M3FN>
!s = tensor<128x2xi8, #blockscale.scales<ue8m0, linear>>
func.func @gemm_c32_activation(%a: !a, %s: !s, %q: tensor<128x64xf32>) -> tensor<128x64xf32> {
  // expected-error @below {{gemm_c32: a gate must stand without an activation, got gelu}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s)
    outs(%q : tensor<128x64xf32>) {activation = #blockscale.activation<gelu>,
      gate = #blockscale.gate<function = silu, interleave = 64>} -> tensor<128x64xf32>
  return %d : tensor<128x64xf32>
}

// -----

!a = tensor<128x64xf8E4M3FN>
!s = tensor<128x2xi8, #blockscale.scales<ue8m0, linear>>
func.func @gemm_c4_gate(%a: !a, %s: !s, %q: tensor<128x128xf32>) -> tensor<128x128xf32> {
  // expected-error @below {{gemm_c4: out must be 128x64 (m x n / 2), got 128x128}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s)
    outs(%q : tensor<128x128xf32>) {gate = #blockscale.gate<function = silu, interleave = 64>} -> tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}

// -----

// expected-error @below {{gate_c1: function must be relu, gelu, gelu_tanh or silu, got none}}
func.func @gate_c1() attributes {gate = #blockscale.gate<function = none, interleave = 64>} { return }

// -----

// expected-error @below {{gate_c2: interleave must be 64, got 32}}
func.func @gate_c2() attributes {gate = #blockscale.gate<function = silu, interleave = 32>} { return }

// -----

!a = tensor<8x64xf8E4M3FN>
!s = tensor<8x2xi8, #blockscale.scales<ue8m0, linear>>
func.func @gemm_c33_rows(%a: !a, %s: !s, %q: tensor<8x8xf32>, %x: tensor<7xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{gemm_c33: alpha_rows must have 8 elements, got 7}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) alpha_rows(%x : tensor<7xf32>)
    outs(%q : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<8x64xf8E4M3FN>
!s = tensor<8x2xi8, #blockscale.scales<ue8m0, linear>>
func.func @gemm_c33_columns(%a: !a, %s: !s, %q: tensor<8x8xf32>, %x: tensor<9xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{gemm_c33: alpha_columns must have 8 elements, got 9}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) alpha_columns(%x : tensor<9xf32>)
    outs(%q : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

!a = tensor<32x64xf8E4M3FN>
!s = tensor<32x2xi8, #blockscale.scales<ue8m0, tiled>>
!qs = tensor<32x1xi8, #blockscale.scales<ue8m0, tiled>>
func.func @schedule_c7(%a: !a, %s: !s, %q: tensor<32x32xf8E4M3FN>, %qs: !qs) {
  // expected-error @below {{schedule_c7: epilogue must be plain_store where D is quantised, got tma_store}}
  %d, %ds = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s)
    outs(%q, %qs : tensor<32x32xf8E4M3FN>, !qs)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf8f6f4, inst = 128x128x32, cta_group = 1, tile = 128x128x128, stages = 3, accumulators = 2, epilogue = tma_store, staging = 1, ctas = 148, quantizer = <reciprocal>>} -> tensor<32x32xf8E4M3FN>, !qs
  return
}

// -----

!a = tensor<32x64xf8E4M3FN>
!s = tensor<32x2xi8, #blockscale.scales<ue8m0, tiled>>
!qs = tensor<32x1xi8, #blockscale.scales<ue8m0, tiled>>
func.func @schedule_c15_none(%a: !a, %s: !s, %q: tensor<32x32xf8E4M3FN>, %qs: !qs) {
  // expected-error @below {{schedule_c15: quantizer must be given where D is quantised, got none}}
  %d, %ds = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s)
    outs(%q, %qs : tensor<32x32xf8E4M3FN>, !qs)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf8f6f4, inst = 128x128x32, cta_group = 1, tile = 128x128x128, stages = 3, accumulators = 2, epilogue = plain_store, staging = 0, ctas = 148>} -> tensor<32x32xf8E4M3FN>, !qs
  return
}

// -----

!a = tensor<32x64xf8E4M3FN>
!s = tensor<32x2xi8, #blockscale.scales<ue8m0, tiled>>
!qs = tensor<32x1xi8, #blockscale.scales<ue8m0, tiled>>
func.func @schedule_c15_chip(%a: !a, %s: !s, %q: tensor<32x32xf8E4M3FN>, %qs: !qs) {
  // expected-error @below {{schedule_c15: quantizer must be a sequence for scales of ue8m0 whose conversions sm_100a has, got scaled}}
  %d, %ds = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s)
    outs(%q, %qs : tensor<32x32xf8E4M3FN>, !qs)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf8f6f4, inst = 128x128x32, cta_group = 1, tile = 128x128x128, stages = 3, accumulators = 2, epilogue = plain_store, staging = 0, ctas = 148, quantizer = <scaled>>} -> tensor<32x32xf8E4M3FN>, !qs
  return
}

// -----

!a = tensor<32x64xf8E4M3FN>
!s = tensor<32x2xi8, #blockscale.scales<ue8m0, tiled>>
func.func @schedule_c15_wide(%a: !a, %s: !s, %q: tensor<32x32xf32>) -> tensor<32x32xf32> {
  // expected-error @below {{schedule_c15: quantizer must be absent where D is not quantised, got one}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%q : tensor<32x32xf32>)
    {schedule = #blockscale.schedule<arch = sm_100a, mma = mxf8f6f4, inst = 128x128x32, cta_group = 1, tile = 128x128x128, stages = 3, accumulators = 2, epilogue = plain_store, staging = 0, ctas = 148, quantizer = <reciprocal>>} -> tensor<32x32xf32>
  return %d : tensor<32x32xf32>
}

// -----

!a = tensor<384x64xf8E4M3FN>
!s = tensor<384x2xi8, #blockscale.scales<ue8m0, tiled>>
func.func @schedule_c16(%a: !a, %s: !s, %q: tensor<384x192xf32>) -> tensor<384x192xf32> {
  // expected-error @below {{schedule_c16: n of tile must be 128 or 256 where D has gates, got 192}}
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%q : tensor<384x192xf32>)
    {gate = #blockscale.gate<function = silu, interleave = 64>, schedule = #blockscale.schedule<arch = sm_100a, mma = mxf8f6f4, inst = 128x192x32, cta_group = 1, tile = 128x192x128, stages = 3, accumulators = 2, epilogue = plain_store, staging = 0, ctas = 148>} -> tensor<384x192xf32>
  return %d : tensor<384x192xf32>
}

// -----

!a = tensor<32x64xf8E4M3FN>
!s = tensor<32x2xi8, #blockscale.scales<ue8m0, tiled>>
!qs = tensor<32x1xi8, #blockscale.scales<ue8m0, tiled>>
func.func @schedule_c17(%a: !a, %s: !s, %q: tensor<32x32xf8E4M3FN>, %qs: !qs) {
  // expected-error @below {{schedule_c17: m of tile must be the 128 of inst where D is quantised, got 256}}
  %d, %ds = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s)
    outs(%q, %qs : tensor<32x32xf8E4M3FN>, !qs)
    {schedule = #blockscale.schedule<arch = sm_107a, mma = mxf8f6f4, inst = 128x128x64, cta_group = 1, tile = 256x128x128, stages = 3, accumulators = 2, epilogue = plain_store, staging = 0, ctas = 148, quantizer = <scaled>>} -> tensor<32x32xf8E4M3FN>, !qs
  return
}
