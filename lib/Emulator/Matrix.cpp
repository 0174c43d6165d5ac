//===- Matrix.cpp - ldmatrix, stmatrix ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, warp-level matrix load and store: 8x8 matrices of 16-bit elements.
// Lanes 8j..8j+7 hold the addresses of the 16-byte rows of matrix j. Lane t's
// register j has elements 2(t%4) and 2(t%4)+1 of row t/4; with .trans element t/4
// of rows 2(t%4) and 2(t%4)+1.
//
//===----------------------------------------------------------------------===//

#include "Hazards/Hazards.h"
#include "WarpFragments.h"

#include <cstring>

namespace blockscale::emu {
namespace {

constexpr unsigned kRows = 8, kRowBytes = 16;

// flags
constexpr uint32_t kWideBase = 1, kTranspose = 2;

/// Row and column of half `half` of a lane's register.
struct Element {
  unsigned row, column;
};
Element elementOf(unsigned lane, unsigned half, bool transpose) {
  unsigned major = lane / 4, minor = 2 * (lane % 4) + half;
  return transpose ? Element{minor, major} : Element{major, minor};
}

/// The rows of matrix j, by the addresses of their lanes.
bool resolveRows(Warp &w, const Instruction &in, Touch touch, unsigned j, uint8_t *rows[kRows]) {
  for (unsigned r = 0; r < kRows; ++r) {
    unsigned lane = kRows * j + r;
    uint64_t base =
        in.flags & kWideBase ? w.reg<uint64_t>(in.op[0])[lane] : w.reg<uint32_t>(in.op[0])[lane];
    rows[r] = w.resolve(in, Space(in.imm2), base + uint64_t(in.imm), kRowBytes, lane);
    if (!rows[r])
      return false;
    if (w.hazards)
      w.hazards->access(w, in, touch, Space(in.imm2), base + uint64_t(in.imm), kRowBytes, lane);
  }
  return true;
}

bool isWhole(Warp &w, const Instruction &in) {
  if (w.mask == ~0u)
    return true;
  w.fail(in, "matrix_aligned: ldmatrix and stmatrix must be executed by 32 lanes, got lanes " +
                 hex(w.mask));
  return false;
}

// sub: the number of matrices
Outcome loadMatrix(Warp &w, const Instruction &in) {
  if (!isWhole(w, in))
    return Outcome::error;
  const Operand *regs = w.kernel->lists.data() + in.list;
  // All rows are read before a register changes: an address may be one of them.
  uint32_t out[4][32];
  for (unsigned j = 0; j < in.sub; ++j) {
    uint8_t *rows[kRows];
    if (!resolveRows(w, in, Touch::load, j, rows))
      return Outcome::error;
    for (unsigned lane = 0; lane < 32; ++lane) {
      uint16_t half[2];
      for (unsigned h = 0; h < 2; ++h) {
        Element e = elementOf(lane, h, in.flags & kTranspose);
        std::memcpy(&half[h], rows[e.row] + 2 * e.column, 2);
      }
      out[j][lane] = half[0] | uint32_t(half[1]) << 16;
    }
  }
  for (unsigned j = 0; j < in.sub; ++j)
    if (regs[j] != kNone)
      std::memcpy(w.reg<uint32_t>(regs[j]), out[j], sizeof out[j]);
  return Outcome::next;
}

/// Rows of stmatrix that another row has overwritten.
void tellLostRows(Warp &w, const Instruction &in, uint8_t *const *rows) {
  const Operand *regs = w.kernel->lists.data() + in.list;
  uint64_t addresses[32] = {};
  uint32_t lost = 0;
  for (unsigned j = 0; j < in.sub; ++j)
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned h = 0; h < 2; ++h) {
        const Element e = elementOf(lane, h, in.flags & kTranspose);
        const auto half = uint16_t(w.reg<uint32_t>(regs[j])[lane] >> (16 * h));
        const unsigned row = j * kRows + e.row;
        lost |= uint32_t(std::memcmp(rows[row] + 2 * e.column, &half, 2) != 0) << row;
      }
  if (!lost)
    return;
  for (unsigned l = 0; l < in.sub * kRows; ++l)
    addresses[l] = uint64_t(in.imm) + (in.flags & kWideBase ? w.reg<uint64_t>(in.op[0])[l]
                                                            : w.reg<uint32_t>(in.op[0])[l]);
  w.hazards->lanesCollided(w, in, "stmatrix", Space(in.imm2), addresses, kRowBytes,
                           ~0u >> (32 - in.sub * kRows), lost);
}

Outcome storeMatrix(Warp &w, const Instruction &in) {
  if (!isWhole(w, in))
    return Outcome::error;
  bool changed = false;
  const Operand *regs = w.kernel->lists.data() + in.list;
  uint8_t *all[32]; // rows, by the lane that names them
  for (unsigned j = 0; j < in.sub; ++j) {
    uint8_t **rows = all + j * kRows;
    if (!resolveRows(w, in, Touch::store, j, rows))
      return Outcome::error;
    const uint32_t *source = w.reg<uint32_t>(regs[j]);
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned h = 0; h < 2; ++h) {
        Element e = elementOf(lane, h, in.flags & kTranspose);
        uint16_t half = uint16_t(source[lane] >> (16 * h));
        uint8_t *to = rows[e.row] + 2 * e.column;
        changed |= std::memcmp(to, &half, 2) != 0;
        std::memcpy(to, &half, 2);
      }
  }
  w.cta->cluster->progress += changed;
  if (w.hazards)
    tellLostRows(w, in, all);
  return Outcome::next;
}

