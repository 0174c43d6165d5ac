// Tiles of other widths and operands of other layouts, in the kernel's plan.
//
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel --split-input-file | FileCheck %s
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel --split-input-file | blockscale-opt --split-input-file -o %t
// RUN: blockscale-opt %s --blockscale-lower-gemm-to-kernel --blockscale-lower-kernel-to-machine --split-input-file | FileCheck %s --check-prefix=MACHINE

// 192 columns: two tiles of B's scales, of which every other column tile starts in the
// middle of the first.

// CHECK: blockscale.tensor_map {{.*}} dims = [256, 6, 3], strides = [512, 3072], box = [256, 4, 2]
// CHECK: blockscale.shared_buffer <content = scales_tiled, {{.*}} bytes = 2048, stages = 2
// CHECK: blockscale.shared_buffer <content = scales_tiled, {{.*}} bytes = 4096, stages = 2
// CHECK: blockscale.pipeline <stages = 2, {{.*}} bytes = 47104,
// CHECK: blockscale.tmem_plan <columns = 512, {{.*}} accumulators = [0, 192], width = 192, sfa = 384, sfa_columns = 16, sfb = 400, sfb_columns = 32>
// CHECK: blockscale.warp_role tma
// CHECK: %[[FIRST:.+]], %{{.+}} = blockscale.scale_tiles_of_b
// CHECK: blockscale.tma_load %{{.*}}[%{{.*}}, %{{.*}}, %[[FIRST]]] to
// CHECK: blockscale.warp_role mma
// CHECK: %{{.+}}, %[[SHIFT:.+]] = blockscale.scale_tiles_of_b
// CHECK: blockscale.copy_scales {{.*}} sfb tiles 4
// CHECK: blockscale.mma {{.*}} steps 4 shift %[[SHIFT]]

// Two copies for each word of B's scales, the second 128 rows of a stage 2048 bytes on.
// MACHINE: blockscale.tcgen05_cp
// MACHINE-COUNT-3: blockscale.tcgen05_cp
// MACHINE: blockscale.tcgen05_cp
// MACHINE: blockscale.desc_advance %{{.*}}, 2048
// MACHINE: blockscale.desc_advance %{{.*}}, 512
// MACHINE: blockscale.desc_advance %{{.*}}, 2560
// MACHINE: n = 192
func.func @n192(%a: memref<34176xi8>, %sfa: memref<6144xi8>, %b: memref<61440xi8>,
                %sfb: memref<9216xi8>, %d: memref<178x320xf32>) {
  blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb
    : memref<34176xi8>, memref<6144xi8>, memref<61440xi8>, memref<9216xi8>) outs(%d : memref<178x320xf32>)
    {problem = #blockscale.problem<m = 178, n = 320, k = 384, a = e2m1, b = e2m1, scale = ue4m3, block = 16,
       sfa = tiled, sfb = tiled, out = f32>,
     schedule = #blockscale.schedule<arch = sm_100a, mma = mxf4nvf4, inst = 128x192x64, cta_group = 1,
       tile = 128x192x256, stages = 2, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>}
  return
}

// -----

// FP4 x FP8 at K = 32: TMA leaves gaps, which nobody counts.

// CHECK: blockscale.tensor_map {{.*}} <type = u4_align16, dims = [256, 178], strides = [128], box = [128, 128], {{.*}} swizzle = b128
// CHECK: blockscale.shared_buffer <content = a, offset = 0, bytes = 16384, stages = 2, swizzle = b128>
// CHECK: blockscale.pipeline <stages = 2, {{.*}} bytes = 25600,
func.func @padded(%a: memref<22784xi8>, %sfa: memref<2048xi8>, %b: memref<32768xi8>,
                  %sfb: memref<1024xi8>, %d: memref<178x128xf32>) {
  blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb
    : memref<22784xi8>, memref<2048xi8>, memref<32768xi8>, memref<1024xi8>) outs(%d : memref<178x128xf32>)
    {problem = #blockscale.problem<m = 178, n = 128, k = 256, a = e2m1, b = e4m3, scale = ue8m0, block = 32,
       sfa = tiled, sfb = tiled, out = f32>,
     schedule = #blockscale.schedule<arch = sm_100a, mma = mxf8f6f4, inst = 128x128x32, cta_group = 1,
       tile = 128x128x128, stages = 2, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>}
  return
}

