//===- SchedulerTest.cpp - clusters side by side --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels whose clusters wait for each other through global memory run when all of
// them are resident and are reported when not. How many are resident is counted by
// hand from the limits of the chips.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include <set>

using namespace blockscale;
using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

std::string afterLine(const std::string &error) {
  size_t at = error.find(": ");
  return at == std::string::npos ? error : error.substr(at + 2);
}

/// Every block adds 1 to a counter and waits until all have: a barrier of the grid.
std::string gridBarrier(const std::string &directives = "", const std::string &before = "",
                        const std::string &after = "") {
  std::string text = kernel(
      "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; setp.ne.u32 %p1, %t, 0;\n" + before +
          "@%p1 bra W; red.release.gpu.global.add.u32 [%out], 1;\n"
          "L: ld.acquire.gpu.global.u32 %r3, [%out]; setp.lt.u32 %p0, %r3, %r2; @%p0 bra L;\n"
          "W: bar.sync 0; @%p1 bra E; ld.relaxed.gpu.global.u32 %r3, [%out]; cvt.u64.u32 %rd0, "
          "%r1; shl.b64 %rd0, %rd0, 2; add.u64 %rd0, %rd0, %out; st.global.u32 [%rd0+4], %r3; E:" +
          after,
      "sm_100a", ".shared .align 4 .b8 tm[8];\n");
  size_t body = text.find(") {");
  return text.insert(body + 1, " " + directives + " ");
}

Scene barrierScene(uint32_t blocks) {
  Scene s;
  s.grid = {blocks, 1, 1};
  s.outWords = 512;
  s.fill = nullptr;
  return s;
}

/// The counter starts at zero: a first kernel clears it.
Ran runBarrier(const std::string &ptx, Scene s, unsigned registers = 0) {
  Ran r;
  auto device = makeDevice(s.options);
  auto module = load(*device, ptx, "t.ptx");
  if (!module) {
    r.error = module.message();
    return r;
  }
  uint64_t out = *device->allocate(s.outWords * 4);
  r.out.assign(s.outWords, 0);
  EXPECT_TRUE(bool(device->write(out, r.out.data(), r.out.size() * 4)));
  LaunchConfig c;
  c.grid = s.grid;
  c.block = s.block;
  c.cluster = s.cluster;
  c.sharedBytes = s.shared;
  c.registers = registers;
  c.params = {param(out), param(out)};
  auto stats = device->launch(**module, "k", c);
  if (!stats)
    r.error = stats.message();
  EXPECT_TRUE(bool(device->read(out, r.out.data(), r.out.size() * 4)));
  return r;
}

TEST(Residency, ABarrierOfTheGridRunsWhenAllAreResident) {
  for (const Options &o : allTimings())
    for (unsigned threads : {1u, 3u}) {
      Scene s = barrierScene(20);
      s.options = o;
      s.options.threads = threads;
      Ran r = runBarrier(gridBarrier(), s);
      ASSERT_EQ(r.error, "");
      for (int i = 1; i <= 20; ++i)
        EXPECT_EQ(r.out[size_t(i)], 20u);
    }
}

TEST(Residency, ABarrierOfMoreThanAreResidentIsReported) {
  for (const Options &o : allTimings())
    for (unsigned threads : {1u, 3u}) {
      Scene s = barrierScene(20);
      s.options = o;
      s.options.threads = threads;
      s.options.residentClusters = 19;
      std::string error = afterLine(runBarrier(gridBarrier(), s).error);
      EXPECT_EQ(error.substr(0, 60),
                "livelock: every warp polls and nothing is in flight; cta " + error.substr(57, 3));
      EXPECT_NE(error.find("; 18 more resident clusters wait too; further clusters cannot start, "
                           "19 of 20 are resident"),
                std::string::npos)
          << error;
    }
}

struct Limit {
  const char *name, *directives, *before, *after;
  Dim3 block, cluster;
  uint64_t shared;
  unsigned sms;
  uint32_t most; // CTAs that are resident at once
  unsigned registers = 0;
};

class Occupancy : public ::testing::TestWithParam<Limit> {};

TEST_P(Occupancy, IsWhatTheChipHolds) {
  const Limit &l = GetParam();
  std::string ptx = gridBarrier(l.directives, l.before, l.after);
  Scene s = barrierScene(l.most);
  s.block = l.block;
  s.cluster = l.cluster;
  s.shared = l.shared;
  s.options.sms = l.sms;
  EXPECT_EQ(runBarrier(ptx, s, l.registers).error, "");
  s.grid.x += l.cluster.x;
  EXPECT_EQ(afterLine(runBarrier(ptx, s, l.registers).error).substr(0, 8), "livelock");
}

