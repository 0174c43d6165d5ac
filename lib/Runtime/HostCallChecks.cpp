//===- HostCallChecks.cpp - products that compiled host code checks -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostBlocks.h"
#include "HostCallSession.h"

#include "blockscale/Facts/Activation.h"
#include "blockscale/Facts/Format.h"
#include "blockscale/Runtime/HostCalls.h"

#include <algorithm>
#include <cstdio>

using namespace blockscale;
using namespace blockscale::rt;

namespace {

std::string describeWrong(const std::string &name, const bsrt_check_result &result) {
  char text[256];
  std::snprintf(text, sizeof text,
                "check: %s must match its reference in f64, got %lld wrong; worst at [%lld, %lld]: "
                "%.9g instead of %.9g, error %.3g, bound %.3g",
                name.c_str(), (long long)result.wrong, (long long)result.row, (long long)result.col,
                result.value, result.reference, result.error, result.bound);
  return text;
}

/// Adds what the check of another product of a batch found: the worse of the two, and all counts.
void addBatch(CheckRecord &record, const bsrt_check_result &other) {
  bsrt_check_result &all = record.result, last = all;
  if (other.error * last.bound > last.error * other.bound)
    all = other;
  all.largest_error = std::max(last.largest_error, other.largest_error);
  all.wrong = last.wrong + other.wrong;
  all.nans = last.nans + other.nans;
}

/// From one product of a batch to the next, which bsrt_host_check_gemm has found legal.
void moveToNext(bsrt_check &check, bool sharesB) {
  auto bytes = [](int32_t format, int64_t count) {
    return facts::packedBytes(facts::Format(format), count);
  };
  auto scales = [&](int32_t layout, int64_t rows) {
    return scaleBytes(facts::ScaleLayout(layout), rows, check.k / check.block);
  };
  check.a_bytes += bytes(check.a, check.m * check.k);
  check.a_scales += scales(check.sfa, check.m);
  if (!sharesB) {
    check.b_bytes += bytes(check.b, check.n * check.k);
    check.b_scales += scales(check.sfb, check.n);
  }
  int64_t columns =
      facts::Activation(check.gate) == facts::Activation::none ? check.n : check.n / 2;
  int64_t outBytes = bytes(check.out, check.m * columns);
  check.d = static_cast<const uint8_t *>(check.d) + outBytes;
  if (check.c)
    check.c = static_cast<const uint8_t *>(check.c) + outBytes;
}

} // namespace

void bsrt_call_check_gemm(const char *name, int64_t m, int64_t n, int64_t k, int32_t a, int32_t b,
                          int32_t scale, int32_t block, int32_t sfa, int32_t sfb, int32_t out,
                          int32_t inst_k, float alpha, const uint8_t *a_bytes,
                          const uint8_t *a_scales, const uint8_t *b_bytes, const uint8_t *b_scales,
                          const float *bias, const void *d, int32_t mma, int32_t major_a,
                          int32_t major_b, float beta, const void *c, int32_t activation,
                          const float *alpha_rows, const float *alpha_columns, int32_t gate,
                          const uint8_t *d_scales, int32_t out_scale, int32_t out_block,
                          int32_t out_layout, float global, int64_t batches, int32_t shared_b) {
  Session *session = active();
  if (!session)
    return;
  bsrt_check check{m,          n,
                   k,          a,
                   b,          scale,
                   block,      sfa,
                   sfb,        out,
                   inst_k,     alpha,
                   a_bytes,    a_scales,
                   b_bytes,    b_scales,
                   bias,       d,
                   mma,        major_a,
                   major_b,    beta,
                   c,          activation,
                   alpha_rows, alpha_columns,
                   gate,       d_scales,
                   out_scale,  out_block,
                   out_layout, global};
  CheckRecord record{name, {}};
  if (m == 0) // no launch either
    return;
  for (int64_t batch = 0; batch < batches; ++batch) {
    bsrt_check_result result;
    if (bsrt_host_check_gemm(&check, &result)) {
      session->fail(bsrt_error_message());
      return;
    }
    std::string one = batches == 1 ? record.name : record.name + "[" + std::to_string(batch) + "]";
    if (result.wrong)
      session->fail(describeWrong(one, result));
    if (batch == 0)
      record.result = result;
    else
      addBatch(record, result);
    moveToNext(check, shared_b);
  }
  if (!session->records.empty())
    session->records.back().check = std::move(record);
}

/// What a check of the last launch has found.
template <typename Check>
static void keepCheck(const char *name, const Check &check,
                      bsrt_status (*compare)(const Check *, bsrt_check_result *)) {
  Session *session = active();
  if (!session)
    return;
  CheckRecord record{name, {}};
  if (compare(&check, &record.result)) {
    session->fail(bsrt_error_message());
    return;
  }
  if (record.result.wrong)
    session->fail(describeWrong(record.name, record.result));
  if (!session->records.empty())
    session->records.back().check = std::move(record);
}

void bsrt_call_check_block_gemm(const char *name, int64_t m, int64_t n, int64_t k, const uint8_t *a,
                                const uint8_t *b, const void *d) {
  bsrt_block_check check{m, n, k, a, b, static_cast<const float *>(d)};
  keepCheck(name, check, bsrt_host_check_block_gemm);
}

void bsrt_call_check_half_block_gemm(const char *name, int64_t m, int64_t n, int64_t k,
                                     const uint16_t *a, const uint8_t *b, const void *d) {
  bsrt_half_block_check check{m, n, k, a, b, static_cast<const float *>(d)};
  keepCheck(name, check, bsrt_host_check_half_block_gemm);
}
