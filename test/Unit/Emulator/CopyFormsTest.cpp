//===- CopyFormsTest.cpp - every spelling of the bulk copies --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ranks, destinations, multicasts, CTA groups, hints, gathers, overrides, reductions and
// byte masks, in the orders that other compilers write. The tensor is plain: 32 bytes in
// dimension 0 and 2 in each other one, without gaps, and the box is all of it, so that
// what is copied is a run of bytes.
//
//===----------------------------------------------------------------------===//

#include "TmaScene.h"

using namespace blockscale;
using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

constexpr uint32_t kDump = 1024, kTensorBytes = 1024; // the dump of each CTA; the tensor
constexpr uint8_t kUntouched = 0x11;

uint8_t sourceByte(uint32_t at) { return uint8_t(at * 7 + (at >> 8) * 3 + 5); }

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}
unsigned rankOf(const std::string &form) {
  for (unsigned r = 1; r <= 5; ++r)
    if (has(form, "." + std::to_string(r) + "d."))
      return r;
  return 0;
}

/// A map of `rank` dimensions; rows for gathers and scatters.
facts::TensorMap plainMap(unsigned rank, bool rows, uint64_t address, TmaType type = TmaType::u8) {
  facts::TensorMap m;
  const unsigned bytes = type == TmaType::u8 ? 1 : 4;
  m.type = type;
  m.address = address;
  for (unsigned d = 0; d < rank; ++d) {
    m.dims.push_back(d ? (rows ? 16 : 2) : 32 / bytes);
    m.box.push_back(d ? (rows ? 1 : 2) : 32 / bytes);
    if (d)
      m.strides.push_back(uint64_t(32) << (d - 1));
  }
  return m;
}

std::string zeros(unsigned n) {
  std::string s = "{0";
  for (unsigned i = 1; i < n; ++i)
    s += ", 0";
  return s + "}";
}

