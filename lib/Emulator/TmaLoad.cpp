//===- TmaLoad.cpp - bulk copies into shared memory -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.10.28. A load reads its source and writes shared memory when it
// lands, and counts the whole box.
//
//===----------------------------------------------------------------------===//

#include "Tma.h"

#include "Float.h"

namespace blockscale::emu {
namespace {

/// NaN is 0x7FF7 in every 16 bits, whatever the type (an H200's bytes): also in f32 and f64.
uint64_t fillPattern(const TensorMapImage &map) {
  return map.fill == uint8_t(facts::TmaFill::nan) ? 0x7FF77FF77FF77FF7ull : 0;
}

bool isTf32(const TensorMapImage &map) {
  using T = facts::TmaType;
  return T(map.type) == T::tf32 || T(map.type) == T::tf32ftz;
}

/// Elements of tf32 are rounded on the way; neither type flushes on an H200.
void copyRounded(uint8_t *to, const uint8_t *from, unsigned bytes) {
  for (unsigned i = 0; i < bytes; i += sizeof(uint32_t)) {
    uint32_t u;
    std::memcpy(&u, from + i, sizeof u);
    u = nearestTf32(u);
    std::memcpy(to + i, &u, sizeof u);
  }
}

constexpr unsigned kRowsAhead = 8, kHostLine = 64;

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
  unsigned reduceOp = 0; // with a type: what is done with the bytes that are there
  Type reduceType = Type::none;
  std::vector<Target> targets;
  Instruction where;

  bool land() override {
    if (tensor && targets.size() == 1 && !box.isPadded())
      return landDirectly();
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
      if (!cta->liveThreads) {
        warp->fail(line, Fault(std::string("exit: ") + what() + " " + leakAtExit())
                             .at(sharedBytes(t.dst, tensor ? box.sharedBytes() : size))
                             .against("exit of cta rank " + dec(cta->rank), cta->exitLine));
        return true;
      }
      if (!tensor && reduceType != Type::none) {
        reduceBytes(cta->shared.data() + offset, data.data(), unsigned(size), reduceOp, reduceType);
      } else if (!tensor) {
        std::memcpy(cta->shared.data() + offset, data.data(), size);
      } else {
        for (unsigned row = 0; row < box.rows; ++row)
          place(*cta, offset, row, data.data() + size_t(row) * box.globalRow);
      }
      if (Fault e = mbarrierCompleteTx(*cta, t.barrier, uint32_t(bytes)); !e.empty()) {
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
  bool touches(const Cta &cta) const override {
    return std::any_of(targets.begin(), targets.end(),
                       [&](const Target &t) { return (t.dst >> kClusterShift) == cta.rank; }) ||
           (fromShared && warp->cta == &cta);
  }
  const char *what() const override { return tensor ? "cp.async.bulk.tensor" : "cp.async.bulk"; }
  OpKind kind() const override { return OpKind::bulkLoad; }
  std::vector<uint64_t> signals() const override {
    std::vector<uint64_t> out;
    for (const Target &t : targets)
      out.push_back(t.barrier);
    return out;
  }
  void describe(AccessSink &sink) const override {
    const uint64_t told = targets[0].barrier;
    if (fromShared) {
      uint64_t address = src;
      if (address >> kWindowShift)
        classify(address, address);
      sink.shared(Touch::bulkSource, *warp->cta, uint32_t(address & kSharedOffsetMask),
                  uint32_t(size), told);
    }
    for (const Target &t : targets)
      sink.shared(Touch::bulkWrite, *warp->cta->cluster->ctaOf(t.dst),
                  uint32_t(t.dst & kSharedOffsetMask), uint32_t(tensor ? box.sharedBytes() : size),
                  t.barrier);
    if (tensor && box.mapAddress)
      sink.global(Touch::mapRead, box.mapAddress, uint64_t(facts::kTmaMapBytes), told);
    if (tensor)
      box.eachRow([&](unsigned, uint64_t address, unsigned from, unsigned to) {
        sink.global(Touch::globalRead, address + from, to - from, told);
        return true;
      });
    else if (!fromShared)
      sink.global(Touch::globalRead, src, size, told);
  }

private:
  /// One destination, rows as they are: from global memory to their places.
  bool landDirectly() {
    const Target &t = targets[0];
    Cta *cta = warp->cta->cluster->ctaOf(t.dst);
    uint32_t offset = uint32_t(t.dst & kSharedOffsetMask);
    uint64_t fill = fillPattern(box.map);
    const bool isRounded = isTf32(box.map);
    std::vector<uint8_t> partial(box.globalRow);
    const uint64_t step = box.map.rank > 1 ? box.map.strides[0] : 0;
    bool read = box.eachRow([&](unsigned row, uint64_t address, unsigned from, unsigned to) {
      uint8_t *whole = nullptr;
      if (to > from) {
        whole = warp->resolveGlobal(where, address + from, to - from);
        if (!whole)
          return false;
        // Rows lie a stride apart, where no hardware looks ahead.
        __builtin_prefetch(whole + kRowsAhead * step);
        __builtin_prefetch(whole + kRowsAhead * step + kHostLine);
      }
      if (to - from < box.globalRow || isRounded) {
        for (unsigned i = 0; i < box.globalRow; ++i)
          partial[i] = uint8_t(fill >> (8 * (i % 8)));
        if (isRounded && to > from)
          copyRounded(partial.data() + from, whole, to - from);
        else if (to > from)
          std::memcpy(partial.data() + from, whole, to - from);
        whole = partial.data();
      }
      moveRow<true>(box, cta->shared.data(), offset, row, whole);
      return true;
    });
    if (read)
      if (Fault e = mbarrierCompleteTx(*cta, t.barrier, uint32_t(box.payload())); !e.empty())
        warp->fail(line, e);
    return true;
  }
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
      if (p && isTf32(box.map))
        copyRounded(out + from, p, to - from);
      else if (p)
        std::memcpy(out + from, p, to - from);
      return p != nullptr;
    });
  }
  void place(Cta &cta, uint32_t dst, unsigned row, uint8_t *flat) {
    if (!box.isPadded()) {
      moveRow<true>(box, cta.shared.data(), dst, row, flat);
      return;
    }
    // Padded: a group of 16 elements, then a gap that stays as it was.
    unsigned to = unsigned(box.element.sharedBytes16), from = unsigned(box.element.globalBytes16);
    for (unsigned g = 0; g * to < box.sharedRow; ++g)
      for (unsigned i = 0; i < from; i += 4)
        std::memcpy(cta.shared.data() + box.place(dst, row, g * to + i), flat + g * from + i, 4);
  }
};

} // namespace

