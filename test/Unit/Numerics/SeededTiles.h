//===- SeededTiles.h - tiles that Python and C++ make from a name ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same as seeded.py, which says what the classes are; a change here needs one
// there. Results are compared by hashes of 16 rows.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_UNIT_NUMERICS_SEEDEDTILES_H
#define BLOCKSCALE_TEST_UNIT_NUMERICS_SEEDEDTILES_H

#include "blockscale/Facts/WarpMma.h"

#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace blockscale::test {

inline constexpr int kTileM = 128, kTileN = 256, kBand = 16, kBands = kTileM / kBand;

/// One line of hashes.txt.
struct SeededCase {
  std::string op, chip, kind, a, b, scale, d, dataClass;
  int block = 0, k = 0;
  uint64_t hashes[kBands];
  uint32_t first[4]; // outputs 0..3 of row 0

  std::string name() const {
    std::ostringstream out;
    out << op << ' ' << chip << ' ' << kind << ' ' << a << ' ' << b << ' ' << scale << ' ' << block
        << ' ' << k << ' ' << d;
    return out.str();
  }
  bool half() const { return d == "f16"; }
  bool hasScales() const { return scale != "-"; }
};

inline std::vector<SeededCase> readSeededCases() {
  std::string path = std::string(BLOCKSCALE_TEST_DIR) + "/data/mmasim/hashes.txt";
  std::ifstream file(path);
  std::vector<SeededCase> cases;
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    SeededCase c;
    line >> c.op >> c.chip >> c.kind >> c.a >> c.b >> c.scale >> c.block >> c.k >> c.d >>
        c.dataClass >> std::hex;
    for (uint64_t &h : c.hashes)
      line >> h;
    for (uint32_t &v : c.first)
      line >> v;
    if (!line)
      throw std::runtime_error(path + ": not a line of hashes: " + text);
    cases.push_back(c);
  }
  if (cases.empty())
    throw std::runtime_error(path + ": missing or empty");
  return cases;
}

