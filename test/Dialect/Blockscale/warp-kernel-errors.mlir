// RUN: blockscale-opt %s --split-input-file --verify-diagnostics
// Rules of single ops and of sums on their way; those of the plan are in
// test/Conversion/block-gemm-to-kernel.mlir.

module @kernels attributes {blockscale.arch = "sm_90a"} {
  // A folded (nibble - min): scaled by d * sc, where the minimum wants dmin.
  func.func @folded(%a: vector<4xi32>, %packed: vector<4xi32>, %min: vector<4xi32>) -> vector<8xi32> {
    %n = blockscale.unpack_nibbles %packed half 0 : vector<4xi32> -> vector<4xi32>
    %folded = arith.subi %n, %min : vector<4xi32>
    // expected-error @below {{mma_s8_c1: b must be the nibbles themselves, never (nibble - min): dmin scales the minimum, got the result of 'arith.subi'}}
    %s = blockscale.mma_s8 %a, %folded : vector<4xi32>, vector<4xi32> -> vector<8xi32>
    return %s : vector<8xi32>
  }
}

// -----

func.func @plain(%a: vector<4xi32>, %packed: vector<4xi32>) -> vector<8xi32> {
  %n = blockscale.unpack_nibbles %packed half 1 : vector<4xi32> -> vector<4xi32>
  %s = blockscale.mma_s8 %a, %n : vector<4xi32>, vector<4xi32> -> vector<8xi32>
  return %s : vector<8xi32>
}

// -----

func.func @one_term(%acc: vector<8xf32>, %a: vector<4xi32>, %b: vector<4xi32>, %tokens: vector<4xf32>, %rows: vector<8xf32>) -> vector<8xf32> {
  %n = blockscale.unpack_nibbles %b half 0 : vector<4xi32> -> vector<4xi32>
  %s = blockscale.mma_s8 %a, %n : vector<4xi32>, vector<4xi32> -> vector<8xi32>
  // expected-error @below {{rank1_rescale_c1: operands must be sums of an mma_s8, token scales and row scales, got another value}}
  %r = blockscale.rank1_rescale %acc, %s, %tokens, %rows : vector<8xf32>, vector<8xi32>, vector<4xf32>, vector<8xf32> -> vector<8xf32>
  return %r : vector<8xf32>
}

// -----

module @kernels attributes {blockscale.arch = "sm_90a"} {
  blockscale.warp_kernel @half(%a: !blockscale.buffer, %w: !blockscale.buffer, %d: !blockscale.buffer, %n: i32)
    attributes {problem = #blockscale.block_problem<m = 1, n = 1, k = 256, a = q8_1_chunk, b = q4_K>,
      schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, stages = 2, threads = 256, blocks = 2>,
      threads = 256 : i64, shared_bytes = 90112 : i64, blocks = 2 : i64} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %p = nvvm.mma.sync A[%zero, %zero, %zero, %zero] B[%zero, %zero] C[%zero, %zero, %zero, %zero]
      {intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>, layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>,
       multiplicandAPtxType = #nvvm.mma_type<s8>, multiplicandBPtxType = #nvvm.mma_type<s8>, shape = #nvvm.shape<m = 16, n = 8, k = 32>}
      : (i32, i32, i32) -> !llvm.struct<(i32, i32, i32, i32)>
    %sum = llvm.extractvalue %p[0] : !llvm.struct<(i32, i32, i32, i32)>
    %f = arith.sitofp %sum : i32 to f32
    %last = scf.for %i = %zero to %one step %one iter_args(%acc = %f) -> (f32) : i32 {
      // expected-error @below {{warp_kernel_c7: nothing between an mma and a store may be f16 or bf16, got a value of 'f16'}}
      %h = arith.truncf %acc : f32 to f16
      %g = arith.extf %h : f16 to f32
      scf.yield %g : f32
    }
    blockscale.return
  }
}

// -----

module @kernels attributes {blockscale.arch = "sm_90a"} {
  // f16 before the mma is a scale of the input.
  blockscale.warp_kernel @scale(%a: !blockscale.buffer, %w: !blockscale.buffer, %d: !blockscale.buffer, %n: i32)
    attributes {problem = #blockscale.block_problem<m = 1, n = 1, k = 256, a = q8_1_chunk, b = q4_K>,
      schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, stages = 2, threads = 256, blocks = 2>,
      threads = 256 : i64, shared_bytes = 90112 : i64, blocks = 2 : i64} {
    %half = arith.constant 1.0 : f16
    %f = arith.extf %half : f16 to f32
    blockscale.return
  }
}

// -----

