//===- MmaScene.h - one tcgen05.mma with operands laid out by hand --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the images of shared and tensor memory of each CTA, runs one instruction
// on them and gives D back. Everything about layouts stands here a second time, as
// plain arithmetic from the manual's text: the test never asks the product where a
// byte lies.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_UNIT_EMULATOR_MMASCENE_H
#define BLOCKSCALE_TEST_UNIT_EMULATOR_MMASCENE_H

#include "Harness.h"

#include <cmath>

namespace blockscale::emu::test {

/// A small floating-point format: codes to values.
struct Minifloat {
  int exponent, mantissa, bias;
  bool ieee = false; // the top exponent is infinity and NaN
  int bits() const { return 1 + exponent + mantissa; }
  double value(unsigned code) const {
    unsigned m = code & ((1u << mantissa) - 1), e = code >> mantissa & ((1u << exponent) - 1);
    double magnitude = e ? std::ldexp(1.0 + m / double(1 << mantissa), int(e) - bias)
                         : std::ldexp(m / double(1 << mantissa), 1 - bias);
    return code >> (exponent + mantissa) & 1 ? -magnitude : magnitude;
  }
  /// Codes whose values are multiples of 1/2 up to 6: sums of their products are exact.
  std::vector<unsigned> tame() const {
    std::vector<unsigned> out;
    for (unsigned code = 0; code < 1u << bits(); ++code)
      if (double v = value(code); std::abs(v) <= 6 && v * 2 == std::floor(v * 2))
        out.push_back(code);
    return out;
  }
};
inline constexpr Minifloat kE2M1{2, 1, 1}, kE2M3{2, 3, 1}, kE3M2{3, 2, 3}, kE4M3{4, 3, 7},
    kE5M2{5, 2, 15, true};

enum class Layout { none, b32, b64, b128 };
inline unsigned span(Layout l) {
  return l == Layout::none ? 16 : l == Layout::b32 ? 32 : l == Layout::b64 ? 64 : 128;
}
inline uint32_t swizzled(uint32_t a, Layout l) {
  switch (l) {
  case Layout::none:
    return a;
  case Layout::b32:
    return a ^ ((a >> 7 & 1) << 4);
  case Layout::b64:
    return a ^ ((a >> 7 & 3) << 4);
  case Layout::b128:
    return a ^ ((a >> 7 & 7) << 4);
  }
  return a;
}
/// Bits 61..63 of the descriptor.
inline uint64_t swizzleCode(Layout l) {
  return l == Layout::none ? 0 : l == Layout::b32 ? 6 : l == Layout::b64 ? 4 : 2;
}

/// How one operand lies in shared memory.
struct OperandPlan {
  Minifloat format = kE4M3;
  Layout layout = Layout::b128;
  bool transposed = false;
  uint32_t start = 0; // of the tile in the buffer
  uint32_t leading = 0, stride = 0;
  uint32_t kOffset = 0; // bytes from the tile's start to the instruction's first byte
  bool circular = false;
  uint32_t next = 0; // with circular: where the row goes on
};

struct MmaScene {
  std::string target = "sm_100a", kind = "mxf8f6f4.block_scale", extra;
  unsigned group = 1;
  int n = 64, k = 32, block = 32;
  OperandPlan a, b;
  bool padded = false; // 4- and 6-bit types in 16-byte units
  bool aInTmem = false;
  unsigned containerBits = 8; // of A in tensor memory
  bool oneCopy = false;       // of 64 rows there
  uint32_t idesc = 0;
  int sfaId = 0, sfbId = 0;
  bool ue4m3 = false, accumulate = false;
  int rows = 128;                // of A in one CTA; 64 for M = 128 of a pair
  std::string between;           // PTX before each of the following
  std::vector<std::string> then; // modifiers of further instructions on the same operands
  std::string behind;            // PTX between them and the commit; mbarrier bar + 8 is its own
  Options options;
};

struct MmaResult {
  std::string error;
  std::vector<double> got, expected; // [m][n]
  std::vector<std::string> evidence;
};

class MmaRunner {
public:
  explicit MmaRunner(const MmaScene &scene) : s(scene), m(scene.rows * int(s.group)) {}

