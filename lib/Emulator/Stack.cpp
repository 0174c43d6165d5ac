//===- Stack.cpp - alloca, stacksave, stackrestore ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.21 (stack manipulation). The stack of a thread lies behind its local
// variables and grows down; a lane vector holds the bytes in use. A function gives back
// what it took when it returns.
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

#include <algorithm>
#include <bit>

namespace blockscale::emu {
namespace {

constexpr uint64_t kFrameAlign = 8;
constexpr uint64_t kMostAlign = uint64_t(1) << 23;

// op: 0 pointer, 1 size, 2 bytes in use; imm: alignment
template <typename T> Outcome allocateStack(Warp &w, const Instruction &in) {
  const uint64_t top = w.kernel->localBytes;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const int l = __builtin_ctz(m);
    uint32_t &used = w.reg<uint32_t>(in.op[2])[l];
    const uint64_t size = w.reg<T>(in.op[1])[l], left = kStackBytes - used;
    const uint64_t pointer = size > left ? 0 : (top - used - size) & ~uint64_t(in.imm - 1);
    if (size > left || pointer < top - kStackBytes)
      return w.fail(in, Fault("stack_size: alloca must fit the " + dec(int64_t(left)) +
                              " bytes that are left of " + dec(int64_t(kStackBytes)) + ", got " +
                              std::to_string(size) + " at a multiple of " + dec(in.imm))
                            .at(describeBytes(Space::local, top - kStackBytes, left)));
    used = uint32_t(top - pointer);
    w.reg<T>(in.op[0])[l] = T(pointer);
  }
  return Outcome::next;
}

// op: 0 pointer, 2 bytes in use
template <typename T> Outcome save(Warp &w, const Instruction &in) {
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const int l = __builtin_ctz(m);
    w.reg<T>(in.op[0])[l] = T(w.kernel->localBytes - w.reg<uint32_t>(in.op[2])[l]);
  }
  return Outcome::next;
}

// op: 1 pointer, 2 bytes in use
template <typename T> Outcome restore(Warp &w, const Instruction &in) {
  const uint64_t top = w.kernel->localBytes;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const int l = __builtin_ctz(m);
    const uint64_t pointer = w.reg<T>(in.op[1])[l];
    if (pointer > top || pointer < top - kStackBytes)
      return w.fail(in, Fault("stack_pointer: stackrestore must have what stacksave gave, " +
                              hex(top - kStackBytes) + ".." + hex(top) + ", got " + hex(pointer))
                            .at(describeBytes(Space::local, top - kStackBytes, kStackBytes)));
    w.reg<uint32_t>(in.op[2])[l] = uint32_t(top - pointer);
  }
  return Outcome::next;
}

Outcome copyUsed(Warp &w, const Instruction &in) {
  uint32_t *to = w.reg<uint32_t>(in.op[0]);
  const uint32_t *from = w.reg<uint32_t>(in.op[1]);
  for (uint32_t m = w.mask; m; m &= m - 1)
    to[__builtin_ctz(m)] = from[__builtin_ctz(m)];
  return Outcome::next;
}

bool decodeAlloca(Decoder &d) {
  const Type t = d.takeType();
  const bool isAligned = d.count() == 3;
  if (!d.expectOperands(isAligned ? 3 : 2))
    return false;
  Instruction in;
  in.run = t == Type::u64 ? allocateStack<uint64_t> : allocateStack<uint32_t>;
  in.op[0] = d.dest(0, t);
  in.op[1] = d.source(1, t);
  in.op[2] = d.stackInUse();
  uint64_t align = kFrameAlign;
  if (isAligned) {
    const auto given = d.immediate(d.operand(2));
    if (!given || *given <= 0 || uint64_t(*given) > kMostAlign ||
        !std::has_single_bit(uint64_t(*given)))
      return d.fail("ptx_immediate: alignment of alloca must be a power of 2 up to 8388608" +
                    (given ? ", got " + dec(*given) : std::string()));
    align = std::max(align, uint64_t(*given));
  }
  in.imm = int64_t(align);
  d.emit(in);
  return d.error.empty();
}

template <bool saves> bool decodePointer(Decoder &d) {
  const Type t = d.takeType();
  if (!d.expectOperands(1))
    return false;
  Instruction in;
  const bool wide = t == Type::u64;
  if (saves) {
    in.run = wide ? save<uint64_t> : save<uint32_t>;
    in.op[0] = d.dest(0, t);
  } else {
    in.run = wide ? restore<uint64_t> : restore<uint32_t>;
    in.op[1] = d.source(0, t);
  }
  in.op[2] = d.stackInUse();
  d.emit(in);
  return d.error.empty();
}

} // namespace

Operand Decoder::stackInUse() {
  return preset(Preset::Kind(kStackKey.first / 2), /*wide=*/false, kStackKey.second);
}

Instruction copyOfStack(Operand to, Operand from) {
  Instruction in;
  in.run = copyUsed;
  in.op[0] = to;
  in.op[1] = from;
  return in;
}

DecodeFn findStack(std::string_view opcode) {
  static const std::unordered_map<std::string_view, DecodeFn> kTable{
      {"alloca", decodeAlloca},
      {"stacksave", decodePointer<true>},
      {"stackrestore", decodePointer<false>}};
  auto it = kTable.find(opcode);
  return it == kTable.end() ? nullptr : it->second;
}

} // namespace blockscale::emu
