//===- blockscale-bench-mma.cpp - speed of the emulator's products --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One core, one instruction of M = 128, N = 256 over and over, as in a kernel's
// K loop: raw operand bytes in, accumulators updated, decoding included. Prints
// "emulator.KIND.DATA.gflops = VALUE" lines, medians of short runs.
//
// benign: quantised normal matrices, accumulators carried along.
// hostile: FP4: random bits everywhere, all scales, random-bit accumulators;
// FP8: uniform bytes without NaN, scales 2^-4 .. 2^4.
// nan (FP8 only): uniform bytes with every NaN and infinity, random-bit accumulators.
//
//   blockscale-bench-mma [--all] [--only=KIND] [--host=avx512|avx2|scalar] [--path=general|plain]
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Convert.h"
#include "blockscale/Emulator/Mma.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <vector>

using namespace blockscale;
using namespace blockscale::emu;
using facts::Format;
using facts::MmaKind;
using facts::ScaleFormat;

namespace {

constexpr int kRows = 128, kColumns = 256;
constexpr int kSteps = 8; // instructions along K that share accumulators
constexpr double kRunSeconds = 0.05;
constexpr int kRuns = 5;

struct Config {
  const char *key;
  MmaKind kind;
  Format format;
  ScaleFormat scale;
  int block, k;
  bool listed; // printed without --all
};

const Config kConfigs[] = {
    {"nvfp4", MmaKind::mxf4nvf4, Format::e2m1, ScaleFormat::ue4m3, 16, 64, true},
    {"mxfp4", MmaKind::mxf4, Format::e2m1, ScaleFormat::ue8m0, 32, 64, true},
    {"mxfp8", MmaKind::mxf8f6f4, Format::e4m3, ScaleFormat::ue8m0, 32, 32, true},
    {"nvfp4_k128", MmaKind::mxf4nvf4, Format::e2m1, ScaleFormat::ue4m3, 16, 128, false},
    {"mxfp4_k128", MmaKind::mxf4, Format::e2m1, ScaleFormat::ue8m0, 32, 128, false},
    {"mxfp8_k64", MmaKind::mxf8f6f4, Format::e4m3, ScaleFormat::ue8m0, 32, 64, false},
    {"mxfp8_e5m2", MmaKind::mxf8f6f4, Format::e5m2, ScaleFormat::ue8m0, 32, 32, true},
};

enum class Data { benign, hostile, nan };
constexpr const char *kDataNames[] = {"benign", "hostile", "nan"};

std::mt19937_64 random64(7);

/// A quantised matrix: what a quantiser makes of a normal one.
struct Matrix {
  std::vector<uint8_t> elements, scales;
};

Matrix benignMatrix(const Config &c, int rows, int k) {
  std::normal_distribution<float> normal;
  const facts::FormatInfo &f = facts::info(c.format);
  Matrix result;
  result.elements.resize(size_t(rows) * facts::packedBytes(c.format, k));
  for (int r = 0; r < rows; ++r)
    for (int k0 = 0; k0 < k; k0 += c.block) {
      std::vector<float> x(c.block);
      float most = 0;
      for (float &value : x)
        most = std::max(most, std::fabs(value = normal(random64)));
      // NVFP4: the tensor's scale makes the largest block scale 448.
      float wanted = c.scale == ScaleFormat::ue4m3 ? most / 4.5f * 448.0f : most / float(f.max);
      uint8_t scale =
          encode(c.scale, wanted, c.scale == ScaleFormat::ue8m0 ? Round::up : Round::nearestEven);
      result.scales.push_back(scale);
      float divisor =
          decode(c.scale, scale) * (c.scale == ScaleFormat::ue4m3 ? 4.5f / (448.0f * 6.0f) : 1.0f);
      for (int j = 0; j < c.block; ++j) {
        uint32_t code = encode(c.format, x[j] / divisor);
        size_t element = size_t(r) * k + k0 + j;
        if (f.bits == 4)
          result.elements[element / 2] |= uint8_t(code << 4 * (element % 2));
        else
          result.elements[element] = uint8_t(code);
      }
    }
  return result;
}

Matrix hostileMatrix(const Config &c, Data data, int rows, int k) {
  Matrix result;
  result.elements.resize(size_t(rows) * facts::packedBytes(c.format, k));
  for (uint8_t &byte : result.elements) {
    byte = uint8_t(random64());
    if (data == Data::nan)
      continue;
    if (c.format == Format::e4m3 && (byte & 0x7F) == 0x7F)
      byte ^= 1;
    if (c.format == Format::e5m2 && (byte & 0x7F) >= 0x7C)
      byte ^= 0x40;
  }
  for (int i = 0; i < rows * k / c.block; ++i)
    result.scales.push_back(c.kind == MmaKind::mxf8f6f4
                                ? uint8_t(123 + random64() % 9)
                                : uint8_t(random64() % facts::info(c.scale).nan));
  return result;
}

double threadSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

double gflops(const Config &c, Data data, MmaPath path, MmaHost host) {
  const bool hostile = data != Data::benign;
  int k = c.k * kSteps;
  Matrix a = hostile ? hostileMatrix(c, data, kRows, k) : benignMatrix(c, kRows, k);
  Matrix b = hostile ? hostileMatrix(c, data, kColumns, k) : benignMatrix(c, kColumns, k);
  MmaInstruction i{};
  i.kind = c.kind, i.a = i.b = c.format, i.scale = c.scale, i.block = c.block;
  i.m = kRows, i.n = kColumns, i.k = c.k;
  size_t pitch = size_t(facts::packedBytes(c.format, k)), scalePitch = size_t(k / c.block);
  // The pitch of the emulator's tensor memory.
  constexpr size_t dPitch = 512;
  std::vector<float> d(kRows * dPitch), start(d.size());
  for (float &value : start) {
    uint32_t bits = uint32_t(random64());
    if ((bits >> 23 & 0xFF) == 0xFF)
      bits ^= 0x40000000;
    bool isRandom = data == Data::nan || (hostile && c.kind != MmaKind::mxf8f6f4);
    value = isRandom ? std::bit_cast<float>(bits) : 0.0f;
  }
  // Seconds in mma() of one walk along K.
  auto chain = [&] {
    double seconds = 0;
    for (int step = 0; step < kSteps; ++step) {
      if (hostile)
        d = start;
      i.accumulate = hostile || step > 0;
      MmaOperands o{a.elements.data() + facts::packedBytes(c.format, step * c.k),
                    pitch,
                    b.elements.data() + facts::packedBytes(c.format, step * c.k),
                    pitch,
                    a.scales.data() + step * c.k / c.block,
                    scalePitch,
                    b.scales.data() + step * c.k / c.block,
                    scalePitch,
                    d.data(),
                    dPitch};
      double begin = threadSeconds();
      mma(i, o, path, host);
      seconds += threadSeconds() - begin;
    }
    return seconds;
  };
  chain();
  std::vector<double> rates;
  for (int run = 0; run < kRuns; ++run) {
    int chains = 0;
    double elapsed = 0;
    while (elapsed < kRunSeconds) {
      elapsed += chain();
      ++chains;
    }
    rates.push_back(2e-9 * kRows * kColumns * k * chains / elapsed);
  }
  std::sort(rates.begin(), rates.end());
  return rates[rates.size() / 2];
}

} // namespace

