//===- SourceLines.h - where a line of PTX comes from ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// .loc and .file of a module, and the names that .loc takes from .debug_str: the
// operation of a dialect, or the function that was inlined.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_SOURCELINES_H
#define BLOCKSCALE_LIB_EMULATOR_SOURCELINES_H

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace blockscale::emu {

class SourceLines {
public:
  explicit SourceLines(std::string_view ptx);
  /// "ffn.mlir:12:8 blockscale.mma"; empty when nothing is known.
  std::string at(uint32_t line) const;

private:
  struct Place {
    uint32_t line = 0; // of the PTX
    uint64_t file = 0, sourceLine = 0, column = 0;
    std::string label; // in .debug_str
    uint64_t offset = 0;
  };
  std::vector<Place> places; // by line
  std::map<uint64_t, std::string> files;
  std::map<std::string, std::string, std::less<>> strings; // label to bytes

  void location(uint32_t line, std::string_view text);
};

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_SOURCELINES_H
