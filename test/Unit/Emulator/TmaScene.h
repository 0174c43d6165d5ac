//===- TmaScene.h - a copy through a tensor map, byte for byte ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs one copy between a tensor and a buffer in shared memory and gives both back.
// The walk over a box and the swizzles stand here a second time, from the manual's
// text: the tests never ask the product where a byte lies.
//
//===----------------------------------------------------------------------===//

#ifndef BLOCKSCALE_TEST_UNIT_EMULATOR_TMASCENE_H
#define BLOCKSCALE_TEST_UNIT_EMULATOR_TMASCENE_H

#include "Harness.h"

namespace blockscale::emu::test {

using facts::TmaSwizzle;
using facts::TmaType;

inline const char *kTmaVars = ".shared .align 1024 .b8 buf[8192];\n.shared .align 8 .b8 bar[16];\n"
                              ".shared .align 128 .b8 map[128];\n";
inline constexpr uint32_t kBuffer = 8192, kTensor = 16384; // bytes
inline constexpr uint8_t kOld = 0x5A;

inline uint32_t swizzled(uint32_t a, TmaSwizzle s) {
  switch (s) {
  case TmaSwizzle::none:
    return a;
  case TmaSwizzle::b32:
    return a ^ ((a >> 7 & 1) << 4);
  case TmaSwizzle::b64:
    return a ^ ((a >> 7 & 3) << 4);
  case TmaSwizzle::b128:
    return a ^ ((a >> 7 & 7) << 4);
  case TmaSwizzle::b128Atom32:
    return a ^ ((a >> 7 & 3) << 5);
  case TmaSwizzle::b128Atom32Flip8:
    return (a ^ ((a >> 7 & 3) << 5)) ^ ((a >> 7 & 1) << 3);
  case TmaSwizzle::b128Atom64:
    return a ^ ((a >> 7 & 1) << 6);
  }
  return a;
}
inline uint32_t spanOf(TmaSwizzle s) {
  return s == TmaSwizzle::none ? 0 : s == TmaSwizzle::b32 ? 32 : s == TmaSwizzle::b64 ? 64 : 128;
}

struct BoxCase {
  const char *name;
  TmaType type;
  unsigned bytes; // of an element
  std::vector<uint64_t> dims, strides;
  std::vector<uint32_t> box, elementStrides;
  std::vector<int64_t> start;
  TmaSwizzle swizzle = TmaSwizzle::none;
  uint32_t offset = 0; // of the destination
  std::vector<uint8_t> nan = {};
};

inline uint8_t tensorByte(uint64_t at) { return uint8_t(at * 37 + (at >> 8) * 11 + 1); }

inline facts::TensorMap mapOf(const BoxCase &c, uint64_t address) {
  facts::TensorMap m;
  m.type = c.type;
  m.address = address;
  m.dims = c.dims;
  m.strides = c.strides;
  m.box = c.box;
  m.elementStrides = c.elementStrides;
  m.swizzle = c.swizzle;
  m.fill = c.nan.empty() ? facts::TmaFill::zero : facts::TmaFill::nan;
  return m;
}

/// Calls fn(offset in the tensor or -1, bytes from the box's start in row order) for each
/// element.
template <class Fn> void walk(const BoxCase &c, Fn fn) {
  size_t rank = c.dims.size();
  std::vector<uint32_t> counts(5, 1), i(5, 0);
  for (size_t d = 0; d < rank; ++d) {
    uint32_t step = d && !c.elementStrides.empty() ? c.elementStrides[d] : 1;
    counts[d] = (c.box[d] + step - 1) / step;
  }
  uint32_t rowBytes = counts[0] * c.bytes, pitch = spanOf(c.swizzle) ? spanOf(c.swizzle) : rowBytes;
  uint32_t row = 0;
  for (i[4] = 0; i[4] < counts[4]; ++i[4])
    for (i[3] = 0; i[3] < counts[3]; ++i[3])
      for (i[2] = 0; i[2] < counts[2]; ++i[2])
        for (i[1] = 0; i[1] < counts[1]; ++i[1], ++row)
          for (i[0] = 0; i[0] < counts[0]; ++i[0]) {
            int64_t at = 0;
            for (size_t d = 0; d < rank && at >= 0; ++d) {
              uint32_t step = d && !c.elementStrides.empty() ? c.elementStrides[d] : 1;
              int64_t x = c.start[d] + int64_t(i[d]) * step;
              if (x < 0 || x >= int64_t(c.dims[d]))
                at = -1;
              else
                at += x * int64_t(d ? c.strides[d - 1] : c.bytes);
            }
            fn(at, swizzled(c.offset + row * pitch + i[0] * c.bytes, c.swizzle));
          }
}

/// `issue` is the copy; %r0 is the buffer, %r1 the barrier, %p0 thread 0. Dumps the buffer
/// to `out`, whose second half is the tensor.
inline std::string body(const std::string &issue) {
  return "mov.u32 %r0, buf; mov.u32 %r1, bar; setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared."
         "b64 [%r1], 1;\n"
         "add.u64 %rd8, %in, 128; shl.b32 %r2, %t, 2; I: add.u32 %r3, %r0, %r2; cvt.u64.u32 %rd1, "
         "%r2; add.u64 %rd1, %rd1, %rd8; ld.global.u32 %r4, [%rd1]; st.shared.u32 [%r3], %r4; "
         "add.u32 %r2, %r2, 128; setp.lt.u32 %p1, %r2, " +
         std::to_string(kBuffer) + "; @%p1 bra I;\nfence.proxy.async; bar.sync 0;\n" + issue +
         "\nbar.sync 0; shl.b32 %r2, %t, 2; D: add.u32 %r3, %r0, %r2; cvt.u64.u32 %rd1, %r2; "
         "add.u64 %rd1, %rd1, %out; ld.shared.u32 %r4, [%r3]; st.global.u32 [%rd1], %r4; add.u32 "
         "%r2, %r2, 128; setp.lt.u32 %p1, %r2, " +
         std::to_string(kBuffer) + "; @%p1 bra D;";
}
inline const std::string kWait =
    "W: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0; @!%p2 bra W;\n";
inline const std::string kWaitStore = "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n";

inline std::string coordinates(const std::vector<int64_t> &start) {
  std::string s = "{";
  for (int64_t x : start)
    s += (s.size() > 1 ? ", " : "") + std::to_string(x);
  return s + "}";
}
inline std::string expect(uint64_t bytes) {
  return "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], " + std::to_string(bytes) + ";\n";
}
inline std::string loadForm(size_t rank, const std::string &mode = "tile") {
  return "@%p0 cp.async.bulk.tensor." + std::to_string(rank) + "d.shared::cta.global." + mode +
         ".mbarrier::complete_tx::bytes ";
}

struct Images {
  std::string error;
  std::vector<uint8_t> buffer, tensor;
};
/// `bufferByte` is what the buffer holds before.
template <class Byte>
Images runCopy(const std::string &issue, const std::function<facts::TensorMap(uint64_t)> &map,
               Byte bufferByte, const std::string &target = "sm_100a",
               const Options &o = unchecked()) {
  Scene s;
  s.options = o;
  s.outWords = (kBuffer + kTensor) / 4;
  s.in.assign(32 + kBuffer / 4, 0);
  s.fill = [&](uint64_t, uint64_t out, std::vector<uint32_t> &words) {
    auto bytes = encodeTensorMap(target == "sm_100a"   ? facts::Arch::sm_100a
                                 : target == "sm_103a" ? facts::Arch::sm_103a
                                                       : facts::Arch::sm_107a,
                                 map(out + kBuffer));
    ASSERT_TRUE(bool(bytes)) << bytes.message();
    std::memcpy(words.data(), bytes->data(), 128);
    uint8_t *p = reinterpret_cast<uint8_t *>(words.data()) + 128;
    for (uint32_t i = 0; i < kBuffer; ++i)
      p[i] = bufferByte(i);
  };
  s.outFill = [](uint8_t *out) {
    for (uint32_t i = 0; i < kTensor; ++i)
      out[kBuffer + i] = tensorByte(i);
  };
  Ran r = run(kernel(body(issue), target, kTmaVars), s);
  Images images;
  images.error = r.error;
  if (r.out.empty())
    return images; // refused at load
  const uint8_t *p = reinterpret_cast<const uint8_t *>(r.out.data());
  images.buffer.assign(p, p + kBuffer);
  images.tensor.assign(p + kBuffer, p + kBuffer + kTensor);
  return images;
}
inline uint8_t old(uint32_t) { return kOld; }

inline void expectSame(const std::vector<uint8_t> &got, const std::vector<uint8_t> &expected) {
  ASSERT_EQ(got.size(), expected.size());
  size_t wrong = 0;
  for (size_t i = 0; i < got.size() && wrong < 3; ++i)
    if (got[i] != expected[i]) {
      ++wrong;
      ADD_FAILURE() << "byte " << i << ": got " << int(got[i]) << ", expected " << int(expected[i]);
    }
}

} // namespace blockscale::emu::test

#endif // BLOCKSCALE_TEST_UNIT_EMULATOR_TMASCENE_H
