//===- Wgmma.cpp - wgmma of sm_90a ----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.16. Each warp of a warpgroup owns 16 of the 64 rows and issues its
// part of the product on its own. Operands are read and D's registers change when it
// lands, in issue order; wait_group makes earlier groups land.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/LayoutsSmem.h"
#include "blockscale/Facts/WgmmaDesc.h"

#include "Hazards/Hazards.h"
#include "Numerics/Dot.h"

#include "AsyncOps.h"
#include "WarpFragments.h"

#include <algorithm>
#include <cstring>

namespace blockscale::emu {
namespace {

constexpr unsigned kRowBytes = 32; // of K, whatever the type
constexpr unsigned kWarpsOfGroup = 4;

struct WgmmaForm : Extra {
  DotShape shape; // of one warp
  DotModel model;
  facts::WarpResult result = facts::WarpResult::f32;
  bool saturate = false, transposeA = false, transposeB = false;
  bool scaleNegated = false;
  Operand aDesc = kNone, bDesc = kNone, scaleD = kPredTrue; // aDesc: kNone when in registers
  unsigned dRegs = 4;                                       // Kernel::lists: d, then a
};

class Wgmma final : public AsyncOp {
public:
  const WgmmaForm *form = nullptr;
  const Operand *regs = nullptr;
  facts::SmemDesc a, b;
  bool accumulate = true;
  uint32_t group = 0;

