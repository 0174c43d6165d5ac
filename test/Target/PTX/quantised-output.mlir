// A result that is quantised where it is computed: what a tile of 128 columns, four blocks of a
// lane's row, takes beside its loads and stores.
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_107a %s -o %t.107a.ptx
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_100a %s -o %t.100a.ptx
// RUN: ptxas -arch=sm_107a %t.107a.ptx -o %t.107a.cubin
// RUN: ptxas -arch=sm_100a %t.100a.ptx -o %t.100a.cubin

// One product and one conversion a block, for its scale; the conversion of elements divides.
// RUN: grep -cE 'mul\.(rn\.)?f32' %t.107a.ptx | FileCheck %s --check-prefix=FOUR
// RUN: grep -c 'cvt.rp.satfinite.ue8m0x2.f32' %t.107a.ptx | FileCheck %s --check-prefix=FOUR
// RUN: grep -o 'cvt.rn.satfinite.scaled::n1::ue8m0.e4m3x2.f32' %t.107a.ptx | wc -l | FileCheck %s --check-prefix=PAIRS
// RUN: not grep -E '(rcp|ex2|div)\.' %t.107a.ptx
// FOUR: {{^}}4{{$}}
// PAIRS: {{^}}64{{$}}

// One reciprocal a block; a product and half a conversion an element.
// RUN: grep -c 'rcp.approx.ftz.f32' %t.100a.ptx | FileCheck %s --check-prefix=FOUR
// RUN: grep -c 'cvt.rp.satfinite.ue8m0x2.f32' %t.100a.ptx | FileCheck %s --check-prefix=FOUR
// RUN: grep -c 'cvt.rn.satfinite.e4m3x2.f32' %t.100a.ptx | FileCheck %s --check-prefix=PAIRS
// RUN: grep -cE 'mul\.(rn\.)?f32' %t.100a.ptx | FileCheck %s --check-prefix=PRODUCTS
// PRODUCTS: {{^}}140{{$}}

// Elements leave by 16 bytes, a row's four scales by one word.
// RUN: grep -c 'st.global.v4.b32' %t.107a.ptx | FileCheck %s --check-prefix=EIGHT
// RUN: grep -c 'st.global.b32' %t.107a.ptx | FileCheck %s --check-prefix=ONE
// EIGHT: {{^}}8{{$}}
// ONE: {{^}}1{{$}}

!a = tensor<256x128xf8E4M3FN>
!sa = tensor<256x4xi8, #blockscale.scales<ue8m0, tiled>>
!qs = tensor<256x8xi8, #blockscale.scales<ue8m0, tiled>>
func.func @mxfp8(%a: !a, %sa: !sa) -> (tensor<256x256xf8E4M3FN>, !qs) {
  %c = tensor.empty() : tensor<256x256xf8E4M3FN>
  %cs = tensor.empty() : !qs
  %q, %qs = blockscale.gemm ins(%a scaled %sa, %a scaled %sa : !a, !sa, !a, !sa)
    outs(%c, %cs : tensor<256x256xf8E4M3FN>, !qs) -> tensor<256x256xf8E4M3FN>, !qs
  return %q, %qs : tensor<256x256xf8E4M3FN>, !qs
}
