//===- CallStack.cpp - open calls of functions that call themselves -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CallStack.h"

#include "Echo.h"
#include "Lanes.h"
#include "Ptx.h"

#include <cstring>

namespace blockscale::emu {
namespace {

void append(std::vector<uint8_t> &to, const void *from, size_t bytes) {
  const auto *p = static_cast<const uint8_t *>(from);
  to.insert(to.end(), p, p + bytes);
}

/// What a lane keeps besides registers.
struct Link {
  uint32_t frame, memory; // where the frame before begins, and all of them end
};

template <typename T> Outcome address(Warp &w, const Instruction &in) {
  T *to = w.reg<T>(in.op[0]);
  const uint64_t base = firstFrame(*w.kernel) + uint64_t(in.imm);
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    to[l] = T(base + (w.calls ? w.calls->lanes[l].frame : 0));
  }
  return Outcome::next;
}

} // namespace

Frame::Frame() : savedBytes(sizeof(Link)) {}

void Frame::keep(Operand slot, RegClass cls) {
  if (cls == RegClass::pred)
    predicates.push_back(slot);
  else
    registers.push_back({slot, uint8_t(laneBytes(cls))});
  savedBytes += cls == RegClass::pred ? 1 : laneBytes(cls);
}

uint64_t firstFrame(const Kernel &kernel) {
  return (kernel.localBytes + kMostVariableAlign - 1) / kMostVariableAlign * kMostVariableAlign;
}

bool pushFrames(Warp &w, const Instruction &in, const Frame &frame) {
  if (!w.calls)
    w.calls = std::make_unique<CallStack>();
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const unsigned l = unsigned(__builtin_ctz(m));
    CallStack::Lane &lane = w.calls->lanes[l];
    const uint64_t start = (lane.memory.size() + frame.align - 1) / frame.align * frame.align,
                   end = start + frame.localBytes;
    if (end + lane.saved.size() + frame.savedBytes > kCallStackBytes) {
      w.fail(in, "call_depth: open calls of functions that call themselves must fit the " +
                     dec(int64_t(kCallStackBytes)) + " bytes of a thread's call stack, got call " +
                     dec(lane.depth + 1) + " of " + echo(frame.name) + " in thread " +
                     dec(w.id * 32 + l));
      return false;
    }
    for (const Frame::Register &r : frame.registers)
      append(lane.saved, w.reg<uint8_t>(r.slot) + size_t(l) * r.bytes, r.bytes);
    for (Operand p : frame.predicates)
      lane.saved.push_back(w.predicate(p, l));
    const Link link{lane.frame, uint32_t(lane.memory.size())};
    append(lane.saved, &link, sizeof link);
    lane.memory.resize(end);
    lane.frame = uint32_t(start);
    ++lane.depth;
  }
  return true;
}

bool popFrames(Warp &w, const Instruction &in, const Frame &frame) {
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const unsigned l = unsigned(__builtin_ctz(m));
    if (!w.calls || w.calls->lanes[l].saved.size() < frame.savedBytes) {
      w.fail(in, "call_depth: function must have been called before it returns, got no call");
      return false;
    }
    CallStack::Lane &lane = w.calls->lanes[l];
    const size_t start = lane.saved.size() - frame.savedBytes;
    const uint8_t *p = lane.saved.data() + start;
    for (const Frame::Register &r : frame.registers) {
      std::memcpy(w.reg<uint8_t>(r.slot) + size_t(l) * r.bytes, p, r.bytes);
      p += r.bytes;
    }
    for (Operand o : frame.predicates)
      w.preds[o] = (w.preds[o] & ~(1u << l)) | uint32_t(*p++) << l;
    Link link;
    std::memcpy(&link, p, sizeof link);
    lane.memory.resize(link.memory);
    lane.frame = link.frame;
    lane.saved.resize(start);
    --lane.depth;
  }
  return true;
}

Instruction addressInFrame(Operand to, uint64_t offset, bool wide) {
  Instruction in;
  in.run = wide ? address<uint64_t> : address<uint32_t>;
  in.op[0] = to;
  in.imm = int64_t(offset);
  return in;
}

bool registersAreWritten(const Warp &w) {
  Fragment probe;
  probe.wait = {Wait::Kind::registers, false, 0, 0};
  return !w.cta->cluster->inFlight([&](const AsyncOp &op) { return op.helps(w, probe); });
}

} // namespace blockscale::emu
