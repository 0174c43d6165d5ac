//===- MmaSync.h - block-scaled mma.sync of sm_120 ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The forms that ptxas 13.5 takes for warp-level products with scales. Fragments
// are in LayoutsWarp.h. `.block16`, `.block32` and UE5M3 do not exist here.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_FACTS_MMASYNC_H
#define BLOCKSCALE_FACTS_MMASYNC_H

#include "blockscale/Facts/MmaMode.h"

namespace blockscale::facts {

struct MmaSyncMode {
  MmaKind kind;
  int m, n, k;
  int scaleVec; // scales of a row: .scale_vec::1X, 2X, 4X
  bool spelled; // .scale_vec must be written
  FormatSet formats;
  ScaleFormat scale;
  ArchSet needs;
  std::string_view source;
};

inline constexpr ArchSet kMmaSyncScaled{Arch::sm_120f};

// clang-format off
inline constexpr std::array<MmaSyncMode, 5> kMmaSyncModes{{
    {MmaKind::mxf8f6f4, 16, 8, 32, 1, false, kF8F6F4, ScaleFormat::ue8m0, kMmaSyncScaled, "ptxas 13.5"},
    {MmaKind::mxf4,     16, 8, 64, 2, false, kF4,     ScaleFormat::ue8m0, kMmaSyncScaled, "ptxas 13.5"},
    {MmaKind::mxf4nvf4, 16, 8, 64, 2, true,  kF4,     ScaleFormat::ue8m0, kMmaSyncScaled, "ptxas 13.5"},
    {MmaKind::mxf4nvf4, 16, 8, 64, 4, true,  kF4,     ScaleFormat::ue4m3, kMmaSyncScaled, "ptxas 13.5"},
    {MmaKind::mxf4nvf4, 16, 8, 64, 4, true,  kF4,     ScaleFormat::ue8m0, kMmaSyncScaled, "ptxas 13.5"},
}};
// clang-format on

namespace detail {
constexpr bool mmaSyncModesAreSound() {
  for (size_t i = 0; i < kMmaSyncModes.size(); ++i) {
    const MmaSyncMode &row = kMmaSyncModes[i];
    if (row.k % row.scaleVec || row.needs.empty() || row.source.empty())
      return false;
    for (size_t j = 0; j < i; ++j)
      if (kMmaSyncModes[j].kind == row.kind && kMmaSyncModes[j].scaleVec == row.scaleVec &&
          kMmaSyncModes[j].scale == row.scale)
        return false;
  }
  return true;
}
static_assert(mmaSyncModesAreSound());
} // namespace detail

} // namespace blockscale::facts

#endif // BLOCKSCALE_FACTS_MMASYNC_H
