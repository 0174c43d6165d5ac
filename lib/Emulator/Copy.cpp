//===- Copy.cpp - cp.async and the groups of bulk copies ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.10.28.3 and .6. A cp.async lands by itself; groups and mbarrier
// arrivals only tell when. Groups are per thread.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/Features.h"

#include "AsyncOps.h"
#include "Hazards/Hazards.h"

#include <cstring>

namespace blockscale::emu {
namespace {

class CopyAsync final : public AsyncOp {
public:
  uint64_t dst[32], src[32];
  uint32_t srcBytes[32], group[32];
  unsigned bytes = 0;
  Instruction where; // for messages

  bool land() override {
    for (uint32_t m = lanes; m; m &= m - 1) {
      int l = __builtin_ctz(m);
      uint8_t *to = warp->resolve(where, Space::sharedCluster, dst[l], bytes, unsigned(l));
      if (!to)
        return true;
      uint8_t data[16] = {};
      if (srcBytes[l]) {
        const uint8_t *from = warp->resolveGlobal(where, src[l], srcBytes[l]);
        if (!from)
          return true;
        std::memcpy(data, from, srcBytes[l]);
      }
      std::memcpy(to, data, bytes);
    }
    return true;
  }
  bool helps(const Warp &waiter, const Fragment &f) const override {
    if (&waiter != warp || f.wait.kind != Wait::Kind::copyGroup)
      return false;
    for (uint32_t m = lanes & f.mask; m; m &= m - 1) {
      int l = __builtin_ctz(m);
      if (f.wait.b || group[l] + f.wait.a < waiter.copyGroup[l])
        return true;
    }
    return false;
  }
  const char *leakAtExit() const override { return "must be complete when its thread exits"; }
  const char *what() const override { return "cp.async"; }
  OpKind kind() const override { return where.flags & 4 ? OpKind::copyAsyncCg : OpKind::copyAsync; }
  void describe(AccessSink &sink) const override {
    for (uint32_t m = lanes; m; m &= m - 1) {
      int l = __builtin_ctz(m);
      uint64_t address = dst[l];
      if (address >> kWindowShift)
        classify(address, address);
      if (Cta *cta = warp->cta->cluster->ctaOf(address))
        sink.shared(Touch::copyAsync, *cta, uint32_t(address & kSharedOffsetMask), bytes,
                    uint64_t(l));
      if (srcBytes[l])
        sink.global(Touch::copyAsyncRead, src[l], srcBytes[l], uint64_t(l));
    }
  }
};

/// Arrives when the earlier cp.async of each lane have landed.
class CopyArrive final : public AsyncOp {
public:
  uint64_t barrier[32];

