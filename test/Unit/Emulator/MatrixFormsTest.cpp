//===- MatrixFormsTest.cpp - counts and spaces of ldmatrix and stmatrix ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX ISA 9.4, 9.7.14.5. Each register of a load, and each byte of a store, by plain
// arithmetic; block-scaled mma.sync with scales of one.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

const char *kVars = ".shared .align 16 .b8 buf[512];\n";

/// Byte i of buf is 7 i + i / 16; the lane's row of 16 bytes is at %r1.
const char *kFill = R"(
mov.u32 %r0, buf; shl.b32 %r1, %t, 4; add.s32 %r1, %r0, %r1; mov.u32 %r2, 0;
FILL:
shl.b32 %r3, %t, 4; add.u32 %r3, %r3, %r2; mul.lo.u32 %r4, %r3, 7; add.u32 %r4, %r4, %t;
add.u32 %r5, %r1, %r2; st.shared.u8 [%r5], %r4;
add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, 16; @%p0 bra FILL;
bar.sync 0; mov.b32 %r4, 0; mov.b32 %r5, 0; mov.b32 %r6, 0; mov.b32 %r7, 0;
)";
const char *kStoreAll = "\nmad.wide.u32 %rd0, %t, 16, %out;\n"
                        "st.global.v4.b32 [%rd0], {%r4, %r5, %r6, %r7};";

uint32_t byteAt(unsigned row, unsigned column) { return ((16 * row + column) * 7 + row) & 0xFF; }

std::string registers(unsigned n) {
  std::string s = "{";
  for (unsigned i = 0; i < n; ++i)
    s += (i ? ", %r" : "%r") + std::to_string(4 + i);
  return s + "}";
}

enum class Kind { halves, bytes, narrowRows, narrowSquare };
struct Load {
  Kind kind;
  unsigned count, bits;
  bool transposed;
  std::string space;
};
std::string formOf(const Load &c) {
  const std::string from = c.bits == 4 ? "b8x16.b4x16_p64" : "b8x16.b6x16_p32";
  return std::string("ldmatrix.sync.aligned.") +
         (c.kind == Kind::halves       ? "m8n8"
          : c.kind == Kind::narrowRows ? "m8n16"
                                       : "m16n16") +
         ".x" + std::to_string(c.count) + (c.transposed ? ".trans" : "") + c.space + "." +
         (c.kind == Kind::halves  ? "b16"
          : c.kind == Kind::bytes ? "b8"
                                  : from);
}
void PrintTo(const Load &c, std::ostream *out) { *out << formOf(c); }

std::vector<Load> loads() {
  std::vector<Load> out;
  for (const char *space : {"", ".shared", ".shared::cta"}) {
    for (unsigned count : {1u, 2u, 4u})
      for (bool transposed : {false, true})
        out.push_back({Kind::halves, count, 16, transposed, space});
    for (unsigned count : {1u, 2u})
      out.push_back({Kind::bytes, count, 8, true, space});
    for (unsigned bits : {4u, 6u}) {
      for (unsigned count : {1u, 2u, 4u})
        out.push_back({Kind::narrowRows, count, bits, false, space});
      for (unsigned count : {1u, 2u})
        out.push_back({Kind::narrowSquare, count, bits, true, space});
    }
  }
  return out;
}

/// Code k of a row of packed codes, low bits first.
uint32_t code(unsigned row, unsigned k, unsigned bits) {
  uint32_t c = 0;
  for (unsigned b = 0; b < bits; ++b)
    c |= (byteAt(row, (k * bits + b) / 8) >> ((k * bits + b) % 8) & 1) << b;
  return c;
}

class MatrixLoads : public ::testing::TestWithParam<Load> {};

