//===- QuickExit.cpp - clusters that only look at their number ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuickExit.h"

#include "Hazards/Hazards.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace blockscale::emu {

namespace {
constexpr uint64_t kFewClusters = 64;       // not worth looking at
constexpr unsigned kMostInstructions = 128; // of a warp
constexpr uint64_t kMostSkipped = 4096;

bool differs(Preset::Kind kind) {
  using K = Preset::Kind;
  return kind == K::ctaidX || kind == K::ctaidY || kind == K::ctaidZ || kind == K::clusteridX ||
         kind == K::clusteridY || kind == K::clusteridZ || kind == K::smid;
}
} // namespace

// Turns are for failures: this cluster's are nobody's.
QuickExit::QuickExit(Launch &owner, uint64_t clusters) : launch(owner) {
  // Instructions are counted in the order of clusters where there is a limit of them.
  isOff = clusters <= kFewClusters || owner.options.maxInstructions ||
          uint64_t(owner.config.preferredCluster.x) * owner.config.preferredCluster.y *
              owner.config.preferredCluster.z;
  for (const Preset &p : owner.kernel.presets)
    if (differs(p.kind))
      own.push_back(p);
}

QuickExit::~QuickExit() = default;

void QuickExit::prepare(const ClusterPlace &place) {
  cluster = std::make_unique<Cluster>(launch, /*turn=*/kNoFailure, place);
  cluster->hazards.reset();
  for (auto &cta : cluster->ctas)
    for (auto &w : cta->warps) {
      w->hazards = nullptr;
      registers.emplace_back(w->base[0], w->base[0] + launch.kernel.registerBytes);
    }
}

bool QuickExit::ends(const ClusterPlace &place, uint64_t &executed) {
  if (isOff || skip) {
    skip -= skip != 0;
    return false;
  }
  if (!cluster)
    prepare(place);
  cluster->place = place;
  size_t n = 0;
  uint64_t all = 0;
  bool isOver = true;
  const Dim3 &size = place.size;
  for (auto &cta : cluster->ctas) {
    const uint32_t r = cta->rank;
    cta->index = {place.origin.x + r % size.x, place.origin.y + r / size.x % size.y,
                  place.origin.z + r / size.x / size.y};
    for (auto &w : cta->warps)
      if (isOver)
        isOver = ends(*w, registers[n++], all);
  }
  if (isOver) {
    failures = 0;
    executed += all;
    return true;
  }
  skip = std::min(kMostSkipped, uint64_t(1) << std::min<uint64_t>(failures++, 63)) - 1;
  return false;
}

bool QuickExit::ends(Warp &w, const std::vector<uint8_t> &start, uint64_t &executed) {
  const Kernel &kernel = launch.kernel;
  std::memcpy(w.base[0], start.data(), start.size());
  std::fill_n(w.preds, kernel.predicates, 0);
  w.preds[kPredTrue] = ~0u;
  // The same in all warps of a CTA.
  for (const Preset &p : own)
    if (const Warp &first = *w.cta->warps[0]; &first == &w)
      w.setPreset(p);
    else
      std::memcpy(w.base[0] + p.slot, first.base[0] + p.slot, p.wide ? 32 * 8 : 32 * 4);
  uint32_t live = w.full, pc = kernel.entry;
  for (unsigned n = 0; n < kMostInstructions && pc < kernel.effects.size(); ++n) {
    const Instruction &in = kernel.code[pc];
    const Effect effect = kernel.effects[pc];
    const uint32_t lanes = live & (in.guardNegated ? ~w.preds[in.guard] : w.preds[in.guard]);
    if (effect == Effect::any || in.converge != Converge::no)
      return false;
    ++pc;
    if (!lanes)
      continue;
    executed += unsigned(std::popcount(lanes));
    if (effect == Effect::exits) {
      live &= ~lanes;
      if (!live)
        return true;
    } else if (effect == Effect::branches) {
      if (lanes != live)
        return false;
      pc = in.target;
    } else {
      w.mask = lanes;
      if (in.run(w, in) != Outcome::next)
        return false;
    }
  }
  return false;
}

} // namespace blockscale::emu
