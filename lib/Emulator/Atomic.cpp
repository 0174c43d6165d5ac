//===- Atomic.cpp - atom and red ------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.15.5 and 9.7.15.6. Lanes apply one after another, lowest
// first; host threads that run other clusters are held off by a lock.
//
//===----------------------------------------------------------------------===//

#include "CompareAndSwap.h"
#include "Float.h"
#include "Hazards/Hazards.h"
#include "Lanes.h"
#include "Polls.h"
#include "StoreAsync.h"

#include <algorithm>
#include <cstring>

namespace blockscale::emu {
namespace {

enum class Op : uint8_t { add, min, max, andOp, orOp, xorOp, inc, dec, exch, cas };
enum : uint32_t { kWideBase = 1, kVectorHalf = 2 };
constexpr unsigned kOrderShift = 16, kOrderMask = 7;
constexpr uint32_t kWide = 1u << 20; // gpu or sys scope

/// Tells the hazard checks of one lane's access.
void note(Warp &w, const Instruction &in, uint64_t address, unsigned bytes, int lane) {
  if (w.hazards)
    w.hazards->access(w, in, Touch::atomic, Space(in.imm2), address, bytes, unsigned(lane),
                      Order(in.flags >> kOrderShift & kOrderMask), in.flags & kWide);
}

template <typename T> T apply(Op op, T old, T a, T b) {
  switch (op) {
  case Op::add:
    if constexpr (std::is_floating_point_v<T>)
      return old + a;
    else
      return T(std::make_unsigned_t<T>(old) + std::make_unsigned_t<T>(a));
  case Op::min:
    return a < old ? a : old;
  case Op::max:
    return a > old ? a : old;
  case Op::exch:
    return a;
  default:
    break;
  }
  if constexpr (!std::is_floating_point_v<T>) {
    switch (op) {
    case Op::andOp:
      return old & a;
    case Op::orOp:
      return old | a;
    case Op::xorOp:
      return old ^ a;
    case Op::inc:
      return old >= a ? 0 : T(old + 1);
    case Op::dec:
      return old == 0 || old > a ? a : T(old - 1);
    case Op::cas:
      return old == a ? b : old;
    default:
      break;
    }
  }
  return old;
}

/// Sums of f32 and f64, by the memory that makes them: in global memory f32 flushes (PTX ISA
/// 9.4, 9.7.15.5); in shared memory the chips loop over an ordinary addition.
float add(bool isShared, float old, float a) {
  return canonical(isShared ? old + a : flush(flush(old) + flush(a)));
}
double add(bool isShared, double old, double a) {
  return isShared ? nanOr(old + a, a, old) : sumInMemory(old, a);
}

/// Whether the access goes to shared memory.
bool isShared(const Instruction &in, uint64_t address) {
  Space space = Space(in.imm2);
  uint64_t offset;
  if (space == Space::generic)
    space = classify(address, offset);
  return space == Space::shared || space == Space::sharedCluster;
}

template <typename T> Outcome atomic(Warp &w, const Instruction &in) {
  std::lock_guard<std::mutex> guard(w.launch->memory.atomics);
  bool changed = false;
  uint64_t addresses[32] = {};
  uint8_t *places[32] = {};
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    addresses[l] = uint64_t(in.imm) + (in.flags & kWideBase ? w.reg<uint64_t>(in.op[1])[l]
                                                            : w.reg<uint32_t>(in.op[1])[l]);
    places[l] =
        w.resolve(in, Space(in.imm2), addresses[l], sizeof(T), unsigned(l), Warp::Access::write);
    if (!places[l])
      return Outcome::error;
  }
  if (w.hazards)
    w.hazards->accesses(w, in, Touch::atomic, Space(in.imm2), addresses, sizeof(T), /*same=*/0,
                        Order(in.flags >> kOrderShift & kOrderMask), in.flags & kWide);
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    uint8_t *p = places[l];
    T old, fresh;
    std::memcpy(&old, p, sizeof(T));
    T a = T(w.reg<Stored<T>>(in.op[2])[l]);
    T b = in.op[3] == kNone ? T() : T(w.reg<Stored<T>>(in.op[3])[l]);
    if constexpr (std::is_floating_point_v<T>)
      fresh = Op(in.sub) == Op::add ? add(isShared(in, addresses[l]), old, a)
                                    : apply<T>(Op(in.sub), old, a, b);
    else
      fresh = apply<T>(Op(in.sub), old, a, b);
    changed |= std::memcmp(p, &fresh, sizeof(T)) != 0;
    std::memcpy(p, &fresh, sizeof(T));
    if (in.op[0] != kNone)
      w.reg<Stored<T>>(in.op[0])[l] = Stored<T>(old);
  }
  w.cta->cluster->progress += changed; // a poll is no progress
  return Outcome::yield;
}

