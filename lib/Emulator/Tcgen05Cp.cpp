//===- Tcgen05Cp.cpp - tcgen05.cp -----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.18.9: shared memory to tensor memory, all six shapes. The
// source is addressed like a K-major operand of 16- or 32-byte rows.
//
//===----------------------------------------------------------------------===//

#include "Tcgen05.h"

#include <cstring>

namespace blockscale::emu {
namespace {

enum class Shape : uint8_t {
  s128x256b,
  s4x256b,
  s128x128b,
  s64x128b02_13,
  s64x128b01_23,
  s32x128b
};
struct ShapeInfo {
  unsigned rows, chunks;
};
constexpr ShapeInfo kShapes[] = {{128, 2}, {4, 2}, {128, 1}, {64, 1}, {64, 1}, {32, 1}};

/// Destination lanes of a source row; returns how many.
unsigned lanesOf(Shape s, unsigned row, unsigned lanes[4]) {
  switch (s) {
  case Shape::s4x256b:
    lanes[0] = 32 * row;
    return 1;
  case Shape::s64x128b02_13:
    lanes[0] = row;
    lanes[1] = row + 64;
    return 2;
  case Shape::s64x128b01_23:
    lanes[0] = row % 32 + 64 * (row / 32);
    lanes[1] = lanes[0] + 32;
    return 2;
  case Shape::s32x128b:
    for (unsigned i = 0; i < 4; ++i)
      lanes[i] = row + 32 * i;
    return 4;
  default:
    lanes[0] = row;
    return 1;
  }
}

enum class Expand : uint8_t { none, fp4, fp6 };

/// 16 source bytes with 16 packed codes to 16 one-byte containers: FP4 in bits 5:2,
/// FP6 in bits 5:0.
void expand(Expand e, const uint8_t *from, uint8_t *to) {
  unsigned width = e == Expand::fp4 ? 4 : 6;
  for (unsigned i = 0; i < 16; ++i) {
    unsigned bit = i * width;
    unsigned v = from[bit / 8] | unsigned(from[bit / 8 + 1]) << 8;
    v = v >> (bit % 8) & ((1u << width) - 1);
    to[i] = uint8_t(e == Expand::fp4 ? v << 2 : v);
  }
}

class TmemCopy final : public AsyncOp {
public:
  Shape shape = Shape::s32x128b;
  Expand expansion = Expand::none;
  facts::SmemDesc source;
  unsigned lane0 = 0, column0 = 0;
  std::vector<Cta *> ctas;

  bool land() override {
    for (Cta *cta : ctas)
      if (!copy(*cta))
        return true;
    return true;
  }
  bool helps(const Warp &, const Fragment &) const override { return false; }
  bool touchesTmem() const override { return true; }
  const char *leakAtExit() const override { return "must be complete when its CTA exits"; }
  const char *what() const override { return "tcgen05.cp"; }

private:
  bool copy(Cta &cta) {
    const ShapeInfo &info = kShapes[size_t(shape)];
    for (unsigned row = 0; row < info.rows; ++row) {
      unsigned to[4], n = lanesOf(shape, row, to);
      for (unsigned chunk = 0; chunk < info.chunks; ++chunk) {
        uint32_t offset = operandChunk(source, row, chunk);
        const uint8_t *p = sharedChunk(cta, offset);
        if (!p) {
          warp->fail(line, "cp_bounds: source of tcgen05.cp must lie in shared memory, got " +
                               hex(offset));
          return false;
        }
        uint8_t bytes[16];
        if (expansion == Expand::none)
          std::memcpy(bytes, p, 16);
        else
          expand(expansion, p, bytes);
        for (unsigned i = 0; i < n; ++i) {
          unsigned lane = lane0 + to[i], column = column0 + 4 * chunk;
          std::memcpy(cta.tmem.cell(lane, column), bytes, 16);
          cta.tmem.mark(lane, column, 4);
        }
      }
    }
    return true;
  }
};

// op: 0 tensor memory address, 1 descriptor; sub: shape; flags: expansion, cta group << 4
Outcome copy(Warp &w, const Instruction &in) {
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    auto op = std::make_unique<TmemCopy>();
    op->shape = Shape(in.sub);
    op->expansion = Expand(in.flags & 3);
    uint32_t address = w.reg<uint32_t>(in.op[0])[l] + uint32_t(in.imm);
    auto desc = facts::decodeSmemDesc(w.launch->module.archValue, w.reg<uint64_t>(in.op[1])[l]);
    if (!desc)
      return w.fail(in, desc.message());
    op->source = *desc;
    op->lane0 = address >> 16;
    op->column0 = address & 0xFFFF;
    if (op->lane0 != 0 && Shape(in.sub) != Shape::s4x256b)
      return w.fail(in, "cp_lane: lane of tcgen05.cp must be 0, got " + dec(op->lane0));
    if (op->lane0 > 31)
      return w.fail(in, "cp_lane: lane of tcgen05.cp must be below 32, got " + dec(op->lane0));
    unsigned columns = 4 * kShapes[in.sub].chunks;
    op->ctas.push_back(w.cta);
    if (in.flags >> 4 == 2) {
      Cta *peer = (w.cta->rank ^ 1) < w.launch->ctasPerCluster
                      ? w.cta->cluster->ctas[w.cta->rank ^ 1].get()
                      : nullptr;
      if (!peer)
        return w.fail(in, "tcgen05_cta_group: .cta_group::2 must have a peer CTA in the cluster");
      op->ctas.push_back(peer);
    }
    for (Cta *cta : op->ctas)
      if (!checkColumns(w, in, *cta, op->column0, columns, "tcgen05.cp"))
        return Outcome::error;
    w.cta->cluster->issue(std::move(op), w, in, AsyncOp::Pipe::tensor, 1u << l);
  }
  return issued(w);
}

} // namespace

bool decodeTmemCopy(Decoder &d) {
  Instruction in;
  in.run = copy;
  unsigned group = takeCtaGroup(d);
  int shape = d.takeOneOf({"128x256b", "4x256b", "128x128b", "64x128b", "32x128b"});
  int multicast = d.takeOneOf({"warpx2::02_13", "warpx2::01_23", "warpx4"});
  Expand e = Expand::none;
  if (d.take("b8x16")) {
    int from = d.takeOneOf({"b4x16_p64", "b6x16_p32"});
    if (from < 0)
      return false;
    e = from == 0 ? Expand::fp4 : Expand::fp6;
  }
  if (shape < 0 || !d.expectOperands(2))
    return false;
  bool two = shape == 3, four = shape == 4;
  if (two != (multicast == 0 || multicast == 1) || four != (multicast == 2))
    return d.fail(
        "ptx_modifier: tcgen05.cp must have .warpx2 with .64x128b and .warpx4 with .32x128b");
  in.sub = uint8_t(four  ? Shape::s32x128b
                   : two ? (multicast == 0 ? Shape::s64x128b02_13 : Shape::s64x128b01_23)
                         : Shape(shape));
  in.flags = uint32_t(e) | group << 4;
  AddressOperand a = d.address(d.operand(0));
  if (a.wide)
    return d.fail("ptx_address: tensor memory address must be a 32-bit register");
  in.op[0] = a.base;
  in.imm = a.offset;
  in.op[1] = d.source(1, Type::b64);
  d.emit(in);
  return d.error.empty();
}

} // namespace blockscale::emu
