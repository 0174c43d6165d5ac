// REQUIRES: ptxas
// RUN: env BLOCKSCALE_PTXAS=ptxas blockscale-translate --mlir-to-cubin --arch=sm_100a %s -o %t.cubin
// RUN: %python -c "import sys; assert open(sys.argv[1], 'rb').read(4) == b'\x7fELF'" %t.cubin
// RUN: not env BLOCKSCALE_PTXAS=/bin/false blockscale-translate --mlir-to-cubin --arch=sm_100a %s -o %t.none 2>&1 | FileCheck %s
// RUN: not env BLOCKSCALE_PTXAS=ptxas TMPDIR=%t/none blockscale-translate --mlir-to-cubin --arch=sm_100a %s -o %t.none 2>&1 | FileCheck %s --check-prefix=TMP
// RUN: rm -rf %t.alone && mkdir -p %t.alone/bin && cp %build/bin/blockscale-translate %t.alone/bin/
// RUN: not env -u BLOCKSCALE_PTXAS PATH=/nowhere %t.alone/bin/blockscale-translate --mlir-to-cubin --arch=sm_100a %s -o %t.none 2> %t.log
// RUN: FileCheck %s --check-prefix=NONE < %t.log
// RUN: rm -rf %t.alone
// TMP: blockscale-translate: cubin_c1: a temporary folder must be writable
// NONE: blockscale-translate: cubin_c3: ptxas must be found through BLOCKSCALE_PTXAS or PATH, got none
// CHECK: blockscale-translate: cubin_c2: ptxas must take the PTX, got:

!e = tensor<128x64xf4E2M1FN>
!s = tensor<128x4xi8, #blockscale.scales<ue4m3, tiled>>
func.func @gemm(%a: !e, %sfa: !s) -> tensor<128x128xf32> {
  %c = tensor.empty() : tensor<128x128xf32>
  %d = blockscale.gemm ins(%a scaled %sfa, %a scaled %sfa : !e, !s, !e, !s) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}
