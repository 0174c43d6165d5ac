//===- Carry.cpp - addition and multiplication of extended precision ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, extended-precision integer arithmetic: add.cc, addc, sub.cc, subc,
// mad.cc, madc. The carry flag of a thread is a predicate of the kernel that no
// name reaches; for subtraction it is the borrow.
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

namespace blockscale::emu {
namespace {

// sub: which operation; flags
enum class Carrying : uint8_t { add, sub, madLo, madHi };
constexpr uint32_t kTakesCarry = 1, kGivesCarry = 2;

template <typename T> T highProduct(T a, T b) {
  if constexpr (sizeof(T) == 4)
    return T((std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>(a) * b) >> 32);
  else
    return T((std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>(a) * b) >> 64);
}

/// op: destination, a, b, c, carry in, carry out.
template <typename T> Outcome carrying(Warp &w, const Instruction &in) {
  using U = std::make_unsigned_t<T>;
  U *d = w.reg<U>(in.op[0]);
  const U *a = w.reg<U>(in.op[1]), *b = w.reg<U>(in.op[2]);
  const U *c = in.op[3] == kNone ? nullptr : w.reg<U>(in.op[3]);
  uint32_t before = in.flags & kTakesCarry ? w.preds[in.op[4]] : 0, after = 0;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    U carry = before >> l & 1, left = a[l], right = b[l];
    if (Carrying(in.sub) == Carrying::madLo)
      left = U(left * right), right = c[l];
    else if (Carrying(in.sub) == Carrying::madHi)
      left = U(highProduct(T(left), T(right))), right = c[l];
    U result, part;
    bool out;
    if (Carrying(in.sub) == Carrying::sub) {
      out = __builtin_sub_overflow(left, right, &part);
      out |= __builtin_sub_overflow(part, carry, &result);
    } else {
      out = __builtin_add_overflow(left, right, &part);
      out |= __builtin_add_overflow(part, carry, &result);
    }
    d[l] = result;
    after |= uint32_t(out) << l;
  }
  if (in.flags & kGivesCarry)
    w.preds[in.op[4]] = (w.preds[in.op[4]] & ~w.mask) | after;
  return Outcome::next;
}

} // namespace

bool decodeCarry(Decoder &d) {
  std::string_view opcode = d.raw->opcode;
  bool isMad = opcode.starts_with("mad");
  Instruction in;
  in.sub = uint8_t(opcode.starts_with("sub") ? Carrying::sub : Carrying::add);
  if (isMad) {
    int half = d.takeOneOf({"lo", "hi"});
    if (half < 0)
      return false;
    in.sub = uint8_t(half ? Carrying::madHi : Carrying::madLo);
  }
  in.flags = (d.take("cc") ? kGivesCarry : 0) | (opcode.ends_with("c") ? kTakesCarry : 0);
  Type t = d.takeType();
  switch (t) {
  case Type::u32:
    in.run = carrying<uint32_t>;
    break;
  case Type::s32:
    in.run = carrying<int32_t>;
    break;
  case Type::u64:
    in.run = carrying<uint64_t>;
    break;
  case Type::s64:
    in.run = carrying<int64_t>;
    break;
  default:
    return d.fail("ptx_type: " + d.raw->opcode +
                  " with a carry must be of u32, s32, u64 or s64, got " + std::string(name(t)));
  }
  if (!d.expectOperands(isMad ? 4 : 3))
    return false;
  in.op[0] = d.dest(0, t);
  for (size_t i = 1; i < d.count(); ++i)
    in.op[i] = d.source(i, t);
  in.op[4] = d.carryFlag();
  if (d.error.empty())
    d.emit(in);
  return d.error.empty();
}

DecodeFn findCarry(std::string_view opcode) {
  return opcode == "addc" || opcode == "subc" || opcode == "madc" ? decodeCarry : nullptr;
}

} // namespace blockscale::emu
