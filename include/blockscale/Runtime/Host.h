/*===- Host.h - reference functions on host memory --------------------------===
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Quantisation, its inverse, scale layouts and the check of a product, written
 * plainly: they are what kernels are compared with. Rules: docs/Quantization.md.
 * Codes of formats, scale formats and layouts are the facts' enums. Elements are
 * packed, low bits first (FP4: element 0 in bits 3:0), rows without padding. What is
 * said of A and B as [rows, cols] holds of [cols, rows] where an operand is MN-major.
 * Errors are reported as in Runtime.h.
 *
 *===------------------------------------------------------------------------===*/

#ifndef BLOCKSCALE_RUNTIME_HOST_H
#define BLOCKSCALE_RUNTIME_HOST_H

#include "blockscale/Runtime/Runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How elements and their scales are held. */
typedef struct bsrt_blocks {
  int64_t rows, cols; /* logical shape; cols is a multiple of block */
  int32_t element;    /* facts::Format of at most 8 bits */
  int32_t scale;      /* facts::ScaleFormat */
  int32_t block;      /* elements of a row that share a scale */
  int32_t layout;     /* facts::ScaleLayout of the scales */
} bsrt_blocks;

/** Bytes of the elements and of the scales, padding of tiles included. */
bsrt_status bsrt_host_block_sizes(const bsrt_blocks *blocks, int64_t *elements, int64_t *scales);

/** Where the global scale of UE4M3 quantisation comes from. */
typedef enum bsrt_global {
  BSRT_GLOBAL_COMPUTE = 0, /* amax / (448 * 6), written to *global */
  BSRT_GLOBAL_GIVEN = 1    /* read from *global */
} bsrt_global;

/**
 * Quantises [rows, cols] values of `source` (facts::Format f16, bf16 or f32).
 * `global` may be NULL for UE8M0 and UE5M3; for UE4M3 NULL means a given global of 1.
 */
bsrt_status bsrt_host_quantize(const bsrt_blocks *blocks, int32_t source, const void *values,
                               uint8_t *elements, uint8_t *scales, bsrt_global mode, float *global);

/** value = element * scale * global, rounded once to f32. */
bsrt_status bsrt_host_dequantize(const bsrt_blocks *blocks, const uint8_t *elements,
                                 const uint8_t *scales, float global, float *values);

/**
 * Copies [rows, scales_per_row] scale bytes between layouts; the padding of a
 * tiled destination becomes 0x00. A ue4m3 scale whose top bit is set is refused.
 */
bsrt_status bsrt_host_relayout_scales(int32_t scale, int64_t rows, int64_t scales_per_row,
                                      int32_t from_layout, const uint8_t *from, int32_t to_layout,
                                      uint8_t *to);

/** Sets the padding columns (not the padding rows) of a tiled buffer to 0x00. */
bsrt_status bsrt_host_zero_scale_tail(int64_t rows, int64_t scales_per_row, uint8_t *scales);

/** Swaps the two FP4 elements of every byte; `from` and `to` may be the same. */
bsrt_status bsrt_host_swap_nibbles(int64_t bytes, const uint8_t *from, uint8_t *to);

/** Copies rows to another pitch; what lies behind a row of the destination becomes 0x00. */
bsrt_status bsrt_host_repitch(int64_t rows, int64_t row_bytes, int64_t from_pitch,
                              const uint8_t *from, int64_t to_pitch, uint8_t *to);

/** How f32 scales become UE8M0. `EXACT` refuses what is not a power of two. */
typedef enum bsrt_scale_round {
  BSRT_SCALE_EXACT = 0,
  BSRT_SCALE_TOWARD_ZERO = 1,
  BSRT_SCALE_UP = 2
} bsrt_scale_round;

/**
 * Encodes [rows, cols] f32 scales as UE8M0; `pitch` is the floats from one row
 * to the next. Only the real rows and columns are looked at. Under `EXACT` the
 * message names the first scale that is no power of two by index and value.
 */
bsrt_status bsrt_host_encode_scales(int64_t rows, int64_t cols, int64_t pitch, const float *from,
                                    bsrt_scale_round round, uint8_t *to);

