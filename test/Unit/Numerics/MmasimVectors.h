//===- MmasimVectors.h - reads test/data/mmasim ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The format is described in make_mmasim_vectors.py, which writes the files.
// A case of several instructions along K (k > instructionK) is their chain.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_UNIT_NUMERICS_MMASIMVECTORS_H
#define BLOCKSCALE_TEST_UNIT_NUMERICS_MMASIMVECTORS_H

#include "blockscale/Emulator/Mma.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace blockscale::test {

/// One tile: operands as plain rows, the accumulator before, and the result.
struct MmasimCase {
  facts::MmaKind kind;
  facts::Format a, b;
  facts::ScaleFormat scale;
  std::string dataClass; // uniform, full-range, cancellation, specials, zero-d
  int block, m, n, k, instructionK;
  bool accumulate;
  std::vector<uint8_t> aRows, bRows, sfa, sfb; // pitches: the whole row
  std::vector<float> c, d;                     // [m][n]; c is empty unless accumulate

  size_t aPitch() const { return size_t(facts::packedBytes(a, k)); }
  size_t bPitch() const { return size_t(facts::packedBytes(b, k)); }
  size_t scalePitch() const { return size_t(k / block); }

  /// The instruction of the chain.
  emu::MmaInstruction instruction() const {
    emu::MmaInstruction i{};
    i.kind = kind;
    i.a = a;
    i.b = b;
    i.scale = scale;
    i.block = block;
    i.m = m;
    i.n = n;
    i.k = instructionK;
    return i;
  }
};

/// All cases of a file such as "mxf4nvf4-ue4m3-block16"; throws if unreadable.
inline std::vector<MmasimCase> readMmasimCases(const std::string &name,
                                               const std::string &folder = "mmasim") {
  std::string path = std::string(BLOCKSCALE_TEST_DIR) + "/data/" + folder + "/" + name + ".bin";
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  size_t at = 0;
  auto take = [&](void *to, size_t size) {
    if (at + size > bytes.size())
      throw std::runtime_error(path + ": missing or too short");
    std::memcpy(to, bytes.data() + at, size);
    at += size;
  };
  auto takeText = [&](size_t size) {
    std::string text(size, '\0');
    take(text.data(), size);
    return std::string(text.c_str());
  };
  auto takeWord = [&] {
    uint32_t word;
    take(&word, 4);
    return word;
  };
  if (takeText(8) != "BSMMAVEC")
    throw std::runtime_error(path + ": not a vector file");
  std::vector<MmasimCase> cases(takeWord());
  for (MmasimCase &c : cases) {
    c.kind = facts::parseMmaKind(takeText(16)).value();
    c.a = facts::parseFormat(takeText(8)).value();
    c.b = facts::parseFormat(takeText(8)).value();
    c.scale = facts::parseScaleFormat(takeText(8)).value();
    c.dataClass = takeText(32);
    for (int *field : {&c.block, &c.m, &c.n, &c.k, &c.instructionK})
      *field = int(takeWord());
    c.accumulate = takeWord() != 0;
    auto takeBytes = [&](std::vector<uint8_t> &to, size_t size) {
      to.resize(size);
      take(to.data(), size);
    };
    takeBytes(c.aRows, size_t(c.m) * c.aPitch());
    takeBytes(c.bRows, size_t(c.n) * c.bPitch());
    takeBytes(c.sfa, size_t(c.m) * c.scalePitch());
    takeBytes(c.sfb, size_t(c.n) * c.scalePitch());
    if (c.accumulate) {
      c.c.resize(size_t(c.m) * c.n);
      take(c.c.data(), c.c.size() * 4);
    }
    c.d.resize(size_t(c.m) * c.n);
    take(c.d.data(), c.d.size() * 4);
  }
  return cases;
}

} // namespace blockscale::test

#endif // BLOCKSCALE_TEST_UNIT_NUMERICS_MMASIMVECTORS_H
