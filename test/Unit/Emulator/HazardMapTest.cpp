//===- HazardMapTest.cpp - hazards of changed tensor maps -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TP1: PTX ISA 9.4, 8.9.4 and 9.7.15.17. A map in global memory is changed by one
// thread and used by a copy; marks as in HazardScene.h.
//
//===----------------------------------------------------------------------===//

#include "HazardScene.h"
#include "TmaScene.h"

using namespace blockscale;
using namespace blockscale::emu;
using namespace blockscale::emu::test;

namespace {

facts::TensorMap smallMap(uint64_t address) {
  facts::TensorMap m;
  m.type = TmaType::u8;
  m.address = address;
  m.dims = {16};
  m.box = {16};
  return m;
}
const std::string kAddress = "add.u64 %rd6, %out, 8192;\n";
const std::string kReplace =
    "@%p0 tensormap.replace.tile.global_address.global.b1024.b64 [%in], %rd6;\n";
const std::string kReplaceShared =
    "ld.global.u32 %r9, [%pi]; mov.u32 %r10, map; shl.b32 %r11, %t, 2; add.u32 %r11, %r11, %r10; "
    "st.shared.u32 [%r11], %r9; bar.sync 0;\n"
    "@%p0 tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r10], %rd6; bar.warp.sync "
    "-1;\n";
const std::string kRelease = "fence.proxy.tensormap::generic.release.gpu;\n";
const std::string kAcquire = "fence.proxy.tensormap::generic.acquire.gpu [%in], 128;\n";
const std::string kCopy = expect(16) + loadForm(1) + "[%r0], [%in, {0}], [%r1];\n";
const std::string kStore = "@%p0 cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%in, "
                           "{0}], [%r0];\n@%p0 cp.async.bulk.commit_group;\n";

struct MapCase {
  const char *name;
  std::string text;
};
std::vector<MapCase> cases() {
  return {
      {"Release", kReplace + "[+" + kRelease + "+]" + kAcquire + kCopy + kWait},
      {"Acquire", kReplace + kRelease + "[+" + kAcquire + "+]" + kCopy + kWait},
      {"AcquireOfAnother", kReplace + kRelease +
                               "fence.proxy.tensormap::generic.acquire.gpu [%in+[-128-][+0+]], "
                               "128;\n" +
                               kCopy + kWait},
      {"AcquireBeforeRelease",
       "[-" + kAcquire + "-]" + kReplace + kRelease + "[+" + kAcquire + "+]" + kCopy + kWait},
      {"Copied", kReplaceShared +
                     "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu."
                     "sync.aligned [%in], [%r10], 128;\n[+" +
                     kAcquire + "+]" + kCopy + kWait},
      {"Stored",
       "@%p0 st.global.u64 [%in+120], 0;\n[+" + kRelease + kAcquire + "+]" + kCopy + kWait},
      {"InFlight", kCopy + "[+" + kWait + "+]" + kReplace + "[-" + kWait + "-]"},
      {"InFlightOfAStore", kStore + "[+@%p0 cp.async.bulk.wait_group.read 0;\n+]" + kReplace +
                               "@%p0 cp.async.bulk.wait_group 0;\n"},
  };
}

Images runMap(const std::string &text, Options o) {
  o.hazards.mode = HazardMode::on;
  return runCopy(kAddress + text, smallMap, [](uint32_t) { return kOld; }, "sm_100a", o);
}

class MapHazards : public testing::TestWithParam<MapCase> {};
TEST_P(MapHazards, WrongKernelIsReported) {
  for (const Options &o : allTimings()) {
    Images r = runMap(twin(GetParam().text, false), o);
    EXPECT_NE(r.error.find("[TP1]"), std::string::npos) << r.error;
  }
}
TEST_P(MapHazards, RightTwinIsSilent) {
  for (const Options &o : allTimings())
    EXPECT_EQ(runMap(twin(GetParam().text, true), o).error, "");
}
INSTANTIATE_TEST_SUITE_P(All, MapHazards, testing::ValuesIn(cases()),
                         [](const auto &info) { return std::string(info.param.name); });

// The end of a kernel does not make a change visible; the host's write does.
TEST(MapHazards, AMapOfAnEarlierLaunch) {
  auto device = Device::create({});
  const std::string change =
      "setp.eq.u32 %p0, %t, 0; add.u64 %rd6, %in, 128;\n" + kReplace + kRelease;
  auto use = [](const std::string &fence) {
    return "setp.eq.u32 %p0, %t, 0; mov.u32 %r0, buf; mov.u32 %r1, bar;\n"
           "@%p0 mbarrier.init.shared.b64 [%r1], 1; bar.sync 0;\n" +
           fence + kCopy + kWait;
  };
  uint64_t in = *device->allocate(512), out = *device->allocate(512);
  auto map = *encodeTensorMap(facts::Arch::sm_100a, smallMap(in + 128));
  auto writeMap = [&] { ASSERT_TRUE(bool(device->write(in, map.data(), map.size()))); };
  auto launch = [&](const std::string &body) {
    auto module = device->load(kernel(body, "sm_100a", kTmaVars), "t.ptx");
    LaunchConfig c;
    c.block = {32, 1, 1};
    c.params = {param(in), param(out)};
    auto stats = device->launch(**module, "k", c);
    return stats ? std::string() : stats.message();
  };
  writeMap();
  EXPECT_EQ(launch(use("")), "");
  EXPECT_EQ(launch(change), "");
  EXPECT_NE(launch(use("")).find("[TP1]"), std::string::npos);
  EXPECT_EQ(launch(use(kAcquire)), "");
  writeMap();
  EXPECT_EQ(launch(use("")), "");
}

TEST(MapFences, EveryScopeReleasesAndAcquires) {
  for (const char *scope : {"cta", "cluster", "gpu", "sys"}) {
    std::string text = kReplace + kRelease + kAcquire + kCopy + kWait;
    for (size_t at = 0; (at = text.find(".gpu", at)) != std::string::npos; ++at)
      text.replace(at, 4, std::string(".") + scope);
    EXPECT_EQ(runMap(text, {}).error, "") << scope;
  }
}

} // namespace
