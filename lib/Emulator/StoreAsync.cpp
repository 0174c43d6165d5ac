//===- StoreAsync.cpp - st.async and red.async ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.10.12 and 9.7.15.7. In a cluster: a weak store, or a relaxed
// reduction, of shared memory that tells an mbarrier of the same CTA how many bytes
// it wrote. To global memory: a releasing store or reduction that nothing signals.
// Each lane's operation lands by itself.
//
//===----------------------------------------------------------------------===//

#include "StoreAsync.h"

#include "AsyncOps.h"
#include "Hazards/Hazards.h"

#include <cstring>

namespace blockscale::emu {
namespace {

constexpr unsigned kMostBytes = 16;

struct StoreAsyncForm : Extra {
  AddressSlot dst, mbar;
  bool reduces = false, global = false, generic = false;
  unsigned reduceOp = 0; // as CopyForm::reduceOp
  Type type = Type::b32;
  Order order = Order::weak;
  struct Part {
    Operand reg;
    RegClass cls;
  };
  std::vector<Part> parts;
  unsigned partBytes() const { return bits(type) / 8; }
  unsigned bytes() const { return partBytes() * unsigned(parts.size()); }
};

class StoreAsync final : public AsyncOp {
public:
  const StoreAsyncForm *form = nullptr;
  Instruction where; // for messages
  uint64_t dst = 0, barrier = 0;
  uint8_t data[kMostBytes] = {};

  bool land() override {
    Space space = form->global ? Space::global : Space::sharedCluster;
    Cta *cta = form->global ? nullptr : warp->cta->cluster->ctaOf(dst);
    if (cta && !cta->liveThreads) {
      warp->fail(line, Fault(std::string("exit: ") + what() + " " + leakAtExit())
                           .at(sharedBytes(dst, form->bytes()))
                           .against("exit of cta rank " + dec(cta->rank), cta->exitLine));
      return true;
    }
    uint8_t *to = warp->resolve(where, space, dst, form->bytes(), lane(), Warp::Access::write);
    if (!to)
      return true;
    if (form->reduces) {
      std::lock_guard<std::mutex> guard(warp->launch->memory.atomics);
      reduceBytes(to, data, form->bytes(), form->reduceOp, form->type);
    } else {
      std::memcpy(to, data, form->bytes());
    }
    if (cta)
      if (Fault e = mbarrierCompleteTx(*cta, barrier, form->bytes()); !e.empty())
        warp->fail(line, e);
    return true;
  }
  bool helps(const Warp &waiter, const Fragment &f) const override {
    return !form->global && waitsFor(waiter, f, barrier);
  }
  const char *leakAtExit() const override {
    return form->global ? nullptr : "must be complete when its CTA exits";
  }
  bool touches(const Cta &cta) const override {
    return !form->global && (dst >> kClusterShift) == cta.rank;
  }
  const char *what() const override { return form->reduces ? "red.async" : "st.async"; }
  OpKind kind() const override { return form->global ? OpKind::other : OpKind::storeAsync; }
  std::vector<uint64_t> signals() const override {
    return form->global ? std::vector<uint64_t>() : std::vector<uint64_t>{barrier};
  }
  void describe(AccessSink &sink) const override {
    if (!form->global)
      sink.shared(form->reduces ? Touch::reduceAsync : Touch::storeAsync,
                  *warp->cta->cluster->ctaOf(dst), uint32_t(dst & kSharedOffsetMask), form->bytes(),
                  barrier);
  }

private:
  unsigned lane() const { return unsigned(__builtin_ctz(lanes)); }
};

/// Empty, or why the shared addresses of an operation do not go together.
std::string checkPlaces(const Warp &w, const StoreAsyncForm &form, uint64_t dst, uint64_t barrier) {
  const std::string what = form.reduces ? "red.async" : "st.async";
  if (w.cta->cluster->ctas.size() < 2)
    return "async_cluster: " + what + " must be used in a cluster of at least two CTAs, got one";
  if (dst >> kClusterShift != barrier >> kClusterShift)
    return "async_cta: destination and mbarrier of " + what + " must lie in one CTA, got " +
           hex(dst) + " and " + hex(barrier);
  if (form.reduces && dst >> kClusterShift == w.cta->rank)
    return "async_cta: destination of red.async must lie in another CTA, got " + hex(dst);
  return {};
}

Outcome runStoreAsync(Warp &w, const Instruction &in) {
  const auto &form = *static_cast<const StoreAsyncForm *>(in.extra);
  const unsigned part = form.partBytes();
  uint64_t places[32] = {};
  uint8_t data[32][kMostBytes] = {};
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    auto op = std::make_unique<StoreAsync>();
    op->form = &form;
    op->where = in;
    op->dst = form.dst.at(w, l);
    Space space = form.global ? Space::global : Space::sharedCluster;
    if (form.generic) {
      space = classify(op->dst, op->dst);
      if (space != (form.global ? Space::global : Space::sharedCluster))
        return w.fail(in, Fault(std::string("async_space: destination must lie in ") +
                                (form.global ? "global" : "shared") + " memory, got " +
                                hex(form.dst.at(w, l)))
                              .at(form.global ? sharedBytes(op->dst, form.bytes())
                                              : globalBytes(op->dst, form.bytes())));
    }
    // Refuse at once what could never land.
    if (!w.resolve(in, space, op->dst, form.bytes(), unsigned(l), Warp::Access::write))
      return Outcome::error;
    if (!form.global) {
      op->barrier = form.mbar.at(w, l);
      if (form.generic && classify(op->barrier, op->barrier) != Space::sharedCluster)
        return w.fail(in, Fault("mbar_address: mbarrier must lie in shared memory, got generic "
                                "address " +
                                hex(form.mbar.at(w, l)))
                              .at(globalBytes(op->barrier, 8)));
      if (std::string e = checkPlaces(w, form, op->dst, op->barrier); !e.empty())
        return w.fail(in, Fault(e).at(sharedBytes(op->dst, form.bytes())));
    }
    for (size_t i = 0; i < form.parts.size(); ++i) {
      const StoreAsyncForm::Part &p = form.parts[i];
      std::memcpy(op->data + i * part, w.reg<uint8_t>(p.reg) + size_t(l) * laneBytes(p.cls), part);
    }
    if (w.hazards && form.global)
      for (size_t i = 0; i < form.parts.size(); ++i)
        w.hazards->access(w, in, form.reduces ? Touch::atomic : Touch::store, Space::global,
                          op->dst + i * part, part, unsigned(l), form.order);
    places[l] = op->dst;
    std::memcpy(data[l], op->data, kMostBytes);
    w.cta->cluster->issue(std::move(op), w, in, AsyncOp::Pipe::free, 1u << l);
  }
  // Reductions commute.
  const uint32_t lost =
      w.hazards && !form.reduces
          ? lanesWithAnother(places, form.bytes(), w.mask,
                             [&](unsigned a, unsigned b) {
                               return std::memcmp(data[a], data[b], kMostBytes) == 0;
                             })
          : 0;
  if (lost)
    w.hazards->lanesCollided(w, in, "st.async", form.global ? Space::global : Space::shared, places,
                             form.bytes(), w.mask, lost);
  return issued(w);
}

} // namespace

