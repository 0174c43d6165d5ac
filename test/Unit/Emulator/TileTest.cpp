//===- TileTest.cpp - hand-written PTX of whole tiles ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TMA, mbarrier, UTCCP, MMA, commit, tcgen05.ld and stores in PTX that no lowering
// made, bit for bit against mmasim on hostile data (and against rational sums
// where mmasim lacks the K mode), under every timing.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "../Numerics/MmasimVectors.h"

#include <bit>

using namespace blockscale;
using namespace blockscale::emu;
using namespace blockscale::emu::test;
using blockscale::test::MmasimCase;

namespace {

constexpr int kTile = 128, kRowBytes = 128;

struct Plan {
  const char *vectors, *folder, *file;
  uint32_t idesc;
  int scaleWords; // of one row in the K tile
};

/// A's or B's tensor map: 128 rows of 128 bytes of shared memory, K-major.
facts::TensorMap operandMap(facts::Format f, int rows, int k, uint64_t address, uint64_t pitch,
                            int instructionK) {
  facts::TensorMap m;
  bool padded = facts::info(f).bits < 8 && instructionK == 32;
  m.address = address;
  m.strides = {pitch};
  m.swizzle = facts::TmaSwizzle::b128;
  if (padded) {
    m.type = facts::info(f).bits == 4 ? facts::TmaType::u4Align16 : facts::TmaType::u6Align16;
    m.dims = {128, uint64_t(rows)}; // the tail of K exists and is zero
    m.box = {128, kTile};
  } else {
    m.dims = {uint64_t(facts::packedBytes(f, k)), uint64_t(rows)};
    m.box = {kRowBytes, kTile};
  }
  return m;
}

/// Scales in 512-byte tiles of 128 rows x 4.
std::vector<uint8_t> scaleTiles(const std::vector<uint8_t> &linear, int rows, int perRow,
                                int words) {
  std::vector<uint8_t> out(size_t(words) * 512, 0);
  for (int r = 0; r < rows; ++r)
    for (int s = 0; s < perRow; ++s)
      out[size_t(s / 4 * 512 + r % 32 * 16 + r / 32 * 4 + s % 4)] = linear[size_t(r * perRow + s)];
  return out;
}

std::vector<float> runTile(const MmasimCase &c, const Plan &p, const Options &options,
                           std::string &error) {
  auto device = makeDevice(options);
  std::string path = std::string(BLOCKSCALE_TEST_DIR) + "/data/ptx/" + p.file;
  auto module = load(*device, readFile(path), p.file);
  if (!module) {
    error = module.message();
    return {};
  }
  uint32_t bytes = uint32_t(2 * 512 * p.scaleWords);
  auto upload = [&](const void *from, size_t size) {
    uint64_t a = *device->allocate(size);
    EXPECT_TRUE(bool(device->write(a, from, size)));
    return a;
  };
  auto operand = [&](const std::vector<uint8_t> &rows, facts::Format f, int count) {
    size_t row = size_t(facts::packedBytes(f, c.k));
    bool padded = facts::info(f).bits < 8 && c.instructionK == 32;
    size_t pitch = padded ? (facts::info(f).bits == 4 ? 64 : 96) : (row + 15) / 16 * 16;
    std::vector<uint8_t> image(pitch * size_t(count), 0);
    for (int r = 0; r < count; ++r)
      std::memcpy(image.data() + size_t(r) * pitch, rows.data() + size_t(r) * row, row);
    facts::TensorMap m =
        operandMap(f, count, c.k, upload(image.data(), image.size()), pitch, c.instructionK);
    bytes += uint32_t(kTile * (padded ? pitch : size_t(kRowBytes)));
    auto encoded = encodeTensorMap(facts::Arch::sm_100a, m);
    EXPECT_TRUE(bool(encoded)) << encoded.message();
    KernelParam param;
    if (encoded)
      param.bytes = *encoded;
    return param;
  };
  LaunchConfig launch;
  launch.block = {128, 1, 1};
  launch.sharedBytes = 36992;
  launch.params.push_back(operand(c.aRows, c.a, c.m));
  launch.params.push_back(operand(c.bRows, c.b, c.n));
  int perRow = c.k / c.block;
  auto sfa = scaleTiles(c.sfa, c.m, perRow, p.scaleWords),
       sfb = scaleTiles(c.sfb, c.n, perRow, p.scaleWords);
  launch.params.push_back(param(upload(sfa.data(), sfa.size())));
  launch.params.push_back(param(upload(sfb.data(), sfb.size())));
  std::vector<float> acc(kTile * kTile, 0.0f);
  for (int r = 0; c.accumulate && r < c.m; ++r)
    std::copy_n(c.c.begin() + r * c.n, c.n, acc.begin() + r * kTile);
  launch.params.push_back(param(upload(acc.data(), acc.size() * 4)));
  uint64_t d = upload(acc.data(), acc.size() * 4);
  launch.params.push_back(param(d));
  launch.params.push_back(param(uint32_t(c.accumulate)));
  launch.params.push_back(param(p.idesc));
  launch.params.push_back(param(bytes));
  auto stats = device->launch(**module, "k", launch);
  if (!stats) {
    error = stats.message();
    return {};
  }
  EXPECT_EQ(stats->mmaInstructions, std::string(p.file).find("107") != std::string::npos ? 2u : 4u);
  EXPECT_EQ(stats->evidence.empty(), std::string(p.folder) == "mmasim");
  (void)!device->read(d, acc.data(), acc.size() * 4);
  return acc;
}

size_t mismatches(const MmasimCase &c, const std::vector<float> &d) {
  size_t different = 0;
  for (int r = 0; r < c.m; ++r)
    for (int n = 0; n < c.n; ++n)
      different += std::bit_cast<uint32_t>(d[size_t(r * kTile + n)]) !=
                   std::bit_cast<uint32_t>(c.d[size_t(r * c.n + n)]);
  return different;
}

class Tile : public ::testing::TestWithParam<Plan> {};

TEST_P(Tile, BitEqualToTheReferenceUnderEveryTiming) {
  const Plan &p = GetParam();
  for (const MmasimCase &c : blockscale::test::readMmasimCases(p.vectors, p.folder))
    for (const Options &o : allTimings()) {
      std::string error;
      std::vector<float> d = runTile(c, p, o, error);
      ASSERT_EQ(error, "") << c.dataClass;
      EXPECT_EQ(mismatches(c, d), 0u)
          << c.dataClass << " k=" << c.k << " timing " << int(o.timing) << " seed " << o.seed;
    }
}

// The descriptor words are those that other compilers emit (facts: ptx 14d).
const Plan kPlans[] = {
    {"mxf4nvf4-ue4m3-block16", "mmasim", "nvfp4_tile_sm_100a.ptx", 0x08200480, 4},
    {"mxf4nvf4-ue8m0-block16", "mmasim", "nvfp4_tile_sm_100a.ptx", 0x08a00480, 4},
    {"mxf4-ue8m0-block32", "mmasim", "mxfp4_tile_sm_100a.ptx", 0x08a00480, 2},
    {"mxf8f6f4-e4m3", "mmasim", "mxfp8_tile_sm_100a.ptx", 0x08a00000, 1},
    {"mxf8f6f4-e5m2", "mmasim", "mxfp8_tile_sm_100a.ptx", 0x08a00480, 1},
    {"mxf8f6f4-e5m2-e4m3", "mmasim", "mxfp8_tile_sm_100a.ptx", 0x08a00080, 1},
    {"mxf8f6f4-e2m1-e4m3", "mmasim", "mxfp8_tile_sm_100a.ptx", 0x08a00280, 1},
    {"mxf8f6f4-e2m3-e3m2", "mmasim", "mxfp8_tile_sm_100a.ptx", 0x08a01180, 1},
    {"mxf4nvf4-ue4m3-block16-k128", "mma-extension", "nvfp4_tile_sm_107a.ptx", 0x08200488, 4},
    {"mxf4nvf4-ue5m3-block16-k128", "mma-extension", "nvfp4_tile_sm_107a.ptx", 0x09200488, 4},
    {"mxf4-ue8m0-block32-k128", "mma-extension", "mxfp4_tile_sm_107a.ptx", 0x08a00488, 2},
    {"mxf8f6f4-e4m3-k64", "mma-extension", "mxfp8_tile_sm_107a.ptx", 0x88a00000, 1},
};

INSTANTIATE_TEST_SUITE_P(All, Tile, ::testing::ValuesIn(kPlans), [](const auto &info) {
  std::string name = info.param.vectors;
  for (char &ch : name)
    ch = std::isalnum(static_cast<unsigned char>(ch)) ? ch : '_';
  return name;
});

} // namespace
