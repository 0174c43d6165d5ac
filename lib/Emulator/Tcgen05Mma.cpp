//===- Tcgen05Mma.cpp - tcgen05.mma with block scales ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.18.10. Descriptors are decoded and checked at issue. When the
// instruction lands, its operand windows become plain rows: A and B by their
// shared-memory descriptors (or A from tensor memory), scales from tensor memory,
// and the arithmetic of Mma.h works on the accumulator in place.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Emulator/Mma.h"
#include "blockscale/Facts/IDesc.h"
#include "blockscale/Facts/LayoutsAccumulator.h"
#include "blockscale/Facts/LayoutsScales.h"

#include "DescCache.h"
#include "RunTimeRefusals.h"
#include "Tcgen05Collector.h"

#include <algorithm>
#include <cstring>

namespace blockscale::emu {
namespace {

constexpr unsigned kRowPitch = 64;  // bytes: the longest row of one instruction
constexpr unsigned kScalePitch = 8; // scales: the most of one instruction
constexpr unsigned kRowsPerCta = 128;

struct MmaForm : Extra {
  facts::MmaKind kind = facts::MmaKind::mxf4;
  int block = 32;
  unsigned ctaGroup = 1;
  bool aInTmem = false, inputNegated = false;
  AddressSlot d, a, sfa, sfb; // tensor memory addresses; a only with aInTmem
  Operand aDesc = kNone, bDesc = kNone, idesc = kNone, enableInput = kPredTrue;
  CollectorUse collectorA = CollectorUse::discard, collectorB = CollectorUse::discard;
};

/// Bytes of one operand row of an instruction, and how its elements are packed.
unsigned rowBytes(facts::MmaKind kind, facts::Format f, int k, Packing &packing) {
  unsigned bits = facts::info(f).bits;
  bool gaps = kind == facts::MmaKind::mxf8f6f4 && k == 32 && bits < 8;
  packing = gaps ? Packing::padded16 : Packing::dense;
  return gaps ? unsigned(k) : unsigned(k) * bits / 8;
}

unsigned scaleColumns(unsigned rows, unsigned id, unsigned count) {
  unsigned step = unsigned(facts::scaleGroupColumns(int(rows))), words = (id + count + 3) / 4;
  return (words - 1) * step + (rows + 31) / 32;
}

/// Scratch of one host thread.
struct Buffers {
  alignas(64) uint8_t a[kRowsPerCta * kRowPitch];
  alignas(64) uint8_t b[256 * kRowPitch];
  alignas(64) uint8_t sfa[kRowsPerCta * kScalePitch];
  alignas(64) uint8_t sfb[256 * kScalePitch];
  alignas(64) float d[64 * 256]; // of a CTA with 64 rows
};

class TmemMma final : public AsyncOp {
public:
  const MmaForm *form = nullptr;
  facts::IDesc desc;
  facts::SmemDesc a, b;
  bool accumulate = true;
  unsigned dColumn = 0, aColumn = 0, sfaColumn = 0, sfbColumn = 0;
  std::vector<Cta *> ctas; // the even one first
  /// A of each CTA where a commit may tell of its reads alone: read ahead of the product.
  struct EarlyA {
    bool isRead = false;
    uint8_t rows[2][kRowsPerCta * kRowPitch];
  };
  std::shared_ptr<EarlyA> early;
  std::shared_ptr<CollectorContents> keptA, keptB; // null: discarded

  /// What the arithmetic is told of one CTA's rows.
  MmaInstruction instruction() const {
    MmaInstruction in;
    in.kind = form->kind;
    in.a = desc.a;
    in.b = desc.b;
    in.scale = desc.scale;
    in.block = desc.block;
    in.m = desc.m / int(form->ctaGroup);
    in.n = desc.n;
    in.k = desc.k;
    in.accumulate = accumulate;
    in.negateA = desc.negateA;
    in.negateB = desc.negateB;
    return in;
  }

