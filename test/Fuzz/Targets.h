//===- Targets.h - what is fuzzed -----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each target takes any bytes. Whatever they are, nothing crashes, hangs or takes
// memory without bound, every refusal is one line, and what is accepted keeps its
// promises; a promise that is broken ends the process. The same functions run under
// libFuzzer and in the test that replays what fuzzing has found.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_FUZZ_TARGETS_H
#define BLOCKSCALE_TEST_FUZZ_TARGETS_H

#include <array>
#include <string>
#include <string_view>

namespace blockscale::fuzz {

void arrays(std::string_view bytes);
void descriptors(std::string_view bytes);
void manifest(std::string_view bytes);
void ptx(std::string_view bytes);

struct Target {
  std::string_view name;
  void (*run)(std::string_view bytes);
};
inline constexpr std::array<Target, 4> kTargets{
    {{"arrays", arrays}, {"descriptors", descriptors}, {"manifest", manifest}, {"ptx", ptx}}};

/// Ends the process, so that the fuzzer keeps the input, unless `holds`.
void require(bool holds, std::string_view promise, std::string_view got = "");

/// A refusal is one line of printable text that is not empty.
void requireOneLine(const std::string &message);

} // namespace blockscale::fuzz

#endif // BLOCKSCALE_TEST_FUZZ_TARGETS_H
