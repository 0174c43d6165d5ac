//===- TensorMapTest.cpp - maps that kernels change -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tensormap.replace of every field, in global and in shared memory, the copy of a map
// with its fence, and the overrides of sm_107.
//
//===----------------------------------------------------------------------===//

#include "TmaScene.h"

using namespace blockscale;
using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

/// A map that is wrong in every field; the tensor's address is %rd6.
facts::TensorMap wrongMap(uint64_t address) {
  facts::TensorMap m;
  m.type = TmaType::u8;
  m.address = address + 256;
  m.dims = {16};
  m.box = {16};
  return m;
}
const std::string kTensorAt = "add.u64 %rd6, %out, 8192;\n";

std::string replacements(const BoxCase &c, const std::string &space, const std::string &at,
                         int type, int swizzle, int atom) {
  std::string s, head = "@%p0 tensormap.replace.tile.",
                 tail = "." + space + ".b1024.b32 [" + at + "], ";
  s += head + "global_address." + space + ".b1024.b64 [" + at + "], %rd6;\n";
  s += head + "rank" + tail + std::to_string(c.dims.size() - 1) + ";\n";
  for (size_t i = 0; i < c.dims.size(); ++i) {
    std::string n = std::to_string(i) + ", ";
    s += head + "box_dim" + tail + n + std::to_string(c.box[i]) + ";\n";
    s += head + "global_dim" + tail + n + std::to_string(c.dims[i]) + ";\n";
    s += head + "element_stride" + tail + n + std::to_string(c.elementStrides[i]) + ";\n";
    if (i)
      s += head + "global_stride." + space + ".b1024.b64 [" + at + "], " + std::to_string(i - 1) +
           ", " + std::to_string(c.strides[i - 1]) + ";\n";
  }
  s += head + "elemtype" + tail + std::to_string(type) + ";\n";
  s += head + "interleave_layout" + tail + "0;\n";
  s += head + "swizzle_mode" + tail + std::to_string(swizzle) + ";\n";
  s += head + "swizzle_atomicity" + tail + std::to_string(atom) + ";\n";
  s += head + "fill_mode" + tail + (c.nan.empty() ? "0;\n" : "1;\n");
  return s;
}

std::vector<uint8_t> loaded(const BoxCase &c, uint64_t &count) {
  std::vector<uint8_t> expected(kBuffer, kOld);
  count = 0;
  walk(c, [&](int64_t from, uint32_t to) {
    for (unsigned b = 0; b < c.bytes; ++b, ++count)
      expected[to + b] = from >= 0 ? tensorByte(uint64_t(from) + b) : c.nan.empty() ? 0 : c.nan[b];
  });
  return expected;
}

const BoxCase kCase{"",        TmaType::bf16,   2, {40, 9, 5},  {96, 1024}, {32, 4, 3}, {1, 2, 1},
                    {8, 6, 3}, TmaSwizzle::b64, 0, {0xF7, 0x7F}};

TEST(TensorMapReplace, EveryFieldInGlobalMemory) {
  uint64_t count;
  std::vector<uint8_t> expected = loaded(kCase, count);
  Images r = runCopy(kTensorAt + replacements(kCase, "global", "%in", 10, 2, 0) +
                         "fence.proxy.tensormap::generic.release.gpu; "
                         "fence.proxy.tensormap::generic.acquire.gpu [%in], 128;\n" +
                         expect(count) + loadForm(3) + "[%r0], [%in, {8, 6, 3}], [%r1];\n" + kWait,
                     wrongMap, old);
  ASSERT_EQ(r.error, "");
  expectSame(r.buffer, expected);
}

TEST(TensorMapReplace, InSharedMemoryThenCopiedWithItsFence) {
  // 128-byte swizzle with the 32-byte atom; types by PTX's codes: 1 is u16.
  BoxCase c = kCase;
  c.nan = {};
  c.box[0] = 64;
  c.swizzle = TmaSwizzle::b128Atom32;
  uint64_t count;
  std::vector<uint8_t> expected = loaded(c, count);
  for (std::string scope : {"cta", "cluster", "gpu", "sys"}) {
    // The map goes to shared memory, word by word, and back with the release.
    Images r = runCopy(
        kTensorAt +
            "ld.global.u32 %r9, [%pi]; mov.u32 %r10, map; shl.b32 %r11, %t, 2; add.u32 %r11, "
            "%r11, %r10; st.shared.u32 [%r11], %r9; bar.sync 0;\n" +
            replacements(c, "shared::cta", "%r10", 1, 3, 1) +
            "bar.warp.sync -1; tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic."
            "release." +
            scope +
            ".sync.aligned [%in], [%r10], 128;\n"
            "fence.proxy.tensormap::generic.acquire.gpu [%in], 128;\n" +
            expect(count) + loadForm(3) + "[%r0], [%in, {8, 6, 3}], [%r1];\n" + kWait,
        wrongMap, old);
    ASSERT_EQ(r.error, "");
    expectSame(r.buffer, expected);
  }
}

TEST(TensorMapReplace, NinetySixByteSwizzle) {
  // Bit 4 takes bit 7; a row takes 96 bytes.
  std::vector<uint8_t> expected(kBuffer, kOld);
  for (uint32_t row = 0; row < 4; ++row)
    for (uint32_t x = 0; x < 96; ++x) {
      uint32_t at = row * 96 + x;
      expected[at ^ ((at >> 7 & 1) << 4)] = tensorByte(row * 96 + x);
    }
  auto map = [](uint64_t address) {
    facts::TensorMap m;
    m.address = address;
    m.dims = {96, 4};
    m.strides = {96};
    m.box = {96, 4};
    return m;
  };
  std::string text = "@%p0 tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%in], 4;\n" +
                     expect(384) + loadForm(2) + "[%r0], [%in, {0, 0}], [%r1];\n" + kWait;
  Images r = runCopy(text, map, old, "sm_103a");
  ASSERT_EQ(r.error, "");
  expectSame(r.buffer, expected);
  EXPECT_NE(runCopy(text, map, old)
                .error.find("ptx_target: .swizzle_mode 4 must have a target with "
                            "tma_swizzle_96, got sm_100a"),
            std::string::npos);
}

