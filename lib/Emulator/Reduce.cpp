//===- Reduce.cpp - element-wise reductions of bulk copies ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AsyncOps.h"
#include "Float.h"

#include <cmath>
#include <cstring>

namespace blockscale::emu {
namespace {

template <typename T> T apply(unsigned op, T a, T b) {
  switch (op) {
  case 0:
    if constexpr (std::is_integral_v<T>)
      return T(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b));
    else if constexpr (std::is_same_v<T, double>)
      return sumInMemory(a, b);
    else
      return canonical(a + b);
  case 1:
    return b < a ? b : a;
  case 2:
    return b > a ? b : a;
  default:
    break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (op) {
    case 3:
      return a >= b ? 0 : T(a + 1);
    case 4:
      return a == 0 || a > b ? b : T(a - 1);
    case 5:
      return a & b;
    case 6:
      return a | b;
    case 7:
      return a ^ b;
    default:
      break;
    }
  }
  return a;
}

/// min and max of halves: a number wins over NaN, +0 over -0 in max.
float least(float a, float b) {
  return a != a ? b : b != b ? a : b < a || (a == b && std::signbit(b)) ? b : a;
}
float applyHalf(unsigned op, float a, float b) {
  return op == 0 ? a + b : op == 1 ? least(a, b) : -least(-a, -b);
}

template <typename T> void all(uint8_t *to, const uint8_t *from, unsigned bytes, unsigned op) {
  for (unsigned i = 0; i + sizeof(T) <= bytes; i += sizeof(T)) {
    T a, b;
    std::memcpy(&a, to + i, sizeof(T));
    std::memcpy(&b, from + i, sizeof(T));
    a = apply<T>(op, a, b);
    std::memcpy(to + i, &a, sizeof(T));
  }
}

} // namespace

void reduceBytes(uint8_t *to, const uint8_t *from, unsigned bytes, unsigned op, Type type) {
  switch (type) {
  case Type::u32:
  case Type::b32:
    return all<uint32_t>(to, from, bytes, op);
  case Type::s32:
    return all<int32_t>(to, from, bytes, op);
  case Type::u64:
  case Type::b64:
    return all<uint64_t>(to, from, bytes, op);
  case Type::s64:
    return all<int64_t>(to, from, bytes, op);
  case Type::f32:
    return all<float>(to, from, bytes, op);
  case Type::f64:
    return all<double>(to, from, bytes, op);
  case Type::f16:
  case Type::bf16:
    for (unsigned i = 0; i + 2 <= bytes; i += 2) {
      uint16_t a, b;
      std::memcpy(&a, to + i, 2);
      std::memcpy(&b, from + i, 2);
      bool brain = type == Type::bf16;
      float r =
          brain ? applyHalf(op, fromBf16(a), fromBf16(b)) : applyHalf(op, fromF16(a), fromF16(b));
      a = brain ? toBf16(r) : toF16(r);
      std::memcpy(to + i, &a, 2);
    }
    return;
  default:
    return;
  }
}

} // namespace blockscale::emu
