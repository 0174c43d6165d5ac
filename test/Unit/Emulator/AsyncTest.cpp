//===- AsyncTest.cpp - who does not wait sees the old value ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One pair per asynchronous agent. The reader without a wait sees the old value
// when operations land late; its right twin gives the new one under every timing.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace blockscale;
using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

constexpr uint32_t kOld = 7, kNew = 1000;

const char *kVars = ".shared .align 1024 .b8 buf[4096];\n.shared .align 8 .b8 bar[16];\n.shared "
                    ".align 4 .b8 tm[8];\n";

/// In words 32.. the data kNew + i; in words 0..31 a tensor map of them.
Scene withMap(bool mapOfOut = false) {
  Scene s;
  s.in.assign(64, 0);
  s.fill = [mapOfOut](uint64_t in, uint64_t out, std::vector<uint32_t> &words) {
    facts::TensorMap m;
    m.type = facts::TmaType::u32;
    m.address = mapOfOut ? out : in + 128;
    m.dims = {32};
    m.box = {32};
    auto bytes = encodeTensorMap(facts::Arch::sm_100a, m);
    ASSERT_TRUE(bool(bytes)) << bytes.message();
    std::memcpy(words.data(), bytes->data(), 128);
    for (uint32_t i = 0; i < 32; ++i)
      words[32 + i] = kNew + i;
  };
  return s;
}

struct Agent {
  const char *name;
  std::string body;     // stores what it reads to out + 4 t
  std::string waitMark; // what the right twin keeps and the wrong one drops
  Scene setup;
  uint32_t old, fresh; // of thread 3 (read early, read late)
};

std::string init = "mov.u32 %r0, buf; mov.u32 %r1, bar; shl.b32 %r2, %t, 2; add.u32 %r3, %r0, %r2; "
                   "mov.u32 %r9, 7;\n"
                   "st.shared.u32 [%r3], %r9; setp.eq.u32 %p0, %t, 0; @%p0 "
                   "mbarrier.init.shared.b64 [%r1], 1; bar.sync 0;\n";
std::string waitFull = "W: mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0; @!%p1 bra W;\n";
std::string drainFull = "X: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0; @!%p2 bra X;\n";
std::string readShared = "ld.shared.u32 %r8, [%r3]; st.global.u32 [%po], %r8;\n";

std::string tmemSetup = "setp.ge.u32 %p5, %t, 32; @%p5 bra A; "
                        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tm], 32;\n"
                        "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; A: bar.sync 0; "
                        "ld.shared.b32 %r10, [tm];\n";
std::string tmemEnd =
    "bar.sync 0; @%p5 bra Z; tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 32; Z:\n";