// -----

// The same at K = 64: packed, in half the bytes.

// CHECK: blockscale.tensor_map {{.*}} <type = u8, dims = [128, 178], strides = [128], box = [64, 128], {{.*}} swizzle = b64
// CHECK: blockscale.shared_buffer <content = a, offset = 0, bytes = 8192, stages = 2, swizzle = b64>
// CHECK: blockscale.pipeline <stages = 2, {{.*}} bytes = 25600,
func.func @packed(%a: memref<22784xi8>, %sfa: memref<2048xi8>, %b: memref<32768xi8>,
                  %sfb: memref<1024xi8>, %d: memref<178x128xf32>) {
  blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb
    : memref<22784xi8>, memref<2048xi8>, memref<32768xi8>, memref<1024xi8>) outs(%d : memref<178x128xf32>)
    {problem = #blockscale.problem<m = 178, n = 128, k = 256, a = e2m1, b = e4m3, scale = ue8m0, block = 32,
       sfa = tiled, sfb = tiled, out = f32>,
     schedule = #blockscale.schedule<arch = sm_107a, mma = mxf8f6f4, inst = 128x128x64, cta_group = 1,
       tile = 128x128x128, stages = 2, accumulators = 2, epilogue = tma_store, staging = 2, ctas = 148>}
  return
}

// -----

// B [k, n] of 256 columns: two boxes a stage; C and its factor.

// CHECK: blockscale.tensor_map {{.*}} <type = u8, dims = [272, 160], strides = [272], box = [128, 128], {{.*}} swizzle = b128
// CHECK: blockscale.launch {{.*}} : !blockscale.tensor_map, {{.*}}!blockscale.tensor_map, !blockscale.buffer, f32) {blockscale.scalar_names = ["beta"]}
// CHECK: blockscale.shared_buffer <content = b, offset = 32768, bytes = 32768, stages = 2, swizzle = b128>
// CHECK: blockscale.tma_load {{.*}} part 0 for
// CHECK: blockscale.tma_load {{.*}} part 1 for
// CHECK: %[[C:.+]]:32 = blockscale.load_c %{{.*}}[%{{.*}}, %{{.*}}] column 0
// CHECK: blockscale.apply_epilogue beta %{{.*}} c(%[[C]]#0,
// MACHINE: smem_desc<leading = 16384, stride = 1024, swizzle = b128>
// MACHINE: blockscale.desc_advance %{{.*}}, 4096
// MACHINE: major_b = mn>
// MACHINE: blockscale.ld_global {{.*}} : f32, f32, f32, f32
// MACHINE: blockscale.fma_rn
func.func @mn_major(%a: memref<12800xi8>, %sfa: memref<1024xi8>, %b: memref<43520xi8>, %sfb: memref<3072xi8>,
                    %beta: f32, %c: memref<80x272xf32>, %d: memref<80x272xf32>) {
  blockscale.gemm ins(%a scaled %sfa, %b scaled %sfb
    : memref<12800xi8>, memref<1024xi8>, memref<43520xi8>, memref<3072xi8>)
    beta(%beta : f32) c(%c : memref<80x272xf32>) outs(%d : memref<80x272xf32>)
    {problem = #blockscale.problem<m = 80, n = 272, k = 160, a = e5m2, b = e4m3, scale = ue8m0, block = 32,
       sfa = tiled, sfb = tiled, out = f32, major_b = mn>,
     schedule = #blockscale.schedule<arch = sm_100a, mma = mxf8f6f4, inst = 128x256x32, cta_group = 1,
       tile = 128x256x128, stages = 2, accumulators = 1, epilogue = tma_store, staging = 2, ctas = 148>}
  return
}
