//===- RuntimeApiTest.cpp - the C interface over the emulator -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Runtime/HostCalls.h"
#include "blockscale/Runtime/Session.h"

#include <gtest/gtest.h>

using namespace blockscale::rt;

namespace {

/// k(u64 out, f32 value): out[tid] = value.
const std::string kPtx = R"(.version 9.4
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out, .param .f32 value) {
  .reg .b32 %t; .reg .f32 %v; .reg .b64 %o, %d;
  ld.param.u64 %o, [out];
  ld.param.f32 %v, [value];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %d, %t, 4;
  add.s64 %o, %o, %d;
  st.global.f32 [%o], %v;
  ret;
}
)";

struct Emulator : ::testing::Test {
  void SetUp() override {
    ASSERT_EQ(bsrt_device_open("emulator", nullptr, &device), BSRT_OK) << bsrt_error_message();
  }
  void TearDown() override { bsrt_device_close(device); }
  bsrt_device *device = nullptr;
};

TEST_F(Emulator, runsAKernel) {
  EXPECT_STREQ(bsrt_device_description(device), "emulator");
  bsrt_module *module = nullptr;
  ASSERT_EQ(bsrt_module_load(device, kPtx.data(), kPtx.size(), "k.ptx", &module), BSRT_OK)
      << bsrt_error_message();
  uint64_t out = 0;
  ASSERT_EQ(bsrt_alloc(device, 128, &out), BSRT_OK);
  float value = 2.5f;
  bsrt_param params[] = {{&out, 8}, {&value, 4}};
  bsrt_launch_config config{BSRT_ABI_VERSION, {1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0, 0, 2,
                            params,           {},        0,          0};
  bsrt_launch_stats stats{};
  ASSERT_EQ(bsrt_launch(device, module, "k", &config, &stats), BSRT_OK) << bsrt_error_message();
  EXPECT_GE(stats.thread_instructions, 32u * 7);
  EXPECT_STREQ(stats.labels, "");
  float values[32];
  ASSERT_EQ(bsrt_read(device, out, values, sizeof values), BSRT_OK);
  EXPECT_EQ(values[0], 2.5f);
  EXPECT_EQ(values[31], 2.5f);
  EXPECT_EQ(bsrt_launch(device, module, "other", &config, nullptr), BSRT_ERROR);
  EXPECT_NE(std::string(bsrt_error_message()).find("other"), std::string::npos);
  EXPECT_EQ(bsrt_free(device, out), BSRT_OK);
  EXPECT_EQ(bsrt_free(device, out), BSRT_ERROR);
  bsrt_module_close(module);
}

TEST_F(Emulator, timesLaunches) {
  bsrt_module *module = nullptr;
  ASSERT_EQ(bsrt_module_load(device, kPtx.data(), kPtx.size(), "k.ptx", &module), BSRT_OK);
  uint64_t out = 0;
  ASSERT_EQ(bsrt_alloc(device, 128, &out), BSRT_OK);
  float value = 2.5f;
  bsrt_param params[] = {{&out, 8}, {&value, 4}};
  bsrt_launch_config config{BSRT_ABI_VERSION, {1, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0, 0, 2,
                            params,           {},        0,          0};
  double seconds[3] = {-1, -1, -1};
  ASSERT_EQ(bsrt_launch_timed(device, module, "k", &config, /*warmup=*/1, /*repeat=*/2, seconds),
            BSRT_OK)
      << bsrt_error_message();
  EXPECT_GE(seconds[0], 0);
  EXPECT_GE(seconds[1], 0);
  EXPECT_EQ(seconds[2], -1); // only `repeat` of them
  EXPECT_EQ(bsrt_launch_timed(device, module, "other", &config, 0, 1, seconds), BSRT_ERROR);
  // Registers are ptxas's choice, which the emulator does not know.
  bsrt_kernel_info info{BSRT_ABI_VERSION, 9, 9, 9};
  ASSERT_EQ(bsrt_kernel_info_get(device, module, "k", &config, &info), BSRT_OK);
  EXPECT_EQ(info.registers | info.local_bytes | info.blocks_per_sm, 0u);
  info.abi_version = 0;
  EXPECT_EQ(bsrt_kernel_info_get(device, module, "k", &config, &info), BSRT_ERROR);
  bsrt_module_close(module);
}

TEST_F(Emulator, refusesOtherVersionsAndCodes) {
  bsrt_options options{};
  EXPECT_EQ(bsrt_device_set_options(device, &options), BSRT_ERROR);
  EXPECT_STREQ(bsrt_error_message(), "runtime: options must be of version 2 to 5, got 0");
  options.abi_version = BSRT_ABI_VERSION;
  options.timing = 7;
  EXPECT_EQ(bsrt_device_set_options(device, &options), BSRT_ERROR);
  EXPECT_STREQ(bsrt_error_message(), "runtime: timing must be 0 to 2, got 7");

  uint64_t dims[2] = {192, 178}, strides[1] = {192};
  uint32_t box[2] = {128, 128};
  uint8_t bytes[BSRT_TENSOR_MAP_BYTES];
  bsrt_tensor_map map{BSRT_ABI_VERSION, 0, 2, 4096, dims, strides, box, nullptr, 3, 0, 2};
  EXPECT_EQ(bsrt_tensor_map_encode(device, &map, bytes), BSRT_OK) << bsrt_error_message();
  map.rank = 6;
  EXPECT_EQ(bsrt_tensor_map_encode(device, &map, bytes), BSRT_ERROR);
  EXPECT_STREQ(bsrt_error_message(), "runtime: rank of a tensor map must be 1 to 5, got 6");
  map.rank = 2;
  map.swizzle = 9;
  EXPECT_EQ(bsrt_tensor_map_encode(device, &map, bytes), BSRT_ERROR);
  // A stride that is no multiple of 16 bytes: the driver's own rule.
  map.swizzle = 3;
  strides[0] = 200;
  EXPECT_EQ(bsrt_tensor_map_encode(device, &map, bytes), BSRT_ERROR);
}

/// out[ctaid.x] = size of the cluster that the block is in.
const std::string kClusterSize = R"(.version 9.4
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .b32 %c, %n; .reg .b64 %o, %d;
  ld.param.u64 %o, [out];
  mov.u32 %c, %ctaid.x;
  mov.u32 %n, %cluster_nctarank;
  mul.wide.u32 %d, %c, 4;
  add.s64 %o, %o, %d;
  st.global.u32 [%o], %n;
  ret;
}
)";

