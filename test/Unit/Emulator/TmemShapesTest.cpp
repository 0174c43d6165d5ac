//===- TmemShapesTest.cpp - tcgen05.ld, st and cp in every shape ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every shape with every multiplicity, packed and not; every copy with every
// decompression, for one CTA and for a pair. Where things lie stands here as plain
// arithmetic from the manual's text (PTX ISA 9.4, 9.7.18.2.3, .8 and .9); nothing is
// asked of the product.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

const char *kVars = ".shared .align 1024 .b8 buf[8192];\n.shared .align 8 .b8 bar[16];\n"
                    ".shared .align 4 .b8 tm[8];\n";
constexpr int kColumns = 512;

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

struct Access {
  const char *shape;
  int registers; // of .x1
  int most;      // the largest multiplicity
};
const Access kShapes[] = {{"32x32b", 1, 128},
                          {"16x64b", 1, 128},
                          {"16x32bx2", 1, 128},
                          {"16x128b", 2, 64},
                          {"16x256b", 4, 32}};

struct Place {
  int lane, column;
};

/// Register r of thread t; `split` is the immediate of 16x32bx2.
Place place(const std::string &shape, int t, int r, int split) {
  if (shape == "32x32b")
    return {t, r};
  if (shape == "16x32bx2") // the upper 16 threads lie `split` columns further
    return {t % 16, t < 16 ? r : r + split};
  if (shape == "16x64b") // bit 0 of the thread is the half of the lanes, bit 1 the column
    return {t / 4 + (t % 2 ? 8 : 0), 2 * r + (t % 4 >= 2 ? 1 : 0)};
  if (shape == "16x128b") // registers in pairs: lanes 0-7, lanes 8-15
    return {t / 4 + (r % 2 ? 8 : 0), r / 2 * 4 + t % 4};
  // 16x256b, registers in fours: two columns of lanes 0-7, then of lanes 8-15.
  return {t / 4 + (r % 4 >= 2 ? 8 : 0), r / 4 * 8 + t % 4 * 2 + r % 2};
}

struct AccessCase {
  Access access;
  int num;
  bool packed;
};
void PrintTo(const AccessCase &c, std::ostream *out) {
  *out << c.access.shape << ".x" << c.num << (c.packed ? " packed" : "");
}

std::vector<AccessCase> accessCases() {
  std::vector<AccessCase> out;
  for (const Access &a : kShapes)
    for (int num = 1; num <= a.most; num *= 2)
      for (bool packed : {false, true})
        out.push_back({a, num, packed});
  return out;
}

std::string list(int n) {
  std::string s = "{";
  for (int i = 0; i < n; ++i)
    s += (i ? ", %v" : "%v") + std::to_string(i);
  return s + "}";
}

/// Columns between the halves of 16x32bx2: not the multiplicity, so that both are told apart.
int splitOf(const AccessCase &c) { return std::string(c.access.shape) == "16x32bx2" ? 96 : 0; }

/// Warp 0 has all columns; each cell holds 0x5A5A0000 + 512 lane + column.
const std::string kSetup =
    ".reg .b32 %v<128>; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tm], 512;\n"
    "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; ld.shared.b32 %r10, [tm];\n"
    "shl.b32 %r11, %t, 9; add.u32 %r11, %r11, 0x5A5A0000; mov.u32 %r12, 0;\n"
    "F: add.u32 %r13, %r11, %r12; add.u32 %r14, %r10, %r12; add.u32 %v1, %r13, 1;\n"
    "tcgen05.st.sync.aligned.32x32b.x2.b32 [%r14], {%r13, %v1}; add.u32 %r12, %r12, 2;\n"
    "setp.lt.u32 %p1, %r12, 512; @%p1 bra F; tcgen05.wait::st.sync.aligned;\n";
const std::string kEnd = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 512;\n";

uint32_t cellBefore(int lane, int column) { return 0x5A5A0000u + uint32_t(512 * lane + column); }

class TmemAccess : public ::testing::TestWithParam<AccessCase> {};

