// Rules of kernels that quantise which their problem and chip break alone.
// RUN: blockscale-opt %s --split-input-file --verify-diagnostics

module attributes {blockscale.arch = "sm_90a"} {
  // expected-error @below {{quantize_kernel_c7: global scale must be given or computed for ue4m3, got none}}
  blockscale.quantize_kernel @quantize_kernel_c7_none(%x: !blockscale.buffer, %q: !blockscale.buffer, %s: !blockscale.buffer, %rows: i32) attributes {
    problem = #blockscale.quantize_problem<rows = 5, k = 32, source = f32, target = #blockscale.blocked<rows = 5, k = 32, element = e2m1, scale = ue4m3, block = 16, layout = linear>>,
    schedule = #blockscale.quantize_schedule<arch = sm_90a, sequence = remainder, threads = 256, blocks = 4>, shared_bytes = 0, threads = 256} {
    blockscale.return
  }
}

// -----

// A block that no product has.
module attributes {blockscale.arch = "sm_90a"} {
  // expected-error @below {{quantize_kernel_c2: problem must be whole blocks of q8_1_chunk, q8_1_tile, q8_1_tile_parts, amax or what blockscale.quantize makes}}
  blockscale.quantize_kernel @quantize_kernel_c2_block(%x: !blockscale.buffer, %q: !blockscale.buffer, %s: !blockscale.buffer, %rows: i32) attributes {
    problem = #blockscale.quantize_problem<rows = 5, k = 32, source = f32, target = #blockscale.blocked<rows = 5, k = 32, element = e4m3, scale = ue8m0, block = 16, layout = linear>>,
    schedule = #blockscale.quantize_schedule<arch = sm_90a, sequence = integer, threads = 256, blocks = 4>, shared_bytes = 0, threads = 256} {
    blockscale.return
  }
}

// -----

module attributes {blockscale.arch = "sm_100a"} {
  // expected-error @below {{quantize_kernel_c8: chip must have the conversions of ue5m3, got sm_100a}}
  blockscale.quantize_kernel @quantize_kernel_c8_ue5m3(%x: !blockscale.buffer, %q: !blockscale.buffer, %s: !blockscale.buffer, %rows: i32) attributes {
    problem = #blockscale.quantize_problem<rows = 5, k = 32, source = f32, target = #blockscale.blocked<rows = 5, k = 32, element = e2m1, scale = ue5m3, block = 32, layout = linear>>,
    schedule = #blockscale.quantize_schedule<arch = sm_100a, sequence = remainder, threads = 256, blocks = 4>, shared_bytes = 0, threads = 256} {
    blockscale.return
  }
}
