// D32 and D33: chips are checked before code generation, in one line.
//
// RUN: not blockscale-opt %s --blockscale-choose-schedule=arch=sm_100 2>&1 | FileCheck %s --check-prefix=SUFFIX
// RUN: not blockscale-opt %s --blockscale-choose-schedule=arch=sm_107 2>&1 | FileCheck %s --check-prefix=SUFFIX107
// RUN: not blockscale-opt %s --blockscale-choose-schedule=arch=sm_120a 2>&1 | FileCheck %s --check-prefix=FEATURE -DCHIP=sm_120a
// RUN: not blockscale-opt %s --blockscale-choose-schedule=arch=sm_120 2>&1 | FileCheck %s --check-prefix=FEATURE -DCHIP=sm_120
// RUN: not blockscale-opt %s --blockscale-choose-schedule=arch=sm_90a 2>&1 | FileCheck %s --check-prefix=FEATURE -DCHIP=sm_90a
// RUN: not blockscale-opt %s --blockscale-choose-schedule=arch=sm_999x 2>&1 | FileCheck %s --check-prefix=UNKNOWN -DCHIP=sm_999x
// RUN: not blockscale-opt %s --blockscale-choose-schedule 2>&1 | FileCheck %s --check-prefix=UNKNOWN -DCHIP=
// RUN: not blockscale-opt %s --blockscale-choose-schedule="arch=sm_100a inst-k=128" 2>&1 | FileCheck %s --check-prefix=INST
// RUN: not blockscale-opt %s --blockscale-choose-schedule="arch=sm_107a inst-k=96" 2>&1 | FileCheck %s --check-prefix=TILE
// RUN: not blockscale-opt %s --blockscale-choose-schedule="arch=sm_100a accumulators=3" 2>&1 | FileCheck %s --check-prefix=ACC
// RUN: not blockscale-opt %s --blockscale-choose-schedule="arch=sm_100a epilogue=tma_stor" 2>&1 | FileCheck %s --check-prefix=EPILOGUE
// RUN: not blockscale-opt %s --blockscale-choose-schedule="arch=sm_100a staging=3" 2>&1 | FileCheck %s --check-prefix=STAGING
// RUN: not blockscale-opt %s --blockscale-choose-schedule="arch=sm_100a stages=7" 2>&1 | FileCheck %s --check-prefix=STAGES
// RUN: not blockscale-opt %s --blockscale-choose-schedule="arch=sm_100a ctas=-1" 2>&1 | FileCheck %s --check-prefix=CTAS
// RUN: not blockscale-opt %s --blockscale-choose-schedule="arch=sm_100a tile-n=100" 2>&1 | FileCheck %s --check-prefix=TILEN
// RUN: not blockscale-opt %s --blockscale-choose-schedule="arch=sm_100a mma=mxf5" 2>&1 | FileCheck %s --check-prefix=MMA
// RUN: not blockscale-opt %s --blockscale-choose-schedule="arch=sm_100a mma=f16" 2>&1 | FileCheck %s --check-prefix=KIND

// SUFFIX: error: schedule_c1: chip sm_100 needs sm_100a or sm_100f for tcgen05.mma kinds mxf8f6f4, mxf4, mxf4nvf4, got no suffix
// SUFFIX107: error: schedule_c1: chip sm_107 needs sm_107a or sm_107f for
// FEATURE: error: schedule_c1: chip must have tcgen05_block_scale (tcgen05.mma kinds mxf8f6f4, mxf4, mxf4nvf4), which sm_100a, sm_100f, sm_103a, sm_103f, sm_107a, sm_107f, sm_110a, sm_110f have, got [[CHIP]]
// UNKNOWN: error: schedule_c1: chip must be one of sm_100a, sm_100f, sm_103a, sm_103f, sm_107a, sm_107f, sm_110a, sm_110f, got '[[CHIP]]'
// INST: error: 'blockscale.gemm' op schedule_c3: inst must be a shape of mxf4 on sm_100a, got 128x128x128: {{.*}}
// TILE: error: 'blockscale.gemm' op schedule_c13: k of inst must be 96 on sm_103a only: an absolute leading address is unproven elsewhere, got sm_107a
// ACC: error: 'blockscale.gemm' op schedule_c6: accumulators must be 1 or 2, got 3
// EPILOGUE: error: schedule_c7: epilogue must be tma_store or plain_store, got 'tma_stor'
// STAGING: error: 'blockscale.gemm' op schedule_c8: staging must be 1 or 2 for tma_store, got 3
// STAGES: error: 'blockscale.gemm' op schedule_c9: stages must fit the 232448 shared bytes of sm_100a, got {{[0-9]+}} for 7 stages of 34816, 1 staging buffers of 16384 and 1024
// CTAS: error: 'blockscale.gemm' op schedule_c10: ctas must be 1 .. 2^31 - 1, got -1
// TILEN: error: schedule_c5: columns of a tile must be 64, 128, 192 or 256, got 100
// MMA: error: schedule_c2: mma must be mxf4, mxf4nvf4 or mxf8f6f4, got 'mxf5'
// KIND: error: 'blockscale.gemm' op schedule_c2: mma of mxfp4 must be mxf4 or mxf4nvf4 or mxf8f6f4, got f16

!a = tensor<128x256xf4E2M1FN>
!s = tensor<128x8xi8, #blockscale.scales<ue8m0, tiled>>
func.func @mxfp4(%a: !a, %s: !s, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %d = blockscale.gemm ins(%a scaled %s, %a scaled %s : !a, !s, !a, !s) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %d : tensor<128x128xf32>
}