inline uint64_t mix(uint64_t z) {
  z ^= z >> 30;
  z *= 0xBF58476D1CE4E5B9ull;
  z ^= z >> 27;
  z *= 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

class SeededTile {
public:
  std::vector<uint64_t> a, b;    // codes, [rows][k]
  std::vector<uint8_t> sfa, sfb; // [rows][k / block]
  std::vector<uint32_t> c;       // [128][256] bits
  int scales = 0;

  explicit SeededTile(const SeededCase &s) : s(s) {
    seed = 0x811C9DC5u;
    for (char byte : s.name() + " " + s.dataClass)
      seed = (seed ^ uint8_t(byte)) * 0x01000193u;
    a = codes(0, s.a, kTileM);
    b = codes(2, s.b, kTileN);
    if (s.dataClass == "cancellation")
      cancel();
    if (s.hasScales()) {
      scales = s.k / s.block;
      sfa = makeScales(4, kTileM);
      sfb = makeScales(6, kTileN);
    }
    makeAccumulators();
  }

private:
  struct Fields {
    unsigned e, m;
    bool infinity, nan;
    uint64_t top() const { return (uint64_t(1) << e) - 1; }
    uint64_t sign() const { return uint64_t(1) << (e + m); }
    uint64_t topExponentBit() const { return uint64_t(1) << (e + m - 1); }
    bool isSpecial(uint64_t code) const {
      if (infinity)
        return (code >> m & top()) == top();
      return nan && (code & (sign() - 1)) == sign() - 1;
    }
  };
  static Fields fields(const std::string &format) {
    const facts::WarpFormatInfo &f = facts::info(facts::parseWarpFormat(format).value());
    // A tf32 operand is a float of which some bits do not count.
    return {f.exponentBits, format == "tf32" ? 23 : f.mantissaBits, f.hasInfinity, f.hasNan};
  }

  uint64_t draw(unsigned stream, size_t index) const {
    return mix((uint64_t(seed) << 8 | stream) * 0x9E3779B97F4A7C15ull +
               (index + 1) * 0xD1B54A32D192ED03ull);
  }

  std::vector<uint64_t> codes(unsigned stream, const std::string &format, int rows) const {
    Fields f = fields(format);
    std::vector<uint64_t> out(size_t(rows) * size_t(s.k));
    for (size_t i = 0; i < out.size(); ++i) {
      uint64_t h = draw(stream, i), code = h & (2 * f.sign() - 1);
      if (s.dataClass != "full-range" && f.e == 8)
        code = (code & ~(f.top() << f.m)) | (119 + (h >> 40 & 15)) << f.m;
      if (f.isSpecial(code))
        code ^= f.topExponentBit();
      if (s.dataClass == "specials") {
        uint64_t h2 = draw(stream + 1, i), pick = h2 & 255;
        uint64_t sign = (h2 >> 8 & 1) << (f.e + f.m);
        uint64_t fraction = h2 >> 9 & 1 ? h2 >> 10 & ((uint64_t(1) << f.m) - 1) : 0;
        if (pick == 0 && f.infinity)
          code = sign | f.top() << f.m | fraction;
        else if (pick == 0 && f.nan)
          code = sign | (f.sign() - 1);
        else if (pick == 1 || pick == 2)
          code = pick == 1 ? 0 : f.sign();
      }
      out[i] = code;
    }
    return out;
  }

  /// The second half of K cancels the first, apart from some small pairs.
  void cancel() {
    Fields f = fields(s.a);
    int half = s.k / 2;
    for (int k = 0; k < half; ++k) {
      bool keep = s.scale == "ue4m3" ? k / s.block % 2 == 1 : (draw(8, size_t(k)) & 3) == 0;
      for (int m = 0; m < kTileM; ++m) {
        uint64_t &first = a[size_t(m * s.k + k)], &second = a[size_t(m * s.k + k + half)];
        if (keep) {
          first &= ~f.topExponentBit();
          second &= ~f.topExponentBit();
        } else {
          second = first ^ f.sign();
        }
      }
      for (int n = 0; n < kTileN && !keep; ++n)
        b[size_t(n * s.k + k + half)] = b[size_t(n * s.k + k)];
    }
  }

  std::vector<uint8_t> makeScales(unsigned stream, int rows) const {
    bool bare = s.scale == "ue8m0";
    uint64_t nan = bare ? 0xFF : 0x7F;
    std::vector<uint8_t> out(size_t(rows) * size_t(scales));
    for (size_t i = 0; i < out.size(); ++i) {
      uint64_t h = draw(stream, i), v = bare ? 123 + h % 9 : 0x18 + h % 0x41;
      if (s.dataClass == "full-range")
        v = h % (bare ? 255 : 127);
      if (s.dataClass == "cancellation" && !bare)
        v = i % size_t(scales) % 2 == 0 ? 0x70 + h % 15 : 1 + h % 20;
      if (s.dataClass == "specials") {
        uint64_t pick = draw(stream + 1, i) & 255;
        v = pick == 0 ? nan : pick == 1 ? 0 : pick == 2 ? nan - 1 : v;
      }
      out[i] = uint8_t(v);
    }
    if (s.dataClass == "cancellation")
      for (int r = 0; r < rows; ++r)
        for (int i = 0; i < scales / 2; ++i)
          out[size_t(r * scales + scales / 2 + i)] = out[size_t(r * scales + i)];
    return out;
  }

  void makeAccumulators() {
    unsigned e = s.half() ? 5 : 8, m = s.half() ? 10 : 23;
    uint64_t top = (1u << e) - 1, sign = uint64_t(1) << (e + m);
    c.resize(size_t(kTileM) * kTileN);
    for (size_t i = 0; i < c.size(); ++i) {
      uint64_t h = draw(10, i), v = h & (2 * sign - 1), field = v >> m & top;
      if (s.dataClass == "cancellation")
        field = s.half() ? 1 + (h >> 40 & 7) : 87 + (h >> 40) % 41;
      else if (s.dataClass != "full-range" && !s.half())
        field = 97 + (h >> 40) % 61;
      v = (v & ~(top << m)) | field << m;
      if (field == top)
        v ^= uint64_t(1) << (e + m - 1);
      if (s.dataClass == "specials") {
        uint64_t h2 = draw(11, i), inf = top << m;
        const uint64_t list[] = {inf,      sign | inf, inf | 1,         sign, 0, 5,
                                 sign | 3, inf - 1,    sign | (inf - 1)};
        if ((h2 & 15) == 0)
          v = list[(h2 >> 8) % 9];
      }
      c[i] = uint32_t(v);
    }
  }

  const SeededCase &s;
  uint32_t seed;
};

inline uint64_t bandHash(const uint32_t *bits) {
  uint64_t sum = 0;
  for (size_t i = 0; i < size_t(kBand) * kTileN; ++i)
    sum += mix((uint64_t(bits[i]) << 32) + i * 0x9E3779B97F4A7C15ull);
  return sum;
}

} // namespace blockscale::test

#endif // BLOCKSCALE_TEST_UNIT_NUMERICS_SEEDEDTILES_H
