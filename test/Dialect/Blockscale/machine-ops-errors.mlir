// RUN: blockscale-opt %s --split-input-file --verify-diagnostics

#problem = #blockscale.problem<m = 128, n = 128, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 1, epilogue = plain_store, staging = 0, ctas = 1>
module @kernels attributes {blockscale.arch = "sm_100a"} {
blockscale.kernel @machine_c2(%map: !blockscale.tensor_map, %buffer: !blockscale.buffer)
    attributes {problem = #problem, schedule = #schedule, threads = 192, shared_bytes = 1024} {
  %base = blockscale.shared_base
  // expected-error @below {{machine_c2: arrival count must be 1..1048575, got 0}}
  blockscale.mbarrier_init %base, 0
  blockscale.return
}
}

// -----

#problem = #blockscale.problem<m = 128, n = 128, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 1, epilogue = plain_store, staging = 0, ctas = 1>
module @kernels attributes {blockscale.arch = "sm_100a"} {
blockscale.kernel @machine_c3(%map: !blockscale.tensor_map, %buffer: !blockscale.buffer)
    attributes {problem = #problem, schedule = #schedule, threads = 192, shared_bytes = 1024} {
  %base = blockscale.shared_base
  // expected-error @below {{machine_c3: transaction bytes must be 0..1048575, got 1048576}}
  blockscale.mbarrier_arrive_expect_tx %base, 1048576
  blockscale.return
}
}

// -----

#problem = #blockscale.problem<m = 128, n = 128, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 1, epilogue = plain_store, staging = 0, ctas = 1>
module @kernels attributes {blockscale.arch = "sm_100a"} {
blockscale.kernel @machine_c4(%map: !blockscale.tensor_map, %buffer: !blockscale.buffer)
    attributes {problem = #problem, schedule = #schedule, threads = 192, shared_bytes = 1024} {
  %base = blockscale.shared_base
  // expected-error @below {{machine_c4: a tensor map has 1 to 5 coordinates, got 6}}
  blockscale.cp_async_bulk_tensor_load %base, %map[%base, %base, %base, %base, %base, %base], %base
  blockscale.return
}
}

// -----

#problem = #blockscale.problem<m = 128, n = 128, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 1, epilogue = plain_store, staging = 0, ctas = 1>
module @kernels attributes {blockscale.arch = "sm_100a"} {
blockscale.kernel @machine_c4_store(%map: !blockscale.tensor_map, %buffer: !blockscale.buffer)
    attributes {problem = #problem, schedule = #schedule, threads = 192, shared_bytes = 1024} {
  %base = blockscale.shared_base
  // expected-error @below {{machine_c4: a tensor map has 1 to 5 coordinates, got 0}}
  blockscale.cp_async_bulk_tensor_store %map[], %base
  blockscale.return
}
}

// -----

#problem = #blockscale.problem<m = 128, n = 128, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 1, epilogue = plain_store, staging = 0, ctas = 1>
module @kernels attributes {blockscale.arch = "sm_100a"} {
blockscale.kernel @machine_c5(%map: !blockscale.tensor_map, %buffer: !blockscale.buffer)
    attributes {problem = #problem, schedule = #schedule, threads = 192, shared_bytes = 1024} {
  // expected-error @below {{machine_c5: pending groups must be at least 0, got -1}}
  blockscale.cp_async_bulk_wait_group -1
  blockscale.return
}
}

// -----

#problem = #blockscale.problem<m = 128, n = 128, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 1, epilogue = plain_store, staging = 0, ctas = 1>
module @kernels attributes {blockscale.arch = "sm_100a"} {
blockscale.kernel @machine_c6(%map: !blockscale.tensor_map, %buffer: !blockscale.buffer)
    attributes {problem = #problem, schedule = #schedule, threads = 192, shared_bytes = 1024} {
  %base = blockscale.shared_base
  // expected-error @below {{machine_c6: 32x32b loads 1, 2, 4 … 128 columns, got 3}}
  %v:3 = blockscale.tcgen05_ld %base : i32, i32, i32
  blockscale.return
}
}

// -----

