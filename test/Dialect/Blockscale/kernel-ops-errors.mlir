// RUN: blockscale-opt %s --split-input-file --verify-diagnostics

// Rules of single ops; kernel-mutations.mlir has those that relate plans.

#problem = #blockscale.problem<m = 128, n = 128, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 1, epilogue = plain_store, staging = 0, ctas = 1>
module @kernels attributes {blockscale.arch = "sm_100a"} {
// expected-error @below {{kernel_c0: a parameter must be a tensor map, a buffer or f32, got 'i64'}}
blockscale.kernel @kernel_c0(%n: i64) attributes {problem = #problem, schedule = #schedule, threads = 192, shared_bytes = 0} {
  blockscale.return
}
}

// -----

#problem = #blockscale.problem<m = 128, n = 128, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 1, epilogue = plain_store, staging = 0, ctas = 1>
module @kernels attributes {blockscale.arch = "sm_100a"} {
blockscale.kernel @apply_epilogue_c1(%alpha: f32, %bias: !blockscale.buffer) attributes {problem = #problem, schedule = #schedule, threads = 32, shared_bytes = 0} {
  %zero = arith.constant 0 : i32
  // expected-error @below {{apply_epilogue_c1: results must be as many as values, got 1 for 2}}
  %x = blockscale.apply_epilogue alpha %alpha at %zero, 0 (%alpha, %alpha : f32, f32) : f32
  blockscale.return
}
}

// -----

#problem = #blockscale.problem<m = 128, n = 128, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 1, epilogue = plain_store, staging = 0, ctas = 1>
module @kernels attributes {blockscale.arch = "sm_100a"} {
blockscale.kernel @kernel_c5(%map: !blockscale.tensor_map) attributes {problem = #problem, schedule = #schedule, threads = 32, shared_bytes = 33920} {
  // D23: a 128-byte swizzled tile on a multiple of 128 that is none of 1024.
  // expected-error @below {{kernel_c5: a must start on a multiple of 1024 bytes, got 1152}}
  %a = blockscale.shared_buffer <content = a, offset = 1152, bytes = 16384, stages = 2, swizzle = b128>
  blockscale.return
}
}

// -----

#problem = #blockscale.problem<m = 128, n = 128, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 1, epilogue = plain_store, staging = 0, ctas = 1>
module @kernels attributes {blockscale.arch = "sm_100a"} {
blockscale.kernel @kernel_c17(%map: !blockscale.tensor_map) attributes {problem = #problem, schedule = #schedule, threads = 64, shared_bytes = 32896} {
  %a = blockscale.shared_buffer <content = a, offset = 0, bytes = 16384, stages = 2, swizzle = b128>
  %ring = blockscale.pipeline <stages = 2, full = 32768, empty = 32784, bytes = 16384, producer = tma, producers = 1, consumer = mma, consumers = 1>
  blockscale.warp_role tma warps 0 to 0 {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    blockscale.producer_acquire %ring[%zero, %zero]
    // expected-error @below {{kernel_c17: stage must be acquired before it is loaded, got none}}
    blockscale.tma_load %map[%zero, %zero] to %a for %ring[%one]
    blockscale.producer_commit %ring[%zero]
  }
  blockscale.warp_role mma warps 1 to 1 {
    %zero = arith.constant 0 : i32
    blockscale.consumer_wait %ring[%zero, %zero]
    blockscale.consumer_release %ring[%zero]
  }
  blockscale.return
}
}
