// More than 512 columns need .exclusive, which LLVM 22 cannot write: inline PTX,
// once each, in the warp's own branch.
// REQUIRES: ptxas
// RUN: blockscale-translate --mlir-to-ptx --arch=sm_107a %s -o %t.ptx
// RUN: FileCheck %s < %t.ptx
// RUN: ptxas -arch=sm_107a %t.ptx -o %t.cubin
// RUN: blockscale-opt %s --convert-blockscale-to-nvvm | FileCheck %s --check-prefix=NVVM

// CHECK: tcgen05.alloc.cta_group::1.exclusive.sync.aligned.shared::cta.b32 [{{.*}}], 576;
// CHECK: bar.sync
// CHECK: tcgen05.dealloc.cta_group::1.exclusive.sync.aligned.b32 {{.*}}, 576;
// CHECK-NOT: tcgen05.dealloc

// NVVM: llvm.func @k() attributes {nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 32, 1, 1>}
// NVVM: llvm.inline_asm has_side_effects {{.*}}"tcgen05.alloc.cta_group::1.exclusive
// NVVM: nvvm.barrier

#problem = #blockscale.problem<m = 128, n = 128, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_107a, mma = mxf4nvf4, inst = 128x128x128, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 1, epilogue = plain_store, staging = 0, ctas = 1>
module @kernels attributes {blockscale.arch = "sm_107a"} {
  blockscale.kernel @k() attributes {problem = #problem, schedule = #schedule, threads = 32, shared_bytes = 128} {
    %base = blockscale.shared_base
    blockscale.tcgen05_alloc %base, 576
    blockscale.bar_sync 0
    %tmem = blockscale.ld_shared %base
    blockscale.tcgen05_dealloc %tmem, 576
    blockscale.return
  }
}
