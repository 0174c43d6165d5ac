//===- LaunchControl.cpp - clusterlaunchcontrol.* -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.15.18. A running cluster takes the place of one that has not
// been started. The answer is 16 bytes in shared memory, as the code that ptxas
// makes reads it: x of the first CTA in word 0, y and z in the halves of word 1,
// and in bit 0 of word 2 whether a cluster was cancelled.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/Features.h"

#include "AsyncOps.h"
#include "Hazards/Hazards.h"
#include "LaunchControl.h"
#include "Scheduler.h"

#include <cstring>

namespace blockscale::emu {
namespace {

constexpr unsigned kAnswerBytes = 16;
enum : uint32_t { kGeneric = 1, kMulticast = 2 };

struct TryForm : Extra {
  AddressSlot answer, barrier;
};

class TryCancel final : public AsyncOp {
public:
  uint64_t answer = 0, barrier = 0; // offsets
  std::vector<Cta *> ctas;

  bool land() override {
    Cluster &cluster = *warp->cta->cluster;
    ClusterPlace place;
    uint32_t words[4] = {};
    if (warp->launch->scheduler->cancel(cluster, place)) {
      words[0] = place.origin.x;
      words[1] = (place.origin.y & 0xFFFF) | place.origin.z << 16;
      words[2] = 1;
    }
    for (Cta *cta : ctas) {
      if (!cta->liveThreads) {
        warp->fail(line,
                   Fault("cancel_multicast: CTAs of the cluster must not have exited")
                       .at(sharedBytes(uint64_t(cta->rank) << kClusterShift | answer, kAnswerBytes))
                       .against("exit of that CTA", cta->exitLine));
        return true;
      }
      std::memcpy(cta->shared.data() + answer, words, kAnswerBytes);
      if (Fault e = mbarrierCompleteTx(*cta, of(*cta), kAnswerBytes); !e.empty()) {
        warp->fail(line, e);
        return true;
      }
    }
    return true;
  }
  bool helps(const Warp &waiter, const Fragment &f) const override {
    for (const Cta *cta : ctas)
      if (waitsFor(waiter, f, of(*cta)))
        return true;
    return false;
  }
  bool touches(const Cta &cta) const override {
    for (const Cta *c : ctas)
      if (c == &cta)
        return true;
    return false;
  }
  const char *leakAtExit() const override { return "must be complete when its CTA exits"; }
  const char *what() const override { return "clusterlaunchcontrol.try_cancel"; }
  OpKind kind() const override { return OpKind::bulkLoad; }
  std::vector<uint64_t> signals() const override {
    std::vector<uint64_t> out;
    for (const Cta *cta : ctas)
      out.push_back(of(*cta));
    return out;
  }
  void describe(AccessSink &sink) const override {
    for (Cta *cta : ctas)
      sink.shared(Touch::bulkWrite, *cta, uint32_t(answer), kAnswerBytes, of(*cta));
  }

private:
  uint64_t of(const Cta &cta) const { return uint64_t(cta.rank) << kClusterShift | barrier; }
};

Outcome tryCancel(Warp &w, const Instruction &in) {
  const auto &form = *static_cast<const TryForm *>(in.extra);
  Cluster &cluster = *w.cta->cluster;
  if (cluster.cancelFailureLine)
    return w.fail(in, Fault("cancel_after_failure: try_cancel must not follow an answer that says "
                            "no cluster was left")
                          .at(sharedBytes(form.answer.at(w, int(w.leader())) & kSharedOffsetMask,
                                          kAnswerBytes))
                          .against("clusterlaunchcontrol.query_cancel, which saw the answer,",
                                   cluster.cancelFailureLine));
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    auto op = std::make_unique<TryCancel>();
    uint64_t answer = form.answer.at(w, l), barrier = form.barrier.at(w, l);
    for (uint64_t *a : {&answer, &barrier}) {
      if ((in.flags & kGeneric) && classify(*a, *a) != Space::sharedCluster)
        return w.fail(in, Fault("cancel_address: operands of try_cancel must lie in shared memory, "
                                "got " +
                                hex(*a))
                              .at(globalBytes(*a, a == &answer ? kAnswerBytes : 8)));
      if ((*a >> kClusterShift) != w.cta->rank)
        return w.fail(in, Fault("cancel_address: operands of try_cancel must lie in the CTA's own "
                                "shared memory, got " +
                                hex(*a))
                              .at(sharedBytes(*a, a == &answer ? kAnswerBytes : 8)));
    }
    if (answer % kAnswerBytes)
      return w.fail(
          in, Fault("cancel_address: answer must lie at a multiple of 16 bytes, got " + hex(answer))
                  .at(sharedBytes(answer, kAnswerBytes)));
    if (!w.resolveShared(in, answer, kAnswerBytes))
      return Outcome::error;
    op->answer = answer & kSharedOffsetMask;
    op->barrier = barrier & kSharedOffsetMask;
    if (in.flags & kMulticast)
      for (auto &cta : cluster.ctas)
        op->ctas.push_back(cta.get());
    else
      op->ctas.push_back(w.cta);
    cluster.issue(std::move(op), w, in, AsyncOp::Pipe::free, 1u << l);
  }
  return issued(w);
}

// op: 0 predicate, 1 answer
Outcome isCanceled(Warp &w, const Instruction &in) {
  uint32_t yes = 0;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    uint32_t words[4];
    std::memcpy(words, &w.reg<unsigned __int128>(in.op[1])[l], kAnswerBytes);
    yes |= (words[2] & 1) << l;
  }
  if (yes != w.mask)
    w.cta->cluster->cancelFailureLine = in.line;
  w.preds[in.op[0]] = (w.preds[in.op[0]] & ~w.mask) | yes;
  return Outcome::next;
}