  bool ready() const override { return !early || early->isRead; }
  void readEarly() {
    Packing packing;
    unsigned bytes = rowBytes(form->kind, desc.a, desc.k, packing);
    for (size_t v = 0; v < ctas.size(); ++v)
      gather(*ctas[v], a, desc.transposeA, desc.a, unsigned(desc.m) / unsigned(ctas.size()), bytes,
             early->rows[v], "A");
    early->isRead = true;
  }
  bool land() override {
    thread_local Buffers buffers;
    MmaInstruction in = instruction();
    unsigned rows = unsigned(in.m);
    unsigned aBytes = rowBytes(form->kind, desc.a, desc.k, in.aPacking),
             bBytes = rowBytes(form->kind, desc.b, desc.k, in.bPacking);
    unsigned scales = unsigned(desc.k / desc.block);
    // B is split between the CTAs of a pair, and each multiplies all of it.
    unsigned rowsB = unsigned(desc.n) / unsigned(ctas.size());
    for (size_t v = 0; v < ctas.size(); ++v)
      if (!gather(*ctas[v], b, desc.transposeB, desc.b, rowsB, bBytes,
                  buffers.b + v * rowsB * kRowPitch, "B"))
        return true;
    if (!checkKept(keptB, form->collectorB, 0, buffers.b, unsigned(desc.n), bBytes, in.bPacking,
                   desc.b))
      return true;
    for (Cta *cta : ctas) {
      const uint8_t *aRows = early ? early->rows[cta != ctas[0]] : buffers.a;
      size_t aPitch = kRowPitch;
      if (form->aInTmem) {
        aRows = reinterpret_cast<const uint8_t *>(cta->tmem.cell(0, aColumn));
        aPitch = size_t(cta->tmem.columns()) * 4;
        if (!checkWritten(*cta, aColumn, aBytes / 4, "A") ||
            (rows != kRowsPerCta && !checkCopies(*cta, aBytes)))
          return true;
        if (in.aPacking == Packing::padded16) {
          packContainers(aRows, aPitch, rows, aBytes, facts::info(desc.a).bits, buffers.a);
          aRows = buffers.a;
          aPitch = kRowPitch;
        } else if (form->collectorA != CollectorUse::discard) {
          for (unsigned row = 0; row < rows; ++row)
            std::memcpy(buffers.a + row * kRowPitch, aRows + row * aPitch, aBytes);
        }
      } else if (!early &&
                 !gather(*cta, a, desc.transposeA, desc.a, rows, aBytes, buffers.a, "A")) {
        return true;
      }
      if (!checkKept(keptA, form->collectorA, size_t(cta != ctas[0]), early ? aRows : buffers.a,
                     rows, aBytes, in.aPacking, desc.a) ||
          !gatherScales(*cta, sfaColumn, rows, scales, unsigned(desc.sfaId), buffers.sfa, "A") ||
          !gatherScalesB(*cta, scales, buffers.sfb))
        return true;
      if (accumulate && !checkWritten(*cta, dColumn, dColumns(), "D"))
        return true;
      MmaOperands o;
      o.a = aRows;
      o.aPitch = aPitch;
      o.b = buffers.b;
      o.bPitch = kRowPitch;
      o.sfa = buffers.sfa;
      o.sfaPitch = kScalePitch;
      o.sfb = buffers.sfb;
      o.sfbPitch = kScalePitch;
      o.d = reinterpret_cast<float *>(cta->tmem.cell(0, dColumn));
      o.dPitch = cta->tmem.columns();
      if (rows != kRowsPerCta) {
        o.d = buffers.d;
        o.dPitch = size_t(desc.n);
        moveHalves<false>(*cta, buffers.d);
      }
      mma(in, o);
      if (rows != kRowsPerCta)
        moveHalves<true>(*cta, buffers.d);
      for (unsigned lane = 0; !accumulate && lane < kRowsPerCta; ++lane)
        cta->tmem.mark(lane, dColumn, dColumns());
    }
    Launch &launch = *warp->launch;
    ++launch.mmas;
    if (std::string label = mmaEvidence(in, form->ctaGroup); !label.empty())
      launch.addEvidence(label);
    std::lock_guard<std::mutex> guard(launch.lock);
    launch.mmaFlops += 2.0 * desc.m * desc.n * desc.k;
    return true;
  }
  bool helps(const Warp &, const Fragment &) const override { return false; }
  bool touchesTmem() const override { return true; }
  bool touches(const Cta &cta) const override {
    return std::find(ctas.begin(), ctas.end(), &cta) != ctas.end();
  }
  const char *leakAtExit() const override { return "must be complete when its CTA exits"; }
  const char *what() const override { return "tcgen05.mma"; }
  OpKind kind() const override { return OpKind::mma; }
  unsigned ctaGroup() const override { return form->ctaGroup; }
  void describe(AccessSink &sink) const override {
    Packing packing;
    unsigned aBytes = rowBytes(form->kind, desc.a, desc.k, packing),
             bBytes = rowBytes(form->kind, desc.b, desc.k, packing),
             rows = unsigned(desc.m) / unsigned(ctas.size()),
             rowsB = unsigned(desc.n) / unsigned(ctas.size()), n = dColumns();
    // The scales of B lie in two halves where D does.
    unsigned scaleRowsB = n;
    // What tells accumulators apart: address and shape; by the earlier manual also the kind.
    uint32_t place = dColumn | uint32_t(desc.n) << 10 | uint32_t(desc.m) << 20 |
                     uint32_t(form->kind) << kKindOfPlace;
    for (Cta *cta : ctas) {
      describeShared(sink, *cta, b, desc.transposeB, rowsB, bBytes, Touch::mmaShared);
      if (form->aInTmem)
        sink.tensor(Touch::mmaA, *cta, 0xF, aColumn, aBytes / 4);
      else
        describeShared(sink, *cta, a, desc.transposeA, rows, aBytes, Touch::mmaSharedA);
      unsigned scales = unsigned(desc.k / desc.block);
      sink.tensor(Touch::mmaScale, *cta, 0xF, sfaColumn,
                  scaleColumns(rows, unsigned(desc.sfaId), scales), sfaColumn);
      sink.tensor(Touch::mmaScale, *cta, 0xF, sfbColumn,
                  scaleColumns(scaleRowsB, unsigned(desc.sfbId), scales), sfbColumn);
      // What may be written may be read.
      sink.tensor(Touch::mmaD, *cta, 0xF, dColumn, n, place);
    }
  }

