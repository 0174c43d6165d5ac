//===- DependentGridsTest.cpp - grids that may overlap --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches with programmatic stream serialization behind another one: what they touch
// ahead of griddepcontrol.wait must be nothing that the earlier grid may still be at.
//
//===----------------------------------------------------------------------===//

#include "HazardScene.h"

using namespace blockscale;
using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

const std::string kWait = "griddepcontrol.wait;\n";
const std::string kLaunch = "griddepcontrol.launch_dependents;\n";
const std::string kFence = "fence.acq_rel.gpu;\n";
const std::string kPut = "st.global.u32 [%po], 7;\n";
const std::string kGet = "ld.global.u32 %r1, [%po];\n";

struct Chain {
  std::vector<std::string> grids; // bodies, marked as in HazardScene.h
  unsigned threads = 1;           // of the host
  bool dependent = true;
  bool readsBetween = false; // the host reads memory behind each launch
  HazardMode mode = HazardMode::on;
};

std::string kernelName(size_t i) {
  std::string name(1, 'k');
  return name += std::to_string(i);
}

/// Two CTAs of 64 threads each; the CTAs write 256 bytes of their own.
Ran runChain(const Chain &chain, bool isRight, const Options &timing = unchecked()) {
  std::string ptx = header("sm_100a") + ".shared .align 16 .b8 buf[1024];\n"
                                        ".shared .align 8 .b8 bar[8];\n";
  for (size_t i = 0; i < chain.grids.size(); ++i) {
    std::string body = kernel(twin(chain.grids[i], isRight));
    body = body.substr(body.find(".visible"));
    body.replace(body.find(" k("), 3, kernelName(i).insert(0, 1, ' ') + "(");
    body.insert(
        body.find("mad.wide.u32 %po"),
        "mov.u32 %r9, %ctaid.x; mad.wide.u32 %out, %r9, 256, %out; setp.eq.u32 %p6, %t, 0;\n");
    ptx += body;
  }
  keepForFuzzing(ptx);
  Ran r;
  Options o = timing;
  o.hazards.mode = chain.mode;
  o.threads = chain.threads;
  auto device = makeDevice(o);
  auto module = load(*device, ptx, "t.ptx");
  if (!module) {
    r.error = module.message();
    return r;
  }
  r.out.assign(128, 0);
  uint64_t in = *device->allocate(512), out = *device->allocate(512);
  (void)!device->write(in, r.out.data(), 512);
  (void)!device->write(out, r.out.data(), 512);
  for (size_t i = 0; i < chain.grids.size(); ++i) {
    LaunchConfig c;
    c.grid = {2, 1, 1};
    c.block = {64, 1, 1};
    c.params = {param(in), param(out)};
    c.programmaticStreamSerialization = chain.dependent && i > 0;
    auto stats = device->launch(**module, kernelName(i), c);
    if (!stats) {
      r.error = stats.message();
      return r;
    }
    r.stats = *stats;
    if (chain.readsBetween)
      (void)!device->read(out, r.out.data(), 512);
  }
  (void)!device->read(out, r.out.data(), 512);
  return r;
}

void expectGm3(const Chain &chain) {
  for (const Options &o : allTimings()) {
    Ran r = runChain(chain, /*isRight=*/false, o);
    EXPECT_NE(r.error.find("[GM3]"), std::string::npos) << r.error;
    EXPECT_NE(r.error.find("of the earlier grid k"), std::string::npos) << r.error;
  }
}
void expectQuiet(const Chain &chain) {
  for (const Options &o : allTimings()) {
    Ran r = runChain(chain, /*isRight=*/true, o);
    EXPECT_EQ(r.error, "");
    EXPECT_TRUE(r.stats.warnings.empty()) << r.stats.warnings[0];
  }
}

struct Case {
  const char *name;
  std::vector<std::string> grids;
};

