//===- Tcgen05LdSt.cpp - tcgen05.ld and tcgen05.st ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.18.8. A load reads tensor memory and writes its registers when
// it lands; an instruction that touches one of them before waits for it. A store
// takes its registers at issue and writes when it lands.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/LayoutsTmemAccess.h"

#include "Hazards/Hazards.h"
#include "Tcgen05.h"

#include <algorithm>
#include <bit>

namespace blockscale::emu {
namespace {

using Shape = facts::LdShape;

struct LdStForm : Extra {
  Shape shape = Shape::s32x32b;
  unsigned num = 1;
  bool pack = false;
  unsigned split = 0; // columns between the halves of 16x32bx2
  std::vector<Operand> registers;

  /// Lane and column of register q of thread t, relative to the address.
  void place(unsigned t, unsigned q, unsigned &lane, unsigned &column) const {
    facts::LdPlace p = facts::ldPlace(shape, int(t), int(q), int(split));
    lane = unsigned(p.lane);
    column = unsigned(p.column);
  }
  unsigned columns() const { return unsigned(facts::ldColumns(shape, int(num), int(split), pack)); }
};

class TmemLoad final : public AsyncOp {
public:
  const LdStForm *form = nullptr;
  unsigned lane0 = 0, column0 = 0;

  bool land() override {
    Tmem &tmem = warp->cta->tmem;
    bool plain = form->shape == Shape::s32x32b && !form->pack;
    for (unsigned t = 0; t < 32; ++t) {
      if (!(lanes >> t & 1))
        continue;
      if (plain && tmem.isWritten(lane0 + t, column0, form->num)) {
        const uint32_t *cells = tmem.cell(lane0 + t, column0);
        for (unsigned q = 0; q < form->num; ++q)
          if (form->registers[q] != kNone)
            warp->reg<uint32_t>(form->registers[q])[t] = cells[q];
        continue;
      }
      for (unsigned q = 0; q < form->registers.size(); ++q) {
        unsigned lane = 0, column = 0;
        form->place(t, q, lane, column);
        lane += lane0;
        unsigned first = column0 + (form->pack ? 2 * column : column), n = form->pack ? 2 : 1;
        if (!tmem.isWritten(lane, first, n)) {
          warp->fail(line, Fault("tmem_unwritten: tcgen05.ld must read cells that were written, "
                                 "got lane " +
                                 dec(lane) + " column " + dec(first))
                               .at(tensorColumns(first, n, warp->cta->rank))
                               .against("tcgen05.alloc", tmem.lineOf(first)));
          return true;
        }
        uint32_t v = *tmem.cell(lane, first);
        if (form->pack)
          v = (v & 0xFFFF) | *tmem.cell(lane, first + 1) << 16;
        if (form->registers[q] != kNone)
          warp->reg<uint32_t>(form->registers[q])[t] = v;
      }
    }
    --warp->pendingLoads;
    auto &targets = warp->loadTargets;
    targets.erase(std::remove_if(targets.begin(), targets.end(),
                                 [&](const auto &p) { return p.first == id; }),
                  targets.end());
    return true;
  }
  bool helps(const Warp &waiter, const Fragment &f) const override {
    return &waiter == warp &&
           (f.wait.kind == Wait::Kind::tmemLoad || f.wait.kind == Wait::Kind::loadResult ||
            f.wait.kind == Wait::Kind::registers);
  }
  bool touchesTmem() const override { return true; }
  const char *what() const override { return "tcgen05.ld"; }
  OpKind kind() const override { return OpKind::tmemLoad; }
  void describe(AccessSink &sink) const override {
    sink.tensor(Touch::tmemLoad, *warp->cta, 1u << (lane0 / 32), column0, form->columns());
  }
};

class TmemStore final : public AsyncOp {
public:
  const LdStForm *form = nullptr;
  unsigned lane0 = 0, column0 = 0;
  std::vector<uint32_t> values; // [register][thread]

