//===- TmaTest.cpp - boxes of tensor maps, in both directions -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each copy is compared byte for byte with a walk over the box that stands here: one
// element after another, with the swizzle as the manual's text has it. What a copy
// must leave alone is compared too.
//
//===----------------------------------------------------------------------===//

#include "TmaScene.h"

using namespace blockscale;
using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

class TmaBoxes : public ::testing::TestWithParam<BoxCase> {};

TEST_P(TmaBoxes, Load) {
  const BoxCase &c = GetParam();
  std::vector<uint8_t> expected(kBuffer, kOld);
  uint64_t count = 0;
  walk(c, [&](int64_t from, uint32_t to) {
    for (unsigned b = 0; b < c.bytes; ++b, ++count)
      expected[swizzled(swizzled(to, c.swizzle) + b, c.swizzle)] =
          from >= 0       ? tensorByte(uint64_t(from) + b)
          : c.nan.empty() ? 0
                          : c.nan[b];
  });
  for (const Options &o : allTimings()) {
    Images r = runCopy(
        expect(count) + "add.u32 %r5, %r0, " + std::to_string(c.offset) + ";" +
            loadForm(c.dims.size()) + "[%r5], [%in, " + coordinates(c.start) + "], [%r1];\n" +
            kWait,
        [&](uint64_t a) { return mapOf(c, a); }, old, "sm_100a", o);
    ASSERT_EQ(r.error, "");
    expectSame(r.buffer, expected);
  }
}