  MmaResult run() {
    fill();
    MmaResult r;
    r.expected = expected();
    launch(r);
    return r;
  }

private:
  static constexpr uint32_t kBytes = 96 * 1024;
  static constexpr uint32_t kColumns = 128; // of the image: A, scales, then D elsewhere
  static constexpr uint32_t kSfa = 32, kSfb = 64, kD = 128;
  const MmaScene s;
  int m;
  std::vector<unsigned> a, b, sfa, sfb;
  std::vector<std::vector<uint8_t>> shared;
  std::vector<std::vector<uint32_t>> tensor; // [cta][lane * kColumns + column]
  uint32_t state = 12345;

  uint32_t random() {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
  }
  void fill() {
    auto draw = [&](const std::vector<unsigned> &from, size_t count) {
      std::vector<unsigned> out(count);
      for (unsigned &x : out)
        x = from[random() % from.size()];
      return out;
    };
    a = draw(s.a.format.tame(), size_t(m * s.k));
    b = draw(s.b.format.tame(), size_t(s.n * s.k));
    // 1 and 2 (UE8M0), or 0.5, 1, 1.5 and 2 (UE4M3).
    std::vector<unsigned> scales =
        s.ue4m3 ? std::vector<unsigned>{0x30, 0x38, 0x3C, 0x40} : std::vector<unsigned>{127, 128};
    sfa = draw(scales, size_t(m * s.k / s.block));
    sfb = draw(scales, size_t(s.n * s.k / s.block));
    shared.assign(s.group, std::vector<uint8_t>(kBytes, 0xEE));
    tensor.assign(s.group, std::vector<uint32_t>(128 * kColumns, 0));
    int rowsB = s.n / int(s.group);
    for (unsigned v = 0; v < s.group; ++v) {
      for (int r = 0; r < s.rows; ++r)
        for (int e = 0; e < s.k; ++e) {
          unsigned code = a[size_t((int(v) * s.rows + r) * s.k + e)];
          if (s.aInTmem)
            putTensor(v, r, e, code);
          else
            put(shared[v], s.a, r, e, code);
        }
      for (int r = 0; r < rowsB; ++r)
        for (int e = 0; e < s.k; ++e)
          put(shared[v], s.b, r, e, b[size_t((int(v) * rowsB + r) * s.k + e)]);
      int scalesPerRow = s.k / s.block;
      for (int i = 0; i < scalesPerRow; ++i) {
        for (int r = 0; r < s.rows; ++r)
          putScale(v, kSfa, r, s.sfaId + i, 4,
                   sfa[size_t((int(v) * s.rows + r) * scalesPerRow + i)]);
        for (int r = 0; r < s.n; ++r) {
          unsigned code = sfb[size_t(r * scalesPerRow + i)];
          if (s.rows == 128)
            putScale(v, kSfb, r, s.sfbId + i, s.n > 128 ? 8 : 4, code);
          else // each half of N in its half of the lanes
            putScale(v, kSfb, r % (s.n / 2), s.sfbId + i, 4, code, r / (s.n / 2) * 2,
                     r / (s.n / 2) * 2 + 2);
        }
      }
    }
  }
  static void setBits(uint8_t *base, uint32_t bit, unsigned width, unsigned code) {
    for (unsigned i = 0; i < width; ++i) {
      uint8_t &byte = base[(bit + i) / 8];
      uint8_t one = uint8_t(1u << ((bit + i) % 8));
      byte = uint8_t(code >> i & 1 ? byte | one : byte & ~one);
    }
  }
  /// Element e of row r. The buffer lies at a multiple of 1024.
  void put(std::vector<uint8_t> &to, const OperandPlan &p, int row, int e, unsigned code) const {
    unsigned bits = unsigned(p.format.bits());
    uint32_t r = uint32_t(row), k = uint32_t(e), w = span(p.layout);
    if (p.transposed) { // 16 rows share 16 bytes, packed below 8 bits
      for (unsigned i = 0; i < bits; ++i) {
        const uint32_t within = r % 16 * bits + i, byte = r / 16 * 16 + within / 8;
        uint32_t at = p.layout == Layout::none
                          ? p.start + byte % 16 + r / 16 * p.stride + k % 8 * 16 + k / 8 * p.leading
                          : p.start + byte % w + r / w * p.leading + k % 8 * w + k / 8 * p.stride;
        setBits(&to.at(swizzled(at, p.layout)), within % 8, 1, code >> i & 1);
      }
      return;
    }
    uint32_t bit = s.padded && bits < 8 ? k / 16 * 128 + k % 16 * bits : k * bits;
    for (unsigned i = 0; i < bits; ++i) { // an element may cross a byte
      uint32_t byte = (bit + i) / 8 + p.kOffset;
      uint32_t at = p.layout == Layout::none ? p.start + r % 8 * 16 + r / 8 * p.stride +
                                                   byte / 16 * p.leading + byte % 16
                                             : p.start + r % 8 * w + r / 8 * p.stride + byte;
      if (p.circular && byte >= 128)
        at = p.next + r % 8 * 128 + r / 8 * p.stride + byte - 128;
      setBits(&to.at(swizzled(at, p.layout)), (bit + i) % 8, 1, code >> i & 1);
    }
  }
  void putTensor(unsigned cta, int row, int e, unsigned code) {
    unsigned bits = unsigned(s.a.format.bits());
    if (s.containerBits == 8 && bits == 4)
      code <<= 2; // bits 5:2
    uint32_t bit = uint32_t(e) * s.containerBits;
    uint8_t *lane = reinterpret_cast<uint8_t *>(&tensor[cta][size_t(row) * kColumns]);
    setBits(lane, bit, s.containerBits, code);
    if (s.rows == 64 && !s.oneCopy) { // a second time in the upper lanes
      lane += size_t(64) * kColumns * 4;
      setBits(lane, bit, s.containerBits, code);
    }
  }
  void putScale(unsigned cta, uint32_t column, int row, int position, uint32_t step, unsigned code,
                int firstPart = 0, int lastPart = 4) {
    for (int part = firstPart; part < lastPart; ++part) {
      uint32_t c = column + uint32_t(row) / 32 + uint32_t(position) / 4 * step;
      size_t lane = size_t(row % 32 + 32 * part);
      setBits(reinterpret_cast<uint8_t *>(&tensor[cta][lane * kColumns + c]),
              uint32_t(position % 4 * 8), 8, code);
    }
  }

