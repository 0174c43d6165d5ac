//===- MmaKind.h - kinds of tcgen05.mma -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which element formats, scale formats, block sizes and K modes each kind of
// tcgen05.mma takes on which chip. Sources: PTX ISA 9.4, 9.7.18.2 and 9.7.18.10.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_MMAKIND_H
#define BLOCKSCALE_FACTS_MMAKIND_H

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace blockscale::facts {

enum class MmaKind : uint8_t { mxf8f6f4, mxf4, mxf4nvf4, f8f6f4, f16, tf32, i8 };

struct MmaKindName {
  MmaKind kind;
  std::string_view name;
  bool blockScaled;
};

inline constexpr std::array<MmaKindName, 7> kMmaKindNames{{
    {MmaKind::mxf8f6f4, "mxf8f6f4", true},
    {MmaKind::mxf4, "mxf4", true},
    {MmaKind::mxf4nvf4, "mxf4nvf4", true},
    {MmaKind::f8f6f4, "f8f6f4", false},
    {MmaKind::f16, "f16", false},
    {MmaKind::tf32, "tf32", false},
    {MmaKind::i8, "i8", false},
}};

constexpr std::string_view name(MmaKind k) { return kMmaKindNames[size_t(k)].name; }
constexpr std::optional<MmaKind> parseMmaKind(std::string_view text) {
  for (const MmaKindName &row : kMmaKindNames)
    if (row.name == text)
      return row.kind;
  return std::nullopt;
}

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_MMAKIND_H