  /// Columns of D: 64 rows of a CTA take two lanes for each, and half of the columns.
  unsigned dColumns() const {
    return unsigned(facts::accumulatorColumns(desc.m, desc.n, int(ctas.size())));
  }

private:
  static void describeShared(AccessSink &sink, Cta &cta, const facts::SmemDesc &s, bool transposed,
                             unsigned rows, unsigned bytes, Touch touch) {
    if (!transposed) {
      for (unsigned row = 0; row < rows; ++row)
        for (unsigned chunk = 0; chunk * 16 < bytes; ++chunk)
          sink.shared(touch, cta, operandChunk(s, row, chunk), 16);
      return;
    }
    // MN-major: 16 rows share 16 bytes, whatever their type.
    for (unsigned k = 0; k < bytes; ++k)
      for (unsigned row = 0; row < rows; row += 16)
        sink.shared(touch, cta, facts::mnMajorAddress(int(row), int(k), /*elementBytes=*/1, s), 16);
  }
  bool checkKept(const std::shared_ptr<CollectorContents> &kept, CollectorUse use, size_t v,
                 const uint8_t *bytes, unsigned rows, unsigned rowBytes, Packing packing,
                 facts::Format format) {
    if (!kept)
      return true;
    unsigned payload = packing == Packing::padded16 ? 2 * unsigned(facts::info(format).bits) : 16;
    std::string e = landCollector(*kept, use, v, {bytes, rows, rowBytes, kRowPitch, payload});
    if (!e.empty())
      warp->fail(line, Fault(e)
                           .at(dec(rows) + " rows of the operand in cta rank " + dec(ctas[v]->rank))
                           .against("the fill", kept->line));
    return e.empty();
  }
  /// Between D of a CTA with 64 rows and plain rows: columns of the upper half of N lie in
  /// the upper 64 lanes.
  template <bool toTmem> void moveHalves(Cta &cta, float *rows) {
    unsigned half = unsigned(desc.n) / 2;
    for (unsigned lane = 0; lane < kRowsPerCta; ++lane) {
      float *plain = rows + size_t(lane % 64) * size_t(desc.n) + lane / 64 * half;
      if (toTmem)
        std::memcpy(cta.tmem.cell(lane, dColumn), plain, half * 4);
      else
        std::memcpy(plain, cta.tmem.cell(lane, dColumn), half * 4);
    }
  }
  /// The scales of B: of all of N in four parts, or of each half of it in two.
  bool gatherScalesB(Cta &cta, unsigned scales, uint8_t *out) {
    unsigned n = unsigned(desc.n), id = unsigned(desc.sfbId);
    if (dColumns() == n)
      return gatherScales(cta, sfbColumn, n, scales, id, out, "B");
    return gatherScales(cta, sfbColumn, n / 2, scales, id, out, "B", 0, 2) &&
           gatherScales(cta, sfbColumn, n / 2, scales, id, out + n / 2 * kScalePitch, "B", 2, 4);
  }
  bool outside(const char *which, uint32_t offset) {
    warp->fail(line, Fault(std::string("mma_bounds: operand ") + which +
                           " of tcgen05.mma must lie in shared memory, got " + hex(offset))
                         .at(sharedBytes(offset, 16)));
    return false;
  }
  bool gather(const Cta &cta, const facts::SmemDesc &s, bool transposed, facts::Format format,
              unsigned rows, unsigned bytes, uint8_t *out, const char *which) {
    if (transposed)
      return gatherTransposed(cta, s, facts::info(format).bits, rows, bytes, out, which);
    if (!s.absolute && s.swizzle != facts::Swizzle::none)
      return gatherSwizzled(cta, s, rows, bytes, out, which);
    for (unsigned row = 0; row < rows; ++row)
      for (unsigned chunk = 0; chunk * 16 < bytes; ++chunk) {
        uint32_t offset = operandChunk(s, row, chunk);
        const uint8_t *p = sharedChunk(cta, offset);
        if (!p)
          return outside(which, offset);
        std::memcpy(out + row * kRowPitch + chunk * 16, p, 16);
      }
    return true;
  }
  /// The same addresses (kMajorAddress), with what all rows share taken out of the loop: most
  /// operands go this way, and every one of them is read once an instruction.
  bool gatherSwizzled(const Cta &cta, const facts::SmemDesc &s, unsigned rows, unsigned bytes,
                      uint8_t *out, const char *which) {
    const uint32_t span = uint32_t(facts::info(s.swizzle).span), stride = s.strideBytes,
                   start = s.start, last = uint32_t(cta.shared.size()) - 16;
    const uint8_t *shared = cta.shared.data();
    for (unsigned row = 0; row < rows; ++row) {
      uint32_t linear = start + row % 8 * span + row / 8 * stride;
      for (unsigned at = 0; at < bytes; at += 16) {
        uint32_t offset = facts::swizzleAddress(linear + at, s.swizzle, s.baseOffset);
        if (offset < kSharedBase || offset > last)
          return outside(which, offset);
        std::memcpy(out + row * kRowPitch + at, shared + offset, 16);
      }
    }
    return true;
  }
  /// A of 4 or 6 bits has a byte for each element in tensor memory.
  static void packContainers(const uint8_t *from, size_t pitch, unsigned rows, unsigned bytes,
                             int bits, uint8_t *out) {
    for (unsigned row = 0; row < rows; ++row)
      for (unsigned unit = 0; unit < bytes; unit += 16) {
        unsigned __int128 packed = 0;
        for (unsigned i = 0; i < 16; ++i) {
          unsigned code = from[row * pitch + unit + i] >> (bits == 4 ? 2 : 0);
          packed |= (unsigned __int128)(code & ((1u << bits) - 1)) << (unsigned(bits) * i);
        }
        std::memcpy(out + row * kRowPitch + unit, &packed, 16);
      }
  }
  /// MN-major. Types of 4 and 6 bits lie as TMA's padded types bring them: 16 elements along MN
  /// share 16 bytes, packed from the lowest bit on; and so do 16 along K in `out`.
  bool gatherTransposed(const Cta &cta, const facts::SmemDesc &s, unsigned bits, unsigned rows,
                        unsigned k, uint8_t *out, const char *which) {
    if (bits < 8)
      return gatherPackedTransposed(cta, s, bits, rows, k, out, which);
    for (unsigned row = 0; row < rows; ++row)
      for (unsigned e = 0; e < k; ++e) {
        uint32_t offset = facts::mnMajorAddress(int(row), int(e), /*elementBytes=*/1, s);
        if (offset < kSharedBase || offset >= cta.shared.size())
          return outside(which, offset);
        out[row * kRowPitch + e] = cta.shared[offset];
      }
    return true;
  }
  bool gatherPackedTransposed(const Cta &cta, const facts::SmemDesc &s, unsigned bits,
                              unsigned rows, unsigned k, uint8_t *out, const char *which) {
    using Unit = unsigned __int128;
    for (unsigned group = 0; group < rows; group += 16)
      for (unsigned first = 0; first < k; first += 16) {
        Unit packed[16] = {};
        for (unsigned e = 0; e < 16; ++e) {
          uint32_t offset =
              facts::mnMajorAddress(int(group), int(first + e), /*elementBytes=*/1, s);
          const uint8_t *p = sharedChunk(cta, offset);
          if (!p)
            return outside(which, offset);
          Unit codes;
          std::memcpy(&codes, p, sizeof codes);
          for (unsigned row = 0; row < 16; ++row)
            packed[row] |= (codes >> (bits * row) & ((1u << bits) - 1)) << (bits * e);
        }
        for (unsigned row = 0; row < std::min(16u, rows - group); ++row)
          std::memcpy(out + (group + row) * kRowPitch + first, &packed[row], sizeof(Unit));
      }
    return true;
  }
  bool checkWritten(Cta &cta, unsigned column, unsigned count, const char *which) {
    for (unsigned lane = 0; lane < kRowsPerCta; ++lane)
      if (!cta.tmem.isWritten(lane, column, count)) {
        warp->fail(line,
                   Fault(std::string("tmem_unwritten: operand ") + which +
                         " of tcgen05.mma must read cells that were written, got lane " +
                         dec(lane) + " in columns " + dec(column) + ".." + dec(column + count - 1))
                       .at(tensorColumns(column, count, cta.rank))
                       .against("tcgen05.alloc", cta.tmem.lineOf(column)));
        return false;
      }
    return true;
  }
  /// 64 rows of A lie in tensor memory twice, in lanes r and r + 64: each half of the lanes
  /// multiplies its half of N.
  bool checkCopies(Cta &cta, unsigned bytes) {
    for (unsigned row = 0; row < 64; ++row)
      if (std::memcmp(cta.tmem.cell(row, aColumn), cta.tmem.cell(row + 64, aColumn), bytes)) {
        warp->fail(line, Fault(std::string(refusals::kUnequalCopies) + " " + dec(row) + " and " +
                               dec(row + 64))
                             .at(tensorColumns(aColumn, bytes / 4, cta.rank)));
        return false;
      }
    return true;
  }
  /// Row r, scale s: lane r % 32 of every 32-lane part, column r / 32 + word step,
  /// byte (id + s) % 4.
  bool gatherScales(Cta &cta, unsigned column, unsigned rows, unsigned count, unsigned id,
                    uint8_t *out, const char *which, unsigned firstPart = 0,
                    unsigned lastPart = 4) {
    unsigned step = unsigned(facts::scaleGroupColumns(int(rows)));
    for (unsigned word = 0; word * 4 < id + count; ++word) {
      unsigned first = word * 4 > id ? word * 4 : id, last = std::min(word * 4 + 4, id + count);
      for (unsigned group = 0; group * 32 < rows; ++group) {
        unsigned c = column + group + word * step;
        for (unsigned lane = 0; lane < 32 && group * 32 + lane < rows; ++lane) {
          uint32_t v = *cta.tmem.cell(lane + 32 * firstPart, c);
          for (unsigned part = firstPart; part < lastPart; ++part) {
            if (!*cta.tmem.writtenFlag(lane + 32 * part, c)) {
              warp->fail(line, Fault(std::string("tmem_unwritten: scales of ") + which +
                                     " must be written before tcgen05.mma, got lane " +
                                     dec(lane + 32 * part) + " column " + dec(c))
                                   .at(tensorColumns(c, 1, cta.rank))
                                   .against("tcgen05.alloc", cta.tmem.lineOf(c)));
              return false;
            }
            if (*cta.tmem.cell(lane + 32 * part, c) != v) {
              warp->fail(line, Fault(std::string("scale_parts: scales of ") + which +
                                     " must be the same in the 32-lane parts, lane " +
                                     dec(lane + 32 * firstPart) + " column " + dec(c) +
                                     " differs from lane " + dec(lane + 32 * part))
                                   .at(tensorColumns(c, 1, cta.rank)));
              return false;
            }
          }
          uint8_t *row = out + (group * 32 + lane) * kScalePitch;
          for (unsigned p = first; p < last; ++p)
            row[p - id] = uint8_t(v >> (8 * (p % 4)));
        }
      }
    }
    return true;
  }
};

/// The reads of A by a product that is still in flight.
class MmaReadA final : public AsyncOp {
public:
  explicit MmaReadA(TmemMma &product) : product(product), ctas(product.ctas) {}
  bool land() override {
    product.readEarly();
    return true;
  }
  bool helps(const Warp &, const Fragment &) const override { return false; }
  bool touches(const Cta &cta) const override {
    return std::find(ctas.begin(), ctas.end(), &cta) != ctas.end();
  }
  const char *leakAtExit() const override { return "must be complete when its CTA exits"; }
  const char *what() const override { return "tcgen05.mma"; }

private:
  TmemMma &product; // lands later, so it is still there
  std::vector<Cta *> ctas;
};

/// Rows of 48 bytes: only with 128-byte swizzle, and only they go round into a next buffer.
std::string checkK96(const facts::IDesc &desc, const facts::SmemDesc *a, const facts::SmemDesc &b) {
  for (const facts::SmemDesc *s : {a, &b}) {
    if (!s)
      continue;
    if (desc.k == 96 && (s->swizzle != facts::Swizzle::b128 || s->baseOffset))
      return "mma_k96: operands at k = 96 must have swizzle b128 and base_offset 0, got " +
             std::string(facts::name(s->swizzle)) + " and " + dec(s->baseOffset);
    if (desc.k != 96 && s->absolute)
      return "mma_k96: an absolute leading address must be used at k = 96, got " + dec(desc.k);
  }
  return {};
}

Outcome runMma(Warp &w, const Instruction &in) {
  const auto &form = *static_cast<const MmaForm *>(in.extra);
  facts::Arch arch = w.launch->module.archValue;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    auto op = std::make_unique<TmemMma>();
    op->form = &form;
    auto idesc = decodeIDescCached(arch, form.kind, form.block, int(form.ctaGroup),
                                   w.reg<uint32_t>(form.idesc)[l]);
    if (!idesc)
      return w.fail(in, idesc.message());
    op->desc = *idesc;
    if (op->desc.sparse)
      return w.fail(in, refusals::kSparse);
    if (op->desc.sfaLayout != facts::SfaLayout::lanes32)
      return w.fail(in, refusals::kLanes128);
    auto b = decodeSmemDescCached(arch, w.reg<uint64_t>(form.bDesc)[l]);
    if (!b)
      return w.fail(in, b.message());
    op->b = *b;
    auto column = [&](const AddressSlot &s) { return uint32_t(s.at(w, l)) & 0xFFFF; };
    if (form.aInTmem) {
      Packing packing;
      unsigned bytes = rowBytes(form.kind, op->desc.a, op->desc.k, packing);
      if (form.kind == facts::MmaKind::mxf8f6f4 && op->desc.k == 64 &&
          facts::info(op->desc.a).bits == 4)
        return w.fail(in, "mma_form: A of 4 bits in tensor memory must be used at k = 32, got 64");
      if (op->desc.transposeA)
        return w.fail(in, "mma_form: A in tensor memory must be K-major, got MN-major");
      op->aColumn = column(form.a);
      if (!checkColumns(w, in, *w.cta, op->aColumn, bytes / 4, "A of tcgen05.mma"))
        return Outcome::error;
    } else {
      auto a = decodeSmemDescCached(arch, w.reg<uint64_t>(form.aDesc)[l]);
      if (!a)
        return w.fail(in, a.message());
      op->a = *a;
    }
    uint32_t d = uint32_t(form.d.at(w, l));
    op->dColumn = d & 0xFFFF;
    if (d >> 16)
      return w.fail(in, "mma_lane: accumulator must start at lane 0, got lane " + dec(d >> 16));
    if (std::string e = checkK96(op->desc, form.aInTmem ? nullptr : &op->a, op->b); !e.empty())
      return w.fail(in, e);
    op->sfaColumn = column(form.sfa);
    op->sfbColumn = column(form.sfb);
    bool input = w.predicate(form.enableInput, unsigned(l));
    op->accumulate = input != form.inputNegated;
    op->ctas.push_back(w.cta);
    if (form.ctaGroup == 2) {
      Cta *peer = pairPeer(w, in);
      if (!peer)
        return Outcome::error;
      op->ctas =
          w.cta->rank & 1 ? std::vector<Cta *>{peer, w.cta} : std::vector<Cta *>{w.cta, peer};
    }
    unsigned scales = unsigned(op->desc.k / op->desc.block),
             rows = unsigned(op->desc.m) / form.ctaGroup, scaleRowsB = op->dColumns();
    for (Cta *cta : op->ctas)
      if (!checkColumns(w, in, *cta, op->dColumn, op->dColumns(), "D of tcgen05.mma") ||
          !checkColumns(w, in, *cta, op->sfaColumn,
                        scaleColumns(rows, unsigned(op->desc.sfaId), scales), "scales of A") ||
          !checkColumns(w, in, *cta, op->sfbColumn,
                        scaleColumns(scaleRowsB, unsigned(op->desc.sfbId), scales), "scales of B"))
        return Outcome::error;
    if (w.launch->options.unmodelled == Unmodelled::refuse)
      if (std::string label = mmaEvidence(op->instruction(), form.ctaGroup); !label.empty())
        return w.fail(in, "mma_unmodelled: tcgen05.mma must have a published model, got K = " +
                              dec(op->desc.k) + " of cta_group::" + dec(form.ctaGroup) + " with " +
                              label);
    Collector *collectors = op->ctas[0]->collectors;
    uint64_t operandA = form.aInTmem ? op->aColumn : w.reg<uint64_t>(form.aDesc)[l];
    Fault e = issueCollector(collectors[0], "a", form.collectorA, w, operandA, in.line, op->keptA);
    if (e.empty())
      e = issueCollector(collectors[1], "b", form.collectorB, w, w.reg<uint64_t>(form.bDesc)[l],
                         in.line, op->keptB);
    if (!e.empty())
      return w.fail(in, e);
    std::unique_ptr<MmaReadA> read;
    if (w.kernel->commitsReads && !form.aInTmem) {
      op->early = std::make_shared<TmemMma::EarlyA>();
      read = std::make_unique<MmaReadA>(*op);
    }
    w.cta->cluster->issue(std::move(op), w, in, AsyncOp::Pipe::tensor, 1u << l);
    if (read)
      w.cta->cluster->issue(std::move(read), w, in, AsyncOp::Pipe::mmaRead, 1u << l);
  }
  return issued(w);
}

} // namespace