/// Exchanges of 128 bits.
Outcome atomicWide(Warp &w, const Instruction &in) {
  constexpr unsigned kBytes = 16;
  std::lock_guard<std::mutex> guard(w.launch->memory.atomics);
  bool changed = false;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    uint64_t address =
        in.flags & kWideBase ? w.reg<uint64_t>(in.op[1])[l] : w.reg<uint32_t>(in.op[1])[l];
    uint8_t *p = w.resolve(in, Space(in.imm2), address + uint64_t(in.imm), kBytes, unsigned(l),
                           Warp::Access::write);
    if (!p)
      return Outcome::error;
    note(w, in, address + uint64_t(in.imm), kBytes, l);
    auto lane = [&](Operand o) { return w.reg<uint8_t>(o) + size_t(l) * kBytes; };
    uint8_t old[kBytes];
    std::memcpy(old, p, kBytes);
    const bool swaps = Op(in.sub) == Op::exch || std::memcmp(old, lane(in.op[2]), kBytes) == 0;
    if (swaps) {
      const uint8_t *fresh = lane(in.op[Op(in.sub) == Op::exch ? 2 : 3]);
      changed |= std::memcmp(old, fresh, kBytes) != 0;
      std::memcpy(p, fresh, kBytes);
    }
    if (in.op[0] != kNone)
      std::memcpy(lane(in.op[0]), old, kBytes);
  }
  w.cta->cluster->progress += changed; // a poll is no progress
  return Outcome::yield;
}

/// Vectors and 16-bit floats: elements in lists[list..], results in lists[list + n..].
Outcome atomicVector(Warp &w, const Instruction &in) {
  std::lock_guard<std::mutex> guard(w.launch->memory.atomics);
  bool changed = false;
  Type t = Type(in.flags >> 8 & 0xFF);
  unsigned n = in.listCount, bytes = bits(t) / 8;
  const Operand *src = w.kernel->lists.data() + in.list, *dst = src + n;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    uint64_t address =
        in.flags & kWideBase ? w.reg<uint64_t>(in.op[1])[l] : w.reg<uint32_t>(in.op[1])[l];
    uint8_t *p = w.resolve(in, Space(in.imm2), address + uint64_t(in.imm), n * bytes, unsigned(l),
                           Warp::Access::write);
    if (!p)
      return Outcome::error;
    for (unsigned i = 0; i < n; ++i)
      note(w, in, address + uint64_t(in.imm) + uint64_t(i) * bytes, bytes, l);
    for (unsigned i = 0; i < n; ++i, p += bytes) {
      uint32_t old = 0, a = w.reg<uint32_t>(src[i])[l], fresh = 0;
      std::memcpy(&old, p, bytes);
      auto half = [&](uint32_t x, uint32_t y) -> uint32_t {
        bool brain = t == Type::bf16 || t == Type::bf16x2;
        float fx = brain ? fromBf16(uint16_t(x)) : fromF16(uint16_t(x)),
              fy = brain ? fromBf16(uint16_t(y)) : fromF16(uint16_t(y));
        float r = apply<float>(Op(in.sub), fx, fy, 0.0f);
        return brain ? toBf16(r) : toF16(r);
      };
      if (t == Type::f32)
        fresh = std::bit_cast<uint32_t>(canonical(
            apply<float>(Op(in.sub), std::bit_cast<float>(old), std::bit_cast<float>(a), 0.0f)));
      else if (bytes == 2)
        fresh = half(old, a);
      else
        fresh = half(old & 0xFFFF, a & 0xFFFF) | half(old >> 16, a >> 16) << 16;
      changed |= std::memcmp(p, &fresh, bytes) != 0;
      std::memcpy(p, &fresh, bytes);
      if (dst[i] != kNone)
        w.reg<uint32_t>(dst[i])[l] = old;
    }
  }
  w.cta->cluster->progress += changed; // a poll is no progress
  return Outcome::yield;
}

Handler handlerOf(Type t, Op op) {
  bool arithmetic = op == Op::add || op == Op::min || op == Op::max;
  switch (t) {
  case Type::u32:
  case Type::b32:
    return atomic<uint32_t>;
  case Type::s32:
    return atomic<int32_t>;
  case Type::u64:
  case Type::b64:
    return atomic<uint64_t>;
  case Type::s64:
    return atomic<int64_t>;
  case Type::b128:
    return op == Op::cas || op == Op::exch ? atomicWide : nullptr;
  case Type::b16:
    return op == Op::cas ? atomic<uint16_t> : nullptr;
  case Type::f32:
    return arithmetic || op == Op::exch ? atomic<float> : nullptr;
  case Type::f64:
    return op == Op::add ? atomic<double> : nullptr;
  default:
    return nullptr;
  }
}

