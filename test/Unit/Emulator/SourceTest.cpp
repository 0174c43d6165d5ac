//===- SourceTest.cpp - what the text of a module may be ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Headers, comments and strings, numbers, and member masks that name lanes which do
// not take part.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

std::string loadError(const std::string &ptx) {
  auto module = Device::create({})->load(ptx, "t.ptx");
  return module ? "" : module.message();
}

TEST(Source, BeginsWithVersionAndTarget) {
  const std::string address = ".address_size 64\n";
  EXPECT_EQ(loadError(""),
            "t.ptx:1: ptx_version: module must begin with .version, got end of file");
  EXPECT_EQ(loadError(address), "t.ptx:1: ptx_version: module must begin with .version, got "
                                ".address_size");
  EXPECT_EQ(loadError(".target sm_100a\n.version 9.4\n"),
            "t.ptx:2: ptx_version: module must begin with .version, got .target");
  EXPECT_EQ(loadError("// only this\n.version 9.4\n" + address),
            "t.ptx:3: ptx_target: .target must follow .version, got .address_size");
  EXPECT_EQ(loadError(".version 9.4\n"),
            "t.ptx:2: ptx_target: .target must follow .version, got end of file");
  EXPECT_EQ(loadError("}\n"), "t.ptx:1: ptx_version: module must begin with .version, got '}'");
  EXPECT_EQ(loadError(".version 9.4\n.target sm_100a\n"), "");
}

TEST(Source, VersionIsKnownAndKnowsTheTarget) {
  std::string unknown = loadError(".version 99.9\n.target sm_100a\n");
  EXPECT_EQ(unknown.substr(0, 47), "t.ptx:2: ptx_version_c1: .version must be one o") << unknown;
  EXPECT_EQ(unknown.substr(unknown.size() - 10), ", got 99.9");
  EXPECT_NE(loadError(".version 8.9\n.target sm_80\n"), "");
  EXPECT_EQ(loadError(".version 1.0\n.target sm_100a\n"),
            "t.ptx:3: ptx_version_c2: .version of sm_100a must be at least 8.6, got 1.0");
  EXPECT_EQ(loadError(".version 9.3\n.target sm_107a\n"),
            "t.ptx:3: ptx_version_c2: .version of sm_107a must be at least 9.4, got 9.3");
  EXPECT_EQ(loadError(".version 7.0\n.target sm_80, debug\n"), "");
  EXPECT_EQ(loadError(".version 9.4\n.target sm_103\n"),
            "t.ptx:3: arch_c1: target needs sm_103a or sm_103f, got sm_103");
}

TEST(Source, CommentsAndStringsAreClosed) {
  const std::string head = header("sm_100a");
  EXPECT_EQ(loadError(head + "\n/* never\nends"),
            "t.ptx:5: ptx_syntax: comment must end with '*/', got end of file");
  EXPECT_EQ(loadError(head + ".visible .entry k() {\n/* a */ /* b\n}\n"),
            "t.ptx:5: ptx_syntax: comment must end with '*/', got end of file");
  EXPECT_EQ(loadError(head + "/*/"),
            "t.ptx:4: ptx_syntax: comment must end with '*/', got end of file");
  EXPECT_EQ(loadError(head + ".file 1 \"abc\n.visible .entry k() { ret; }\n"),
            "t.ptx:4: ptx_syntax: string must end with '\"' on its line");
  EXPECT_EQ(loadError(head + ".pragma \"nounroll;\n"),
            "t.ptx:4: ptx_syntax: string must end with '\"' on its line");
  EXPECT_EQ(loadError(head + ".file 1 \"a\\\"b\" // it's \"\n/**/.visible .entry k() {\n"
                             ".loc 1 2 3 /* \" */\nret; }\n/* end */"),
            "");
}