#problem = #blockscale.problem<m = 128, n = 128, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 1, epilogue = plain_store, staging = 0, ctas = 1>
module @kernels attributes {blockscale.arch = "sm_100a"} {
blockscale.kernel @machine_c7(%map: !blockscale.tensor_map, %buffer: !blockscale.buffer)
    attributes {problem = #problem, schedule = #schedule, threads = 192, shared_bytes = 1024} {
  %base = blockscale.shared_base
  %d = blockscale.smem_desc %base, #blockscale.smem_desc<leading = 16, stride = 1024, swizzle = b128>
  // expected-error @below {{machine_c7: advance must be a multiple of 16 bytes, got 8}}
  %e = blockscale.desc_advance %d, 8
  blockscale.return
}
}

// -----

#problem = #blockscale.problem<m = 128, n = 128, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 1, epilogue = plain_store, staging = 0, ctas = 1>
module @kernels attributes {blockscale.arch = "sm_100a"} {
blockscale.kernel @machine_c8(%map: !blockscale.tensor_map, %buffer: !blockscale.buffer)
    attributes {problem = #problem, schedule = #schedule, threads = 192, shared_bytes = 1024} {
  %base = blockscale.shared_base
  // expected-error @below {{machine_c8: a vector access has 1, 2 or 4 values, got 3}}
  blockscale.st_shared %base, %base, %base, %base
  blockscale.return
}
}

// -----

#problem = #blockscale.problem<m = 128, n = 128, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 1, epilogue = plain_store, staging = 0, ctas = 1>
module @kernels attributes {blockscale.arch = "sm_100a"} {
blockscale.kernel @machine_c8_types(%map: !blockscale.tensor_map, %buffer: !blockscale.buffer)
    attributes {problem = #problem, schedule = #schedule, threads = 192, shared_bytes = 1024} {
  %offset = arith.constant 0 : i64
  // expected-error @below {{machine_c8: values of a vector access must have one type, got 'f32', 'f16'}}
  %v:2 = blockscale.ld_global %buffer[%offset] : f32, f16
  blockscale.return
}
}

// -----

func.func @machine_c1(%base: i32) {
  // expected-error @below {{machine_c1: op must stand in a blockscale.kernel, got none}}
  blockscale.tcgen05_alloc %base, 512
  return
}

// -----

#problem = #blockscale.problem<m = 128, n = 128, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 1, epilogue = plain_store, staging = 0, ctas = 1>
module @kernels attributes {blockscale.arch = "sm_100a"} {
blockscale.kernel @machine_c11(%map: !blockscale.tensor_map, %buffer: !blockscale.buffer)
    attributes {problem = #problem, schedule = #schedule, threads = 192, shared_bytes = 1024} {
  %base = blockscale.shared_base
  %d = blockscale.smem_desc %base, #blockscale.smem_desc<leading = 16, stride = 1024, swizzle = b128>
  %t = arith.constant true
  // expected-error @below {{machine_c11: target of .collector::b must have it, got sm_100a}}
  blockscale.tcgen05_mma collector_b fill %base, %d, %d, #blockscale.idesc<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64, sfa_id = 0, sfb_id = 0>, %base, %base, %t
  blockscale.return
}
}

// -----

#problem = #blockscale.problem<m = 128, n = 128, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 1, epilogue = plain_store, staging = 0, ctas = 1>
module @kernels attributes {blockscale.arch = "sm_100a"} {
blockscale.kernel @idesc_k128_off_107(%map: !blockscale.tensor_map, %buffer: !blockscale.buffer)
    attributes {problem = #problem, schedule = #schedule, threads = 192, shared_bytes = 1024} {
  %base = blockscale.shared_base
  %d = blockscale.smem_desc %base, #blockscale.smem_desc<leading = 16, stride = 1024, swizzle = b128>
  %t = arith.constant true
  // expected-error @below {{idesc_c}}
  blockscale.tcgen05_mma %base, %d, %d, #blockscale.idesc<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 128, sfa_id = 0, sfb_id = 0>, %base, %base, %t
  blockscale.return
}
}

// -----

#problem = #blockscale.problem<m = 128, n = 128, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 1, epilogue = plain_store, staging = 0, ctas = 1>
module @kernels attributes {blockscale.arch = "sm_100a"} {
blockscale.kernel @idesc_m64(%map: !blockscale.tensor_map, %buffer: !blockscale.buffer)
    attributes {problem = #problem, schedule = #schedule, threads = 192, shared_bytes = 1024} {
  %base = blockscale.shared_base
  %d = blockscale.smem_desc %base, #blockscale.smem_desc<leading = 16, stride = 1024, swizzle = b128>
  %t = arith.constant true
  // expected-error @below {{idesc_c}}
  blockscale.tcgen05_mma %base, %d, %d, #blockscale.idesc<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 64, n = 128, k = 64, sfa_id = 0, sfb_id = 0>, %base, %base, %t
  blockscale.return
}
}

