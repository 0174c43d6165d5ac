//===- TmaStore.cpp - bulk copies and reductions to global memory ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.10.28. A store lands in two steps: it reads its source, then it
// writes, in whole 16-byte units.
//
//===----------------------------------------------------------------------===//

#include "RunTimeRefusals.h"
#include "Tma.h"

namespace blockscale::emu {
namespace {

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

class BulkStore final : public AsyncOp {
public:
  bool tensor = false, isRead = false;
  Box box;
  uint64_t dst = 0, src = 0, size = 0;
  uint32_t group = 0, byteMask = 0xFFFF;
  bool isAgain = false; // an earlier lane of the instruction stores the same bytes there
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
        data.resize(box.payload());
        std::vector<uint8_t> flat(box.sharedRow);
        for (unsigned row = 0; row < box.rows; ++row) {
          moveRow<false>(box, const_cast<uint8_t *>(shared), offset, row, flat.data());
          dropGaps(flat.data(), data.data() + size_t(row) * box.globalRow);
        }
      }
      return false;
    }
    if (!tensor) {
      write(dst, data.data(), unsigned(size), byteMask);
      return true;
    }
    box.eachRow([&](unsigned row, uint64_t address, unsigned from, unsigned to) {
      unsigned whole = std::min((to + kBulkUnit - 1) / kBulkUnit * kBulkUnit, box.globalRow);
      return to == from || write(address + from, data.data() + size_t(row) * box.globalRow + from,
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
  OpKind kind() const override { return OpKind::bulkStore; }
  void describe(AccessSink &sink) const override {
    sink.shared(Touch::bulkRead, *warp->cta->cluster->ctaOf(src), uint32_t(src & kSharedOffsetMask),
                uint32_t(tensor ? box.sharedBytes() : size));
    if (tensor && box.mapAddress)
      sink.global(Touch::mapRead, box.mapAddress, uint64_t(facts::kTmaMapBytes));
    if (isAgain)
      return;
    const Touch touch =
        form->kind == CopyForm::Kind::reduce ? Touch::globalReduce : Touch::globalWrite;
    if (tensor)
      box.eachRow([&](unsigned, uint64_t address, unsigned from, unsigned to) {
        sink.global(touch, address + from, to - from);
        return true;
      });
    else if (byteMask == 0xFFFF)
      sink.global(touch, dst, size);
    else
      for (uint64_t i = 0; i < size; ++i)
        if (byteMask >> (i % 16) & 1)
          sink.global(touch, dst + i, 1);
  }
  /// A committed store goes on behind the exit (BK3w).
  const char *leakAtExit() const override {
    const bool isCommitted = group < warp->bulkGroup[__builtin_ctz(lanes)];
    return isRead || isCommitted
               ? nullptr
               : "must be committed and have read its source before its CTA exits";
  }
  const char *what() const override {
    return tensor ? "cp.async.bulk.tensor store" : "cp.async.bulk store";
  }

private:
  /// Of a padded type the payload of each 16 bytes goes on.
  void dropGaps(const uint8_t *shared, uint8_t *packed) const {
    unsigned from = unsigned(box.element.sharedBytes16), to = unsigned(box.element.globalBytes16);
    if (from == to) {
      std::memcpy(packed, shared, box.globalRow);
      return;
    }
    for (unsigned g = 0; g * to < box.globalRow; ++g)
      std::memcpy(packed + g * to, shared + g * from, to);
  }
  bool write(uint64_t address, const uint8_t *from, unsigned bytes, uint32_t mask) {
    uint8_t *to = warp->resolveGlobal(where, address, bytes, Warp::Access::write);
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

/// Element types that a store or a reduction through a map does not have.
std::string checkType(facts::Arch arch, const CopyForm &form, const Box &box, Type type) {
  auto name = facts::name(facts::TmaType(box.map.type));
  if (box.isPadded() && box.element.bits == 4)
    return refusals::kPaddedStore;
  if (box.isPadded() && !facts::covers(arch, facts::kTmaPaddedStores))
    return "tma_store: " + std::string(name) + " must be stored on one of sm_103a, sm_107a, got " +
           std::string(facts::name(arch));
  if (form.kind != CopyForm::Kind::reduce)
    return {};
  // PTX ISA 9.4, 9.7.10.28.5.3: by operation.
  static const char *const kOps[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
  bool ok = false;
  const char *allowed;
  bool half = type == Type::f16 || type == Type::bf16, word = type == Type::u32,
       wide = type == Type::u64 || type == Type::s64, isSigned = type == Type::s32;
  switch (form.reduceOp) {
  case 0:
    ok = half || word || isSigned || type == Type::u64 || type == Type::f32;
    allowed = "u32, s32, u64, f16, bf16, f32";
    break;
  case 1:
  case 2:
    ok = half || word || isSigned || wide;
    allowed = "u32, s32, u64, s64, f16, bf16";
    break;
  case 3:
  case 4:
    ok = word;
    allowed = "u32";
    break;
  default: // an H200 calls s64 an illegal instruction
    ok = word || isSigned || type == Type::u64;
    allowed = "u32, s32, u64";
    break;
  }
  if (ok)
    return {};
  return std::string("tma_reduce: ") + kOps[form.reduceOp] + " must have one of " + allowed +
         ", got " + std::string(name);
}

/// Does an earlier lane store the same bytes to the same place? Whole warps issue stores through
/// tensor maps in CUTLASS's kernels, and an H200 does execute each lane's.
bool isStoredAgain(const Warp &w, const CopyForm &form, int lane) {
  if (form.kind != CopyForm::Kind::store)
    return false;
  auto agrees = [&](const AddressSlot &s, int l) { return s.at(w, l) == s.at(w, lane); };
  auto agreesIn = [&](Operand o, int l, bool isWide) {
    return o == kNone || (isWide ? w.reg<uint64_t>(o)[l] == w.reg<uint64_t>(o)[lane]
                                 : w.reg<uint32_t>(o)[l] == w.reg<uint32_t>(o)[lane]);
  };
  for (uint32_t m = w.mask & ((1u << lane) - 1); m; m &= m - 1) {
    const int l = __builtin_ctz(m);
    bool is = agrees(form.src, l) && agrees(form.dst, l) && agreesIn(form.size, l, false) &&
              agreesIn(form.byteMask, l, false) && agreesIn(form.overrideAddress, l, true) &&
              agreesIn(form.overrideUpper, l, false);
    for (Operand o : form.coords)
      is &= agreesIn(o, l, false);
    for (Operand o : form.overrideSizes)
      is &= agreesIn(o, l, false);
    for (Operand o : form.overrideStrides)
      is &= agreesIn(o, l, false);
    if (is)
      return true;
  }
  return false;
}

} // namespace

Outcome issueBulkStore(Warp &w, const Instruction &in, const CopyForm &form, int l) {
  auto op = std::make_unique<BulkStore>();
  op->where = in;
  op->tensor = form.tensor;
  op->form = &form;
  op->reduceType = form.reduceType;
  op->src = form.src.at(w, l);
  op->group = w.bulkGroup[l];
  op->isAgain = w.cta->cluster->hazards && isStoredAgain(w, form, l);
  uint64_t span;
  if (form.tensor) {
    if (!readBox(w, in, form, form.dst.at(w, l), l, op->box))
      return Outcome::error;
    auto type = facts::TmaType(op->box.map.type);
    op->reduceType = reduceTypeOf(type);
    if (std::string e = checkType(w.launch->module.archValue, form, op->box, op->reduceType);
        !e.empty())
      return w.fail(
          in, Fault(e).at(describeBytes(Space::generic, form.dst.at(w, l), facts::kTmaMapBytes)));
    span = op->box.sharedBytes();
  } else {
    op->dst = form.dst.at(w, l);
    span = op->size = w.reg<uint32_t>(form.size)[l];
    if (form.byteMask != kNone)
      op->byteMask = w.reg<uint32_t>(form.byteMask)[l] & 0xFFFF;
    if (op->size % kBulkUnit || op->dst % kBulkUnit || op->size == 0)
      return w.fail(in, Fault("bulk_align: addresses and size must be multiples of 16 bytes, got " +
                              hex(op->dst) + " and " + dec(int64_t(op->size)))
                            .at(globalBytes(op->dst, op->size)));
    if (!w.resolveGlobal(in, op->dst, unsigned(op->size), Warp::Access::write))
      return Outcome::error;
  }
  if (!checkBulkShared(w, in, op->src, span, form.tensor))
    return Outcome::error;
  w.cta->cluster->issue(std::move(op), w, in, AsyncOp::Pipe::free, 1u << l);
  return Outcome::next;
}

} // namespace blockscale::emu