bool decodeMatrix(Decoder &d) {
  bool isStore = d.raw->opcode == "stmatrix";
  if (isStore && !facts::covers(d.arch, facts::kStmatrixNeeds))
    return d.fail("ptx_target: stmatrix must have a target with it, got " +
                  std::string(facts::name(d.arch)));
  if (!d.take("sync") || !d.take("aligned"))
    return false;
  if (!d.take("m8n8"))
    return decodeNarrowMatrix(d, isStore);
  int count = d.takeOneOf({"x1", "x2", "x4"});
  bool transpose = d.take("trans");
  bool shared = d.takeOneOf({"shared", "shared::cta"}) >= 0;
  if (count < 0 || d.takeType() != Type::b16 || !d.expectOperands(2))
    return false;
  Instruction in;
  in.sub = uint8_t(1u << count);
  AddressOperand a = d.address(d.operand(isStore ? 0 : 1));
  const PtxOperand &data = d.operand(isStore ? 1 : 0);
  if (data.kind != PtxOperand::Kind::vector || data.items.size() != in.sub)
    return d.fail("ptx_operand: " + d.raw->opcode + " must have " + dec(in.sub) +
                  " data registers in braces");
  in.op[0] = a.base;
  in.imm = a.offset;
  in.imm2 = int64_t(shared ? Space::shared : Space::generic);
  in.flags = (a.wide ? kWideBase : 0) | (transpose ? kTranspose : 0);
  in.converge = Converge::allLive;
  std::vector<Operand> regs;
  for (const PtxOperand &o : data.items)
    regs.push_back(isStore ? d.source(o, Type::b32) : d.sinkOr(o, Type::b32));
  in.list = uint32_t(d.kernel.lists.size());
  in.listCount = in.sub;
  d.kernel.lists.insert(d.kernel.lists.end(), regs.begin(), regs.end());
  in.run = isStore ? storeMatrix : loadMatrix;
  d.emit(in);
  return d.error.empty();
}

} // namespace

DecodeFn findMatrix(std::string_view opcode) {
  if (opcode == "movmatrix")
    return decodeMovmatrix;
  return opcode == "ldmatrix" || opcode == "stmatrix" ? decodeMatrix : nullptr;
}

} // namespace blockscale::emu