const char *kAlloc256 = "setp.ge.u32 %p5, %t, 32; @%p5 bra A; tcgen05.alloc.cta_group::1.sync."
                        "aligned.shared::cta.b32 [tm], 256; A: bar.sync 0;";
const char *kFree256 = "\nbar.sync 0; @%p5 bra Z; ld.shared.b32 %r10, [tm]; "
                       "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 256; Z:";
// sm_100a: 32 blocks, 2048 threads, 65536 registers, 228 KiB (1 of it for each block) and
// 512 columns an SM; B200 has 148 SMs in 8 GPCs.
const Limit kLimits[] = {
    {"Blocks", "", "", "", {32, 1, 1}, {1, 1, 1}, 0, 2, 64},
    {"Threads", "", "", "", {512, 1, 1}, {1, 1, 1}, 0, 3, 12},
    {"Registers", ".maxntid 512 .maxnreg 64", "", "", {512, 1, 1}, {1, 1, 1}, 0, 3, 6},
    // A warp takes whole units of 256: 104 registers a thread.
    {"RegistersInUnits", ".maxntid 128 .maxnreg 100", "", "", {128, 1, 1}, {1, 1, 1}, 0, 2, 8},
    {"RegistersOfTheLaunch", "", "", "", {512, 1, 1}, {1, 1, 1}, 0, 3, 6, 64},
    {"FewerThanMaxnreg", ".maxntid 512 .maxnreg 64", "", "", {512, 1, 1}, {1, 1, 1}, 0, 3, 9, 40},
    {"RegistersArePromised",
     ".maxntid 128 .minnctapersm 2",
     "",
     "",
     {128, 1, 1},
     {1, 1, 1},
     0,
     2,
     32},
    {"Shared", "", "", "", {32, 1, 1}, {1, 1, 1}, 75 * 1024 - 16, 2, 6},
    {"SharedOneMoreByte", "", "", "", {32, 1, 1}, {1, 1, 1}, 75 * 1024 - 15, 2, 4},
    {"TensorMemory", "", kAlloc256, kFree256, {32, 1, 1}, {1, 1, 1}, 0, 2, 4},
    {"Chip", "", "", "", {32, 1, 1}, {1, 1, 1}, 227 * 1024 - 16, 0, 148},
    {"GpcsHoldWholeClusters", "", "", "", {32, 1, 1}, {4, 1, 1}, 227 * 1024 - 16, 0, 128},
};
INSTANTIATE_TEST_SUITE_P(All, Occupancy, ::testing::ValuesIn(kLimits),
                         [](const auto &info) { return std::string(info.param.name); });

TEST(Residency, RegistersThatCannotBe) {
  auto error = [](const char *directives, unsigned threads, unsigned registers) {
    Scene s = barrierScene(1);
    s.block.x = threads;
    return afterLine(runBarrier(gridBarrier(directives), s, registers).error);
  };
  EXPECT_EQ(error("", 32, 255), "");
  EXPECT_EQ(error("", 32, 256),
            "launch_registers: registers of a thread must be 1 to 255, got 256");
  EXPECT_EQ(error(".maxntid 64 .maxnreg 40", 32, 41),
            "launch_registers: registers of a thread must be at most the 40 of .maxnreg, got 41");
  EXPECT_EQ(error("", 1024, 64), "");
  EXPECT_EQ(error("", 1024, 65),
            "launch_registers: registers of a block must be at most 65536, got 73728 of 32 warps "
            "with 65 each thread");
}

TEST(Residency, ClustersThatTalkRunInOneSeededOrder) {
  // Each block takes a ticket: who gets which is the order.
  std::string ptx = kernel("mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %t, 0; @%p1 bra E; "
                           "atom.global.add.u32 %r3, [%out], 1; cvt.u64.u32 %rd0, %r1; shl.b64 "
                           "%rd0, %rd0, 2; add.u64 %rd0, %rd0, %out; st.global.u32 [%rd0+4], %r3; "
                           "E:");
  std::set<std::vector<uint32_t>> orders;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    std::vector<uint32_t> first;
    for (unsigned threads : {1u, 2u, 5u}) {
      Scene s = barrierScene(16);
      s.options.seed = seed;
      s.options.threads = threads;
      Ran r = runBarrier(ptx, s);
      ASSERT_EQ(r.error, "");
      if (threads == 1)
        first = r.out;
      EXPECT_EQ(r.out, first);
    }
    EXPECT_EQ(std::set<uint32_t>(first.begin() + 1, first.begin() + 17).size(), 16u);
    orders.insert(first);
  }
  EXPECT_GE(orders.size(), 4u);
}

