//===- ManifestSizesTest.cpp - sizes that a launch says -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "blockscale/Support/Manifest.h"

#include <gtest/gtest.h>

using namespace blockscale;
using namespace blockscale::rt;

namespace {

const std::string kRows = R"({"version": 1, "arch": "sm_107a",
 "sizes": [{"name": "m", "least": 0, "most": 4096}],
 "buffers": [{"name": "a", "bytes": {"expr": ["mul", ["max", "m", 1], 192]}, "role": "input",
              "dtype": "u8", "shape": [{"expr": "m"}, 192]},
             {"name": "d", "bytes": {"expr": ["mul", ["max", "m", 1], 3072]}, "role": "output"}],
 "kernels": [{"name": "gemm_0", "grid": [{"expr": ["min", ["mul", ["ceildiv", "m", 128], 12], 148]}, 1, 1],
   "block": [192, 1, 1], "cluster": [2, 1, 1], "shared_bytes": 226304, "shared_mode": "default",
   "params": [{"kind": "tensor_map", "buffer": "a", "type": "u8",
               "dims": [192, {"expr": ["max", "m", 1]}], "strides": [{"expr": ["add", 100, 92]}],
               "box": [128, 128], "element_strides": [1, 1], "swizzle": "b128", "fill": "zero", "l2": "b128"},
              {"kind": "buffer", "buffer": "d"},
              {"kind": "scalar", "type": "u32", "value": {"expr": "m"}}]}]})";