int main(int argc, char **argv) {
  bool all = false;
  std::string only;
  MmaPath path = MmaPath::automatic;
  MmaHost host = MmaHost::best;
  for (int n = 1; n < argc; ++n) {
    std::string arg = argv[n];
    if (arg == "--all")
      all = true;
    else if (arg.rfind("--only=", 0) == 0)
      only = arg.substr(7);
    else if (arg == "--path=general")
      path = MmaPath::general;
    else if (arg == "--path=plain")
      path = MmaPath::plain;
    else if (arg == "--host=avx512")
      host = MmaHost::avx512;
    else if (arg == "--host=avx2")
      host = MmaHost::avx2;
    else if (arg == "--host=scalar")
      host = MmaHost::scalar;
    else {
      std::fprintf(stderr,
                   "usage: blockscale-bench-mma [--all] [--only=KIND] [--path=general|plain] "
                   "[--host=avx512|avx2|scalar]\n");
      return 1;
    }
  }
  if (!isAvailable(host)) {
    std::fprintf(stderr, "host: instruction set must be one this processor has\n");
    return 1;
  }
  for (const Config &c : kConfigs)
    if (only.empty() ? c.listed || all : only == c.key)
      for (Data data : {Data::benign, Data::hostile, Data::nan})
        if (data != Data::nan || c.kind == MmaKind::mxf8f6f4)
          std::printf("emulator.%s.%s.gflops = %.1f\n", c.key, kDataNames[int(data)],
                      gflops(c, data, path, host));
  return 0;
}