Outcome issueBulkLoad(Warp &w, const Instruction &in, const CopyForm &form, int l) {
  auto op = std::make_unique<BulkLoad>();
  op->where = in;
  op->tensor = form.tensor;
  op->fromShared = form.fromShared;
  op->reduceOp = form.reduceOp;
  op->reduceType = form.reduceType;
  uint64_t dst = form.dst.at(w, l), barrier = form.mbar.at(w, l);
  if (!form.toCluster && (dst >> kClusterShift) != w.cta->rank)
    return w.fail(
        in, Fault("tma_shared: destination in shared::cta must be the CTA's own, got " + hex(dst))
                .at(sharedBytes(dst, kBulkUnit)));
  uint64_t span;
  if (form.tensor) {
    if (!readBox(w, in, form, form.src.at(w, l), l, op->box))
      return Outcome::error;
    span = op->box.sharedBytes();
  } else {
    op->src = form.src.at(w, l);
    span = op->size = w.reg<uint32_t>(form.size)[l];
    if (op->size % kBulkUnit || op->src % kBulkUnit)
      return w.fail(in,
                    Fault("bulk_align: addresses and size must be multiples of 16 bytes, got " +
                          hex(op->src) + " and " + dec(int64_t(op->size)))
                        .at(describeBytes(form.fromShared ? Space::sharedCluster : Space::global,
                                          op->src, op->size)));
    if (op->size == 0)
      return w.fail(in, Fault("bulk_size: size must be positive").at(sharedBytes(dst, 0)));
    if (form.fromShared ? !w.resolveShared(in, op->src, unsigned(op->size))
                        : !w.resolveGlobal(in, op->src, unsigned(op->size)))
      return Outcome::error;
  }
  auto add = [&](uint64_t rank, uint64_t barrierRank) {
    Target t{rank << kClusterShift | (dst & kSharedOffsetMask),
             barrierRank << kClusterShift | (barrier & kSharedOffsetMask)};
    op->targets.push_back(t);
    return checkBulkShared(w, in, t.dst, span, form.tensor);
  };
  if (form.multicast) {
    uint32_t mask = w.reg<uint32_t>(form.mask)[l];
    if (!mask || (mask >> 1 >> (w.cta->cluster->ctas.size() - 1)))
      return w.fail(in, "tma_multicast: mask must name CTAs of the cluster of " +
                            dec(int64_t(w.cta->cluster->ctas.size())) + ", got " + hex(mask));
    for (uint32_t m = mask; m; m &= m - 1) {
      uint64_t rank = unsigned(__builtin_ctz(m));
      int told = facts::signalledRank(int(rank), int(barrier >> kClusterShift), int(form.ctaGroup));
      if (!add(rank, uint64_t(told)))
        return Outcome::error;
    }
  } else {
    // The manual's rule is one of tensor copies; it has none for the others.
    const uint64_t to = dst >> kClusterShift, told = barrier >> kClusterShift;
    if (form.tensor && (form.ctaGroup == 2 ? to / 2 != told / 2 : to != told))
      return w.fail(in, Fault(std::string("tma_mbarrier: mbarrier must lie in the CTA ") +
                              (form.ctaGroup == 2 ? "pair " : "") +
                              "of the destination, got CTA rank " + dec(int64_t(told)) + " for " +
                              dec(int64_t(to)))
                            .at(sharedBytes(dst, span) + ", mbarrier in " +
                                sharedBytes(barrier, sizeof(uint64_t))));
    if (!add(to, told))
      return Outcome::error;
  }
  w.cta->cluster->issue(std::move(op), w, in, AsyncOp::Pipe::free, 1u << l);
  return Outcome::next;
}

} // namespace blockscale::emu
