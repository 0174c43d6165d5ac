//===- Tma.cpp - bulk copies, with and without tensor maps ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.10.28. A load reads global memory and writes shared memory when
// it lands and counts the whole box. A store lands in two steps: it reads its
// source, then it writes, in whole 16-byte chunks.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/Features.h"
#include "blockscale/Facts/Swizzle.h"

#include "AsyncOps.h"
#include "TensorMapCode.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace blockscale::emu {
namespace {

constexpr unsigned kChunk = 16;
constexpr unsigned kSharedAlign = 128;

/// Bits of an element in global memory, and of 16 elements in global and shared.
struct ElementInfo {
  unsigned bits;
  unsigned globalPer16, sharedPer16; // bytes; padded types only
};
ElementInfo element(facts::TmaType t) {
  using T = facts::TmaType;
  switch (t) {
  case T::u8:
    return {8, 16, 16};
  case T::u16:
  case T::f16:
  case T::bf16:
    return {16, 32, 32};
  case T::u64:
  case T::s64:
  case T::f64:
    return {64, 128, 128};
  case T::u4Align8:
    return {4, 8, 8};
  case T::u4Align16:
    return {4, 8, 16};
  case T::u6Align16:
    return {6, 12, 16};
  default:
    return {32, 64, 64};
  }
}

Type reduceTypeOf(facts::TmaType t) {
  using T = facts::TmaType;
  switch (t) {
  case T::u32:
    return Type::u32;
  case T::s32:
    return Type::s32;
  case T::u64:
    return Type::u64;
  case T::s64:
    return Type::s64;
  case T::f16:
    return Type::f16;
  case T::bf16:
    return Type::bf16;
  case T::f32:
  case T::f32ftz:
    return Type::f32;
  case T::f64:
    return Type::f64;
  default:
    return Type::none;
  }
}

/// A tensor map with the place of a box.
struct Box {
  TensorMapImage map;
  ElementInfo element;
  facts::Swizzle swizzle;
  int32_t start[5] = {};
  int32_t gatherRows[4] = {};
  bool gather = false;
  uint32_t counts[5] = {1, 1, 1, 1, 1};
  unsigned globalRow = 0, sharedRow = 0, pitch = 0; // bytes
  unsigned rows = 1;
  uint64_t sharedBytes() const { return uint64_t(rows) * pitch; }
  uint64_t payload() const { return uint64_t(rows) * globalRow; }