bool decodeTmemMma(Decoder &d) {
  auto form = std::make_shared<MmaForm>();
  form->ctaGroup = takeCtaGroup(d);
  int kind = d.takeOneOf({"kind::mxf8f6f4", "kind::mxf4", "kind::mxf4nvf4"});
  if (kind < 0 || !d.take("block_scale"))
    return false; // kinds without block scales are not executed
  form->kind = kind == 0   ? facts::MmaKind::mxf8f6f4
               : kind == 1 ? facts::MmaKind::mxf4
                           : facts::MmaKind::mxf4nvf4;
  int size = d.takeOneOf({"block16", "block32", "scale_vec::1X", "scale_vec::2X", "scale_vec::4X"});
  bool legal = kind == 0   ? size == -1 || size == 1 || size == 2
               : kind == 1 ? size == -1 || size == 1 || size == 3
                           : size == 0 || size == 1 || size == 3 || size == 4;
  if (!legal)
    return d.fail("ptx_modifier: scale size of ." + d.raw->modifiers[2] +
                  " must be one that the kind has");
  if (size >= 2 && !facts::supports(d.arch, facts::Feature::scaleVecQualifier))
    return d.fail("ptx_target: .scale_vec must have a target with scale_vec_qualifier, got " +
                  std::string(facts::name(d.arch)));
  form->block = size == 0 || size == 4 ? 16 : 32;
  // In the order of CollectorUse.
  int a = d.takeOneOf({"collector::a::discard", "collector::a::fill", "collector::a::use",
                       "collector::a::lastuse"});
  int b = d.takeOneOf({"collector::b::discard", "collector::b::fill", "collector::b::use",
                       "collector::b::lastuse"});
  form->collectorA = a < 0 ? CollectorUse::discard : CollectorUse(a);
  form->collectorB = b < 0 ? CollectorUse::discard : CollectorUse(b);
  if (b >= 0 && !facts::supports(d.arch, facts::Feature::collectorB))
    return d.fail("ptx_target: .collector::b must have a target with collector_b, got " +
                  std::string(facts::name(d.arch)));
  if (!d.expectOperands(7))
    return false;
  auto tmem = [&](size_t i) {
    AddressOperand a = d.address(d.operand(i));
    if (d.operand(i).kind != PtxOperand::Kind::address || a.wide)
      d.fail("ptx_address: tensor memory address must be a 32-bit register in brackets");
    return AddressSlot{a.base, a.wide, a.offset};
  };
  form->d = tmem(0);
  form->aInTmem = d.operand(1).kind == PtxOperand::Kind::address;
  if (form->aInTmem)
    form->a = tmem(1);
  else
    form->aDesc = d.source(1, Type::b64);
  form->bDesc = d.source(2, Type::b64);
  form->idesc = d.source(3, Type::b32);
  form->sfa = tmem(4);
  form->sfb = tmem(5);
  form->enableInput = d.predicate(d.operand(6), false, &form->inputNegated);
  if (!d.error.empty())
    return false;
  Instruction in;
  in.run = runMma;
  in.extra = form.get();
  d.kernel.extras.push_back(form);
  d.emit(in);
  return true;
}

} // namespace blockscale::emu
