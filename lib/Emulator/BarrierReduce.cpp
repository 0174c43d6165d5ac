//===- BarrierReduce.cpp - bar.red and barrier.red ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.15.1: a barrier that also counts predicates. Three steps: each
// thread casts its vote into the generation that is open, waits like barrier.sync,
// and reads the result of its generation.
//
//===----------------------------------------------------------------------===//

#include "BarrierReduce.h"

#include "Lanes.h"

namespace blockscale::emu {
namespace {

enum class Reduce : uint8_t { popc, andOp, orOp };

// op: 0 barrier, 1 predicate, 2 generation (out); flags: 1 negated
Outcome cast(Warp &w, const Instruction &in) {
  uint32_t id = w.uniform<uint32_t>(in.op[0]);
  if (id >= std::size(w.cta->named))
    return w.fail(in, "bar_id: barrier must be 0..15, got " + dec(id));
  NamedBarrier &b = w.cta->named[id];
  NamedBarrier::Votes &votes = b.votes[b.generation % std::size(b.votes)];
  if (votes.generation != b.generation)
    votes = {b.generation, 0, 0};
  uint32_t yes = (in.flags & 1 ? ~w.preds[in.op[1]] : w.preds[in.op[1]]) & w.mask;
  votes.yes += uint32_t(std::popcount(yes));
  votes.total += uint32_t(std::popcount(w.mask));
  uint64_t *generation = w.reg<uint64_t>(in.op[2]);
  for (uint32_t m = w.mask; m; m &= m - 1)
    generation[__builtin_ctz(m)] = b.generation;
  return Outcome::next;
}

// op: 0 barrier, 1 generation, 2 result; sub: Reduce
Outcome count(Warp &w, const Instruction &in) {
  const NamedBarrier &b = w.cta->named[w.uniform<uint32_t>(in.op[0])];
  uint64_t generation = w.uniform<uint64_t>(in.op[1]);
  const NamedBarrier::Votes &votes = b.votes[generation % std::size(b.votes)];
  if (votes.generation != generation)
    return w.fail(in, "bar_reduce: result of the barrier must be read before it is used again");
  if (Reduce(in.sub) == Reduce::popc) {
    uint32_t *d = w.reg<uint32_t>(in.op[2]);
    for (uint32_t m = w.mask; m; m &= m - 1)
      d[__builtin_ctz(m)] = votes.yes;
    return Outcome::next;
  }
  bool yes = Reduce(in.sub) == Reduce::andOp ? votes.yes == votes.total : votes.yes != 0;
  w.preds[in.op[2]] = (w.preds[in.op[2]] & ~w.mask) | (yes ? w.mask : 0);
  return Outcome::next;
}

} // namespace

bool decodeBarrierReduce(Decoder &d, Handler wait) {
  int op = d.takeOneOf({"popc", "and", "or"});
  bool aligned = d.take("aligned") || d.raw->opcode == "bar";
  Type t = d.takeType();
  if (op < 0 || t != (op == 0 ? Type::u32 : Type::pred) || d.count() < 3 || d.count() > 4)
    return false;
  size_t last = d.count() - 1;
  Instruction vote, sync, result;
  vote.converge = sync.converge = aligned ? Converge::allLive : Converge::no;
  vote.run = cast;
  vote.op[0] = sync.op[0] = result.op[0] = d.source(1, Type::b32);
  bool negated = false;
  vote.op[1] = d.predicate(d.operand(last), /*isDest=*/false, &negated);
  vote.flags = negated;
  vote.op[2] = result.op[1] = d.scratch(RegClass::r64);
  sync.run = wait;
  if (last == 3)
    sync.op[1] = d.source(2, Type::b32);
  result.run = count;
  result.sub = uint8_t(op);
  result.op[2] = op == 0 ? d.dest(0, Type::u32) : d.predicate(d.operand(0), /*isDest=*/true);
  if (!d.error.empty() || result.op[2] == kNone)
    return false;
  d.emit(vote);
  d.emit(sync);
  d.emit(result);
  return true;
}

} // namespace blockscale::emu
