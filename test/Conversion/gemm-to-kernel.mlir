// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel --split-input-file | FileCheck %s

// NVFP4, sm_100a: five stages of A, B and scales; a last K tile of two instructions.

// CHECK-LABEL: func.func @nvfp4
// CHECK-SAME: %[[A:.+]]: memref<34176xi8>, %[[SFA:.+]]: memref<6144xi8>
// CHECK: %[[DA:.+]] = blockscale.alloc 34176 {blockscale.name = "a"}
// CHECK: blockscale.copy %[[A]] to %[[DA]]
// CHECK: %[[DSFA:.+]] = blockscale.alloc 6144 {blockscale.name = "sfa"}
// CHECK: %[[D:.+]] = blockscale.alloc 546816 {blockscale.name = "d"}
// CHECK: %[[MAPA:.+]] = blockscale.tensor_map %[[DA]], <type = u8, dims = [192, 178], strides = [192], box = [128, 128], element_strides = [1, 1], swizzle = b128, fill = zero, l2 = b128>
// CHECK: blockscale.tensor_map %[[DSFA]], <type = u16, dims = [256, 6, 2], strides = [512, 3072], box = [256, 4, 1], element_strides = [1, 1, 1], swizzle = none, fill = zero, l2 = b128>
// CHECK: %[[MAPD:.+]] = blockscale.tensor_map %[[D]], <type = u16, dims = [1536, 178], strides = [3072], box = [64, 32], element_strides = [1, 1], swizzle = b128, fill = zero, l2 = none>
// CHECK: blockscale.launch @kernels::@gemm_0 grid [24, 1, 1] block [192, 1, 1] cluster [1, 1, 1] shared 217216(%[[MAPA]],
// CHECK: blockscale.copy %[[D]] to
// CHECK-COUNT-5: blockscale.free
func.func @nvfp4(%a: memref<34176xi8>, %sfa: memref<6144xi8>, %b: memref<294912xi8>,
                 %sfb: memref<36864xi8>, %d: memref<178x1536xbf16>) {
  blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb
    : memref<34176xi8>, memref<6144xi8>, memref<294912xi8>, memref<36864xi8>) outs(%d : memref<178x1536xbf16>)
    {problem = #blockscale.problem<m = 178, n = 1536, k = 384, a = e2m1, b = e2m1, scale = ue4m3, block = 16,
       sfa = tiled, sfb = tiled, out = bf16>,
     schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x128x64, cta_group = 1,
       tile = 128x128x256, stages = 5, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>}
  return
}

