//===- MatrixNarrow.cpp - ldmatrix and stmatrix of bytes, movmatrix -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.15.5.15 to .17: shapes m8n16, m16n16 and m16n8, with 4- and 6-bit
// sources unpacked to bytes. Places are in LayoutsWarp.h.
//
//===----------------------------------------------------------------------===//

#include "Hazards/Hazards.h"
#include "WarpFragments.h"

#include <cstring>

namespace blockscale::emu {
namespace {

constexpr unsigned kRowBytes = 16, kMostRows = 32, kMostRegisters = 4;

struct NarrowForm : Extra {
  const facts::NarrowMatrix *matrix = nullptr;
  unsigned count = 1;
  unsigned bits = 8; // of a code in shared memory: 16 of them, then a gap up to 16 bytes
  AddressOperand address;
  Space space = Space::generic;
};

/// The rows of all matrices, by the addresses of the first lanes.
bool resolveRows(Warp &w, const Instruction &in, const NarrowForm &form, Touch touch,
                 uint8_t *(&rows)[kMostRows]) {
  const AddressOperand &a = form.address;
  for (unsigned lane = 0; lane < form.count * unsigned(form.matrix->rows); ++lane) {
    uint64_t base = a.wide ? w.reg<uint64_t>(a.base)[lane] : w.reg<uint32_t>(a.base)[lane];
    rows[lane] = w.resolve(in, form.space, base + uint64_t(a.offset), kRowBytes, lane);
    if (!rows[lane])
      return false;
    if (w.hazards)
      w.hazards->access(w, in, touch, form.space, base + uint64_t(a.offset), kRowBytes, lane);
  }
  return true;
}

uint8_t codeOf(const uint8_t *row, unsigned index, unsigned bits) {
  unsigned at = index * bits;
  uint32_t word = row[at / 8];
  if (at % 8 + bits > 8)
    word |= uint32_t(row[at / 8 + 1]) << 8;
  return uint8_t(word >> (at % 8) & ((1u << bits) - 1));
}

Outcome loadNarrow(Warp &w, const Instruction &in) {
  if (!isWholeWarp(w, in, "ldmatrix"))
    return Outcome::error;
  const auto &form = *static_cast<const NarrowForm *>(in.extra);
  const facts::NarrowMatrix &m = *form.matrix;
  uint8_t *rows[kMostRows];
  if (!resolveRows(w, in, form, Touch::load, rows))
    return Outcome::error;
  // All rows are read before a register changes: an address may be one of them.
  uint32_t out[kMostRegisters][32] = {};
  unsigned per = unsigned(m.registers);
  for (unsigned r = 0; r < form.count * per; ++r)
    for (int t = 0; t < 32; ++t)
      for (int byte = 0; byte < 4; ++byte) {
        facts::FragmentPlace p = facts::narrowMatrixPlace(m, t, int(r % per), byte);
        const uint8_t *row = rows[r / per * unsigned(m.rows) + unsigned(p.row)];
        out[r][t] |= uint32_t(codeOf(row, unsigned(p.column), form.bits)) << (8 * byte);
      }
  const Operand *regs = w.kernel->lists.data() + in.list;
  for (unsigned r = 0; r < in.listCount; ++r)
    if (regs[r] != kNone)
      std::memcpy(w.reg<uint32_t>(regs[r]), out[r], sizeof out[r]);
  return Outcome::next;
}

Outcome storeNarrow(Warp &w, const Instruction &in) {
  if (!isWholeWarp(w, in, "stmatrix"))
    return Outcome::error;
  const auto &form = *static_cast<const NarrowForm *>(in.extra);
  const facts::NarrowMatrix &m = *form.matrix;
  uint8_t *rows[kMostRows];
  if (!resolveRows(w, in, form, Touch::store, rows))
    return Outcome::error;
  const Operand *regs = w.kernel->lists.data() + in.list;
  bool changed = false;
  for (unsigned r = 0; r < in.listCount; ++r)
    for (int t = 0; t < 32; ++t)
      for (int byte = 0; byte < 4; ++byte) {
        facts::FragmentPlace p = facts::narrowMatrixPlace(m, t, 0, byte);
        uint8_t &to = rows[r * unsigned(m.rows) + unsigned(p.row)][p.column];
        auto value = uint8_t(w.reg<uint32_t>(regs[r])[t] >> (8 * byte));
        changed |= to != value;
        to = value;
      }
  w.cta->cluster->progress += changed;
  if (!w.hazards)
    return Outcome::next;
  // Rows that another one has overwritten.
  uint32_t lost = 0;
  for (unsigned r = 0; r < in.listCount; ++r)
    for (int t = 0; t < 32; ++t)
      for (int byte = 0; byte < 4; ++byte) {
        const facts::FragmentPlace p = facts::narrowMatrixPlace(m, t, 0, byte);
        const unsigned row = r * unsigned(m.rows) + unsigned(p.row);
        lost |= uint32_t(rows[row][p.column] != uint8_t(w.reg<uint32_t>(regs[r])[t] >> (8 * byte)))
                << row;
      }
  if (lost) {
    const unsigned count = form.count * unsigned(m.rows);
    uint64_t addresses[32] = {};
    for (unsigned l = 0; l < count; ++l)
      addresses[l] = uint64_t(form.address.offset) + (form.address.wide
                                                          ? w.reg<uint64_t>(form.address.base)[l]
                                                          : w.reg<uint32_t>(form.address.base)[l]);
    w.hazards->lanesCollided(w, in, "stmatrix", form.space, addresses, kRowBytes,
                             ~0u >> (32 - count), lost);
  }
  return Outcome::next;
}

Outcome runMovmatrix(Warp &w, const Instruction &in) {
  if (!isWholeWarp(w, in, "movmatrix"))
    return Outcome::error;
  const uint32_t *from = w.reg<uint32_t>(in.op[1]);
  uint32_t out[32];
  for (int t = 0; t < 32; ++t) {
    out[t] = 0;
    for (int half = 0; half < 2; ++half) { // element (t / 4, 2 (t % 4) + half) of the transpose
      int row = 2 * (t % 4) + half, column = t / 4;
      out[t] |= (from[4 * row + column / 2] >> (16 * (column % 2)) & 0xFFFF) << (16 * half);
    }
  }
  std::memcpy(w.reg<uint32_t>(in.op[0]), out, sizeof out);
  return Outcome::next;
}

} // namespace

bool decodeNarrowMatrix(Decoder &d, bool isStore) {
  auto form = std::make_shared<NarrowForm>();
  for (const facts::NarrowMatrix &m : facts::kNarrowMatrices)
    if (m.isStore == isStore && d.take(m.shape))
      form->matrix = &m;
  if (!form->matrix)
    return false;
  const facts::NarrowMatrix &m = *form->matrix;
  if (!facts::covers(d.arch, facts::kNarrowMatrixNeeds))
    return d.fail("ptx_target: " + d.raw->opcode + " ." + std::string(m.shape) +
                  " must have a target with it, got " + std::string(facts::name(d.arch)));
  int count = d.takeOneOf({"x1", "x2", "x4"});
  bool transposed = d.take("trans");
  bool shared = d.takeOneOf({"shared", "shared::cta"}) >= 0;
  form->space = shared ? Space::shared : Space::generic;
  bool wide = d.take("b8x16");
  int packed = wide ? d.takeOneOf({"b6x16_p32", "b4x16_p64"}) : -1;
  if (packed >= 0)
    form->bits = packed == 0 ? 6 : 4;
  bool typed = packed >= 0 ? m.unpacks : !wide && m.raw && d.take("b8");
  if (count < 0 || 1 << count > m.most || transposed != m.transposed || !typed)
    return false;
  if (!d.expectOperands(2))
    return false;
  form->count = 1u << count;
  form->address = d.address(d.operand(isStore ? 0 : 1));
  Instruction in;
  in.list = uint32_t(d.kernel.lists.size());
  if (!takeRegisters(d, isStore ? 1 : 0, form->count * unsigned(m.registers), Type::b32, !isStore,
                     "data"))
    return false;
  in.listCount = uint32_t(d.kernel.lists.size()) - in.list;
  in.converge = Converge::allLive;
  in.run = isStore ? storeNarrow : loadNarrow;
  in.extra = form.get();
  d.kernel.extras.push_back(form);
  d.emit(in);
  return d.error.empty();
}

bool decodeMovmatrix(Decoder &d) {
  if (!d.take("sync") || !d.take("aligned") || !d.take("m8n8") || !d.take("trans") ||
      d.takeType() != Type::b16 || !d.expectOperands(2))
    return false;
  Instruction in;
  in.run = runMovmatrix;
  in.op[0] = d.dest(0, Type::b32);
  in.op[1] = d.source(1, Type::b32);
  in.converge = Converge::allLive;
  d.emit(in);
  return d.error.empty();
}

} // namespace blockscale::emu
