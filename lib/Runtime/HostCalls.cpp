//===- HostCalls.cpp - what compiled host code calls ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/HostCalls.h"

#include "HostBlocks.h"
#include "HostCallSession.h"
#include "blockscale/Facts/Format.h"
#include "blockscale/Runtime/Session.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace blockscale;
using namespace blockscale::rt;

namespace {

void keep(Session &session, bsrt_status status) {
  if (status)
    session.fail(bsrt_error_message());
}

template <typename T> void addParam(T value) {
  if (Session *session = active()) {
    std::vector<uint8_t> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    session->pendingLaunch.params.push_back(std::move(bytes));
  }
}

/// Grid, block and cluster fit 32 bits; a verifier upstream says so, but the call
/// is an interface of its own.
bool fits(Session &session, int64_t value) {
  if (value >= 1 && value <= 0x7FFFFFFF)
    return true;
  session.fail("runtime: dimensions of a launch must be 1 to 2147483647, got " +
               std::to_string(value));
  return false;
}

/// Times a launch and asks the driver about its kernel.
bool timeLaunch(Session &session, bsrt_module *module, const bsrt_launch_config &config,
                LaunchRecord &record) {
  record.times.resize(session.repeat);
  record.info.abi_version = BSRT_ABI_VERSION;
  const char *kernel = record.kernel.c_str();
  return bsrt_launch_timed(session.getDevice(), module, kernel, &config, session.warmup,
                           session.repeat, record.times.data()) == BSRT_OK &&
         bsrt_kernel_info_get(session.getDevice(), module, kernel, &config, &record.info) ==
             BSRT_OK;
}

} // namespace

uint64_t bsrt_call_alloc(int64_t bytes) {
  uint64_t address = 0;
  if (Session *session = active()) {
    if (bytes < 0)
      session->fail("runtime: bytes to allocate must not be negative, got " +
                    std::to_string(bytes));
    else
      keep(*session, bsrt_alloc(session->getDevice(), size_t(bytes), &address));
  }
  return address;
}

void bsrt_call_free(uint64_t buffer) {
  if (Session *session = active())
    keep(*session, bsrt_free(session->getDevice(), buffer));
}

void bsrt_call_copy_to_device(const void *source, uint64_t target, int64_t bytes) {
  if (Session *session = active())
    keep(*session, bsrt_write(session->getDevice(), target, source, size_t(bytes)));
}

void bsrt_call_copy_to_host(uint64_t source, void *target, int64_t bytes) {
  if (Session *session = active())
    keep(*session, bsrt_read(session->getDevice(), source, target, size_t(bytes)));
}

void bsrt_call_check_size(const char *name, int64_t value, int64_t most) {
  Session *session = active();
  if (session && (value < 0 || value > most))
    session->fail("runtime: size " + std::string(name) + " must be 0 to " + std::to_string(most) +
                  ", got " + std::to_string(value));
}

void bsrt_call_require_bytes(const char *name, int64_t bytes, int64_t wanted) {
  Session *session = active();
  if (session && bytes != wanted)
    session->fail("runtime: operand " + std::string(name) + " must have " + std::to_string(wanted) +
                  " bytes, as the rows of the result ask for, got " + std::to_string(bytes));
}

void bsrt_call_map_begin(uint64_t buffer, int32_t type, int32_t swizzle, int32_t fill, int32_t l2) {
  if (Session *session = active()) {
    session->pendingMap = {};
    bsrt_tensor_map &map = session->pendingMap.map;
    map.abi_version = BSRT_ABI_VERSION;
    map.type = uint32_t(type);
    map.address = buffer;
    map.swizzle = uint32_t(swizzle);
    map.fill = uint32_t(fill);
    map.l2 = uint32_t(l2);
  }
}

void bsrt_call_map_dim(int64_t size, int64_t stride, int32_t box, int32_t element_stride) {
  if (Session *session = active()) {
    Session::PendingMap &pending = session->pendingMap;
    if (!pending.dims.empty()) // the innermost dimension has no stride
      pending.strides.push_back(uint64_t(stride));
    pending.dims.push_back(uint64_t(size));
    pending.box.push_back(uint32_t(box));
    pending.elementStrides.push_back(uint32_t(element_stride));
  }
}

