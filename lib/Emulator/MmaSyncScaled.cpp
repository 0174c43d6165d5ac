//===- MmaSyncScaled.cpp - mma.sync with block scales ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sm_120a and sm_121a: PTX ISA 9.4, 9.7.15.5. Scales come from registers of the
// threads that byte-id and thread-id name (LayoutsWarp.h); the arithmetic is that
// of tcgen05.mma (Mma.h).
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Mma.h"
#include "blockscale/Facts/MmaSync.h"

#include "WarpFragments.h"

#include <algorithm>
#include <cstring>

namespace blockscale::emu {
namespace {

constexpr unsigned kData = 4 + 4 + 2 + 4; // d, a, b, c in Kernel::lists
constexpr unsigned kMostScales = 4;

struct ScaledForm : Extra {
  MmaInstruction mma;
  unsigned scales = 1; // of a row
  // Scale register, byte-id and thread-id of A and B.
  Operand scale[2], byteId[2], threadId[2];
};

/// mxf8f6f4 has a code in each byte; mxf4 has packed codes already. Low bits first.
void packCodes(facts::MmaKind kind, facts::Format f, FragmentRows &rows) {
  unsigned bits = facts::info(f).bits;
  if (bits == 8 || kind != facts::MmaKind::mxf8f6f4)
    return;
  unsigned shift = f == facts::Format::e2m1 ? 2 : 0;
  for (auto &row : rows) {
    uint8_t codes[kFragmentWords * 4], packed[kFragmentWords * 4] = {};
    std::memcpy(codes, row, sizeof codes);
    for (unsigned k = 0; k < sizeof codes; ++k) {
      uint32_t code = (codes[k] >> shift & ((1u << bits) - 1)) << (k * bits % 8);
      packed[k * bits / 8] |= uint8_t(code);
      if (code > 0xFF)
        packed[k * bits / 8 + 1] |= uint8_t(code >> 8);
    }
    std::memcpy(row, packed, sizeof packed);
  }
}

/// Ids must be the same in all lanes.
bool uniformId(Warp &w, const Instruction &in, Operand o, const char *what, unsigned limit,
               unsigned &id) {
  const uint32_t *r = w.reg<uint32_t>(o);
  id = r[0] & 0xFFFF;
  for (int t = 1; t < 32; ++t)
    if ((r[t] & 0xFFFF) != id) {
      w.fail(in,
             std::string("mma_scale_id: ") + what + " of mma.sync must be the same in all lanes");
      return false;
    }
  if (id <= limit)
    return true;
  w.fail(in, std::string("mma_scale_id: ") + what + " of mma.sync must be at most " + dec(limit) +
                 ", got " + dec(id));
  return false;
}

bool gatherScales(Warp &w, const Instruction &in, const ScaledForm &form, bool isB, unsigned rows,
                  uint8_t (*out)[kMostScales]) {
  unsigned byteId, threadId;
  if (!uniformId(w, in, form.byteId[isB], "byte-id", 3, byteId) ||
      !uniformId(w, in, form.threadId[isB], "thread-id", isB ? 3 : 1, threadId))
    return false;
  if (byteId % form.scales || (form.scales == 4 && byteId)) {
    w.fail(in, "mma_scale_id: byte-id of mma.sync must be a multiple of the scales of a row, " +
                   dec(form.scales) + ", got " + dec(byteId));
    return false;
  }
  const uint32_t *r = w.reg<uint32_t>(form.scale[isB]);
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned s = 0; s < form.scales; ++s) {
      facts::WarpScaleSource from =
          isB ? facts::warpScaleB(int(row), int(s), int(form.scales), int(byteId), int(threadId))
              : facts::warpScaleA(int(row), int(s), int(form.scales), int(byteId), int(threadId));
      out[row][s] = uint8_t(r[from.thread] >> (8 * from.byte));
    }
  return true;
}

Outcome runScaled(Warp &w, const Instruction &in) {
  if (!isWholeWarp(w, in, "mma.sync"))
    return Outcome::error;
  const auto &form = *static_cast<const ScaledForm *>(in.extra);
  const Operand *regs = w.kernel->lists.data() + in.list;
  FragmentRows a = {}, b = {};
  FragmentCells cells = {};
  uint8_t sfa[kFragmentRows][kMostScales], sfb[kFragmentColumns][kMostScales];
  rowsOfA(w, regs + 4, 4, a);
  rowsOfB(w, regs + 8, 2, b);
  cellsOfC(w, regs + 10, 4, /*half=*/false, cells);
  packCodes(form.mma.kind, form.mma.a, a);
  packCodes(form.mma.kind, form.mma.b, b);
  if (!gatherScales(w, in, form, false, kFragmentRows, sfa) ||
      !gatherScales(w, in, form, true, kFragmentColumns, sfb))
    return Outcome::error;
  float d[kFragmentRows][kFragmentColumns];
  std::memcpy(d, cells, sizeof d);
  MmaOperands o;
  o.a = reinterpret_cast<const uint8_t *>(a);
  o.b = reinterpret_cast<const uint8_t *>(b);
  o.aPitch = o.bPitch = kFragmentWords * 4;
  o.sfa = sfa[0];
  o.sfb = sfb[0];
  o.sfaPitch = o.sfbPitch = kMostScales;
  o.d = d[0];
  o.dPitch = kFragmentColumns;
  mma(form.mma, o);
  std::memcpy(cells, d, sizeof d);
  storeD(w, regs, 4, /*half=*/false, cells);
  return Outcome::next;
}

std::optional<facts::Format> takeElement(Decoder &d) {
  std::string text = d.peekModifier();
  auto f = facts::parseFormat(text);
  if (f)
    d.take(text);
  return f;
}

/// A register alone or in braces, as ptxas takes both.
bool takeScale(Decoder &d, size_t index, bool isB, ScaledForm &form) {
  const PtxOperand &scale = d.operand(index);
  const bool isBraced = scale.kind == PtxOperand::Kind::vector && scale.items.size() == 1;
  form.scale[isB] = d.source(isBraced ? scale.items[0] : scale, Type::b32);
  const PtxOperand &ids = d.operand(index + 1);
  if (ids.kind != PtxOperand::Kind::vector || ids.items.size() != 2)
    return d.fail("ptx_operand: scale of mma.sync must be followed by {byte-id, thread-id}");
  form.byteId[isB] = d.source(ids.items[0], Type::u16);
  form.threadId[isB] = d.source(ids.items[1], Type::u16);
  return d.error.empty();
}

} // namespace

