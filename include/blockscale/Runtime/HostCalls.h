/*===- HostCalls.h - what compiled host code calls --------------------------===
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Targets of convert-blockscale-host-to-llvm. They work on the current session
 * (Session.h), report no status, and do nothing once one of them has failed: the
 * session keeps the first message, and whoever runs the host function asks for it
 * at the end. So host code needs no error paths, and nothing unwinds through it.
 *
 *===------------------------------------------------------------------------===*/

#ifndef BLOCKSCALE_RUNTIME_HOSTCALLS_H
#define BLOCKSCALE_RUNTIME_HOSTCALLS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Device memory. Buffers are device addresses. */
uint64_t bsrt_call_alloc(int64_t bytes);
void bsrt_call_free(uint64_t buffer);
void bsrt_call_copy_to_device(const void *source, uint64_t target, int64_t bytes);
void bsrt_call_copy_to_host(uint64_t source, void *target, int64_t bytes);

/* Refuses the run unless the size is 0 to `most`, or memory has the bytes that it must have. */
void bsrt_call_check_size(const char *name, int64_t value, int64_t most);
void bsrt_call_require_bytes(const char *name, int64_t bytes, int64_t wanted);

/* A tensor map: begin, one call for each dimension from the innermost, end. The
 * result is a handle that lives as long as the session. */
void bsrt_call_map_begin(uint64_t buffer, int32_t type, int32_t swizzle, int32_t fill, int32_t l2);
void bsrt_call_map_dim(int64_t size, int64_t stride, int32_t box, int32_t element_stride);
uint64_t bsrt_call_map_end(void);

/* A launch: begin, one call for each parameter in order, launch. */
void bsrt_call_launch_begin(const char *module, const char *kernel);
void bsrt_call_param_map(uint64_t map);
void bsrt_call_param_buffer(uint64_t buffer);
void bsrt_call_param_f32(float value);
void bsrt_call_param_i32(int32_t value);
void bsrt_call_param_bytes(const void *bytes, int64_t size);
/* Before the launch, where it prefers a larger cluster than its own. */
void bsrt_call_preferred_cluster(int64_t x, int64_t y, int64_t z);
/* Before a launch that may overlap with the one ahead. */
void bsrt_call_programmatic_stream_serialization(void);
/* Before a launch whose threads are known to hold so many registers. */
void bsrt_call_registers(int32_t count);
/* A grid without a block launches nothing. */
void bsrt_call_launch(int64_t grid_x, int64_t grid_y, int64_t grid_z, int64_t block_x,
                      int64_t block_y, int64_t block_z, int64_t cluster_x, int64_t cluster_y,
                      int64_t cluster_z, int64_t shared_bytes, int32_t oversized);

/* References on host memory (Host.h). `global` may be null, and is read where it is given. */
void bsrt_call_quantize(int64_t rows, int64_t cols, int32_t element, int32_t scale, int32_t block,
                        int32_t layout, int32_t source, const void *values, uint8_t *elements,
                        uint8_t *scales, int32_t global_is_given, float *global);
void bsrt_call_dequantize(int64_t rows, int64_t cols, int32_t element, int32_t scale, int32_t block,
                          int32_t layout, const uint8_t *elements, const uint8_t *scales,
                          float global, float *values);
/* Of `batches` matrices one behind the other, each padded by itself. */
void bsrt_call_relayout_scales(int32_t scale, int64_t batches, int64_t rows, int64_t scales_per_row,
                               int32_t from_layout, const uint8_t *from, int32_t to_layout,
                               uint8_t *to);
void bsrt_call_zero_scale_tail(int64_t batches, int64_t rows, int64_t scales_per_row,
                               uint8_t *scales);
void bsrt_call_repitch(int64_t rows, int64_t row_bytes, int64_t from_pitch, const uint8_t *from,
                       int64_t to_pitch, uint8_t *to);
void bsrt_call_swap_nibbles(int64_t bytes, const uint8_t *from, uint8_t *to);
/* Keeps its outcome with the session; a wrong product is the session's error. Of `batches`
 * products, which lie one behind the other but for a shared B, the outcome is that of the worst. */
void bsrt_call_check_gemm(const char *name, int64_t m, int64_t n, int64_t k, int32_t a, int32_t b,
                          int32_t scale, int32_t block, int32_t sfa, int32_t sfb, int32_t out,
                          int32_t inst_k, float alpha, const uint8_t *a_bytes,
                          const uint8_t *a_scales, const uint8_t *b_bytes, const uint8_t *b_scales,
                          const float *bias, const void *d, int32_t mma, int32_t major_a,
                          int32_t major_b, float beta, const void *c, int32_t activation,
                          const float *alpha_rows, const float *alpha_columns, int32_t gate,
                          const uint8_t *d_scales, int32_t out_scale, int32_t out_block,
                          int32_t out_layout, float global, int64_t batches, int32_t shared_b);
/* The same of ggml's blocks: q8_1 chunks x q4_K. `source` is f32 or f16. */
void bsrt_call_quantize_chunks(int64_t rows, int64_t cols, int32_t source, const void *values,
                               uint8_t *chunks);
/* `format` is q8_1_tile or q8_1_tile_parts. */
void bsrt_call_transpose_chunks(int64_t tokens, int64_t k, int32_t format, const uint8_t *chunks,
                                uint8_t *tiles);
void bsrt_call_decode_scales(int64_t rows, int64_t k, const uint8_t *blocks, uint8_t *planes);
void bsrt_call_check_half_block_gemm(const char *name, int64_t m, int64_t n, int64_t k,
                                     const uint16_t *a, const uint8_t *b, const void *d);
void bsrt_call_check_block_gemm(const char *name, int64_t m, int64_t n, int64_t k, const uint8_t *a,
                                const uint8_t *b, const void *d);

#ifdef __cplusplus
}
#endif

#endif /* BLOCKSCALE_RUNTIME_HOSTCALLS_H */