/** A product and what was computed for it. */
typedef struct bsrt_check {
  int64_t m, n, k;
  int32_t a, b;         /* facts::Format */
  int32_t scale, block; /* facts::ScaleFormat, elements */
  int32_t sfa, sfb;     /* facts::ScaleLayout */
  int32_t out;          /* facts::Format of D: f32, bf16 or f16, or of elements beside d_scales */
  int32_t inst_k;       /* K of the instruction that was used */
  float alpha;
  const uint8_t *a_bytes, *a_scales, *b_bytes, *b_scales;
  const float *bias;                       /* n values or NULL */
  const void *d;                           /* [m, n], or [m, n / 2] with gates */
  int32_t mma;                             /* facts::MmaKind of the instruction that was used */
  int32_t major_a, major_b;                /* facts::Major of the elements, not of the scales */
  float beta;                              /* of c */
  const void *c;                           /* [m, n] of the format of D, or NULL */
  int32_t activation;                      /* facts::Activation, of the sum of all that */
  const float *alpha_rows, *alpha_columns; /* m and n factors beside alpha, or NULL */
  int32_t gate; /* facts::Activation of gates: of each 128 columns the first 64; none: no gates */
  const uint8_t *d_scales; /* of a D whose format is narrow; NULL where it is wide */
  int32_t out_scale, out_block,
      out_layout; /* of these: facts::ScaleFormat, elements, ScaleLayout */
  float global;   /* what values of ue4m3 scales are divided by */
} bsrt_check;

/** The element where error / bound is largest, and the largest error of all. */
typedef struct bsrt_check_result {
  double error, bound; /* at (row, col); the run is right iff error <= bound everywhere */
  double reference, value;
  int64_t row, col;
  double largest_error;
  int64_t wrong; /* elements outside the bound */
  int64_t nans;  /* elements that are rightly NaN */
} bsrt_check_result;

/**
 * Compares D with the product of the dequantised operands in f64. Returns OK
 * when the comparison was made, whatever its outcome: look at `wrong`.
 * The bound: docs/Quantization.md, "Error bound".
 */
bsrt_status bsrt_host_check_gemm(const bsrt_check *check, bsrt_check_result *result);

/**
 * Quantises [rows, cols] values of `source` (facts::Format f32, f16 or bf16) to
 * q8_1 chunks of 40 bytes for each 32 elements of a row: f16 d, two bytes of zero,
 * 32 signed bytes, i32 sum. d = amax / 127, element = rint(x * (1 / d)); a chunk of
 * zeroes has d = 0, one with a NaN or an infinity d = NaN and zeroes.
 */
bsrt_status bsrt_host_quantize_chunks(int64_t rows, int64_t cols, int32_t source,
                                      const void *values, uint8_t *chunks);

/**
 * Copies [tokens, k] of q8_1 chunks into tiles of `format` (facts::BlockFormat q8_1_tile
 * or q8_1_tile_parts; layout: Facts/ActivationTile.h). k is a multiple of 256; tokens
 * past the last one of the last tile become zeroes. With q8_1_chunk, q8_1 blocks of 36
 * bytes (f16 d, f16 s, 32 signed bytes) become chunks: sums are those of the bytes, s is not read.
 */
bsrt_status bsrt_host_transpose_chunks(int64_t tokens, int64_t k, int32_t format,
                                       const uint8_t *chunks, uint8_t *tiles);

/**
 * Copies [rows, k] of q4_K blocks into planes of 16 rows (q4_K_plane; layout:
 * Facts/WeightPlane.h). k is a multiple of 256; rows past the last one become zeroes.
 */
bsrt_status bsrt_host_decode_scales(int64_t rows, int64_t k, const uint8_t *blocks,
                                    uint8_t *planes);

/** A product of q8_1 chunks [m, k] and q4_K blocks [n, k], D f32 [m, n]. */
typedef struct bsrt_block_check {
  int64_t m, n, k;
  const uint8_t *a, *b;
  const float *d;
} bsrt_block_check;

/**
 * Compares D with the product in f64 within (2 chunks + 1) 2^-24 of the sum of the
 * terms' magnitudes: docs/Q4K.md, "Contract". Returns as bsrt_host_check_gemm does.
 */
bsrt_status bsrt_host_check_block_gemm(const bsrt_block_check *check, bsrt_check_result *result);

/** A product of f16 activations [m, k] and q4_K blocks [n, k], D f32 [m, n]. */
typedef struct bsrt_half_block_check {
  int64_t m, n, k;
  const uint16_t *a;
  const uint8_t *b;
  const float *d;
} bsrt_half_block_check;

/**
 * Compares D with the product in f64 of a and of weights fma(nibble, f16(d * sc),
 * -f16(dmin * min)) in f16, within (6 k / 16 + 1) 2^-23 of the sum of the terms'
 * magnitudes: docs/Q4K.md, "Contract of halves". Returns as bsrt_host_check_gemm does.
 */
bsrt_status bsrt_host_check_half_block_gemm(const bsrt_half_block_check *check,
                                            bsrt_check_result *result);

/** The product itself, term by term in f32: what every kernel computes, bit for bit. */
bsrt_status bsrt_host_block_gemm(const bsrt_block_check *check, float *d);

#ifdef __cplusplus
}
#endif

#endif /* BLOCKSCALE_RUNTIME_HOST_H */
