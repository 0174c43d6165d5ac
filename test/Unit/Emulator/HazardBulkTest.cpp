//===- HazardBulkTest.cpp - hazards of bulk copies and stores -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sources of copies from shared to shared memory, and bulk stores over one another;
// see HazardTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "HazardScene.h"

using namespace blockscale;
using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

// Each thread's own word of buf.
const std::string kWord = "shl.b32 %r11, %t, 2; add.u32 %r11, %r11, %b;\n";
const std::string kStore = "st.shared.u32 [%r11], %t;\n";
const std::string kFence = "fence.proxy.async;\n", kSync = "bar.sync 0;\n";

// 512 bytes of buf to buf + 4096.
std::string move(bool reduces) {
  return std::string("add.u32 %r10, %b, 4096; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], "
                     "512;\ncp.") +
         (reduces ? "reduce." : "") +
         "async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes" +
         (reduces ? ".add.u32" : "") + " [%r10], [%b], 512, [bar];\n";
}
// 512 bytes of buf to the output.
std::string store(bool reduces = false, const std::string &to = "%out") {
  return std::string("cp.") + (reduces ? "reduce." : "") +
         "async.bulk.global.shared::cta.bulk_group" + (reduces ? ".add.u32" : "") + " [" + to +
         "], [%b], 512; cp.async.bulk.commit_group;\n";
}
std::string drain(bool isRead = false) {
  return std::string("cp.async.bulk.wait_group") + (isRead ? ".read" : "") + " 0;\n";
}
// The others store meanwhile.
const std::string kLate = "nanosleep.u32 1; nanosleep.u32 1; nanosleep.u32 1;\n";
std::string onlyRight(const std::string &text) { return "[+" + text + "+]"; }

std::vector<HazardCase> cases() {
  using L = HazardLevel;
  std::vector<HazardCase> c;
  auto one = [&](std::string label, std::string body, L level = L::error) {
    c.push_back({std::move(label), std::move(body), Setup::shared, level});
  };
  for (bool reduces : {false, true}) {
    const std::string also = reduces ? "Reduce" : "";
    const std::string moved = elected(0, move(reduces));
    auto seen = [] { return wait(0, 0); };
    one("PX1_source" + also, kWord + kStore + onlyRight(kFence) + kSync + moved + seen());
    one("OS2_source" + also,
        kWord + kStore + kFence + onlyRight(kSync) + elected(3, kLate + move(reduces)) + seen());
    one("BK1_source" + also, kWord + moved + onlyRight(seen()) + kStore + seen());
    // A wait for another mbarrier says nothing of it.
    one("BK1_otherBarrier" + also,
        kWord + elected(0, "mbarrier.arrive.shared::cta.b64 _, [bar+8];\n" + move(reduces)) + "[-" +
            wait(1, 0) + "-]" + onlyRight(seen()) + kStore + seen() + wait(1, 0));
    one("OS1_source" + also,
        elected(0, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar+8], 256;\n"
                   "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%b], [%in], "
                   "256, [bar+8];\n" +
                       onlyRight(wait(1, 0)) + move(reduces)) +
            seen() + wait(1, 0));
  }
  one("OS3_stores", elected(0, store() + onlyRight(drain()) + store() + drain()));
  one("OS3_reduceThenStore", elected(0, store(true) + onlyRight(drain()) + store() + drain()));
  one("OS3_storeThenReduce", elected(0, store() + onlyRight(drain()) + store(true) + drain()));
  one("OS3_part", "add.u64 %rd5, %out, [-496-][+512+];\n" +
                      elected(0, store() + store(false, "%rd5") + drain()));
  one("OS3_plainStore",
      elected(0, store() + onlyRight(drain()) + "st.global.u32 [%out+16], %t;\n" + drain()));
  one("BK2_stores",
      elected(0, store() + "[-" + drain(true) + "-]" + onlyRight(drain()) + store() + drain()),
      L::warning);
  return c;
}

class CopyHazards : public testing::TestWithParam<HazardCase> {};
TEST_P(CopyHazards, WrongKernelIsReported) { expectReported(GetParam()); }
TEST_P(CopyHazards, RightTwinIsSilent) { expectSilent(GetParam()); }
INSTANTIATE_TEST_SUITE_P(All, CopyHazards, testing::ValuesIn(cases()),
                         [](const auto &info) { return info.param.label; });

// Reductions of one thread to the same bytes may come in any order.
TEST(CopyHazards, TwoReductionsAreNoConflict) {
  HazardCase c;
  c.label = "OS3";
  c.body = elected(0, store(true) + store(true) + drain());
  expectSilent(c);
}

TEST(CopyHazards, EachReportSaysWhatIsMissing) {
  HazardCase c;
  c.body = elected(0, store() + drain(true) + "ld.global.u32 %r12, [%out];\n");
  Ran r = runCase(c, /*isRight=*/false, {});
  ASSERT_EQ(r.stats.warnings.size(), 1u);
  EXPECT_NE(r.stats.warnings[0].find("missing: cp.async.bulk.wait_group without .read  [BK2]"),
            std::string::npos)
      << r.stats.warnings[0];
}

// Only a fence that stands in the text is named.
TEST(CopyHazards, NoFenceIsNamedWhereThereIsNone) {
  HazardCase c;
  c.body = kWord + "ld.shared.u32 %r12, [%r11];\n" + kSync +
           elected(0, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;\n"
                      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%b], "
                      "[%in], 256, [bar];\n") +
           wait(0, 0);
  Ran r = runCase(c, /*isRight=*/false, {});
  ASSERT_FALSE(r.stats.warnings.empty());
  for (const std::string &w : r.stats.warnings) {
    EXPECT_NE(w.find("[PX3]"), std::string::npos) << w;
    EXPECT_EQ(w.find("the fence on the way"), std::string::npos) << w;
  }
  EXPECT_EQ(r.error, "");
}

} // namespace
