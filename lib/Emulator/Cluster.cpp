//===- Cluster.cpp - scheduling of warps and landing of operations --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Warps run in slices in a seeded order. Between slices operations in flight may
// land: all of them (earliest), a random choice, or none until no warp can go on
// without (latest); then those that a waiting warp waits for come first.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "Hazards/State.h"

#include <algorithm>

namespace blockscale::emu {

namespace {
constexpr unsigned kSlice = 4096;           // warp instructions
constexpr unsigned kSliceAtLimit = 64;      // the same, where no instructions are left
constexpr unsigned kIdleBeforeLanding = 4;  // rounds without visible progress
constexpr unsigned kIdleBeforeExpiry = 8;   // the same, before time limits end
constexpr unsigned kIdleBeforeMemory = 16;  // the same, before states are compared
constexpr unsigned kExpiriesByClock = 1000; // of a kernel that reads the clock, without progress
constexpr unsigned kIdleBeforeOthers = 16;  // rounds of polls before others get their turn
constexpr unsigned kComputingBeforeOthers = 256; // the same where nobody should be polling
constexpr unsigned kRoundsOfTurn = 16;           // on average, of random timing
} // namespace

Cta::Cta(Cluster &owner, Dim3 at, unsigned number)
    : cluster(&owner), index(at), rank(number), tmem(owner.launch.tmemColumns) {
  shared.assign(owner.launch.sharedBytes, 0xCD);
  barrierLive.assign(shared.size() / 8 + 1, 0);
  liveThreads = owner.launch.threadsPerCta;
  for (unsigned w = 0; w < owner.launch.warpsPerCta; ++w)
    warps.push_back(std::make_unique<Warp>(*this, w));
}

AsyncOp::AsyncOp() = default;
AsyncOp::~AsyncOp() = default;

void Cta::completeNamed(unsigned id) {
  if (cluster->hazards)
    cluster->hazards->namedEnd(*this, id);
  NamedBarrier &b = named[id];
  b.arrived = 0;
  b.expected = 0;
  ++b.generation;
  ++cluster->progress;
}

void Cta::threadsExited(uint32_t count) {
  liveThreads -= count;
  if (liveThreads == 0 && cluster->hazards)
    cluster->hazards->ended(*this);
  for (unsigned id = 0; id < 16; ++id)
    if (named[id].arrived && named[id].expected == 0 && named[id].arrived >= liveThreads)
      completeNamed(id);
  cluster->clusterExited(count);
  if (!liveThreads)
    cluster->ctaExited(*this);
}

bool AsyncOp::touches(const Cta &cta) const { return warp->cta == &cta; }

void Cluster::ctaExited(const Cta &cta) {
  for (const auto &op : ops)
    if (const char *leak = op->leakAtExit(); leak && op->touches(cta)) {
      fail(op->line, Fault(std::string("exit: ") + op->what() + " " + leak)
                         .against("exit of cta rank " + dec(cta.rank), cta.exitLine));
      return;
    }
}

Cluster::Cluster(Launch &owner, uint64_t turnOfStart, const ClusterPlace &at)
    : launch(owner), turn(turnOfStart), place(at) {
  rng = owner.options.seed * 0x9E3779B97F4A7C15ull + at.number * 0xD1B54A32D192ED03ull +
        0x2545F4914F6CDD1Dull;
  const Dim3 &c = at.size, &o = at.origin;
  for (uint32_t z = 0; z < c.z; ++z)
    for (uint32_t y = 0; y < c.y; ++y)
      for (uint32_t x = 0; x < c.x; ++x)
        ctas.push_back(
            std::make_unique<Cta>(*this, Dim3{o.x + x, o.y + y, o.z + z}, unsigned(ctas.size())));
  for (auto &cta : ctas)
    for (auto &w : cta->warps)
      order.push_back(w.get());
  clusterExpected = owner.threadsPerCta * uint32_t(ctas.size());
  if (owner.options.hazards.mode != HazardMode::off)
    hazards = std::make_unique<Hazards>(*this);
}

Cluster::~Cluster() = default;

void Cluster::fail(uint32_t line, const Fault &fault) {
  failed = true;
  launch.fail(turn, line, fault);
}

uint64_t Cluster::random() {
  rng += 0x9E3779B97F4A7C15ull;
  uint64_t z = rng;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

void Cluster::clusterCheck() {
  if (clusterArrived && clusterArrived >= clusterExpected) {
    clusterArrived = 0;
    ++clusterGeneration;
    if (hazards)
      hazards->clusterEnd();
    ++progress;
  }
}

void Cluster::clusterExited(uint32_t threads) {
  clusterExpected -= threads;
  clusterCheck();
}

//===----------------------------------------------------------------------===//
// Operations in flight
//===----------------------------------------------------------------------===//

void Cluster::issue(std::unique_ptr<AsyncOp> op, Warp &warp, const Instruction &in,
                    AsyncOp::Pipe pipe, uint32_t lanes) {
  op->warp = &warp;
  op->pipe = pipe;
  op->lanes = lanes;
  op->line = in.line;
  op->id = nextId++;
  if (hazards)
    hazards->issued(*op, warp, in);
  ops.push_back(std::move(op));
  ++progress;
}

bool Cluster::inFlight(const std::function<bool(const AsyncOp &)> &match) const {
  return std::any_of(ops.begin(), ops.end(), [&](const auto &op) { return match(*op); });
}

bool Cluster::eligible(size_t i) const {
  const AsyncOp &op = *ops[i];
  if (op.pipe != AsyncOp::Pipe::free)
    for (size_t j = 0; j < i; ++j)
      if (ops[j]->pipe == op.pipe && ops[j]->warp == op.warp)
        return false;
  return op.ready();
}

void Cluster::landAt(size_t i) {
  ++progress;
  AsyncOp *op = ops[i].get();
  if (hazards)
    hazards->lands(op);
  bool finished = op->land();
  if (hazards)
    hazards->lands(nullptr);
  if (!finished)
    return;
  for (size_t j = 0; j < ops.size(); ++j)
    if (ops[j].get() == op) {
      ops.erase(ops.begin() + long(j));
      return;
    }
}

void Cluster::landAllEligible() {
  for (size_t i = 0; i < ops.size() && !stopped();) {
    if (!eligible(i)) {
      ++i;
      continue;
    }
    landAt(i);
    i = 0;
  }
}

void Cluster::landSome() {
  // Each step lands a random operation with probability one half, up to a few.
  while (!ops.empty() && !stopped() && (random() & 1)) {
    size_t i = random() % ops.size();
    if (eligible(i))
      landAt(i);
  }
}

/// Lands one operation: the newest that a waiting fragment needs (or what its pipe
/// has to finish before), else the oldest. False when nothing can land. Newest first
/// leaves what nobody has waited for in flight the longest.
bool Cluster::landForWaiters(std::vector<Warp *> &order) {
  auto needed = [&](const AsyncOp &op) {
    for (Warp *w : order)
      for (const Fragment &f : w->fragments)
        if (f.wait.kind != Wait::Kind::none && op.helps(*w, f))
          return true;
    return false;
  };
  for (size_t i = ops.size(); i-- > 0;) {
    const AsyncOp &op = *ops[i];
    if (!needed(op))
      continue;
    // An operation of a pipe, or an arrival for earlier copies, follows those.
    bool follows = op.pipe != AsyncOp::Pipe::free || !op.ready();
    auto precedes = [&](const AsyncOp &o) {
      return follows && o.warp == op.warp &&
             (o.pipe == op.pipe ||
              (op.pipe == AsyncOp::Pipe::tensor && o.pipe == AsyncOp::Pipe::mmaRead));
    };
    for (size_t j = 0; j <= i; ++j)
      if (eligible(j) && (j == i || precedes(*ops[j]))) {
        landAt(j);
        return true;
      }
  }
  for (size_t i = 0; i < ops.size(); ++i)
    if (eligible(i)) {
      landAt(i);
      return true;
    }
  return false;
}

//===----------------------------------------------------------------------===//
// Scheduling
//===----------------------------------------------------------------------===//

/// With nothing in flight and memory unchanged, a warp that comes back to a state that
/// it was in does so for ever. States are kept after 16, 32, 64, … idle rounds. What
/// watches the clock or counts its polls never comes back: there the idle rounds end it.
bool Cluster::repeats() const {
  if (idle > launch.options.pollLimit)
    return true;
  if (launch.kernel.readsClock || idle < kIdleBeforeMemory)
    return false;
  bool keep = (idle & (idle - 1)) == 0, all = !keep;
  for (Warp *w : order)
    if (keep)
      w->remember();
    else
      all &= w->isAsRemembered();
  return all;
}

/// try_wait suspends a thread for a limited time. Kernels that only look whether the next
/// buffer is free go on after that, and others may wait for what they do then. False: nobody is
/// suspended so.
bool Cluster::expireTries() {
  bool any = false;
  for (Warp *w : order)
    for (Fragment &f : w->fragments)
      if (f.wait.kind == Wait::Kind::mbarrier && !f.wait.advance) {
        f.wait = {};
        f.expired = any = true;
      }
  return any;
}

bool Cluster::repeatsItself() const { return repeatsAt == launch.changes; }

Cluster::Turn Cluster::run() {
  const Timing timing = launch.options.timing;
  const uint64_t maxInstructions = launch.options.maxInstructions;
  const bool talks = launch.kernel.talksThroughGlobal;
  unsigned waiting = 0;    // rounds of this turn in which it changed nothing
  unsigned unanswered = 0; // the same, while operations are in flight
  unsigned expiries = 0;   // rounds of suspended try_waits since something changed
  while (true) {
    order.erase(std::remove_if(order.begin(), order.end(), [](Warp *w) { return w->done(); }),
                order.end());
    if (order.empty())
      return finish() ? Turn::ended : Turn::stopped;
    if (launch.options.seed || timing == Timing::random)
      for (size_t i = order.size(); i > 1; --i)
        std::swap(order[i - 1], order[random() % i]);
    bool any = false;
    for (Warp *w : order) {
      ++steps;
      if (timing == Timing::earliest)
        landAllEligible();
      else if (timing == Timing::random)
        landSome();
      if (stopped())
        return Turn::stopped;
      if (w->done())
        continue;
      unsigned budget =
          timing == Timing::random ? 1u + unsigned(random() % (2u << (random() % 9))) : kSlice;
      // Close to the limit turns are short: what a kernel may do, memory included, ends there.
      if (maxInstructions)
        budget = unsigned(std::min<uint64_t>(
            budget, kSliceAtLimit + (maxInstructions - std::min(executed, maxInstructions)) / 32));
      uint64_t earlier = w->executed;
      any |= w->run(budget);
      executed += w->executed - earlier;
      if (stopped())
        return Turn::stopped;
      if (maxInstructions && executed > maxInstructions && !w->done()) {
        fail(w->lineOf(w->fragments[0]), "limit: kernel must end within " +
                                             dec(int64_t(maxInstructions)) +
                                             " thread instructions");
        return Turn::stopped;
      }
    }
    bool changed = progress != announced;
    announced = progress;
    if (changed)
      launch.changes.fetch_add(1);
    uint64_t seen = launch.changes;
    bool quiet = !changed && seen == sawChanges; // of all clusters
    sawChanges = seen;
    if (!any) {
      // The order may hold warps that became free to run in this very round.
      if (std::any_of(order.begin(), order.end(),
                      [](Warp *w) { return !w->done() && w->runnable(); }))
        continue;
      if (landForWaiters(order)) {
        idle = waiting = unanswered = expiries = 0;
      } else if (!expireTries() || (launch.kernel.readsClock && ++expiries > kExpiriesByClock)) {
        reportStuck();
        return Turn::stopped;
      }
    } else if (!changed && !ops.empty()) {
      if (++unanswered >= kIdleBeforeLanding) {
        landForWaiters(order);
        unanswered = 0;
      }
    } else if (!changed) {
      idle = quiet ? idle + 1 : 0;
      if (quiet && repeats())
        repeatsAt = seen;
      else if (idle >= kIdleBeforeExpiry)
        expireTries();
      if (++waiting >= (talks ? kIdleBeforeOthers : kComputingBeforeOthers) || repeatsItself())
        return Turn::waits;
    } else {
      idle = waiting = unanswered = expiries = 0;
      // Those that talk are also interrupted while they could go on.
      if (talks && timing == Timing::random && random() % kRoundsOfTurn == 0) {
        sawChanges = ~uint64_t(0);
        return Turn::waits;
      }
    }
  }
}

/// All threads have exited: nothing may be left that would touch their memory.
bool Cluster::finish() {
  while (!ops.empty() && !stopped()) {
    bool landed = false;
    for (size_t i = 0; i < ops.size(); ++i)
      if (eligible(i)) {
        landAt(i);
        landed = true;
        break;
      }
    if (!landed) {
      fail(ops[0]->line,
           Fault(std::string("exit: ") + ops[0]->what() + " must be complete when its CTA exits")
               .against("exit", ops[0]->warp->cta->exitLine));
      return false;
    }
  }
  for (auto &cta : ctas)
    if (!cta->tmem.live().empty() && !stopped())
      fail(cta->tmem.live()[0].line,
           Fault("tmem_leak: tensor memory columns " + cta->tmem.describe() +
                 " must be freed before the CTA exits")
               .at("tensor memory of cta rank " + dec(cta->rank))
               .against("exit", cta->exitLine));
  if (hazards && !stopped())
    hazards->finished();
  return !stopped();
}

} // namespace blockscale::emu