TEST_P(MatrixLoads, GiveEachThreadItsElements) {
  const Load &c = GetParam();
  const bool square = c.kind == Kind::bytes || c.kind == Kind::narrowSquare;
  const unsigned n = square ? 2 * c.count : c.count;
  const std::string at = c.space.empty() ? "[%rd1]" : "[%r1]";
  Ran r = run(kernel(std::string(kFill) + "cvt.u64.u32 %rd1, %r1; cvta.shared.u64 %rd1, %rd1;\n" +
                         formOf(c) + " " + registers(n) + ", " + at + ";" + kStoreAll,
                     "sm_107a", kVars));
  ASSERT_EQ(r.error, "");
  for (unsigned t = 0; t < 32; ++t)
    for (unsigned q = 0; q < 4; ++q) {
      uint32_t want = 0;
      for (unsigned e = 0; e < 4 && q < n; ++e) {
        unsigned row, column; // in bytes, or in codes
        if (c.kind == Kind::halves) {
          // Two halves of row t / 4, or of column t / 4 when transposed.
          unsigned major = t / 4, minor = 2 * (t % 4) + e / 2;
          row = 8 * q + (c.transposed ? minor : major);
          column = 2 * (c.transposed ? major : minor) + e % 2;
        } else if (square) {
          row = 16 * (q / 2) + 4 * (t % 4) + e;
          column = t / 4 + 8 * (q % 2);
        } else {
          row = 8 * q + t / 4;
          column = 4 * (t % 4) + e;
        }
        want |= (c.bits < 8 ? code(row, column, c.bits) : byteAt(row, column)) << 8 * e;
      }
      ASSERT_EQ(r.out[4 * t + q], want) << "thread " << t << " register " << q;
    }
}
INSTANTIATE_TEST_SUITE_P(All, MatrixLoads, ::testing::ValuesIn(loads()));

struct Store {
  bool bytes;
  unsigned count;
  bool transposed;
  std::string space;
};
std::string formOf(const Store &c) {
  return std::string("stmatrix.sync.aligned.") + (c.bytes ? "m16n8" : "m8n8") + ".x" +
         std::to_string(c.count) + (c.transposed ? ".trans" : "") + c.space +
         (c.bytes ? ".b8" : ".b16");
}
void PrintTo(const Store &c, std::ostream *out) { *out << formOf(c); }

std::vector<Store> stores() {
  std::vector<Store> out;
  for (const char *space : {"", ".shared", ".shared::cta"})
    for (unsigned count : {1u, 2u, 4u}) {
      for (bool transposed : {false, true})
        out.push_back({false, count, transposed, space});
      out.push_back({true, count, true, space});
    }
  return out;
}

class MatrixStores : public ::testing::TestWithParam<Store> {};

TEST_P(MatrixStores, PutEachElementWhereLoadsTakeItFrom) {
  const Store &c = GetParam();
  // Byte e of register q of thread t: 16 q + 4 t + e + 1.
  const std::string at = c.space.empty() ? "[%rd1]" : "[%r1]";
  Ran r = run(kernel(std::string(kFill) +
                         "cvt.u64.u32 %rd1, %r1; cvta.shared.u64 %rd1, %rd1;\n"
                         "mad.lo.u32 %r4, %t, 0x04040404, 0x04030201;\n"
                         "add.u32 %r5, %r4, 0x10101010; add.u32 %r6, %r5, "
                         "0x10101010; add.u32 %r7, %r6, 0x10101010; bar.sync 0;\n" +
                         formOf(c) + " " + at + ", " + registers(c.count) +
                         ";\nbar.sync 0; ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r1];" + kStoreAll,
                     "sm_107a", kVars));
  ASSERT_EQ(r.error, "");
  std::vector<uint8_t> want(512);
  for (unsigned row = 0; row < 32; ++row)
    for (unsigned column = 0; column < 16; ++column)
      want[16 * row + column] = uint8_t(byteAt(row, column));
  for (unsigned t = 0; t < 32; ++t) {
    const uint32_t word = 0x04030201u + 0x04040404u * t;
    for (unsigned q = 0; q < c.count; ++q) {
      const uint32_t value = word + 0x10101010u * q;
      for (unsigned e = 0; e < 4; ++e) {
        unsigned row, column;
        if (c.bytes) {
          row = 8 * q + 2 * (t % 4) + e % 2;
          column = t / 4 + 8 * (e / 2);
        } else {
          unsigned major = t / 4, minor = 2 * (t % 4) + e / 2;
          row = 8 * q + (c.transposed ? minor : major);
          column = 2 * (c.transposed ? major : minor) + e % 2;
        }
        want[16 * row + column] = uint8_t(value >> 8 * e);
      }
    }
  }
  const uint8_t *got = reinterpret_cast<const uint8_t *>(r.out.data());
  for (unsigned i = 0; i < 512; ++i)
    ASSERT_EQ(got[i], want[i]) << "row " << i / 16 << " byte " << i % 16;
}
INSTANTIATE_TEST_SUITE_P(All, MatrixStores, ::testing::ValuesIn(stores()));