uint64_t bsrt_call_map_end(void) {
  Session *session = active();
  if (!session)
    return 0;
  Session::PendingMap &pending = session->pendingMap;
  pending.map.rank = uint32_t(pending.dims.size());
  pending.map.dims = pending.dims.data();
  pending.map.strides = pending.strides.data();
  pending.map.box = pending.box.data();
  pending.map.element_strides = pending.elementStrides.data();
  std::vector<uint8_t> bytes(BSRT_TENSOR_MAP_BYTES);
  keep(*session, bsrt_tensor_map_encode(session->getDevice(), &pending.map, bytes.data()));
  session->maps.push_back(std::move(bytes));
  return session->maps.size() - 1;
}

void bsrt_call_launch_begin(const char *module, const char *kernel) {
  if (Session *session = active())
    session->pendingLaunch = {module, kernel, {}, session->preferredCluster, false, 0};
}

void bsrt_call_preferred_cluster(int64_t x, int64_t y, int64_t z) {
  Session *session = active();
  if (!session || session->preferredCluster[0]) // chosen for all launches
    return;
  const int64_t dims[3] = {x, y, z};
  for (int i = 0; i < 3; ++i)
    if (fits(*session, dims[i]))
      session->pendingLaunch.preferredCluster[i] = uint32_t(dims[i]);
}

void bsrt_call_programmatic_stream_serialization(void) {
  if (Session *session = active())
    session->pendingLaunch.programmaticStreamSerialization = true;
}

void bsrt_call_registers(int32_t count) {
  if (Session *session = active())
    session->pendingLaunch.registers = uint32_t(count);
}

void bsrt_call_param_map(uint64_t map) {
  Session *session = active();
  if (!session)
    return;
  if (map < session->maps.size())
    session->pendingLaunch.params.push_back(session->maps[map]);
  else
    session->fail("runtime: tensor map must be one of the session's, got " + std::to_string(map));
}

void bsrt_call_param_buffer(uint64_t buffer) { addParam(buffer); }
void bsrt_call_param_f32(float value) { addParam(value); }
void bsrt_call_param_i32(int32_t value) { addParam(value); }
void bsrt_call_param_bytes(const void *bytes, int64_t size) {
  const uint8_t *from = static_cast<const uint8_t *>(bytes);
  if (Session *session = active())
    session->pendingLaunch.params.emplace_back(from, from + size);
}

