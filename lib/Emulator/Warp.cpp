//===- Warp.cpp - fragments, lanes and addresses of a warp ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "Hazards/Hazards.h"

#include "Mbarrier.h"

#include <algorithm>
#include <bit>

namespace blockscale::emu {

Warp::Warp(Cta &owner, unsigned number) : cta(&owner), id(number) {
  std::fill(std::begin(clusterPhase), std::end(clusterPhase), kNoArrival);
  launch = &owner.cluster->launch;
  kernel = &launch->kernel;
  file.assign(kernel->registerBytes / sizeof(LaneLine), {});
  predFile.assign(kernel->predicates, 0);
  predFile[kPredTrue] = ~0u;
  preds = predFile.data();
  base[0] = reinterpret_cast<uint8_t *>(file.data());
  base[1] = reinterpret_cast<uint8_t *>(const_cast<LaneLine *>(kernel->constants.data()));
  unsigned first = number * 32;
  unsigned threads = std::min(32u, launch->threadsPerCta - first);
  full = live = threads == 32 ? ~0u : (1u << threads) - 1;
  fragments.push_back({kernel->entry, live, {}, false});
  localStride = (kernel->localBytes + 15) / 16 * 16;
  local.assign(localStride * 32, 0);
  for (const Preset &p : kernel->presets)
    setPreset(p);
}

void Warp::setPreset(const Preset &p) {
  using K = Preset::Kind;
  const LaunchConfig &c = launch->config;
  const ClusterPlace &place = cta->cluster->place;
  const Dim3 &block = c.block, &ci = cta->index, &cl = place.size;
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned t = id * 32 + lane;
    uint64_t v = 0;
    switch (p.kind) {
    case K::sharedAddress:
      v = p.value | uint64_t(cta->rank) << kClusterShift;
      break;
    case K::tidX:
      v = t % block.x;
      break;
    case K::tidY:
      v = t / block.x % block.y;
      break;
    case K::tidZ:
      v = t / block.x / block.y;
      break;
    case K::ntidX:
      v = block.x;
      break;
    case K::ntidY:
      v = block.y;
      break;
    case K::ntidZ:
      v = block.z;
      break;
    case K::ctaidX:
      v = ci.x;
      break;
    case K::ctaidY:
      v = ci.y;
      break;
    case K::ctaidZ:
      v = ci.z;
      break;
    case K::nctaidX:
      v = c.grid.x;
      break;
    case K::nctaidY:
      v = c.grid.y;
      break;
    case K::nctaidZ:
      v = c.grid.z;
      break;
    case K::laneid:
      v = lane;
      break;
    case K::warpid:
      v = id;
      break;
    case K::nwarpid:
      v = launch->warpsPerCta;
      break;
    case K::smid:
      v = (place.number * c.cluster.x * c.cluster.y * c.cluster.z + cta->rank) % launch->sms;
      break;
    case K::nsmid:
      v = launch->sms;
      break;
    case K::gridid:
      v = 1;
      break;
    case K::clusteridX:
      v = ci.x / cl.x;
      break;
    case K::clusteridY:
      v = ci.y / cl.y;
      break;
    case K::clusteridZ:
      v = ci.z / cl.z;
      break;
    case K::nclusteridX:
      v = c.grid.x / cl.x;
      break;
    case K::nclusteridY:
      v = c.grid.y / cl.y;
      break;
    case K::nclusteridZ:
      v = c.grid.z / cl.z;
      break;
    case K::clusterCtaidX:
      v = ci.x % cl.x;
      break;
    case K::clusterCtaidY:
      v = ci.y % cl.y;
      break;
    case K::clusterCtaidZ:
      v = ci.z % cl.z;
      break;
    case K::clusterNctaidX:
      v = cl.x;
      break;
    case K::clusterNctaidY:
      v = cl.y;
      break;
    case K::clusterNctaidZ:
      v = cl.z;
      break;
    case K::clusterCtarank:
      v = cta->rank;
      break;
    case K::clusterNctarank:
      v = uint64_t(cl.x) * cl.y * cl.z;
      break;
    case K::isExplicitCluster:
      v = uint64_t(cl.x) * cl.y * cl.z > 1 || kernel->directives.count("explicitcluster") ||
          kernel->directives.count("reqnctapercluster");
      break;
    case K::dynamicSmem:
      v = c.sharedBytes;
      break;
    case K::totalSmem: // without what the system keeps
      v = launch->sharedBytes - kSharedBase;
      break;
    case K::aggregateSmem:
      v = launch->sharedBytes;
      break;
    case K::lanemaskEq:
      v = 1u << lane;
      break;
    case K::lanemaskLt:
      v = (1u << lane) - 1;
      break;
    case K::lanemaskLe:
      v = (2ull << lane) - 1;
      break;
    case K::lanemaskGt:
      v = ~((2ull << lane) - 1) & 0xFFFFFFFF;
      break;
    case K::lanemaskGe:
      v = ~((1ull << lane) - 1) & 0xFFFFFFFF;
      break;
    case K::zero:
      break;
    }
    if (p.wide)
      reg<uint64_t>(p.slot)[lane] = v;
    else
      reg<uint32_t>(p.slot)[lane] = uint32_t(v);
  }
}

