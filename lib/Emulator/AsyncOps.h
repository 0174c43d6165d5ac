//===- AsyncOps.h - helpers of asynchronous instructions ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_ASYNCOPS_H
#define BLOCKSCALE_LIB_EMULATOR_ASYNCOPS_H

#include "Lanes.h"
#include "Mbarrier.h"

namespace blockscale::emu {

/// Under `earliest` the issuing warp pauses so that the operation can land.
inline Outcome issued(const Warp &w) {
  return w.launch->options.timing == Timing::earliest ? Outcome::yield : Outcome::next;
}

/// Does the fragment wait for this barrier (a cluster address)?
inline bool waitsFor(const Warp &waiter, const Fragment &f, uint64_t barrier) {
  return f.wait.kind == Wait::Kind::mbarrier && f.wait.a == barrier;
}

/// Value of a 32- or 64-bit base plus the offset in lane l.
inline uint64_t addressAt(const Warp &w, Operand base, bool wide, int64_t offset, int l) {
  return (wide ? w.reg<uint64_t>(base)[l] : w.reg<uint32_t>(base)[l]) + uint64_t(offset);
}

/// An address operand with its own base and offset: instructions with several.
struct AddressSlot {
  Operand base = kNone;
  bool wide = true;
  int64_t offset = 0;
  uint64_t at(const Warp &w, int l) const { return addressAt(w, base, wide, offset, l); }
};

/// Copies are described by more than an Instruction holds; the kernel owns them.
struct CopyForm : Extra {
  enum class Kind : uint8_t { load, store, reduce };
  Kind kind = Kind::load;
  bool tensor = false, toCluster = false, fromShared = false, gather = false, multicast = false;
  bool genericMbar = false, overridesAddress = false, overridesShape = false;
  unsigned ctaGroup = 1, rank = 0; // rank of the tensor
  AddressSlot dst, src, mbar;      // tensor: src or dst is the map
  Operand coords[5] = {kNone, kNone, kNone, kNone, kNone};
  // What stands in place of the map's own fields (sm_107): none where there is no base.
  Operand overrideAddress = kNone, overrideUpper = kNone;
  Operand overrideSizes[5] = {kNone, kNone, kNone, kNone, kNone};
  Operand overrideStrides[4] = {kNone, kNone, kNone, kNone};
  Operand size = kNone, mask = kNone, byteMask = kNone;
  unsigned reduceOp = 0; // 0 add, 1 min, 2 max, 3 inc, 4 dec, 5 and, 6 or, 7 xor
  Type reduceType = Type::none;
};

bool decodeBulk(Decoder &d, bool reduce);
Outcome runTma(Warp &w, const Instruction &in);
/// Adds, or takes the minimum, … of `bytes` of elements at `from` into `to`.
void reduceBytes(uint8_t *to, const uint8_t *from, unsigned bytes, unsigned op, Type type);

/// Lanes of an instruction that write the places of others, of `bytes` bytes each and as aligned:
/// those of which isSame(lane, later lane) does not hold.
template <class IsSame>
uint32_t lanesWithAnother(const uint64_t *places, unsigned bytes, uint32_t lanes, IsSame isSame) {
  uint64_t seen = 0;
  uint32_t lost = 0;
  for (uint32_t m = lanes; m; m &= m - 1) {
    const auto l = unsigned(__builtin_ctz(m));
    const uint64_t bit = uint64_t(1) << places[l] / bytes % 64;
    if (seen & bit)
      for (uint32_t before = lanes & ((1u << l) - 1); before; before &= before - 1) {
        const auto e = unsigned(__builtin_ctz(before));
        lost |= uint32_t(places[e] == places[l] && !isSame(e, l)) << e;
      }
    seen |= bit;
  }
  return lost;
}

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_ASYNCOPS_H