std::vector<Case> cases() {
  const std::string wrongWait = "[-" + kWait + "-]", rightWait = "[+" + kWait + "+]";
  const std::string take =
      "@!%p6 bra T;\nmbarrier.init.shared::cta.b64 [bar], 1;\n"
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64; mov.u32 %r2, buf;\n"
      "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r2], [%out], 64, [bar];\n"
      "T: bar.sync 0;\nW: mbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0; @!%p3 bra W;\n";
  return {
      {"read", {kPut + kLaunch, rightWait + kGet + wrongWait}},
      {"write", {kGet + kLaunch, rightWait + kPut + wrongWait}},
      {"overwrite", {kPut + kLaunch, rightWait + "st.global.u32 [%po], 8;\n" + wrongWait}},
      // Loads ahead of the wait are no mistake by themselves.
      {"unrelated", {kPut + kLaunch, "ld.global.u32 %r1, [[-%po-][+%pi+]];\n" + kWait + kGet}},
      {"bytes", {"@%p6 " + kPut + kLaunch, "ld.global.u8 %r1, [%out+[-3-][+4+]];\n"}},
      // The exception of 9.7.15.14.
      {"fence", {kPut + "[+" + kFence + "+]" + kLaunch, kGet}},
      {"fence_scope", {kPut + "fence.acq_rel.[-cta-][+gpu+];\n" + kLaunch, kGet}},
      {"fence_read", {kGet + "[+" + kFence + "+]" + kLaunch, kPut}},
      {"fence_order", {"[+" + kPut + "+]" + kFence + kLaunch + "[-" + kPut + "-]", kGet}},
      {"fence_launch", {kPut + kLaunch + kFence + "[+" + kLaunch + "+]", kGet}},
      {"fence_barrier", {kPut + "[+bar.sync 0;\n+]@%p6 fence.acq_rel.gpu;\n@%p6 " + kLaunch, kGet}},
      {"fence_each", {kPut + kFence + "[+bar.sync 0;\n+]@%p6 " + kLaunch, kGet}},
      // What one thread waits for, others learn.
      {"barrier", {kPut + kLaunch, "@%p6 " + kWait + "[+bar.sync 0;\n+]" + kGet}},
      {"copy", {kPut + kLaunch, rightWait + take + "bar.sync 0;\n" + wrongWait}},
      {"copy_tells", {kGet + kLaunch, "[+@%p6 " + kWait + "+]" + take + kPut}},
      {"flag",
       {kPut + kLaunch,
        "@!%p6 bra P;\n[+" + kWait +
            "+]st.relaxed.gpu.global.u32 [%in], 1;\nP: ld.relaxed.gpu.global.u32 %r2, [%in];\n"
            "setp.eq.u32 %p3, %r2, 0; @%p3 bra P;\n" +
            kGet}},
      // The grid between them waits, but its dependents may start before.
      {"third", {kPut + kLaunch, "[+" + kWait + "+]" + kLaunch + kWait, kGet}},
      {"third_waits", {kPut + kLaunch, kLaunch + kWait, rightWait + kGet}},
      {"third_untriggered", {kPut + kLaunch, rightWait + "ld.global.u32 %r1, [%pi];\n", kGet}},
  };
}

class DependentGrids : public testing::TestWithParam<Case> {};
TEST_P(DependentGrids, ConflictAheadOfTheWaitIsReported) { expectGm3({GetParam().grids}); }
TEST_P(DependentGrids, RightTwinIsSilent) { expectQuiet({GetParam().grids}); }
INSTANTIATE_TEST_SUITE_P(All, DependentGrids, testing::ValuesIn(cases()),
                         [](const auto &info) { return std::string(info.param.name); });

const std::vector<std::string> kWrong{kPut + kLaunch, kGet + "st.global.u32 [%po], %r1;\n"};

TEST(DependentGrids, OrdinaryLaunchesComeOneAfterTheOther) {
  Chain chain{kWrong};
  chain.dependent = false;
  expectQuiet(chain);
}
// "If the prerequisite grid is using launch_dependents" the dependent one must wait: else not.
TEST(DependentGrids, GridThatLaunchesNoneIsOver) { expectQuiet({{kPut, kGet}}); }
TEST(DependentGrids, WhatTheHostReadsIsOver) {
  Chain chain{kWrong};
  chain.readsBetween = true;
  expectQuiet(chain);
}
TEST(DependentGrids, ResultsAreThoseOfOneAfterTheOther) {
  Chain chain{kWrong};
  chain.mode = HazardMode::off;
  Ran r = runChain(chain, true);
  EXPECT_EQ(r.error, "");
  EXPECT_EQ(r.out, std::vector<uint32_t>(128, 7));
}
TEST(DependentGrids, AtomicsOfBothGridsAreNoConflict) {
  expectQuiet({{"red.relaxed.gpu.global.add.u32 [%in], 1;\n" + kLaunch,
                "red.relaxed.gpu.global.add.u32 [%in], 1;\n" + kWait}});
}
TEST(DependentGrids, ReportNamesBothAndIsTheSameOnSeveralHostThreads) {
  Chain chain{kWrong};
  std::string first;
  for (unsigned threads : {1u, 2u, 4u}) {
    chain.threads = threads;
    Ran r = runChain(chain, false);
    if (first.empty())
      first = r.error;
    EXPECT_EQ(r.error, first);
  }
  EXPECT_NE(first.find("hazard: ld (warp 0) reads global memory bytes 0x0..0x7f of a buffer of 512 "
                       "that st at t.ptx:"),
            std::string::npos)
      << first;
  EXPECT_NE(first.find(" of the earlier grid k0 may not have written\n  missing: "
                       "griddepcontrol.wait before the access"),
            std::string::npos)
      << first;
}

TEST(DependentGrids, NeedAChipWithThem) {
  EXPECT_EQ(run(kernel("griddepcontrol.wait;\n", "sm_89")).error.substr(0, 7), "t.ptx:8");
  auto device = makeDevice(unchecked());
  auto module = load(*device, header("sm_89") + ".visible .entry k() { ret; }\n", "t.ptx");
  ASSERT_TRUE(module) << module.message();
  LaunchConfig c;
  c.programmaticStreamSerialization = true;
  auto stats = device->launch(**module, "k", c);
  ASSERT_FALSE(stats);
  EXPECT_NE(stats.message().find("launch_programmatic: programmatic stream serialization must have "
                                 "a chip with griddepcontrol, got sm_89"),
            std::string::npos)
      << stats.message();
}

} // namespace