TEST(Residency, AFailureOfAClusterIsNotHiddenByThoseThatWaitForIt) {
  for (unsigned threads : {1u, 3u}) {
    Scene s = barrierScene(4);
    s.options.threads = threads;
    Ran r =
        runBarrier(gridBarrier("", "setp.eq.u32 %p2, %r1, 3; @%p2 ld.global.u32 %r3, [4];\n"), s);
    EXPECT_EQ(afterLine(r.error).substr(0, 10), "mem_global") << r.error;
  }
}

TEST(Residency, TooManyAreRefused) {
  Scene s = barrierScene(2);
  s.options.residentClusters = 4097;
  EXPECT_EQ(afterLine(runBarrier(gridBarrier(), s).error),
            "launch_resident: resident clusters must be at most 4096, got 4097");
}

//===----------------------------------------------------------------------===//
// Preferred and fallback clusters
//===----------------------------------------------------------------------===//

/// Each CTA stores {cluster's CTAs, rank, cluster id, number of clusters} at its x.
std::vector<uint32_t> runPreferred(const LaunchConfig &shape, const Options &options,
                                   std::string &error) {
  auto device = makeDevice(options);
  auto module = load(
      *device,
      kernel("mov.u32 %r0, %ctaid.x; mov.u32 %r1, %cluster_nctarank; mov.u32 %r2, "
             "%cluster_ctarank; mov.u32 %r3, %clusterid.x; mov.u32 %r4, %nclusterid.x; shl.b32 "
             "%r5, %r0, 4; cvt.u64.u32 %rd0, %r5; add.u64 %rd0, %rd0, %out; st.global.v4.u32 "
             "[%rd0], {%r1, %r2, %r3, %r4}; barrier.cluster.arrive; barrier.cluster.wait;"),
      "t.ptx");
  EXPECT_TRUE(bool(module));
  std::vector<uint32_t> out(shape.grid.x * 4, 0);
  uint64_t a = *device->allocate(out.size() * 4);
  LaunchConfig c = shape;
  c.block = {32, 1, 1};
  c.params = {param(a), param(a)};
  auto stats = device->launch(**module, "k", c);
  error = stats ? "" : stats.message();
  EXPECT_TRUE(bool(device->read(a, out.data(), out.size() * 4)));
  return out;
}

TEST(PreferredClusters, SomeGetOneSizeAndTheOthersTheOther) {
  LaunchConfig c;
  c.grid = {16, 1, 1};
  c.cluster = {2, 1, 1};
  c.preferredCluster = {4, 1, 1};
  std::string error;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Options o;
    o.seed = seed;
    std::vector<uint32_t> out = runPreferred(c, o, error);
    ASSERT_EQ(error, "");
    for (uint32_t x = 0; x < 16; ++x) {
      // Tiles of 4 CTAs: whole ones alternate with those split in two.
      uint32_t size = (x / 4 + seed) % 2 == 0 ? 4 : 2;
      EXPECT_EQ(out[x * 4], size) << x;
      EXPECT_EQ(out[x * 4 + 1], x % size) << x;
      EXPECT_EQ(out[x * 4 + 2], x / size) << x;
      EXPECT_EQ(out[x * 4 + 3], 16 / size) << x;
    }
  }
}

TEST(PreferredClusters, OneSizeOnlyOnDemand) {
  LaunchConfig c;
  c.grid = {8, 1, 1};
  c.preferredCluster = {4, 1, 1};
  std::string error;
  for (auto [choice, size] :
       {std::pair{ClusterChoice::preferred, 4u}, std::pair{ClusterChoice::fallback, 1u}}) {
    Options o;
    o.clusterChoice = choice;
    std::vector<uint32_t> out = runPreferred(c, o, error);
    ASSERT_EQ(error, "");
    for (uint32_t x = 0; x < 8; ++x)
      EXPECT_EQ(out[x * 4], size);
  }
}

TEST(PreferredClusters, Refusals) {
  LaunchConfig c;
  std::string error;
  c.grid = {12, 1, 1};
  c.cluster = {2, 1, 1};
  c.preferredCluster = {3, 1, 1};
  runPreferred(c, {}, error);
  EXPECT_EQ(afterLine(error), "launch_cluster: preferred cluster must be a multiple of the "
                              "cluster 2x1x1, got 3x1x1");
  c.preferredCluster = {8, 1, 1};
  runPreferred(c, {}, error);
  EXPECT_EQ(afterLine(error),
            "launch_cluster: preferred cluster must divide the grid 12x1x1, got 8x1x1");
}

} // namespace
