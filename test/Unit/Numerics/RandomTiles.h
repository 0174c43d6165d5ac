//===- RandomTiles.h - operands of every data class -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_UNIT_NUMERICS_RANDOMTILES_H
#define BLOCKSCALE_TEST_UNIT_NUMERICS_RANDOMTILES_H

#include "blockscale/Emulator/Mma.h"

#include <bit>
#include <cmath>
#include <random>
#include <vector>

namespace blockscale::test {

enum class Data {
  quantised,  // like a quantised normal matrix, D of the size of the sums
  uniform,    // uniform bytes without NaN, scales 2^-4 .. 2^4, D of the size of the sums
  wide,       // uniform bytes, all scales, random-bit D
  cancelling, // the second half of K cancels the first; D small
  sparse,     // many zero elements, groups, rows and scales
  specials,   // NaN and infinity in elements, scales and D
  heavy,      // large elements of one sign a row; scales and D up to where floats end
};
inline constexpr Data kAllData[] = {Data::quantised, Data::uniform,  Data::wide, Data::cancelling,
                                    Data::sparse,    Data::specials, Data::heavy};

/// Operands of one instruction, with room around the rows that a path must not
/// read as data nor write.
struct RandomTile {
  emu::MmaInstruction instruction;
  std::vector<uint8_t> a, b, sfa, sfb;
  std::vector<float> d;
  size_t aPitch, bPitch, scalePitch, dPitch;

  emu::MmaOperands operands(float *to) const {
    return {a.data(),   aPitch,     b.data(),   bPitch, sfa.data(),
            scalePitch, sfb.data(), scalePitch, to,     dPitch};
  }
};

class TileMaker {
public:
  explicit TileMaker(uint64_t seed) : random(seed) {}

  RandomTile make(const emu::MmaInstruction &i, Data data) {
    RandomTile t;
    t.instruction = i;
    auto rowBytes = [&](facts::Format f, emu::Packing packing) {
      return packing == emu::Packing::dense ? size_t(facts::packedBytes(f, i.k)) : size_t(i.k);
    };
    t.aPitch = rowBytes(i.a, i.aPacking) + 16 * below(3);
    t.bPitch = rowBytes(i.b, i.bPacking) + 16 * below(3);
    t.scalePitch = size_t(i.k / i.block) + below(5);
    t.dPitch = size_t(i.n) + 8 * below(3);
    t.a = elements(i.a, i.aPacking, i.m, t.aPitch, i.k, data);
    t.b = elements(i.b, i.bPacking, i.n, t.bPitch, i.k, data);
    t.sfa = scales(i.scale, size_t(i.m) * t.scalePitch, data);
    t.sfb = scales(i.scale, size_t(i.n) * t.scalePitch, data);
    t.d.resize(size_t(i.m) * t.dPitch);
    for (float &value : t.d)
      value = accumulator(i, data);
    if (data == Data::cancelling)
      cancel(t);
    return t;
  }

private:
  uint32_t below(uint32_t n) { return uint32_t(random() % n); }
  float normal() { return std::normal_distribution<float>()(random); }

  uint32_t element(facts::Format f, Data data) {
    const facts::FormatInfo &info = facts::info(f);
    uint32_t sign = below(2) << (info.bits - 1);
    uint32_t magnitudes = 1u << (info.bits - 1);
    if (data == Data::sparse && below(3) != 0)
      return sign;
    if (data == Data::quantised) { // a normal value cut to the format
      float v = std::min(std::fabs(normal()) * float(info.max) / 3.0f, float(info.max));
      int e = std::max(v > 0 ? std::ilogb(v) : -99, 1 - info.bias);
      uint32_t unit = uint32_t(std::ldexp(v, int(info.mantissaBits) - e));
      return sign | ((uint32_t(e - (1 - info.bias)) << info.mantissaBits) + unit);
    }
    uint32_t code = below(magnitudes);
    bool special =
        (f == facts::Format::e4m3 && code == 0x7F) || (f == facts::Format::e5m2 && code >= 0x7C);
    if (special && (data != Data::specials || below(8) != 0))
      code = 0x38;
    return sign | code;
  }

  /// The code of the largest finite element.
  static uint32_t largest(facts::Format f) {
    if (f == facts::Format::e4m3)
      return 0x7E;
    return f == facts::Format::e5m2 ? 0x7B : (1u << (facts::info(f).bits - 1)) - 1;
  }