void bsrt_call_launch(int64_t grid_x, int64_t grid_y, int64_t grid_z, int64_t block_x,
                      int64_t block_y, int64_t block_z, int64_t cluster_x, int64_t cluster_y,
                      int64_t cluster_z, int64_t shared_bytes, int32_t oversized) {
  Session *session = active();
  if (!session)
    return;
  if (grid_x == 0 || grid_y == 0 || grid_z == 0)
    return;
  const int64_t dims[9] = {grid_x,  grid_y,    grid_z,    block_x,  block_y,
                           block_z, cluster_x, cluster_y, cluster_z};
  bsrt_launch_config config{};
  config.abi_version = BSRT_ABI_VERSION;
  for (int i = 0; i < 3; ++i) {
    if (!fits(*session, dims[i]) || !fits(*session, dims[3 + i]) || !fits(*session, dims[6 + i]))
      return;
    config.grid[i] = uint32_t(dims[i]);
    config.block[i] = uint32_t(dims[3 + i]);
    config.cluster[i] = uint32_t(dims[6 + i]);
  }
  config.shared_bytes = uint64_t(shared_bytes);
  config.oversized_shared = oversized != 0;
  const Session::PendingLaunch &pending = session->pendingLaunch;
  std::vector<bsrt_param> params;
  for (const std::vector<uint8_t> &bytes : pending.params)
    params.push_back({bytes.data(), bytes.size()});
  std::copy_n(pending.preferredCluster.begin(), 3, config.preferred_cluster);
  config.programmatic_stream_serialization = pending.programmaticStreamSerialization;
  config.registers = pending.registers;
  config.params = params.data();
  config.param_count = uint32_t(params.size());
  bsrt_module *module = session->findModule(pending.module);
  if (!module) {
    session->fail("runtime: module '" + pending.module + "' must be loaded before it is launched");
    return;
  }
  bsrt_launch_stats stats{};
  if (!session->onlyTimes &&
      bsrt_launch(session->getDevice(), module, pending.kernel.c_str(), &config, &stats)) {
    session->fail(bsrt_error_message());
    return;
  }
  LaunchRecord record{};
  record.module = pending.module;
  record.kernel = pending.kernel;
  std::copy_n(config.grid, 3, record.grid);
  std::copy_n(config.block, 3, record.block);
  std::copy_n(config.cluster, 3, record.cluster);
  std::copy_n(config.preferred_cluster, 3, record.preferredCluster);
  record.sharedBytes = config.shared_bytes;
  record.isOversized = config.oversized_shared != 0;
  record.programmaticStreamSerialization = config.programmatic_stream_serialization != 0;
  record.registers = config.registers;
  record.seconds = stats.seconds;
  record.threadInstructions = stats.thread_instructions;
  record.mmaInstructions = stats.mma_instructions;
  record.mmaFlops = stats.mma_flops;
  record.labels = stats.labels ? stats.labels : "";
  for (const char *w = stats.warnings; w && *w; w += record.warnings.back().size() + 1)
    record.warnings.push_back(w);
  if (session->repeat && !timeLaunch(*session, module, config, record)) {
    session->fail(bsrt_error_message());
    return;
  }
  session->records.push_back(std::move(record));
}

void bsrt_call_quantize(int64_t rows, int64_t cols, int32_t element, int32_t scale, int32_t block,
                        int32_t layout, int32_t source, const void *values, uint8_t *elements,
                        uint8_t *scales, int32_t global_is_given, float *global) {
  if (rows == 0) { // no block, and the largest of nothing is 0
    if (global && !global_is_given)
      *global = 1;
    return;
  }
  if (Session *session = active()) {
    bsrt_blocks blocks{rows, cols, element, scale, block, layout};
    bsrt_global mode = global_is_given ? BSRT_GLOBAL_GIVEN : BSRT_GLOBAL_COMPUTE;
    keep(*session, bsrt_host_quantize(&blocks, source, values, elements, scales, mode, global));
  }
}

void bsrt_call_dequantize(int64_t rows, int64_t cols, int32_t element, int32_t scale, int32_t block,
                          int32_t layout, const uint8_t *elements, const uint8_t *scales,
                          float global, float *values) {
  if (Session *session = rows ? active() : nullptr) {
    bsrt_blocks blocks{rows, cols, element, scale, block, layout};
    keep(*session, bsrt_host_dequantize(&blocks, elements, scales, global, values));
  }
}

void bsrt_call_relayout_scales(int32_t scale, int64_t batches, int64_t rows, int64_t scales_per_row,
                               int32_t from_layout, const uint8_t *from, int32_t to_layout,
                               uint8_t *to) {
  int64_t fromBytes = scaleBytes(facts::ScaleLayout(from_layout), rows, scales_per_row);
  int64_t toBytes = scaleBytes(facts::ScaleLayout(to_layout), rows, scales_per_row);
  if (Session *session = active())
    for (int64_t i = 0; i < batches; ++i, from += fromBytes, to += toBytes)
      keep(*session, bsrt_host_relayout_scales(scale, rows, scales_per_row, from_layout, from,
                                               to_layout, to));
}

void bsrt_call_zero_scale_tail(int64_t batches, int64_t rows, int64_t scales_per_row,
                               uint8_t *scales) {
  int64_t bytes = scaleBytes(facts::ScaleLayout::tiled, rows, scales_per_row);
  if (Session *session = active())
    for (int64_t i = 0; i < batches; ++i, scales += bytes)
      keep(*session, bsrt_host_zero_scale_tail(rows, scales_per_row, scales));
}