/// Runs `issue` in thread 0 of CTA 0 of a cluster of two: %r0 is the buffer, whose bytes from
/// 512 on are sourceByte, %r1 the barrier, %r4 and %r5 those of CTA 1, %in the map, %rd9 the
/// tensor and %rd8 a policy. CTAs with bytes in `expected` wait for them.
struct CopyRun {
  std::string error;
  std::vector<uint8_t> buffer[2], tensor;
};
CopyRun runForm(const std::string &issue, const facts::TensorMap *map, const uint64_t (&expects)[2],
                const Options &o) {
  Scene s;
  s.options = o;
  s.grid = s.cluster = {2, 1, 1};
  s.outWords = (2 * kDump + kTensorBytes) / 4;
  if (has(issue, "override")) // 128 KiB behind the address must be there
    s.outWords += (128 * 1024) / 4;
  s.in.assign(64, 0);
  s.fill = [&](uint64_t, uint64_t out, std::vector<uint32_t> &words) {
    if (!map)
      return;
    facts::TensorMap m = *map;
    m.address = out + 2 * kDump;
    auto bytes = encodeTensorMap(facts::Arch::sm_107a, m);
    ASSERT_TRUE(bool(bytes)) << bytes.message();
    std::memcpy(words.data(), bytes->data(), 128);
  };
  s.outFill = [](uint8_t *out) {
    for (uint32_t i = 0; i < kTensorBytes; ++i)
      out[2 * kDump + i] = tensorByte(i);
  };
  std::string wait;
  for (int cta : {0, 1})
    if (expects[cta])
      wait += "setp.ne.u32 %p2, %r30, " + std::to_string(cta) + "; @%p2 bra N" +
              std::to_string(cta) + "; W" + std::to_string(cta) +
              ": mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r1], 0; @!%p3 bra "
              "W" +
              std::to_string(cta) + "; N" + std::to_string(cta) + ": bar.warp.sync -1;\n";
  std::string arm;
  for (int cta : {0, 1})
    if (expects[cta])
      arm += "setp.eq.and.u32 %p2, %r30, " + std::to_string(cta) +
             ", %p0; @%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], " +
             std::to_string(expects[cta]) + ";\n";
  std::string body =
      "mov.u32 %r30, %cluster_ctarank; mov.u32 %r0, buf; mov.u32 %r1, bar; setp.eq.u32 %p0, %t, "
      "0;\n"
      "setp.eq.and.u32 %p1, %r30, 0, %p0; mapa.shared::cluster.u32 %r4, %r0, 1; "
      "mapa.shared::cluster.u32 %r5, %r1, 1;\n"
      "createpolicy.fractional.L2::evict_last.b64 %rd8, 1.0; mov.u16 %h1, 3; mov.u32 %r7, 3;\n"
      "add.u64 %rd9, %out, 2048; mov.u32 %r2, %t;\n"
      "I: add.u32 %r3, %r0, %r2; mad.lo.u32 %r6, %r2, 7, 5; shr.u32 %r8, %r2, 8; mad.lo.u32 %r6, "
      "%r8, 3, %r6; setp.lt.u32 %p2, %r2, 512; selp.u32 %r6, 17, %r6, %p2; st.shared.u8 [%r3], "
      "%r6; add.u32 %r2, %r2, 32; setp.lt.u32 %p2, %r2, 1024; @%p2 bra I;\n"
      "@%p0 mbarrier.init.shared::cta.b64 [%r1], 1; fence.mbarrier_init.release.cluster; "
      "fence.proxy.async; bar.sync 0;\n" +
      arm +
      "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
      "@!%p1 bra S;\n" +
      issue + "\nS: bar.warp.sync -1;\n" + wait +
      "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
      "shl.b32 %r2, %t, 2; mad.lo.u32 %r9, %r30, 1024, %r2; cvt.u64.u32 %rd1, %r9; add.u64 %rd1, "
      "%rd1, %out;\n"
      "D: add.u32 %r3, %r0, %r2; ld.shared.u32 %r6, [%r3]; st.global.u32 [%rd1], %r6; add.u64 "
      "%rd1, %rd1, 128; add.u32 %r2, %r2, 128; setp.lt.u32 %p2, %r2, 1024; @%p2 bra D;";
  Ran r = run(kernel(body, "sm_107a", kTmaVars), s);
  CopyRun out;
  out.error = r.error;
  if (!r.error.empty())
    return out;
  const uint8_t *p = reinterpret_cast<const uint8_t *>(r.out.data());
  for (int cta : {0, 1})
    out.buffer[cta].assign(p + cta * kDump, p + (cta + 1) * kDump);
  out.tensor.assign(p + 2 * kDump, p + 2 * kDump + kTensorBytes);
  return out;
}

std::vector<uint8_t> bufferBefore() {
  std::vector<uint8_t> out(kDump, kUntouched);
  for (uint32_t i = 512; i < kDump; ++i)
    out[i] = sourceByte(i);
  return out;
}
std::vector<uint8_t> tensorBefore() {
  std::vector<uint8_t> out(kTensorBytes);
  for (uint32_t i = 0; i < kTensorBytes; ++i)
    out[i] = tensorByte(i);
  return out;
}

class CopyForm : public ::testing::TestWithParam<std::string> {};

std::string maskOf(const std::string &form) {
  return !has(form, "multicast") ? "" : has(form, "::32b") ? ", %r7" : ", %h1";
}
std::string policyOf(const std::string &form) { return has(form, "cache_hint") ? ", %rd8" : ""; }

//===----------------------------------------------------------------------===//
// Loads through maps
//===----------------------------------------------------------------------===//

class TensorLoadForm : public CopyForm {};

