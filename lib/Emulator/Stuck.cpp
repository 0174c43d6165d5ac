//===- Stuck.cpp - what warps wait for when none can go on ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Hazards/Hazards.h"
#include "Mbarrier.h"
#include "Polls.h"
#include "Text.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace blockscale::emu {
namespace {

constexpr unsigned kStepsOfAPoll = 4096; // warp instructions of a loop that polls

const Fragment *fragmentOf(const Warp &w, unsigned lane) {
  auto it = std::find_if(w.fragments.begin(), w.fragments.end(),
                         [&](const Fragment &f) { return f.mask >> lane & 1; });
  return it == w.fragments.end() ? nullptr : &*it;
}

/// What a fragment polls. Its loop comes back to the same state, so it can be walked once
/// more to see what it looks at: nothing is kept for this while the kernel runs.
std::string describePoll(Warp &w, const Fragment &start) {
  const unsigned lane = unsigned(__builtin_ctz(start.mask));
  const uint32_t first = start.pc;
  Polled best;
  uint32_t line = 0;
  bool hasMoved = false;
  for (unsigned step = 0; step < kStepsOfAPoll && !w.done(); ++step) {
    const Fragment *f = fragmentOf(w, lane);
    if (!f || (hasMoved && f->pc == first))
      break;
    const Instruction &in = w.kernel->code[f->pc];
    uint32_t lanes = f->mask & (in.guardNegated ? ~w.preds[in.guard] : w.preds[in.guard]);
    if (lanes)
      for (auto polled : {polledBarrier, polledByLoad, polledByAtomic})
        if (Polled p = polled(w, in, lanes); p.weight > best.weight) {
          best = std::move(p);
          line = in.line;
        }
    if (!w.run(1) || w.cta->cluster->stopped())
      break;
    f = fragmentOf(w, lane);
    hasMoved |= f && f->pc != first;
  }
  return line ? ": line " + dec(line) + best.text : std::string();
}

/// It waits for all lanes of its warp to come to the same instruction.
bool isAligned(const Warp &w, const Fragment &f) {
  return f.wait.kind == Wait::Kind::converge && w.kernel->code[f.pc].converge == Converge::allLive;
}

/// Its lanes are at different barriers, one of which is .aligned: nothing else keeps them.
bool areApart(const Warp &w) {
  using K = Wait::Kind;
  const auto begin = w.fragments.begin(), end = w.fragments.end();
  return w.fragments.size() > 1 &&
         std::any_of(begin, end, [&](const Fragment &f) { return isAligned(w, f); }) &&
         std::all_of(begin, end, [&](const Fragment &f) {
           return isAligned(w, f) || f.wait.kind == K::named || f.wait.kind == K::cluster;
         });
}

std::string describeWait(Warp &w, const Fragment &f) {
  using K = Wait::Kind;
  std::string at = "line " + dec(w.lineOf(f));
  switch (f.wait.kind) {
  case K::mbarrier:
    return at + " waits for parity " + dec(int64_t(f.wait.b)) + " of " +
           mbarrierDescribe(*w.cta, f.wait.a) +
           (w.hazards ? w.hazards->missingSignals(f.wait.a) : std::string());
  case K::named: {
    const NamedBarrier &b = w.cta->named[f.wait.a];
    return at + " waits at barrier " + dec(int64_t(f.wait.a)) + " (" + dec(b.arrived) + " of " +
           dec(b.expected ? b.expected : w.cta->liveThreads) + " threads arrived)";
  }
  case K::cluster:
    return at + " waits at the cluster barrier (" + dec(w.cta->cluster->clusterArrived) + " of " +
           dec(w.cta->cluster->clusterExpected) + " threads arrived)";
  case K::converge:
    return at + (isAligned(w, f) ? ", which is .aligned," : "") + " waits for lanes " +
           hex(w.live & ~f.mask) + " of its warp";
  case K::tmemAlloc:
    if (w.cta->pairCall.warp == &w)
      return at + " waits for a warp of its peer CTA at the same instruction";
    return at + " waits for tensor memory (live: " + w.cta->tmem.describe() + ")";
  case K::none:
    return at + " polls" + describePoll(w, f);
  default:
    return at + " waits for an asynchronous operation";
  }
}

} // namespace

std::string describeWord(Warp &w, const Instruction &in, uint64_t address, unsigned bytes,
                         unsigned lane) {
  uint64_t offset = address;
  Space space = Space(in.imm2);
  if (space == Space::generic)
    space = classify(address, offset);
  const bool isShared = space == Space::shared || space == Space::sharedCluster;
  if (!isShared && space != Space::global)
    return {};
  const uint8_t *p = w.resolve(in, Space(in.imm2), address, bytes, lane);
  if (!p)
    return {};
  uint64_t value = 0;
  std::memcpy(&value, p, std::min(bytes, 8u));
  return (isShared ? " shared" : " global") + std::string(" memory ") +
         hex(isShared ? offset & kSharedOffsetMask : address) +
         (isShared && w.cta->cluster->ctas.size() > 1
              ? " of cta rank " + dec(int64_t(offset >> kClusterShift))
              : std::string()) +
         ", which holds " + hex(value);
}

void Cluster::reportStuck(const std::string &others) {
  const bool livelock = std::any_of(order.begin(), order.end(), [](const Warp *w) {
    return std::any_of(w->fragments.begin(), w->fragments.end(),
                       [](const Fragment &f) { return f.wait.kind == Wait::Kind::none; });
  });
  std::string message = livelock ? "livelock: every warp polls and nothing is in flight"
                                 : "deadlock: no warp can run and nothing is in flight";
  uint32_t line = 0;
  bool isApart = false;
  for (auto &cta : ctas)
    for (auto &w : cta->warps) {
      isApart |= areApart(*w);
      for (const Fragment &f : std::vector<Fragment>(w->fragments)) {
        if (!line)
          line = w->lineOf(f);
        message += "; cta " + dec(cta->index.x) + "," + dec(cta->index.y) + "," +
                   dec(cta->index.z) + " warp " + dec(w->id) + " at " + describeWait(*w, f);
      }
    }
  message += others;
  if (livelock && idle > launch.options.pollLimit)
    message += "; given up after " + std::to_string(launch.options.pollLimit) +
               " rounds without a change, though no warp came back to a state that it was in; "
               "--poll-limit raises it";
  std::optional<uint64_t> wrongAt;
  for (const auto &cta : ctas)
    for (const auto &[offset, sums] : cta->transactions)
      if (std::string wrong =
              mbarrierWrongBytes(*cta, uint64_t(cta->rank) << kClusterShift | offset);
          !wrong.empty()) {
        message.append("; ").append(wrong);
        wrongAt = uint64_t(cta->rank) << kClusterShift | offset;
      }
  Fault fault(std::move(message));
  if (isApart)
    fault.lack =
        "one path of all lanes of the warp to each .aligned instruction, which bar.sync is; "
        "barrier.sync without .aligned lets them come apart";
  if (hazards && wrongAt) {
    fault = hazards->namingBarrier(std::move(fault), *wrongAt);
    fault.memory = sharedBytes(*wrongAt, sizeof(uint64_t));
    fault.breaks = info(Rule::MB5).label;
  }
  fail(line, fault);
}

} // namespace blockscale::emu
