//===- MmaOperandTest.cpp - what one tcgen05.mma reads and writes ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every kind, format, K mode, major and swizzle on operands placed by hand; sums of
// tame values are exact, so D is compared for equality. Instruction descriptors are
// numbers, put together from the manual's tables 52 and 53.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Mma.h"

#include "../Sanitized.h"
#include "MmaScene.h"

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

// Table 52 and 53: N >> 3 at bit 17, M >> 7 at bit 27.
uint32_t shape(int m, int n) { return uint32_t(n) >> 3 << 17 | uint32_t(m) >> 7 << 27; }
constexpr uint32_t kUe8m0 = 1u << 23, kLong = 1u << 31, kTransposeA = 1u << 15,
                   kTransposeB = 1u << 16;
uint32_t narrowTypes(uint32_t a, uint32_t b) { return a << 7 | b << 10; }
constexpr uint32_t kSparse = 1u << 2, kSfaLanes128 = 1u << 26;
constexpr uint32_t kFp4 = 1u << 7 | 1u << 10, kK128 = 1u << 3, kK96 = 1u << 31;
uint32_t scaleIds(int a, int b) { return uint32_t(b) << 4 | uint32_t(a) << 29; }

OperandPlan kMajor(const Minifloat &f, Layout l, uint32_t start, uint32_t kOffset = 0) {
  OperandPlan p;
  p.format = f;
  p.layout = l;
  p.start = start;
  p.kOffset = kOffset;
  // Eight rows of the span each; without a swizzle cores of 8 x 16 bytes, K chunks far apart.
  p.stride = l == Layout::none ? 128 : 8 * span(l);
  p.leading = l == Layout::none ? 4096 : 16;
  return p;
}

void expectExact(const MmaScene &s) {
  MmaResult r = runMma(s);
  ASSERT_EQ(r.error, "");
  ASSERT_EQ(r.got.size(), r.expected.size());
  size_t wrong = 0;
  for (size_t i = 0; i < r.got.size() && wrong < 3; ++i)
    if (r.got[i] != r.expected[i]) {
      ++wrong;
      ADD_FAILURE() << "row " << i / size_t(s.n) << " column " << i % size_t(s.n) << ": got "
                    << r.got[i] << ", expected " << r.expected[i];
    }
}

struct NarrowCase {
  const char *name;
  Minifloat a, b;
  uint32_t codeA, codeB;
};
const NarrowCase kNarrow[] = {
    {"E4M3xE4M3", kE4M3, kE4M3, 0, 0}, {"E5M2xE4M3", kE5M2, kE4M3, 1, 0},
    {"E4M3xE2M1", kE4M3, kE2M1, 0, 5}, {"E2M1xE5M2", kE2M1, kE5M2, 5, 1},
    {"E2M3xE3M2", kE2M3, kE3M2, 3, 4}, {"E2M1xE2M1", kE2M1, kE2M1, 5, 5},
    {"E3M2xE2M3", kE3M2, kE2M3, 4, 3},
};
class Mxf8f6f4 : public ::testing::TestWithParam<NarrowCase> {};

TEST_P(Mxf8f6f4, K32InEveryLayoutAndPlace) {
  const NarrowCase &c = GetParam();
  for (unsigned group : {1u, 2u})
    for (Layout l : {Layout::none, Layout::b32, Layout::b64, Layout::b128})
      for (uint32_t step : {0u, 1u}) { // the first or a later instruction of the row
        if (blockscale::test::kIsSanitized && step != group % 2)
          continue;
        uint32_t offset = step * 32 % span(l) ? step * 32 : 0;
        if (l == Layout::none && step)
          offset = 32;
        MmaScene s;
        s.group = group;
        s.padded = true;
        s.n = 96;
        s.sfaId = int(step) * 3;
        s.sfbId = 1 + int(step);
        s.a = kMajor(c.a, l, 0, offset);
        s.b = kMajor(c.b, l, 0x8000, offset);
        s.idesc = shape(128 * int(group), s.n) | kUe8m0 | narrowTypes(c.codeA, c.codeB) |
                  scaleIds(s.sfaId, s.sfbId);
        SCOPED_TRACE(std::to_string(group) + " " + std::to_string(int(l)) + " " +
                     std::to_string(step));
        expectExact(s);
      }
}