  /// Calls fn(row, global address of the row's first element or 0 if outside,
  /// bytes of it inside and not before the tensor, first byte inside).
  template <class Fn> bool eachRow(Fn fn) const {
    for (unsigned row = 0; row < rows; ++row) {
      unsigned rest = row;
      uint64_t address = map.address;
      bool inside = true;
      for (unsigned dim = 1; dim < map.rank; ++dim) {
        int64_t c;
        if (gather) {
          c = gatherRows[row];
        } else {
          unsigned i = rest % counts[dim];
          rest /= counts[dim];
          c = int64_t(start[dim]) + int64_t(i) * map.elementStrides[dim];
        }
        inside &= c >= 0 && c <= int64_t(map.dims[dim]);
        address += uint64_t(c) * map.strides[dim - 1];
      }
      // Dimension 0 in bytes; starts are multiples of 16 bytes.
      int64_t first = int64_t(start[0]) * element.bits / 8;
      int64_t end = (int64_t(map.dims[0]) + 1) * element.bits / 8;
      int64_t from = std::max<int64_t>(0, -first), to = std::min<int64_t>(globalRow, end - first);
      if (!inside || to <= from)
        from = to = 0;
      if (!fn(row, address + uint64_t(first), unsigned(from), unsigned(to)))
        return false;
    }
    return true;
  }
};

uint32_t swizzled(const Box &b, uint32_t dst, unsigned row, unsigned byte) {
  return facts::swizzleAddress(dst + row * b.pitch + byte, b.swizzle);
}

/// Copies `bytes` at row byte `byte` between a flat row and swizzled shared memory.
template <bool toShared>
void moveRow(const Box &b, uint8_t *shared, uint32_t dst, unsigned row, uint8_t *flat) {
  unsigned unit = b.swizzle == facts::Swizzle::b128Atom32Flip8 ? 8 : kChunk;
  for (unsigned byte = 0; byte < b.sharedRow; byte += unit) {
    uint8_t *s = shared + swizzled(b, dst, row, byte);
    if constexpr (toShared)
      std::memcpy(s, flat + byte, unit);
    else
      std::memcpy(flat + byte, s, unit);
  }
}

uint64_t fillPattern(const TensorMapImage &map) {
  using T = facts::TmaType;
  if (map.fill != uint8_t(facts::TmaFill::nan))
    return 0;
  switch (T(map.type)) {
  case T::f16:
  case T::bf16:
    return 0x7FFF7FFF7FFF7FFFull;
  case T::f64:
    return 0x7FFFFFFFFFFFFFFFull;
  default:
    return 0x7FFFFFFF7FFFFFFFull;
  }
}

/// Reads and checks map and coordinates; false when refused.
bool readBox(Warp &w, const Instruction &in, const CopyForm &form, uint64_t mapAddress, int lane,
             Box &b) {
  if (mapAddress % 64) {
    w.fail(in, "tma_map: tensor map must lie at a multiple of 64 bytes, got " + hex(mapAddress));
    return false;
  }
  uint64_t a;
  Space space = classify(mapAddress, a);
  const uint8_t *p = nullptr;
  if (space == Space::param || space == Space::global)
    p = w.resolve(in, space, a, 64, unsigned(lane));
  else
    w.fail(in, "tma_map: tensor map must lie in parameter, constant or global memory, got " +
                   hex(mapAddress));
  if (!p || !w.resolve(in, space, a + 64, 64, unsigned(lane)))
    return false;
  std::memcpy(&b.map, p, sizeof b.map);
  if (b.map.mark != TensorMapImage::kMark) {
    w.fail(in, "tma_map: tensor map must be made by the encode call, got other bytes at " +
                   hex(mapAddress));
    return false;
  }
  if (b.map.rank != form.rank) {
    w.fail(in,
           "tma_rank: tensor map must have rank " + dec(form.rank) + ", got " + dec(b.map.rank));
    return false;
  }
  b.element = element(facts::TmaType(b.map.type));
  b.swizzle = facts::swizzleOf(facts::TmaSwizzle(b.map.swizzle));
  b.gather = form.gather;
  unsigned coordinates = form.gather ? 5 : form.rank;
  int32_t c[5];
  for (unsigned i = 0; i < coordinates; ++i)
    c[i] = w.reg<int32_t>(form.coords[i])[lane];
  bool isLoad = form.kind == CopyForm::Kind::load;
  for (unsigned i = 0; i < coordinates; ++i)
    if (!isLoad && c[i] < 0) {
      w.fail(in, "tma_coordinate: coordinates of a store must not be negative, got " + dec(c[i]) +
                     " in dimension " + dec(i));
      return false;
    }
  // Padded types start at whole groups of 128 elements.
  unsigned step =
      b.element.globalPer16 != b.element.sharedPer16 ? 128 : kChunk * 8 / b.element.bits;
  if (c[0] % int32_t(step ? step : 1)) {
    w.fail(in, "tma_coordinate: coordinate 0 must be a multiple of " + dec(step) +
                   " elements (16 bytes), got " + dec(c[0]));
    return false;
  }
  for (unsigned i = 0; i < form.rank; ++i)
    b.start[i] = c[i];
  if (form.gather) {
    if (b.map.box[1] != 1) {
      w.fail(in, "tma_gather4: box must have one row, got " + dec(b.map.box[1]));
      return false;
    }
    for (int i = 0; i < 4; ++i)
      b.gatherRows[i] = c[1 + i];
    b.rows = 4;
  } else {
    for (unsigned i = 1; i < form.rank; ++i) {
      b.counts[i] = (b.map.box[i] + b.map.elementStrides[i] - 1) / b.map.elementStrides[i];
      b.rows *= b.counts[i];
    }
  }
  b.globalRow = b.map.box[0] * b.element.globalPer16 / 16;
  b.sharedRow = b.map.box[0] * b.element.sharedPer16 / 16;
  b.pitch = b.swizzle == facts::Swizzle::none ? b.sharedRow : unsigned(facts::info(b.swizzle).span);
  return true;
}

/// A destination of a load: data and the barrier that is told.
struct Target {
  uint64_t dst, barrier;
};

class BulkLoad final : public AsyncOp {
public:
  bool tensor = false;
  Box box;
  uint64_t src = 0, size = 0; // plain copies
  bool fromShared = false;
  std::vector<Target> targets;
  Instruction where;

