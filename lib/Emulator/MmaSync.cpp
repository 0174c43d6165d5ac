//===- MmaSync.cpp - mma.sync ---------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.15.5. Fragments become rows, Numerics/Dot.h multiplies, and the
// result goes back to registers. Legal shapes and types are rows of WarpMma.h.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Mma.h"

#include "Numerics/Dot.h"

#include "WarpFragments.h"

#include <algorithm>
#include <charconv>

namespace blockscale::emu {

bool parseShape(std::string_view text, int &m, int &n, int &k) {
  int *fields[] = {&m, &n, &k};
  const char *at = text.data(), *end = at + text.size();
  for (int i = 0; i < 3; ++i) {
    if (at == end || *at != "mnk"[i])
      return false;
    auto [next, error] = std::from_chars(at + 1, end, *fields[i]);
    if (error != std::errc() || *fields[i] <= 0 || *fields[i] > 4096)
      return false;
    at = next;
  }
  return at == end;
}

namespace {

struct MmaSyncForm : Extra {
  DotShape shape;
  DotModel model;
  facts::WarpResult result = facts::WarpResult::f32;
  bool saturate = false;
  unsigned aRegs = 4, bRegs = 2, dRegs = 4; // Kernel::lists: d, a, b, c
};

/// Narrow codes lie shifted in their bytes.
void alignCodes(facts::WarpFormat f, FragmentRows &rows) {
  if (unsigned shift = facts::containerShift(f))
    for (auto &row : rows)
      for (uint32_t &word : row)
        word = word >> shift & 0x3F3F3F3Fu >> shift;
}

Outcome runMmaSync(Warp &w, const Instruction &in) {
  if (!isWholeWarp(w, in, "mma.sync"))
    return Outcome::error;
  const auto &form = *static_cast<const MmaSyncForm *>(in.extra);
  const Operand *regs = w.kernel->lists.data() + in.list;
  FragmentRows a = {}, b = {};
  FragmentCells cells = {};
  bool half = form.result == facts::WarpResult::f16;
  rowsOfA(w, regs + form.dRegs, form.aRegs, a);
  rowsOfB(w, regs + form.dRegs + form.aRegs, form.bRegs, b);
  cellsOfC(w, regs + form.dRegs + form.aRegs + form.bRegs, form.dRegs, half, cells);
  DotOperands o;
  o.a = reinterpret_cast<const uint8_t *>(a);
  o.b = reinterpret_cast<const uint8_t *>(b);
  o.aPitch = o.bPitch = kFragmentWords * 4;
  o.d = cells[0];
  o.dPitch = kFragmentColumns;
  if (form.result == facts::WarpResult::s32) {
    dotInteger(form.shape, form.saturate, o);
  } else {
    alignCodes(form.shape.a, a);
    alignCodes(form.shape.b, b);
    dot(form.shape, form.model, o);
  }
  storeD(w, regs, form.dRegs, half, cells);
  return Outcome::next;
}

/// The next modifier as a format.
std::optional<facts::WarpFormat> takeFormat(Decoder &d) {
  std::string text = d.peekModifier();
  auto format = facts::parseWarpFormat(text);
  if (format)
    d.take(text);
  return format;
}

std::optional<facts::WarpResult> takeResult(Decoder &d) {
  std::string text = d.peekModifier();
  for (facts::WarpResult r :
       {facts::WarpResult::s32, facts::WarpResult::f32, facts::WarpResult::f16})
    if (text == facts::name(r)) {
      d.take(text);
      return r;
    }
  return std::nullopt;
}

/// The shape stands ahead of layouts and kind, or behind them: compilers differ.
std::string takeShape(Decoder &d, DotShape &shape) {
  for (size_t i = 0; !d.peekModifier(i).empty(); ++i)
    if (std::string text = d.peekModifier(i); parseShape(text, shape.m, shape.n, shape.k)) {
      d.take(text);
      return text;
    }
  return {};
}

bool decodeMma(Decoder &d) {
  if (!d.take("sync") || !d.take("aligned"))
    return false;
  DotShape shape{};
  std::string shapeText = takeShape(d, shape);
  if (shapeText.empty())
    return false;
  if (d.take("block_scale")) {
    static constexpr std::string_view kKinds[] = {"kind::mxf8f6f4", "kind::mxf4", "kind::mxf4nvf4"};
    for (std::string_view kind : kKinds)
      if (d.take(kind))
        return decodeScaledMmaSync(d, shapeText, std::string(kind.substr(6)));
    return false;
  }
  bool rowCol = d.take("row") && d.take("col"), kind = d.take("kind::f8f6f4");
  bool saturate = d.take("satfinite");
  auto result = takeResult(d);
  auto a = takeFormat(d), b = takeFormat(d);
  auto c = takeResult(d);
  if (!rowCol || !result || !a || !b || !c)
    return false;
  shape.a = *a;
  shape.b = *b;
  const facts::WarpMmaMode *mode = nullptr;
  for (const facts::WarpMmaMode &row : facts::kWarpMmaModes)
    if (row.m == shape.m && row.n == shape.n && row.k == shape.k && row.kind == kind &&
        facts::takes(row, *a, *b, *result) && *c == *result &&
        (!saturate || facts::isInteger(*a))) {
      mode = &row;
      if (facts::covers(d.arch, row.needs))
        break;
    }
  std::string types = std::string(facts::name(*result)) + "." + std::string(facts::name(*a)) + "." +
                      std::string(facts::name(*b)) + "." + std::string(facts::name(*c));
  if (!mode)
    return d.fail("mma_form: mma.sync must have a shape and types that go together, got " +
                  shapeText + " " + types);
  if (!facts::covers(d.arch, mode->needs))
    return d.fail("ptx_target: mma.sync of " + shapeText + " " + types +
                  " must have a target with it, got " + std::string(facts::name(d.arch)));
  if (!d.expectOperands(4))
    return false;
  auto form = std::make_shared<MmaSyncForm>();
  form->shape = shape;
  form->result = *result;
  form->saturate = saturate;
  unsigned bits = facts::info(*a).bits;
  form->aRegs = unsigned(shape.m * shape.k) * bits / 1024;
  form->bRegs = unsigned(shape.n * shape.k) * bits / 1024;
  form->dRegs = unsigned(shape.m * shape.n) / (*result == facts::WarpResult::f16 ? 64 : 32);
  if (*result != facts::WarpResult::s32) {
    ChipDot chip = mmaSyncModel(d.arch, *a, shape.k, *result);
    form->model = chip.model;
    if (!chip.published)
      noteEvidence(d.kernel, kNoEvidence);
  }
  Type wide = *result == facts::WarpResult::f32 ? Type::f32 : Type::b32;
  Instruction in;
  in.run = runMmaSync;
  in.converge = Converge::allLive;
  in.list = uint32_t(d.kernel.lists.size());
  if (!takeRegisters(d, 0, form->dRegs, wide, true, "d") ||
      !takeRegisters(d, 1, form->aRegs, Type::b32, false, "a") ||
      !takeRegisters(d, 2, form->bRegs, Type::b32, false, "b") ||
      !takeRegisters(d, 3, form->dRegs, wide, false, "c"))
    return false;
  in.listCount = uint32_t(d.kernel.lists.size()) - in.list;
  in.extra = form.get();
  d.kernel.extras.push_back(form);
  d.emit(in);
  return d.error.empty();
}

} // namespace

DecodeFn findMma(std::string_view opcode) { return opcode == "mma" ? decodeMma : nullptr; }

} // namespace blockscale::emu
