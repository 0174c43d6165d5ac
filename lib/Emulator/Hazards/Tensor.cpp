//===- Tensor.cpp - checks of tensor memory -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.18.6: what the hardware pipelines needs no synchronisation, in
// one warp; all else needs a commit and a wait, or tcgen05.wait.
//
//===----------------------------------------------------------------------===//

#include "State.h"

#include "../Text.h"

#include <algorithm>

namespace blockscale::emu {

namespace {
/// A, metadata and, by A1, scales.
bool isOperand(Touch t) { return t == Touch::mmaA || t == Touch::mmaMeta || t == Touch::mmaScale; }
constexpr const char *kMissingBefore =
    "tcgen05.fence::before_thread_sync ahead of the arrival or barrier that releases it";
bool isLoadStore(Touch t) { return t == Touch::tmemLoad || t == Touch::tmemStore; }
} // namespace

/// The pairs of 9.7.18.6.2.1 by kind; `sameWarp` and the same cta_group are given.
bool Hazards::isPipelined(const Actor &x, const Record &r, bool sameWarp) const {
  Touch first = r.touch, second = x.record.touch;
  const bool early = options.manual == ManualRevision::early;
  if (isLoadStore(first) && isLoadStore(second))
    return sameWarp && !early; // pairs 11 to 13
  if (!isTensorPipe(first) || !isTensorPipe(second) || components[r.component].agent != x.agent)
    return false;
  if (first == Touch::mmaD && second == Touch::mmaD) // pairs 4 to 6
    return ((r.place ^ x.record.place) & (early ? ~0u : (1u << kKindOfPlace) - 1)) == 0;
  if (isOperand(first)) // pairs 1 to 3
    return second == Touch::mmaD || (!early && second == Touch::cpWrite) ||
           (!early && second == Touch::cp4x256Write) || second == Touch::shift;
  if (first == Touch::cpWrite && isOperand(second)) // pair 7; A2: an overlap is the same address
    return true;
  if ((first == Touch::cp4x256Write || first == Touch::shift) && isOperand(second))
    return true;                                                 // pairs 8 and 9
  return first == Touch::shift && second == Touch::cp4x256Write; // pair 10
}

Rule Hazards::tensorRule(const Actor &x, const Record &r) const {
  const bool sameWarp = components[r.component].warp == x.state;
  if (x.record.touch == Touch::dealloc)
    return Rule::TM13;
  const bool weak = x.group->knows.weak.covers(r.component, r.lanes, r.count);
  if (isLoadStore(r.touch) && weak)
    return Rule::TM9;
  if (r.touch == Touch::tmemLoad)
    return components[r.component].warp->warp->cta != x.state->warp->cta ? Rule::TM11 : Rule::TM3;
  if (r.touch == Touch::tmemStore)
    return Rule::TM5;
  if (isReadOfA(x, r))
    return Rule::SM2;
  if (weak)
    return sawRelaxedWait || sawRelaxedArrive ? Rule::TM9 : Rule::TM10;
  if (r.touch == Touch::mmaD && x.record.touch == Touch::mmaD && sameWarp)
    return Rule::TM12;
  return !sameWarp && isPipelined(x, r, true) ? Rule::TM8 : Rule::TM1;
}

/// Each lane has waited for its part of a tcgen05.ld or st.
bool Hazards::everyLaneWaited(const WarpState &s, const Record &r) {
  return std::all_of(s.groups.begin(), s.groups.end(),
                     [&](const Group &g) { return g.own.covers(r.component, g.lanes, r.count); });
}

void Hazards::checkTensor(const Actor &x, const Cell &cell, unsigned quarters, unsigned rank,
                          unsigned column) {
  const bool writes = isWrite(x.record.touch);
  for (const Record &r : cell) {
    const uint32_t both = r.bytes & quarters;
    if (!both || (!writes && !isWrite(r.touch)) || r.isSameOperation(x.record))
      continue;
    const Component &c = components[r.component];
    const bool sameWarp = c.warp == x.state;
    if (isLoadStore(r.touch) && sameWarp && everyLaneWaited(*c.warp, r))
      continue;
    if (x.group->knows.plain.covers(r.component, r.lanes, r.count)) {
      if (!assumes(3) && !sameWarp) {
        if (!x.group->knows.before.covers(r.component, r.lanes, r.count))
          conflict(Rule::TM9s, HazardLevel::strict, r, true, rank, column, column, kMissingBefore);
        else if (!x.group->tensorFenced.covers(r.component, r.lanes, r.count))
          conflict(Rule::TM9s, HazardLevel::strict, r, true, rank, column, column);
      }
      continue;
    }
    if (sameWarp && isPipelined(x, r, true)) {
      bool scales = r.touch == Touch::mmaScale || x.record.touch == Touch::mmaScale;
      bool copies = r.touch == Touch::cpWrite || x.record.touch == Touch::cpWrite;
      if (scales && copies &&
          (!assumes(1) || (!assumes(2) && r.touch == Touch::cpWrite && r.place != x.record.place)))
        conflict(Rule::TM7, HazardLevel::strict, r, true, rank, column, column);
      continue;
    }
    // The earlier text: a pair may span threads, between tcgen05 fences.
    if (options.manual == ManualRevision::early && assumes(3) &&
        x.group->tensorFenced.covers(r.component, r.lanes, r.count) && isPipelined(x, r, sameWarp))
      continue;
    // What a later read came after, that is known, waited for or pipelined, is over too.
    bool implied = isWrite(r.touch) && std::any_of(cell.begin(), cell.end(), [&](const Record &q) {
                     return !isWrite(q.touch) && (q.bytes & both) == both &&
                            ((components[q.component].warp == x.state &&
                              (isPipelined(x, q, true) ||
                               (isLoadStore(q.touch) && everyLaneWaited(*x.state, q)))) ||
                             x.group->knows.plain.covers(q.component, q.lanes, q.count));
                   });
    if (implied)
      continue;
    Rule rule = tensorRule(x, r);
    HazardLevel level = info(rule).level;
    if (rule == Rule::TM3 && !assumes(4) && c.warp->consumedLoads >= r.count)
      level = HazardLevel::strict;
    if (sameWarp && isLoadStore(r.touch) && isLoadStore(x.record.touch)) {
      rule = Rule::TM6;
      level = HazardLevel::error;
    } else if (isLoadStore(r.touch) && everyLaneWaited(*c.warp, r) &&
               x.group->knows.plain.coversAny(r.component, r.lanes, r.count)) {
      rule = Rule::CL4; // all have waited, some have not told the lane that released
      level = HazardLevel::warning;
    }
    conflict(rule, level, r, true, rank, column, column);
  }
}

void Hazards::touchTensor(const Actor &x, Cta &cta, unsigned quarters, unsigned column,
                          unsigned columns) {
  Cells &cells = tensorCells[cta.rank];
  const unsigned all = cta.tmem.columns();
  if (cells.empty())
    cells.resize(all);
  Record r = x.record;
  r.bytes = quarters;
  const unsigned end = std::min(column + columns, all);
  // Pairs order whole instructions: where an mma has read some columns of a copy, the next
  // copy to that address comes behind all of them (A2). Kernels with tiles of 64 or 192
  // columns read half of a scale tile.
  if (r.touch == Touch::cpWrite && assumes(1) && assumes(2)) {
    auto isRead = [&](const Record &q) {
      return q.touch == Touch::mmaScale && components[q.component].warp == x.state &&
             isPipelined(x, q, true);
    };
    for (unsigned c = column; c < end; ++c) {
      auto read = std::find_if(cells[c].begin(), cells[c].end(), isRead);
      auto copy = std::find_if(cells[c].begin(), cells[c].end(), [&](const Record &w) {
        return w.touch == Touch::cpWrite && w.place == r.place;
      });
      if (read == cells[c].end() || copy == cells[c].end())
        continue;
      const Record q = *read, w = *copy;
      for (unsigned d = column; d < end; ++d)
        if (std::none_of(cells[d].begin(), cells[d].end(), isRead) &&
            std::any_of(cells[d].begin(), cells[d].end(),
                        [&](const Record &o) { return o.isSameOperation(w); }))
          cells[d].addRead(q);
    }
  }
  for (unsigned c = column; c < end; ++c) {
    Cell &cell = cells[c];
    if (!cell.isEmpty())
      checkTensor(x, cell, quarters, cta.rank, c);
    if (r.touch == Touch::dealloc)
      cell.clear();
    else if (isWrite(r.touch))
      cell.addWrite(r);
    else
      cell.addRead(r);
  }
  if (!conflicts.empty())
    flush(x);
}

//===----------------------------------------------------------------------===//
// Completion and allocation
//===----------------------------------------------------------------------===//

void Hazards::tensorWait(Warp &w, bool stores) {
  WarpState &s = stateOf(w);
  uint32_t id = component(s, stores ? Agent::tmemStore : Agent::tmemLoad);
  uint32_t count = components[id].count;
  eachGroup(s, w.mask, [&](Group &g) { g.own.raise(id, g.lanes, count); });
  if (!stores) {
    s.loads.clear();
    w.watched = s.wgmma != nullptr;
  }
}

void Hazards::allocated(Warp &w, const Instruction &in, uint64_t address, bool isPair) {
  Actor x = actor(w, in, w.leader(), Touch::allocResult);
  x.record.lanes = kAllLanes;
  if (isPair)
    pairAllocs[w.cta->rank] = x.record;
  touchShared(x, *w.cta, uint32_t(address & kSharedOffsetMask), 4);
}

void Hazards::freed(Warp &w, const Instruction &in, unsigned column, unsigned columns) {
  Actor x = actor(w, in, w.leader(), Touch::dealloc);
  touchTensor(x, *w.cta, 0xF, column, columns);
}

void Hazards::freedByPair(Warp &w, const Instruction &in, unsigned column, unsigned columns) {
  Actor x = actor(w, in, w.leader(), Touch::dealloc);
  const unsigned own = w.cta->rank, peer = own ^ 1;
  const Record &made = pairAllocs[peer];
  const Knowledge &known = x.group->knows;
  if (made.count && !known.plain.coversAny(made.component, made.lanes, made.count) &&
      !known.weak.coversAny(made.component, made.lanes, made.count))
    report(Rule::TM13, in.line, lineOf(made),
           "tcgen05.dealloc (warp " + dec(w.id) + ") of cta rank " + dec(own) +
               " frees tensor memory columns " + dec(column) + ".." + dec(column + columns - 1) +
               " of its peer, too, and nothing has come from the peer since " + nameOf(made),
           "a handshake of the two CTAs: barrier.cluster, or an arrive on the peer's mbarrier and "
           "a wait on the own");
  // What the first of the two has checked the second has to see, too.
  const bool isLast = pairFrees[own / 2];
  pairFrees[own / 2] = !isLast;
  for (unsigned rank : {own, peer}) {
    Cells &cells = tensorCells[rank];
    for (unsigned c = column; c < std::min<size_t>(column + columns, cells.size()); ++c) {
      if (!cells[c].isEmpty())
        checkTensor(x, cells[c], 0xF, rank, c);
      if (isLast)
        cells[c].clear();
    }
  }
  if (!conflicts.empty())
    flush(x);
}

void Hazards::loaded(Warp &w, const Instruction &in, const std::vector<Operand> &registers) {
  WarpState &s = stateOf(w);
  WarpState::Load load{components[component(s, Agent::tmemLoad)].count, in.line, {}};
  for (Operand r : registers)
    if (r != kNone)
      load.unread.emplace_back(r, w.mask);
  s.loads.push_back(std::move(load));
  w.watched = true;
}

/// A4: a load is performed once every lane has read all of its registers. TM4: or one
/// of them is written before.
void Hazards::registers(Warp &w, const Instruction &in) {
  WarpState &s = stateOf(w);
  if (s.wgmma)
    watchWgmma(w, in);
  for (WarpState::Load &load : s.loads) {
    for (uint32_t i = 0; i < in.touchedCount; ++i) {
      uint32_t touched = w.kernel->touched[in.touched + i];
      for (auto &[place, lanes] : load.unread) {
        if (place != (touched & ~kTouchedWrite))
          continue;
        if ((touched & kTouchedWrite) && (lanes & w.mask))
          report(Rule::TM4, in.line, load.line,
                 "(warp " + dec(w.id) + ") writes a register of tcgen05.ld at " +
                     cluster.launch.module.file + ":" + dec(load.line) +
                     " that was neither waited for nor used");
        lanes &= ~w.mask;
      }
    }
    std::erase_if(load.unread, [](const auto &r) { return !r.second; });
  }
  uint32_t performed = 0;
  for (; !s.loads.empty() && s.loads.front().unread.empty(); s.loads.pop_front())
    performed = s.loads.front().count;
  w.watched = s.wgmma || !s.loads.empty();
  if (!performed)
    return;
  s.consumedLoads = performed;
  if (!assumes(4))
    return;
  uint32_t id = component(s, Agent::tmemLoad);
  for (Group &g : s.groups)
    g.knows.plain.raise(id, kAllLanes, performed);
}

} // namespace blockscale::emu