TEST(TensorMapReplace, AMapIsJudgedWhenItIsUsed) {
  std::string use = expect(16) + loadForm(1) + "[%r0], [%in, {0}], [%r1];\n" + kWait;
  auto error = [&](const std::string &change) {
    return runCopy("@%p0 tensormap.replace.tile." + change + ";\n" + use, wrongMap, old).error;
  };
  EXPECT_NE(error("box_dim.global.b1024.b32 [%in], 0, 17").find("tensor_map_c6: row of the box"),
            std::string::npos);
  EXPECT_NE(error("rank.global.b1024.b32 [%in], 1")
                .find("tensor_map_c6: box of dimension 1 must be from 1 to 256, got 0"),
            std::string::npos);
  EXPECT_NE(error("elemtype.global.b1024.b32 [%in], 14").find("tensor_map_c"), std::string::npos);
  EXPECT_NE(error("interleave_layout.global.b1024.b32 [%in], 1")
                .find("tensormap_replace: interleave_layout must be 0 to be executed, got 1"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// Overrides of sm_107
//===----------------------------------------------------------------------===//

/// A kernel on a tensor of 256 KiB whose bytes are tensorByte(i).
std::string runOverride(const std::string &operand, const std::string &form, uint32_t count,
                        std::vector<uint8_t> &buffer, size_t tensorBytes = 262144,
                        const std::string &target = "sm_107a") {
  Scene s;
  s.in.assign(32 + kBuffer / 4, 0x5A5A5A5A);
  s.outWords = (kBuffer + tensorBytes) / 4;
  s.fill = [](uint64_t, uint64_t out, std::vector<uint32_t> &words) {
    facts::TensorMap m;
    m.address = out + kBuffer;
    m.dims = {256, 64};
    m.strides = {256};
    m.box = {32, 4};
    auto bytes = encodeTensorMap(facts::Arch::sm_107a, m);
    ASSERT_TRUE(bool(bytes)) << bytes.message();
    std::memcpy(words.data(), bytes->data(), 128);
  };
  s.outFill = [&](uint8_t *out) {
    for (size_t i = 0; i < tensorBytes; ++i)
      out[kBuffer + i] = tensorByte(i);
  };
  Ran r = run(kernel(body(kTensorAt +
                          "add.u64 %rd7, %rd6, 4096; mov.u16 %h0, 20; mov.u16 %h1, 3; mov.u16 "
                          "%h2, 0; mov.u32 %r9, 3;\n" +
                          expect(count) +
                          "@%p0 cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::"
                          "complete_tx::bytes" +
                          form + " [%r0], [%in, " + operand + "], [%r1];\n" + kWait),
                     target, kTmaVars),
              s);
  if (r.out.empty())
    return r.error; // refused at load
  const uint8_t *p = reinterpret_cast<const uint8_t *>(r.out.data());
  buffer.assign(p, p + kBuffer);
  return r.error;
}

TEST(TmaOverride, AddressStandsInPlaceOfTheMaps) {
  std::vector<uint8_t> got, expected(kBuffer, kOld);
  for (uint32_t row = 0; row < 4; ++row)
    for (uint32_t x = 0; x < 32; ++x)
      expected[row * 32 + x] = tensorByte(4096 + (row + 2) * 256 + 64 + x);
  ASSERT_EQ(runOverride("%rd7, {64, 2}", ".override::global_address", 128, got), "");
  expectSame(got, expected);
}

TEST(TmaOverride, SizesAndStridesToo) {
  // 20 columns and 3 rows at a pitch of 48 bytes; the rest of the box is zero.
  std::vector<uint8_t> got, expected(kBuffer, kOld);
  for (uint32_t row = 0; row < 4; ++row)
    for (uint32_t x = 0; x < 32; ++x)
      expected[row * 32 + x] = row < 3 && x < 20 ? tensorByte(4096 + row * 48 + x) : 0;
  const std::string form = ".override::global_address.override::global_dim_stride";
  ASSERT_EQ(runOverride("%rd7, {%h0, %h1}, {%r9}, %h2, {0, 0}", form, 128, got), "");
  expectSame(got, expected);
  EXPECT_NE(runOverride("%rd7, {%h0, %h1}, {%r9}, %h2, {16, 0}", form, 128, got)
                .find("tma_override: coordinates with sizes and strides must be 0, got 16"),
            std::string::npos);
  EXPECT_NE(runOverride("%rd7, {%h0, %h2}, {%r9}, %h2, {0, 0}", form, 128, got)
                .find("tma_override: size of dimension 1 must be from 1 to 255, got 0"),
            std::string::npos);
}

TEST(TmaOverride, Refusals) {
  std::vector<uint8_t> got;
  EXPECT_NE(runOverride("%rd7, {64, 2}", ".override::global_address", 128, got, 65536)
                .find("tma_override: 131072 bytes from the address on must be mapped"),
            std::string::npos);
  EXPECT_NE(runOverride("%rd7, {64, 2}", ".override::global_address", 128, got, 262144, "sm_100a")
                .find("must have a target with tma_override, got sm_100a"),
            std::string::npos);
}

} // namespace