TEST_P(TensorLoadForm, BringsTheBox) {
  const std::string &form = GetParam();
  const unsigned rank = rankOf(form);
  const bool gather = has(form, "gather4"), moved = has(form, "override::global_address"),
             reshaped = has(form, "override::global_dim_stride");
  facts::TensorMap map = plainMap(rank, gather, 0);
  // An override of the address starts 128 bytes further; one of the shape says the same again.
  std::string place = "[%in, ";
  if (moved)
    place += "%rd7, ";
  if (reshaped) {
    std::string sizes = "{%h4", strides;
    for (unsigned d = 1; d < rank; ++d) {
      sizes += ", %h5";
      strides += (d > 1 ? ", " : "") + std::to_string((32u << (d - 1)) >> 4);
    }
    place += sizes + "}, {" + strides + "}, 0, ";
  }
  place += gather ? "{0, 3, 1, 3, 0}]" : zeros(rank) + "]";
  const uint32_t bytes = gather ? 128 : 32u << (rank - 1), from = moved ? 128 : 0;
  std::string issue = "add.u64 %rd7, %rd9, 128; mov.u16 %h4, 32; mov.u16 %h5, 2; " + form +
                      " [%r0], " + place + ", [%r1]" + maskOf(form) + policyOf(form) + ";";
  std::vector<uint8_t> filled = bufferBefore();
  const uint32_t rows[] = {3, 1, 3, 0};
  for (uint32_t i = 0; i < bytes; ++i)
    filled[i] = tensorByte(from + (gather ? rows[i / 32] * 32 + i % 32 : i));
  const bool both = has(form, "multicast");
  // In a pair both halves signal the even CTA.
  uint64_t expects[2] = {both && has(form, "cta_group::2") ? 2 * bytes : bytes,
                         both && !has(form, "cta_group::2") ? bytes : 0};
  for (const Options &o : allTimings()) {
    CopyRun r = runForm(issue, &map, expects, o);
    ASSERT_EQ(r.error, "");
    expectSame(r.buffer[0], filled);
    expectSame(r.buffer[1], both ? filled : bufferBefore());
  }
}

std::vector<std::string> tensorLoads() {
  std::vector<std::string> out;
  const std::string head = "cp.async.bulk.tensor.", done = "mbarrier::complete_tx::bytes";
  for (unsigned rank = 1; rank <= 5; ++rank) {
    const std::string r = head + std::to_string(rank) + "d";
    for (const char *to : {".shared::cluster", ".shared::cta"})
      for (const char *tile : {"", ".tile"})
        for (const char *rest : {"", ".cta_group::1", ".cta_group::2", ".L2::cache_hint",
                                 ".L2::cache_hint.cta_group::2"})
          out.push_back(r + to + ".global" + tile + "." + done + rest);
    for (const char *rest :
         {".multicast::cluster", ".multicast::cluster::16b", ".multicast::cluster::32b",
          ".multicast::cluster.cta_group::2", ".multicast::cluster.L2::cache_hint",
          ".multicast::cluster.L2::cache_hint.cta_group::2"})
      for (const char *tile : {"", ".tile"})
        out.push_back(r + ".shared::cluster.global" + tile + "." + done + rest);
    // As other compilers order them.
    for (const char *rest :
         {"", ".L2::cache_hint", ".multicast::cluster", ".multicast::cluster.L2::cache_hint"})
      out.push_back(r + ".cta_group::2.shared::cluster.global." + done + rest);
    for (const char *to : {".shared::cluster", ".shared::cta"}) {
      const std::string moved = r + to + ".global.tile." + done;
      out.push_back(moved + ".override::global_address");
      out.push_back(r + to + ".global." + done + ".override::global_address.L2::cache_hint");
      if (rank > 1)
        out.push_back(moved + ".override::global_address.override::global_dim_stride");
    }
    for (const char *rest :
         {".multicast::cluster", ".multicast::cluster::16b", ".multicast::cluster::32b",
          ".cta_group::1", ".multicast::cluster.cta_group::2"})
      out.push_back(r + ".shared::cluster.global.tile." + done + rest +
                    ".override::global_address");
  }
  for (const char *to : {".shared::cluster", ".shared::cta"})
    for (const char *rest :
         {"", ".cta_group::1", ".cta_group::2", ".L2::cache_hint", ".override::global_address"})
      out.push_back(head + "2d" + to + ".global.tile::gather4." + done + rest);
  for (const char *rest : {".multicast::cluster", ".multicast::cluster::16b",
                           ".multicast::cluster::32b", ".multicast::cluster.cta_group::2"})
    out.push_back(head + "2d.shared::cluster.global.tile::gather4." + done + rest);
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, TensorLoadForm, ::testing::ValuesIn(tensorLoads()));

