//===- Lanes.h - element-wise handlers ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Templates that turn a scalar function into a handler over 32 lanes. Full masks
// take a loop the compiler vectorises; partial ones test each lane. Types below
// 32 bits live in 32-bit lanes, upper bits zero. Each handler is compiled twice, for
// any x86-64 and for AVX2, and the decoder takes the one that the host can run.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_LANES_H
#define BLOCKSCALE_LIB_EMULATOR_LANES_H

#include "Decoder.h"
#include "Machine.h"

namespace blockscale::emu {

/// The host runs what is compiled for AVX2.
bool hostHasWideLanes();

/// `body(lane)` for all lanes at once: one reads what it writes itself, or what none writes.
template <typename Body> inline void forAllLanes(Body body) {
#ifdef __clang__
// Unrolled, it would be 32 scalar steps before anything makes vectors of it.
#pragma clang loop vectorize(assume_safety) interleave_count(4) unroll(disable)
#else
#pragma GCC ivdep
#endif
  for (int l = 0; l < 32; ++l)
    body(l);
}

/// A handler for any host and, from the same source, for hosts with vectors of 32 bytes.
struct LaneHandler {
  Handler plain = nullptr, wide = nullptr;
  constexpr LaneHandler(std::nullptr_t) {}
  constexpr LaneHandler(Handler plain, Handler wide) : plain(plain), wide(wide) {}
  operator Handler() const { return hostHasWideLanes() ? wide : plain; }
};
#ifdef __x86_64__
#define BLOCKSCALE_WIDE __attribute__((target("avx2,fma,bmi,bmi2,lzcnt"), flatten))
#else
#define BLOCKSCALE_WIDE
#endif
template <Handler run> BLOCKSCALE_WIDE Outcome runWide(Warp &w, const Instruction &in) {
  return run(w, in);
}
#undef BLOCKSCALE_WIDE
template <Handler run> inline constexpr LaneHandler forHost{run, runWide<run>};

/// How a value of T is stored in a lane.
template <typename T> using Stored = std::conditional_t<(sizeof(T) < 4), uint32_t, T>;

template <typename T> inline T loadLane(Stored<T> s) {
  if constexpr (sizeof(T) < 4)
    return static_cast<T>(s);
  else
    return s;
}
template <typename T> inline Stored<T> storeLane(T v) {
  if constexpr (sizeof(T) == 1)
    return static_cast<uint8_t>(v);
  else if constexpr (sizeof(T) == 2)
    return static_cast<uint16_t>(v);
  else
    return v;
}

/// Op::run(a[, b[, c]]) -> R, applied to all executing lanes. A is the type of the
/// sources, R of the result.
template <class Op, typename A, typename R = A> Outcome runUnary(Warp &w, const Instruction &in) {
  Stored<R> *d = w.lanes<Stored<R>>(in.op[0]);
  const Stored<A> *a = w.lanes<Stored<A>>(in.op[1]);
  uint32_t m = w.mask;
  if (m == ~0u) {
    forAllLanes([&](int l) { d[l] = storeLane<R>(Op::run(loadLane<A>(a[l]))); });
  } else {
    for (; m; m &= m - 1) {
      int l = __builtin_ctz(m);
      d[l] = storeLane<R>(Op::run(loadLane<A>(a[l])));
    }
  }
  return Outcome::next;
}

template <class Op, typename A, typename R = A, typename B = A>
Outcome runBinary(Warp &w, const Instruction &in) {
  Stored<R> *d = w.lanes<Stored<R>>(in.op[0]);
  const Stored<A> *a = w.lanes<Stored<A>>(in.op[1]);
  const Stored<B> *b = w.lanes<Stored<B>>(in.op[2]);
  uint32_t m = w.mask;
  if (m == ~0u) {
    forAllLanes([&](int l) { d[l] = storeLane<R>(Op::run(loadLane<A>(a[l]), loadLane<B>(b[l]))); });
  } else {
    for (; m; m &= m - 1) {
      int l = __builtin_ctz(m);
      d[l] = storeLane<R>(Op::run(loadLane<A>(a[l]), loadLane<B>(b[l])));
    }
  }
  return Outcome::next;
}

template <class Op, typename A, typename R = A, typename C = R>
Outcome runTernary(Warp &w, const Instruction &in) {
  Stored<R> *d = w.lanes<Stored<R>>(in.op[0]);
  const Stored<A> *a = w.lanes<Stored<A>>(in.op[1]);
  const Stored<A> *b = w.lanes<Stored<A>>(in.op[2]);
  const Stored<C> *c = w.lanes<Stored<C>>(in.op[3]);
  uint32_t m = w.mask;
  if (m == ~0u) {
    forAllLanes([&](int l) {
      d[l] = storeLane<R>(Op::run(loadLane<A>(a[l]), loadLane<A>(b[l]), loadLane<C>(c[l])));
    });
  } else {
    for (; m; m &= m - 1) {
      int l = __builtin_ctz(m);
      d[l] = storeLane<R>(Op::run(loadLane<A>(a[l]), loadLane<A>(b[l]), loadLane<C>(c[l])));
    }
  }
  return Outcome::next;
}

template <class Op, typename A, typename R = A>
inline constexpr LaneHandler unaryLanes = forHost<runUnary<Op, A, R>>;
template <class Op, typename A, typename R = A, typename B = A>
inline constexpr LaneHandler binaryLanes = forHost<runBinary<Op, A, R, B>>;
template <class Op, typename A, typename R = A, typename C = R>
inline constexpr LaneHandler ternaryLanes = forHost<runTernary<Op, A, R, C>>;

/// Emits `run` with destination and n sources of one type.
inline bool emitLanes(Decoder &d, Handler run, Type type, unsigned sources) {
  if (!run || !d.expectOperands(sources + 1))
    return false;
  Instruction in;
  in.run = run;
  in.op[0] = d.dest(0, type);
  for (unsigned i = 1; i <= sources; ++i)
    in.op[i] = d.source(i, type);
  if (!d.error.empty())
    return false;
  d.emit(in);
  return true;
}

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_LANES_H