module @kernels attributes {blockscale.arch = "sm_90a"} {
  // expected-error @below {{warp_kernel_c1: parameters must be three buffers and an i32, and nothing returned, got}}
  blockscale.warp_kernel @parameters(%a: !blockscale.buffer, %w: !blockscale.buffer, %d: !blockscale.buffer, %n: f32)
    attributes {problem = #blockscale.block_problem<m = 1, n = 1, k = 256, a = q8_1_chunk, b = q4_K>,
      schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, stages = 2, threads = 256, blocks = 2>,
      threads = 256 : i64, shared_bytes = 90112 : i64, blocks = 2 : i64} {
    blockscale.return
  }
}

// -----

module @kernels attributes {blockscale.arch = "sm_90a"} {
  blockscale.warp_kernel @pragma(%a: !blockscale.buffer, %w: !blockscale.buffer, %d: !blockscale.buffer, %n: i32)
    attributes {problem = #blockscale.block_problem<m = 1, n = 1, k = 256, a = q8_1_chunk, b = q4_K>,
      schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, threads = 256, blocks = 2>,
      threads = 256 : i64, shared_bytes = 45056 : i64, blocks = 2 : i64} {
    // expected-error @below {{ptx_pragma_c1: pragma must be that of the kernel's schedule, none, got mma_throughput}}
    blockscale.ptx_pragma <mma_throughput>
    blockscale.return
  }
}

// -----

func.func @minima(%acc: vector<8xf32>, %parts: vector<6xi32>, %minima: vector<2xi32>, %scales: vector<4xf32>) -> vector<8xf32> {
  // expected-error @below {{mma_minima_c1: operands must be parts of sums, minima and their scales from their planes, got another value}}
  %r = blockscale.mma_minima %acc, %parts, %minima, %scales : vector<8xf32>, vector<6xi32>, vector<2xi32>, vector<4xf32> -> vector<8xf32>
  return %r : vector<8xf32>
}

// -----

module @kernels attributes {blockscale.arch = "sm_90a"} {
  // expected-error @below {{warp_kernel_c3: a must be the q8_1_tile that the schedule reads, got q8_1_chunk}}
  blockscale.warp_kernel @chunks(%a: !blockscale.buffer, %w: !blockscale.buffer, %d: !blockscale.buffer, %n: i32)
    attributes {problem = #blockscale.block_problem<m = 1, n = 1, k = 256, a = q8_1_chunk, b = q4_K>,
      schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, activations = transposed, threads = 256, blocks = 2>,
      threads = 256 : i64, shared_bytes = 45056 : i64, blocks = 2 : i64} {
    blockscale.return
  }
}

// -----

module @kernels attributes {blockscale.arch = "sm_90a"} {
  // expected-error @below {{warp_kernel_c10: contract must be bounded where minima are a product of their own, got ordered}}
  blockscale.warp_kernel @ordered(%a: !blockscale.buffer, %w: !blockscale.buffer, %d: !blockscale.buffer, %n: i32)
    attributes {problem = #blockscale.block_problem<m = 1, n = 1, k = 256, a = q8_1_tile_parts, b = q4_K>,
      schedule = #blockscale.warp_schedule<arch = sm_90a, kernel = raw_nibble, tile = 64x128x256, sums = two_word, activations = transposed, minima = mma, threads = 256, blocks = 2>,
      threads = 256 : i64, shared_bytes = 44544 : i64, blocks = 2 : i64} {
    blockscale.return
  }
}

// -----

func.func @second_terms(%acc: vector<8xf32>, %a: vector<4xi32>, %b: vector<4xi32>) -> vector<8xf32> {
  %sda = blockscale.shared_plane <content = sda, offset = 16384, bytes = 4096, layout = octets>
  %sds = blockscale.shared_plane <content = sds, offset = 36864, bytes = 8192, layout = linear>
  %n = blockscale.unpack_nibbles %b half 0 : vector<4xi32> -> vector<4xi32>
  %s = blockscale.mma_s8 %a, %n : vector<4xi32>, vector<4xi32> -> vector<8xi32>
  %t = blockscale.load_token_scales %sda chunk 0 group 0 : vector<2xf32>
  %o = blockscale.load_row_scales %sds chunk 0 : vector<8xf32>
  // expected-error @below {{rank1_rescale_c2: token scales and row scales must both have their second terms, or neither, got 'vector<2xf32>' and 'vector<8xf32>'}}
  %r = blockscale.rank1_rescale %acc, %s, %t, %o : vector<8xf32>, vector<8xi32>, vector<2xf32>, vector<8xf32> -> vector<8xf32>
  return %r : vector<8xf32>
}