std::vector<Agent> agents() {
  std::vector<Agent> out;
  out.push_back(
      {"TmaLoad",
       init +
           "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 128;\n"
           "@%p0 cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
           "[%r0], [%in, {0}], [%r1];\n"
           "/*wait*/" +
           waitFull + "/*end*/" + readShared + drainFull,
       "", withMap(), kOld, kNew + 3});
  out.push_back(
      {"BulkLoad",
       init +
           "add.u64 %rd0, %in, 128; @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 128;\n"
           "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%rd0], "
           "128, [%r1];\n"
           "/*wait*/" +
           waitFull + "/*end*/" + readShared + drainFull,
       "", withMap(), kOld, kNew + 3});
  out.push_back({"CpAsync",
                 init +
                     "add.u64 %rd0, %pi, 128; cp.async.ca.shared.global [%r3], [%rd0], 4; "
                     "cp.async.commit_group;\n"
                     "/*wait*/cp.async.wait_group 0;/*end*/" +
                     readShared + "cp.async.wait_all;\n",
                 "", withMap(), kOld, kNew + 3});
  out.push_back({"CpAsyncMbarrier",
                 "mov.u32 %r1, bar; setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared.b64 [%r1], "
                 "32; mov.u32 %r0, buf; shl.b32 %r2, %t, 2;\n"
                 "add.u32 %r3, %r0, %r2; mov.u32 %r9, 7; st.shared.u32 [%r3], %r9; bar.sync 0; "
                 "add.u64 %rd0, %pi, 128;\n"
                 "cp.async.ca.shared.global [%r3], [%rd0], 4; "
                 "cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];\n"
                 "/*wait*/" +
                     waitFull + "/*end*/" + readShared + drainFull,
                 "", withMap(), kOld, kNew + 3});
  // The store's reader: out holds 0xAAAAAAAA; words 64.. of out take what is read.
  out.push_back(
      {"TmaStore",
       init + "fence.proxy.async.shared::cta; bar.sync 0;\n"
              "@%p0 cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%in, {0}], [%r0];\n"
              "@%p0 cp.async.bulk.commit_group;\n/*wait*/cp.async.bulk.wait_group 0;/*end*/ "
              "bar.warp.sync -1;\n"
              "ld.global.u32 %r8, [%po]; bar.warp.sync -1; cp.async.bulk.wait_group 0; "
              "st.global.u32 [%po], %r8;\n",
       "", withMap(true), 0xAAAAAAAA, kOld});
  // The store's source: overwritten before it was read.
  out.push_back(
      {"TmaStoreSource",
       init + "@%p0 cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%in, {0}], [%r0];\n"
              "@%p0 cp.async.bulk.commit_group;\n/*wait*/cp.async.bulk.wait_group.read 0;/*end*/ "
              "bar.warp.sync -1;\n"
              "mov.u32 %r9, 9; st.shared.u32 [%r3], %r9; bar.warp.sync -1; "
              "cp.async.bulk.wait_group 0;\n",
       "", withMap(true), 9, kOld});
  out.push_back(
      {"Utccp",
       init + tmemSetup +
           "mov.u32 %r11, 55; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r10], {%r11}; "
           "tcgen05.wait::st.sync.aligned;\n"
           "shr.u32 %r12, %r0, 4; mov.b64 %rd1, {%r12, 0x00004008};\n"
           "@%p0 tcgen05.cp.cta_group::1.32x128b.warpx4 [%r10], %rd1;\n"
           "@%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r1];\n"
           "/*wait*/" +
           waitFull +
           "/*end*/tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r13}, [%r10]; "
           "tcgen05.wait::ld.sync.aligned;\n"
           "st.global.u32 [%po], %r13;" +
           drainFull + tmemEnd,
       "", withMap(), 55, kOld});
  // Another warp of the same lane quarter reads what a store wrote.
  Scene eight;
  eight.block = {256, 1, 1};
  std::string quarter = "shr.u32 %r14, %t, 5; and.b32 %r15, %r14, 3; shl.b32 %r15, %r15, 21; "
                        "add.u32 %r16, %r10, %r15; setp.lt.u32 %p6, %t, 128;\n"
                        "mov.u32 %r11, 7; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r16], {%r11}; "
                        "tcgen05.wait::st.sync.aligned; bar.sync 0; mov.u32 %r11, 1003;\n";
  out.push_back({"TcgenStore",
                 tmemSetup + quarter +
                     "@!%p6 bra S; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r16], {%r11};\n"
                     "/*wait*/tcgen05.wait::st.sync.aligned;/*end*/ S: bar.sync 0; @%p6 bra R;\n"
                     "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r13}, [%r16]; "
                     "tcgen05.wait::ld.sync.aligned; st.global.u32 [%po+-512], %r13;\n"
                     "R: tcgen05.wait::st.sync.aligned;" +
                     tmemEnd,
                 "", eight, kOld, kNew + 3});
  // CTA 0 of a cluster writes into CTA 1, which reads.
  Scene two;
  two.grid = two.cluster = {2, 1, 1};
  const std::string sends =
      init + "mov.u32 %r20, %cluster_ctarank; setp.eq.u32 %p6, %r20, 0; add.u32 %r9, %t, 1000;\n"
             "mapa.shared::cluster.u32 %r21, %r3, 1; mapa.shared::cluster.u32 %r22, %r1, 1;\n"
             "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 128; fence.mbarrier_init.release"
             ".cluster;\nbarrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n@%p6 ";
  const std::string receives =
      " barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; @%p6 bra Q;\n/*wait*/" +
      waitFull + "/*end*/" + readShared + drainFull + "Q:";
  out.push_back({"StAsync",
                 sends +
                     "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r21], %r9, "
                     "[%r22];" +
                     receives,
                 "", two, kOld, kNew + 3});
  out.push_back({"RedAsync",
                 sends +
                     "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add"
                     ".u32 [%r21], %r9, [%r22];" +
                     receives,
                 "", two, kOld, kOld + kNew + 3});
  // A load that was not waited for reads what came after it (TM3).
  out.push_back({"TcgenLoad",
                 tmemSetup + quarter +
                     "@!%p6 bra S; tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r13}, [%r16];\n"
                     "/*wait*/tcgen05.wait::ld.sync.aligned;/*end*/ S: bar.sync 0; @%p6 bra R;\n"
                     "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r16], {%r11}; "
                     "tcgen05.wait::st.sync.aligned; R: bar.sync 0;\n"
                     "@!%p6 bra T; st.global.u32 [%po], %r13; T:" +
                     tmemEnd,
                 "", eight, kNew + 3, kOld});
  return out;
}

std::string withoutWait(std::string body) {
  size_t from = body.find("/*wait*/"), to = body.find("/*end*/");
  return body.substr(0, from) + body.substr(to);
}

class Async : public ::testing::TestWithParam<size_t> {};

TEST_P(Async, UnwaitedReaderSeesTheOldValueWhenLandingIsLate) {
  Agent a = agents()[GetParam()];
  a.setup.options.timing = Timing::latest;
  Ran r = run(kernel(withoutWait(a.body), "sm_100a", kVars), a.setup);
  ASSERT_EQ(r.error, "");
  EXPECT_EQ(r.out[3], a.old);
}

TEST_P(Async, RightTwinGivesTheSameUnderEveryTiming) {
  Agent a = agents()[GetParam()];
  for (const Options &o : allTimings()) {
    a.setup.options = o;
    Ran r = run(kernel(a.body, "sm_100a", kVars), a.setup);
    ASSERT_EQ(r.error, "");
    EXPECT_EQ(r.out[3], a.fresh) << "timing " << int(o.timing) << " seed " << o.seed;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Async, ::testing::Range(size_t(0), agents().size()),
                         [](const auto &info) { return std::string(agents()[info.param].name); });

TEST(AsyncRegisters, AReaderOfALoadsRegistersGetsThemWithoutAWait) {
  // A true register dependency is honoured (ordering: TM2 is no hazard).
  Scene s;
  for (const Options &o : allTimings()) {
    s.options = o;
    Ran r = run(kernel(tmemSetup +
                           "mov.u32 %r11, 7; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r10], {%r11}; "
                           "mov.u32 %r13, 1;\n"
                           "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r13}, [%r10]; add.u32 %r13, "
                           "%r13, 1; st.global.u32 [%po], %r13;" +
                           tmemEnd,
                       "sm_100a", kVars),
                s);
    ASSERT_EQ(r.error, "");
    EXPECT_EQ(r.out[3], 8u);
  }
}

} // namespace
