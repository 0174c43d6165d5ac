// D40: a tile of scales is 512 bytes, however a frontend spells it: 512, 2x256 (as with 1x1 in front), 32x16 and
// 32x4x4 give the same PTX as the matrix itself; 32x8 is refused, and the message lists the four.

// RUN: blockscale-translate --mlir-to-ptx --arch=sm_100a --pin=cta-group=2 %s -o %t.512.ptx
// RUN: sed 's/x2x512xi8/x2x1x1x2x256xi8/g' %s | blockscale-translate --mlir-to-ptx --arch=sm_100a --pin=cta-group=2 - -o %t.256.ptx
// RUN: sed 's/x2x512xi8/x2x32x16xi8/g' %s | blockscale-translate --mlir-to-ptx --arch=sm_100a --pin=cta-group=2 - -o %t.16.ptx
// RUN: sed 's/x2x512xi8/x2x32x4x4xi8/g' %s | blockscale-translate --mlir-to-ptx --arch=sm_100a --pin=cta-group=2 - -o %t.4.ptx
// RUN: sed '/= blockscale.reinterpret/d; s/tensor<2x2x512xi8>/!s/; s/scaled %u/scaled %bytes/g' %s | blockscale-translate --mlir-to-ptx --arch=sm_100a --pin=cta-group=2 - -o %t.own.ptx
// RUN: grep -v '\.file\|\.loc\|//' %t.512.ptx > %t.512
// RUN: grep -v '\.file\|\.loc\|//' %t.256.ptx | cmp - %t.512
// RUN: grep -v '\.file\|\.loc\|//' %t.16.ptx | cmp - %t.512
// RUN: grep -v '\.file\|\.loc\|//' %t.4.ptx | cmp - %t.512
// RUN: grep -v '\.file\|\.loc\|//' %t.own.ptx | cmp - %t.512
// RUN: FileCheck %s < %t.512
// CHECK: tcgen05.cp.cta_group::2.32x128b.warpx4
// RUN: sed 's/x2x512xi8/x4x32x8xi8/g' %s | not blockscale-translate --mlir-to-ptx --arch=sm_100a - -o %t.none 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: reinterpret_c4: tiled scales of plain i8 must be tiles of 512, 2x256, 32x16 or 32x4x4, got 'tensor<2x4x32x8xi8>'

!s = tensor<256x8xi8, #blockscale.scales<ue8m0, tiled>>
func.func @pair(%a: tensor<256x256xf8E4M3FN>, %bytes: tensor<2x2x512xi8>) -> tensor<256x256xf32> {
  %u = blockscale.reinterpret %bytes : tensor<2x2x512xi8> -> !s
  %c = tensor.empty() : tensor<256x256xf32>
  %d = blockscale.gemm ins(%a scaled %u, %a scaled %u : tensor<256x256xf8E4M3FN>, !s, tensor<256x256xf8E4M3FN>, !s)
    outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %d : tensor<256x256xf32>
}
