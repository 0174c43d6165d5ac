//===- PtxVersion.cpp - which .version a module may state -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/PtxVersion.h"

#include "blockscale/Facts/PtxPragma.h"

#include <algorithm>
#include <charconv>

namespace blockscale::facts {

static std::string versionText(PtxVersion v) { return joinText(v.major, ".", v.minor); }

Result<PtxVersion> parsePtxVersion(std::string_view given) {
  PtxVersion version;
  const char *end = given.data() + given.size();
  auto [dot, error] = std::from_chars(given.data(), end, version.major);
  if (error == std::errc() && dot != end && *dot == '.') {
    auto [stop, minorError] = std::from_chars(dot + 1, end, version.minor);
    // One spelling each: neither 9.04 nor 09.4 names a version.
    if (minorError == std::errc() && stop == end && versionText(version) == given)
      for (const PtxVersionRow &row : kPtxVersions)
        if (row.major == version.major && row.first <= version.minor && version.minor <= row.last)
          return version;
  }
  std::string allowed;
  for (const PtxVersionRow &row : kPtxVersions)
    allowed += joinText(allowed.empty() ? "" : ", ", row.major, ".", row.first, " to ", row.major,
                        ".", row.last);
  return refuse("ptx_version_c1: .version must be one of ", allowed, ", got ",
                given.empty() ? "none" : given);
}

Result<bool> checkPtxTarget(PtxVersion version, Arch arch) {
  PtxVersion since = kPtxTargets[size_t(arch)].since;
  if (version < since)
    return refuse("ptx_version_c2: .version of ", name(arch), " must be at least ",
                  versionText(since), ", got ", versionText(version));
  return true;
}

Result<bool> checkPtxPragma(PtxVersion version, std::string_view pragma) {
  for (const PtxPragmaRow &row : kPtxPragmas)
    if (row.name == pragma && version < *parsePtxVersion(row.since))
      return refuse("ptx_version_c3: .version of .pragma \"", pragma, "\" must be at least ",
                    row.since, ", got ", versionText(version));
  return true;
}

std::string leastPtxVersion(std::string_view least, std::string_view text) {
  PtxVersion version = *parsePtxVersion(least);
  for (const PtxPragmaRow &row : kPtxPragmas)
    if (text.find(joinText(".pragma \"", row.name, "\"")) != std::string_view::npos)
      version = std::max(version, *parsePtxVersion(row.since));
  return versionText(version);
}

} // namespace blockscale::facts