struct Clusters : Emulator {
  /// Sizes of the clusters of eight blocks.
  std::vector<uint32_t> sizes(const bsrt_options &options, bsrt_launch_config config) {
    EXPECT_EQ(bsrt_device_set_options(device, &options), BSRT_OK) << bsrt_error_message();
    bsrt_module *module = nullptr;
    EXPECT_EQ(bsrt_module_load(device, kClusterSize.data(), kClusterSize.size(), "k.ptx", &module),
              BSRT_OK);
    uint64_t out = 0;
    EXPECT_EQ(bsrt_alloc(device, 32, &out), BSRT_OK);
    bsrt_param param{&out, 8};
    config.params = &param;
    std::vector<uint32_t> found(8);
    if (bsrt_launch(device, module, "k", &config, nullptr) == BSRT_OK)
      EXPECT_EQ(bsrt_read(device, out, found.data(), 32), BSRT_OK);
    else
      found.clear();
    bsrt_module_close(module);
    return found;
  }
  static bsrt_options options(bsrt_cluster_choice choice) {
    bsrt_options o{};
    o.abi_version = BSRT_ABI_VERSION;
    o.cluster_choice = choice;
    return o;
  }
  bsrt_launch_config config{BSRT_ABI_VERSION, {8, 1, 1}, {32, 1, 1}, {1, 1, 1}, 0, 0, 1,
                            nullptr,          {4, 1, 1}, 0,          0};
};

TEST_F(Clusters, preferredOnesAndThoseToFallBackTo) {
  using V = std::vector<uint32_t>;
  EXPECT_EQ(sizes(options(BSRT_CLUSTERS_PREFERRED), config), (V{4, 4, 4, 4, 4, 4, 4, 4}));
  EXPECT_EQ(sizes(options(BSRT_CLUSTERS_FALLBACK), config), (V{1, 1, 1, 1, 1, 1, 1, 1}));
  V mixed = sizes(options(BSRT_CLUSTERS_MIXED), config);
  EXPECT_EQ(std::count(mixed.begin(), mixed.end(), 1u), 4);
  EXPECT_EQ(std::count(mixed.begin(), mixed.end(), 4u), 4);
  config.preferred_cluster[0] = 3;
  EXPECT_TRUE(sizes(options(BSRT_CLUSTERS_MIXED), config).empty());
  EXPECT_NE(std::string(bsrt_error_message())
                .find("launch_cluster: preferred cluster must divide the grid 8x1x1, got 3x1x1"),
            std::string::npos)
      << bsrt_error_message();
}

TEST_F(Clusters, areNotReadFromStructsOfVersionTwo) {
  config.abi_version = 2;
  EXPECT_EQ(sizes(options(BSRT_CLUSTERS_PREFERRED), config),
            (std::vector<uint32_t>{1, 1, 1, 1, 1, 1, 1, 1}));
  config.abi_version = BSRT_ABI_VERSION;
  bsrt_options old = options(BSRT_CLUSTERS_FALLBACK);
  old.abi_version = 2;
  old.resident_clusters = 5000; // beyond what a version that has the field takes
  EXPECT_EQ(sizes(old, config).size(), 8u);
}