  std::vector<uint8_t> elements(facts::Format f, emu::Packing packing, int rows, size_t pitch,
                                int k, Data data) {
    std::vector<uint8_t> bytes(size_t(rows) * pitch);
    for (uint8_t &byte : bytes)
      byte = uint8_t(random());
    unsigned bits = facts::info(f).bits;
    for (int r = 0; r < rows; ++r) {
      bool zeroRow = data == Data::sparse && below(8) == 0;
      uint32_t rowSign = below(2) << (bits - 1);
      int zeroGroup = data == Data::sparse ? int(below(uint32_t(k / 16))) : -1;
      for (int j = 0; j < k; ++j) {
        uint32_t code = zeroRow || j / 16 == zeroGroup ? 0 : element(f, data);
        if (data == Data::heavy)
          code = rowSign | (largest(f) - below(3));
        size_t at = packing == emu::Packing::dense ? size_t(j) * bits
                                                   : size_t(j / 16) * 128 + size_t(j % 16) * bits;
        for (unsigned bit = 0; bit < bits; ++bit, ++at) {
          uint8_t &byte = bytes[r * pitch + at / 8];
          byte = uint8_t((byte & ~(1u << at % 8)) | (code >> bit & 1) << at % 8);
        }
      }
    }
    return bytes;
  }

  std::vector<uint8_t> scales(facts::ScaleFormat f, size_t count, Data data) {
    std::vector<uint8_t> bytes(count);
    const facts::ScaleFormatInfo &info = facts::info(f);
    uint8_t step = f == facts::ScaleFormat::ue8m0 ? 1 : 8; // of one binade
    for (uint8_t &byte : bytes) {
      if (data == Data::quantised)
        byte = uint8_t(info.one - step + below(uint32_t(2 * step)));
      else if (data == Data::uniform || data == Data::cancelling)
        byte = uint8_t(info.one - 4 * step + below(uint32_t(8 * step)));
      else if (data == Data::heavy)
        byte = below(2) ? info.one : uint8_t(info.one + (step == 1 ? 45 + below(14) : below(48)));
      else
        byte = uint8_t(below(info.nan));
      if (data == Data::sparse && below(4) == 0)
        byte = 0;
      if (data == Data::specials && below(300) == 0)
        byte = info.nan;
    }
    return bytes;
  }

  float accumulator(const emu::MmaInstruction &i, Data data) {
    switch (data) {
    case Data::quantised:
    case Data::uniform:
      return normal() * 30.0f;
    case Data::cancelling:
      return normal() * std::ldexp(1.0f, int(below(60)) - 40);
    case Data::sparse:
      return below(2) ? 0.0f : below(2) ? -0.0f : std::ldexp(normal(), int(below(250)) - 140);
    case Data::specials: {
      static const uint32_t bits[] = {0x7F800000, 0xFF800000, 0x7FC00000, 0x80000001,
                                      0x7F7FFFFF, 0xFF7FFFFF, 0x00000001, 0x80000000};
      return below(20) == 0 ? std::bit_cast<float>(bits[below(8)]) : normal();
    }
    case Data::heavy:
      return normal() * std::ldexp(1.0f, below(2) ? 0 : 100 + int(below(25)));
    case Data::wide:
      break;
    }
    uint32_t bits = uint32_t(random());
    return std::bit_cast<float>((bits >> 23 & 0xFF) == 0xFF ? bits ^ 0x40000000 : bits);
  }

  /// Makes the second half of every row of A the first with opposite sign, and
  /// that of B equal to it, but for one element.
  void cancel(RandomTile &t) {
    const emu::MmaInstruction &i = t.instruction;
    if (i.aPacking != emu::Packing::dense || i.bPacking != emu::Packing::dense)
      return;
    auto mirror = [&](std::vector<uint8_t> &bytes, size_t pitch, facts::Format f, int rows,
                      bool negate) {
      size_t half = size_t(facts::packedBytes(f, i.k / 2));
      uint8_t flip = facts::info(f).bits == 8 ? 0x80 : facts::info(f).bits == 4 ? 0x88 : 0;
      for (int r = 0; r < rows; ++r) {
        for (size_t j = 0; j < half; ++j)
          bytes[r * pitch + half + j] = bytes[r * pitch + j] ^ (negate ? flip : 0);
        bytes[r * pitch + half] ^= 1;
      }
    };
    mirror(t.a, t.aPitch, i.a, i.m, true);
    mirror(t.b, t.bPitch, i.b, i.n, false);
  }

  std::mt19937_64 random;
};

} // namespace blockscale::test

#endif // BLOCKSCALE_TEST_UNIT_NUMERICS_RANDOMTILES_H
