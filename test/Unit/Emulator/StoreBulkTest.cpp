//===- StoreBulkTest.cpp - st.bulk ----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HazardScene.h"

using namespace blockscale;
using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

const char *const kBuffer = ".shared .align 16 .b8 buf[128];\n";

/// Each of 32 threads stores 1 + its number, then thread 0 executes `text` with buf at %r1 and,
/// as a generic address, at %rd1; 16 stands in %r2 and %rd2.
std::string scene(const std::string &text, const std::string &target = "sm_100a") {
  return kernel("mov.u32 %r1, buf; cvta.shared.u64 %rd1, buf; mov.u32 %r2, 16; mov.u64 %rd2, 16;\n"
                "shl.b32 %r3, %t, 2; add.u32 %r3, %r3, %r1; add.u32 %r4, %t, 1;\n"
                "st.shared.u32 [%r3], %r4; bar.sync 0; setp.ne.u32 %p1, %t, 0; @%p1 bra D;\n" +
                    text + "\nD: bar.sync 0; ld.shared.u32 %r4, [%r3]; st.global.u32 [%po], %r4;",
                target, kBuffer);
}

class StoreBulk : public ::testing::TestWithParam<const char *> {};
TEST_P(StoreBulk, FillsWithZeros) {
  Ran r = run(scene(GetParam()));
  ASSERT_EQ(r.error, "");
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(r.out[i], i >= 2 && i < 6 ? 0 : i + 1) << i;
}
INSTANTIATE_TEST_SUITE_P(All, StoreBulk,
                         ::testing::Values("st.bulk.weak.shared::cta [%r1+8], 16, 0;",
                                           "st.bulk.shared::cta [%r1+8], %rd2, 0;",
                                           "st.bulk.shared::cta [%r1+8], %r2, 0;",
                                           "st.bulk.weak [%rd1+8], %r2, 0;",
                                           "st.bulk [%rd1+8], 16, 0;"));

TEST(StoreBulkRefusals, SayWhy) {
  auto message = [](const std::string &text, const std::string &target = "sm_100a") {
    std::string error = run(scene(text, target)).error;
    return error.substr(error.find(": ") + 2);
  };
  EXPECT_EQ(message("st.bulk.weak.shared::cta [%r1], 16, 0;", "sm_90a"),
            "ptx_target: st.bulk.weak.shared::cta must have a target with store_bulk, got sm_90a");
  EXPECT_EQ(message("st.bulk.weak.shared::cta [%r1], 16, 1;"),
            "ptx_immediate: value of st.bulk must be 0, got 1");
  EXPECT_EQ(message("st.bulk.weak.shared::cta [%r1], 12, 0;"),
            "bulk_size: size of st.bulk must be a multiple of 8 up to 16777216, got 12");
  EXPECT_EQ(message("mov.u32 %r2, 16777224; st.bulk.weak.shared::cta [%r1], %r2, 0;"),
            "bulk_size: size of st.bulk must be a multiple of 8 up to 16777216, got 16777224");
  EXPECT_NE(message("st.bulk [%out], 16, 0;")
                .find("mem_shared: st.bulk must write shared memory, got generic address 0x1000"),
            std::string::npos);
  EXPECT_NE(
      message("st.bulk.shared::cta [%r1+120], 16, 0;").find("mem_shared: shared access of 16"),
      std::string::npos);
  std::string old = scene("st.bulk.shared::cta [%r1], %r2, 0;");
  old.replace(old.find("9.4"), 3, "8.8");
  EXPECT_NE(run(old).error.find("ptx_version: a 32-bit size of st.bulk must have .version 9.0"),
            std::string::npos);
}

const std::string kFill = "st.shared.u32 [%b], 1; st.bulk.weak.shared::cta [%b], 64, 0;\n";
std::vector<HazardCase> cases() {
  return {
      {"OS2_bulk",
       elected(0, kFill) + "[+bar.sync 0;\n+]" + elected(1, "ld.shared.u32 %r1, [%b+60];\n")},
      {"OS2_bulkEnd", elected(0, kFill) + elected(1, "ld.shared.u32 %r1, [%b+[-60-][+64+]];\n")},
      {"PX1_bulk",
       elected(0, kFill + "[+fence.proxy.async;\n+]cp.async.bulk.global.shared::cta.bulk_group "
                          "[%out], [%b], 64; cp.async.bulk.commit_group; "
                          "cp.async.bulk.wait_group.read 0;\n")},
  };
}
class StoreBulkHazards : public testing::TestWithParam<HazardCase> {};
TEST_P(StoreBulkHazards, WrongKernelIsReported) { expectReported(GetParam()); }
TEST_P(StoreBulkHazards, RightTwinIsSilent) { expectSilent(GetParam()); }
INSTANTIATE_TEST_SUITE_P(All, StoreBulkHazards, testing::ValuesIn(cases()),
                         [](const auto &info) { return info.param.label; });

} // namespace
