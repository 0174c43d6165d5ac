//===- WarpFragments.h - operands of warp-level products as rows ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers hold whole 32-bit words of a row (LayoutsWarp.h), so fragments become
// rows word by word, whatever their element type.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_LIB_EMULATOR_WARPFRAGMENTS_H
#define BLOCKSCALE_LIB_EMULATOR_WARPFRAGMENTS_H

#include "blockscale/Facts/LayoutsWarp.h"
#include "blockscale/Facts/WarpMma.h"

#include "Lanes.h"

#include <algorithm>

namespace blockscale::emu {

inline constexpr unsigned kFragmentRows = 16, kFragmentWords = 8, kFragmentColumns = 8;

using FragmentRows = uint32_t[kFragmentRows][kFragmentWords];

/// Rows of A from `count` registers: 16 rows, or 8 with a single register.
inline void rowsOfA(const Warp &w, const Operand *regs, unsigned count, FragmentRows &rows) {
  for (unsigned j = 0; j < count; ++j) {
    const uint32_t *r = w.reg<uint32_t>(regs[j]);
    for (int t = 0; t < 32; ++t) {
      facts::FragmentPlace p = facts::fragmentA(t, int(j), /*bits=*/32);
      rows[p.row][p.column] = r[t];
    }
  }
}

/// Rows of B (its columns) from `count` registers.
inline void rowsOfB(const Warp &w, const Operand *regs, unsigned count, FragmentRows &rows) {
  for (unsigned j = 0; j < count; ++j) {
    const uint32_t *r = w.reg<uint32_t>(regs[j]);
    for (int t = 0; t < 32; ++t) {
      facts::FragmentPlace p = facts::fragmentB(t, int(j), /*bits=*/32);
      rows[p.row][p.column] = r[t];
    }
  }
}

using FragmentCells = uint32_t[kFragmentRows][kFragmentColumns];

/// C from `count` registers; with `half` each holds two f16 of a row.
inline void cellsOfC(const Warp &w, const Operand *regs, unsigned count, bool half,
                     FragmentCells &cells) {
  for (unsigned j = 0; j < count; ++j) {
    const uint32_t *r = w.reg<uint32_t>(regs[j]);
    for (int t = 0; t < 32; ++t)
      for (unsigned h = 0; h < 1u + half; ++h) {
        facts::FragmentPlace p = facts::fragmentC(t, int(half ? 2 * j + h : j));
        cells[p.row][p.column] = half ? r[t] >> (16 * h) & 0xFFFF : r[t];
      }
  }
}

inline void storeD(Warp &w, const Operand *regs, unsigned count, bool half,
                   const FragmentCells &cells) {
  for (unsigned j = 0; j < count; ++j) {
    if (regs[j] == kNone)
      continue;
    uint32_t *r = w.reg<uint32_t>(regs[j]);
    for (int t = 0; t < 32; ++t) {
      facts::FragmentPlace p = facts::fragmentC(t, int(half ? 2 * j : j));
      uint32_t low = cells[p.row][p.column];
      r[t] = half ? low | cells[p.row][p.column + 1] << 16 : low;
    }
  }
}

/// Registers of a vector operand, or of a single register.
inline bool takeRegisters(Decoder &d, size_t index, unsigned count, Type type, bool isDest,
                          const char *what) {
  const PtxOperand &o = d.operand(index);
  bool vector = o.kind == PtxOperand::Kind::vector;
  size_t given = vector ? o.items.size() : 1;
  if (given != count || (!vector && o.kind != PtxOperand::Kind::name))
    return d.fail(std::string("ptx_operand: ") + what + " of " + d.raw->opcode + " must have " +
                  dec(count) + " registers in braces, got " + dec(int64_t(given)));
  for (size_t i = 0; i < count; ++i) {
    const PtxOperand &item = vector ? o.items[i] : o;
    d.kernel.lists.push_back(isDest ? d.sinkOr(item, type) : d.source(item, type));
  }
  return d.error.empty();
}

/// All 32 lanes must take part.
inline bool isWholeWarp(Warp &w, const Instruction &in, const char *what) {
  if (w.mask == ~0u)
    return true;
  w.fail(in, std::string("matrix_aligned: ") + what + " must be executed by 32 lanes, got lanes " +
                 hex(w.mask));
  return false;
}

/// ldmatrix and stmatrix of bytes; .sync.aligned are taken.
bool decodeNarrowMatrix(Decoder &d, bool isStore);
bool decodeMovmatrix(Decoder &d);

/// mma.sync with scales; the shape, .row.col and what follows are not taken yet.
bool decodeScaledMmaSync(Decoder &d, const std::string &shape, const std::string &kind);

/// "m16n8k32" -> 16, 8, 32; false for anything else.
bool parseShape(std::string_view text, int &m, int &n, int &k);

} // namespace blockscale::emu

#endif // BLOCKSCALE_LIB_EMULATOR_WARPFRAGMENTS_H