bool decodeStoreAsync(Decoder &d, bool reduces) {
  auto form = std::make_shared<StoreAsyncForm>();
  form->reduces = reduces;
  d.take("mmio");
  int order = d.takeOneOf({"weak", "relaxed", "release"});
  form->order = order == 2 ? Order::release : order == 1 ? Order::relaxed : Order::weak;
  d.takeOneOf({"cluster", "gpu", "sys"});
  int space = d.takeOneOf({"shared", "shared::cta", "shared::cluster", "global"});
  form->generic = space < 0;
  form->global = !d.take("mbarrier::complete_tx::bytes");
  if (form->global)
    d.kernel.talksThroughGlobal = true;
  if (reduces) // in the order of CopyForm::reduceOp
    form->reduceOp = unsigned(d.takeOneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor"}));
  int vec = d.takeOneOf({"v2", "v4"});
  unsigned n = vec < 0 ? 1 : 2u << vec;
  form->type = d.takeType();
  if (!d.error.empty())
    return false;
  if (n * bits(form->type) > 8 * kMostBytes)
    return d.fail("ptx_vector: " + d.raw->opcode + ".async must move at most 16 bytes, got " +
                  dec(n * bits(form->type) / 8));
  if (!d.expectOperands(form->global ? 2 : 3))
    return false;
  auto slot = [&](size_t i) {
    AddressOperand a = d.address(d.operand(i));
    return AddressSlot{a.base, a.wide, a.offset};
  };
  form->dst = slot(0);
  if (!form->global)
    form->mbar = slot(2);
  const PtxOperand &data = d.operand(1);
  const bool isList = data.kind == PtxOperand::Kind::vector;
  if (isList ? data.items.size() != n : n > 1)
    return d.fail("ptx_operand: " + d.raw->opcode + " must have " + dec(n) + " data operands");
  for (unsigned i = 0; i < n && d.error.empty(); ++i) {
    StoreAsyncForm::Part p{};
    p.reg = d.wideSource(isList ? data.items[i] : data, form->type, p.cls);
    if (d.error.empty() && p.cls != regClass(bits(form->type)))
      return d.fail("ptx_operand: register of " + d.raw->opcode + ".async must hold ." +
                    std::string(name(form->type)));
    form->parts.push_back(p);
  }
  if (!d.error.empty())
    return false;
  Instruction in;
  in.run = runStoreAsync;
  in.extra = form.get();
  d.kernel.extras.push_back(form);
  d.emit(in);
  return true;
}

} // namespace blockscale::emu