std::string with(const std::string &from, const std::string &to) {
  std::string text = kRows;
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

Result<Manifest> resolved(const std::string &text, const Sizes &sizes) {
  Result<Manifest> manifest = parseManifest(text, "k.json");
  if (!manifest)
    return manifest;
  return resolveManifest(*manifest, sizes, "k.json");
}

void expectRefusal(const std::string &text, const Sizes &sizes, const std::string &message) {
  Result<Manifest> manifest = resolved(text, sizes);
  ASSERT_FALSE(manifest) << "taken, but should be refused: " << message;
  EXPECT_EQ(manifest.message().rfind("manifest: 'k.json' ", 0), 0u) << manifest.message();
  EXPECT_NE(manifest.message().find(message), std::string::npos) << manifest.message();
  EXPECT_EQ(manifest.message().find('\n'), std::string::npos) << manifest.message();
}

TEST(ManifestSizes, becomeNumbers) {
  for (auto [m, grid, rows] :
       {std::tuple(0u, 0u, 1u), {1u, 12u, 1u}, {129u, 24u, 129u}, {4096u, 148u, 4096u}}) {
    Result<Manifest> manifest = resolved(kRows, {{"m", m}});
    ASSERT_TRUE(manifest) << manifest.message();
    const ManifestKernel &kernel = manifest->kernels.at(0);
    EXPECT_EQ(kernel.grid[0], grid);
    EXPECT_EQ(kernel.params[0].map.dims, (std::vector<uint64_t>{192, rows}));
    EXPECT_EQ(kernel.params[0].map.strides, (std::vector<uint64_t>{192}));
    EXPECT_EQ(kernel.params[2].bits, m);
    EXPECT_EQ(manifest->buffers[0].bytes, rows * 192);
    EXPECT_EQ(manifest->buffers[0].shape, (std::vector<int64_t>{m, 192}));
    EXPECT_TRUE(manifest->sizes.empty());
    EXPECT_EQ(formatManifest(*manifest).find("expr"), std::string::npos);
  }
}

TEST(ManifestSizes, areWrittenAsTheyAreRead) {
  Result<Manifest> manifest = parseManifest(kRows, "k.json");
  ASSERT_TRUE(manifest) << manifest.message();
  std::string text = formatManifest(*manifest);
  EXPECT_EQ(formatManifest(*parseManifest(text, "k.json")), text);
  EXPECT_EQ(formatExpr(*manifest->kernels[0].gridExprs[0]),
            R"(["min",["mul",["ceildiv","m",128],12],148])");
}

TEST(ManifestSizes, refusesWrongExpressions) {
  const std::string grid = R"({"expr": ["min", ["mul", ["ceildiv", "m", 128], 12], 148]})";
  auto gridOf = [&](const std::string &expr) { return with(grid, R"({"expr": )" + expr + "}"); };
  const Sizes seven{{"m", 7}};
  expectRefusal(gridOf(R"("n")"), seven,
                "kernels[0].grid[0].expr must name a size of the manifest, got 'n'");
  expectRefusal(gridOf(R"(["sub", "m", 1])"), seven,
                "must be a number, a size, or a list of add, mul");
  expectRefusal(gridOf(R"(["add", "m"])"), seven,
                "must be a number, a size, or a list of add, mul");
  expectRefusal(gridOf("-1"), seven, "must be a number, a size, or a list of add, mul");
  expectRefusal(gridOf("1.5"), seven, "must be a number, a size, or a list of add, mul");
  expectRefusal(gridOf(R"(["div", 4, ["div", "m", 8]])"), seven,
                R"(kernels[0].grid[0] must not divide by 0, got ["div",4,["div","m",8]])");
  expectRefusal(gridOf(R"(["mul", 4294967296, ["mul", 4294967296, "m"]])"), seven,
                "kernels[0].grid[0] must fit 64 bits, got");
  expectRefusal(gridOf(R"(["add", 18446744073709551615, "m"])"), seven, "must fit 64 bits");
  expectRefusal(gridOf(R"(["mul", "m", 1000000000])"), seven,
                "kernels[0].grid[0] must be 0 to 2147483647, got 7000000000");
  expectRefusal(gridOf(R"("m")"), seven,
                "kernels[0].grid[0] must be a multiple of the cluster's 2, got 7");
  std::string deep = R"("m")";
  for (int i = 0; i < 40; ++i)
    deep = R"(["add", )" + deep + ", 1]";
  expectRefusal(gridOf(deep), seven, "must be nested at most 32 deep, got more");
}

TEST(ManifestSizes, placeParts) {
  std::string text =
      with(R"("buffer": "d"})", R"("buffer": "d", "offset": {"expr": ["mul", "m", 1024]}})");
  Result<Manifest> manifest = resolved(text, {{"m", 2}});
  ASSERT_TRUE(manifest) << manifest.message();
  EXPECT_EQ(manifest->kernels.at(0).params[1].offset, 2048u);
  EXPECT_EQ(formatManifest(*manifest).find("expr"), std::string::npos);
  std::string written = formatManifest(*parseManifest(text, "k.json"));
  EXPECT_NE(written.find("\"mul\""), std::string::npos);
  EXPECT_EQ(formatManifest(*parseManifest(written, "k.json")), written);
  expectRefusal(
      with(R"("buffer": "d"})", R"("buffer": "d", "offset": {"expr": ["add", 6145, 0]}})"),
      {{"m", 2}}, "kernels[0].params[1].offset must be 0 to 6144, got 6145");
}

TEST(ManifestSizes, refusesWrongSizes) {
  expectRefusal(kRows, {}, "size 'm' must be given, 0 to 4096, got none");
  expectRefusal(kRows, {{"m", 4097}}, "size 'm' must be 0 to 4096, got 4097");
  expectRefusal(kRows, {{"m", 1}, {"n", 1}}, "size must be one of the manifest's, got 'n'");
  expectRefusal(with(R"(["max", "m", 1], 192]}, "role")", R"("m", 96]}, "role")"), {{"m", 2}},
                "buffers[0].bytes must be the size of u8 [2, 192], got 192");
  expectRefusal(with(R"({"expr": ["mul", ["max", "m", 1], 3072]})", R"({"expr": "m"})"), {{"m", 0}},
                "buffers[1].bytes must be 1 to 1099511627776, got 0 of \"m\"");
  expectRefusal(with(R"({"expr": ["max", "m", 1]}])", R"({"expr": "m"}])"), {{"m", 0}},
                "kernels[0].params[0].dims[1] must be 1 to 1099511627776, got 0");
  expectRefusal(with(R"("buffer": "d"})", R"("buffer": "d", "offset": 7000})"), {{"m", 2}},
                "kernels[0].params[1].offset must be 0 to 6144, got 7000");
  expectRefusal(with(R"("most": 4096})", R"("most": 4096}, {"name": "m", "least": 0, "most": 1})"),
                {}, "sizes must have names that differ, got 'm' twice");
  expectRefusal(with(R"("least": 0)", R"("least": 5000)"), {}, "sizes[0].most must be 5000 to");
}

} // namespace
