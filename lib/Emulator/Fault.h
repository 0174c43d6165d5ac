//===- Fault.h - what a machine refuses while a kernel runs ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A refusal is one line, "code: what must be, got what". Under the hazard checks it goes
// on with the memory, the other party and what is missing or wrong, as reports of the
// checks do; the last comes from the table of Hazards/Faults.cpp, by the code.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_FAULT_H
#define BLOCKSCALE_LIB_EMULATOR_FAULT_H

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace blockscale::emu {

struct Fault {
  std::string text;        // empty: all is well
  std::string memory;      // "shared memory bytes 0x400..0x407"; empty: none is touched
  std::string other;       // "mbarrier.init"; empty: nobody else takes part
  uint32_t otherLine = 0;  // of it
  std::string_view breaks; // a rule, where it is not that of the code
  std::string_view lack;   // what is missing, where it is not that of the code

  Fault() = default;
  template <class T>
    requires std::convertible_to<T, std::string>
  Fault(T &&message) : text(std::forward<T>(message)) {}
  bool empty() const { return text.empty(); }
  Fault &&at(std::string where) && {
    memory = std::move(where);
    return std::move(*this);
  }
  /// `line` 0: it is not known.
  Fault &&against(std::string party, uint32_t line) && {
    if (line) {
      other = std::move(party);
      otherLine = line;
    }
    return std::move(*this);
  }
};

/// "shared memory bytes 0x400..0x407 of cta rank 1", by cluster address.
std::string sharedBytes(uint64_t address, uint64_t bytes);
/// "global memory bytes 0x100..0x107", by address.
std::string globalBytes(uint64_t address, uint64_t bytes);
std::string tensorColumns(unsigned column, unsigned columns, unsigned rank);
/// The lines behind the first of a report: memory, other party, what is missing or wrong.
std::string faultLines(const Fault &fault, const std::string &file);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_FAULT_H