  bool ready() const override {
    return !warp->cta->cluster->inFlight([&](const AsyncOp &op) {
      return op.id < id && op.warp == warp && (op.lanes & lanes) &&
             dynamic_cast<const CopyAsync *>(&op);
    });
  }
  bool land() override {
    for (uint32_t m = lanes; m; m &= m - 1) {
      arriving = m & -m;
      if (Fault e = mbarrierArrive(*warp->cta, barrier[__builtin_ctz(m)], 1, 0); !e.empty())
        warp->fail(line, e);
    }
    return true;
  }
  bool helps(const Warp &waiter, const Fragment &f) const override {
    for (uint32_t m = lanes; m; m &= m - 1)
      if (waitsFor(waiter, f, barrier[__builtin_ctz(m)]))
        return true;
    return false;
  }
  const char *what() const override { return "cp.async.mbarrier.arrive"; }
  OpKind kind() const override { return OpKind::copyArrive; }
  std::vector<uint64_t> signals() const override {
    std::vector<uint64_t> out;
    for (uint32_t m = lanes; m; m &= m - 1)
      out.push_back(barrier[__builtin_ctz(m)]);
    return out;
  }
};

/// Copies of different bytes to one place.
void tellCollisions(Warp &w, const Instruction &in, const CopyAsync &op) {
  auto isSame = [&](unsigned a, unsigned b) {
    if (op.srcBytes[a] == op.srcBytes[b] && (op.src[a] == op.src[b] || !op.srcBytes[a]))
      return true;
    uint8_t data[2][16] = {};
    for (unsigned i = 0; i < 2; ++i)
      if (const unsigned l = i ? b : a; op.srcBytes[l])
        std::memcpy(data[i], w.resolveGlobal(in, op.src[l], op.srcBytes[l]), op.srcBytes[l]);
    return std::memcmp(data[0], data[1], op.bytes) == 0;
  };
  if (const uint32_t lost = lanesWithAnother(op.dst, op.bytes, w.mask, isSame))
    w.hazards->lanesCollided(w, in, "cp.async", Space::shared, op.dst, op.bytes, w.mask, lost);
}

// op: 0 dst, 1 src, 2 source size, 3 predicate that ignores the source
Outcome copyAsync(Warp &w, const Instruction &in) {
  auto op = std::make_unique<CopyAsync>();
  op->where = in;
  op->bytes = in.sub;
  bool ignore = in.op[3] != kNone;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    op->dst[l] = addressAt(w, in.op[0], in.flags & 1, in.imm, l);
    op->src[l] = addressAt(w, in.op[1], in.flags & 2, in.imm2, l);
    op->srcBytes[l] = in.op[2] == kNone ? in.sub : w.reg<uint32_t>(in.op[2])[l];
    if (op->srcBytes[l] > in.sub)
      return w.fail(in, Fault("cp_async_size: source size must be at most " + dec(in.sub) +
                              ", got " + dec(op->srcBytes[l]))
                            .at(globalBytes(op->src[l], op->srcBytes[l])));
    if (ignore && w.predicate(in.op[3], unsigned(l)))
      op->srcBytes[l] = 0;
    op->group[l] = w.copyGroup[l];
    // Refuse at once what could never land.
    if (!w.resolve(in, Space::sharedCluster, op->dst[l], in.sub, unsigned(l)))
      return Outcome::error;
    if (op->src[l] % in.sub)
      return w.fail(in, Fault("mem_align: address must be a multiple of " + dec(in.sub) +
                              " bytes, got " + hex(op->src[l]))
                            .at(globalBytes(op->src[l], in.sub)));
    if (op->srcBytes[l] && !w.resolveGlobal(in, op->src[l], op->srcBytes[l]))
      return Outcome::error;
  }
  if (w.hazards)
    tellCollisions(w, in, *op);
  w.cta->cluster->issue(std::move(op), w, in, AsyncOp::Pipe::free, w.mask);
  return issued(w);
}

Outcome commitGroup(Warp &w, const Instruction &in) {
  for (uint32_t m = w.mask; m; m &= m - 1)
    ++(in.sub ? w.bulkGroup : w.copyGroup)[__builtin_ctz(m)];
  if (w.hazards)
    w.hazards->closeGroup(w, in.sub);
  return Outcome::next;
}

// sub: 0 cp.async groups, 1 bulk groups, 2 bulk groups, sources only
Outcome waitGroup(Warp &w, const Instruction &in) {
  Fragment probe = w.fragment();
  probe.mask = w.mask;
  probe.wait = {in.sub == 0   ? Wait::Kind::copyGroup
                : in.sub == 1 ? Wait::Kind::bulkGroup
                              : Wait::Kind::bulkRead,
                false, uint64_t(in.imm), uint64_t(in.flags & 1)};
  if (!w.cta->cluster->inFlight([&](const AsyncOp &op) { return op.helps(w, probe); })) {
    if (w.hazards)
      w.hazards->waitGroup(w, in.sub, in.flags & 1 ? ~uint64_t(0) : uint64_t(in.imm));
    return Outcome::next;
  }
  return w.block(probe.wait.kind, false, probe.wait.a, probe.wait.b);
}

// op: 0 barrier; flags: 1 wide, 2 generic, 4 noinc
Outcome copyArrive(Warp &w, const Instruction &in) {
  auto op = std::make_unique<CopyArrive>();
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    uint64_t a = addressAt(w, in.op[0], in.flags & 1, in.imm, l);
    if ((in.flags & 2) && classify(a, a) != Space::sharedCluster)
      return w.fail(in, Fault("mbar_address: mbarrier must lie in shared memory, got " + hex(a))
                            .at(globalBytes(a, 8)));
    op->barrier[l] = a;
    if (!(in.flags & 4))
      if (Fault e = mbarrierAddPending(*w.cta, a, 1); !e.empty())
        return w.fail(in, e);
  }
  w.cta->cluster->issue(std::move(op), w, in, AsyncOp::Pipe::free, w.mask);
  return issued(w);
}