TEST(TensorLoads, SignalTheCtaOfTheirDestination) {
  const facts::TensorMap map = plainMap(2, false, 0);
  auto error = [&](const std::string &group, const char *dst, const char *mbar) {
    return runForm("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::"
                   "bytes" +
                       group + " [" + dst + "], [%in, {0, 0}], [" + mbar + "];",
                   &map, {0, 0}, unchecked())
        .error;
  };
  EXPECT_NE(error("", "%r4", "%r1")
                .find("tma_mbarrier: mbarrier must lie in the CTA of the "
                      "destination, got CTA rank 0 for 1"),
            std::string::npos);
  EXPECT_EQ(error("", "%r4", "%r5").find("tma_mbarrier"), std::string::npos);
  EXPECT_EQ(error(".cta_group::2", "%r0", "%r5").find("tma_mbarrier"), std::string::npos);
}

//===----------------------------------------------------------------------===//
// Plain copies into shared memory
//===----------------------------------------------------------------------===//

class BulkLoadForm : public CopyForm {};

TEST_P(BulkLoadForm, BringsTheBytes) {
  const std::string &form = GetParam();
  const bool between = !has(form, ".global"), both = has(form, "multicast");
  std::string issue =
      between ? "add.u32 %r10, %r0, 512; " + form + " [%r4], [%r10], 256, [%r5];"
              : form + " [%r0], [%rd9], 256, [%r1]" + maskOf(form) + policyOf(form) + ";";
  std::vector<uint8_t> filled = bufferBefore();
  for (uint32_t i = 0; i < 256; ++i)
    filled[i] = between ? sourceByte(512 + i) : tensorByte(i);
  uint64_t expects[2] = {between ? 0u : 256u, between || both ? 256u : 0u};
  for (const Options &o : allTimings()) {
    CopyRun r = runForm(issue, nullptr, expects, o);
    ASSERT_EQ(r.error, "");
    expectSame(r.buffer[0], between ? bufferBefore() : filled);
    expectSame(r.buffer[1], between || both ? filled : bufferBefore());
  }
}

const std::string kBulk = "cp.async.bulk.", kDone = ".mbarrier::complete_tx::bytes";
INSTANTIATE_TEST_SUITE_P(
    All, BulkLoadForm,
    ::testing::Values(kBulk + "shared::cluster.global" + kDone,
                      kBulk + "shared::cluster.global" + kDone + ".L2::cache_hint",
                      kBulk + "shared::cluster.global" + kDone + ".multicast::cluster",
                      kBulk + "shared::cluster.global" + kDone + ".multicast::cluster::16b",
                      kBulk + "shared::cluster.global" + kDone + ".multicast::cluster::32b",
                      kBulk + "shared::cta.global" + kDone,
                      kBulk + "shared::cta.global" + kDone + ".L2::cache_hint",
                      kBulk + "shared::cluster.shared::cta" + kDone));

//===----------------------------------------------------------------------===//
// Stores and reductions
//===----------------------------------------------------------------------===//

class StoreForm : public CopyForm {};

TEST_P(StoreForm, LeavesTheBytes) {
  const std::string &form = GetParam();
  const unsigned rank = rankOf(form);
  const bool scatter = has(form, "scatter4"), moved = has(form, "override::global_address"),
             reshaped = has(form, "override::global_dim_stride"), adds = has(form, "reduce"),
             masked = has(form, "cp_mask");
  facts::TensorMap map = plainMap(rank ? rank : 1, scatter, 0, adds ? TmaType::u32 : TmaType::u8);
  const uint32_t bytes = !rank ? 256 : scatter ? 128 : 32u << (rank - 1), to = moved ? 128 : 0;
  std::string target;
  if (rank) {
    target = "[%in, ";
    if (moved)
      target += "%rd7, ";
    if (reshaped) {
      std::string sizes = "{%h4", strides;
      for (unsigned d = 1; d < rank; ++d) {
        sizes += ", %h5";
        strides += (d > 1 ? ", " : "") + std::to_string((32u << (d - 1)) >> 4);
      }
      target += sizes + "}, {" + strides + "}, 0, ";
    }
    target += scatter ? "{0, 9, 2, 5, 0}], [%r10]" : zeros(rank) + "], [%r10]";
  } else {
    target = "[%rd9], [%r10], 256";
  }
  std::string issue =
      "add.u32 %r10, %r0, 512; add.u64 %rd7, %rd9, 128; mov.u16 %h4, 32; mov.u16 %h5, 2; mov.u16 "
      "%h6, 0x0F05; " +
      form + " " + target + policyOf(form) + (masked ? ", %h6" : "") +
      "; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;";
  std::vector<uint8_t> expected = tensorBefore();
  const uint32_t rows[] = {9, 2, 5, 0};
  for (uint32_t i = 0; i < bytes; ++i) {
    if (masked && !(0x0F05 >> i % 16 & 1))
      continue;
    expected[to + (scatter ? rows[i / 32] * 32 + i % 32 : i)] = sourceByte(512 + i);
  }
  if (adds)
    for (uint32_t i = 0; i < bytes; i += 4) {
      uint32_t sum = 0, other = 0;
      for (uint32_t b = 0; b < 4; ++b) {
        sum |= uint32_t(tensorByte(i + b)) << 8 * b;
        other |= uint32_t(sourceByte(512 + i + b)) << 8 * b;
      }
      sum += other;
      std::memcpy(&expected[i], &sum, 4);
    }
  for (const Options &o : allTimings()) {
    CopyRun r = runForm(issue, rank ? &map : nullptr, {0, 0}, o);
    ASSERT_EQ(r.error, "");
    expectSame(r.tensor, expected);
  }
}

