// D14: a constant E8M0 scale of 0xFF in row 3, block 0, is still 0xFF at its
// place in the tile, with and without --canonicalize. Row r < 32 starts at byte
// 16 r; row 32 is the second word of the first 16 bytes (D05: (32, 0) -> 4);
// padding is zero.
//
// RUN: blockscale-opt %s --blockscale-normalize-scales --blockscale-pack-narrow | FileCheck %s
// RUN: blockscale-opt %s --canonicalize --blockscale-normalize-scales --canonicalize --blockscale-pack-narrow --canonicalize | FileCheck %s

// CHECK: arith.constant dense<"0x7F7F0000807F000000000000000000007F7F00000000000000000000000000007F7F0000000000000000000000000000FF7F00000000000000000000000000007F7F0000000000000000000000000000{{[07F]*}}0000000000000000"> : tensor<512xi8>
func.func @nan_scale(%a: tensor<33x64xf8E4M3FN>, %c: tensor<33x33xf32>) -> tensor<33x33xf32> {
  %s = arith.constant dense<"0x7F7F7F7F7F7FFF7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F807F"> : tensor<33x2xf8E8M0FNU, #blockscale.scales<ue8m0, tiled>>
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s
    : tensor<33x64xf8E4M3FN>, tensor<33x2xf8E8M0FNU, #blockscale.scales<ue8m0, tiled>>, tensor<33x64xf8E4M3FN>, tensor<33x2xf8E8M0FNU, #blockscale.scales<ue8m0, tiled>>)
    outs(%c : tensor<33x33xf32>) -> tensor<33x33xf32>
  return %d : tensor<33x33xf32>
}

// Each batch has tiles of its own: the second begins at byte 512.
// CHECK: arith.constant dense<"0x07{{(00){255}(00){255}00}}08{{(00){255}(00){255}00}}"> : tensor<1024xi8>
func.func @batch() -> tensor<2x1x1xi8, #blockscale.scales<ue8m0, tiled>> {
  %s = arith.constant dense<[[[7]], [[8]]]> : tensor<2x1x1xi8, #blockscale.scales<ue8m0, tiled>>
  return %s : tensor<2x1x1xi8, #blockscale.scales<ue8m0, tiled>>
}