  bool land() override {
    std::vector<uint8_t> data;
    uint64_t bytes = size;
    if (tensor) {
      bytes = box.payload();
      if (!fetchBox(data))
        return true;
    } else {
      const uint8_t *p = fromShared ? warp->resolveShared(where, src, unsigned(size))
                                    : warp->resolveGlobal(where, src, unsigned(size));
      if (!p)
        return true;
      data.assign(p, p + size);
    }
    for (const Target &t : targets) {
      Cta *cta = warp->cta->cluster->ctaOf(t.dst);
      uint32_t offset = uint32_t(t.dst & kSharedOffsetMask);
      if (!tensor) {
        std::memcpy(cta->shared.data() + offset, data.data(), size);
      } else {
        for (unsigned row = 0; row < box.rows; ++row)
          place(*cta, offset, row, data.data() + size_t(row) * box.globalRow);
      }
      if (std::string e = mbarrierCompleteTx(*cta, t.barrier, uint32_t(bytes)); !e.empty()) {
        warp->fail(line, e);
        return true;
      }
    }
    return true;
  }
  bool helps(const Warp &waiter, const Fragment &f) const override {
    return std::any_of(targets.begin(), targets.end(),
                       [&](const Target &t) { return waitsFor(waiter, f, t.barrier); });
  }
  const char *leakAtExit() const override { return "must be complete when its CTA exits"; }
  const char *what() const override { return tensor ? "cp.async.bulk.tensor" : "cp.async.bulk"; }

private:
  bool fetchBox(std::vector<uint8_t> &data) {
    data.resize(box.payload());
    uint64_t fill = fillPattern(box.map);
    return box.eachRow([&](unsigned row, uint64_t address, unsigned from, unsigned to) {
      uint8_t *out = data.data() + size_t(row) * box.globalRow;
      if (from > 0 || to < box.globalRow)
        for (unsigned i = 0; i < box.globalRow; ++i)
          out[i] = uint8_t(fill >> (8 * (i % 8)));
      if (to == from)
        return true;
      const uint8_t *p = warp->resolveGlobal(where, address + from, to - from);
      if (p)
        std::memcpy(out + from, p, to - from);
      return p != nullptr;
    });
  }
  void place(Cta &cta, uint32_t dst, unsigned row, uint8_t *flat) {
    if (box.element.globalPer16 == box.element.sharedPer16) {
      moveRow<true>(box, cta.shared.data(), dst, row, flat);
      return;
    }
    // Padded: a group of 16 elements, then a gap that stays as it was.
    for (unsigned g = 0; g * box.element.sharedPer16 < box.sharedRow; ++g)
      for (unsigned i = 0; i < box.element.globalPer16; i += 4)
        std::memcpy(cta.shared.data() + swizzled(box, dst, row, g * box.element.sharedPer16 + i),
                    flat + g * box.element.globalPer16 + i, 4);
  }
};

class BulkStore final : public AsyncOp {
public:
  bool tensor = false, isRead = false;
  Box box;
  uint64_t dst = 0, src = 0, size = 0;
  uint32_t group = 0, byteMask = 0xFFFF;
  const CopyForm *form = nullptr;
  Type reduceType = Type::none;
  std::vector<uint8_t> data;
  Instruction where;

