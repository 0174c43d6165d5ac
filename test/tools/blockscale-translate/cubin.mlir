// REQUIRES: ptxas
// RUN: env BLOCKSCALE_PTXAS=ptxas blockscale-translate --mlir-to-cubin --arch=sm_100a %s -o %t.cubin
// RUN: %python -c "import sys; assert open(sys.argv[1], 'rb').read(4) == b'\x7fELF'" %t.cubin
// RUN: not env BLOCKSCALE_PTXAS=/bin/false blockscale-translate --mlir-to-cubin --arch=sm_100a %s -o %t.none 2>&1 | FileCheck %s
// CHECK: blockscale-translate: cubin_c2: ptxas must take the PTX, got:

!e = tensor<128x64xf4E2M1FN>
!s = tensor<128x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @gemm(%a: !e, %sfa: !s) -> tensor<128x128xf32> {
  %c = tensor.empty() : tensor<128x128xf32>
  %d = blockscale.gemm ins(%a scaled %sfa, %a scaled %sfa : !e, !s, !e, !s) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}