void bsrt_call_repitch(int64_t rows, int64_t row_bytes, int64_t from_pitch, const uint8_t *from,
                       int64_t to_pitch, uint8_t *to) {
  if (Session *session = active())
    keep(*session, bsrt_host_repitch(rows, row_bytes, from_pitch, from, to_pitch, to));
}

void bsrt_call_swap_nibbles(int64_t bytes, const uint8_t *from, uint8_t *to) {
  if (Session *session = active())
    keep(*session, bsrt_host_swap_nibbles(bytes, from, to));
}

void bsrt_call_quantize_chunks(int64_t rows, int64_t cols, int32_t source, const void *values,
                               uint8_t *chunks) {
  if (Session *session = active())
    keep(*session, bsrt_host_quantize_chunks(rows, cols, source, values, chunks));
}

void bsrt_call_transpose_chunks(int64_t tokens, int64_t k, int32_t format, const uint8_t *chunks,
                                uint8_t *tiles) {
  if (Session *session = active())
    keep(*session, bsrt_host_transpose_chunks(tokens, k, format, chunks, tiles));
}

void bsrt_call_decode_scales(int64_t rows, int64_t k, const uint8_t *blocks, uint8_t *planes) {
  if (Session *session = active())
    keep(*session, bsrt_host_decode_scales(rows, k, blocks, planes));
}

std::vector<std::pair<std::string, void *>> blockscale::rt::getHostCalls() {
#define BLOCKSCALE_HOST_CALL(name)                                                                 \
  {                                                                                                \
    #name, reinterpret_cast<void *>(&name)                                                         \
  }
  return {BLOCKSCALE_HOST_CALL(bsrt_call_alloc),
          BLOCKSCALE_HOST_CALL(bsrt_call_free),
          BLOCKSCALE_HOST_CALL(bsrt_call_copy_to_device),
          BLOCKSCALE_HOST_CALL(bsrt_call_copy_to_host),
          BLOCKSCALE_HOST_CALL(bsrt_call_check_size),
          BLOCKSCALE_HOST_CALL(bsrt_call_require_bytes),
          BLOCKSCALE_HOST_CALL(bsrt_call_map_begin),
          BLOCKSCALE_HOST_CALL(bsrt_call_map_dim),
          BLOCKSCALE_HOST_CALL(bsrt_call_map_end),
          BLOCKSCALE_HOST_CALL(bsrt_call_launch_begin),
          BLOCKSCALE_HOST_CALL(bsrt_call_param_map),
          BLOCKSCALE_HOST_CALL(bsrt_call_param_buffer),
          BLOCKSCALE_HOST_CALL(bsrt_call_param_f32),
          BLOCKSCALE_HOST_CALL(bsrt_call_param_i32),
          BLOCKSCALE_HOST_CALL(bsrt_call_param_bytes),
          BLOCKSCALE_HOST_CALL(bsrt_call_preferred_cluster),
          BLOCKSCALE_HOST_CALL(bsrt_call_launch),
          BLOCKSCALE_HOST_CALL(bsrt_call_quantize),
          BLOCKSCALE_HOST_CALL(bsrt_call_dequantize),
          BLOCKSCALE_HOST_CALL(bsrt_call_relayout_scales),
          BLOCKSCALE_HOST_CALL(bsrt_call_zero_scale_tail),
          BLOCKSCALE_HOST_CALL(bsrt_call_repitch),
          BLOCKSCALE_HOST_CALL(bsrt_call_swap_nibbles),
          BLOCKSCALE_HOST_CALL(bsrt_call_check_gemm),
          BLOCKSCALE_HOST_CALL(bsrt_call_quantize_chunks),
          BLOCKSCALE_HOST_CALL(bsrt_call_transpose_chunks),
          BLOCKSCALE_HOST_CALL(bsrt_call_decode_scales),
          BLOCKSCALE_HOST_CALL(bsrt_call_check_block_gemm),
          BLOCKSCALE_HOST_CALL(bsrt_call_check_half_block_gemm)};
#undef BLOCKSCALE_HOST_CALL
}