TEST_P(TmemAccess, LoadsTheCellsOfItsShape) {
  const AccessCase &c = GetParam();
  const int n = c.access.registers * c.num, split = splitOf(c);
  if (c.packed && split && 2 * (split + c.num) > kColumns)
    return;
  // Shapes of 16 lanes reach the upper half too.
  for (int lane0 : {0, 16}) {
    if (lane0 && std::string(c.access.shape) == "32x32b")
      continue;
    std::string body = kSetup + "mad.wide.u32 %rd0, %t, " + std::to_string(4 * n) + ", %out;\n" +
                       "tcgen05.ld.sync.aligned." + c.access.shape + ".x" + std::to_string(c.num) +
                       (c.packed ? ".pack::16b" : "") + ".b32 " + list(n) + ", [%r10+" +
                       std::to_string(lane0 << 16) + "]" +
                       (split ? ", " + std::to_string(split) : "") +
                       "; tcgen05.wait::ld.sync.aligned;\n";
    for (int i = 0; i < n; ++i)
      body += "st.global.u32 [%rd0+" + std::to_string(4 * i) + "], %v" + std::to_string(i) + ";";
    Scene s;
    s.options = {};
    s.outWords = size_t(32 * n);
    Ran r = run(kernel(body + "\n" + kEnd, "sm_100a", kVars), s);
    ASSERT_EQ(r.error, "");
    for (int t = 0; t < 32; ++t)
      for (int q = 0; q < n; ++q) {
        Place p = place(c.access.shape, t, q, split);
        uint32_t low = cellBefore(p.lane + lane0, 2 * p.column) & 0xFFFF,
                 high = cellBefore(p.lane + lane0, 2 * p.column + 1) & 0xFFFF;
        uint32_t want = c.packed ? low | high << 16 : cellBefore(p.lane + lane0, p.column);
        ASSERT_EQ(r.out[size_t(t * n + q)], want) << "thread " << t << " register " << q;
      }
  }
}

TEST_P(TmemAccess, StoresTheCellsOfItsShape) {
  const AccessCase &c = GetParam();
  const int n = c.access.registers * c.num, split = splitOf(c);
  if (c.packed && split && 2 * (split + c.num) > kColumns)
    return;
  // Register q of thread t: 128 t + q, and in the upper half 0x8000 more.
  auto value = [](int t, int q) {
    uint32_t id = uint32_t(128 * t + q);
    return id | (0x8000 | id) << 16;
  };
  for (int lane0 : {0, 16}) {
    if (lane0 && std::string(c.access.shape) == "32x32b")
      continue;
    std::string body =
        kSetup + "shl.b32 %r15, %t, 7; mad.lo.u32 %r15, %r15, 0x10001, 0x80000000;\n";
    for (int q = 0; q < n; ++q)
      body += "add.u32 %v" + std::to_string(q) + ", %r15, " + std::to_string(q * 0x10001) + ";";
    body += std::string("\ntcgen05.st.sync.aligned.") + c.access.shape + ".x" +
            std::to_string(c.num) + (c.packed ? ".unpack::16b" : "") + ".b32 [%r10+" +
            std::to_string(lane0 << 16) + "]" + (split ? ", " + std::to_string(split) : "") + ", " +
            list(n) + "; tcgen05.wait::st.sync.aligned;\n" +
            "mad.wide.u32 %rd0, %t, 2048, %out; mov.u32 %r12, 0;\n"
            "G: add.u32 %r14, %r10, %r12; tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r16, %r17, %r18, "
            "%r19}, [%r14]; tcgen05.wait::ld.sync.aligned;\n"
            "st.global.v4.u32 [%rd0], {%r16, %r17, %r18, %r19}; add.u64 %rd0, %rd0, 16;\n"
            "add.u32 %r12, %r12, 4; setp.lt.u32 %p1, %r12, 512; @%p1 bra G;\n";
    Scene s;
    s.options = {};
    s.outWords = 32 * kColumns;
    Ran r = run(kernel(body + kEnd, "sm_100a", kVars), s);
    ASSERT_EQ(r.error, "");
    std::vector<uint32_t> want(32 * kColumns);
    for (int lane = 0; lane < 32; ++lane)
      for (int column = 0; column < kColumns; ++column)
        want[size_t(lane * kColumns + column)] = cellBefore(lane, column);
    for (int t = 0; t < 32; ++t)
      for (int q = 0; q < n; ++q) {
        Place p = place(c.access.shape, t, q, split);
        uint32_t *row = &want[size_t((p.lane + lane0) * kColumns)], v = value(t, q);
        if (c.packed) {
          row[2 * p.column] = v & 0xFFFF;
          row[2 * p.column + 1] = v >> 16;
        } else {
          row[p.column] = v;
        }
      }
    for (size_t i = 0; i < want.size(); ++i)
      ASSERT_EQ(r.out[i], want[i]) << "lane " << i / kColumns << " column " << i % kColumns;
  }
}