bool decodeScaledMmaSync(Decoder &d, const std::string &shape, const std::string &kindName) {
  auto kind = facts::parseMmaKind(kindName);
  int size = d.takeOneOf({"scale_vec::1X", "scale_vec::2X", "scale_vec::4X"});
  bool plain = d.take("row") && d.take("col") && d.take("f32");
  auto a = takeElement(d), b = takeElement(d);
  bool result = d.take("f32");
  auto scale = facts::parseScaleFormat(d.peekModifier());
  if (!kind || !plain || !a || !b || !result || !scale)
    return false;
  d.take(d.peekModifier());
  int m = 0, n = 0, k = 0;
  (void)parseShape(shape, m, n, k);
  const facts::MmaSyncMode *mode = nullptr;
  for (const facts::MmaSyncMode &row : facts::kMmaSyncModes)
    if (row.kind == *kind && row.m == m && row.n == n && row.k == k && row.scale == *scale &&
        row.formats.contains(*a) && row.formats.contains(*b) &&
        (size < 0 ? !row.spelled : row.scaleVec == 1 << size))
      mode = &row;
  if (!mode)
    return d.fail("mma_form: mma.sync must have a shape, scales and types that go together, got " +
                  shape + " " + kindName);
  if (!facts::covers(d.arch, mode->needs))
    return d.fail("ptx_target: mma.sync with block scales must have a target with it, got " +
                  std::string(facts::name(d.arch)));
  if (!d.expectOperands(8))
    return false;
  auto form = std::make_shared<ScaledForm>();
  form->mma.kind = *kind;
  form->mma.a = *a;
  form->mma.b = *b;
  form->mma.scale = *scale;
  form->mma.block = k / mode->scaleVec;
  form->mma.m = m;
  form->mma.n = n;
  form->mma.k = k;
  form->scales = unsigned(mode->scaleVec);
  if (std::string label = mmaEvidence(form->mma); !label.empty())
    noteEvidence(d.kernel, label);
  Instruction in;
  in.run = runScaled;
  in.converge = Converge::allLive;
  in.list = uint32_t(d.kernel.lists.size());
  in.listCount = kData;
  if (!takeRegisters(d, 0, 4, Type::f32, true, "d") ||
      !takeRegisters(d, 1, 4, Type::b32, false, "a") ||
      !takeRegisters(d, 2, 2, Type::b32, false, "b") ||
      !takeRegisters(d, 3, 4, Type::f32, false, "c") || !takeScale(d, 4, false, *form) ||
      !takeScale(d, 6, true, *form))
    return false;
  in.extra = form.get();
  d.kernel.extras.push_back(form);
  d.emit(in);
  return d.error.empty();
}

} // namespace blockscale::emu
