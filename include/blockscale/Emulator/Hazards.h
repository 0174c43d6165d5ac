//===- Hazards.h - options and rules of the hazard checks -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The emulator follows who knows what about whom (happens-before) and reports
// accesses that only luck orders. What the manual leaves open is a named assumption
// with a switch; docs/Hazards.md lists the rules.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_EMULATOR_HAZARDS_H
#define BLOCKSCALE_EMULATOR_HAZARDS_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace blockscale::emu {

enum class HazardMode : uint8_t {
  off,
  on,     // errors end the launch, warnings are collected
  strict, // also what is wrong by the letter only
};

/// Which text of PTX ISA 9.7.18.6 says what tcgen05 instructions pipeline.
enum class ManualRevision : uint8_t { ptx94, early };

/// A1 to A8 of docs/Hazards.md.
inline constexpr unsigned kHazardAssumptions = 9;

struct HazardOptions {
  HazardMode mode = HazardMode::on;
  ManualRevision manual = ManualRevision::ptx94;
  uint32_t denied = 0; // bit n: assumption An does not hold
  bool assumes(unsigned n) const { return !(denied >> n & 1); }
};

enum class HazardLevel : uint8_t { error, warning, strict, never };

/// What is at fault: an instruction that is not there, or a value of one that is.
enum class HazardLack : uint8_t { missing, wrong };

struct HazardRule {
  std::string_view label;
  HazardLevel level;
  std::string_view gist;
  std::string_view missing; // what would make it right, or the value that is wrong
  std::string_view section; // of PTX ISA 9.4; 18.x is 9.7.18.x, 15.x 9.7.15.x, 28.x 9.7.10.28.x
  std::string_view switches;
  std::string_view note; // empty: checked; else why not, or not yet
  HazardLack lack = HazardLack::missing;
};

/// What the machine itself refuses while a kernel runs, by the code that its message begins
/// with. A code ending in _c stands for all numbered rules of that name.
struct HazardFault {
  std::string_view code;
  std::string_view label; // of the rule that it breaks; empty: the code is its label
  HazardLack lack;
  std::string_view missing;
};

/// All rules, in the order of docs/Hazards.md. Labels that start with O are our own.
std::span<const HazardRule> hazardRules();
/// By code.
std::span<const HazardFault> hazardFaults();

} // namespace blockscale::emu

#endif // BLOCKSCALE_EMULATOR_HAZARDS_H
