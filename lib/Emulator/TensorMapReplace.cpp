//===- TensorMapReplace.cpp - tensormap.replace and .cp_fenceproxy --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.10.29 and 9.7.15.17. A field of a map in memory is rewritten;
// whether the map may then be used is judged when it is used. Element types and
// swizzles have codes of PTX's own here, not the driver's.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/Features.h"

#include "AsyncOps.h"
#include "Hazards/Hazards.h"
#include "RunTimeRefusals.h"
#include "TensorMapCode.h"

#include <cstring>

namespace blockscale::emu {
namespace {

enum class Field : uint8_t {
  address,
  rank,
  boxDim,
  globalDim,
  globalStride,
  elementStride,
  elementType,
  interleave,
  swizzleMode,
  swizzleAtomicity,
  fillMode
};
enum : uint32_t { kWideBase = 1, kWideValue = 2 };

using facts::TmaSwizzle;
using T = facts::TmaType;

/// .elemtype in PTX's order.
constexpr T kTypes[] = {T::u8,      T::u16,      T::u32,       T::s32,      T::u64,  T::s64,
                        T::f16,     T::f32,      T::f32ftz,    T::f64,      T::bf16, T::tf32,
                        T::tf32ftz, T::u4Align8, T::u4Align16, T::u6Align16};

/// Empty when done, else the reason.
std::string replace(TensorMapImage &map, Field field, uint64_t at, uint64_t value) {
  switch (field) {
  case Field::address:
    map.address = value;
    return {};
  case Field::rank:
    if (value >= uint64_t(facts::kTmaMaxRank))
      return "rank must be 0 to 4 (one less), got " + dec(int64_t(value));
    map.rank = uint8_t(value + 1);
    return {};
  case Field::boxDim:
    map.box[at] = uint16_t(std::min<uint64_t>(value, 0xFFFF));
    return {};
  case Field::globalDim:
    map.dims[at] = uint32_t(value) - 1;
    return {};
  case Field::globalStride:
    map.strides[at] = value;
    return {};
  case Field::elementStride:
    map.elementStrides[at] = uint8_t(std::min<uint64_t>(value, 0xFF));
    return {};
  case Field::elementType:
    map.type = uint8_t(kTypes[value]);
    return {};
  case Field::interleave:
    return value ? std::string(refusals::kInterleave) + ", got " + dec(int64_t(value))
                 : std::string();
  case Field::swizzleMode: {
    static constexpr uint8_t kModes[] = {uint8_t(TmaSwizzle::none), uint8_t(TmaSwizzle::b32),
                                         uint8_t(TmaSwizzle::b64), uint8_t(TmaSwizzle::b128),
                                         TensorMapImage::kSwizzle96};
    map.swizzle = kModes[value];
    return {};
  }
  case Field::swizzleAtomicity: {
    static constexpr TmaSwizzle kAtoms[] = {TmaSwizzle::b128, TmaSwizzle::b128Atom32,
                                            TmaSwizzle::b128Atom32Flip8, TmaSwizzle::b128Atom64};
    bool is128 =
        map.swizzle >= uint8_t(TmaSwizzle::b128) && map.swizzle != TensorMapImage::kSwizzle96;
    if (is128)
      map.swizzle = uint8_t(kAtoms[value]);
    else if (value)
      return "swizzle_atomicity must be 0 without a 128-byte swizzle, got " + dec(int64_t(value));
    return {};
  }
  case Field::fillMode:
    map.fill = uint8_t(value);
    return {};
  }
  return {};
}

uint8_t *mapAt(Warp &w, const Instruction &in, Space space, uint64_t address, int lane) {
  if (address % facts::kTmaMapAlignment) {
    w.fail(in, Fault("tma_map: tensor map must lie at a multiple of " +
                     dec(facts::kTmaMapAlignment) + " bytes, got " + hex(address))
                   .at(describeBytes(space, address, facts::kTmaMapBytes)));
    return nullptr;
  }
  constexpr unsigned kHalf = facts::kTmaMapBytes / 2; // all that the alignment allows at once
  uint8_t *p = w.resolve(in, space, address, kHalf, unsigned(lane), Warp::Access::write);
  return p && w.resolve(in, space, address + kHalf, kHalf, unsigned(lane), Warp::Access::write)
             ? p
             : nullptr;
}

// op: 0 address, 1 value or none (imm2 low), sub: field; target: ordinal; listCount: space
Outcome runReplace(Warp &w, const Instruction &in) {
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    const uint64_t address = addressAt(w, in.op[0], in.flags & kWideBase, in.imm, l);
    uint8_t *p = mapAt(w, in, Space(in.listCount), address, l);
    if (!p)
      return Outcome::error;
    TensorMapImage map;
    std::memcpy(&map, p, sizeof map);
    if (map.mark != TensorMapImage::kMark)
      return w.fail(in,
                    Fault("tma_map: tensormap.replace must change a map made by the encode call")
                        .at(describeBytes(Space(in.listCount), address, facts::kTmaMapBytes)));
    uint64_t value = in.op[1] == kNone       ? uint64_t(in.imm2)
                     : in.flags & kWideValue ? w.reg<uint64_t>(in.op[1])[l]
                                             : w.reg<uint32_t>(in.op[1])[l];
    if (std::string e = replace(map, Field(in.sub), in.target, value); !e.empty())
      return w.fail(in, Fault("tensormap_replace: " + e)
                            .at(describeBytes(Space(in.listCount), address, facts::kTmaMapBytes)));
    std::memcpy(p, &map, sizeof map);
    if (w.hazards)
      w.hazards->mapReplaced(w, in, unsigned(l), Space(in.listCount), address);
    ++w.cta->cluster->progress;
  }
  return Outcome::next;
}

/// op: 0 destination, 1 source; imm, imm2: offsets; flags: wide bases
Outcome runCopy(Warp &w, const Instruction &in) {
  int l = int(w.leader());
  const uint64_t target = addressAt(w, in.op[0], in.flags & 1, in.imm, l),
                 source = addressAt(w, in.op[1], in.flags & 2, in.imm2, l);
  uint8_t *to = mapAt(w, in, Space::global, target, l);
  if (!to)
    return Outcome::error;
  uint8_t *from = mapAt(w, in, Space::shared, source, l);
  if (!from)
    return Outcome::error;
  std::memcpy(to, from, facts::kTmaMapBytes);
  if (w.hazards)
    w.hazards->mapCopied(w, in, source, target);
  ++w.cta->cluster->progress;
  return Outcome::next;
}

bool decodeCopy(Decoder &d) {
  bool ok = d.take("global") && d.take("shared::cta") && d.take("tensormap::generic") &&
            d.take("release") && d.takeOneOf({"cta", "cluster", "gpu", "sys"}) >= 0 &&
            d.take("sync") && d.take("aligned");
  if (!ok || !d.expectOperands(3))
    return false;
  if (auto n = d.immediate(d.operand(2)); !n || *n != facts::kTmaMapBytes)
    return d.fail("ptx_operand: size of tensormap.cp_fenceproxy must be " +
                  dec(facts::kTmaMapBytes));
  AddressOperand to = d.address(d.operand(0)), from = d.address(d.operand(1));
  Instruction in;
  in.run = runCopy;
  in.op[0] = to.base;
  in.op[1] = from.base;
  in.imm = to.offset;
  in.imm2 = from.offset;
  in.flags = uint32_t(to.wide) | uint32_t(from.wide) << 1;
  in.converge = Converge::allLive;
  d.emit(in);
  return d.error.empty();
}

bool decodeReplace(Decoder &d) {
  bool tile = d.take("tile");
  int field = d.takeOneOf({"global_address", "rank", "box_dim", "global_dim", "global_stride",
                           "element_stride", "elemtype", "interleave_layout", "swizzle_mode",
                           "swizzle_atomicity", "fill_mode"}); // as Field
  int space = d.takeOneOf({"global", "shared::cta"});
  if (!tile || field < 0 || !d.take("b1024"))
    return false;
  auto f = Field(field);
  bool wide = f == Field::address || f == Field::globalStride;
  bool hasOrdinal = f == Field::boxDim || f == Field::globalDim || f == Field::globalStride ||
                    f == Field::elementStride;
  if (d.takeType() != (wide ? Type::b64 : Type::b32) || !d.expectOperands(hasOrdinal ? 3 : 2))
    return false;
  Instruction in;
  in.run = runReplace;
  in.sub = uint8_t(f);
  in.listCount = uint32_t(space == 0 ? Space::global : space == 1 ? Space::shared : Space::generic);
  AddressOperand a = d.address(d.operand(0));
  in.op[0] = a.base;
  in.imm = a.offset;
  in.flags = (a.wide ? uint32_t(kWideBase) : 0) | (wide ? uint32_t(kWideValue) : 0);
  if (hasOrdinal) {
    auto n = d.immediate(d.operand(1));
    int64_t most = f == Field::globalStride ? 3 : 4;
    if (!n || *n < 0 || *n > most)
      return d.fail("ptx_operand: ordinal of tensormap.replace must be a number from 0 to " +
                    dec(most));
    in.target = uint32_t(*n);
  }
  const PtxOperand &value = d.operand(hasOrdinal ? 2 : 1);
  if (f >= Field::elementType) {
    auto n = d.immediate(value); // in range: the table of forms has seen to it
    if (!n)
      return d.fail("ptx_operand: value of tensormap.replace must be a number for this field");
    in.imm2 = *n;
  } else {
    in.op[1] = d.source(value, wide ? Type::b64 : Type::b32);
  }
  d.emit(in);
  return d.error.empty();
}

bool decodeTensorMap(Decoder &d) {
  if (!facts::supports(d.arch, facts::Feature::tma))
    return d.fail("ptx_target: tensormap must have a target with tma, got " +
                  std::string(facts::name(d.arch)));
  if (d.take("cp_fenceproxy"))
    return decodeCopy(d);
  return d.take("replace") && decodeReplace(d);
}

} // namespace

DecodeFn findTensorMap(std::string_view opcode) {
  return opcode == "tensormap" ? decodeTensorMap : nullptr;
}

} // namespace blockscale::emu