std::vector<std::string> stores() {
  std::vector<std::string> out;
  for (unsigned rank = 1; rank <= 5; ++rank) {
    const std::string r = std::to_string(rank) + "d.global.shared::cta";
    for (const char *tile : {"", ".tile"})
      for (const char *hint : {"", ".L2::cache_hint"}) {
        out.push_back("cp.async.bulk.tensor." + r + tile + ".bulk_group" + hint);
        out.push_back("cp.reduce.async.bulk.tensor." + r + ".add" + tile + ".bulk_group" + hint);
        out.push_back("cp.async.bulk.tensor." + r + tile + ".bulk_group.override::global_address" +
                      hint);
      }
    if (rank > 1)
      out.push_back("cp.async.bulk.tensor." + r +
                    ".tile.bulk_group.override::global_address.override::global_dim_stride");
  }
  for (const char *rest : {"", ".L2::cache_hint"})
    out.push_back(
        std::string("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group") + rest);
  for (const char *rest : {"", ".L2::cache_hint", ".cp_mask", ".L2::cache_hint.cp_mask"})
    out.push_back(std::string("cp.async.bulk.global.shared::cta.bulk_group") + rest);
  out.push_back("cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.add.u32");
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, StoreForm, ::testing::ValuesIn(stores()));

TEST(StoreForm, ScatterWithAnotherAddress) {
  facts::TensorMap map = plainMap(2, /*rows=*/true, 0);
  std::vector<uint8_t> expected = tensorBefore();
  const uint32_t rows[] = {9, 2, 5, 0};
  for (uint32_t i = 0; i < 128; ++i)
    expected[128 + rows[i / 32] * 32 + i % 32] = sourceByte(512 + i);
  CopyRun r = runForm("add.u32 %r10, %r0, 512; add.u64 %rd7, %rd9, 128; "
                      "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group."
                      "override::global_address [%in, %rd7, {0, 9, 2, 5, 0}], [%r10]; "
                      "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
                      &map, {0, 0}, unchecked());
  ASSERT_EQ(r.error, "");
  expectSame(r.tensor, expected);
}

