//===- Tcgen05Cp.cpp - tcgen05.cp -----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.18.9: shared memory to tensor memory, all six shapes. The
// source is addressed like a K-major operand of 16- or 32-byte rows.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/LayoutsAccumulator.h"
#include "blockscale/Facts/LayoutsTmemCopy.h"

#include "DescCache.h"
#include "Tcgen05.h"

#include <algorithm>
#include <cstring>

namespace blockscale::emu {
namespace {

using Shape = facts::CpShape;
using Expand = facts::CpDecompression;

/// 16 source bytes with 16 packed codes to 16 one-byte containers.
void expand(Expand e, const uint8_t *from, uint8_t *to) {
  int bits = e == Expand::b4x16_p64 ? 4 : 6;
  std::array<uint8_t, 16> unit;
  std::copy_n(from, 16, unit.begin());
  for (int i = 0; i < 16; ++i)
    to[i] = facts::byteContainer(facts::decompressElement(unit, i, bits), bits);
}

class TmemCopy final : public AsyncOp {
public:
  Shape shape = Shape::s32x128bWarpx4;
  Expand expansion = Expand::none;
  facts::SmemDesc source;
  unsigned lane0 = 0, column0 = 0, group = 1;
  std::vector<Cta *> ctas;

  bool land() override {
    for (Cta *cta : ctas)
      if (!copy(*cta))
        return true;
    return true;
  }
  bool helps(const Warp &, const Fragment &) const override { return false; }
  bool touchesTmem() const override { return true; }
  bool touches(const Cta &cta) const override {
    return std::find(ctas.begin(), ctas.end(), &cta) != ctas.end();
  }
  const char *leakAtExit() const override { return "must be complete when its CTA exits"; }
  const char *what() const override { return "tcgen05.cp"; }
  OpKind kind() const override { return OpKind::cp; }
  unsigned ctaGroup() const override { return group; }
  void describe(AccessSink &sink) const override {
    const facts::CpShapeInfo &info = facts::info(shape);
    bool narrow = shape == Shape::s4x256b;
    for (Cta *cta : ctas) {
      for (int row = 0; row < info.rows; ++row)
        for (int byte = 0; byte < info.rowBytes; byte += 16)
          sink.shared(Touch::cpShared, *cta,
                      operandChunk(source, uint32_t(row), uint32_t(byte / 16)), 16);
      unsigned quarters = 0;
      for (int row = 0; row < info.rows; ++row)
        for (int i = 0; i < info.copies; ++i)
          quarters |= 1u << ((lane0 + unsigned(facts::cpLane(shape, row, i))) / 32 & 3);
      sink.tensor(narrow ? Touch::cp4x256Write : Touch::cpWrite, *cta, quarters, column0,
                  unsigned(facts::cpColumn(info.rowBytes)), column0);
    }
  }

private:
  bool copy(Cta &cta) {
    const facts::CpShapeInfo &info = facts::info(shape);
    for (int row = 0; row < info.rows; ++row) {
      for (int byte = 0; byte < info.rowBytes; byte += 16) {
        uint32_t offset = operandChunk(source, uint32_t(row), uint32_t(byte / 16));
        const uint8_t *p = sharedChunk(cta, offset);
        if (!p) {
          warp->fail(line, Fault("cp_bounds: source of tcgen05.cp must lie in shared memory, "
                                 "got " +
                                 hex(offset))
                               .at(sharedBytes(uint64_t(cta.rank) << kClusterShift | offset, 16)));
          return false;
        }
        uint8_t bytes[16];
        if (expansion == Expand::none)
          std::memcpy(bytes, p, 16);
        else
          expand(expansion, p, bytes);
        for (int i = 0; i < info.copies; ++i) {
          unsigned lane = lane0 + unsigned(facts::cpLane(shape, row, i)),
                   column = column0 + unsigned(facts::cpColumn(byte));
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
    auto desc = decodeSmemDescCached(w.launch->module.archValue, w.reg<uint64_t>(in.op[1])[l]);
    if (!desc)
      return w.fail(in, desc.message());
    op->source = *desc;
    op->group = in.flags >> 4;
    op->lane0 = address >> 16;
    op->column0 = address & 0xFFFF;
    if (op->lane0 != 0 && Shape(in.sub) != Shape::s4x256b)
      return w.fail(in, "cp_lane: lane of tcgen05.cp must be 0, got " + dec(op->lane0));
    if (op->lane0 > 31)
      return w.fail(in, "cp_lane: lane of tcgen05.cp must be below 32, got " + dec(op->lane0));
    unsigned columns = unsigned(facts::cpColumn(facts::info(Shape(in.sub)).rowBytes));
    op->ctas.push_back(w.cta);
    if (in.flags >> 4 == 2) {
      Cta *peer = pairPeer(w, in);
      if (!peer)
        return Outcome::error;
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
    e = from == 0 ? Expand::b4x16_p64 : Expand::b6x16_p32;
  }
  if (shape < 0 || !d.expectOperands(2))
    return false;
  bool two = shape == 3, four = shape == 4;
  if (two != (multicast == 0 || multicast == 1) || four != (multicast == 2))
    return d.fail(
        "ptx_modifier: tcgen05.cp must have .warpx2 with .64x128b and .warpx4 with .32x128b");
  in.sub =
      uint8_t(four  ? Shape::s32x128bWarpx4
              : two ? (multicast == 0 ? Shape::s64x128bWarpx2_02_13 : Shape::s64x128bWarpx2_01_23)
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