  double scaleValue(unsigned code) const {
    return s.ue4m3 ? kE4M3.value(code) : std::ldexp(1.0, int(code) - 127);
  }
  /// Elements times their scales.
  std::vector<double> scaled(const Minifloat &f, const std::vector<unsigned> &codes,
                             const std::vector<unsigned> &scales) const {
    std::vector<double> out(codes.size()), values, scaleValues(256);
    for (unsigned code = 0; code < 1u << f.bits(); ++code)
      values.push_back(f.value(code));
    for (unsigned code = 0; code < 256; ++code)
      scaleValues[code] = scaleValue(code);
    size_t k = size_t(s.k), block = size_t(s.block);
    for (size_t i = 0; i < codes.size(); ++i)
      out[i] = values[codes[i]] * scaleValues[scales[i / k * (k / block) + i % k / block]];
    return out;
  }
  std::vector<double> expected() const {
    std::vector<double> d(size_t(m * s.n)), x = scaled(s.a.format, a, sfa),
                                            y = scaled(s.b.format, b, sfb);
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < s.n; ++j) {
        double sum = s.accumulate ? initial(i % 128) : 0;
        for (int e = 0; e < s.k; ++e)
          sum += x[size_t(i * s.k + e)] * y[size_t(j * s.k + e)];
        d[size_t(i * s.n + j)] = sum;
      }
    return d;
  }
  static double initial(int lane) { return lane - 50; }

  std::string descriptor(const char *reg, const OperandPlan &p) const {
    auto low = [](uint32_t bytes) { return std::to_string(bytes >> 4); };
    uint32_t high = p.stride >> 4 | 1u << 14 | uint32_t(p.circular) << 20 |
                    uint32_t(swizzleCode(p.layout)) << 29;
    // Without a swizzle a K step of 16 bytes is one leading offset.
    uint32_t first = p.layout == Layout::none && !p.transposed
                         ? p.start + p.kOffset / 16 * p.leading
                         : p.start + p.kOffset;
    std::string lead = p.circular ? "add.u32 %r21, %r50, " + low(p.next) + ";"
                                  : "mov.u32 %r21, " + low(p.leading) + ";";
    return lead + "shl.b32 %r21, %r21, 16; add.u32 %r20, %r50, " + low(first) +
           "; or.b32 %r20, %r20, %r21; mov.b64 " + reg + ", {%r20, " + std::to_string(high) +
           "};\n";
  }

