//===- Manifest.cpp - fuzzes manifests ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Targets.h"

#include "blockscale/Emulator/Emulator.h"
#include "blockscale/Support/Manifest.h"
#include "blockscale/Support/Nesting.h"

namespace blockscale {

/// Sizes at an end of their range give a manifest, or one line.
static void resolve(const rt::Manifest &manifest, bool isMost) {
  rt::Sizes sizes;
  for (const rt::ManifestSize &size : manifest.sizes)
    sizes[size.name] = isMost ? size.most : size.least;
  auto resolved = rt::resolveManifest(manifest, sizes, "f");
  if (!resolved)
    return fuzz::requireOneLine(resolved.message());
  std::string written = rt::formatManifest(*resolved);
  auto again = rt::resolveManifest(*resolved, {}, "f");
  fuzz::require(again && rt::formatManifest(*again) == written, "a launch has numbers only",
                written);
}

static void encode(facts::Arch arch, facts::TensorMap map) {
  map.address = 0x100000;
  auto bytes = emu::encodeTensorMap(arch, map);
  if (!bytes)
    fuzz::requireOneLine(bytes.message());
  else
    fuzz::require(bytes->size() == 128, "a tensor map must have 128 bytes");
}

/// Any text may be one of MLIR; the place is one of its characters.
static void checkNesting(std::string_view text) {
  if (auto deep = rt::findDeepNesting(text))
    fuzz::require(deep->line >= 1 && deep->column >= 1 && deep->column <= text.size(),
                  "a place must lie in the text");
}

void fuzz::manifest(std::string_view text) {
  checkNesting(text);
  auto first = rt::parseManifest(text, "f");
  if (!first) {
    requireOneLine(first.message());
    return;
  }
  std::string written = rt::formatManifest(*first);
  auto second = rt::parseManifest(written, "f");
  require(bool(second), "a manifest that is written must be read", written);
  require(rt::formatManifest(*second) == written, "it must be the same", written);
  resolve(*first, /*isMost=*/false);
  resolve(*first, /*isMost=*/true);
  for (const rt::ManifestKernel &kernel : first->kernels)
    for (const rt::ManifestParam &param : kernel.params) {
      if (param.kind == rt::ManifestParam::Kind::tensorMap)
        encode(first->arch, param.map);
      for (const rt::ManifestMap &map : param.maps)
        encode(first->arch, map.map);
    }
}

} // namespace blockscale