bool decodeAtomic(Decoder &d) {
  bool isRed = d.raw->opcode == "red";
  if (isRed && d.take("async"))
    return decodeStoreAsync(d, /*reduces=*/true);
  constexpr Order kOrders[] = {Order::relaxed, Order::acquire, Order::release,
                               Order::acquireRelease};
  Order order = kOrders[std::max(0, d.takeOneOf({"relaxed", "acquire", "release", "acq_rel"}))];
  int scope = d.takeOneOf({"cta", "cluster", "gpu", "sys"}); // gpu where there is none
  Space space = Space::generic;
  switch (d.takeOneOf({"global", "shared", "shared::cta", "shared::cluster"})) {
  case 0:
    space = Space::global;
    break;
  case 1:
  case 2:
    space = Space::shared;
    break;
  case 3:
    space = Space::sharedCluster;
    break;
  default:
    break;
  }
  d.kernel.talksThroughGlobal |= space == Space::global || space == Space::generic;
  int op = d.takeOneOf({"add", "min", "max", "and", "or", "xor", "inc", "dec", "exch", "cas"});
  d.take("noftz");
  d.take("ftz");
  d.takeHints();
  bool policy = d.take("L2::cache_hint");
  int vec = d.takeOneOf({"v2", "v4", "v8"});
  Type t = d.takeType();
  if (op < 0 || !d.error.empty())
    return false;
  size_t first = isRed ? 0 : 1;
  if (!d.expectOperands(first + 2 + (Op(op) == Op::cas) + policy))
    return false;
  Instruction in;
  in.sub = uint8_t(op);
  AddressOperand a = d.address(d.operand(first));
  in.op[1] = a.base;
  in.imm = a.offset;
  in.imm2 = int64_t(space);
  in.flags = (a.wide ? uint32_t(kWideBase) : 0) | uint32_t(order) << kOrderShift |
             (scope < 0 || scope >= 2 ? kWide : 0);
  bool halves = t == Type::f16 || t == Type::bf16 || t == Type::f16x2 || t == Type::bf16x2;
  if (vec >= 0 || halves) {
    if (op > 2 || (!halves && t != Type::f32))
      return false;
    unsigned n = vec < 0 ? 1 : 2u << vec;
    const PtxOperand &data = d.operand(first + 1);
    std::vector<Operand> parts;
    if (n == 1)
      parts.push_back(d.source(data, t));
    else if (data.items.size() == n)
      for (const PtxOperand &o : data.items)
        parts.push_back(d.source(o, t));
    else
      return d.fail("ptx_operand: " + d.raw->opcode + " must have " + dec(n) + " data operands");
    for (unsigned i = 0; i < n; ++i) {
      const PtxOperand &dest = d.operand(0);
      parts.push_back(isRed                   ? kNone
                      : n == 1                ? d.sinkOr(dest, t)
                      : i < dest.items.size() ? d.sinkOr(dest.items[i], t)
                                              : kNone);
    }
    in.run = atomicVector;
    in.flags |= uint32_t(t) << 8;
    in.list = uint32_t(d.kernel.lists.size());
    in.listCount = n;
    d.kernel.lists.insert(d.kernel.lists.end(), parts.begin(), parts.end());
    d.emit(in);
    return d.error.empty();
  }
  in.run = handlerOf(t, Op(op));
  if (Op(op) == Op::cas)
    in.extra = &kCompareAndSwap;
  if (!isRed)
    in.op[0] = d.sinkOr(d.operand(0), t);
  in.op[2] = d.source(first + 1, t);
  if (Op(op) == Op::cas)
    in.op[3] = d.source(first + 2, t);
  d.emit(in);
  return in.run && d.error.empty();
}

} // namespace

Polled polledByAtomic(Warp &w, const Instruction &in, uint32_t lanes) {
  static constexpr struct {
    Type type;
    unsigned bytes;
  } kTypes[] = {{Type::u32, 4}, {Type::s32, 4}, {Type::u64, 8},  {Type::s64, 8},
                {Type::b16, 2}, {Type::f32, 4}, {Type::b128, 16}};
  if (in.op[0] == kNone)
    return {};
  for (const auto &row : kTypes)
    if (in.run == handlerOf(row.type, Op(in.sub))) {
      const unsigned lane = unsigned(__builtin_ctz(lanes));
      uint64_t base =
          in.flags & kWideBase ? w.reg<uint64_t>(in.op[1])[lane] : w.reg<uint32_t>(in.op[1])[lane];
      std::string word = describeWord(w, in, base + uint64_t(in.imm), row.bytes, lane);
      if (!word.empty())
        return {2, " has an atomic operation on" + word};
    }
  return {};
}

DecodeFn findAtomic(std::string_view opcode) {
  return opcode == "atom" || opcode == "red" ? decodeAtomic : nullptr;
}

} // namespace blockscale::emu