TEST_P(Mxf8f6f4, K64IsPackedWithoutGaps) {
  const NarrowCase &c = GetParam();
  // Rows of 64, 32 and 48 bytes; the second instruction along K.
  auto operand = [](const Minifloat &f, uint32_t start) {
    return kMajor(f, f.bits() == 4 ? Layout::b64 : Layout::b128, start, uint32_t(f.bits()) * 8);
  };
  for (unsigned group : {1u, 2u}) {
    MmaScene s;
    s.target = "sm_107a";
    s.group = group;
    s.k = 64;
    s.n = 256;
    s.sfaId = 2;
    s.sfbId = 2;
    s.a = operand(c.a, 0);
    s.b = operand(c.b, 0xC000);
    s.idesc = shape(128 * int(group), s.n) | kUe8m0 | kLong | narrowTypes(c.codeA, c.codeB) |
              scaleIds(2, 2);
    expectExact(s);
  }
}

TEST_P(Mxf8f6f4, AInTensorMemory) {
  const NarrowCase &c = GetParam();
  for (unsigned group : {1u, 2u}) {
    MmaScene s;
    s.group = group;
    s.padded = true;
    s.aInTmem = true;
    s.a.format = c.a;
    s.b = kMajor(c.b, Layout::b128, 0x8000);
    s.idesc = shape(128 * int(group), s.n) | kUe8m0 | narrowTypes(c.codeA, c.codeB);
    expectExact(s);
  }
}
INSTANTIATE_TEST_SUITE_P(All, Mxf8f6f4, ::testing::ValuesIn(kNarrow),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(MnMajor, EightBitOperandsInEverySwizzle) {
  for (const char *target : {"sm_100a", "sm_107a"})
    for (unsigned group : {1u, 2u})
      for (Layout l : {Layout::none, Layout::b32, Layout::b64, Layout::b128}) {
        MmaScene s;
        s.target = target;
        s.group = group;
        bool isLong = target == std::string("sm_107a");
        s.k = isLong ? 64 : 32;
        s.n = 128;
        for (OperandPlan *p : {&s.a, &s.b}) {
          p->transposed = true;
          p->layout = l;
          // Runs of the span along MN; eight of K make an atom. Leading and stride swap
          // their meaning without a swizzle.
          p->stride = l == Layout::none ? 4096 : 8 * span(l);
          p->leading = l == Layout::none ? 128 : 8 * span(l) * uint32_t(s.k) / 8;
        }
        s.a.format = kE4M3;
        s.b.format = kE5M2;
        s.b.start = 0xC000;
        s.idesc = shape(128 * int(group), s.n) | kUe8m0 | (isLong ? kLong : 0) | narrowTypes(0, 1) |
                  kTransposeA | kTransposeB;
        SCOPED_TRACE(std::string(target) + " " + std::to_string(group) + " " +
                     std::to_string(int(l)));
        expectExact(s);
      }
}

/// Types of 4 and 6 bits: the bytes of TMA's padded types, 16 elements along MN in 16 bytes.
TEST(MnMajor, NarrowOperandsInEverySwizzle) {
  struct Narrow {
    Minifloat format;
    unsigned code;
  };
  const Narrow narrow[] = {{kE2M3, 3}, {kE3M2, 4}, {kE2M1, 5}};
  for (unsigned group : {1u, 2u})
    for (Layout l : {Layout::none, Layout::b32, Layout::b64, Layout::b128})
      for (size_t i = 0; i < 3; ++i) {
        MmaScene s;
        s.group = group;
        s.n = 128;
        s.padded = true;
        s.a.format = narrow[i].format;
        s.b.format = narrow[(i + 1) % 3].format;
        for (OperandPlan *p : {&s.a, &s.b}) {
          p->transposed = true;
          p->layout = l;
          p->stride = l == Layout::none ? 4096 : 8 * span(l);
          p->leading = l == Layout::none ? 128 : 8 * span(l) * uint32_t(s.k) / 8;
        }
        s.b.start = 0xC000;
        s.idesc = shape(128 * int(group), s.n) | kUe8m0 |
                  narrowTypes(narrow[i].code, narrow[(i + 1) % 3].code) | kTransposeA | kTransposeB;
        SCOPED_TRACE(std::to_string(group) + " " + std::to_string(int(l)) + " " +
                     std::to_string(i));
        expectExact(s);
      }
  // One operand MN-major, the other K-major, by TMA's padding too.
  MmaScene s;
  s.padded = true;
  s.a = kMajor(kE2M1, Layout::b128, 0);
  s.b.format = kE3M2;
  s.b.transposed = true;
  s.b.layout = Layout::b32;
  s.b.start = 0xC000;
  s.b.stride = 8 * span(Layout::b32);
  s.b.leading = 8 * span(Layout::b32) * uint32_t(s.k) / 8;
  s.idesc = shape(128, s.n) | kUe8m0 | narrowTypes(5, 4) | kTransposeB;
  expectExact(s);
}

struct Fp4Case {
  const char *name, *target, *kind;
  int k, block;
  uint32_t bits;
  bool ue4m3;
  std::vector<std::pair<int, uint32_t>> steps; // scale id, K offset in bytes
};
const Fp4Case kFp4Cases[] = {
    {"Mxf4K64", "sm_100a", "mxf4.block_scale", 64, 32, kUe8m0, false, {{0, 0}, {2, 32}, {0, 96}}},
    {"Nvf4Block32K64", "sm_103a", "mxf4nvf4.block_scale.block32", 64, 32, kUe8m0, false, {{2, 64}}},
    {"Nvf4K64", "sm_100a", "mxf4nvf4.block_scale.block16", 64, 16, 0, true, {{0, 0}, {0, 96}}},
    {"Nvf4Ue8m0K64",
     "sm_100a",
     "mxf4nvf4.block_scale.scale_vec::4X",
     64,
     16,
     kUe8m0,
     false,
     {{0, 32}}},
    {"Mxf4K96",
     "sm_103a",
     "mxf4.block_scale",
     96,
     32,
     kK96 | kUe8m0,
     false,
     {{0, 0}, {3, 48}, {2, 16}, {1, 64}}},
    {"Nvf4K96", "sm_103a", "mxf4nvf4.block_scale.block16", 96, 16, kK96, true, {{0, 0}, {2, 48}}},
    {"Nvf4K96On107", "sm_107a", "mxf4nvf4.block_scale.block16", 96, 16, kK96, true, {{2, 80}}},
    {"Mxf4K128",
     "sm_107a",
     "mxf4.block_scale.block32",
     128,
     32,
     kK128 | kUe8m0,
     false,
     {{0, 0}, {0, 64}}},
    {"Nvf4K128",
     "sm_107a",
     "mxf4nvf4.block_scale.block16",
     128,
     16,
     kK128,
     true,
     {{0, 0}, {0, 64}}},
    {"Nvf4K128Ue4m3Block32",
     "sm_107a",
     "mxf4nvf4.block_scale.block32",
     128,
     32,
     kK128,
     true,
     {{0, 0}}},
};
class Fp4 : public ::testing::TestWithParam<Fp4Case> {};

MmaScene fp4Scene(const Fp4Case &c, unsigned group, int n, int id, uint32_t offset) {
  MmaScene s;
  s.target = c.target;
  s.kind = c.kind;
  s.group = group;
  s.n = n;
  s.k = c.k;
  s.block = c.block;
  s.ue4m3 = c.ue4m3;
  s.sfaId = s.sfbId = id;
  s.a = kMajor(kE2M1, Layout::b128, 0, offset);
  s.b = kMajor(kE2M1, Layout::b128, 0xC000, offset);
  s.idesc = shape(128 * int(group), n) | kFp4 | c.bits | scaleIds(id, id);
  return s;
}

TEST_P(Fp4, OneAndTwoCtas) {
  const Fp4Case &c = GetParam();
  for (unsigned group : {1u, 2u})
    for (int n : {64, 192, 256})
      for (auto [id, offset] : c.steps) {
        if (blockscale::test::kIsSanitized && n != 64)
          continue;
        MmaScene s = fp4Scene(c, group, n, id, offset);
        SCOPED_TRACE(std::to_string(group) + " n " + std::to_string(n) + " id " +
                     std::to_string(id));
        expectExact(s);
      }
}

TEST_P(Fp4, AInTensorMemoryAddsToD) {
  const Fp4Case &c = GetParam();
  for (unsigned group : {1u, 2u}) {
    MmaScene s = fp4Scene(c, group, 128, c.steps[0].first, 0);
    s.aInTmem = true;
    s.containerBits = 4;
    s.accumulate = true;
    expectExact(s);
  }
}
INSTANTIATE_TEST_SUITE_P(All, Fp4, ::testing::ValuesIn(kFp4Cases),
                         [](const auto &info) { return std::string(info.param.name); });

/// K = 96 past the end of a 128-byte row: bit 52, and the next buffer's address where the
/// leading offset would be.
TEST(CircularDescriptor, ARowGoesOnInTheNextBuffer) {
  for (const char *target : {"sm_103a", "sm_107a"})
    for (uint32_t unit : {6u, 7u})
      for (unsigned group : {1u, 2u}) {
        MmaScene s;
        s.target = target;
        s.kind = "mxf4nvf4.block_scale.block16";
        s.group = group;
        s.k = 96;
        s.block = 16;
        s.ue4m3 = true;
        s.n = 64;
        s.a = kMajor(kE2M1, Layout::b128, 0, unit * 16);
        s.b = kMajor(kE2M1, Layout::b128, 0x8000, unit * 16);
        s.a.circular = s.b.circular = true;
        s.a.next = 0x4000;
        s.b.next = 0xC000;
        s.idesc = shape(128 * int(group), s.n) | kFp4 | kK96;
        expectExact(s);
      }
}

/// M = 128 of a pair: 64 rows a CTA, D in two halves of the lanes ("2x2").
TEST(PairM128, SixtyFourRowsInEachCta) {
  for (int n : {64, 256}) {
    MmaScene s;
    s.group = 2;
    s.rows = 64;
    s.n = n;
    s.sfaId = 1;
    s.sfbId = 2;
    s.a = kMajor(kE4M3, Layout::b128, 0);
    s.b = kMajor(kE4M3, Layout::b64, 0x8000);
    s.idesc = shape(128, n) | kUe8m0 | scaleIds(1, 2);
    expectExact(s);
    s = fp4Scene(kFp4Cases[0], 2, n, 2, 32);
    s.rows = 64;
    s.idesc = shape(128, n) | kFp4 | kUe8m0 | scaleIds(2, 2);
    expectExact(s);
  }
}

/// A there lies twice in tensor memory, in lanes r and r + 64: with 8 bits, in containers of a
/// byte, and with two FP4 in a byte.
TEST(PairM128, AInTensorMemory) {
  std::vector<MmaScene> scenes;
  for (const NarrowCase &c : kNarrow) {
    MmaScene s;
    s.padded = true;
    s.a.format = c.a;
    s.b = kMajor(c.b, Layout::b128, 0x8000);
    s.idesc = shape(128, s.n) | kUe8m0 | narrowTypes(c.codeA, c.codeB);
    scenes.push_back(s);
  }
  scenes.push_back(fp4Scene(kFp4Cases[0], 2, 64, 2, 0));
  scenes.back().containerBits = 4;
  scenes.back().idesc = shape(128, 64) | kFp4 | kUe8m0 | scaleIds(2, 2);
  for (MmaScene &s : scenes) {
    s.group = 2;
    s.rows = 64;
    s.aInTmem = true;
    expectExact(s);
    s.oneCopy = true; // zeros above: no row of A is like that
    EXPECT_NE(runMma(s).error.find("a_copies: A of 64 rows in tensor memory must be the same in "
                                   "lanes 0 and 64"),
              std::string::npos)
        << runMma(s).error;
  }
}

/// No model was made of instructions of a pair.
TEST(PairEvidence, ProductsOfAPairCarryTheLabel) {
  for (unsigned group : {1u, 2u}) {
    MmaScene s;
    s.group = group;
    s.a = kMajor(kE4M3, Layout::b128, 0);
    s.b = kMajor(kE4M3, Layout::b128, 0x8000);
    s.idesc = shape(128 * int(group), 64) | kUe8m0;
    EXPECT_EQ(runMma(s).evidence, std::vector<std::string>(group - 1, kNoEvidence));
    s.options.unmodelled = Unmodelled::refuse;
    EXPECT_EQ(runMma(s).error.find("mma_unmodelled: tcgen05.mma must have a published model, got "
                                   "K = 32 of cta_group::2 with no public hardware evidence") !=
                  std::string::npos,
              group == 2)
        << runMma(s).error;
    if (group == 1)
      expectExact(s);
  }
}

/// No model was made of an sm_110's sums.
TEST(MmaEvidence, ChipsThatNobodyMeasuredAreLabelled) {
  for (const char *target : {"sm_100a", "sm_103a", "sm_110a"}) {
    MmaScene s;
    s.target = target;
    s.a = kMajor(kE4M3, Layout::b128, 0);
    s.b = kMajor(kE4M3, Layout::b128, 0x8000);
    s.idesc = shape(128, 64) | kUe8m0;
    const bool labelled = s.target == "sm_110a";
    EXPECT_EQ(runMma(s).evidence, std::vector<std::string>(labelled, kNoEvidence)) << target;
    s.options.unmodelled = Unmodelled::refuse;
    EXPECT_EQ(runMma(s).error.find("mma_unmodelled") != std::string::npos, labelled)
        << runMma(s).error;
  }
}

MmaScene collectorScene(const std::string &first, std::vector<std::string> then) {
  MmaScene s;
  s.target = "sm_107a";
  s.n = 64;
  s.a = kMajor(kE4M3, Layout::b128, 0);
  s.b = kMajor(kE4M3, Layout::b128, 0x8000);
  s.idesc = shape(128, 64) | kUe8m0;
  s.extra = first;
  s.then = std::move(then);
  return s;
}

TEST(Collectors, UseAfterFillIsRight) {
  const std::string a = ".collector::a::", b = ".collector::b::";
  for (unsigned group : {1u, 2u}) {
    MmaScene s = collectorScene(a + "fill", {a + "use", a + "use", a + "lastuse", ""});
    s.group = group;
    s.idesc = shape(128 * int(group), 64) | kUe8m0;
    expectExact(s);
  }
  expectExact(collectorScene(a + "discard" + b + "fill",
                             {a + "fill" + b + "use", a + "use" + b + "lastuse"}));
  // Bytes may change once nobody uses the buffer any more, and gaps always.
  MmaScene s = collectorScene(a + "fill", {a + "lastuse"});
  s.kind = "mxf8f6f4.block_scale";
  expectExact(s);
}

/// Each product must be added, whatever its modifiers.
void expectEveryProduct(MmaScene s) {
  s.accumulate = true;
  MmaResult r = runMma(s);
  ASSERT_EQ(r.error, "") << s.kind;
  for (size_t i = 0; i < r.got.size(); ++i) {
    const double before = double(i / size_t(s.n) % 128) - 50; // as MmaScene.h fills D
    ASSERT_EQ(r.got[i], before + double(s.then.size() + 1) * (r.expected[i] - before))
        << s.kind << " " << i;
  }
}

TEST(Collectors, EveryProductCounts) {
  const std::string a = ".collector::a::", b = ".collector::b::";
  const std::vector<std::vector<std::string>> sequences = {
      {a + "fill", a + "use", a + "lastuse", a + "discard", ""},
      {a + "discard"},
      {b + "fill", b + "use", b + "lastuse", b + "discard"},
      {b + "fill", b + "lastuse"},
      {a + "discard" + b + "fill", a + "discard" + b + "lastuse"},
      {a + "discard" + b + "discard"},
      {""},
  };
  {
    MmaScene s = fp4Scene(kFp4Cases[0], 1, 64, 0, 0);
    s.kind = "mxf4.block_scale.scale_vec::2X";
    expectExact(s);
  }
  for (unsigned group : {1u, 2u})
    for (const auto &sequence : sequences) {
      if (blockscale::test::kIsSanitized && group == 1)
        continue;
      const std::vector<std::string> then(sequence.begin() + 1, sequence.end());
      for (const char *kind : {"", ".scale_vec::1X", ".block32"}) {
        MmaScene s = collectorScene(sequence.front(), then);
        s.group = group;
        s.idesc = shape(128 * int(group), 64) | kUe8m0;
        s.kind = std::string("mxf8f6f4.block_scale") + kind;
        expectEveryProduct(s);
      }
      for (size_t i : {8, 9}) { // mxf4nvf4 with blocks of 16 and of 32 on sm_107a
        MmaScene s = fp4Scene(kFp4Cases[i], group, 64, 0, 0);
        s.extra = sequence.front();
        s.then = then;
        expectEveryProduct(s);
      }
    }
}

TEST(Collectors, UseWithoutItsFillIsReported) {
  const std::string a = ".collector::a::", b = ".collector::b::";
  struct {
    std::string first;
    std::vector<std::string> then;
    std::string message;
  } cases[] = {
      {a + "use", {}, "collector_a: .use must follow a fill by the same warp, got none"},
      {a + "lastuse", {}, "collector_a: .lastuse must follow a fill by the same warp, got none"},
      {a + "fill", {"", a + "use"}, "collector_a: .use must follow a fill"},
      {a + "fill", {a + "lastuse", a + "use"}, "collector_a: .use must follow a fill"},
      {a + "fill", {a + "discard", a + "use"}, "collector_a: .use must follow a fill"},
      {a + "fill" + b + "fill",
       {a + "use", a + "use" + b + "use"},
       "collector_b: .use must follow a fill"},
  };
  for (const auto &c : cases) {
    std::string error = runMma(collectorScene(c.first, c.then)).error;
    EXPECT_NE(error.find(c.message), std::string::npos) << c.first << ": " << error;
  }
  // Another operand, and an operand that was written since. The commit waits for the fill.
  MmaScene s = collectorScene(a + "fill", {a + "use"});
  s.between = "add.u64 %rd3, %rd3, 2;";
  EXPECT_NE(runMma(s).error.find("collector_a: .use must name the operand"), std::string::npos);
  s.between = "@%p1 st.shared.u32 [buf], 0x38383838;";
  s.options.timing = Timing::earliest;
  EXPECT_NE(runMma(s).error.find("collector_source: operand must be as at the fill"),
            std::string::npos)
      << runMma(s).error;
}

TEST(MmaDecoding, RefusedWithAReason) {
  MmaScene s;
  s.a = kMajor(kE4M3, Layout::b128, 0);
  s.b = kMajor(kE4M3, Layout::b128, 0x8000);
  s.idesc = shape(128, 64) | kUe8m0 | kLong; // K = 64 on sm_100a
  EXPECT_NE(runMma(s).error.find("idesc_c13: bit 31 reserved in mxf8f6f4 on sm_100a"),
            std::string::npos)
      << runMma(s).error;
  s = {};
  s.a = kMajor(kE4M3, Layout::b128, 0);
  s.b = kMajor(kE4M3, Layout::b128, 0x8000);
  s.idesc = shape(128, 64) | kUe8m0;
  ASSERT_EQ(runMma(s).error, "");
  s.idesc |= kSparse;
  EXPECT_NE(runMma(s).error.find("mma_form: sparse operands are not executed"), std::string::npos)
      << runMma(s).error;
  s.target = "sm_107a";
  s.idesc = shape(128, 64) | kUe8m0;
  ASSERT_EQ(runMma(s).error, "");
  s.idesc |= kSfaLanes128;
  EXPECT_NE(runMma(s).error.find("mma_form: the 128-lane scale layout is not executed"),
            std::string::npos)
      << runMma(s).error;
  // Bit 52 belongs to K = 96, and that to 128-byte swizzle.
  s = fp4Scene(kFp4Cases[4], 1, 64, 0, 0);
  s.a.layout = Layout::b64;
  EXPECT_NE(runMma(s).error.find("mma_k96: operands at k = 96 must have swizzle b128 and "
                                 "base_offset 0, got b64 and 0"),
            std::string::npos)
      << runMma(s).error;
  s = fp4Scene(kFp4Cases[1], 1, 64, 0, 0);
  s.b.circular = true;
  EXPECT_NE(runMma(s).error.find("mma_k96: an absolute leading address must be used at k = 96, "
                                 "got 64"),
            std::string::npos)
      << runMma(s).error;
}

} // namespace
