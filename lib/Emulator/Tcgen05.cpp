//===- Tcgen05.cpp - completion of tensor memory operations ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tcgen05.commit, wait and fence: PTX ISA 9.4, 9.7.18.6 and .12.
//
//===----------------------------------------------------------------------===//

#include "Tcgen05.h"
#include "Hazards/Hazards.h"

#include "blockscale/Emulator/Mma.h"

#include <algorithm>
#include <cstring>

namespace blockscale::emu {

unsigned takeCtaGroup(Decoder &d) {
  int g = d.takeOneOf({"cta_group::1", "cta_group::2"});
  if (g < 0) {
    d.fail("ptx_modifier: tcgen05 instruction must have .cta_group");
    return 1;
  }
  unsigned group = unsigned(g + 1);
  if (d.kernel.ctaGroup && d.kernel.ctaGroup != group)
    d.fail("tcgen05_cta_group: a kernel must use one .cta_group, got both");
  d.kernel.ctaGroup = group;
  return group;
}

bool checkColumns(Warp &w, const Instruction &in, Cta &cta, unsigned column, unsigned count,
                  const char *what) {
  if (cta.tmem.covers(column, count))
    return true;
  const auto &live = cta.tmem.live();
  w.fail(in, Fault(std::string("tmem_bounds: columns of ") + what +
                   " must lie in a live allocation (" + cta.tmem.describe() + "), got " +
                   dec(column) + ".." + dec(int64_t(column) + count - 1))
                 .at(tensorColumns(column, count, cta.rank))
                 .against("tcgen05.alloc", live.empty() ? cta.tmem.allocatedLine : live[0].line));
  return false;
}

namespace {

// sub: 0 before_thread_sync, 1 after_thread_sync
Outcome fence(Warp &w, const Instruction &in) {
  if (w.hazards)
    w.hazards->fence(w, in.sub ? FenceKind::tcgen05After : FenceKind::tcgen05Before);
  return Outcome::next;
}

// sub: 0 ld, 1 st
Outcome waitTmem(Warp &w, const Instruction &in) {
  if (in.sub ? w.pendingStores : w.pendingLoads)
    return w.block(in.sub ? Wait::Kind::tmemStore : Wait::Kind::tmemLoad);
  if (w.hazards)
    w.hazards->tensorWait(w, in.sub);
  return Outcome::next;
}

class Commit final : public AsyncOp {
public:
  std::vector<uint64_t> barriers;
  unsigned group = 1;
  bool restricted = false;
  bool land() override {
    for (uint64_t b : barriers)
      if (Fault e = mbarrierArrive(*warp->cta, b, 1, 0); !e.empty())
        warp->fail(line, e);
    return true;
  }
  bool helps(const Warp &waiter, const Fragment &f) const override {
    for (uint64_t b : barriers)
      if (waitsFor(waiter, f, b))
        return true;
    return false;
  }
  const char *what() const override { return "tcgen05.commit"; }
  OpKind kind() const override { return OpKind::commit; }
  unsigned ctaGroup() const override { return group; }
  bool isRestricted() const override { return restricted; }
  std::vector<uint64_t> signals() const override { return barriers; }
};

// op: 0 barrier, 1 mask; flags: 1 wide, 2 generic, 4 pair, 8 restricted
Outcome commit(Warp &w, const Instruction &in) {
  if ((in.flags & 4) && !pairPeer(w, in))
    return Outcome::error;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    auto op = std::make_unique<Commit>();
    op->group = in.sub;
    op->restricted = in.flags & 8;
    uint64_t a = addressAt(w, in.op[0], in.flags & 1, in.imm, l);
    if ((in.flags & 2) && classify(a, a) != Space::sharedCluster)
      return w.fail(in, Fault("mbar_address: mbarrier must lie in shared memory, got " + hex(a))
                            .at(globalBytes(a, 8)));
    if (in.op[1] == kNone) {
      op->barriers.push_back(a);
    } else {
      uint32_t mask = w.reg<uint32_t>(in.op[1])[l];
      if (!mask || (mask >> 1 >> (w.cta->cluster->ctas.size() - 1)))
        return w.fail(in, "tma_multicast: mask must name CTAs of the cluster of " +
                              dec(int64_t(w.cta->cluster->ctas.size())) + ", got " + hex(mask));
      for (; mask; mask &= mask - 1)
        op->barriers.push_back(uint64_t(__builtin_ctz(mask)) << kClusterShift |
                               (a & kSharedOffsetMask));
    }
    // A restricted one follows the reads of A alone, which run ahead of the products.
    w.cta->cluster->issue(std::move(op), w, in,
                          in.flags & 8 ? AsyncOp::Pipe::mmaRead : AsyncOp::Pipe::tensor, 1u << l);
  }
  return issued(w);
}

bool decodeCommit(Decoder &d) {
  Instruction in;
  in.run = commit;
  unsigned group = takeCtaGroup(d);
  in.sub = uint8_t(group);
  const bool restricted = d.take("sync_restrict::shared::read::mma::a");
  d.kernel.commitsReads |= restricted;
  bool one = d.take("mbarrier::arrive::one");
  bool shared = d.take("shared::cluster");
  int multicast =
      d.takeOneOf({"multicast::cluster", "multicast::cluster::16b", "multicast::cluster::32b"});
  if (multicast == 2 && !facts::supports(d.arch, facts::Feature::multicast32))
    return d.fail("ptx_target: .multicast::cluster::32b must have a target with multicast32, got " +
                  std::string(facts::name(d.arch)));
  if (!one || d.takeType() != Type::b64 || !d.expectOperands(multicast >= 0 ? 2 : 1))
    return false;
  AddressOperand a = d.address(d.operand(0));
  in.op[0] = a.base;
  in.imm = a.offset;
  in.flags = uint32_t(a.wide) | uint32_t(!shared) << 1 | uint32_t(group == 2) << 2 |
             uint32_t(restricted) << 3;
  if (multicast >= 0)
    in.op[1] = d.source(1, multicast == 2 ? Type::b32 : Type::b16);
  d.emit(in);
  return d.error.empty();
}

/// The published models are of sm_100; of which forms on sm_103 and sm_107, mmaEvidence() tells.
constexpr facts::ArchSet kUnmeasured{facts::Arch::sm_110a, facts::Arch::sm_110f};

bool decodeTcgen05(Decoder &d) {
  if (!facts::supports(d.arch, facts::Feature::tcgen05))
    return d.fail("ptx_target: tcgen05 must have a target with tensor memory, got " +
                  std::string(facts::name(d.arch)));
  if (d.take("alloc"))
    return decodeTmemAlloc(d, true);
  if (d.take("dealloc"))
    return decodeTmemAlloc(d, false);
  if (d.take("relinquish_alloc_permit"))
    return decodeTmemRelinquish(d);
  Instruction in;
  if (int which = d.takeOneOf({"fence::before_thread_sync", "fence::after_thread_sync"});
      which >= 0) {
    in.run = fence;
    in.sub = uint8_t(which);
    d.emit(in);
    return d.expectOperands(0);
  }
  if (int which = d.takeOneOf({"wait::ld", "wait::st"}); which >= 0) {
    in.run = waitTmem;
    in.sub = uint8_t(which);
    in.converge = Converge::allLive;
    d.emit(in);
    return d.take("sync") && d.take("aligned") && d.expectOperands(0);
  }
  if (d.take("commit"))
    return decodeCommit(d);
  if (d.take("ld"))
    return decodeTmemLoadStore(d, false);
  if (d.take("st"))
    return decodeTmemLoadStore(d, true);
  if (d.take("cp"))
    return decodeTmemCopy(d);
  if (d.take("mma")) {
    if (kUnmeasured.contains(d.arch))
      noteEvidence(d.kernel, kNoEvidence);
    return decodeTmemMma(d);
  }
  return false;
}

} // namespace

DecodeFn findTcgen05(std::string_view opcode) {
  return opcode == "tcgen05" ? decodeTcgen05 : nullptr;
}

} // namespace blockscale::emu