// -----

#problem = #blockscale.problem<m = 128, n = 128, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 1, epilogue = plain_store, staging = 0, ctas = 1>
module @kernels attributes {blockscale.arch = "sm_100a"} {
blockscale.kernel @idesc_n_step(%map: !blockscale.tensor_map, %buffer: !blockscale.buffer)
    attributes {problem = #problem, schedule = #schedule, threads = 192, shared_bytes = 1024} {
  %base = blockscale.shared_base
  %d = blockscale.smem_desc %base, #blockscale.smem_desc<leading = 16, stride = 1024, swizzle = b128>
  %t = arith.constant true
  // expected-error @below {{idesc_c}}
  blockscale.tcgen05_mma %base, %d, %d, #blockscale.idesc<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 100, k = 64, sfa_id = 0, sfb_id = 0>, %base, %base, %t
  blockscale.return
}
}

// -----

#problem = #blockscale.problem<m = 128, n = 128, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 1, epilogue = plain_store, staging = 0, ctas = 1>
module @kernels attributes {blockscale.arch = "sm_100a"} {
blockscale.kernel @idesc_scale_id(%map: !blockscale.tensor_map, %buffer: !blockscale.buffer)
    attributes {problem = #problem, schedule = #schedule, threads = 192, shared_bytes = 1024} {
  %base = blockscale.shared_base
  %d = blockscale.smem_desc %base, #blockscale.smem_desc<leading = 16, stride = 1024, swizzle = b128>
  %t = arith.constant true
  // expected-error @below {{idesc_c}}
  blockscale.tcgen05_mma %base, %d, %d, #blockscale.idesc<kind = mxf4nvf4, a = e2m1, b = e2m1, scale = ue4m3, block = 16, m = 128, n = 128, k = 64, sfa_id = 1, sfb_id = 0>, %base, %base, %t
  blockscale.return
}
}

// -----

#problem = #blockscale.problem<m = 128, n = 128, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 1, epilogue = plain_store, staging = 0, ctas = 1>
module @kernels attributes {blockscale.arch = "sm_100a"} {
blockscale.kernel @smem_desc_stride(%map: !blockscale.tensor_map, %buffer: !blockscale.buffer)
    attributes {problem = #problem, schedule = #schedule, threads = 192, shared_bytes = 1024} {
  %base = blockscale.shared_base
  // expected-error @below {{smem_desc_c}}
  %d = blockscale.smem_desc %base, #blockscale.smem_desc<leading = 16, stride = 1000, swizzle = b128>
  blockscale.return
}
}

// -----

#problem = #blockscale.problem<m = 128, n = 128, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 1, epilogue = plain_store, staging = 0, ctas = 1>
module @kernels attributes {blockscale.arch = "sm_100a"} {
blockscale.kernel @tmem_576(%map: !blockscale.tensor_map, %buffer: !blockscale.buffer)
    attributes {problem = #problem, schedule = #schedule, threads = 192, shared_bytes = 1024} {
  %base = blockscale.shared_base
  // expected-error @below {{tmem_c}}
  blockscale.tcgen05_alloc %base, 576
  blockscale.return
}
}

// -----

#problem = #blockscale.problem<m = 128, n = 128, k = 256, a = e2m1, b = e2m1, scale = ue4m3, block = 16, sfa = tiled, sfb = tiled, out = f32>
#schedule = #blockscale.schedule<arch = sm_107a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1, tile = 128x128x256, stages = 2, accumulators = 1, epilogue = plain_store, staging = 0, ctas = 1>
module @kernels attributes {blockscale.arch = "sm_107a"} {
blockscale.kernel @tmem_608(%map: !blockscale.tensor_map, %buffer: !blockscale.buffer)
    attributes {problem = #problem, schedule = #schedule, threads = 192, shared_bytes = 1024} {
  %base = blockscale.shared_base
  // expected-error @below {{tmem_c}}
  blockscale.tcgen05_dealloc %base, 608
  blockscale.return
}
}