const BoxCase kLoads[] = {
    {"OneDim", TmaType::u8, 1, {300}, {}, {64}, {}, {272}},
    {"OneDimF64",
     TmaType::f64,
     8,
     {20},
     {},
     {16},
     {},
     {8},
     TmaSwizzle::b128,
     128,
     {0xF7, 0x7F, 0xF7, 0x7F, 0xF7, 0x7F, 0xF7, 0x7F}},
    {"NegativeStart", TmaType::u16, 2, {40, 6}, {96}, {32, 8}, {}, {-8, -3}, TmaSwizzle::b64, 256},
    {"NanFill",
     TmaType::bf16,
     2,
     {20, 3},
     {64},
     {32, 4},
     {},
     {8, 1},
     TmaSwizzle::none,
     0,
     {0xF7, 0x7F}},
    {"NanFillF32",
     TmaType::f32,
     4,
     {5, 3},
     {32},
     {8, 4},
     {},
     {0, 0},
     TmaSwizzle::b32,
     0,
     {0xF7, 0x7F, 0xF7, 0x7F}},
    {"ThreeDimStrides",
     TmaType::u8,
     1,
     {60, 9, 7},
     {64, 640},
     {32, 8, 6},
     {5, 3, 2},
     {16, 1, 0},
     TmaSwizzle::b128,
     384},
    {"FourDim",
     TmaType::u32,
     4,
     {12, 5, 4, 3},
     {48, 256, 1024},
     {8, 3, 2, 3},
     {1, 1, 2, 1},
     {4, 1, 1, -1},
     TmaSwizzle::b32},
    {"FiveDim",
     TmaType::u16,
     2,
     {16, 3, 2, 3, 4},
     {32, 112, 256, 768},
     {8, 2, 2, 2, 3},
     {1, 2, 1, 1, 2},
     {8, 1, 0, 1, 1}},
    {"StrideZero", TmaType::u8, 1, {32, 4}, {0}, {32, 4}, {}, {0, 0}},
    {"ShortSwizzledRow", TmaType::u8, 1, {32, 8}, {32}, {32, 8}, {}, {0, 0}, TmaSwizzle::b128},
    {"Atom32", TmaType::u8, 1, {128, 9}, {128}, {128, 8}, {}, {0, 1}, TmaSwizzle::b128Atom32, 128},
    {"Atom64", TmaType::u8, 1, {128, 9}, {128}, {128, 8}, {}, {0, 2}, TmaSwizzle::b128Atom64},
    {"Atom32Flip8",
     TmaType::u8,
     1,
     {128, 9},
     {128},
     {128, 8},
     {},
     {0, 0},
     TmaSwizzle::b128Atom32Flip8},
    {"WhollyOutside", TmaType::u8, 1, {32, 4}, {32}, {32, 4}, {}, {0, 9}, TmaSwizzle::b32},
};
INSTANTIATE_TEST_SUITE_P(All, TmaBoxes, ::testing::ValuesIn(kLoads),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(TmaStores, BoxesOfEveryRankLandWhereLoadsWouldComeFrom) {
  // Inside the tensor a store is the inverse of a load.
  for (BoxCase c :
       {BoxCase{"", TmaType::u8, 1, {64, 8}, {64}, {64, 8}, {}, {0, 0}, TmaSwizzle::b64},
        BoxCase{"", TmaType::u16, 2, {32, 9}, {80}, {16, 4}, {}, {16, 7}, TmaSwizzle::b32},
        BoxCase{"", TmaType::f32, 4, {8, 3, 4}, {32, 112}, {8, 2, 3}, {}, {0, 1, 2}},
        BoxCase{"",
                TmaType::u8,
                1,
                {16, 2, 2, 2, 3},
                {16, 64, 128, 512},
                {16, 2, 1, 2, 2},
                {},
                {0, 0, 1, 0, 2},
                TmaSwizzle::b128},
        BoxCase{"",
                TmaType::u8,
                1,
                {128, 8},
                {128},
                {128, 8},
                {},
                {0, 0},
                TmaSwizzle::b128Atom64,
                128}}) {
    auto source = [](uint32_t i) { return uint8_t(i * 5 + (i >> 8) + 3); };
    std::vector<uint8_t> expected(kTensor);
    for (uint32_t i = 0; i < kTensor; ++i)
      expected[i] = tensorByte(i);
    walk(c, [&](int64_t to, uint32_t from) {
      for (unsigned b = 0; to >= 0 && b < c.bytes; ++b)
        expected[size_t(to) + b] = source(from + b);
    });
    for (const Options &o : allTimings()) {
      Images r = runCopy(
          "add.u32 %r5, %r0, " + std::to_string(c.offset) + "; @%p0 cp.async.bulk.tensor." +
              std::to_string(c.dims.size()) + "d.global.shared::cta.tile.bulk_group [%in, " +
              coordinates(c.start) + "], [%r5];\n" + kWaitStore,
          [&](uint64_t a) { return mapOf(c, a); }, source, "sm_100a", o);
      ASSERT_EQ(r.error, "");
      expectSame(r.tensor, expected);
    }
  }
}

TEST(TmaGather4, FourRowsInTheOrderNamed) {
  // Rows 5, 0, 5 and one that is outside, from column 16.
  BoxCase c{"", TmaType::u8, 1, {96, 7}, {96}, {64, 1}, {}, {}, TmaSwizzle::b64, 512};
  std::vector<uint8_t> expected(kBuffer, kOld);
  const int rows[] = {5, 0, 5, 7};
  for (uint32_t row = 0; row < 4; ++row)
    for (uint32_t x = 0; x < 64; ++x)
      expected[swizzled(512 + row * 64 + x, c.swizzle)] =
          rows[row] < 7 ? tensorByte(uint64_t(rows[row]) * 96 + 16 + x) : 0;
  Images r = runCopy(
      expect(256) + "add.u32 %r5, %r0, 512;" + loadForm(2, "tile::gather4") +
          "[%r5], [%in, {16, 5, 0, 5, 7}], [%r1];\n" + kWait,
      [&](uint64_t a) { return mapOf(c, a); }, old);
  ASSERT_EQ(r.error, "");
  expectSame(r.buffer, expected);
}

TEST(TmaScatter4, FourRowsToWhereTheyAreNamed) {
  BoxCase c{"", TmaType::u8, 1, {96, 9}, {96}, {32, 1}, {}, {}, TmaSwizzle::b32};
  auto source = [](uint32_t i) { return uint8_t(i + 1); };
  std::vector<uint8_t> expected(kTensor);
  for (uint32_t i = 0; i < kTensor; ++i)
    expected[i] = tensorByte(i);
  const uint32_t rows[] = {8, 2, 0, 5};
  for (uint32_t row = 0; row < 4; ++row)
    for (uint32_t x = 0; x < 32; ++x)
      expected[rows[row] * 96 + 64 + x] = source(swizzled(row * 32 + x, c.swizzle));
  Images r = runCopy(
      "@%p0 cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group "
      "[%in, {64, 8, 2, 0, 5}], [%r0];\n" +
          kWaitStore,
      [&](uint64_t a) { return mapOf(c, a); }, source);
  ASSERT_EQ(r.error, "");
  expectSame(r.tensor, expected);
}

/// 16 elements of 4 or 6 bits are 8 or 12 bytes, then a gap that stays as it was and that
/// nobody counts.
TEST(TmaPadded, LoadsLeaveTheGapsAndCountThePayload) {
  for (auto [type, packed] : {std::pair{TmaType::u4Align16, 8u}, {TmaType::u6Align16, 12u}})
    for (TmaSwizzle s : {TmaSwizzle::none, TmaSwizzle::b128, TmaSwizzle::b128Atom32}) {
      uint64_t pitch = packed * 16 + 32; // 256 elements and some
      facts::TensorMap m;
      m.type = type;
      m.dims = {256, 5};
      m.strides = {pitch};
      m.box = {128, 4};
      m.swizzle = s;
      std::vector<uint8_t> expected(kBuffer, kOld);
      for (uint32_t row = 0; row < 4; ++row)
        for (uint32_t unit = 0; unit < 8; ++unit)
          for (uint32_t b = 0; b < packed; ++b)
            expected[swizzled(row * 128 + unit * 16, s) + b] =
                2 + row < 5 ? tensorByte((2 + row) * pitch + packed * 8 + unit * packed + b) : 0;
      Images r = runCopy(
          expect(4 * packed * 8) + loadForm(2) + "[%r0], [%in, {128, 2}], [%r1];\n" + kWait,
          [&](uint64_t a) {
            m.address = a;
            return m;
          },
          old);
      ASSERT_EQ(r.error, "");
      expectSame(r.buffer, expected);
    }
}

TEST(TmaPadded, SixBitStoresDropTheGaps) {
  facts::TensorMap m;
  m.type = TmaType::u6Align16;
  m.dims = {128, 4};
  m.strides = {96};
  m.box = {128, 2};
  m.swizzle = TmaSwizzle::b128;
  auto source = [](uint32_t i) { return uint8_t(i * 3 + 1); };
  std::vector<uint8_t> expected(kTensor);
  for (uint32_t i = 0; i < kTensor; ++i)
    expected[i] = tensorByte(i);
  for (uint32_t row = 0; row < 2; ++row)
    for (uint32_t unit = 0; unit < 8; ++unit)
      for (uint32_t b = 0; b < 12; ++b)
        expected[(row + 1) * 96 + unit * 12 + b] =
            source(swizzled(row * 128 + unit * 16, m.swizzle) + b);
  std::string store = "@%p0 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%in, {0, "
                      "1}], [%r0];\n" +
                      kWaitStore;
  auto map = [&](uint64_t a) {
    m.address = a;
    return m;
  };
  for (const char *target : {"sm_103a", "sm_107a"}) {
    Images r = runCopy(store, map, source, target);
    ASSERT_EQ(r.error, "");
    expectSame(r.tensor, expected);
  }
  EXPECT_NE(runCopy(store, map, source).error.find("tma_store: u6_align16 must be stored on"),
            std::string::npos);
  std::string flat = store;
  flat.replace(flat.find("tensor.2d"), 9, "tensor.1d").replace(flat.find("{0, 1}"), 6, "{0}");
  EXPECT_NE(runCopy(flat, map, source, "sm_107a")
                .error.find("tma_rank: tensor map must have rank 1, got 2"),
            std::string::npos);
  m.type = TmaType::u4Align16;
  m.strides = {64};
  EXPECT_NE(runCopy(store, map, source, "sm_107a")
                .error.find("tma_store: u4_align16 must be loaded only"),
            std::string::npos);
}

struct ReduceCase {
  const char *op;
  TmaType type;
  uint32_t was, with, result;
};
TEST(TmaReduce, EveryOperationOfWords) {
  const ReduceCase cases[] = {
      {"add", TmaType::u32, 0xFFFFFFFF, 3, 2},
      {"min", TmaType::u32, 5, 0xFFFFFFFE, 5},
      {"max", TmaType::u32, 5, 0xFFFFFFFE, 0xFFFFFFFE},
      {"min", TmaType::s32, 5, 0xFFFFFFFE, 0xFFFFFFFE},
      {"max", TmaType::s32, 5, 0xFFFFFFFE, 5},
      {"inc", TmaType::u32, 7, 7, 0},
      {"inc", TmaType::u32, 6, 7, 7},
      {"dec", TmaType::u32, 0, 9, 9},
      {"dec", TmaType::u32, 10, 9, 9},
      {"dec", TmaType::u32, 4, 9, 3},
      {"and", TmaType::u32, 0xF0F0, 0xFF00, 0xF000},
      {"or", TmaType::u32, 0xF0F0, 0xFF00, 0xFFF0},
      {"xor", TmaType::u32, 0xF0F0, 0xFF00, 0x0FF0},
      {"add", TmaType::f32, 0x3F800000, 0x40000000, 0x40400000}, // 1 + 2
      {"add", TmaType::f16, 0x3C003C00, 0x40004400, 0x42004500}, // 1 + 2, 1 + 4
      {"min", TmaType::f16, 0x3C00BC00, 0x40004400, 0x3C00BC00},
      {"max", TmaType::bf16, 0x3F80BF80, 0x40004080, 0x40004080},
      {"add", TmaType::bf16, 0x3F803F80, 0x40004080, 0x404040A0}, // 1 + 2, 1 + 4
  };
  for (const ReduceCase &c : cases) {
    unsigned bytes = c.type == TmaType::f16 || c.type == TmaType::bf16 ? 2 : 4;
    facts::TensorMap m;
    m.type = c.type;
    m.dims = {64 / bytes, 2};
    m.strides = {64};
    m.box = {32 / bytes, 1};
    Scene s;
    s.fill = [&](uint64_t, uint64_t out, std::vector<uint32_t> &words) {
      m.address = out;
      auto map = encodeTensorMap(facts::Arch::sm_100a, m);
      ASSERT_TRUE(bool(map)) << map.message();
      std::memcpy(words.data(), map->data(), 128);
    };
    s.outWords = 32;
    s.outFill = [&](uint8_t *out) {
      for (int i = 0; i < 32; ++i)
        std::memcpy(out + 4 * i, &c.was, 4);
    };
    Ran r =
        run(kernel("mov.u32 %r0, buf; shl.b32 %r1, %t, 2; add.u32 %r1, %r1, %r0; mov.u32 %r2, " +
                       std::to_string(c.with) +
                       "; st.shared.u32 [%r1], %r2; fence.proxy.async; bar.sync 0; "
                       "setp.eq.u32 %p0, %t, 0; @%p0 cp.reduce.async.bulk.tensor.2d.global."
                       "shared::cta." +
                       c.op + ".tile.bulk_group [%in, {" + std::to_string(32 / bytes) +
                       ", 1}], [%r0]; " + kWaitStore,
                   "sm_100a", kTmaVars),
            s);
    ASSERT_EQ(r.error, "") << c.op;
    for (uint32_t i = 0; i < 32; ++i)
      EXPECT_EQ(r.out[i], i >= 24 ? c.result : c.was) << c.op << " word " << i;
  }
}

TEST(TmaReduce, RefusedTypes) {
  for (auto [type, op, message] :
       {std::tuple{TmaType::f64, "add", "tma_reduce: add must have one of"},
        std::tuple{TmaType::f32, "min", "tma_reduce: min must have one of"},
        std::tuple{TmaType::u8, "add", "tma_reduce: add must have one of"},
        std::tuple{TmaType::s32, "inc", "tma_reduce: inc must have one of"}}) {
    facts::TensorMap m;
    m.type = type;
    m.dims = {32};
    m.box = {16};
    std::string error = runCopy(
                            std::string("@%p0 cp.reduce.async.bulk.tensor.1d.global.shared::cta.") +
                                op + ".tile.bulk_group [%in, {0}], [%r0];\n" + kWaitStore,
                            [&](uint64_t a) {
                              m.address = a;
                              return m;
                            },
                            old)
                            .error;
    EXPECT_NE(error.find(message), std::string::npos) << error;
  }
}

} // namespace