  bool land() override {
    Tmem &tmem = warp->cta->tmem;
    for (unsigned t = 0; t < 32; ++t) {
      if (!(lanes >> t & 1))
        continue;
      for (unsigned q = 0; q < form->registers.size(); ++q) {
        unsigned lane = 0, column = 0;
        form->place(t, q, lane, column);
        lane += lane0;
        uint32_t v = values[q * 32 + t];
        if (form->pack) {
          unsigned first = column0 + 2 * column;
          *tmem.cell(lane, first) = v & 0xFFFF;
          *tmem.cell(lane, first + 1) = v >> 16;
          tmem.mark(lane, first, 2);
        } else {
          *tmem.cell(lane, column0 + column) = v;
          tmem.mark(lane, column0 + column, 1);
        }
      }
    }
    --warp->pendingStores;
    return true;
  }
  bool helps(const Warp &waiter, const Fragment &f) const override {
    return &waiter == warp && f.wait.kind == Wait::Kind::tmemStore;
  }
  bool touchesTmem() const override { return true; }
  const char *what() const override { return "tcgen05.st"; }
  OpKind kind() const override { return OpKind::tmemStore; }
  void describe(AccessSink &sink) const override {
    sink.tensor(Touch::tmemStore, *warp->cta, 1u << (lane0 / 32), column0, form->columns());
  }
};

/// Checks the address; lane and column of it.
bool takeAddress(Warp &w, const Instruction &in, const LdStForm &form, unsigned &lane,
                 unsigned &column) {
  const uint32_t *a = w.reg<uint32_t>(in.op[0]);
  uint32_t address = a[w.leader()];
  for (uint32_t m = w.mask; m; m &= m - 1)
    if (a[__builtin_ctz(m)] != address) {
      w.fail(in, "tmem_address: address must be the same in all lanes, got " + hex(address) +
                     " and " + hex(a[__builtin_ctz(m)]));
      return false;
    }
  address += uint32_t(in.imm);
  lane = address >> 16;
  column = address & 0xFFFF;
  unsigned base = unsigned(facts::tmemWarpLane(int(w.id)));
  bool half = facts::info(form.shape).lanes < facts::kTmemLanesPerWarp;
  if (lane != base && !(half && lane == base + 16)) {
    w.fail(in, Fault("tmem_lanes: warp " + dec(w.id) + " must address its lanes from " + dec(base) +
                     ", got lane " + dec(lane))
                   .at(tensorColumns(column, form.columns(), w.cta->rank)));
    return false;
  }
  return checkColumns(w, in, *w.cta, column, form.columns(), "tcgen05.ld or st");
}

Outcome load(Warp &w, const Instruction &in) {
  const auto &form = *static_cast<const LdStForm *>(in.extra);
  auto op = std::make_unique<TmemLoad>();
  op->form = &form;
  if (!takeAddress(w, in, form, op->lane0, op->column0))
    return Outcome::error;
  TmemLoad *raw = op.get();
  w.cta->cluster->issue(std::move(op), w, in, AsyncOp::Pipe::tmemLdSt, w.mask);
  ++w.pendingLoads;
  w.loadTargets.emplace_back(raw->id, form.registers);
  if (w.hazards)
    w.hazards->loaded(w, in, form.registers);
  return issued(w);
}

Outcome store(Warp &w, const Instruction &in) {
  const auto &form = *static_cast<const LdStForm *>(in.extra);
  auto op = std::make_unique<TmemStore>();
  op->form = &form;
  if (!takeAddress(w, in, form, op->lane0, op->column0))
    return Outcome::error;
  op->values.resize(form.registers.size() * 32);
  for (size_t q = 0; q < form.registers.size(); ++q)
    std::copy_n(w.reg<uint32_t>(form.registers[q]), 32, op->values.begin() + long(q * 32));
  w.cta->cluster->issue(std::move(op), w, in, AsyncOp::Pipe::tmemLdSt, w.mask);
  ++w.pendingStores;
  return issued(w);
}

} // namespace

bool decodeTmemLoadStore(Decoder &d, bool isStore) {
  auto form = std::make_shared<LdStForm>();
  if (!d.take("sync") || !d.take("aligned"))
    return false;
  int shape = d.takeOneOf({"32x32b", "16x64b", "16x32bx2", "16x128b", "16x256b"}); // as LdShape
  int num = d.takeOneOf({"x1", "x2", "x4", "x8", "x16", "x32", "x64", "x128"});
  form->pack = d.take(isStore ? "unpack::16b" : "pack::16b");
  if (shape < 0 || num < 0 || d.takeType() != Type::b32)
    return false;
  form->shape = Shape(shape);
  const facts::LdShapeInfo &info = facts::info(form->shape);
  form->num = 1u << num;
  if (form->num > unsigned(info.maxCount))
    return d.fail("ptx_modifier: .x" + dec(form->num) + " must be at most .x" + dec(info.maxCount) +
                  " with ." + std::string(info.name));
  bool split = form->shape == Shape::s16x32bx2;
  if (!d.expectOperands(split ? 3 : 2))
    return false;
  const PtxOperand &address = d.operand(isStore ? 0 : 1),
                   &data = d.operand(isStore ? (split ? 2 : 1) : 0);
  if (split) {
    auto imm = d.immediate(d.operand(isStore ? 1 : 2));
    if (!imm || *imm < 0 || *imm > 511)
      return d.fail("ptx_operand: half split of 16x32bx2 must be a number of columns");
    form->split = unsigned(*imm);
  }
  unsigned want = unsigned(info.registers) * form->num;
  std::vector<PtxOperand> list =
      data.kind == PtxOperand::Kind::vector ? data.items : std::vector<PtxOperand>{data};
  if (list.size() != want)
    return d.fail("ptx_operand: tcgen05." + std::string(isStore ? "st" : "ld") + " ." +
                  std::string(info.name) + ".x" + dec(form->num) + " must have " + dec(want) +
                  " registers, got " + dec(int64_t(list.size())));
  for (const PtxOperand &o : list)
    form->registers.push_back(isStore ? d.source(o, Type::b32) : d.sinkOr(o, Type::b32));
  AddressOperand a = d.address(address);
  if (a.wide)
    return d.fail("ptx_address: tensor memory address must be a 32-bit register");
  Instruction in;
  in.run = isStore ? store : load;
  in.op[0] = a.base;
  in.imm = a.offset;
  in.converge = Converge::allLive;
  in.extra = form.get();
  d.kernel.extras.push_back(form);
  d.emit(in);
  return d.error.empty();
}

} // namespace blockscale::emu