//===----------------------------------------------------------------------===//
// Block-scaled mma.sync
//===----------------------------------------------------------------------===//

struct Scaled {
  std::string qualifier, a, b, scale;
  int k;
  uint32_t oneA, oneB, oneScale; // codes of 1, in every byte of a register
};
void PrintTo(const Scaled &c, std::ostream *out) {
  *out << c.qualifier << "." << c.a << "." << c.b;
}

std::vector<Scaled> scaledForms() {
  struct {
    const char *name;
    uint32_t one;
  } const kTypes[] = {
      {"e4m3", 0x38}, {"e5m2", 0x3C}, {"e2m3", 0x08}, {"e3m2", 0x0C}, {"e2m1", 0x08}};
  std::vector<Scaled> out;
  for (const auto &a : kTypes)
    for (const auto &b : kTypes)
      for (const char *size : {"", ".scale_vec::1X"})
        out.push_back({std::string(".kind::mxf8f6f4.block_scale") + size, a.name, b.name, "ue8m0",
                       32, a.one * 0x01010101, b.one * 0x01010101, 0x7F7F7F7F});
  for (const char *size : {"", ".scale_vec::2X"})
    out.push_back({std::string(".kind::mxf4.block_scale") + size, "e2m1", "e2m1", "ue8m0", 64,
                   0x22222222, 0x22222222, 0x7F7F7F7F});
  out.push_back({".kind::mxf4nvf4.block_scale.scale_vec::2X", "e2m1", "e2m1", "ue8m0", 64,
                 0x22222222, 0x22222222, 0x7F7F7F7F});
  out.push_back({".kind::mxf4nvf4.block_scale.scale_vec::4X", "e2m1", "e2m1", "ue8m0", 64,
                 0x22222222, 0x22222222, 0x7F7F7F7F});
  out.push_back({".kind::mxf4nvf4.block_scale.scale_vec::4X", "e2m1", "e2m1", "ue4m3", 64,
                 0x22222222, 0x22222222, 0x38383838});
  return out;
}

class ScaledMmaSync : public ::testing::TestWithParam<Scaled> {};

TEST_P(ScaledMmaSync, OnesMakeK) {
  const Scaled &c = GetParam();
  Ran r = run(kernel(
      "mov.b32 %r0, " + std::to_string(c.oneA) + "; mov.b32 %r4, " + std::to_string(c.oneB) +
          "; mov.b32 %r6, " + std::to_string(c.oneScale) +
          "; mov.u16 %h0, 0; mov.f32 %f0, 0f3F000000;\nmma.sync.aligned.m16n8k" +
          std::to_string(c.k) + ".row.col" + c.qualifier + ".f32." + c.a + "." + c.b + ".f32." +
          c.scale +
          " {%f1,%f2,%f3,%f4}, {%r0,%r0,%r0,%r0}, {%r4,%r4}, {%f0,%f0,%f0,%f0}, %r6, {%h0, %h0}, "
          "%r6, {%h0, %h0};\nmad.wide.u32 %rd1, %t, 16, %out; st.global.v4.f32 [%rd1], "
          "{%f1,%f2,%f3,%f4};",
      "sm_120a"));
  ASSERT_EQ(r.error, "");
  for (unsigned i = 0; i < 128; ++i) {
    float f;
    std::memcpy(&f, &r.out[i], 4);
    ASSERT_EQ(f, float(c.k) + 0.5f) << "word " << i;
  }
}
INSTANTIATE_TEST_SUITE_P(All, ScaledMmaSync, ::testing::ValuesIn(scaledForms()));

} // namespace