TEST_F(Clusters, residentOnesHaveALimit) {
  bsrt_options many = options(BSRT_CLUSTERS_MIXED);
  many.resident_clusters = 4097;
  EXPECT_TRUE(sizes(many, config).empty());
  EXPECT_NE(std::string(bsrt_error_message())
                .find("launch_resident: resident clusters must be at most 4096, got 4097"),
            std::string::npos);
  many.resident_clusters = 1;
  EXPECT_EQ(sizes(many, config).size(), 8u);
  many.cluster_choice = 3;
  EXPECT_EQ(bsrt_device_set_options(device, &many), BSRT_ERROR);
  EXPECT_STREQ(bsrt_error_message(), "runtime: cluster choice must be 0 to 2, got 3");
}

TEST(Runtime, refusesUnknownDevices) {
  bsrt_device *device = nullptr;
  EXPECT_EQ(bsrt_device_open("tpu", nullptr, &device), BSRT_ERROR);
  EXPECT_STREQ(bsrt_error_message(), "runtime: device must be emulator or cuda, got 'tpu'");
  EXPECT_EQ(bsrt_device_open(nullptr, nullptr, &device), BSRT_ERROR);
  EXPECT_EQ(bsrt_abi_version(), 5u);
}

TEST(Session, firstErrorStopsTheRun) {
  bsrt_options options{};
  options.abi_version = BSRT_ABI_VERSION;
  auto session = Session::open("emulator", options);
  ASSERT_TRUE(session) << session.message();
  ASSERT_TRUE((*session)->addModule("kernels", kPtx, "k.ptx"));

  (*session)->begin();
  uint64_t buffer = bsrt_call_alloc(128);
  float before[32] = {}, after[32] = {};
  bsrt_call_copy_to_device(before, buffer, 128);
  bsrt_call_launch_begin("kernels", "k");
  bsrt_call_param_buffer(buffer);
  bsrt_call_param_f32(-1.0f);
  bsrt_call_launch(1, 1, 1, 32, 1, 1, 1, 1, 1, 0, 0);
  bsrt_call_copy_to_host(buffer, after, 128);
  EXPECT_EQ(after[31], -1.0f);
  EXPECT_EQ((*session)->launches().size(), 1u);

  bsrt_call_copy_to_host(buffer + 64, after, 128); // beyond the end
  EXPECT_TRUE((*session)->hasFailed());
  // From here on nothing happens, not even an allocation.
  EXPECT_EQ(bsrt_call_alloc(128), 0u);
  bsrt_call_launch_begin("kernels", "none");
  bsrt_call_launch(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  EXPECT_EQ((*session)->launches().size(), 1u);
  auto status = (*session)->end();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.message().find("dimensions"), std::string::npos) << status.message();

  // A new run starts afresh.
  (*session)->begin();
  bsrt_call_launch_begin("other", "k");
  bsrt_call_launch(1, 1, 1, 32, 1, 1, 1, 1, 1, 0, 0);
  status = (*session)->end();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.message(), "runtime: module 'other' must be loaded before it is launched");
  EXPECT_EQ(Session::current(), nullptr);
  EXPECT_EQ(bsrt_call_alloc(16), 0u);
}

TEST(Session, sizesThatALaunchSays) {
  bsrt_options options{};
  options.abi_version = BSRT_ABI_VERSION;
  auto session = Session::open("emulator", options);
  ASSERT_TRUE(session) << session.message();
  ASSERT_TRUE((*session)->addModule("kernels", kPtx, "k.ptx"));

  (*session)->begin();
  bsrt_call_check_size("m", 0, 7);
  bsrt_call_check_size("m", 7, 7);
  bsrt_call_require_bytes("a", 0, 0);
  bsrt_call_launch_begin("kernels", "k"); // a grid of no block, so parameters do not matter
  bsrt_call_launch(0, 1, 1, 32, 1, 1, 1, 1, 1, 0, 0);
  float global = 0;
  bsrt_call_quantize(0, 64, 0, 0, 0, 0, 0, nullptr, nullptr, nullptr, 0, &global);
  EXPECT_EQ(global, 1.0f);
  EXPECT_TRUE((*session)->launches().empty());
  EXPECT_TRUE((*session)->end());

  (*session)->begin();
  bsrt_call_check_size("m", 8, 7);
  auto status = (*session)->end();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.message(), "runtime: size m must be 0 to 7, got 8");

  (*session)->begin();
  bsrt_call_require_bytes("sfa", 512, 1024);
  status = (*session)->end();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.message(),
            "runtime: operand sfa must have 1024 bytes, as the rows of the result "
            "ask for, got 512");
}

} // namespace
