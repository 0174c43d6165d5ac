// RUN: blockscale-opt %s --split-input-file --verify-diagnostics

!sf = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>

func.func @quantize_c1_one_result(%x: tensor<8x64xf32>) -> tensor<8x64xf4E2M1FN> {
  // expected-error @below {{quantize_c1: op must have 2 or 3 results or outs (elements, scales, global scale), got 1}}
  %q = blockscale.quantize %x : tensor<8x64xf32> -> tensor<8x64xf4E2M1FN>
  return %q : tensor<8x64xf4E2M1FN>
}

// -----

func.func @quantize_c1_memref_results(%x: memref<8x64xf32>) -> memref<256xi8> {
  // expected-error @below {{quantize_c1: op on memrefs must have 0 results and 3 outs, got 3 and 0}}
  %q, %s, %g = blockscale.quantize %x : memref<8x64xf32> -> memref<256xi8>, memref<32xi8>, memref<f32>
  return %q : memref<256xi8>
}

// -----

!sf = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
func.func @quantize_c2_rank(%x: tensor<2x8x64xf32>) -> !sf {
  // expected-error @below {{quantize_c2: x must be a matrix with extents 1 .. 268435456, or rows of ?, got 'tensor<2x8x64xf32>'}}
  %q, %s, %g = blockscale.quantize %x : tensor<2x8x64xf32> -> tensor<2x8x64xf4E2M1FN>, !sf, tensor<f32>
  return %s : !sf
}

// -----

!sf = tensor<8x?xi8, #blockscale.scales<ue4m3, linear>>
func.func @quantize_c2_dynamic(%x: tensor<8x?xf32>) -> !sf {
  // expected-error @below {{quantize_c2: x must be a matrix with extents 1 .. 268435456, or rows of ?, got 'tensor<8x?xf32>'}}
  %q, %s, %g = blockscale.quantize %x : tensor<8x?xf32> -> tensor<8x?xf4E2M1FN>, !sf, tensor<f32>
  return %s : !sf
}

// -----