Outcome Warp::fail(const Instruction &in, const Fault &fault) {
  fail(in.line, fault);
  return Outcome::error;
}

void Warp::fail(uint32_t line, const Fault &fault) { cta->cluster->fail(line, fault); }

Outcome Warp::block(Wait::Kind kind, bool advance, uint64_t a, uint64_t b) {
  fragment().wait = {kind, advance, a, b};
  return Outcome::blocked;
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

uint32_t Warp::required(const Instruction &in, const Fragment &f) const {
  if (in.converge == Converge::memberMask)
    return reg<uint32_t>(in.op[in.memberOp])[std::countr_zero(f.mask)] & live;
  return live;
}

bool Warp::canProceed(const Fragment &f) const {
  using K = Wait::Kind;
  switch (f.wait.kind) {
  case K::none:
    return true;
  case K::converge:
    return (f.mask & required(kernel->code[f.pc], f)) == required(kernel->code[f.pc], f);
  case K::mbarrier:
    return mbarrierPhaseDone(*cta, f.wait.a, f.wait.b != 0);
  case K::named:
    return cta->named[f.wait.a].generation != f.wait.b;
  case K::cluster:
    return cta->cluster->clusterGeneration != f.wait.b;
  case K::tmemAlloc:
    return cta->cluster->progress != f.wait.b;
  case K::copyGroup:
  case K::bulkGroup:
  case K::bulkRead:
  case K::wgmmaGroup:
  case K::tmemLoad:
  case K::tmemStore:
  case K::loadResult:
  case K::registers:
    return !cta->cluster->inFlight([&](const AsyncOp &op) { return op.helps(*this, f); });
  }
  return true;
}

bool Warp::runnable() {
  return std::any_of(fragments.begin(), fragments.end(),
                     [&](const Fragment &f) { return canProceed(f); });
}

/// Merges fragments that met and picks the next one to run.
bool Warp::select() {
  using K = Wait::Kind;
  auto mergeable = [](const Fragment &f) {
    return f.wait.kind == K::none || f.wait.kind == K::converge ||
           (f.wait.kind == K::mbarrier && !f.wait.advance);
  };
  for (size_t i = 0; i < fragments.size(); ++i)
    for (size_t j = i + 1; j < fragments.size();) {
      Fragment &a = fragments[i], &b = fragments[j];
      if (a.pc == b.pc && mergeable(a) && mergeable(b)) {
        a.mask |= b.mask;
        a.wait = {};
        a.yielded = a.yielded && b.yielded;
        fragments.erase(fragments.begin() + long(j));
      } else {
        ++j;
      }
    }
  for (int pass = 0; pass < 2; ++pass) {
    uint32_t best = ~0u;
    for (uint32_t i = 0; i < fragments.size(); ++i) {
      Fragment &f = fragments[i];
      if (f.yielded || !canProceed(f))
        continue;
      if (best == ~0u || f.pc < fragments[best].pc)
        best = i;
    }
    if (best != ~0u) {
      current = best;
      Fragment &f = fragments[best];
      if (f.wait.kind != K::none && f.wait.advance)
        ++f.pc;
      f.wait = {};
      limit = ~0u;
      for (uint32_t i = 0; i < fragments.size(); ++i)
        if (i != best && fragments[i].pc > f.pc)
          limit = std::min(limit, fragments[i].pc);
      return true;
    }
    for (Fragment &f : fragments)
      f.yielded = false;
  }
  return false;
}

bool Warp::touchesPendingLoad(const Instruction &in) const {
  for (const auto &[id, targets] : loadTargets)
    for (uint32_t i = 0; i < in.touchedCount; ++i)
      if (std::find(targets.begin(), targets.end(),
                    kernel->touched[in.touched + i] & ~kTouchedWrite) != targets.end())
        return true;
  return false;
}

/// What an instruction may have to wait for apart from its own doing: lanes that come with it,
/// and loads into its registers. False: the fragment waits.
bool Warp::canBegin(const Instruction &in, Fragment &f) {
  if (in.converge != Converge::no) {
    uint32_t need = required(in, f);
    if ((f.mask & need) != need) {
      f.wait = {Wait::Kind::converge, false, 0, 0};
      return false;
    }
    if (apart) {
      if (hazards && in.converge == Converge::allLive)
        hazards->metByChance(*this, in);
      apart = f.mask != live;
    }
  }
  if (pendingLoads && touchesPendingLoad(in)) {
    f.wait = {Wait::Kind::loadResult, false, 0, 0};
    return false;
  }
  return true;
}

/// Executes the current fragment until a handler does other than to go on, another fragment is
/// due (`next`), or the budget is used. Counter and mask stay in registers on the way.
Outcome Warp::runOn(unsigned &budget) {
  Fragment &f = fragments[current];
  const uint32_t active = f.mask, due = limit;
  uint32_t pc = f.pc;
  for (const Instruction *in = kernel->code.data() + pc; budget; ++in) {
    --budget;
    if (in->converge != Converge::no || pendingLoads) [[unlikely]] {
      f.pc = pc;
      if (!canBegin(*in, f))
        return Outcome::blocked;
    }
    uint32_t m = active & (in->guardNegated ? ~preds[in->guard] : preds[in->guard]);
    if (m) {
      f.pc = pc;
      mask = m;
      if (watched) [[unlikely]]
        hazards->registers(*this, *in);
      executed += unsigned(std::popcount(m));
      if (Outcome o = in->run(*this, *in); o != Outcome::next)
        return o;
    }
    if (++pc >= due) [[unlikely]]
      break;
  }
  f.pc = pc;
  return Outcome::next;
}

bool Warp::run(unsigned budget) {
  if (!select())
    return false;
  while (budget) {
    switch (runOn(budget)) {
    case Outcome::next:
      if (fragments[current].pc >= limit)
        select();
      break;
    case Outcome::jumped:
      if (live == 0)
        return true;
      // When lanes exit, those that are left may be waiting.
      if ((fragments.size() > 1 || fragment().wait.kind != Wait::Kind::none) && !select())
        return true;
      break;
    case Outcome::blocked:
      if (!select())
        return true;
      break;
    case Outcome::yield:
      ++fragments[current].pc;
      fragments[current].yielded = true;
      return true;
    case Outcome::error:
      return true;
    }
  }
  fragments[current].yielded = true;
  return true;
}

void Warp::branch(uint32_t taken, uint32_t target) {
  Fragment &f = fragments[current];
  uint32_t rest = f.mask & ~taken;
  if (!rest) {
    f.pc = target;
    limit = ~0u; // with other fragments select() runs next and sets it
    return;
  }
  ++f.pc;
  f.mask = rest;
  apart = true;
  fragments.push_back({target, taken, {}, false});
}

void Warp::exitLanes(uint32_t lanes) {
  Fragment &f = fragments[current];
  if (hazards)
    hazards->exits(*this, kernel->code[f.pc], lanes);
  const uint32_t line = lineOf(f);
  f.mask &= ~lanes;
  live &= ~lanes;
  if (f.mask)
    ++f.pc;
  else
    fragments.erase(fragments.begin() + current);
  current = 0;
  ++cta->cluster->progress;
  cta->exitLine = line;
  cta->threadsExited(uint32_t(std::popcount(lanes)));
}

void Warp::remember() {
  if (!memory)
    memory = std::make_unique<Memory>();
  *memory = {
      file, local, predFile, fragments, calls ? std::make_unique<CallStack>(*calls) : nullptr,
      false};
}

bool Warp::isAsRemembered() {
  memory->returned =
      memory->returned ||
      (fragments == memory->fragments && predFile == memory->predFile && file == memory->file &&
       local == memory->local && (!calls || (memory->calls && *calls == *memory->calls)));
  return memory->returned;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

Space classify(uint64_t generic, uint64_t &address) {
  uint64_t window = generic >> kWindowShift;
  address = generic & ((uint64_t(1) << kWindowShift) - 1);
  if (window == kSharedWindow >> kWindowShift)
    return Space::sharedCluster;
  if (window == kLocalWindow >> kWindowShift)
    return Space::local;
  address = generic;
  return window == kParamWindow >> kWindowShift ? Space::param : Space::global;
}

uint8_t *Warp::resolveGlobal(const Instruction &in, uint64_t address, unsigned bytes,
                             Access access) {
  if (!cache.covers(address, bytes)) {
    cache = launch->memory.find(address);
    if (!cache.covers(address, bytes)) {
      cache = {};
      fail(in, Fault("mem_global: global access of " + dec(bytes) +
                     " bytes must lie in a live allocation, got " + hex(address) + " (" +
                     launch->memory.describe(address) + ")")
                   .at(globalBytes(address, bytes)));
      return nullptr;
    }
  }
  if (access == Access::write && cache.isConstant) {
    fail(in, Fault("mem_const: write of " + dec(bytes) +
                   " bytes must not go to a .const variable, got " + hex(address))
                 .at(globalBytes(address, bytes)));
    return nullptr;
  }
  return cache.at(address);
}

uint8_t *Warp::resolveShared(const Instruction &in, uint64_t address, unsigned bytes, Cta **owner) {
  Cta *target = cta->cluster->ctaOf(address);
  uint64_t offset = address & kSharedOffsetMask;
  if (!target) {
    fail(in, "mem_shared: shared address must name a CTA of the cluster, got " + hex(address));
    return nullptr;
  }
  if (target != cta && !target->liveThreads) {
    fail(in,
         Fault("cluster_exited: CTA of a shared address must not have exited, got " + hex(address))
             .at(sharedBytes(address, bytes))
             .against("exit of that CTA", target->exitLine));
    return nullptr;
  }
  if (offset < kSharedBase || offset + bytes > launch->sharedBytes) {
    fail(in, Fault("mem_shared: shared access of " + dec(bytes) + " bytes must lie in " +
                   hex(kSharedBase) + ".." + hex(launch->sharedBytes) + ", got " + hex(address))
                 .at(sharedBytes(address, bytes)));
    return nullptr;
  }
  if (owner)
    *owner = target;
  return target->shared.data() + offset;
}

std::string describeBytes(Space space, uint64_t address, uint64_t bytes) {
  if (space == Space::generic)
    space = classify(address, address);
  switch (space) {
  case Space::shared:
  case Space::sharedCluster:
    return sharedBytes(address, bytes);
  case Space::local:
  case Space::param:
    return std::string(space == Space::local ? "local" : "parameter") + " memory bytes " +
           hex(address) + ".." + hex(address + bytes - 1);
  default:
    return globalBytes(address, bytes);
  }
}

uint8_t *Warp::resolve(const Instruction &in, Space space, uint64_t address, unsigned bytes,
                       unsigned lane, Access access) {
  if (address & (bytes - 1)) {
    fail(in, Fault("mem_align: address must be a multiple of " + dec(bytes) + " bytes, got " +
                   hex(address))
                 .at(describeBytes(space, address, bytes)));
    return nullptr;
  }
  if (space == Space::generic)
    space = classify(address, address);
  switch (space) {
  case Space::shared:
    if ((address >> kClusterShift) != cta->rank) {
      fail(in, Fault("mem_shared: address of shared::cta must be the CTA's own, got " +
                     hex(address) + " in CTA rank " + dec(cta->rank))
                   .at(sharedBytes(address, bytes)));
      return nullptr;
    }
    return resolveShared(in, address, bytes);
  case Space::sharedCluster:
    return resolveShared(in, address, bytes);
  case Space::local:
    if (calls && address >= firstFrame(*kernel)) {
      std::vector<uint8_t> &frames = calls->lanes[lane].memory;
      const uint64_t offset = address - firstFrame(*kernel);
      if (offset < frames.size() && bytes <= frames.size() - offset)
        return frames.data() + offset;
    }
    if (address >= kernel->localBytes || bytes > kernel->localBytes - address) {
      fail(in, Fault("mem_local: local access of " + dec(bytes) + " bytes must lie in " +
                     dec(int64_t(kernel->localBytes)) + " bytes, got " + hex(address))
                   .at(describeBytes(Space::local, address, bytes)));
      return nullptr;
    }
    return local.data() + lane * localStride + address;
  case Space::param:
    address |= kParamBase; // a 32-bit register holds the offset only
    if (address < kParamBase || address - kParamBase + bytes > launch->params.size()) {
      fail(in, Fault("mem_param: parameter access of " + dec(bytes) + " bytes must lie in " +
                     dec(int64_t(launch->params.size())) + " bytes, got " + hex(address))
                   .at(describeBytes(Space::param, address - kParamBase, bytes)));
      return nullptr;
    }
    if (access == Access::write) {
      fail(in, Fault("mem_param: parameters of a kernel must not be written, got " + hex(address))
                   .at(describeBytes(Space::param, address - kParamBase, bytes)));
      return nullptr;
    }
    return launch->params.data() + (address - kParamBase);
  default:
    return resolveGlobal(in, address, bytes, access);
  }
}

} // namespace blockscale::emu
