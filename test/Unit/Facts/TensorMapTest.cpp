//===- TensorMapTest.cpp - what the driver refuses ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Legal maps of block-scaled kernels, each rule tensor_map_c1 ... tensor_map_c10
// with its message, and the cases that were tried on an H200.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/TensorMap.h"

#include <gtest/gtest.h>

using namespace blockscale::facts;

namespace {

/// Packed FP4 operand, 384 elements a row, 178 rows, boxes of 128 bytes x 128 rows.
TensorMap operand() {
  TensorMap map;
  map.type = TmaType::u8;
  map.dims = {192, 178};
  map.strides = {192};
  map.box = {128, 128};
  map.elementStrides = {1, 1};
  map.swizzle = TmaSwizzle::b128;
  return map;
}
template <typename Change> std::string errorWith(Change change, Arch arch = Arch::sm_100a) {
  TensorMap map = operand();
  change(map);
  return checkTensorMap(arch, map).message();
}

TEST(TensorMap, LegalMaps) {
  for (Arch arch : {Arch::sm_90a, Arch::sm_100a, Arch::sm_107a, Arch::sm_120a})
    EXPECT_TRUE(checkTensorMap(arch, operand())) << checkTensorMap(arch, operand()).message();
  // Scale tiles as u16: 512 bytes, K tiles, row blocks.
  TensorMap scales;
  scales.type = TmaType::u16;
  scales.dims = {256, 6, 2};
  scales.strides = {512, 512 * 6};
  scales.box = {256, 1, 1};
  EXPECT_TRUE(checkTensorMap(Arch::sm_107a, scales));
  // NVFP4 K = 16 at pitch 16: a box wider than the row (H200).
  EXPECT_EQ(errorWith([](TensorMap &m) {
              m.dims = {8, 100};
              m.strides = {16};
              m.box = {64, 8};
            }),
            "");
  // A stride of 0 broadcasts one row (H200); less than a row is accepted.
  EXPECT_EQ(errorWith([](TensorMap &m) { m.strides = {0}; }), "");
  EXPECT_EQ(errorWith([](TensorMap &m) { m.strides = {16}; }), "");
}

TEST(TensorMap, PitchAndStores) {
  // Packed NVFP4 rows of K = 16, 48, 80 want pitches 16, 32, 48; K = 32 is direct.
  EXPECT_EQ(tmaTensorPitch(TmaType::u8, 8), 16);
  EXPECT_EQ(tmaTensorPitch(TmaType::u8, 24), 32);
  EXPECT_EQ(tmaTensorPitch(TmaType::u8, 40), 48);
  EXPECT_TRUE(isTmaPitch(TmaType::u8, 16));
  EXPECT_FALSE(isTmaPitch(TmaType::u8, 24));
  // Padded types want 32 bytes: FP4 x FP8 with K = 192 has 96.
  EXPECT_TRUE(isTmaPitch(TmaType::u4Align16, 96));
  EXPECT_FALSE(isTmaPitch(TmaType::u4Align16, 80));
  // bf16 with N = 5 and 13, u8 with N = 17, f32 with N = 5 wrote too much on an H200.
  for (int64_t rowBytes : {5 * 2, 13 * 2, 17, 1, 5 * 4})
    EXPECT_FALSE(tmaStoreIsExact(rowBytes));
  EXPECT_TRUE(tmaStoreIsExact(8 * 2));
}

TEST(TensorMap, C1Target) {
  EXPECT_EQ(errorWith([](TensorMap &) {}, Arch::sm_89),
            "tensor_map_c1: target of a tensor map must have TMA, got sm_89");
}

TEST(TensorMap, C2Rank) {
  EXPECT_EQ(errorWith([](TensorMap &m) { m.dims = {}; }),
            "tensor_map_c2: rank must be from 1 to 5, got 0");
  EXPECT_EQ(errorWith([](TensorMap &m) { m.dims.assign(6, 16); }),
            "tensor_map_c2: rank must be from 1 to 5, got 6");
  EXPECT_EQ(errorWith([](TensorMap &m) { m.strides = {}; }),
            "tensor_map_c2: number of strides must be rank - 1 = 1, got 0");
  EXPECT_EQ(errorWith([](TensorMap &m) { m.box = {128}; }),
            "tensor_map_c2: number of box sizes must be the rank 2, got 1");
  EXPECT_EQ(errorWith([](TensorMap &m) { m.elementStrides = {1}; }),
            "tensor_map_c2: number of element strides must be the rank 2, got 1");
  EXPECT_EQ(errorWith([](TensorMap &m) { m.elementStrides = {}; }), "");
}

TEST(TensorMap, C3Base) {
  EXPECT_EQ(errorWith([](TensorMap &m) { m.address = 8; }),
            "tensor_map_c3: address of a u8 tensor must be a multiple of 16 bytes, got 8");
  EXPECT_EQ(errorWith([](TensorMap &m) { m.address = 16; }), "");
}

TEST(TensorMap, C4Sizes) {
  EXPECT_EQ(errorWith([](TensorMap &m) { m.dims[1] = 0; }),
            "tensor_map_c4: size of dimension 1 must be from 1 to 2147483648, got 0");
  EXPECT_NE(errorWith([](TensorMap &m) { m.dims[1] = (uint64_t(1) << 31) + 1; }), "");
  EXPECT_EQ(errorWith([](TensorMap &m) { m.dims[1] = uint64_t(1) << 31; }), "");
}

TEST(TensorMap, C5Strides) {
  // NVFP4 K = 48 and 80 packed rows (H200 refuses both), and stride 8 of K = 16.
  for (uint64_t stride : {24, 40, 8}) {
    EXPECT_EQ(errorWith([&](TensorMap &m) { m.strides = {stride}; }),
              "tensor_map_c5: stride of dimension 1 of a u8 tensor must be a multiple of 16 bytes, "
              "got " +
                  std::to_string(stride));
  }
  EXPECT_EQ(errorWith([](TensorMap &m) { m.strides = {uint64_t(1) << 40}; }),
            "tensor_map_c5: stride of dimension 1 must be below 2^40 bytes, got 1099511627776");
}

TEST(TensorMap, C6Box) {
  EXPECT_EQ(errorWith([](TensorMap &m) { m.box = {128, 257}; }),
            "tensor_map_c6: box of dimension 1 must be from 1 to 256, got 257");
  EXPECT_EQ(errorWith([](TensorMap &m) { m.box = {120, 128}; }),
            "tensor_map_c6: row of the box must be a multiple of 16 bytes, got 120");
}

TEST(TensorMap, C7ElementStrides) {
  EXPECT_EQ(errorWith([](TensorMap &m) { m.elementStrides = {1, 9}; }),
            "tensor_map_c7: element stride of dimension 1 must be from 1 to 8, got 9");
  EXPECT_EQ(errorWith([](TensorMap &m) { m.elementStrides = {9, 1}; }), ""); // the first is ignored
}

TEST(TensorMap, C8Swizzle) {
  EXPECT_EQ(errorWith([](TensorMap &m) { m.swizzle = TmaSwizzle::b64; }),
            "tensor_map_c8: row of the box with swizzle b64 must be at most 64 bytes, got 128");
  EXPECT_EQ(
      errorWith([](TensorMap &m) { m.swizzle = TmaSwizzle::b128Atom32; }, Arch::sm_90a),
      "tensor_map_c8: swizzle on sm_90a must be one of none, b32, b64, b128, got b128_atom32");
  EXPECT_NE(errorWith([](TensorMap &m) { m.swizzle = TmaSwizzle::b128Atom64; }, Arch::sm_120a), "");
  EXPECT_EQ(errorWith([](TensorMap &m) { m.swizzle = TmaSwizzle::b128Atom32; }), "");
}

TEST(TensorMap, C9Fill) {
  EXPECT_EQ(errorWith([](TensorMap &m) { m.fill = TmaFill::nan; }),
            "tensor_map_c9: fill of a u8 tensor must be zero, got nan");
  EXPECT_EQ(errorWith([](TensorMap &m) {
              m.fill = TmaFill::nan;
              m.type = TmaType::bf16;
              m.box = {64, 128};
            }),
            "");
}

TEST(TensorMap, C10SubByteTypes) {
  auto padded = [](TensorMap &m) {
    m.type = TmaType::u4Align16;
    m.dims = {384, 178};
    m.strides = {192};
    m.box = {128, 128};
  };
  EXPECT_EQ(errorWith(padded), "");
  EXPECT_EQ(errorWith(padded, Arch::sm_90a),
            "tensor_map_c10: type on sm_90a must have whole bytes, got u4_align16");
  auto with = [&](auto change) {
    return errorWith([&](TensorMap &m) {
      padded(m);
      change(m);
    });
  };
  EXPECT_EQ(with([](TensorMap &m) { m.dims[0] = 192; }),
            "tensor_map_c4: size of dimension 0 of a u4_align16 tensor must be a multiple of 128, "
            "got 192");
  EXPECT_EQ(with([](TensorMap &m) { m.strides = {112}; }),
            "tensor_map_c5: stride of dimension 1 of a u4_align16 tensor must be a multiple of 32 "
            "bytes, got 112");
  EXPECT_EQ(with([](TensorMap &m) { m.box[0] = 64; }),
            "tensor_map_c6: box of dimension 0 of a u4_align16 tensor must be 128, got 64");
  EXPECT_EQ(with([](TensorMap &m) { m.swizzle = TmaSwizzle::b64; }),
            "tensor_map_c8: swizzle of a u4_align16 tensor must be one of none, b128, b128_atom32, "
            "b128_atom64, got b64");
  EXPECT_EQ(with([](TensorMap &m) {
              m.type = TmaType::u4Align8;
              m.box[0] = 16;
            }),
            "tensor_map_c6: box of dimension 0 of a u4_align8 tensor must be a multiple of 32, "
            "got 16");
}

} // namespace
