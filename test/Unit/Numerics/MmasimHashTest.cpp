//===- MmasimHashTest.cpp - every kind against a published model ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 131,072 outputs of every kind that mmasim 2.1.1 has, on four classes of hostile
// data, by hashes (make_mmasim_hashes.py). The plain model runs the first 16 rows. Set
// BLOCKSCALE_PRINT_TILE to "name,class" to print all bits where hashes differ.
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Emulator/Numerics/Dot.h"
#include "Paths.h"
#include "SeededTiles.h"

#include "../Sanitized.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <set>

using namespace blockscale;
using namespace blockscale::emu;
using test::SeededCase;
using test::SeededTile;

namespace {

using Bits = std::vector<uint32_t>;

/// Rows of codes, packed for `bits` a code.
std::vector<uint8_t> pack(const std::vector<uint64_t> &codes, int rows, int k, unsigned bits) {
  std::vector<uint8_t> out(size_t(rows) * size_t(k) * bits / 8 + 8);
  for (size_t i = 0; i < codes.size(); ++i) {
    uint64_t word;
    std::memcpy(&word, &out[i * bits / 8], 8);
    word |= codes[i] << (i * bits % 8);
    std::memcpy(&out[i * bits / 8], &word, 8);
  }
  (void)rows;
  return out;
}

/// Runs a path over the first `rows` rows; gives the bits of all of D.
struct Job {
  std::string name;
  int rows;
  std::function<Bits(int rows)> run;
};

struct Prepared {
  SeededTile tile;
  std::vector<uint8_t> a, b;
  explicit Prepared(const SeededCase &c) : tile(c) {
    // Scaled kinds take packed codes, the others whole containers.
    auto bits = [&](const std::string &f) {
      return c.hasScales() ? facts::info(facts::parseFormat(f).value()).bits
                           : facts::info(facts::parseWarpFormat(f).value()).bits;
    };
    a = pack(tile.a, test::kTileM, c.k, bits(c.a));
    b = pack(tile.b, test::kTileN, c.k, bits(c.b));
  }
};

MmaInstruction instruction(const SeededCase &c, int rows) {
  MmaInstruction i{};
  i.kind = facts::parseMmaKind(c.kind).value();
  i.a = facts::parseFormat(c.a).value();
  i.b = facts::parseFormat(c.b).value();
  i.scale = facts::parseScaleFormat(c.scale).value();
  i.block = c.block;
  i.m = rows;
  i.n = test::kTileN;
  i.k = c.k;
  return i;
}

Bits runScaled(const SeededCase &c, const Prepared &p, int rows,
               const std::function<void(const MmaInstruction &, const MmaOperands &)> &run) {
  MmaInstruction i = instruction(c, rows);
  std::vector<float> d(size_t(rows) * test::kTileN);
  std::memcpy(d.data(), p.tile.c.data(), d.size() * 4);
  size_t scales = size_t(p.tile.scales);
  MmaOperands o{p.a.data(),        size_t(facts::packedBytes(i.a, c.k)),
                p.b.data(),        size_t(facts::packedBytes(i.b, c.k)),
                p.tile.sfa.data(), scales,
                p.tile.sfb.data(), scales,
                d.data(),          size_t(test::kTileN)};
  run(i, o);
  Bits bits(d.size());
  std::memcpy(bits.data(), d.data(), d.size() * 4);
  return bits;
}

DotModel modelOf(const SeededCase &c) {
  auto format = facts::parseWarpFormat(c.a).value();
  auto result = c.half() ? facts::WarpResult::f16 : facts::WarpResult::f32;
  if (c.op == "wgmma")
    return wgmmaModel(format, result);
  if (c.op == "tcgen05")
    return tensorModel(facts::info(format).bits, result);
  ChipDot chip = mmaSyncModel(facts::parseArch(c.chip).value(), format, c.k, result);
  EXPECT_TRUE(chip.published) << c.name();
  return chip.model;
}

Bits runDot(const SeededCase &c, const Prepared &p, int rows, const DotModel &model, bool plain) {
  DotShape shape{facts::parseWarpFormat(c.a).value(), facts::parseWarpFormat(c.b).value(), rows,
                 test::kTileN, c.k};
  Bits d(p.tile.c.begin(), p.tile.c.begin() + rows * test::kTileN);
  DotOperands o;
  o.a = p.a.data();
  o.b = p.b.data();
  o.aPitch = size_t(c.k) * facts::info(shape.a).bits / 8;
  o.bPitch = size_t(c.k) * facts::info(shape.b).bits / 8;
  o.d = d.data();
  o.dPitch = size_t(test::kTileN);
  (plain ? dotPlain : dot)(shape, model, o);
  return d;
}

std::vector<Job> jobsOf(const SeededCase &c, const Prepared &p) {
  std::vector<Job> jobs;
  if (c.hasScales()) {
    for (const test::NamedPath &path : test::paths())
      jobs.push_back({path.name, path.host == MmaHost::scalar ? test::kBand : test::kTileM,
                      [&c, &p, path](int rows) {
                        return runScaled(c, p, rows,
                                         [&](const auto &i, const auto &o) { path.run(i, o); });
                      }});
    return jobs;
  }
  DotModel model = modelOf(c);
  for (bool plain : {false, true})
    jobs.push_back({plain ? "plain" : "fast", plain ? test::kBand : test::kTileM,
                    [&c, &p, model, plain](int rows) { return runDot(c, p, rows, model, plain); }});
  return jobs;
}

/// The bits of a wrong model: `more` bits kept.
Bits wrong(const SeededCase &c, const Prepared &p, int more, int rows) {
  if (c.hasScales())
    return runScaled(c, p, rows, [&](const auto &i, const auto &o) {
      SumModel model = sumModel(i.kind);
      mmaPlain(i, o, {model.fractionBits + more, model.zeroExponent});
    });
  DotModel model = modelOf(c);
  model.sum.fractionBits += more;
  return runDot(c, p, rows, model, /*plain=*/true);
}

/// Does a wrong model differ in the first `rows` rows?
bool isNoticed(const SeededCase &c, const Prepared &p, int more, int rows) {
  Bits d = wrong(c, p, more, rows);
  for (int band = 0; band < rows / test::kBand; ++band)
    if (test::bandHash(&d[size_t(band) * test::kBand * test::kTileN]) != c.hashes[band])
      return true;
  return false;
}

class MmasimHashes : public testing::TestWithParam<int> {};
constexpr int kParts = 8;                        // ctest runs them side by side
constexpr int kPartsRun = test::thinned(kParts); // each has every path of every eighth kind

TEST_P(MmasimHashes, EveryPathGivesItsBits) {
  const char *print = std::getenv("BLOCKSCALE_PRINT_TILE");
  std::map<std::string, size_t> outputs;
  std::map<std::string, int> noticed; // bit 0: one bit less, bit 1: one bit more
  std::vector<SeededCase> cases = test::readSeededCases();
  for (size_t i = 0; i < cases.size(); ++i) {
    const SeededCase &c = cases[i];
    if (int(i / 4 % kParts) != GetParam()) // a kind is four lines
      continue;
    Prepared p(c);
    for (const Job &job : jobsOf(c, p)) {
      Bits d = job.run(job.rows);
      for (int band = 0; band < job.rows / test::kBand; ++band)
        EXPECT_EQ(test::bandHash(&d[size_t(band) * test::kBand * test::kTileN]), c.hashes[band])
            << c.name() << " " << c.dataClass << " path " << job.name << " rows "
            << band * test::kBand << ".., first outputs " << std::hex << d[0] << " " << d[1] << " "
            << d[2] << " " << d[3] << ", must be " << c.first[0] << " " << c.first[1] << " "
            << c.first[2] << " " << c.first[3];
      if (print && print == c.name() + "," + c.dataClass)
        for (size_t at = 0; at < d.size(); ++at)
          std::printf("%08x%c", d[at], at % test::kTileN == test::kTileN - 1 ? '\n' : ' ');
    }
    outputs[c.name()] += size_t(test::kTileM) * test::kTileN;
    for (int more : {-1, 1})
      if (isNoticed(c, p, more, test::kBand))
        noticed[c.name()] |= more < 0 ? 1 : 2;
  }
  // A bit more changes few results in f16 of narrow operands: all rows, where 16 do not show it.
  for (const SeededCase &c : cases)
    for (int more : {-1, 1})
      if (int bit = more < 0 ? 1 : 2; outputs.count(c.name()) && !(noticed[c.name()] & bit))
        if (isNoticed(c, Prepared(c), more, test::kTileM))
          noticed[c.name()] |= bit;
  for (const auto &[name, count] : outputs) {
    EXPECT_GE(count, 100000u) << name;
    EXPECT_EQ(noticed[name], 3) << name << ": a model that is one bit off must be noticed";
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, MmasimHashes, testing::Range(0, kPartsRun));

} // namespace