!sf = tensor<?x2xi8, #blockscale.scales<ue8m0, linear>>
func.func @quantize_c2_kernel(%x: tensor<?x64xf32>) -> !sf {
  // expected-error @below {{quantize_c2: rows must be known where a kernel quantises them, got ?}}
  %q, %s = blockscale.quantize %x {schedule = #blockscale.quantize_schedule<arch = sm_100a, sequence = integer, threads = 256, blocks = 4>}
    : tensor<?x64xf32> -> tensor<?x64xf8E4M3FN>, !sf
  return %s : !sf
}

// -----

!sf = tensor<8x2xi8, #blockscale.scales<ue8m0, linear>>
func.func @quantize_c6_dynamic(%x: tensor<?x64xf32>) -> !sf {
  // expected-error @below {{quantize_c6: scales must be ?x2 (rows x k / block), got 8x2}}
  %q, %s = blockscale.quantize %x : tensor<?x64xf32> -> tensor<?x64xf8E4M3FN>, !sf
  return %s : !sf
}

// -----

!sf = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
func.func @quantize_c3_fp8_ue4m3(%x: tensor<8x64xf32>) -> !sf {
  // expected-error @below {{quantize_c3: formats must be a combination that is built: nvfp4 (e2m1, ue4m3, block 16), mxfp4 (e2m1, ue8m0, block 32), mxfp8 (e4m3, ue8m0, block 32), mxfp8 (e5m2, ue8m0, block 32), mxfp6 (e2m3, ue8m0, block 32), mxfp6 (e3m2, ue8m0, block 32), fp4 (e2m1, ue5m3, block 16), fp4 (e2m1, ue5m3, block 32), got 'tensor<8x64xf8E5M2>' scaled}}
  %q, %s = blockscale.quantize %x : tensor<8x64xf32> -> tensor<8x64xf8E5M2>, !sf
  return %s : !sf
}

// -----

!sf = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
func.func @quantize_c4_shape(%x: tensor<8x64xf32>) -> !sf {
  // expected-error @below {{quantize_c4: elements must have the shape of x, 8x64, got 8x32}}
  %q, %s, %g = blockscale.quantize %x : tensor<8x64xf32> -> tensor<8x32xf4E2M1FN>, !sf, tensor<f32>
  return %s : !sf
}

// -----

!sf = tensor<8x3xi8, #blockscale.scales<ue4m3, linear>>
func.func @quantize_c5_k40(%x: tensor<8x40xf32>) -> !sf {
  // expected-error @below {{quantize_c5: k must be a whole number of scale blocks, got 40, and 40 is not a multiple of 16}}
  %q, %s, %g = blockscale.quantize %x : tensor<8x40xf32> -> tensor<8x40xf4E2M1FN>, !sf, tensor<f32>
  return %s : !sf
}

// -----

!sf = tensor<8x2xi8, #blockscale.scales<ue4m3, linear>>
func.func @quantize_c6_scales(%x: tensor<8x64xf32>) -> !sf {
  // expected-error @below {{quantize_c6: scales must be 8x4 (rows x k / block), got 8x2}}
  %q, %s, %g = blockscale.quantize %x : tensor<8x64xf32> -> tensor<8x64xf4E2M1FN>, !sf, tensor<f32>
  return %s : !sf
}

// -----

!sf = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
func.func @quantize_c7_missing(%x: tensor<8x64xf32>) -> !sf {
  // expected-error @below {{quantize_c7: a global scale must be an operand, or the third result or out, for ue4m3, got none}}
  %q, %s = blockscale.quantize %x : tensor<8x64xf32> -> tensor<8x64xf4E2M1FN>, !sf
  return %s : !sf
}

// -----

!sf = tensor<8x2xi8, #blockscale.scales<ue8m0, linear>>
func.func @quantize_c7_superfluous(%x: tensor<8x64xf32>) -> !sf {
  // expected-error @below {{quantize_c7: a global scale must be absent for ue8m0, got one}}
  %q, %s, %g = blockscale.quantize %x : tensor<8x64xf32> -> tensor<8x64xf4E2M1FN>, !sf, tensor<f32>
  return %s : !sf
}

// -----

!sf = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
func.func @quantize_c7_both(%x: tensor<8x64xf32>, %g: tensor<f32>) -> !sf {
  // expected-error @below {{quantize_c7: a global scale must be an operand, or the third result or out, for ue4m3, got both}}
  %q, %s, %h = blockscale.quantize %x global(%g : tensor<f32>) : tensor<8x64xf32> -> tensor<8x64xf4E2M1FN>, !sf, tensor<f32>
  return %s : !sf
}

// -----

!sf = tensor<8x4xi8, #blockscale.scales<ue5m3, linear>>
func.func @quantize_c7_ue5m3(%x: tensor<8x64xf32>, %g: tensor<f32>) -> !sf {
  // expected-error @below {{quantize_c7: a global scale must be absent for ue5m3, got one}}
  %q, %s = blockscale.quantize %x global(%g : tensor<f32>) : tensor<8x64xf32> -> tensor<8x64xf4E2M1FN>, !sf
  return %s : !sf
}

// -----

// UE5M3 has blocks of 16 and of 32, which the scales' shape tells apart.
!sf = tensor<8x3xi8, #blockscale.scales<ue5m3, linear>>
func.func @quantize_c6_ue5m3(%x: tensor<8x64xf32>) -> !sf {
  // expected-error @below {{quantize_c6: scales must be 8x4 (rows x k / block), got 8x3}}
  %q, %s = blockscale.quantize %x : tensor<8x64xf32> -> tensor<8x64xf4E2M1FN>, !sf
  return %s : !sf
}

// -----

!sf = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
func.func @quantize_c7_shape(%x: tensor<8x64xf32>) -> !sf {
  // expected-error @below {{quantize_c7: global scale must be f32 of rank 0, got 'tensor<1xf32>'}}
  %q, %s, %g = blockscale.quantize %x : tensor<8x64xf32> -> tensor<8x64xf4E2M1FN>, !sf, tensor<1xf32>
  return %s : !sf
}

// -----

// D10: 8 rows of 64 FP4 elements are 256 bytes.
func.func @quantize_c8_bytes(%x: memref<8x64xf32>, %q: memref<512xi8>, %s: memref<32xi8>, %g: memref<f32>) {
  // expected-error @below {{quantize_c8: packed elements must be 256xi8, got 'memref<512xi8>'}}
  blockscale.quantize %x outs(%q, %s, %g : memref<512xi8>, memref<32xi8>, memref<f32>)
    {blocked = #blockscale.blocked<rows = 8, k = 64, element = e2m1, scale = ue4m3, block = 16, layout = linear>} : memref<8x64xf32>
  return
}

// -----

func.func @quantize_c8_no_attribute(%x: memref<8x64xf32>, %q: memref<256xi8>, %s: memref<32xi8>, %g: memref<f32>) {
  // expected-error @below {{quantize_c8: memref operands must be packed bytes with the attribute 'blocked', got none}}
  blockscale.quantize %x outs(%q, %s, %g : memref<256xi8>, memref<32xi8>, memref<f32>) : memref<8x64xf32>
  return
}

// -----

!sf = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
func.func @dequantize_c1(%q: tensor<8x64xf4E2M1FN>, %s: !sf, %x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  // expected-error @below {{dequantize_c1: op on tensors must have 1 results and 0 outs, got 1 and 1}}
  %y = blockscale.dequantize %q scaled %s outs(%x : tensor<8x64xf32>) : tensor<8x64xf4E2M1FN>, !sf -> tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}

// -----

func.func @dequantize_c1_none(%q: memref<256xi8>, %s: memref<32xi8>) {
  // expected-error @below {{dequantize_c1: op on memrefs must have 0 results and 1 outs, got 0 and 0}}
  blockscale.dequantize %q scaled %s {blocked = #blockscale.blocked<rows = 8, k = 64, element = e2m1, scale = ue4m3, block = 16, layout = linear>} : memref<256xi8>, memref<32xi8>
  return
}

// -----

!sf = tensor<8x4xi8, #blockscale.scales<ue4m3, linear>>
func.func @dequantize_c4(%q: tensor<8x64xf4E2M1FN>, %s: !sf) -> tensor<9x64xf32> {
  // expected-error @below {{dequantize_c4: elements must have the shape of x, 9x64, got 8x64}}
  %y = blockscale.dequantize %q scaled %s : tensor<8x64xf4E2M1FN>, !sf -> tensor<9x64xf32>
  return %y : tensor<9x64xf32>
}

// -----

func.func @dequantize_c8(%q: memref<256xi8>, %s: memref<32xi8>, %x: memref<8x64xf32>) {
  // expected-error @below {{dequantize_c8: memref operands must be packed bytes with the attribute 'blocked', got none}}
  blockscale.dequantize %q scaled %s outs(%x : memref<8x64xf32>) : memref<256xi8>, memref<32xi8>
  return
}