TEST(Source, PragmasAskForTheirVersion) {
  auto kernel = [](const std::string &version) {
    return ".version " + version +
           "\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n.pragma "
           "\"mma_throughput\";\nret; }\n";
  };
  EXPECT_EQ(loadError(kernel("9.3")), "");
  EXPECT_EQ(loadError(kernel("9.2")),
            "t.ptx:5: ptx_version_c3: .version of .pragma \"mma_throughput\" must be at least 9.3, "
            "got 9.2");
}

struct Number {
  const char *name;
  const char *body;
  const char *message; // null: it is taken
};

const Number kNumbers[] = {
    {"MoreThan64Bits", "mov.b32 %r1, 99999999999999999999999;",
     "ptx_immediate: integer must fit 64 bits, got 99999999999999999999999"},
    {"BelowMinus2To63", "mov.b64 %rd1, -9223372036854775809;",
     "ptx_immediate: integer must fit 64 bits, got -9223372036854775809"},
    {"Bits33", "mov.b32 %r1, 0x1FFFFFFFF;",
     "ptx_immediate: immediate must fit the 32 bits of .b32, got 8589934591"},
    {"NegativeSigned", "add.s32 %r1, %r2, -2147483649;",
     "ptx_immediate: immediate must fit the 32 bits of .s32, got -2147483649"},
    {"NegativeUnsigned", "add.u32 %r1, %r2, -4294967295;",
     "ptx_immediate: immediate must fit the 32 bits of .u32, got -4294967295"},
    {"Bits17", "mov.b16 %h1, 65536;",
     "ptx_immediate: immediate must fit the 16 bits of .b16, got 65536"},
    {"Byte", "st.global.u8 [%out], 256;",
     "ptx_immediate: immediate must fit the 8 bits of .u8, got 256"},
    {"RealForInteger", "add.s32 %r1, %r2, 1.5;",
     "ptx_immediate: immediate of .s32 must be an integer, got a real"},
    {"RealBeyondFloat", "add.f32 %f1, %f2, 1e39;",
     "ptx_immediate: immediate must fit .f32, got 999999999999999939709166371603178586112.000000"},
    {"RealBeyondDouble", "mov.f64 %d1, 1e999;", "ptx_immediate: real must fit .f64, got 1e999"},
    {"Offset", "ld.global.u32 %r1, [%in+4294967296];",
     "ptx_immediate: address offset must fit 32 bits with a sign, got 4294967296"},
    {"NegativeOffset", "ld.global.u32 %r1, [%in-2147483652];",
     "ptx_immediate: address offset must fit 32 bits with a sign, got -2147483652"},
    {"SumOfOffsets", "ld.global.u32 %r1, [%in+2147483644+4];",
     "ptx_immediate: address offset must fit 32 bits with a sign, got 2147483648"},
    {"HugeOffset", "ld.global.u32 %r1, [%in+99999999999999999999];",
     "ptx_immediate: integer must fit 64 bits, got 99999999999999999999"},
    {"NegativeCount", ".reg .b32 %q<-1>;", "ptx_syntax: number must not be negative here, got -1"},
    {"NegativeBarrier", "bar.sync -1;", "bar_id: barrier must be 0..15, got -1"},
    {"Limits32", "mov.b32 %r1, 0xFFFFFFFF; add.s32 %r1, %r1, -2147483648; and.b32 %r1, %r1, -1;",
     nullptr},
    {"Limits64", "mov.b64 %rd1, 18446744073709551615; add.s64 %rd1, %rd1, -9223372036854775808;",
     nullptr},
    {"Limits16And8", "mov.b16 %h1, 65535; mov.b16 %h1, -32768; st.global.u8 [%out], 255;", nullptr},
    {"Reals", "mov.f32 %f1, 0f7F800000; mov.b32 %r1, 0f3F800000; mov.f32 %f2, 0d7FF0000000000000;",
     nullptr},
    {"Offsets",
     "ld.global.u32 %r1, [%in+-4+4]; add.s64 %rd1, %in, 2147483647; ld.global.u32 %r1, "
     "[%rd1-2147483647];",
     nullptr},
};

