//===- IDescTest.cpp - words of the instruction descriptor ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Words that other compilers made, in both directions. None of the constants
// comes from our own encoder.
//
//===----------------------------------------------------------------------===//

#include "blockscale/Facts/IDesc.h"

#include <gtest/gtest.h>

using namespace blockscale::facts;

namespace {

struct Word {
  const char *source;
  Arch arch;
  IDesc desc;
  uint32_t word;
};

IDesc mxf8(Format a, Format b, int m, int n, int k, int id = 0) {
  return {.kind = MmaKind::mxf8f6f4,
          .a = a,
          .b = b,
          .scale = ScaleFormat::ue8m0,
          .block = 32,
          .m = m,
          .n = n,
          .k = k,
          .sfaId = id,
          .sfbId = id};
}
IDesc fp4(ScaleFormat scale, int block, int m, int n, int k, int id = 0) {
  return {.kind = MmaKind::mxf4nvf4,
          .a = Format::e2m1,
          .b = Format::e2m1,
          .scale = scale,
          .block = block,
          .m = m,
          .n = n,
          .k = k,
          .sfaId = id,
          .sfbId = id};
}
IDesc transposedB(IDesc desc) {
  desc.transposeB = true;
  return desc;
}

constexpr Format e4m3 = Format::e4m3, e2m1 = Format::e2m1;
constexpr ScaleFormat ue4m3 = ScaleFormat::ue4m3, ue8m0 = ScaleFormat::ue8m0,
                      ue5m3 = ScaleFormat::ue5m3;

const Word kWords[] = {
    // PTX that cutlass-dsl 4.8.1 makes from FlashInfer's and CUTLASS's kernels.
    {"cutlass-dsl", Arch::sm_100a, fp4(ue4m3, 16, 128, 128, 64), 0x08200480},
    {"cutlass-dsl", Arch::sm_100a, mxf8(e4m3, e4m3, 128, 128, 32), 0x08a00000},
    {"cutlass-dsl", Arch::sm_100a, fp4(ue8m0, 32, 128, 128, 64), 0x08a00480},
    {"cutlass-dsl", Arch::sm_100a, fp4(ue8m0, 32, 256, 256, 64), 0x10c00480},
    {"cutlass-dsl", Arch::sm_100a, fp4(ue4m3, 16, 256, 256, 64), 0x10400480},
    {"cutlass-dsl", Arch::sm_103a, fp4(ue4m3, 16, 128, 128, 96), 0x88200480},
    {"cutlass-dsl", Arch::sm_103a, fp4(ue8m0, 32, 128, 128, 96), 0x88a00480},
    {"cutlass-dsl", Arch::sm_103a, fp4(ue4m3, 16, 256, 256, 96), 0x90400480},
    {"cutlass-dsl", Arch::sm_103a, fp4(ue8m0, 32, 256, 256, 96), 0x90c00480},
    {"cutlass-dsl", Arch::sm_107a, fp4(ue4m3, 16, 128, 128, 128), 0x08200488},
    {"cutlass-dsl", Arch::sm_107a, fp4(ue4m3, 16, 256, 256, 128), 0x10400488},
    {"cutlass-dsl", Arch::sm_107a, fp4(ue8m0, 32, 128, 128, 128), 0x08a00488},
    {"cutlass-dsl", Arch::sm_107a, fp4(ue5m3, 16, 128, 128, 128), 0x09200488},
    {"cutlass-dsl", Arch::sm_107a, fp4(ue4m3, 32, 128, 128, 128), 0x08200488},
    {"cutlass-dsl", Arch::sm_107a, mxf8(e4m3, e4m3, 128, 128, 64), 0x88a00000},
    {"cutlass-dsl", Arch::sm_107a, mxf8(e4m3, e4m3, 256, 256, 64), 0x90c00000},
    {"cutlass-dsl", Arch::sm_107a, mxf8(e4m3, e2m1, 128, 128, 64), 0x88a01400},
    {"cutlass-dsl", Arch::sm_107a, mxf8(e2m1, e4m3, 128, 128, 64), 0x88a00280},
    // Triton 3.9.0; its B is MN-major. K steps add the scale ids.
    {"triton", Arch::sm_100a, transposedB(mxf8(e4m3, e4m3, 128, 128, 32)), 0x08a10000},
    {"triton", Arch::sm_103a, transposedB(mxf8(e4m3, e4m3, 128, 128, 32, 1)), 0x28a10010},
    {"triton", Arch::sm_110a, transposedB(mxf8(e4m3, e4m3, 128, 128, 32, 2)), 0x48a10020},
    {"triton", Arch::sm_100a, transposedB(mxf8(e4m3, e4m3, 128, 128, 32, 3)), 0x68a10030},
    {"triton", Arch::sm_100a, fp4(ue4m3, 16, 128, 128, 64), 0x08200480},
    {"triton", Arch::sm_100a, fp4(ue8m0, 32, 128, 128, 64), 0x08a00480},
    {"triton", Arch::sm_100a, fp4(ue8m0, 32, 128, 128, 64, 2), 0x48a004a0},
    {"triton", Arch::sm_107a, transposedB(mxf8(e4m3, e4m3, 128, 128, 64)), 0x88a10000},
    {"triton", Arch::sm_107a, transposedB(mxf8(e4m3, e4m3, 128, 128, 64, 2)), 0xc8a10020},
    {"triton", Arch::sm_107a, fp4(ue4m3, 16, 128, 128, 128), 0x08200488},
    {"triton", Arch::sm_107a, fp4(ue8m0, 32, 128, 128, 128), 0x08a00488},
    // Public case D25: the first four descriptors of an MXFP8 K tile.
    {"D25", Arch::sm_100a, mxf8(e4m3, e4m3, 128, 128, 32, 0), 0x08a00000},
    {"D25", Arch::sm_100a, mxf8(e4m3, e4m3, 128, 128, 32, 1), 0x28a00010},
    {"D25", Arch::sm_100a, mxf8(e4m3, e4m3, 128, 128, 32, 2), 0x48a00020},
    {"D25", Arch::sm_100a, mxf8(e4m3, e4m3, 128, 128, 32, 3), 0x68a00030},
    // Public case D28.
    {"D28", Arch::sm_100a, fp4(ue4m3, 16, 128, 256, 64), 0x08400480},
    {"D28", Arch::sm_103a, fp4(ue4m3, 16, 128, 256, 96), 0x88400480},
    {"D28", Arch::sm_107a, fp4(ue4m3, 16, 128, 256, 128), 0x08400488},
};

TEST(IDesc, EncodesWordsOfOtherCompilers) {
  for (const Word &row : kWords) {
    Result<uint32_t> word = encodeIDesc(row.arch, row.desc);
    ASSERT_TRUE(word) << row.source << ": " << word.message();
    EXPECT_EQ(*word, row.word) << row.source << " on " << name(row.arch);
  }
}

TEST(IDesc, DecodesWordsOfOtherCompilers) {
  for (const Word &row : kWords) {
    Result<IDesc> desc = decodeIDesc(row.arch, row.desc.kind, row.desc.block, row.word);
    ASSERT_TRUE(desc) << row.source << ": " << desc.message();
    EXPECT_TRUE(*desc == row.desc) << row.source << " on " << name(row.arch);
  }
}

} // namespace