  std::string text() const {
    std::string cg = ".cta_group::" + std::to_string(s.group), body;
    auto columns = [](int from, int count) {
      std::string out = "{";
      for (int i = 0; i < count; ++i)
        out += (i ? ", %v" : "%v") + std::to_string(from + i);
      return out + "}";
    };
    // Images: shared memory, then tensor memory, of this CTA.
    body += ".reg .b32 %v<32>; mov.u32 %r30, %cluster_ctarank; mov.u32 %r31, " +
            std::to_string(kBytes + 128 * kColumns * 4) +
            "; mul.wide.u32 %rd9, %r30, %r31; add.u64 %rd9, %rd9, %in;\n"
            "mov.u32 %r0, buf; and.b32 %r50, %r0, 0xFFFFFF; shr.u32 %r50, %r50, 4;\n"
            "shl.b32 %r32, %t, 4; C: cvt.u64.u32 %rd1, %r32; add.u64 %rd1, %rd1, %rd9; "
            "ld.global.v4.u32 {%v0, %v1, %v2, %v3}, [%rd1]; add.u32 %r33, %r0, %r32; "
            "st.shared.v4.u32 [%r33], {%v0, %v1, %v2, %v3}; add.u32 %r32, %r32, 2048; "
            "setp.lt.u32 %p0, %r32, " +
            std::to_string(kBytes) + "; @%p0 bra C;\n";
    body += "setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [bar], 1; "
            "@%p1 mbarrier.init.shared.b64 [bar+8], 1; "
            "setp.ge.u32 %p2, %t, 32; @%p2 bra A; tcgen05.alloc" +
            cg +
            ".sync.aligned.shared::cta.b32 [tm], 512; A: fence.proxy.async; "
            "barrier.cluster.arrive; barrier.cluster.wait; ld.shared.b32 %r10, [tm];\n";
    body += "shr.u32 %r34, %t, 5; shl.b32 %r34, %r34, 21; add.u32 %r11, %r10, %r34; mul.wide.u32 "
            "%rd2, %t, " +
            std::to_string(kColumns * 4) + "; add.u64 %rd2, %rd2, %rd9;\n";
    for (unsigned c = 0; c < kColumns; c += 32) {
      for (unsigned i = 0; i < 32; i += 4)
        body += "ld.global.v4.u32 " + columns(int(i), 4) + ", [%rd2+" +
                std::to_string(kBytes + (c + i) * 4) + "];";
      body += "tcgen05.st.sync.aligned.32x32b.x32.b32 [%r11+" + std::to_string(c) + "], " +
              columns(0, 32) + "; tcgen05.wait::st.sync.aligned;\n";
    }
    if (s.accumulate) {
      body += "add.s32 %r35, %t, -50; cvt.rn.f32.s32 %f0, %r35; mov.b32 %v0, %f0;";
      for (int c = 0; c < s.n; ++c)
        body += "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r11+" + std::to_string(int(kD) + c) +
                "], {%v0};";
      body += "tcgen05.wait::st.sync.aligned;\n";
    }
    body += "tcgen05.fence::before_thread_sync; barrier.cluster.arrive; barrier.cluster.wait; "
            "tcgen05.fence::after_thread_sync;\n" +
            descriptor("%rd3", s.a) + descriptor("%rd4", s.b) +
            "setp.eq.u32 %p3, %r30, 0; and.pred %p3, %p3, %p1; setp.ne.u32 %p4, %r30, " +
            (s.accumulate ? "999" : "%r30") + "; mov.u32 %r36, " + std::to_string(s.idesc) +
            "; mov.u32 %r37, bar; mov.u16 %h0, 3;\n";
    body += "@%p3 tcgen05.mma" + cg + ".kind::" + s.kind + s.extra + " [%r10+" +
            std::to_string(kD) + "], " + (s.aInTmem ? "[%r10]" : "%rd3") + ", %rd4, %r36, [%r10+" +
            std::to_string(kSfa) + "], [%r10+" + std::to_string(kSfb) + "], %p4;\n";
    for (const std::string &modifiers : s.then)
      body += s.between + " @%p3 tcgen05.mma" + cg + ".kind::" + s.kind + modifiers + " [%r10+" +
              std::to_string(kD) + "], " + (s.aInTmem ? "[%r10]" : "%rd3") +
              ", %rd4, %r36, [%r10+" + std::to_string(kSfa) + "], [%r10+" + std::to_string(kSfb) +
              "], %p4;\n";
    body += s.behind;
    body += s.group == 2
                ? "@%p3 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster."
                  "multicast::cluster.b64 [%r37], %h0;\n"
                : "@%p3 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 "
                  "[%r37];\n";
    int columnsOfD = s.rows == 64 ? s.n / 2 : s.n;
    body += "W: mbarrier.try_wait.parity.shared.b64 %p5, [%r37], 0; @!%p5 bra W;\n"
            "mad.lo.u32 %r38, %r30, 128, %t; mul.wide.u32 %rd5, %r38, " +
            std::to_string(columnsOfD * 4) + "; add.u64 %rd5, %rd5, %out;\n";
    for (int c = 0; c < columnsOfD; c += 8) {
      body += "tcgen05.ld.sync.aligned.32x32b.x8.b32 " + columns(0, 8) + ", [%r11+" +
              std::to_string(int(kD) + c) +
              "]; tcgen05.wait::ld.sync.aligned; st.global.v4.u32 "
              "[%rd5+" +
              std::to_string(c * 4) + "], " + columns(0, 4) + "; st.global.v4.u32 [%rd5+" +
              std::to_string(c * 4 + 16) + "], " + columns(4, 4) + ";\n";
    }
    body += "tcgen05.fence::before_thread_sync; barrier.cluster.arrive; barrier.cluster.wait; "
            "@%p2 bra Z; tcgen05.relinquish_alloc_permit" +
            cg + ".sync.aligned; tcgen05.dealloc" + cg + ".sync.aligned.b32 %r10, 512; Z:";
    return kernel(body, s.target,
                  ".shared .align 1024 .b8 buf[" + std::to_string(kBytes) +
                      "];\n.shared .align 8 .b8 bar[16];\n.shared .align 4 .b8 tm[8];\n");
  }