// op: 0..2 x, y, z (or none); 3 answer
Outcome firstCtaid(Warp &w, const Instruction &in) {
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    uint32_t words[4];
    std::memcpy(words, &w.reg<unsigned __int128>(in.op[3])[l], kAnswerBytes);
    if (!(words[2] & 1) && w.hazards)
      w.hazards->usedFailedAnswer(w, in);
    const uint32_t ctaid[3] = {words[0], words[1] & 0xFFFF, words[1] >> 16};
    for (int i = 0; i < 3; ++i)
      if (in.op[i] != kNone)
        w.reg<uint32_t>(in.op[i])[l] = ctaid[i];
  }
  return Outcome::next;
}

bool decodeTry(Decoder &d) {
  Instruction in;
  auto form = std::make_shared<TryForm>();
  bool isAsync = d.take("async"), own = d.take("shared::cta");
  bool bytes = d.take("mbarrier::complete_tx::bytes");
  if (d.take("multicast::cluster::all")) {
    if (!facts::supports(d.arch, facts::Feature::clusterLaunchControlMulticast))
      return d.fail("ptx_target: .multicast::cluster::all must have a target with "
                    "cluster_launch_control_multicast, got " +
                    std::string(facts::name(d.arch)));
    in.flags |= kMulticast;
  }
  if (!isAsync || !bytes || d.takeType() != Type::b128 || !d.expectOperands(2))
    return false;
  in.flags |= own ? 0 : uint32_t(kGeneric);
  AddressOperand a = d.address(d.operand(0)), b = d.address(d.operand(1));
  form->answer = {a.base, a.wide, a.offset};
  form->barrier = {b.base, b.wide, b.offset};
  in.run = tryCancel;
  in.extra = form.get();
  d.kernel.extras.push_back(form);
  d.emit(in);
  return d.error.empty();
}

bool decodeQuery(Decoder &d) {
  Instruction in;
  if (d.take("is_canceled")) {
    if (!d.take("pred") || d.takeType() != Type::b128 || !d.expectOperands(2))
      return false;
    in.run = isCanceled;
    in.op[0] = d.predicate(d.operand(0), true);
    in.op[1] = d.source(1, Type::b128);
    d.emit(in);
    return d.error.empty();
  }
  int one = d.takeOneOf({"get_first_ctaid::x", "get_first_ctaid::y", "get_first_ctaid::z"});
  bool all = one < 0 && d.take("get_first_ctaid") && d.take("v4");
  if ((one < 0 && !all) || d.takeType() != Type::b32 || d.takeType() != Type::b128 ||
      !d.expectOperands(2))
    return false;
  in.run = firstCtaid;
  if (all) {
    const PtxOperand &to = d.operand(0);
    if (to.kind != PtxOperand::Kind::vector || to.items.size() != 4)
      return d.fail("ptx_operand: get_first_ctaid must have four registers");
    for (size_t i = 0; i < 3; ++i)
      in.op[i] = d.sinkOr(to.items[i], Type::b32);
    d.sinkOr(to.items[3], Type::b32);
  } else {
    in.op[one] = d.dest(0, Type::b32);
  }
  in.op[3] = d.source(1, Type::b128);
  d.emit(in);
  return d.error.empty();
}

bool decodeLaunchControl(Decoder &d) {
  if (!facts::supports(d.arch, facts::Feature::clusterLaunchControl))
    return d.fail("ptx_target: clusterlaunchcontrol must have a target with "
                  "cluster_launch_control, got " +
                  std::string(facts::name(d.arch)));
  if (d.take("try_cancel"))
    return decodeTry(d);
  return d.take("query_cancel") && decodeQuery(d);
}

} // namespace

bool isTryCancel(const Instruction &in) { return in.run == tryCancel; }

DecodeFn findLaunchControl(std::string_view opcode) {
  return opcode == "clusterlaunchcontrol" ? decodeLaunchControl : nullptr;
}

} // namespace blockscale::emu