  bool land() override {
    if (!isRead) {
      isRead = true;
      const uint8_t *shared = warp->cta->cluster->ctaOf(src)->shared.data();
      uint32_t offset = uint32_t(src & kSharedOffsetMask);
      if (!tensor) {
        data.assign(shared + offset, shared + offset + size);
      } else {
        data.resize(size_t(box.rows) * box.sharedRow);
        for (unsigned row = 0; row < box.rows; ++row)
          moveRow<false>(box, const_cast<uint8_t *>(shared), offset, row,
                         data.data() + size_t(row) * box.sharedRow);
      }
      return false;
    }
    if (!tensor) {
      write(dst, data.data(), unsigned(size), byteMask);
      return true;
    }
    box.eachRow([&](unsigned row, uint64_t address, unsigned from, unsigned to) {
      unsigned whole = std::min((to + kChunk - 1) / kChunk * kChunk, box.globalRow);
      return to == from || write(address + from, data.data() + size_t(row) * box.sharedRow + from,
                                 whole - from, 0xFFFF);
    });
    return true;
  }
  bool helps(const Warp &waiter, const Fragment &f) const override {
    bool kind =
        f.wait.kind == Wait::Kind::bulkGroup || (f.wait.kind == Wait::Kind::bulkRead && !isRead);
    if (!kind || &waiter != warp || !(lanes & f.mask))
      return false;
    return group + f.wait.a < waiter.bulkGroup[__builtin_ctz(lanes)];
  }
  const char *leakAtExit() const override {
    return isRead ? nullptr : "must have read its source before its CTA exits";
  }
  const char *what() const override {
    return tensor ? "cp.async.bulk.tensor store" : "cp.async.bulk store";
  }

private:
  bool write(uint64_t address, const uint8_t *from, unsigned bytes, uint32_t mask) {
    uint8_t *to = warp->resolveGlobal(where, address, bytes);
    if (!to)
      return false;
    if (form->kind == CopyForm::Kind::reduce) {
      std::lock_guard<std::mutex> guard(warp->launch->memory.atomics);
      reduceBytes(to, from, bytes, form->reduceOp, reduceType);
    } else if (mask == 0xFFFF) {
      std::memcpy(to, from, bytes);
    } else {
      for (unsigned i = 0; i < bytes; ++i)
        if (mask >> (i % 16) & 1)
          to[i] = from[i];
    }
    return true;
  }
};

bool checkShared(Warp &w, const Instruction &in, uint64_t address, uint64_t bytes, unsigned align) {
  if (address % align) {
    w.fail(in, "tma_align: shared address must be a multiple of " + dec(align) + " bytes, got " +
                   hex(address));
    return false;
  }
  return w.resolveShared(in, address, unsigned(bytes)) != nullptr;
}

Outcome issueLoad(Warp &w, const Instruction &in, const CopyForm &form, int l) {
  auto op = std::make_unique<BulkLoad>();
  op->where = in;
  op->tensor = form.tensor;
  op->fromShared = form.fromShared;
  uint64_t dst = form.dst.at(w, l), barrier = form.mbar.at(w, l);
  if (!form.toCluster && (dst >> kClusterShift) != w.cta->rank)
    return w.fail(in,
                  "tma_shared: destination in shared::cta must be the CTA's own, got " + hex(dst));
  uint64_t span;
  if (form.tensor) {
    if (!readBox(w, in, form, form.src.at(w, l), l, op->box))
      return Outcome::error;
    span = op->box.sharedBytes();
  } else {
    op->src = form.src.at(w, l);
    span = op->size = w.reg<uint32_t>(form.size)[l];
    if (op->size % kChunk || op->src % kChunk)
      return w.fail(in, "bulk_align: addresses and size must be multiples of 16 bytes, got " +
                            hex(op->src) + " and " + dec(int64_t(op->size)));
    if (op->size == 0)
      return w.fail(in, "bulk_size: size must be positive");
    if (form.fromShared ? !w.resolveShared(in, op->src, unsigned(op->size))
                        : !w.resolveGlobal(in, op->src, unsigned(op->size)))
      return Outcome::error;
  }
  unsigned align = form.tensor ? kSharedAlign : kChunk;
  auto add = [&](uint64_t rank, uint64_t barrierRank) {
    Target t{rank << kClusterShift | (dst & kSharedOffsetMask),
             barrierRank << kClusterShift | (barrier & kSharedOffsetMask)};
    op->targets.push_back(t);
    return checkShared(w, in, t.dst, span, align);
  };
  if (form.multicast) {
    uint32_t mask = w.reg<uint32_t>(form.mask)[l];
    if (!mask || (mask >> 1 >> (w.launch->ctasPerCluster - 1)))
      return w.fail(in, "tma_multicast: mask must name CTAs of the cluster of " +
                            dec(w.launch->ctasPerCluster) + ", got " + hex(mask));
    for (uint32_t m = mask; m; m &= m - 1) {
      uint64_t rank = unsigned(__builtin_ctz(m));
      if (!add(rank,
               form.ctaGroup == 2 ? (rank & ~uint64_t(1)) | (barrier >> kClusterShift & 1) : rank))
        return Outcome::error;
    }
  } else if (!add(dst >> kClusterShift, barrier >> kClusterShift)) {
    return Outcome::error;
  }
  w.cta->cluster->issue(std::move(op), w, in, AsyncOp::Pipe::free, 1u << l);
  return Outcome::next;
}

Outcome issueStore(Warp &w, const Instruction &in, const CopyForm &form, int l) {
  auto op = std::make_unique<BulkStore>();
  op->where = in;
  op->tensor = form.tensor;
  op->form = &form;
  op->reduceType = form.reduceType;
  op->src = form.src.at(w, l);
  op->group = w.bulkGroup[l];
  uint64_t span;
  if (form.tensor) {
    if (!readBox(w, in, form, form.dst.at(w, l), l, op->box))
      return Outcome::error;
    op->reduceType = reduceTypeOf(facts::TmaType(op->box.map.type));
    if (op->box.element.globalPer16 != op->box.element.sharedPer16)
      return w.fail(in, "tma_store: padded types must be loaded only");
    span = op->box.sharedBytes();
  } else {
    op->dst = form.dst.at(w, l);
    span = op->size = w.reg<uint32_t>(form.size)[l];
    if (form.byteMask != kNone)
      op->byteMask = w.reg<uint32_t>(form.byteMask)[l] & 0xFFFF;
    if (op->size % kChunk || op->dst % kChunk || op->size == 0)
      return w.fail(in, "bulk_align: addresses and size must be multiples of 16 bytes, got " +
                            hex(op->dst) + " and " + dec(int64_t(op->size)));
    if (!w.resolveGlobal(in, op->dst, unsigned(op->size)))
      return Outcome::error;
  }
  if (!checkShared(w, in, op->src, span, form.tensor ? kSharedAlign : kChunk))
    return Outcome::error;
  w.cta->cluster->issue(std::move(op), w, in, AsyncOp::Pipe::free, 1u << l);
  return Outcome::next;
}

AddressSlot slot(Decoder &d, const PtxOperand &o) {
  AddressOperand a = d.address(o);
  return {a.base, a.wide, a.offset};
}

/// [map, {c0, c1, …}]
bool takeMap(Decoder &d, const PtxOperand &o, CopyForm &form, AddressSlot &map) {
  if (o.kind != PtxOperand::Kind::address || o.items.size() != 2 ||
      o.items[1].kind != PtxOperand::Kind::vector)
    return d.fail("ptx_operand: tensor operand must be [map, {coordinates}]");
  map = slot(d, o.items[0]);
  size_t want = form.gather ? 5 : form.rank;
  if (o.items[1].items.size() != want)
    return d.fail("ptx_operand: tensor operand must have " + dec(int64_t(want)) +
                  " coordinates, got " + dec(int64_t(o.items[1].items.size())));
  for (size_t i = 0; i < want; ++i)
    form.coords[i] = d.source(o.items[1].items[i], Type::s32);
  return d.error.empty();
}

Outcome nothing(Warp &, const Instruction &) { return Outcome::next; }

} // namespace

