//===- Report.cpp - what a hazard looks like ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A report cites the rule, both accesses by line of the PTX, the memory and what is
// missing. One report for a rule and a pair of lines.
//
//===----------------------------------------------------------------------===//

#include "LaunchHazards.h"
#include "State.h"

#include "../LaunchControl.h"
#include "../Text.h"

#include <algorithm>

namespace blockscale::emu {

const char *verb(Touch t) {
  switch (t) {
  case Touch::load:
    return "ld";
  case Touch::store:
  case Touch::storeSame:
    return "st";
  case Touch::atomic:
    return "a strong store";
  case Touch::strongLoad:
    return "a strong load";
  case Touch::allocResult:
    return "tcgen05.alloc";
  case Touch::copyAsync:
    return "cp.async";
  case Touch::copyAsyncRead:
    return "cp.async";
  case Touch::storeAsync:
    return "st.async";
  case Touch::reduceAsync:
    return "red.async";
  case Touch::bulkWrite:
  case Touch::bulkSource:
  case Touch::globalRead:
    return "a bulk copy";
  case Touch::bulkRead:
  case Touch::globalWrite:
    return "a bulk store";
  case Touch::globalReduce:
    return "cp.reduce";
  case Touch::mapRead:
    return "a copy by its tensor map";
  case Touch::mmaShared:
  case Touch::mmaSharedA:
  case Touch::mmaA:
  case Touch::mmaScale:
  case Touch::mmaMeta:
  case Touch::mmaD:
    return "tcgen05.mma";
  case Touch::cpShared:
  case Touch::cpWrite:
  case Touch::cp4x256Write:
    return "tcgen05.cp";
  case Touch::shift:
    return "tcgen05.shift";
  case Touch::tmemLoad:
    return "tcgen05.ld";
  case Touch::tmemStore:
    return "tcgen05.st";
  case Touch::dealloc:
    return "tcgen05.dealloc";
  }
  return "an access";
}

namespace {
/// What it takes from the memory.
const char *object(Touch t) {
  switch (t) {
  case Touch::mmaA:
  case Touch::mmaSharedA:
    return " (A)";
  case Touch::mmaScale:
    return " (scales)";
  case Touch::mmaMeta:
    return " (metadata)";
  case Touch::mmaD:
    return " (accumulator)";
  default:
    return "";
  }
}

} // namespace

bool isAsynchronous(Touch t) { return t >= Touch::copyAsync && t != Touch::dealloc; }

uint32_t Hazards::lineOf(const Record &r) const { return cluster.launch.kernel.code[r.site].line; }

/// The access by its instruction, where what it touches does not tell.
const char *Hazards::verbOf(const Record &r) const {
  if (r.touch == Touch::bulkWrite && isTryCancel(cluster.launch.kernel.code[r.site]))
    return "the answer of clusterlaunchcontrol.try_cancel";
  return components[r.component].agent == Agent::wgmma ? "wgmma" : verb(r.touch);
}

std::string Hazards::nameOf(const Record &r) const {
  std::string out = verbOf(r);
  out += " at " + cluster.launch.module.file + ":" + dec(lineOf(r));
  if (std::string owner = ownerOf(r); !owner.empty())
    out += " (" + owner + ")";
  return out;
}

std::string Hazards::ownerOf(const Record &r) const {
  const WarpState *s = components[r.component].warp;
  if (!s)
    return {};
  return "warp " + dec(s->warp->id) +
         (cluster.ctas.size() > 1 ? ", cta rank " + dec(s->warp->cta->rank) : std::string());
}

std::string Hazards::missing(Rule rule, const Record &r) const {
  const Component &c = components[r.component];
  if (c.agent == Agent::barrier)
    return "an acquiring wait for phase " + dec(r.count - 1) + " of mbarrier " +
           hex(c.address & kSharedOffsetMask) + ", which the " +
           (isTryCancel(cluster.launch.kernel.code[r.site]) ? "answer" : "copy") + " signals";
  if (c.agent == Agent::wgmma)
    return "wgmma.commit_group and wait_group by the warps that issued it, then a barrier to the "
           "writer";
  if ((rule == Rule::TM1 || rule == Rule::SM1) && c.closeLine)
    return "an acquiring wait on the mbarrier of the tcgen05.commit at " +
           cluster.launch.module.file + ":" + dec(c.closeLine) + ", for the right phase";
  return std::string(info(rule).missing);
}

/// A proxy fence that was meant for another memory.
std::string Hazards::otherFence(const Actor &x, const Record &r) const {
  const FencedClock &fenced = x.group->knows.async;
  const uint32_t lanes = r.owners(r.bytes);
  auto covers = [&](const Clock &c) { return !c.unknown(r.component, lanes, r.count); };
  if (covers(fenced.global))
    return "; the fence on the way covers .global only";
  if (std::any_of(fenced.own.begin(), fenced.own.end(), covers))
    return "; the fence on the way covers .shared::cta of another CTA only";
  return covers(fenced.shared) ? "; the fence on the way covers shared memory only" : "";
}

void Hazards::conflict(Rule rule, HazardLevel level, const Record &r, bool isTensor, unsigned rank,
                       uint32_t from, uint32_t to, const char *missing) {
  for (Conflict &c : conflicts)
    if (c.rule == rule && c.other.site == r.site && c.rank == rank && c.other.touch == r.touch &&
        c.missing == missing) {
      c.from = std::min(c.from, from);
      c.to = std::max(c.to, to);
      return;
    }
  conflicts.push_back({rule, level, r, isTensor, rank, from, to, missing});
}

void Hazards::flush(const Actor &x) {
  for (const Conflict &c : conflicts) {
    Touch here = x.record.touch;
    const char *does = here == Touch::dealloc ? " frees " : isWrite(here) ? " writes " : " reads ";
    std::string what = c.isTensor ? "tensor memory columns " + dec(c.from) + ".." + dec(c.to)
                                  : "shared memory bytes " + hex(c.from) + ".." + hex(c.to);
    if (cluster.ctas.size() > 1)
      what += " of cta rank " + dec(c.rank);
    bool unseen = c.rule == Rule::PX1 || c.rule == Rule::PX2;
    std::string text = verbOf(x.record);
    text += object(here);
    text += " (warp " + dec(x.state->warp->id) + ")" + does + what + " that " +
            (c.rule == Rule::MB7
                 ? "mbarrier.init at " + cluster.launch.module.file + ":" + dec(lineOf(c.other))
                 : nameOf(c.other));
    if (c.rule == Rule::MB7)
      text += " made a live mbarrier of";
    else if (unseen)
      text += " wrote, not yet visible to the async proxy";
    else if (isAsynchronous(c.other.touch))
      text += isWrite(c.other.touch) ? " may still be writing" : " may still be reading";
    else
      text += isWrite(c.other.touch) ? " may not have written" : " may not have read";
    std::string more = c.missing ? c.missing : missing(c.rule, c.other);
    if (c.rule == Rule::PX1 || c.rule == Rule::PX2 || c.rule == Rule::PX3)
      more += otherFence(x, c.other);
    report(c.rule, c.level, x.in->line, lineOf(c.other), std::move(text), more);
  }
  conflicts.clear();
}

/// What is wrong by the letter only is shown when asked for, and when an assumption that
/// excuses it does not hold.
bool Hazards::showsStrict(Rule rule) const {
  if (options.mode == HazardMode::strict)
    return true;
  static_assert(kHazardAssumptions < 10, "names have one digit");
  for (unsigned n = 1; n <= kHazardAssumptions; ++n) {
    const char name[] = {'A', char('0' + n), 0};
    if ((options.denied >> n & 1) && info(rule).switches.find(name) != std::string_view::npos)
      return true;
  }
  return false;
}

std::string lackLine(HazardLack lack, std::string_view what, std::string_view label) {
  std::string out = lack == HazardLack::missing ? "\n  missing: " : "\n  wrong: ";
  out.append(what);
  return label.empty() ? out : out.append("  [").append(label).append("]");
}

void Hazards::report(Rule rule, HazardLevel level, uint32_t line, uint32_t otherLine,
                     std::string text, std::string_view missing) {
  if (level == HazardLevel::never || (level == HazardLevel::strict && !showsStrict(rule)))
    return;
  const HazardRule &r = info(rule);
  text += missing.empty() ? lackLine(r.lack, r.missing, r.label)
                          : lackLine(HazardLack::missing, missing, r.label);
  cluster.launch.addHazard(
      {std::string(r.label), level, line, otherLine, cluster.turn, std::move(text)});
}

} // namespace blockscale::emu