bool decodeWaitGroup(Decoder &d, unsigned kind) {
  bool read = kind == 1 && d.take("read");
  if (!d.expectOperands(1))
    return false;
  auto n = d.immediate(d.operand(0));
  if (!n || *n < 0)
    return d.fail("ptx_operand: wait_group must have a number of groups");
  Instruction in;
  in.run = waitGroup;
  in.sub = uint8_t(kind + read);
  in.imm = *n;
  d.emit(in);
  return true;
}

bool decodeCommit(Decoder &d, unsigned kind) {
  Instruction in;
  in.run = commitGroup;
  in.sub = uint8_t(kind);
  d.emit(in);
  return d.expectOperands(0);
}

bool decodeCopyAsync(Decoder &d) {
  if (!facts::supports(d.arch, facts::Feature::cpAsync))
    return d.fail("ptx_target: cp.async must have a target with it, got " +
                  std::string(facts::name(d.arch)));
  if (d.take("commit_group"))
    return decodeCommit(d, 0);
  if (d.take("wait_group"))
    return decodeWaitGroup(d, 0);
  Instruction in;
  if (d.take("wait_all")) {
    in.run = waitGroup;
    in.flags = 1;
    d.emit(in);
    return d.expectOperands(0);
  }
  if (d.take("mbarrier")) {
    bool arrive = d.take("arrive"), noinc = d.take("noinc");
    bool shared = d.takeOneOf({"shared", "shared::cta"}) >= 0;
    if (!arrive || d.takeType() != Type::b64 || !d.expectOperands(1))
      return false;
    AddressOperand a = d.address(d.operand(0));
    in.run = copyArrive;
    in.op[0] = a.base;
    in.imm = a.offset;
    in.flags = uint32_t(a.wide) | uint32_t(!shared) << 1 | uint32_t(noinc) << 2;
    d.emit(in);
    return d.error.empty();
  }
  int cache = d.takeOneOf({"ca", "cg"});
  bool shared = d.takeOneOf({"shared", "shared::cta"}) >= 0, global = d.take("global");
  d.takeHints();
  bool policy = d.take("L2::cache_hint");
  if (cache < 0 || !shared || !global || d.count() < 3u + policy || d.count() > 4u + policy)
    return false;
  auto size = d.immediate(d.operand(2));
  if (!size || (*size != 4 && *size != 8 && *size != 16) || (cache == 1 && *size != 16))
    return d.fail(std::string("ptx_immediate: size of cp.async must be ") +
                  (cache == 1 ? "16" : "4, 8 or 16") + (size ? ", got " + dec(*size) : ""));
  AddressOperand dst = d.address(d.operand(0)), src = d.address(d.operand(1));
  in.run = copyAsync;
  in.sub = uint8_t(*size);
  in.op[0] = dst.base;
  in.imm = dst.offset;
  in.op[1] = src.base;
  in.imm2 = src.offset;
  in.flags = uint32_t(dst.wide) | uint32_t(src.wide) << 1 | uint32_t(cache == 1) << 2;
  if (d.count() == 4u + policy) {
    const PtxOperand &o = d.operand(3);
    if (d.isRegister(o) && d.registerClass(o) == RegClass::pred)
      in.op[3] = d.predicate(o, false);
    else
      in.op[2] = d.source(o, Type::u32);
  }
  d.emit(in);
  return d.error.empty();
}

bool decodeCp(Decoder &d) {
  bool reduce = d.take("reduce");
  if (!d.take("async"))
    return false;
  if (!d.take("bulk"))
    return !reduce && decodeCopyAsync(d);
  if (!facts::supports(d.arch, facts::Feature::tma))
    return d.fail("ptx_target: cp.async.bulk must have a target with tma, got " +
                  std::string(facts::name(d.arch)));
  if (d.take("commit_group"))
    return decodeCommit(d, 1);
  if (d.take("wait_group"))
    return decodeWaitGroup(d, 1);
  return decodeBulk(d, reduce);
}

} // namespace

DecodeFn findCopy(std::string_view opcode) { return opcode == "cp" ? decodeCp : nullptr; }

} // namespace blockscale::emu