INSTANTIATE_TEST_SUITE_P(All, TmemAccess, ::testing::ValuesIn(accessCases()), [](const auto &info) {
  return std::string("S") + info.param.access.shape + "X" + std::to_string(info.param.num) +
         (info.param.packed ? "Packed" : "");
});

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

struct CopyShape {
  const char *form;
  int rows, rowBytes;
  std::vector<int> (*lanes)(int row);
};
const CopyShape kCopies[] = {
    {"128x256b", 128, 32, [](int r) { return std::vector<int>{r}; }},
    {"4x256b", 4, 32, [](int r) { return std::vector<int>{32 * r}; }},
    {"128x128b", 128, 16, [](int r) { return std::vector<int>{r}; }},
    // Rows 0-31 to lanes 0-31 and 64-95, rows 32-63 to 32-63 and 96-127.
    {"64x128b.warpx2::02_13", 64, 16, [](int r) { return std::vector<int>{r, r + 64}; }},
    // Rows 0-31 to lanes 0-31 and 32-63, rows 32-63 to 64-95 and 96-127.
    {"64x128b.warpx2::01_23", 64, 16,
     [](int r) {
       int lane = r < 32 ? r : r + 32;
       return std::vector<int>{lane, lane + 32};
     }},
    {"32x128b.warpx4", 32, 16, [](int r) { return std::vector<int>{r, r + 32, r + 64, r + 96}; }},
    {"warpx4.32x128b", 32, 16, [](int r) { return std::vector<int>{r, r + 32, r + 64, r + 96}; }},
};

struct CopyCase {
  CopyShape shape;
  int bits; // of an element: 8 as it is, 4 and 6 expanded to bytes
  int group;
};
void PrintTo(const CopyCase &c, std::ostream *out) {
  *out << c.shape.form << " " << c.bits << " bits, group " << c.group;
}

std::vector<CopyCase> copyCases() {
  std::vector<CopyCase> out;
  for (const CopyShape &shape : kCopies)
    for (int bits : {8, 6, 4})
      for (int group : {1, 2})
        out.push_back({shape, bits, group});
  return out;
}

/// What lies in shared memory of a CTA.
uint8_t sourceByte(int cta, int at) { return uint8_t(at * 197 + at / 251 * 13 + cta * 101 + 7); }

class TmemCopyShape : public ::testing::TestWithParam<CopyCase> {};