struct Reduction {
  const char *form; // op and type
  unsigned bytes;
  uint64_t was, with, result;
};
void PrintTo(const Reduction &r, std::ostream *out) { *out << r.form; }
const Reduction kReductions[] = {
    {"add.u32", 4, 0xFFFFFFFF, 2, 1},
    {"add.s32", 4, 0x7FFFFFFF, 1, 0x80000000},
    {"add.u64", 8, 0xFFFFFFFF, 1, 0x100000000},
    {"min.s32", 4, 1, 0x80000000, 0x80000000},
    {"min.u32", 4, 0x80000000, 1, 1},
    {"max.s64", 8, ~0ull, 1, 1},
    {"max.u64", 8, 1, ~0ull, ~0ull},
    {"inc.u32", 4, 7, 7, 0},
    {"dec.u32", 4, 0, 9, 9},
    {"and.b32", 4, 0xF0F0, 0xFF00, 0xF000},
    {"or.b64", 8, 0xF0F0, 0xFF0000000000, 0xFF000000F0F0},
    {"xor.b32", 4, 0xFF, 0x0F, 0xF0},
    {"add.f32", 4, 0x3F800000, 0x40000000, 0x40400000},                         // 1 + 2
    {"add.f64", 8, 0x3FF0000000000000, 0x4000000000000000, 0x4008000000000000}, // 1 + 2
    {"add.noftz.f16", 2, 0x3C00, 0x4400, 0x4500},                               // 1 + 4
    {"add.noftz.bf16", 2, 0x3F80, 0x4080, 0x40A0},                              // 1 + 4
    {"min.f16", 2, 0x3C00, 0xBC00, 0xBC00},
    {"max.bf16", 2, 0xBF80, 0x3F80, 0x3F80},
    {"L2::cache_hint.add.noftz.f16", 2, 0x3C00, 0x4400, 0x4500},
    {"L2::cache_hint.min.u32", 4, 0x80000000, 1, 1},
    {"L2::cache_hint.inc.u32", 4, 7, 7, 0},
    {"L2::cache_hint.xor.b32", 4, 0xFF, 0x0F, 0xF0},
};
class BulkReduction : public ::testing::TestWithParam<Reduction> {};

TEST_P(BulkReduction, OfEachElement) {
  const Reduction &c = GetParam();
  Scene s;
  s.outWords = 32;
  s.in.assign(32, 0);
  for (unsigned at = 0; at < 128; at += c.bytes)
    std::memcpy(reinterpret_cast<uint8_t *>(s.in.data()) + at, &c.with, c.bytes);
  s.outFill = [&](uint8_t *out) {
    for (unsigned at = 0; at < 128; at += c.bytes)
      std::memcpy(out + at, &c.was, c.bytes);
  };
  Ran r = run(kernel("mov.u32 %r0, buf; shl.b32 %r1, %t, 2; add.u32 %r1, %r1, %r0; ld.global.u32 "
                     "%r2, [%pi]; st.shared.u32 [%r1], %r2; fence.proxy.async; bar.sync 0; "
                     "setp.eq.u32 %p0, %t, 0; @%p0 cp.reduce.async.bulk.global.shared::cta."
                     "bulk_group." +
                         std::string(c.form) + " [%out], [%r0], 64" +
                         (std::string_view(c.form).starts_with("L2") ? ", 0; " : "; ") + kWaitStore,
                     "sm_107a", kTmaVars),
              s);
  ASSERT_EQ(r.error, "");
  for (unsigned at = 0; at < 128; at += c.bytes) {
    uint64_t got = 0;
    std::memcpy(&got, reinterpret_cast<const uint8_t *>(r.out.data()) + at, c.bytes);
    EXPECT_EQ(got, at < 64 ? c.result : c.was) << "byte " << at;
  }
}
INSTANTIATE_TEST_SUITE_P(All, BulkReduction, ::testing::ValuesIn(kReductions));