class Numbers : public ::testing::TestWithParam<Number> {};

TEST_P(Numbers, FitOrAreRefused) {
  const Number &c = GetParam();
  EXPECT_EQ(run(kernel(c.body)).error, c.message ? std::string("t.ptx:8: ") + c.message : "");
}

INSTANTIATE_TEST_SUITE_P(All, Numbers, ::testing::ValuesIn(kNumbers),
                         [](const auto &info) { return info.param.name; });

TEST(Source, LongWordsAreCutInMessages) {
  std::string sixty4(64, 'r');
  EXPECT_EQ(run(kernel("mov.b32 " + sixty4 + ", 0;")).error,
            "t.ptx:8: ptx_operand: destination of mov must be a register of type .b32, got " +
                sixty4);
  EXPECT_EQ(run(kernel("mov.b32 " + std::string(1000000, 'r') + ", 0;")).error,
            "t.ptx:8: ptx_operand: destination of mov must be a register of type .b32, got " +
                sixty4 + "...");
  std::string dotted = "mov";
  for (int i = 0; i < 10000; ++i)
    dotted += ".x" + std::to_string(i);
  EXPECT_LT(run(kernel(dotted + " %r1, 0;")).error.size(), 600u);
  // A long dotted word, as the ISA has them, is whole.
  const char *copy = "cq.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::"
                     "bytes";
  EXPECT_NE(run(kernel(std::string(copy) + " [%r1];")).error.find(copy), std::string::npos);
}

TEST(MemberMask, LanesThatDoNotTakePart) {
  auto error = [](const std::string &body) { return run(kernel(body)).error; };
  const std::string outside = "t.ptx:9: warp_members: member mask must name the executing lane ";
  EXPECT_EQ(error("\nelect.sync _|%p0, 0;"), outside + "0, got 0x0");
  EXPECT_EQ(error("\nshfl.sync.idx.b32 %r0, %t, 0, 31, 0xFFFF;"), outside + "16, got 0xffff");
  EXPECT_EQ(error("\nbar.warp.sync 1;"), outside + "1, got 0x1");
  const std::string absent =
      "t.ptx:9: warp_members: lanes of member mask 0xffffffff must execute the instruction, got "
      "lanes 0xfffffff8 that do not";
  for (const char *op : {"shfl.sync.idx.b32 %r0, %t, 0, 31, -1;", "elect.sync _|%p0, -1;",
                         "vote.sync.ballot.b32 %r0, %p1, -1;", "redux.sync.add.u32 %r0, %t, -1;",
                         "match.any.sync.b32 %r0, %t, -1;", "bar.warp.sync -1;"})
    EXPECT_EQ(error(std::string("setp.lt.u32 %p1, %t, 3;\n@%p1 ") + op), absent) << op;
}

TEST(MemberMask, ExitedLanesMayBeNamed) {
  Ran r = run(kernel("setp.ge.u32 %p1, %t, 3; @%p1 ret; shfl.sync.idx.b32 %r0, %t, 2, 31, -1; "
                     "st.global.u32 [%po], %r0;"));
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[0], 2u);
}

TEST(MemberMask, GroupsOfOneInstruction) {
  // Two halves meet at one instruction, each with its own mask.
  Ran r = run(kernel("setp.lt.u32 %p1, %t, 16; selp.b32 %r1, 0xFFFF, 0xFFFF0000, %p1;\n"
                     "redux.sync.add.u32 %r0, %t, %r1; elect.sync %r2|%p2, %r1;\n"
                     "shl.b32 %r2, %r2, 16; add.u32 %r0, %r0, %r2; st.global.u32 [%po], %r0;"));
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[0], 120u);                // 0 + … + 15, lane 0
  EXPECT_EQ(r.out[31], 376u + (16u << 16)); // 16 + … + 31, lane 16
}

} // namespace