TEST_P(TmemCopyShape, PutsEachByteWhereTheManualSays) {
  const CopyCase &c = GetParam();
  const std::string cg = ".cta_group::" + std::to_string(c.group);
  const char *expansion = c.bits == 8 ? "" : c.bits == 6 ? ".b8x16.b6x16_p32" : ".b8x16.b4x16_p64";
  // Cells hold 0xABABABAB before. A row is 16 bytes at 16 (row % 8) + 128 (row / 8), its second
  // half 4096 bytes further: no swizzle, leading offset 4096, stride 128.
  std::string body =
      "mov.u32 %r30, %cluster_ctarank; setp.ge.u32 %p5, %t, 32; setp.eq.u32 %p2, %t, 0;\n"
      "@%p5 bra A; tcgen05.alloc" +
      cg + ".sync.aligned.shared::cta.b32 [tm], 32; tcgen05.relinquish_alloc_permit" + cg +
      ".sync.aligned; A: bar.sync 0; ld.shared.b32 %r10, [tm];\n"
      "mov.u32 %r0, buf; mul.lo.u32 %r31, %r30, 8192; cvt.u64.u32 %rd2, %r31; add.u64 %rd2, %rd2, "
      "%in; shl.b32 %r1, %t, 2;\n"
      "G: cvt.u64.u32 %rd3, %r1; add.u64 %rd3, %rd3, %rd2; ld.global.u32 %r4, [%rd3]; add.u32 %r2, "
      "%r1, %r0; st.shared.u32 [%r2], %r4; add.u32 %r1, %r1, 512; setp.lt.u32 %p1, %r1, 8192; @%p1 "
      "bra G;\n"
      "shl.b32 %r3, %t, 16; and.b32 %r3, %r3, 0x600000; add.u32 %r4, %r10, %r3; mov.u32 %r5, "
      "0xABABABAB;\n"
      "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r4], {%r5, %r5, %r5, %r5, %r5, %r5, %r5, %r5};\n"
      "tcgen05.wait::st.sync.aligned; fence.proxy.async; tcgen05.fence::before_thread_sync;\n"
      "@%p2 mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster; bar.sync 0;\n"
      "barrier.cluster.arrive; barrier.cluster.wait; tcgen05.fence::after_thread_sync;\n"
      "and.b32 %r5, %r0, 0xFFFFFF; shr.u32 %r5, %r5, 4; add.u32 %r5, %r5, 0x01000000; mov.b64 "
      "%rd1, "
      "{%r5, 0x00004008};\n"
      "mov.u32 %r6, bar; setp.eq.u32 %p4, %r30, 0; and.pred %p4, %p4, %p2; mov.u16 %h0, 3;\n"
      "@%p4 tcgen05.cp" +
      cg + "." + c.shape.form + expansion + " [%r10], %rd1;\n@%p4 tcgen05.commit" + cg +
      ".mbarrier::arrive::one.shared::cluster" +
      (c.group == 2 ? ".multicast::cluster.b64 [%r6], %h0;\n" : ".b64 [%r6];\n") +
      "W: mbarrier.try_wait.parity.shared.b64 %p3, [%r6], 0; @!%p3 bra W;\n"
      "tcgen05.ld.sync.aligned.32x32b.x8.b32 {%r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18}, "
      "[%r4]; tcgen05.wait::ld.sync.aligned;\n"
      "mad.lo.u32 %r7, %r30, 128, %t; mad.wide.u32 %rd0, %r7, 32, %out;\n"
      "st.global.v4.u32 [%rd0], {%r11, %r12, %r13, %r14}; st.global.v4.u32 [%rd0+16], {%r15, %r16, "
      "%r17, %r18};\n"
      "tcgen05.fence::before_thread_sync; bar.sync 0; barrier.cluster.arrive; "
      "barrier.cluster.wait; @%p5 bra Z; tcgen05.dealloc" +
      cg + ".sync.aligned.b32 %r10, 32; Z:";
  Scene s;
  s.options = {};
  s.block = {128, 1, 1};
  s.grid = s.cluster = {uint32_t(c.group), 1, 1};
  s.outWords = size_t(c.group) * 128 * 8;
  s.in.assign(size_t(c.group) * 2048, 0);
  for (int cta = 0; cta < c.group; ++cta)
    for (int at = 0; at < 8192; ++at)
      reinterpret_cast<uint8_t *>(s.in.data())[cta * 8192 + at] = sourceByte(cta, at);
  Ran r = run(kernel(body, "sm_100a", kVars), s);
  ASSERT_EQ(r.error, "");
  for (int cta = 0; cta < c.group; ++cta) {
    std::vector<uint8_t> want(128 * 32, 0xAB);
    for (int row = 0; row < c.shape.rows; ++row)
      for (int byte = 0; byte < c.shape.rowBytes; ++byte) {
        const int unit = row % 8 * 16 + row / 8 * 128 + byte / 16 * 4096;
        unsigned code = 0;
        if (c.bits == 8)
          code = sourceByte(cta, unit + byte % 16);
        else // bit i of element e is bit e * bits + i of the unit
          for (int i = 0; i < c.bits; ++i) {
            int bit = byte % 16 * c.bits + i;
            code |= unsigned(sourceByte(cta, unit + bit / 8) >> (bit % 8) & 1) << i;
          }
        if (c.bits == 4) // E2M1 lies in bits 5:2 of its byte
          code <<= 2;
        for (int lane : c.shape.lanes(row))
          want[size_t(lane * 32 + byte)] = uint8_t(code);
      }
    const uint8_t *got = reinterpret_cast<const uint8_t *>(r.out.data()) + cta * 128 * 32;
    for (int i = 0; i < 128 * 32; ++i)
      ASSERT_EQ(got[i], want[size_t(i)])
          << "cta " << cta << " lane " << i / 32 << " column " << i % 32 / 4 << " byte " << i % 4;
  }
}

INSTANTIATE_TEST_SUITE_P(All, TmemCopyShape, ::testing::ValuesIn(copyCases()));

} // namespace