/// The same into the other CTA's shared memory: words of 0x11 with those of the source.
TEST(ClusterReduction, OfEachElement) {
  struct {
    const char *form;
    unsigned bytes;
    uint64_t (*apply)(uint64_t, uint64_t);
  } const kForms[] = {
      {"add.u32", 4, [](uint64_t a, uint64_t b) { return a + b; }},
      {"add.s32", 4, [](uint64_t a, uint64_t b) { return a + b; }},
      {"add.u64", 8, [](uint64_t a, uint64_t b) { return a + b; }},
      {"min.u32", 4, [](uint64_t a, uint64_t b) { return std::min(a, b); }},
      {"max.u32", 4, [](uint64_t a, uint64_t b) { return std::max(a, b); }},
      {"min.s32", 4,
       [](uint64_t a, uint64_t b) { return uint64_t(std::min(int32_t(a), int32_t(b))); }},
      {"max.s32", 4,
       [](uint64_t a, uint64_t b) { return uint64_t(std::max(int32_t(a), int32_t(b))); }},
      {"inc.u32", 4, [](uint64_t a, uint64_t b) { return a >= b ? 0 : a + 1; }},
      {"dec.u32", 4, [](uint64_t a, uint64_t b) { return a == 0 || a > b ? b : a - 1; }},
      {"and.b32", 4, [](uint64_t a, uint64_t b) { return a & b; }},
      {"or.b32", 4, [](uint64_t a, uint64_t b) { return a | b; }},
      {"xor.b32", 4, [](uint64_t a, uint64_t b) { return a ^ b; }}};
  for (const auto &c : kForms) {
    std::vector<uint8_t> expected = bufferBefore();
    for (unsigned at = 0; at < 256; at += c.bytes) {
      uint64_t was = 0, with = 0;
      for (unsigned b = 0; b < c.bytes; ++b) {
        was |= uint64_t(kUntouched) << 8 * b;
        with |= uint64_t(sourceByte(512 + at + b)) << 8 * b;
      }
      const uint64_t result = c.apply(was, with);
      std::memcpy(&expected[at], &result, c.bytes);
    }
    for (const Options &o : allTimings()) {
      CopyRun r = runForm("add.u32 %r10, %r0, 512; cp.reduce.async.bulk.shared::cluster."
                          "shared::cta.mbarrier::complete_tx::bytes." +
                              std::string(c.form) + " [%r4], [%r10], 256, [%r5];",
                          nullptr, {0, 256}, o);
      ASSERT_EQ(r.error, "") << c.form;
      expectSame(r.buffer[0], bufferBefore());
      expectSame(r.buffer[1], expected);
    }
  }
}

//===----------------------------------------------------------------------===//
// cp.async, and copies that only fill a cache
//===----------------------------------------------------------------------===//

class CopyAsyncForm : public CopyForm {};

TEST_P(CopyAsyncForm, BringsTheBytes) {
  const std::string &form = GetParam();
  Scene s;
  s.in.assign(128, 0);
  for (uint32_t i = 0; i < 128; ++i)
    s.in[i] = 0x01010101 * i + 3;
  s.outWords = 128;
  Ran r =
      run(kernel("createpolicy.fractional.L2::evict_last.b64 %rd8, 1.0; mov.u32 %r0, buf; "
                 "shl.b32 %r1, %t, 4; add.u32 %r1, %r1, %r0; mad.wide.u32 %rd1, %t, 16, %in;\n" +
                     form + " [%r1], [%rd1], 16" + policyOf(form) +
                     "; cp.async.commit_group; cp.async.wait_group 0;\n"
                     "ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r1]; mad.wide.u32 %rd2, %t, 16, "
                     "%out; st.global.v4.u32 [%rd2], {%r4, %r5, %r6, %r7};",
                 "sm_107a", kTmaVars),
          s);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out, s.in);
}

std::vector<std::string> copies() {
  std::vector<std::string> out;
  for (const char *cache : {"ca", "cg"})
    for (const char *to : {".shared", ".shared::cta"})
      for (const char *rest : {"", ".L2::64B", ".L2::128B", ".L2::256B", ".L2::cache_hint"})
        out.push_back(std::string("cp.async.") + cache + to + ".global" + rest);
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, CopyAsyncForm, ::testing::ValuesIn(copies()));

TEST(Hints, OfCachesDoNothing) {
  facts::TensorMap map = plainMap(4, false, 0);
  CopyRun r = runForm("cp.async.bulk.prefetch.tensor.4d.L2.global [%in, {0, 0, 0, 0}]; "
                      "cp.async.bulk.prefetch.L2.global [%rd9], 64; prefetch.tensormap [%in]; "
                      "prefetch.global.L2 [%rd9]; applypriority.global.L2::evict_normal [%rd9], "
                      "128;",
                      &map, {0, 0}, {});
  ASSERT_EQ(r.error, "");
  expectSame(r.tensor, tensorBefore());
  map = plainMap(3, false, 0);
  EXPECT_EQ(
      runForm("cp.async.bulk.prefetch.tensor.3d.L2.global [%in, {0, 0, 0}];", &map, {0, 0}, {})
          .error,
      "");
  EXPECT_EQ(run(kernel("setmaxnreg.inc.sync.aligned.u32 64; setmaxnreg.dec.sync.aligned.u32 32; "
                       "nanosleep.u32 20; fence.proxy.alias; membar.proxy.alias;",
                       "sm_107a"))
                .error,
            "");
}

} // namespace
