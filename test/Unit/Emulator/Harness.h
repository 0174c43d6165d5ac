//===- Harness.h - running PTX in tests -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device, a module and buffers in a few calls. Text is PTX without the header.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_UNIT_EMULATOR_HARNESS_H
#define BLOCKSCALE_TEST_UNIT_EMULATOR_HARNESS_H

#include "FormSwitch.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <sstream>

namespace blockscale::emu::test {

inline std::string header(const std::string &target) {
  return ".version 9.4\n.target " + target + "\n.address_size 64\n";
}

/// A kernel `k(u64 in, u64 out)`: %in and %out hold the addresses, %t the thread,
/// %po is %out + 4 t and %pi is %in + 4 t.
inline std::string kernel(const std::string &body, const std::string &target = "sm_100a",
                          const std::string &vars = "") {
  return header(target) + vars +
         ".visible .entry k(.param .u64 in, .param .u64 out) {\n"
         ".reg .pred %p<8>; .reg .b16 %h<16>; .reg .b32 %r<64>, %t; .reg .f32 %f<32>; .reg .f64 "
         "%d<8>; .reg .b64 %rd<32>, %in, %out, %pi, %po;\n"
         "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;\n"
         "mad.wide.u32 %po, %t, 4, %out; mad.wide.u32 %pi, %t, 4, %in;\n" +
         body + "\nret;\n}\n";
}

struct Ran {
  std::string error; // empty: it ran
  std::vector<uint32_t> out;
  LaunchStats stats;
};

/// Hazard checks off: for what happens in a wrong kernel.
inline Options unchecked() {
  Options o;
  o.hazards.mode = HazardMode::off;
  return o;
}

struct Scene {
  Options options = unchecked();
  Dim3 grid, block{32, 1, 1}, cluster;
  uint64_t shared = 0;
  bool oversized = false; // beyond an ordinary block's shared memory
  size_t outWords = 256;
  std::vector<uint32_t> in = std::vector<uint32_t>(64, 0);
  /// Fills the input once its address is known (tensor maps).
  std::function<void(uint64_t in, uint64_t out, std::vector<uint32_t> &)> fill;
  /// What `out` holds before; 0xAA without it.
  std::function<void(uint8_t *)> outFill;
};

template <typename T> KernelParam param(T value) {
  KernelParam p;
  p.bytes.resize(sizeof(T));
  std::memcpy(p.bytes.data(), &value, sizeof(T));
  return p;
}

/// The texts of tests are what fuzzing starts from (test/Fuzz/corpus.py).
inline void keepForFuzzing(const std::string &ptx) {
  if (const char *folder = std::getenv("BLOCKSCALE_KEEP_PTX"))
    std::ofstream(std::string(folder) + "/" + std::to_string(std::hash<std::string>()(ptx)) +
                  ".ptx")
        << ptx;
}

/// A refusal of the machine: its code has a row that says what is missing or wrong. A report of
/// the hazard checks says it anyway.
inline void expectLack(const std::string &error) {
  const std::string text = error.substr(std::min(error.find(": "), error.size()));
  if (error.rfind("t.ptx:", 0) != 0 || text.rfind(": launch_", 0) == 0 ||
      text.rfind(": mma_unmodelled: products of a kernel", 0) == 0)
    return; // refused before it ran
  const bool missing = error.find("\n  missing: ") != std::string::npos,
             wrong = error.find("\n  wrong: ") != std::string::npos;
  EXPECT_TRUE(missing || wrong) << error;
}

/// Runs k(in, out) with `out` filled with 0xAAAAAAAA. What is refused is run once more with the
/// hazard checks on, where the refusal must say what is missing or wrong.
inline Ran run(const std::string &ptx, const Scene &scene = {}) {
  Ran r;
  keepForFuzzing(ptx);
  Scene s = scene;
  auto device = makeDevice(s.options);
  auto module = load(*device, ptx, "t.ptx");
  if (!module) {
    r.error = module.message();
    return r;
  }
  uint64_t in = *device->allocate(s.in.size() * 4), out = *device->allocate(s.outWords * 4);
  r.out.assign(s.outWords, 0xAAAAAAAA);
  std::vector<uint32_t> input = s.in;
  if (s.fill)
    s.fill(in, out, input);
  if (s.outFill)
    s.outFill(reinterpret_cast<uint8_t *>(r.out.data()));
  (void)!device->write(in, input.data(), input.size() * 4);
  (void)!device->write(out, r.out.data(), r.out.size() * 4);
  LaunchConfig c;
  c.grid = s.grid;
  c.block = s.block;
  c.cluster = s.cluster;
  c.sharedBytes = s.shared;
  c.oversizedShared = s.oversized;
  c.params = {param(in), param(out)};
  auto stats = device->launch(**module, "k", c);
  if (!stats) {
    r.error = stats.message();
    if (s.options.hazards.mode != HazardMode::off) {
      expectLack(r.error);
    } else if (!s.options.disabledForm) {
      s.options.hazards.mode = HazardMode::on;
      run(ptx, s);
    }
    return r;
  }
  r.stats = *stats;
  (void)!device->read(out, r.out.data(), r.out.size() * 4);
  return r;
}

inline std::string readFile(const std::string &path) {
  std::ifstream f(path, std::ios::binary);
  std::stringstream s;
  s << f.rdbuf();
  return s.str();
}

/// All timings a right kernel must give the same result under.
inline std::vector<Options> allTimings() {
  std::vector<Options> out(2, unchecked());
  out[1].timing = Timing::latest;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    Options o = unchecked();
    o.timing = Timing::random;
    o.seed = seed;
    out.push_back(o);
  }
  return out;
}

} // namespace blockscale::emu::test

#endif // BLOCKSCALE_TEST_UNIT_EMULATOR_HARNESS_H