// CHECK: module @kernels attributes {blockscale.arch = "sm_100a"}
// CHECK: blockscale.kernel @gemm_0(%[[A:.+]]: !blockscale.tensor_map, %{{.+}}: !blockscale.tensor_map, %{{.+}}: !blockscale.tensor_map, %{{.+}}: !blockscale.tensor_map, %{{.+}}: !blockscale.tensor_map)
// CHECK-SAME: shared_bytes = 217216 : i64, threads = 192 : i64
// CHECK: %[[SA:.+]] = blockscale.shared_buffer <content = a, offset = 0, bytes = 16384, stages = 5, swizzle = b128>
// CHECK: %[[SB:.+]] = blockscale.shared_buffer <content = b, offset = 81920, bytes = 16384, stages = 5, swizzle = b128>
// CHECK: %[[STAGING:.+]] = blockscale.shared_buffer <content = staging, offset = 163840, bytes = 16384, stages = 2, swizzle = b128>
// CHECK: blockscale.shared_buffer <content = scales_tiled, offset = 196608, bytes = 2048, stages = 5, swizzle = none>
// CHECK: %[[RING:.+]] = blockscale.pipeline <stages = 5, full = 217088, empty = 217128, bytes = 36864, producer = tma, producers = 1, consumer = mma, consumers = 1>
// CHECK: %[[ACC:.+]] = blockscale.pipeline <stages = 2, full = 217168, empty = 217184, bytes = 0, producer = mma, producers = 1, consumer = epilogue, consumers = 4>
// CHECK: %[[TMEM:.+]] = blockscale.tmem_plan <columns = 512, slot = 217200, alloc_warp = 4, accumulators = [0, 128], width = 128, sfa = 256, sfa_columns = 16, sfb = 272, sfb_columns = 16>
// CHECK: blockscale.warp_role tma warps 5 to 5
// CHECK: blockscale.producer_acquire %[[RING]][%[[S:.+]], %{{.+}}]
// CHECK: blockscale.tma_load %[[A]]{{.*}} to %[[SA]] for %[[RING]][%[[S]]]
// CHECK-COUNT-3: blockscale.tma_load
// CHECK: blockscale.producer_commit %[[RING]][%[[S]]]
// CHECK: blockscale.pipeline_drain %[[RING]]
// CHECK: blockscale.warp_role mma warps 4 to 4
// CHECK: blockscale.producer_acquire %[[ACC]]
// CHECK: scf.for
// CHECK: blockscale.copy_scales {{.*}} sfa tiles 4
// CHECK: blockscale.copy_scales {{.*}} sfb tiles 4
// CHECK: blockscale.mma %[[SA]], %[[SB]]{{.*}} into %[[TMEM]]{{.*}} steps 4
// CHECK: blockscale.consumer_release %[[RING]]
// CHECK: blockscale.copy_scales {{.*}} sfa tiles 2
// CHECK: blockscale.mma {{.*}} steps 2
// CHECK: blockscale.producer_commit %[[ACC]]
// CHECK: blockscale.warp_role epilogue warps 0 to 3
// CHECK: blockscale.consumer_wait %[[ACC]]
// CHECK: blockscale.load_accumulator %[[TMEM]]{{.*}} column 0
// CHECK: blockscale.staging_acquire %[[STAGING]][0]
// CHECK: blockscale.store_staging {{.*}} to %[[STAGING]][0] byte 0
// CHECK: blockscale.load_accumulator %[[TMEM]]{{.*}} column 32
// CHECK: blockscale.store_staging {{.*}} to %[[STAGING]][0] byte 64
// CHECK: blockscale.tma_store %[[STAGING]][0] to {{.*}} column 0
// CHECK: blockscale.load_accumulator %[[TMEM]]{{.*}} column 96
// CHECK: blockscale.consumer_release %[[ACC]]
// CHECK: blockscale.tma_store %[[STAGING]][1] to {{.*}} column 64
// CHECK: blockscale.staging_drain %[[STAGING]]

// -----

// MXFP8 on sm_107a, one K tile, plain stores, alpha from memory and bias: more
// shared memory than the ordinary limit.

// CHECK-LABEL: func.func @mxfp8
// CHECK: blockscale.copy %{{.+}} to %[[BIAS:.+]] : memref<5xf32> to !blockscale.buffer
// CHECK: %[[D:.+]] = blockscale.alloc 70
// CHECK: %[[ALPHA:.+]] = memref.load
// CHECK: blockscale.launch @kernels::@gemm_0 grid [1, 1, 1] block [192, 1, 1] cluster [1, 1, 1] shared 304384 oversized(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %[[D]], %[[BIAS]], %[[ALPHA]] :
func.func @mxfp8(%a: memref<672xi8>, %sfa: memref<512xi8>, %b: memref<480xi8>, %sfb: memref<512xi8>,
                 %alpha: memref<f32>, %bias: memref<5xf32>, %d: memref<7x5xbf16>) {
  blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb
    : memref<672xi8>, memref<512xi8>, memref<480xi8>, memref<512xi8>) alpha(%alpha : memref<f32>)
    bias(%bias : memref<5xf32>) outs(%d : memref<7x5xbf16>)
    {problem = #blockscale.problem<m = 7, n = 5, k = 96, a = e4m3, b = e4m3, scale = ue8m0, block = 32,
       sfa = tiled, sfb = tiled, out = bf16>,
     schedule = #blockscale.schedule<arch = sm_107a, mma = mxf8f6f4, inst = 128x128x64, cta_group = 1,
       tile = 128x128x128, stages = 9, accumulators = 2, epilogue = plain_store, staging = 0, ctas = 148>}
  return
}

// CHECK: blockscale.tmem_plan <columns = 512, slot = {{[0-9]+}}, alloc_warp = 4, accumulators = [0, 128], width = 128, sfa = 256, sfa_columns = 4, sfb = 260, sfb_columns = 4>
// CHECK: blockscale.mma {{.*}} steps 2
// CHECK-NOT: blockscale.mma
// CHECK: blockscale.apply_epilogue alpha %[[ALPHA:.+]] bias %[[BIAS:.+]] at
// CHECK: blockscale.plain_store