Outcome runTma(Warp &w, const Instruction &in) {
  const auto &form = *static_cast<const CopyForm *>(in.extra);
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    Outcome o =
        form.kind == CopyForm::Kind::load ? issueLoad(w, in, form, l) : issueStore(w, in, form, l);
    if (o == Outcome::error)
      return o;
  }
  return issued(w);
}

bool decodeBulk(Decoder &d, bool reduce) {
  auto form = std::make_shared<CopyForm>();
  Instruction in;
  bool prefetch = d.take("prefetch");
  form->tensor = d.take("tensor");
  if (form->tensor) {
    int rank = d.takeOneOf({"1d", "2d", "3d", "4d", "5d"});
    if (rank < 0)
      return d.fail("ptx_modifier: cp.async.bulk.tensor must have a rank from .1d to .5d");
    form->rank = unsigned(rank + 1);
  }
  if (prefetch) {
    bool global = d.take("global");
    d.takeHints();
    d.take("L2");
    d.takeOneOf({"tile", "tile::gather4"});
    d.take("L2::cache_hint");
    in.run = nothing;
    d.emit(in);
    return global;
  }
  form->gather = d.takeOneOf({"tile::gather4", "tile::scatter4"}) >= 0;
  d.take("tile");
  if (form->gather && form->rank != 2)
    return d.fail("ptx_modifier: gather4 and scatter4 must be .2d");
  bool load = d.take("mbarrier::complete_tx::bytes"), store = d.take("bulk_group");
  bool cluster = d.take("shared::cluster"), cta = d.take("shared::cta"), global = d.take("global");
  int multicast =
      d.takeOneOf({"multicast::cluster", "multicast::cluster::16b", "multicast::cluster::32b"});
  form->multicast = multicast >= 0;
  if (multicast == 2 && !facts::supports(d.arch, facts::Feature::multicast32))
    return d.fail("ptx_target: .multicast::cluster::32b must have a target with multicast32, got " +
                  std::string(facts::name(d.arch)));
  int group = d.takeOneOf({"cta_group::1", "cta_group::2"});
  form->ctaGroup = group == 1 ? 2 : 1;
  bool policy = d.take("L2::cache_hint"), byteMask = d.take("cp_mask");
  if (reduce) {
    form->kind = CopyForm::Kind::reduce;
    int op = d.takeOneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor"});
    if (op < 0 || load)
      return false;
    form->reduceOp = unsigned(op);
    d.take("noftz");
    if (!form->tensor)
      form->reduceType = d.takeType();
  }
  if (load == store)
    return false;
  if (load) {
    form->kind = CopyForm::Kind::load;
    form->toCluster = cluster;
    form->fromShared = cluster && cta && !global;
    if (!(cluster || cta) || form->multicast != (form->multicast && cluster))
      return d.fail("ptx_modifier: .multicast::cluster must write .shared::cluster");
    size_t next = form->tensor ? 2 : 3;
    if (!d.expectOperands(next + 1 + form->multicast + policy))
      return false;
    form->dst = slot(d, d.operand(0));
    if (form->tensor) {
      if (!takeMap(d, d.operand(1), *form, form->src))
        return false;
    } else {
      form->src = slot(d, d.operand(1));
      form->size = d.source(2, Type::u32);
    }
    form->mbar = slot(d, d.operand(next));
    if (form->multicast)
      form->mask = d.source(next + 1, multicast == 2 ? Type::b32 : Type::b16);
  } else {
    if (!global || !cta)
      return false;
    size_t fixed = form->tensor ? 2 : 3;
    if (!d.expectOperands(fixed + policy + byteMask))
      return false;
    if (form->tensor) {
      if (!takeMap(d, d.operand(0), *form, form->dst))
        return false;
    } else {
      form->dst = slot(d, d.operand(0));
      form->size = d.source(2, Type::u32);
    }
    form->src = slot(d, d.operand(1));
    if (byteMask)
      form->byteMask = d.source(fixed + policy, Type::b16);
    if (reduce && !form->tensor && form->reduceType == Type::none)
      return false;
    if (!reduce)
      form->kind = CopyForm::Kind::store;
  }
  if (!d.error.empty())
    return false;
  in.run = runTma;
  in.extra = form.get();
  d.kernel.extras.push_back(form);
  d.emit(in);
  return true;
}

} // namespace blockscale::emu