  bool land() override {
    alignas(64) uint8_t aRows[kFragmentRows * kRowBytes];
    alignas(64) uint8_t bRows[facts::kWgmmaMaxN * kRowBytes];
    alignas(64) uint32_t cells[kFragmentRows * facts::kWgmmaMaxN];
    const DotShape &shape = form->shape;
    unsigned n = unsigned(shape.n);
    if (form->aDesc == kNone) {
      FragmentRows rows = {};
      rowsOfA(*warp, regs + form->dRegs, 4, rows);
      std::memcpy(aRows, rows, sizeof aRows);
    } else if (!gather(a, form->transposeA, warp->id % kWarpsOfGroup * kFragmentRows, kFragmentRows,
                       aRows, "A")) {
      return true;
    }
    if (!gather(b, form->transposeB, 0, n, bRows, "B"))
      return true;
    bool half = form->result == facts::WarpResult::f16;
    for (unsigned j = 0; j < form->dRegs; ++j) {
      if (regs[j] == kNone)
        continue;
      const uint32_t *r = warp->reg<uint32_t>(regs[j]);
      for (int t = 0; t < 32; ++t)
        for (unsigned h = 0; h < 1u + half; ++h) {
          facts::WgmmaPlace p = facts::wgmmaD(t, int(half ? 2 * j + h : j));
          cells[unsigned(p.row) * n + unsigned(p.column)] = half ? r[t] >> (16 * h) & 0xFFFF : r[t];
        }
    }
    DotOperands o;
    o.a = aRows;
    o.b = bRows;
    o.aPitch = o.bPitch = kRowBytes;
    o.d = cells;
    o.dPitch = n;
    o.accumulate = accumulate;
    if (form->result == facts::WarpResult::s32)
      dotInteger(shape, form->saturate, o);
    else
      dot(shape, form->model, o);
    for (unsigned j = 0; j < form->dRegs; ++j) {
      if (regs[j] == kNone)
        continue;
      uint32_t *r = warp->reg<uint32_t>(regs[j]);
      for (int t = 0; t < 32; ++t) {
        facts::WgmmaPlace p = facts::wgmmaD(t, int(half ? 2 * j : j));
        const uint32_t *cell = cells + unsigned(p.row) * n + unsigned(p.column);
        r[t] = half ? cell[0] | cell[1] << 16 : cell[0];
      }
    }
    return true;
  }
  bool helps(const Warp &waiter, const Fragment &f) const override {
    return &waiter == warp &&
           (f.wait.kind == Wait::Kind::registers ||
            (f.wait.kind == Wait::Kind::wgmmaGroup && group + f.wait.a < waiter.wgmmaGroup));
  }
  const char *leakAtExit() const override { return "must be complete when its warp exits"; }
  const char *what() const override { return "wgmma.mma_async"; }
  OpKind kind() const override { return OpKind::wgmma; }
  void describe(AccessSink &sink) const override {
    if (form->aDesc != kNone)
      describeRows(sink, a, form->transposeA, warp->id % kWarpsOfGroup * kFragmentRows,
                   kFragmentRows);
    describeRows(sink, b, form->transposeB, 0, unsigned(form->shape.n));
  }

private:
  void describeRows(AccessSink &sink, const facts::SmemDesc &s, bool transposed, unsigned first,
                    unsigned rows) const {
    if (!transposed) {
      for (unsigned row = 0; row < rows; ++row)
        for (unsigned at = 0; at < kRowBytes; at += 16)
          sink.shared(Touch::mmaShared, *warp->cta,
                      facts::kMajorAddress(int(first + row), int(at), s), 16);
      return;
    }
    // Eight rows of 16-bit elements lie together.
    for (unsigned k = 0; k < kRowBytes / 2; ++k)
      for (unsigned row = 0; row < rows; row += 8)
        sink.shared(Touch::mmaShared, *warp->cta,
                    facts::mnMajorAddress(int(first + row), int(k), 2, s), 16);
  }
  bool gather(const facts::SmemDesc &s, bool transposed, unsigned first, unsigned rows,
              uint8_t *out, const char *which) {
    const Cta &cta = *warp->cta;
    unsigned step = transposed ? 2 : 16; // transposes are for 16-bit types
    for (unsigned row = 0; row < rows; ++row)
      for (unsigned at = 0; at < kRowBytes; at += step) {
        uint32_t offset = transposed ? facts::mnMajorAddress(int(first + row), int(at / 2), 2, s)
                                     : facts::kMajorAddress(int(first + row), int(at), s);
        if (offset < kSharedBase || uint64_t(offset) + step > cta.shared.size()) {
          warp->fail(line, Fault(std::string("wgmma_bounds: operand ") + which +
                                 " of wgmma must lie in shared memory, got " + hex(offset))
                               .at(sharedBytes(offset, step)));
          return false;
        }
        std::memcpy(out + row * kRowBytes + at, cta.shared.data() + offset, step);
      }
    return true;
  }
};

Outcome runWgmma(Warp &w, const Instruction &in) {
  if (!isWholeWarp(w, in, "wgmma"))
    return Outcome::error;
  if (w.launch->warpsPerCta % kWarpsOfGroup)
    return w.fail(in, "wgmma_group: a CTA with wgmma must have whole warpgroups of 4 warps, got " +
                          dec(w.launch->warpsPerCta) + " warps");
  const auto &form = *static_cast<const WgmmaForm *>(in.extra);
  auto op = std::make_unique<Wgmma>();
  op->form = &form;
  op->regs = w.kernel->lists.data() + in.list;
  op->group = w.wgmmaGroup;
  auto desc = [&](Operand o, facts::SmemDesc &out) {
    const uint64_t *word = w.reg<uint64_t>(o);
    auto decoded = facts::decodeWgmmaDesc(word[0]);
    if (std::any_of(word, word + 32, [&](uint64_t v) { return v != word[0]; }))
      w.fail(in, "wgmma_uniform: descriptor of wgmma must be the same in all lanes");
    else if (!decoded)
      w.fail(in, "wgmma_desc: reserved bits of a descriptor must be 0, got " + hex(word[0]));
    else
      return out = *decoded, true;
    return false;
  };
  if ((form.aDesc != kNone && !desc(form.aDesc, op->a)) || !desc(form.bDesc, op->b))
    return Outcome::error;
  op->accumulate = w.predicate(form.scaleD, 0) != form.scaleNegated;
  if (w.hazards) {
    std::span<const Operand> registers(op->regs, in.listCount);
    w.hazards->multiplies(w, in, registers.first(form.dRegs), registers.subspan(form.dRegs),
                          uint32_t(form.shape.n) << 16 | uint32_t(form.shape.k));
  }
  w.cta->cluster->issue(std::move(op), w, in, AsyncOp::Pipe::tensor, w.mask);
  return issued(w);
}

// Orders register accesses before the next wgmma: ours read registers when they land.
Outcome runFence(Warp &w, const Instruction &) {
  if (w.hazards)
    w.hazards->fenceWgmma(w);
  return Outcome::next;
}

Outcome runCommit(Warp &w, const Instruction &) {
  ++w.wgmmaGroup;
  if (w.hazards)
    w.hazards->closeWgmma(w);
  return Outcome::next;
}

Outcome runWait(Warp &w, const Instruction &in) {
  Fragment probe = w.fragment();
  probe.wait = {Wait::Kind::wgmmaGroup, false, uint64_t(in.imm), 0};
  if (!w.cta->cluster->inFlight([&](const AsyncOp &op) { return op.helps(w, probe); })) {
    if (w.hazards)
      w.hazards->waitWgmma(w, uint64_t(in.imm));
    return Outcome::next;
  }
  return w.block(Wait::Kind::wgmmaGroup, false, uint64_t(in.imm), 0);
}

std::optional<facts::WarpFormat> takeFormat(Decoder &d) {
  std::string text = d.peekModifier();
  auto format = facts::parseWarpFormat(text);
  if (format)
    d.take(text);
  return format;
}

/// An immediate of the given two values; true for the second.
bool takeChoice(Decoder &d, size_t index, int64_t first, int64_t second, const char *what) {
  auto value = d.immediate(d.operand(index));
  if (value && *value == second)
    return true;
  if (!value || *value != first)
    d.fail(std::string("ptx_operand: ") + what + " of wgmma must be " + dec(first) + " or " +
           dec(second) + (value ? ", got " + dec(*value) : ""));
  return false;
}

bool decodeMmaAsync(Decoder &d) {
  std::string shapeText = d.peekModifier();
  int m = 0, n = 0, k = 0;
  if (!parseShape(shapeText, m, n, k))
    return false;
  d.take(shapeText);
  bool saturate = d.take("satfinite");
  int which = d.takeOneOf({"s32", "f32"});
  if (which < 0 && !d.take("f16"))
    return false;
  facts::WarpResult result = which == 0   ? facts::WarpResult::s32
                             : which == 1 ? facts::WarpResult::f32
                                          : facts::WarpResult::f16;
  auto a = takeFormat(d), b = takeFormat(d);
  if (!a || !b)
    return false;
  bool integer = facts::isInteger(*a);
  const facts::WarpMmaMode *mode = nullptr;
  for (const facts::WarpMmaMode &row : facts::kWgmmaModes)
    if (row.m == m && row.k == k && facts::takes(row, *a, *b, result))
      mode = &row;
  if (!mode || !facts::wgmmaColumns(n, integer) || (saturate && !integer))
    return d.fail("wgmma_form: wgmma must have a shape and types that go together, got " +
                  shapeText + " " + std::string(facts::name(result)) + "." +
                  std::string(facts::name(*a)) + "." + std::string(facts::name(*b)));
  auto form = std::make_shared<WgmmaForm>();
  form->shape = {*a, *b, int(kFragmentRows), n, k};
  form->result = result;
  form->saturate = saturate;
  if (!integer)
    form->model = wgmmaModel(*a, result);
  bool half = result == facts::WarpResult::f16;
  form->dRegs = unsigned(n) / (half ? 4 : 2);
  bool inRegisters = d.operand(1).kind == PtxOperand::Kind::vector;
  size_t transposes = mode->transposes ? (inRegisters ? 1 : 2) : 0;
  if (!d.expectOperands(4 + (integer ? 0 : 2) + transposes))
    return false;
  Instruction in;
  in.list = uint32_t(d.kernel.lists.size());
  if (!takeRegisters(d, 0, form->dRegs, result == facts::WarpResult::f32 ? Type::f32 : Type::b32,
                     true, "d"))
    return false;
  if (inRegisters) {
    if (!takeRegisters(d, 1, 4, Type::b32, false, "a"))
      return false;
  } else {
    form->aDesc = d.source(1, Type::b64);
  }
  in.listCount = uint32_t(d.kernel.lists.size()) - in.list;
  form->bDesc = d.source(2, Type::b64);
  form->scaleD = d.predicate(d.operand(3), false, &form->scaleNegated);
  if (!integer) {
    form->shape.negateA = takeChoice(d, 4, 1, -1, "scale of A");
    form->shape.negateB = takeChoice(d, 5, 1, -1, "scale of B");
  }
  if (transposes == 2)
    form->transposeA = takeChoice(d, 6, 0, 1, "transpose of A");
  if (transposes)
    form->transposeB = takeChoice(d, 5 + transposes, 0, 1, "transpose of B");
  if (!d.error.empty())
    return false;
  in.run = runWgmma;
  in.converge = Converge::allLive;
  in.extra = form.get();
  d.kernel.extras.push_back(form);
  Instruction &emitted = d.emit(in);
  emitted.touchedCount = 0; // its handler tells the checks of its own registers
  for (uint32_t i = 0; i < in.listCount; ++i)
    if (Operand r = d.kernel.lists[in.list + i]; r != kNone && !(r & kConstantBit))
      d.kernel.wgmmaRegisters.push_back(r);
  return true;
}

bool decodeWgmma(Decoder &d) {
  int which = d.takeOneOf({"mma_async", "fence", "commit_group", "wait_group"});
  if (which < 0 || !d.take("sync") || !d.take("aligned"))
    return false;
  if (which == 0)
    return decodeMmaAsync(d);
  Instruction in;
  in.run = which == 1 ? runFence : which == 2 ? runCommit : runWait;
  in.converge = Converge::allLive;
  if (!d.expectOperands(which == 3))
    return false;
  if (which == 3) {
    auto n = d.immediate(d.operand(0));
    if (!n || *n < 0)
      return d.fail("ptx_operand: wait_group must have a number of groups");
    in.imm = *n;
  }
  d.emit(in);
  return d.error.empty();
}

} // namespace

DecodeFn findWgmma(std::string_view opcode) { return opcode == "wgmma" ? decodeWgmma : nullptr; }

} // namespace blockscale::emu
