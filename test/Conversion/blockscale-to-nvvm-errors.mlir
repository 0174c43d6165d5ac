// RUN: blockscale-opt %s --convert-blockscale-to-nvvm --verify-diagnostics

#problem = #blockscale.problem<m = 128, n = 128, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 1, epilogue = plain_store, staging = 0, ctas = 1>
module @kernels attributes {blockscale.arch = "sm_100a"} {
  blockscale.kernel @unscaled(%desc: f32) attributes {problem = #problem, schedule = #schedule, threads = 192, shared_bytes = 1024} {
    %base = blockscale.shared_base
    %elected = blockscale.elect_sync
    %a = blockscale.smem_desc %base, #blockscale.smem_desc<leading = 16, stride = 1024, swizzle = b128>
    // expected-error @+2 {{machine_c9: kind must be block-scaled, got f8f6f4}}
    // expected-error @+1 {{failed to legalize operation 'blockscale.tcgen05_mma'}}
    blockscale.tcgen05_mma %base, %a, %a, #blockscale.idesc<kind = f8f6f4, a = e4m3, b = e4m3, scale = ue8m0, block = 0, m = 128, n = 128, k = 32, sfa_id = 0, sfb_id = 0>, %base, %base, %elected
    blockscale.return
  }
}
