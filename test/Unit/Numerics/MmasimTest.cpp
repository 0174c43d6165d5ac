//===- MmasimTest.cpp - our sums against a published model ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every path gives the bits of mmasim on hostile data, and a model that is one
// bit off does not.
//
//===----------------------------------------------------------------------===//

#include "MmasimVectors.h"

#include "../../../lib/Emulator/Numerics/Model.h"
#include "Paths.h"

#include <gtest/gtest.h>

#include <bit>
#include <functional>

using namespace blockscale;
using namespace blockscale::emu;
using blockscale::test::MmasimCase;

namespace {

using Run = std::function<void(const MmaInstruction &, const MmaOperands &)>;

/// Outputs whose bits differ from the vector's.
size_t mismatches(const MmasimCase &c, const Run &run) {
  std::vector<float> d = c.accumulate ? c.c : std::vector<float>(c.d.size(), 1.0f);
  MmaInstruction instruction = c.instruction();
  for (int k = 0; k < c.k; k += c.instructionK) {
    instruction.accumulate = c.accumulate || k > 0;
    MmaOperands o{c.aRows.data() + facts::packedBytes(c.a, k),
                  c.aPitch(),
                  c.bRows.data() + facts::packedBytes(c.b, k),
                  c.bPitch(),
                  c.sfa.data() + k / c.block,
                  c.scalePitch(),
                  c.sfb.data() + k / c.block,
                  c.scalePitch(),
                  d.data(),
                  size_t(c.n)};
    run(instruction, o);
  }
  size_t different = 0;
  for (size_t i = 0; i < d.size(); ++i)
    different += std::bit_cast<uint32_t>(d[i]) != std::bit_cast<uint32_t>(c.d[i]);
  return different;
}

class Mmasim : public testing::TestWithParam<const char *> {};

TEST_P(Mmasim, EveryPathGivesItsBits) {
  size_t outputs = 0;
  for (const MmasimCase &c : test::readMmasimCases(GetParam())) {
    for (const test::NamedPath &path : test::paths())
      EXPECT_EQ(mismatches(c, [&](const auto &i, const auto &o) { path.run(i, o); }), 0u)
          << GetParam() << " " << c.dataClass << " k=" << c.k << " path " << path.name;
    outputs += c.d.size();
    EXPECT_EQ(mmaEvidence(c.instruction()), "");
  }
  EXPECT_GE(outputs, 8192u);
}

TEST_P(Mmasim, AModelOneBitOffIsNoticed) {
  size_t fewerBits = 0, moreBits = 0;
  for (const MmasimCase &c : test::readMmasimCases(GetParam())) {
    SumModel right = sumModel(c.kind);
    auto with = [](SumModel model) {
      return [model](const MmaInstruction &i, const MmaOperands &o) { mmaPlain(i, o, model); };
    };
    fewerBits += mismatches(c, with({right.fractionBits - 1, right.zeroExponent}));
    moreBits += mismatches(c, with({right.fractionBits + 1, right.zeroExponent}));
  }
  EXPECT_GT(fewerBits, 0u);
  EXPECT_GT(moreBits, 0u);
  RecordProperty("outputs_changed_by_one_bit_less", int(fewerBits));
  RecordProperty("outputs_changed_by_one_bit_more", int(moreBits));
}

/// K modes that no public model covers, against exact rationals
/// (make_extension_vectors.py).
class Extension : public testing::TestWithParam<const char *> {};

TEST_P(Extension, EveryPathGivesOneExactSumPerInstruction) {
  for (const MmasimCase &c : test::readMmasimCases(GetParam(), "mma-extension")) {
    for (const test::NamedPath &path : test::paths())
      EXPECT_EQ(mismatches(c, [&](const auto &i, const auto &o) { path.run(i, o); }), 0u)
          << GetParam() << " " << c.dataClass << " path " << path.name;
    EXPECT_EQ(mmaEvidence(c.instruction()), "no public hardware evidence");
  }
}

std::string testName(const testing::TestParamInfo<const char *> &info) {
  std::string name = info.param;
  for (char &c : name)
    if (c == '-')
      c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Files, Mmasim,
                         testing::Values("mxf8f6f4-e4m3", "mxf8f6f4-e5m2", "mxf8f6f4-e5m2-e4m3",
                                         "mxf8f6f4-e2m3-e3m2", "mxf8f6f4-e2m1-e4m3",
                                         "mxf4nvf4-ue4m3-block16", "mxf4nvf4-ue8m0-block16",
                                         "mxf4-ue8m0-block32", "kernel-nvfp4", "kernel-mxfp4",
                                         "kernel-mxfp8", "kernel-mxf4nvf4-ue8m0-16",
                                         "kernel-e2m1-e5m2", "kernel-e4m3-e3m2"),
                         testName);

INSTANTIATE_TEST_SUITE_P(
    Files, Extension,
    testing::Values("mxf4nvf4-ue4m3-block16-k96", "mxf4nvf4-ue4m3-block16-k128",
                    "mxf4nvf4-ue5m3-block16-k128", "mxf4nvf4-ue4m3-block32-k128",
                    "mxf4-ue8m0-block32-k96", "mxf4-ue8m0-block32-k128", "mxf8f6f4-e4m3-k64",
                    "mxf8f6f4-e5m2-e3m2-k64", "kernel-nvfp4", "kernel-mxfp4", "kernel-mxfp8",
                    "kernel-mxf4nvf4-ue5m3-16", "kernel-mxf4nvf4-ue4m3-32", "kernel-e2m1-e5m2"),
    testName);

} // namespace