  void launch(MmaResult &r) {
    Scene scene;
    scene.options = s.options;
    scene.block = {128, 1, 1};
    scene.grid = scene.cluster = {s.group, 1, 1};
    scene.outWords = size_t(m * s.n);
    scene.in.assign(s.group * (kBytes / 4 + 128 * kColumns), 0);
    for (unsigned v = 0; v < s.group; ++v) {
      uint32_t *to = scene.in.data() + v * (kBytes / 4 + 128 * kColumns);
      std::memcpy(to, shared[v].data(), kBytes);
      std::memcpy(to + kBytes / 4, tensor[v].data(), tensor[v].size() * 4);
    }
    Ran ran = test::run(text(), scene);
    r.error = ran.error;
    r.evidence = ran.stats.evidence;
    r.got.assign(size_t(m * s.n), 0);
    int columnsOfD = s.rows == 64 ? s.n / 2 : s.n;
    for (int i = 0; i < int(ran.out.size()); ++i) {
      int cta = i / columnsOfD / 128, lane = i / columnsOfD % 128, column = i % columnsOfD;
      // 64 rows of a CTA: the upper lanes hold the upper half of N.
      int row = cta * s.rows + lane % s.rows, n = column + lane / s.rows * columnsOfD;
      float f;
      std::memcpy(&f, &ran.out[size_t(i)], 4);
      r.got[size_t(row * s.n + n)] = double(f);
    }
  }
};

inline MmaResult runMma(const MmaScene &scene) { return MmaRunner(scene).run(); }

} // namespace blockscale::emu::test

#endif // BLOCKSCALE_TEST_UNIT_EMULATOR_MMASCENE_H
